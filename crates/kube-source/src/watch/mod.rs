//! A watch: the frames of its answer, the event in each, and the stream of events.

pub(crate) mod event;
pub(crate) mod frame;
mod held;
mod message_event;
pub(crate) mod stream;
