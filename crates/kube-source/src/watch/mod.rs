//! A watch: the lines of its answer, the event in each line, and the stream of events.

pub(crate) mod event;
pub(crate) mod frame;
mod held;
pub(crate) mod stream;
