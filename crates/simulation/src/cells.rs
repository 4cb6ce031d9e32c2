//! In which phase of the reflector each kind of fault happened (T4).
//!
//! A fault of a request belongs to the phase that makes such requests: the first answer to a watch
//! is awaited while it opens, its events come while it is open. What is done to the server or to
//! the informer belongs to the phase in which the informer said it was.

use std::{collections::BTreeMap, fmt};

use informer_factory::reflector::Phase;
use informer_testkit::{RequestRecord, Verb};

use crate::FaultKind;

/// The phases between start and end.
const PHASES: [(Phase, &str); 5] = [
    (Phase::Listing, "listing"),
    (Phase::Streaming, "streaming"),
    (Phase::OpeningWatch, "opening"),
    (Phase::Watching, "watching"),
    (Phase::BackingOff, "backing-off"),
];

/// How often each kind of fault met each phase.
#[derive(Clone, Debug, Default)]
pub struct Cells(BTreeMap<(FaultKind, usize), u64>);

impl Cells {
    pub(crate) fn count(&mut self, kind: FaultKind, phase: Phase) {
        let place = PHASES.iter().position(|(one, _)| *one == phase);
        if let Some(place) = place.filter(|place| is_reachable(kind, *place)) {
            *self.0.entry((kind, place)).or_default() += 1;
        }
    }

    /// A scripted fault that this request met.
    pub(crate) fn count_request(&mut self, kind: FaultKind, request: &RequestRecord) {
        let phase = match request.line.verb {
            Verb::List => Phase::Listing,
            _ if request.line.wants_initial_events => Phase::Streaming,
            _ if is_in_stream(kind) => Phase::Watching,
            _ => Phase::OpeningWatch,
        };
        self.count(kind, phase);
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (cell, hits) in &other.0 {
            *self.0.entry(*cell).or_default() += hits;
        }
    }
}

/// The share of the cells that were met, and those that were not.
impl fmt::Display for Cells {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = FaultKind::ALL
            .iter()
            .flat_map(|kind| (0..PHASES.len()).map(|place| (*kind, place)));
        let reachable: Vec<_> = all
            .filter(|(kind, place)| is_reachable(*kind, *place))
            .collect();
        let missing = reachable.iter().filter(|cell| !self.0.contains_key(cell));
        let missing: Vec<_> = missing
            .map(|(kind, place)| format!("{kind} while {}", PHASES[*place].1))
            .collect();
        let met = reachable.len() - missing.len();
        write!(
            f,
            "{met} of {} cells (fault x phase) met, {:.1} %",
            reachable.len(),
            100.0 * met as f64 / reachable.len().max(1) as f64
        )?;
        if !missing.is_empty() {
            write!(f, "; not met: {}", missing.join(", "))?;
        }
        Ok(())
    }
}

/// Whether the fault is in what follows the headers of a watch.
fn is_in_stream(kind: FaultKind) -> bool {
    use FaultKind as K;
    let closes = matches!(
        kind,
        K::CloseAtOnce | K::CloseSubsecond | K::CloseSeconds | K::CloseAfterEvent
    );
    let frames = matches!(
        kind,
        K::Truncated | K::Garbage | K::UnknownType | K::ErrorEvent | K::BareError | K::WrongKind
    );
    let objects = matches!(
        kind,
        K::Nameless | K::Undecodable | K::Replay | K::OlderEvent | K::DeletedOlder | K::LostEvent
    );
    let bookmarks = matches!(kind, K::NoBookmarks | K::EarlyBookmark | K::LowerBookmark);
    let others = matches!(kind, K::Gzip | K::TimeoutIgnored) || K::IN_PROTOBUF.contains(&kind);
    closes || frames || objects || bookmarks || others
}

/// Whether the fault can happen in the phase at all.
fn is_reachable(kind: FaultKind, place: usize) -> bool {
    use FaultKind as K;
    let phase = PHASES[place].0;
    match kind {
        // These are properties of a whole run.
        K::SeedExtremes | K::TransformError => false,
        K::ListHang | K::ListCut | K::DuplicateKey | K::EmptyVersion | K::LowerVersion => {
            phase == Phase::Listing
        }
        K::StaleReplica | K::Page410 | K::BadItem | K::HugeItem => phase == Phase::Listing,
        K::NoInitialEnd => phase == Phase::Streaming,
        K::HeaderDelay => matches!(phase, Phase::Streaming | Phase::OpeningWatch),
        K::WireLength => matches!(phase, Phase::Streaming | Phase::Watching),
        _ if K::IN_PROTOBUF.contains(&kind) => {
            matches!(phase, Phase::Listing | Phase::Streaming | Phase::Watching)
        }
        _ if is_in_stream(kind) => matches!(phase, Phase::Streaming | Phase::Watching),
        // Open watches fall silent, and requests are not answered.
        K::HalfOpen | K::DnsMove => phase != Phase::BackingOff,
        K::Compaction | K::Restore | K::UidChange | K::Ephemeral | K::LabelFlip | K::Wipe => true,
        K::HandlerSlow | K::HandlerBlocked | K::HandlerPanics | K::HandlerReenters => true,
        K::HandlerAdd | K::HandlerRemove | K::HandlerReadd => true,
        K::IndexAdd | K::ClockJump | K::Cancel => true,
        // All others are answers to requests.
        _ => matches!(
            phase,
            Phase::Listing | Phase::Streaming | Phase::OpeningWatch
        ),
    }
}
