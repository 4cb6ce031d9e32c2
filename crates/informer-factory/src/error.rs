//! The errors of informers and factories.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use informer_processor::{AddError, NeverSynced, NotDelivered};
use informer_reflector::{Failure, Phase};

use crate::status::InformerState;

/// The informer or the factory was shut down; nothing more can be added to it.
// SI-11, FAX-4
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} has been shut down; build a new one")]
#[non_exhaustive]
pub struct AlreadyStopped {
    /// The informer's name, or "the factory".
    pub what: Arc<str>,
}

/// The tokio runtime on which the informer was started has ended, and with it the informer's tasks.
///
/// The store can still be read, and does not change any more. Make a new factory on a runtime that
/// lives as long as its informers are needed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the tokio runtime of {informer} has ended; make a new factory on one that lives")]
#[non_exhaustive]
pub struct RuntimeGone {
    /// The informer's name.
    pub informer: Arc<str>,
    /// When the runtime ended.
    pub since: Instant,
}

/// Nothing was started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// There is no tokio runtime to start tasks on.
    #[error("an informer must be started within a tokio runtime")]
    NoRuntime,
    /// The tokio runtime has no timer.
    #[error("the tokio runtime has no timer; build it with `enable_time` or `enable_all`")]
    NoTimer,
    /// It was started on a runtime that has ended.
    #[error(transparent)]
    RuntimeGone(#[from] RuntimeGone),
    /// It has been shut down.
    #[error(transparent)]
    Stopped(#[from] AlreadyStopped),
}

/// A callback called a shutdown of its own informer, which would wait for the callback.
// FM-67
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a callback of {informer} cannot wait for its own informer to end; spawn a task for it")]
#[non_exhaustive]
pub struct FromOwnCallback {
    /// The informer.
    pub informer: Arc<str>,
}

/// A handler could not be added.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AddHandlerError {
    /// The processor refused it: the informer has ended, or there is no runtime or thread for it.
    #[error(transparent)]
    Processor(#[from] AddError),
    /// The informer's runtime has ended: the handler would receive nothing.
    #[error(transparent)]
    RuntimeGone(#[from] RuntimeGone),
}

/// An index could not be added.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AddIndexError {
    /// The store refused it: the name is taken.
    #[error(transparent)]
    Index(#[from] informer_store::IndexError),
    /// The informer has ended.
    // SI-12
    #[error(transparent)]
    Stopped(#[from] AlreadyStopped),
    /// The informer's runtime has ended: no change would reach the index.
    #[error(transparent)]
    RuntimeGone(#[from] RuntimeGone),
}

/// The informer has not been started, or has been shut down.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{informer} is not running: it is {state:?}")]
#[non_exhaustive]
pub struct NotRunning {
    /// The informer's name.
    pub informer: Arc<str>,
    /// Its state.
    pub state: InformerState,
}

/// A namespace could not be added to an informer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddNamespaceError {
    /// The informer watches the namespace already.
    #[error("{informer} watches namespace {namespace:?} already")]
    AlreadyWatched {
        /// The informer's name.
        informer: Arc<str>,
        /// The namespace.
        namespace: Arc<str>,
    },
    /// The informer watches all namespaces.
    #[error("{informer} watches all namespaces, so none can be added")]
    WatchesAll {
        /// The informer's name.
        informer: Arc<str>,
    },
    /// The name is empty, or cannot be a part of a path.
    #[error("{namespace:?} cannot be the name of a namespace")]
    InvalidName {
        /// The name.
        namespace: Arc<str>,
    },
    /// The informer has not been started, or has been shut down. Before the start, name the
    /// namespace in the options.
    #[error(transparent)]
    NotRunning(#[from] NotRunning),
    /// The informer's runtime has ended: nothing would watch the namespace.
    #[error(transparent)]
    RuntimeGone(#[from] RuntimeGone),
}

/// A namespace could not be removed from an informer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RemoveNamespaceError {
    /// The informer does not watch the namespace, or watches all namespaces through one watch.
    #[error("{informer} has no watch for namespace {namespace:?}")]
    NotWatched {
        /// The informer's name.
        informer: Arc<str>,
        /// The namespace.
        namespace: Arc<str>,
    },
    /// The informer has not been started, or has been shut down.
    #[error(transparent)]
    NotRunning(#[from] NotRunning),
    /// The informer's runtime has ended.
    #[error(transparent)]
    RuntimeGone(#[from] RuntimeGone),
}

/// A request for an informer, or for a factory, was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InformerError {
    /// There is one for the same objects already, with another transform.
    #[error(
        "{informer} is shared already and has another transform; ask for it without one, or \
         share the same `Transform` value"
    )]
    TransformDiffers {
        /// The informer there is.
        informer: Arc<str>,
    },
    /// An informer of the same objects exists, with another decoder.
    #[error("{informer} is shared already and has another decoder; share the same `Arc` of it")]
    DecoderDiffers {
        /// The existing informer.
        informer: Arc<str>,
    },
    /// An informer of the same objects exists, under another name.
    #[error(
        "{informer} is shared already and cannot also be called {name:?}; request it without a \
         name, or with this one first"
    )]
    NameDiffers {
        /// The existing informer.
        informer: Arc<str>,
        /// The requested name.
        name: Arc<str>,
    },
    /// Another informer of the factory has the name.
    #[error("another informer of the factory is called {name:?}; choose another name")]
    NameTaken {
        /// The name.
        name: Arc<str>,
    },
    /// A transform was given for packed objects, which are not decoded.
    #[error(
        "{kind} objects are packed and a transform would need them decoded; drop fields by a \
         projection instead"
    )]
    TransformOfPacked {
        /// The requested kind.
        kind: String,
    },
    /// A cluster-scoped resource was requested with namespaces.
    #[error("{kind} is cluster-scoped and cannot be restricted to namespaces")]
    NotNamespaced {
        /// The requested kind.
        kind: String,
    },
    /// A list of namespaces was given, and it is empty.
    #[error("the list of namespaces is empty; use `Namespaces::All` for all of them")]
    NoNamespace,
    /// A namespace was named that cannot be one.
    #[error("{namespace:?} cannot be a namespace; use `Namespaces::All` for all of them")]
    InvalidNamespace {
        /// The name.
        namespace: String,
    },
    /// The factory has been shut down.
    #[error(transparent)]
    Stopped(#[from] AlreadyStopped),
}

