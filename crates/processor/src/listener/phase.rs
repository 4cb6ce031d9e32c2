//! Where a listener is in its life, with what it holds only there.

use crate::processor::joining::Held;

/// Where a listener is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ListenerPhase {
    /// Registered; what happens is held until [`Joining::begin`](crate::Joining::begin).
    Joining,
    /// Delivering.
    Live,
    /// Delivering what it had when the processor was stopped; gets nothing new.
    Draining,
    /// Removed, stopped or gone: nothing more is delivered.
    Ended,
}

/// The same with its data.
pub(crate) enum Phase<K, T> {
    Joining(Held<K, T>),
    Live,
    Draining,
    Ended,
}

impl<K, T> Phase<K, T> {
    pub(crate) fn shown(&self) -> ListenerPhase {
        match self {
            Self::Joining(_) => ListenerPhase::Joining,
            Self::Live => ListenerPhase::Live,
            Self::Draining => ListenerPhase::Draining,
            Self::Ended => ListenerPhase::Ended,
        }
    }
}
