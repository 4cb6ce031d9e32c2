//! Turns what is left of a run into evidence.

use std::sync::atomic::Ordering;

use informer_testkit::{FaultId, RequestRecord};

use crate::{
    Cells, FaultKind,
    evidence::{Controlled, Ending, Evidence, Left, Listened},
    object::Form,
    plan::Manner,
    run::{Member, World},
};

impl<T: Form> World<T> {
    fn hits(&self) -> Vec<(FaultKind, u64)> {
        let mut counts = self.counts.clone();
        let requests = self.server.requests();
        for (kind, id) in &self.scripted {
            *counts.entry(*kind).or_default() += match FaultKind::IN_PROTOBUF.contains(kind) {
                true => self.met(*kind, *id, &requests).count() as u64,
                false => self.server.fault_hits(*id),
            };
        }
        for member in &self.joined {
            let told = member.joined.notebook.told().len() as u64;
            let panics = member.joined.notebook.panics.load(Ordering::Relaxed);
            match member.plan.manner.fault() {
                Some(FaultKind::HandlerPanics) => {
                    *counts.entry(FaultKind::HandlerPanics).or_default() += panics;
                }
                Some(kind) => *counts.entry(kind).or_default() += told,
                None => {}
            }
        }
        let refused = self.refused.load(Ordering::Relaxed);
        *counts.entry(FaultKind::TransformError).or_default() += refused;
        if self.plan.kinds.contains(&FaultKind::SeedExtremes) {
            *counts.entry(FaultKind::SeedExtremes).or_default() += 1;
        }
        counts.into_iter().filter(|(_, hits)| *hits > 0).collect()
    }

    /// The requests that met a scripted fault. An answer in JSON has no fault of protobuf.
    fn met<'r>(
        &self,
        kind: FaultKind,
        id: FaultId,
        requests: &'r [RequestRecord],
    ) -> impl Iterator<Item = &'r RequestRecord> {
        let needs_protobuf = FaultKind::IN_PROTOBUF.contains(&kind);
        let numbers = self.server.fault_requests(id).into_iter();
        let found = numbers.filter_map(|number| {
            let place = requests.binary_search_by_key(&number, |request| request.number);
            requests.get(place.ok()?)
        });
        found.filter(move |request| !needs_protobuf || request.is_protobuf())
    }

    /// The phases that were met by scripted faults and by handlers, beside those counted already.
    fn cells(&mut self) -> Cells {
        let mut cells = std::mem::take(&mut self.cells);
        let requests = self.server.requests();
        for (kind, id) in &self.scripted {
            let met = self.met(*kind, *id, &requests);
            met.for_each(|request| cells.count_request(*kind, request));
        }
        for member in &self.joined {
            if let Some(kind) = member.plan.manner.fault() {
                let phases = member.joined.notebook.phases();
                phases.iter().for_each(|phase| cells.count(kind, *phase));
            }
        }
        cells
    }

    /// Turns what is left into evidence.
    pub(crate) fn into_evidence(
        mut self,
        ending: Ending,
        controlled: Option<Controlled>,
    ) -> Evidence {
        let (hits, cells) = (self.hits(), self.cells());
        let listeners = self.joined.into_iter().map(|member| {
            let status = member.joined.registration.status();
            let notebook = &member.joined.notebook;
            let left = member.left.or_else(|| left_by_itself(&member));
            Listened {
                plan: member.plan,
                joined: member.at,
                present: member.present,
                is_early: member.is_early,
                told: std::mem::take(&mut *notebook.told()),
                overlaps: notebook.overlaps.load(Ordering::Relaxed),
                panics_planned: notebook.panics.load(Ordering::Relaxed),
                panics_counted: status.panics,
                left,
                is_synced: member.joined.registration.is_synced(),
                depth: status.depth,
                has_resync: member
                    .plan
                    .resync
                    .or(self.plan.informer.default_resync)
                    .is_some_and(|period| !period.is_zero()),
            }
        });
        Evidence {
            listeners: listeners.collect(),
            truth: self.truth,
            requests: self.server.requests(),
            samples: self.samples,
            glimpses: self.lookout.take(),
            cells,
            controlled,
            deeds: self.deeds,
            hits,
            rewound_at: self.rewound_at,
            jumped: self.jumped,
            released: self.released,
            plan: self.plan,
            ending,
        }
    }
}

/// One that removes itself says when by its plan.
fn left_by_itself(member: &Member) -> Option<Left> {
    let Manner::Reenters(last) = member.plan.manner else {
        return None;
    };
    let told = usize::try_from(last).ok()?;
    let notes = member.joined.notebook.told();
    let at = notes.get(told.checked_sub(1)?)?.at;
    Some(Left { at, told })
}
