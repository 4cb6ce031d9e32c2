//! A run as data: everything that will be done, and when, before anything is done.

use std::time::Duration;

use informer_factory::{QueueKind, WireFormat};
use informer_testkit::{Fault, Times};

use crate::FaultKind;

/// How long the faults last.
pub(crate) const FAULTS: Duration = Duration::from_secs(600);

#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) server: ServerPlan,
    pub(crate) informer: InformerPlan,
    pub(crate) initial: Vec<Write>,
    pub(crate) controller: Option<ControllerPlan>,
    /// Those that are there before the start.
    pub(crate) listeners: Vec<ListenerPlan>,
    /// In the order of time.
    pub(crate) steps: Vec<Step>,
    /// What can happen in this run.
    pub(crate) kinds: Vec<FaultKind>,
    /// The first thing after the faults is a gap, so that everything is listed again.
    pub(crate) heals_by_list: bool,
}

#[derive(Debug)]
pub(crate) struct ServerPlan {
    pub(crate) starting_version: u64,
    pub(crate) bookmark_interval: Duration,
    pub(crate) page_limit: Option<usize>,
    pub(crate) history_limit: usize,
}

#[derive(Debug)]
pub(crate) struct InformerPlan {
    pub(crate) queue: QueueKind,
    pub(crate) scope: Scope,
    pub(crate) streaming: bool,
    pub(crate) page_size: Option<u32>,
    pub(crate) seed: u64,
    pub(crate) default_resync: Option<Duration>,
    /// The transform refuses what was made by a write whose number is a multiple of this.
    pub(crate) refuses_multiples: Option<u64>,
    pub(crate) index_before_start: bool,
    pub(crate) packed: Option<PackedPlan>,
    /// The format in which all informers of the run request objects.
    pub(crate) wire: WireFormat,
}

/// An informer of packed objects.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PackedPlan {
    pub(crate) kind: PackedKind,
    /// After so many writes others have another template.
    pub(crate) writes: u64,
}

/// What is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PackedKind {
    Typed,
    Dynamic,
    Metadata,
}

impl InformerPlan {
    /// Whether objects come in protobuf while the server does not fail. Dynamic objects never do.
    pub(crate) fn prefers_protobuf(&self) -> bool {
        let kind = self.packed.map(|packed| packed.kind);
        self.wire == WireFormat::Auto && kind != Some(PackedKind::Dynamic)
    }

    /// The template of what this write makes.
    pub(crate) fn template(&self, serial: u64) -> Option<u64> {
        self.packed.map(|packed| serial / packed.writes)
    }
}

/// A controller beside the informer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ControllerPlan {
    pub(crate) queue: QueueKind,
    pub(crate) seed: u64,
    /// How long it takes for each change.
    pub(crate) pause: Duration,
}

/// Which objects are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    All,
    /// Those of the first tier.
    Tier,
    /// Those of the first two namespaces, each by a watch of its own.
    Namespaces,
}

impl Scope {
    pub(crate) fn selects(self, namespace: &str, tier: &str) -> bool {
        match self {
            Self::All => true,
            Self::Tier => tier == crate::object::TIERS[0],
            Self::Namespaces => crate::object::NAMESPACES[..2].contains(&namespace),
        }
    }

    /// How many watches it takes.
    pub(crate) fn sources(self) -> usize {
        match self {
            Self::All | Self::Tier => 1,
            Self::Namespaces => 2,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct ListenerPlan {
    pub(crate) manner: Manner,
    pub(crate) coalesces: bool,
    pub(crate) resync: Option<Duration>,
}

/// How a handler behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    Fast,
    /// Takes so long for each.
    Slow(Duration),
    /// Does not return between these moments.
    Blocked(Duration, Duration),
    /// Panics on every n-th.
    Panics(u64),
    /// Reads the store from its callback, and removes itself at the n-th.
    Reenters(u64),
    /// A stream, whose reader takes so long for each.
    Stream(Duration),
}

impl Manner {
    /// The kind of fault it is.
    pub(crate) fn fault(self) -> Option<FaultKind> {
        match self {
            Self::Slow(_) => Some(FaultKind::HandlerSlow),
            Self::Blocked(..) => Some(FaultKind::HandlerBlocked),
            Self::Panics(_) => Some(FaultKind::HandlerPanics),
            Self::Reenters(_) => Some(FaultKind::HandlerReenters),
            Self::Fast | Self::Stream(_) => None,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) at: Duration,
    pub(crate) what: Action,
}

#[derive(Debug)]
pub(crate) enum Action {
    /// The informer begins.
    Start,
    Write(Write),
    /// A fault for requests to come, taken back after a while.
    Script(FaultKind, Requests, Fault, Times),
    /// The scripted faults of a kind are taken back.
    Unscript(FaultKind),
    Compact,
    /// So many versions back.
    Restore(u64),
    Cut,
    Close,
    Silence(FaultKind),
    /// Says a bookmark of so many versions ago.
    LowerBookmark(u64),
    /// Says an earlier state of an object again, in the middle of open watches.
    Repeat,
    Add(FaultKind, ListenerPlan),
    Remove(usize),
    Readd(usize),
    AddIndex,
    Jump(Duration),
    Cancel(u32),
    /// Versions are given out to others.
    Skip(u64),
}

/// Which requests meet a fault.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Requests {
    Any,
    Lists,
    Pages,
    Watches,
    Streams,
}

/// What somebody does to objects. Places are indices, so that a write is a few bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Write {
    /// Creates it or changes it.
    Put {
        namespace: usize,
        name: usize,
    },
    Delete {
        namespace: usize,
        name: usize,
    },
    /// Another object under the same name, with nothing between.
    Recreate {
        namespace: usize,
        name: usize,
    },
    /// Comes and goes.
    Flash {
        namespace: usize,
        name: usize,
    },
    FlipLabel {
        namespace: usize,
        name: usize,
    },
    Wipe {
        namespace: usize,
    },
}
