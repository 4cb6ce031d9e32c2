//! What can go wrong, one enum per operation.

use std::io;

/// A handler was not added.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AddError {
    /// The processor has stopped. Make a new one.
    // SI-11
    #[error("the processor has stopped: no handler can be added any more")]
    Stopped,
    /// There is no tokio runtime to run the handler on. Add it from within one, or make the
    /// processor within one. Blocking handlers and streams need none.
    #[error("no tokio runtime: add the handler, or make the processor, from within one")]
    NoRuntime,
    /// The tokio runtime on which the processor was made has ended: the handler would never run.
    #[error("the tokio runtime of the processor has ended: no handler can run on it any more")]
    RuntimeGone,
    /// The operating system gave no thread for a blocking handler.
    #[error("no thread for the blocking handler")]
    Thread(#[source] io::Error),
}

/// A removal is not waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RemoveError {
    /// A callback awaited the end of its own listener, which cannot come before the callback's.
    /// The listener has been removed all the same: nothing more is delivered.
    #[error("a callback cannot wait for its own end; the handler has been removed")]
    FromOwnCallback,
}

/// A listener will never be synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NeverSynced {
    /// It was removed, or the processor stopped, before all initial objects were handled.
    #[error("the listener ended before it had handled all initial objects")]
    Ended,
    /// The iterator of the initial snapshot panicked, so that its remaining objects were not
    /// handled. The listener still receives later notifications; remove it and add it again to
    /// have all objects.
    #[error("the snapshot of initial objects panicked: its remaining objects were not handled")]
    ReplayPanicked,
}

/// A listener does not handle everything that was distributed to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotDelivered {
    /// The listener was removed, or the processor stopped, before everything was handled.
    #[error("the listener ended before it had handled everything distributed to it")]
    Ended,
    /// The iterator of the initial snapshot panicked, so that its remaining objects are never
    /// handled. Remove the handler and add it again to have all objects.
    #[error("the snapshot of initial objects panicked: its remaining objects are never handled")]
    ReplayPanicked,
    /// A callback awaited its own return. Await from another task instead.
    #[error("a callback cannot wait for its own return; wait from another task")]
    FromOwnCallback,
}
