//! The status of an informer: state, cause, since when.

// IN-4, FM-73, FM-74

pub(crate) mod handler_metrics;
pub(crate) mod memory;
pub(crate) mod observer;
pub(crate) mod shared;
pub mod telemetry;
pub(crate) mod wait;

use std::sync::Arc;
use std::time::Instant;

use informer_kube_source::ReceivedWire;
use informer_processor::ListenerStatus;
use informer_reflector::{Failure, Phase, ResourceVersion};
use informer_store::Scope;

use crate::checker::consistency::ConsistencyStatus;
use crate::status::memory::MemoryStatus;
use crate::sync::now;

/// The state of an informer. The states follow one another in this order, except that `Synced` and
/// `Degraded` alternate.
///
/// A liveness probe restarts a program whose cache cannot recover by itself:
///
/// ```
/// use informer_factory::{InformerState, InformerStatus};
///
/// fn is_alive(status: &InformerStatus) -> bool {
///     status.state != InformerState::RuntimeGone && status.state != InformerState::Stopped
/// }
/// # let _ = is_alive;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InformerState {
    /// Made, not started.
    Created,
    /// Started; the first list has not been applied as a whole.
    Starting,
    /// The first list has been applied, and the watch works.
    Synced,
    /// The first list has been applied, but listing or watching fails at present, or some keys are
    /// quarantined.
    Degraded,
    /// The tokio runtime on which it was started has ended, and with it its tasks. The store can
    /// still be read; it does not change any more. Only a new informer follows the server again.
    RuntimeGone,
    /// Being shut down.
    Stopping,
    /// Ended. The store can still be read; it does not change any more.
    Stopped,
}

/// The status of one informer, as of now.
///
/// ```
/// # use informer_factory::SharedInformerFactory;
/// # fn example(factory: &SharedInformerFactory) {
/// for informer in factory.status() {
///     println!("{} is {:?}, {} objects", informer.name, informer.state, informer.objects);
///     for source in informer.sources {
///         let failure = source.failure.map(|failure| failure.to_string());
///         println!("  {}: {}", source.source, failure.as_deref().unwrap_or("no failure"));
///     }
///     for handler in informer.handlers {
///         println!("  {}: {} notifications pending", handler.name, handler.depth);
///     }
/// }
/// # }
/// # let _ = example;
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct InformerStatus {
    /// The name given in [`InformerOptions::name`](crate::InformerOptions::name), or else the
    /// resource with what restricts the informer: `pods`, or `pods#1c9d03f7 [in web]`.
    pub name: Arc<str>,
    /// The name without the restrictions: what metrics call the informer.
    pub label: Arc<str>,
    /// Its state.
    pub state: InformerState,
    /// Since when it has been in that state.
    pub since: Instant,
    /// Its sources: one, or one for each namespace.
    pub sources: Vec<SourceStatus>,
    /// How many objects the store holds.
    pub objects: usize,
    /// How many commits the store has seen.
    pub sequence: u64,
    /// The estimated memory, by what takes it.
    pub memory: MemoryStatus,
    /// How many keys are quarantined.
    pub quarantined: usize,
    /// True once the first list of every source has been applied; never false again, though
    /// a namespace added later has a list of its own to wait for.
    // IN-1
    pub synced: bool,
    /// How often a task of the informer panicked and was started again.
    // FM-82
    pub task_panics: u64,
    /// Its handlers.
    pub handlers: Vec<ListenerStatus>,
}

/// One source of an informer, as of now.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SourceStatus {
    /// What it lists, for example `/api/v1/namespaces/default/pods`.
    pub source: Arc<str>,
    /// Which part of the store it fills.
    pub scope: Scope,
    /// Where its reflector is.
    pub phase: Phase,
    /// Since when.
    pub since: Instant,
    /// Whether its first list has been applied.
    pub synced: bool,
    /// The last failure, until an attempt succeeds.
    pub failure: Option<Failure>,
    /// How many attempts in a row have failed.
    pub attempts: u32,
    /// The newest version received; unset before the first list.
    pub received: ResourceVersion,
    /// The newest version applied to the store.
    pub applied: Option<ResourceVersion>,
    /// The format of the last list or watch; `None` before the first, and for a source that is no
    /// [`KubeListWatch`](crate::KubeListWatch).
    pub wire: Option<ReceivedWire>,
    /// When something was received last.
    pub last_progress: Option<Instant>,
    /// How many whole collections were fetched, the first one included.
    pub lists: u64,
    /// How many watches were opened.
    pub watches: u64,
    /// How many items of all lists were cached already.
    pub reused: u64,
    /// How often the server's history was rewound, by what was received.
    // FM-39
    pub epoch: u32,
    /// The same, by what was applied: while it is behind, `applied` is of the old history.
    pub applied_epoch: u32,
    /// How many changes wait in the queue, a relist counted as one, as of the last commit.
    pub queued: usize,
    /// The findings of the consistency checker; `None` if it is off.
    pub consistency: Option<ConsistencyStatus>,
}

impl SourceStatus {
    pub(crate) fn new(source: &Arc<str>, scope: &Scope) -> Self {
        Self {
            source: Arc::clone(source),
            scope: scope.clone(),
            phase: Phase::Created,
            since: now(),
            synced: false,
            failure: None,
            attempts: 0,
            received: ResourceVersion::unset(),
            applied: None,
            wire: None,
            last_progress: None,
            lists: 0,
            watches: 0,
            reused: 0,
            epoch: 0,
            applied_epoch: 0,
            queued: 0,
            consistency: None,
        }
    }

    /// Its reflector has ended, whether or not it said so.
    pub(crate) fn end(&mut self) {
        if self.phase != Phase::Stopped {
            (self.phase, self.since) = (Phase::Stopped, now());
        }
    }

    /// How many whole collections were fetched after the first.
    pub fn relists(&self) -> u64 {
        self.lists.saturating_sub(1)
    }

    /// How many watches were opened after the first.
    pub fn reconnects(&self) -> u64 {
        self.watches.saturating_sub(1)
    }
}
