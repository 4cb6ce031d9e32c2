//! Handing on a collection, whichever way it was fetched.
//!
//! - RFX-2: version and lessons move when the sink has accepted, not before.
//! - RFX-15 (FM-39): a collection older than what we have begins a new epoch.

use super::{Effect, Input, Machine, State, watch::Connection, watching::Watching};
use crate::{
    Body, DecodeError, Emission, Identity, Item, Phase, RelistCause, Report, ResourceVersion,
};

/// A whole collection at one version.
pub(super) struct Collection<T> {
    pub(super) cause: RelistCause,
    pub(super) items: Vec<Item<T>>,
    pub(super) version: ResourceVersion,
    /// It was read consistently, so that it is what the server has.
    pub(super) consistent: bool,
}

/// A watch that goes on after its initial events (RL-28).
pub(super) struct Handover {
    pub(super) connection: Connection,
    pub(super) events: u64,
}

/// The sink is taking a collection.
pub(super) struct Replacing {
    cause: RelistCause,
    version: ResourceVersion,
    items: usize,
    reused: usize,
    undecodable: Vec<(Identity, DecodeError)>,
    consistent: bool,
    new_epoch: bool,
    handover: Option<Handover>,
}

impl Replacing {
    pub(super) fn phase(&self) -> Phase {
        match self.handover {
            Some(_) => Phase::Streaming,
            None => Phase::Listing,
        }
    }
}

impl<T> Machine<T> {
    pub(super) fn replace(
        &mut self,
        collection: Collection<T>,
        handover: Option<Handover>,
        out: &mut Vec<Effect<T>>,
    ) {
        let Collection {
            cause,
            items,
            version,
            consistent,
        } = collection;
        let new_epoch = version.is_older_than(&self.resume) && !planted!(RewindIsNotTold);
        let reused = |item: &&Item<T>| matches!(item.body, Body::Reused(_));
        let replacing = Replacing {
            cause,
            version: version.clone(),
            items: items.len(),
            reused: items.iter().filter(reused).count(),
            undecodable: items.iter().filter_map(undecodable).collect(),
            consistent,
            new_epoch,
            handover,
        };
        planted!(EmittedIsReceived => self.resume = version.clone());
        self.enter(State::Replacing(replacing), out);
        out.push(Effect::Emit(Emission::Replace {
            items,
            received: version,
            new_epoch,
        }));
    }

    pub(super) fn replacing(
        &mut self,
        replacing: Replacing,
        input: &Input<T>,
        out: &mut Vec<Effect<T>>,
    ) {
        match input {
            Input::Accepted => self.replaced(replacing, out),
            Input::Refused => self.stop(out),
            _ => self.state = State::Replacing(replacing),
        }
    }

    fn replaced(&mut self, replacing: Replacing, out: &mut Vec<Effect<T>>) {
        let version = replacing.version;
        if replacing.new_epoch {
            let (before, after) = (self.resume.clone(), version.clone());
            out.push(Effect::Report(Report::NewEpoch { before, after }));
        }
        self.resume = version.clone();
        self.lessons.unusable = false;
        self.lessons.trouble = None;
        // A watch that goes on has used that up: the next one begins at a later version.
        self.lessons.vouched = replacing.consistent && replacing.handover.is_none();
        planted!(ListResetsBackoff => self.recovered());
        self.tell_if_incomparable(&version, out);
        for (identity, error) in replacing.undecodable {
            out.push(Effect::Report(Report::Undecodable { identity, error }));
        }
        out.push(Effect::Report(Report::Listed {
            cause: replacing.cause,
            items: replacing.items,
            reused: replacing.reused,
            version: version.clone(),
        }));
        let received = version;
        out.push(Effect::Report(Report::Progress { received }));
        if self.catch_up_on_demand(out) {
            return;
        }
        match replacing.handover {
            None => self.open_watch(out),
            Some(handover) => {
                self.lessons.failed_streams = 0;
                let watching = Watching::after_initial_events(handover);
                self.enter(State::Watching(watching), out);
            }
        }
    }
}

/// What is reported of an item that could not be decoded (FM-53).
pub(super) fn undecodable<T>(item: &Item<T>) -> Option<(Identity, DecodeError)> {
    match &item.body {
        Body::Undecodable(error) => Some((item.identity.clone(), error.clone())),
        Body::Decoded(_) | Body::Reused(_) => None,
    }
}
