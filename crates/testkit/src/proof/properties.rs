//! The nine properties of an etcd watch, over a trace and the naive record of the history.
//!
//! Written from etcd's documentation of its watch API. A trace is what one
//! watch told from one version on, without gaps.

use super::history::{Record, State};
use crate::EventKind;

/// One line of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Told {
    Event {
        kind: EventKind,
        name: String,
        uid: String,
        version: u64,
    },
    Bookmark(u64),
}

/// What one watch was asked for and told.
#[derive(Clone, Debug)]
pub(super) struct Trace {
    /// The version it started after.
    pub(super) from: u64,
    /// The label it was asked for, if any.
    pub(super) label: Option<u8>,
    pub(super) told: Vec<Told>,
    /// The version up to which it must have told everything.
    pub(super) until: u64,
}

pub(super) fn selected(state: &State, label: Option<u8>) -> State {
    let of = state.iter();
    let of = of.filter(|(_, known)| label.is_none_or(|label| known.label == label));
    of.map(|(name, known)| (name.clone(), known.clone()))
        .collect()
}

type Verdict = Result<(), String>;

/// All nine. The name of the broken one begins the message.
pub(super) fn check(trace: &Trace, record: &Record) -> Verdict {
    filter(trace, record)?;
    ordered(trace)?;
    unique(trace)?;
    bookmarkable(trace, record)?;
    is_create(trace, record)?;
    prev_kv(trace, record)?;
    reliable(trace, record)?;
    atomic(trace, record)?;
    resumable(trace, record)
}

fn events(trace: &Trace) -> impl Iterator<Item = (EventKind, &String, u64)> {
    trace.told.iter().filter_map(|told| match told {
        Told::Event {
            kind,
            name,
            version,
            ..
        } => Some((*kind, name, *version)),
        Told::Bookmark(_) => None,
    })
}

fn before(trace: &Trace, record: &Record, version: u64) -> State {
    selected(record.at(version - 1), trace.label)
}

fn after(trace: &Trace, record: &Record, version: u64) -> State {
    selected(record.at(version), trace.label)
}

/// Every event is about an object of the selection, or one that has just left it.
fn filter(trace: &Trace, record: &Record) -> Verdict {
    for (kind, name, version) in events(trace) {
        let was = before(trace, record, version).contains_key(name);
        let is = after(trace, record, version).contains_key(name);
        if (kind == EventKind::Deleted && !was) || (kind != EventKind::Deleted && !is) {
            return Err(format!(
                "Filter: {kind} {name} at {version} is not of the selection"
            ));
        }
    }
    Ok(())
}

/// Versions of events grow, bookmarks included.
fn ordered(trace: &Trace) -> Verdict {
    let mut last = trace.from;
    for told in &trace.told {
        let version = match told {
            Told::Event { version, .. } | Told::Bookmark(version) => *version,
        };
        if version < last {
            return Err(format!("Ordered: {version} after {last}"));
        }
        last = version;
    }
    Ok(())
}

/// No change is told twice.
fn unique(trace: &Trace) -> Verdict {
    let mut versions: Vec<u64> = events(trace).map(|(.., version)| version).collect();
    versions.sort_unstable();
    match versions.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(format!("Unique: two events at {}", pair[0])),
        None => Ok(()),
    }
}

/// Behind a bookmark nothing up to its version comes any more, and nothing before it is missing.
fn bookmarkable(trace: &Trace, record: &Record) -> Verdict {
    for (place, told) in trace.told.iter().enumerate() {
        let Told::Bookmark(bookmark) = told else {
            continue;
        };
        let so_far = Trace {
            told: trace.told[..place].to_vec(),
            until: *bookmark,
            ..trace.clone()
        };
        reliable(&so_far, record).map_err(|why| format!("Bookmarkable: early: {why}"))?;
        let rest = &trace.told[place..];
        let is_late =
            |told: &Told| matches!(told, Told::Event { version, .. } if version <= bookmark);
        if rest.iter().any(is_late) {
            return Err(format!(
                "Bookmarkable: an event up to {bookmark} behind its bookmark"
            ));
        }
    }
    Ok(())
}

/// `ADDED` is told exactly of what was not of the selection before.
fn is_create(trace: &Trace, record: &Record) -> Verdict {
    for (kind, name, version) in events(trace) {
        let is_new = !before(trace, record, version).contains_key(name);
        if is_new != (kind == EventKind::Added) {
            return Err(format!("IsCreate: {kind} {name} at {version}"));
        }
    }
    Ok(())
}

/// The event is about the object that was there: its uid is that of the state before or after.
fn prev_kv(trace: &Trace, record: &Record) -> Verdict {
    for told in &trace.told {
        let Told::Event {
            kind,
            name,
            uid,
            version,
        } = told
        else {
            continue;
        };
        let state = match kind {
            EventKind::Deleted => before(trace, record, *version),
            _ => after(trace, record, *version),
        };
        if state.get(name).map(|known| &known.uid) != Some(uid) {
            return Err(format!(
                "PrevKV: {kind} {name} at {version} has the uid {uid}"
            ));
        }
    }
    Ok(())
}

/// Every change of the selection up to `until` is told.
fn reliable(trace: &Trace, record: &Record) -> Verdict {
    let told: Vec<u64> = events(trace).map(|(.., version)| version).collect();
    for (version, _) in &record.states {
        if *version <= trace.from || *version > trace.until {
            continue;
        }
        let is_change = before(trace, record, *version) != after(trace, record, *version);
        if is_change != told.contains(version) {
            let what = if is_change {
                "is missing"
            } else {
                "was told, and is no change"
            };
            return Err(format!("Reliable: the change at {version} {what}"));
        }
    }
    Ok(())
}

/// No reader of the trace sees a state between two versions: after every event the fold of the
/// trace is the state at that version.
fn atomic(trace: &Trace, record: &Record) -> Verdict {
    fold(trace, record, &trace.told).map_err(|why| format!("Atomic: {why}"))
}

/// Starting again after any event, from its version, the rest of the trace leads to the same end.
fn resumable(trace: &Trace, record: &Record) -> Verdict {
    for place in 0..trace.told.len() {
        let from = match &trace.told[place] {
            Told::Event { version, .. } | Told::Bookmark(version) => *version,
        };
        let rest = Trace {
            from,
            told: trace.told[place + 1..].to_vec(),
            ..trace.clone()
        };
        let again = fold(&rest, record, &rest.told).and_then(|()| reliable(&rest, record));
        again.map_err(|why| format!("Resumable: from {from}: {why}"))?;
    }
    Ok(())
}

fn fold(trace: &Trace, record: &Record, told: &[Told]) -> Verdict {
    let mut state: State = selected(record.at(trace.from), trace.label);
    for told in told {
        let Told::Event {
            kind,
            name,
            version,
            ..
        } = told
        else {
            continue;
        };
        match kind {
            EventKind::Deleted => drop(state.remove(name)),
            _ => {
                let now = after(trace, record, *version);
                let known = now
                    .get(name)
                    .cloned()
                    .ok_or_else(|| format!("no {name} then"))?;
                state.insert(name.clone(), known);
            }
        }
        if state != after(trace, record, *version) {
            return Err(format!("the fold differs from the state at {version}"));
        }
    }
    Ok(())
}