/// Not everything was synced in time, or ever will be.
///
/// Its text names every source with the last failure. A program can also decide by cause:
///
/// ```
/// use informer_factory::{FailureKind, NotSynced};
///
/// fn lacks_permission(error: &NotSynced) -> bool {
///     let failures = error.culprits.iter().filter_map(|culprit| culprit.failure.as_ref());
///     failures.into_iter().any(|failure| failure.kind == FailureKind::Forbidden)
/// }
/// # let _ = lacks_permission;
/// ```
// FAX-3, FM-73
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NotSynced {
    /// How long was waited.
    pub waited: Duration,
    /// The sources that are not synced, with the causes.
    pub culprits: Vec<Culprit>,
}

/// One source that is not synced.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Culprit {
    /// The informer's name.
    pub informer: Arc<str>,
    /// The informer's state.
    pub state: InformerState,
    /// What it lists, for example `/api/v1/pods`.
    pub source: Arc<str>,
    /// Where its reflector is.
    pub phase: Phase,
    /// The last failure, if there was one.
    pub failure: Option<Failure>,
    /// How many attempts in a row have failed.
    pub attempts: u32,
}

impl fmt::Display for NotSynced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not synced after {:?}", self.waited)?;
        for culprit in &self.culprits {
            let (informer, source, phase) = (&culprit.informer, &culprit.source, culprit.phase);
            write!(f, "; {informer} ({source}) is {phase:?}")?;
            if culprit.state == InformerState::RuntimeGone {
                f.write_str(", since the informer's tokio runtime has ended")?;
            }
            match (&culprit.failure, culprit.attempts) {
                (Some(failure), 1) => write!(f, ", 1 attempt failed: {failure}")?,
                (Some(failure), n) => write!(f, ", {n} attempts failed: {failure}")?,
                (None, _) if culprit.phase == Phase::Created => f.write_str(", never started")?,
                (None, _) => {}
            }
        }
        Ok(())
    }
}

impl std::error::Error for NotSynced {}

/// A handler was not synced in time, or never will be.
// IN-2
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HandlerNotSynced {
    /// Time is up, and the informer itself is not synced.
    #[error(transparent)]
    Informer(#[from] NotSynced),
    /// Time is up: the informer is synced, and the handler is slower.
    #[error(
        "handler {handler:?} was not synced after {waited:?}: {pending} notifications are pending"
    )]
    TimedOut {
        /// The handler's name.
        handler: Arc<str>,
        /// The number of pending notifications.
        pending: usize,
        /// How long was waited.
        waited: Duration,
    },
    /// The handler has ended, or does not receive every object.
    #[error("handler {handler:?} will not be synced: {reason}")]
    Never {
        /// The handler's name.
        handler: Arc<str>,
        /// Why.
        reason: NeverSynced,
    },
}

/// A handler has not handled a version in time, or never will.
// IN-9
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotHandled {
    /// The store has not applied the version.
    #[error(transparent)]
    NotApplied(#[from] WaitForVersionError),
    /// Time is up: the store has applied the version, and the handler is slower.
    #[error(
        "handler {handler:?} has not handled version {wanted} after {waited:?}: {pending} \
         notifications are pending"
    )]
    TimedOut {
        /// The handler's name.
        handler: Arc<str>,
        /// The awaited version.
        wanted: String,
        /// The number of pending notifications.
        pending: usize,
        /// How long was waited.
        waited: Duration,
    },
    /// The handler has ended, does not receive every object, or awaits itself.
    #[error("handler {handler:?} will not handle version {wanted}: {reason}")]
    Handler {
        /// The handler's name.
        handler: Arc<str>,
        /// The awaited version.
        wanted: String,
        /// Why.
        reason: NotDelivered,
    },
}

/// A version was not reached.
// IN-8
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WaitForVersionError {
    /// Time is up.
    #[error("version {wanted} was not applied within {waited:?}; the store is at {applied:?}")]
    TimedOut {
        /// The awaited version.
        wanted: String,
        /// How far the store is; `None` before the first list.
        applied: Option<String>,
        /// How long was waited.
        waited: Duration,
    },
    /// The server's history was rewound; the version waited for may never come.
    // FM-39
    #[error("the server's history was rewound while version {wanted} was waited for")]
    NewEpoch {
        /// The awaited version.
        wanted: String,
    },
    /// The versions of this resource have no order.
    // FM-41
    #[error("version {wanted:?} cannot be compared with the store's {applied:?}")]
    Incomparable {
        /// The awaited version.
        wanted: String,
        /// How far the store is.
        applied: String,
    },
    /// The informer ended.
    #[error(transparent)]
    Stopped(#[from] AlreadyStopped),
    /// The informer's runtime ended before the version came.
    #[error(transparent)]
    RuntimeGone(#[from] RuntimeGone),
}
