//! Where a watch begins: its place in the history, and what it says before it follows that.

use std::collections::VecDeque;

use crate::{
    EventKind, Fault, Object, Rejection, ResourceId, Selection, feed::WatchOptions,
    listing::parse_version, server::State, wire::Frame,
};

/// Where a watch begins.
pub(crate) struct Start {
    pub(crate) cursor: u64,
    pub(crate) first: VecDeque<Frame>,
    pub(crate) owes_end: bool,
    /// How many changes come before the end of the initial events.
    pub(crate) late_end: u64,
    pub(crate) why: String,
}

/// Checks the options of a watch and finds its first lines.
pub(crate) fn start_of_watch(
    state: &State,
    id: ResourceId,
    options: &WatchOptions,
    faults: &[Fault],
) -> Result<Start, Rejection> {
    check_match(options)?;
    let mut initial = options.send_initial_events;
    if faults.contains(&Fault::IgnoreInitialEvents) {
        initial = initial.and(Some(false));
    }
    let now = state.cluster.version();
    let quiet = |cursor, why: String| Start {
        cursor,
        first: VecDeque::new(),
        owes_end: false,
        late_end: 0,
        why,
    };
    match (options.version.as_str(), initial) {
        ("" | "0", Some(false)) => Ok(quiet(now, format!("changes from now on, {now}"))),
        ("" | "0", None) => {
            let why = format!("the state at {now}, then changes");
            Ok(Start {
                first: snapshot(state, id, options),
                ..quiet(now, why)
            })
        }
        (text, Some(true)) => {
            if !matches!(text, "" | "0") {
                state.cluster.reached(parse_version(text)?)?;
            }
            let why = format!("initial events at {now}, then changes");
            let first = snapshot(state, id, options);
            Ok(Start {
                first,
                owes_end: options.bookmarks,
                late_end: late_end(faults),
                ..quiet(now, why)
            })
        }
        (text, _) => {
            let version = parse_version(text)?;
            if let Err(rejection) = state.cluster.not_expired(id, version) {
                // kube-apiserver accepts such a watch and says so in its first event (RL-48).
                let why = format!("accepted, and told at once: {rejection}");
                let first = VecDeque::from([Frame::Error(rejection)]);
                return Ok(Start {
                    first,
                    ..quiet(now, why)
                });
            }
            let why = format!("changes after {version}; the server is at {now}");
            let first = replayed(state, id, version, &options.selection, faults);
            Ok(Start {
                first,
                ..quiet(version, why)
            })
        }
    }
}

fn check_match(options: &WatchOptions) -> Result<(), Rejection> {
    let field = "resourceVersionMatch";
    match (
        options.version_match.as_deref(),
        options.send_initial_events,
    ) {
        (None, None) | (Some("NotOlderThan"), Some(_)) => Ok(()),
        (Some(_), None) => {
            let why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is \
                       provided";
            Err(Rejection::invalid_option(field, why))
        }
        (_, Some(_)) => {
            let why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
            Err(Rejection::invalid_option(field, why))
        }
    }
}

fn added(object: &Object) -> Frame {
    Frame::Event {
        kind: EventKind::Added,
        object: object.clone(),
    }
}

fn snapshot(state: &State, id: ResourceId, options: &WatchOptions) -> VecDeque<Frame> {
    let collection = state.cluster.collection(id);
    collection
        .at(state.cluster.version(), None, &options.selection)
        .map(added)
        .collect()
}

fn replayed(
    state: &State,
    id: ResourceId,
    version: u64,
    selection: &Selection,
    faults: &[Fault],
) -> VecDeque<Frame> {
    let count = faults.iter().find_map(|fault| match fault {
        Fault::ReplaySuffix(count) => Some(*count),
        _ => None,
    });
    let changes = state
        .cluster
        .collection(id)
        .changes_up_to(version, count.unwrap_or(0));
    let seen = changes
        .iter()
        .filter_map(|change| change.seen_by(selection));
    seen.map(|(kind, object)| Frame::Event { kind, object })
        .collect()
}

fn late_end(faults: &[Fault]) -> u64 {
    let late = faults.iter().find_map(|fault| match fault {
        Fault::LateInitialEventsEnd(changes) => Some(*changes),
        _ => None,
    });
    late.unwrap_or(0)
}
