//! Hands notifications to many handlers, none of which can delay another or the sender.
#![doc(test(attr(deny(warnings))))]

#[macro_use]
mod planted;

mod backlog;
mod callbacks;
mod cell;
mod coalesce;
mod compress;
mod consumer;
mod counts;
mod deleted;
mod driver;
mod error;
mod fanout;
mod filter;
mod gate;
mod handler;
mod key;
mod late_join;
mod listener;
mod listener_config;
mod log_gate;
mod notification;
mod overflow;
mod pending_item;
mod processor;
mod registration;
mod resync;
mod ring;
mod status;
mod stop;
mod stream;
mod sync_tracker;
mod walk;

#[cfg(test)]
mod proof;

pub use callbacks::{AsyncFn, Callbacks, HandlerFn, async_fn, handler_fn};
pub use deleted::Deleted;
pub use error::{AddError, NeverSynced, RemoveError};
pub use filter::Filtered;
pub use handler::{AsyncHandler, Handler};
pub use key::Key;
pub use late_join::Joining;
pub use listener::ListenerPhase;
pub use listener_config::ListenerConfig;
pub use notification::{Cause, Notification};
pub use overflow::Overflow;
pub use processor::{JoiningStream, Processor, ProcessorConfig};
pub use registration::Registration;
pub use resync::{ResyncReason, ResyncTerms};
pub use status::{ListenerId, ListenerStatus};
pub use stop::{ListenerReport, StopReport};
pub use stream::EventStream;
pub use walk::Walk;
