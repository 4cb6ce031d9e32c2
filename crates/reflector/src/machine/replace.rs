//! Emitting a collection, whichever way it was fetched.

// - RFX-2: the resume version and the retry state move after the sink has accepted.
// - RFX-15 (FM-39): a collection older than the resume version begins a new epoch.

use std::mem;

use super::{
    context::Context,
    input::{Effect, Input},
    next::{Attempt, Collection, Handover, Next},
};
use crate::{Body, Emission, Epoch, Item, Phase, Report, ResourceVersion};

/// The phase in which the sink takes a collection.
pub(super) struct Replacing {
    version: ResourceVersion,
    /// One for each item that could not be decoded, then one for the collection.
    reports: Vec<Report>,
    consistent: bool,
    epoch: Epoch,
    handover: Option<Handover>,
}

impl Replacing {
    pub(super) fn begin<T>(
        context: &mut Context<T>,
        collection: Collection<T>,
        handover: Option<Handover>,
    ) -> (Self, Effect<T>) {
        let Collection { items, version, .. } = collection;
        let is_rewound = version.is_older_than(&context.resume) && !planted!(RewindIsNotTold);
        let epoch = match is_rewound {
            true => Epoch::New,
            false => Epoch::Same,
        };
        let reused = |item: &&Item<T>| matches!(item.body, Body::Reused(_));
        let listed = Report::Listed {
            cause: collection.cause,
            items: items.len(),
            reused: items.iter().filter(reused).count(),
            version: version.clone(),
        };
        let undecodable = items.iter().filter_map(Report::undecodable);
        let replacing = Self {
            version: version.clone(),
            reports: undecodable.chain([listed]).collect(),
            consistent: collection.consistent,
            epoch,
            handover,
        };
        planted!(EmittedIsReceived => context.resume = version.clone());
        let emission = Emission::Replace {
            items,
            received: version,
            epoch,
        };
        (replacing, Effect::Emit(emission))
    }

    pub(super) fn phase(&self) -> Phase {
        match self.handover {
            Some(_) => Phase::Streaming,
            None => Phase::Listing,
        }
    }

    pub(super) fn step<T>(&mut self, context: &mut Context<T>, input: &Input<T>) -> Next<T> {
        match *input {
            Input::Accepted => self.accepted(context),
            Input::Refused => Next::Stop,
            Input::Demand(demand) => context.postpone(demand),
            _ => Next::Stay,
        }
    }

    fn accepted<T>(&mut self, context: &mut Context<T>) -> Next<T> {
        let version = self.version.clone();
        let before = mem::replace(&mut context.resume, version.clone());
        if self.epoch == Epoch::New {
            let after = version.clone();
            context.report(Report::NewEpoch { before, after });
        }
        context.retry.version_refused = false;
        context.retry.watch_failures = Default::default();
        // A stream that continues has used the confirmation: the next watch begins later.
        context.retry.confirmed = self.consistent && self.handover.is_none();
        planted!(ListResetsBackoff => context.recovered());
        context.report_incomparable(&version);
        let reports = self.reports.drain(..).map(Effect::Report);
        context.effects.extend(reports);
        context.report(Report::Progress { received: version });
        if let Some(next) = context.catch_up() {
            return next;
        }
        match self.handover {
            None => Next::Attempt(Attempt::Watch),
            Some(handover) => {
                context.retry.failed_streams = 0;
                Next::Continue(handover)
            }
        }
    }
}
