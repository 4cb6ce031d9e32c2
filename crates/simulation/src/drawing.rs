//! Draws a plan from a seed: which kinds of faults this run has, how often, and what else goes on.
//!
//! Swarm-wise: each run has a few kinds at rates of its own, since a run in which everything fails
//! always fails in the same way.

use std::time::Duration;

use informer_factory::{QueueKind, WireFormat};

use crate::{
    FaultKind, Packing, REGRESSIONS,
    chance::Chance,
    object::{NAMES, NAMESPACES},
    plan::{
        Action, ControllerPlan, FAULTS, InformerPlan, ListenerPlan, Manner, PackedKind, PackedPlan,
        Plan, Scope, ServerPlan, Step, Write,
    },
    scripting, seeds_of,
};

/// None of the seeds of `regressions.txt` has anything of `draw_beside`.
const BESIDE: u64 = 0x140_0000_0000;

/// None of the seeds that were in `regressions.txt` before packed objects is packed by this.
const PACKED: u64 = 0x260_0000_0000;

/// The generator of the wire is another one than that of the rest.
const WIRE: u64 = 0x190_0000_0000;

/// The seeds of `regressions.txt` that are older than protobuf. They keep JSON, because cuts count
/// bytes.
const BEFORE_PROTOBUF: usize = 32;

impl Plan {
    pub(crate) fn draw(seed: u64, packing: Packing) -> Self {
        let chance = &mut Chance::seeded(seed);
        let kinds = draw_kinds(chance);
        let has = |kind: FaultKind| kinds.contains(&kind);
        let informer = draw_informer(chance, &has);
        let mut plan = Self {
            seed,
            server: draw_server(chance),
            controller: None,
            initial: (0..chance.between(0, 16)).map(|_| put(chance)).collect(),
            listeners: draw_listeners(chance, &has),
            steps: Vec::new(),
            heals_by_list: chance.percent(40) || kinds.iter().any(|kind| kind.needs_list()),
            informer,
            kinds,
        };
        plan.draw_beside(seed);
        plan.draw_packed(seed, packing);
        plan.draw_writes(chance);
        for kind in plan.kinds.clone() {
            plan.draw_faults(kind, chance);
        }
        plan.draw_wire(seed);
        plan.steps.retain(|step| step.at < FAULTS);
        plan.steps.sort_by_key(|step| step.at);
        plan
    }

    /// What came later than the rest, by a generator of its own: without it a seed means what it
    /// always meant, which those of `regressions.txt` need.
    fn draw_beside(&mut self, seed: u64) {
        let chance = &mut Chance::seeded(seed ^ BESIDE);
        // Whoever starts late meets faults with the first list; at the start there are none yet.
        let is_late = chance.percent(30);
        let start = chance.millis(1, 3_000);
        let start = if is_late { start } else { Duration::ZERO };
        self.step(start, Action::Start);
        self.controller = chance.percent(25).then(|| ControllerPlan {
            queue: chance.pick(&[QueueKind::DeltaFifo, QueueKind::InOrder]),
            seed: chance.next(),
            pause: chance.pick_clone(&[
                Duration::from_millis(100),
                Duration::from_secs(2),
                Duration::from_secs(10),
            ]),
        });
    }

    /// Whether the informer is packed. Nothing else is drawn otherwise if it is.
    fn draw_packed(&mut self, seed: u64, packing: Packing) {
        let chance = &mut Chance::seeded(seed ^ PACKED);
        let is_drawn = chance.percent(10);
        // A dictionary is trained, used and found to be bad within some twenty writes.
        let writes = chance.pick(&[16, 24, 40, u64::MAX]);
        let kinds = [PackedKind::Typed, PackedKind::Dynamic, PackedKind::Metadata];
        let kind = chance.pick(&kinds);
        if is_drawn || packing == Packing::Always {
            self.informer.packed = Some(PackedPlan { kind, writes });
            // A transform of packed objects is refused.
            self.informer.refuses_multiples = None;
        }
    }

    /// The format of the objects, and in some runs faults that only protobuf has. Nothing else is
    /// drawn otherwise.
    fn draw_wire(&mut self, seed: u64) {
        let chance = &mut Chance::seeded(seed ^ WIRE);
        let is_json = chance.percent(33);
        let has_faults = chance.percent(40);
        if is_json || is_before_protobuf(seed) {
            return;
        }
        self.informer.wire = WireFormat::Auto;
        if !has_faults || !self.informer.prefers_protobuf() {
            return;
        }
        for _ in 0..chance.between(1, 4) {
            let kind = chance.pick(FaultKind::IN_PROTOBUF);
            self.draw_faults(kind, chance);
            self.heals_by_list |= kind.needs_list();
            if !self.kinds.contains(&kind) {
                self.kinds.push(kind);
            }
        }
    }

    pub(crate) fn step(&mut self, at: Duration, what: Action) {
        self.steps.push(Step { at, what });
    }

    /// What people do all the while.
    fn draw_writes(&mut self, chance: &mut Chance) {
        let gap = chance.pick(&[2_000, 5_000, 15_000, 40_000]);
        let mut at = Duration::ZERO;
        while at < FAULTS {
            at += chance.millis(1, 2 * gap);
            let burst = if chance.percent(6) {
                chance.between(5, 25)
            } else {
                1
            };
            for _ in 0..burst {
                let write = draw_write(chance);
                self.step(at, Action::Write(write));
            }
            if chance.percent(10) {
                self.step(at, Action::Skip(chance.between(1, 50)));
            }
        }
    }

    /// When a kind happens: some spells, each as the kind has it.
    fn draw_faults(&mut self, kind: FaultKind, chance: &mut Chance) {
        let most = chance.pick(&[2, 4, 9]);
        let spells = chance.between(1, most);
        for _ in 0..spells {
            // Early ones meet the first list, and the first seconds are where most can go wrong.
            let latest = if chance.percent(25) { 3_000 } else { 590_000 };
            let at = chance.millis(0, latest);
            scripting::script(self, kind, at, chance);
        }
    }
}

fn is_before_protobuf(seed: u64) -> bool {
    let regressions = seeds_of(REGRESSIONS);
    regressions
        .iter()
        .take(BEFORE_PROTOBUF)
        .any(|one| *one == seed)
}

fn draw_kinds(chance: &mut Chance) -> Vec<FaultKind> {
    let count = chance.pick(&[1, 2, 4, 8, 16]);
    let mut kinds: Vec<FaultKind> = (0..count)
        .map(|_| chance.pick(FaultKind::OF_ANY_RUN))
        .collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

fn draw_server(chance: &mut Chance) -> ServerPlan {
    ServerPlan {
        starting_version: chance.pick(&[1, 98, 1_000, 99_990, 4_000_000_000]),
        bookmark_interval: chance.millis(1_000, 60_000),
        page_limit: chance.percent(20).then(|| 1 + chance.index(4)),
        history_limit: chance.pick(&[10, 50, 1_000, 1_000]),
    }
}

fn draw_informer(chance: &mut Chance, has: &impl Fn(FaultKind) -> bool) -> InformerPlan {
    let seed = match has(FaultKind::SeedExtremes) {
        true => chance.pick(&[0, 1, u64::MAX, u64::MAX / 2]),
        false => chance.next(),
    };
    InformerPlan {
        queue: chance.pick(&[QueueKind::DeltaFifo, QueueKind::InOrder]),
        scope: chance.pick(&[Scope::All, Scope::All, Scope::Tier, Scope::Namespaces]),
        streaming: chance.percent(50),
        page_size: chance
            .percent(40)
            .then(|| 1 + u32::try_from(chance.index(6)).unwrap_or(0)),
        seed,
        default_resync: chance.percent(30).then(|| chance.millis(20_000, 200_000)),
        refuses_multiples: has(FaultKind::TransformError).then(|| chance.between(2, 9)),
        index_before_start: chance.percent(60),
        packed: None,
        wire: WireFormat::Json,
    }
}

fn draw_listeners(chance: &mut Chance, has: &impl Fn(FaultKind) -> bool) -> Vec<ListenerPlan> {
    // The first is the one others are measured by.
    let mut listeners = vec![ListenerPlan {
        manner: Manner::Fast,
        coalesces: false,
        resync: None,
    }];
    let special = [
        FaultKind::HandlerSlow,
        FaultKind::HandlerBlocked,
        FaultKind::HandlerPanics,
        FaultKind::HandlerReenters,
    ];
    listeners.extend(
        special
            .into_iter()
            .filter(|kind| has(*kind))
            .map(|kind| draw_special(kind, chance)),
    );
    listeners.extend((0..chance.index(3)).map(|_| draw_listener(chance)));
    listeners
}

fn draw_special(kind: FaultKind, chance: &mut Chance) -> ListenerPlan {
    let manner = match kind {
        FaultKind::HandlerSlow => Manner::Slow(chance.millis(100, 4_000)),
        FaultKind::HandlerBlocked => {
            let from = chance.millis(0, 400_000);
            Manner::Blocked(from, from + chance.millis(1_000, 190_000))
        }
        FaultKind::HandlerPanics => Manner::Panics(chance.between(1, 6)),
        _ => Manner::Reenters(chance.pick(&[5, 50, u64::MAX])),
    };
    let coalesces = chance.percent(50);
    // One that is slower than its resyncs would never be done.
    let resync = match manner {
        Manner::Slow(_) => Some(Duration::ZERO),
        _ => draw_resync(chance),
    };
    ListenerPlan {
        manner,
        coalesces,
        resync,
    }
}

/// An ordinary one.
pub(crate) fn draw_listener(chance: &mut Chance) -> ListenerPlan {
    let manner = match chance.index(3) {
        0 => Manner::Slow(chance.millis(1, 500)),
        1 => Manner::Stream(chance.millis(0, 2_000)),
        _ => Manner::Fast,
    };
    let coalesces = chance.percent(30);
    ListenerPlan {
        manner,
        coalesces,
        resync: draw_resync(chance),
    }
}

fn draw_resync(chance: &mut Chance) -> Option<Duration> {
    let period = chance.pick(&[0, 30_000, 120_000]);
    chance.percent(40).then(|| Duration::from_millis(period))
}

fn place(chance: &mut Chance) -> (usize, usize) {
    (chance.index(NAMESPACES.len()), chance.index(NAMES))
}

pub(crate) fn put(chance: &mut Chance) -> Write {
    let (namespace, name) = place(chance);
    Write::Put { namespace, name }
}

fn draw_write(chance: &mut Chance) -> Write {
    let (namespace, name) = place(chance);
    match chance.index(20) {
        0..13 => Write::Put { namespace, name },
        13..17 => Write::Delete { namespace, name },
        17 => Write::Recreate { namespace, name },
        18 => Write::Flash { namespace, name },
        _ => Write::FlipLabel { namespace, name },
    }
}

/// What the history kinds do, some of it in a gap.
pub(crate) fn write_of(kind: FaultKind, chance: &mut Chance) -> Write {
    let (namespace, name) = place(chance);
    match kind {
        FaultKind::UidChange => Write::Recreate { namespace, name },
        FaultKind::Ephemeral => Write::Flash { namespace, name },
        FaultKind::LabelFlip => Write::FlipLabel { namespace, name },
        _ => Write::Wipe { namespace },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Those seeds of `regressions.txt` that are older than packed objects.
    const TYPED: usize = 32;

    #[test]
    fn one_schedule_in_ten_is_packed_and_seeds_keep_their_meaning() {
        let is_packed = |seed: &u64| {
            let plan = Plan::draw(*seed, Packing::Drawn);
            plan.informer.packed.is_some()
        };
        let packed = (0..1_000).filter(is_packed).count();
        assert!((60..140).contains(&packed), "{packed} of 1,000");
        let regressions = seeds_of(REGRESSIONS);
        let changed: Vec<_> = regressions
            .iter()
            .take(TYPED)
            .filter(|seed| is_packed(seed))
            .collect();
        assert!(changed.is_empty(), "{changed:?}");
    }

    #[test]
    fn two_schedules_in_three_accept_protobuf_and_old_seeds_keep_json() {
        let accepts = |seed: &u64| {
            let plan = Plan::draw(*seed, Packing::Drawn);
            plan.informer.wire == WireFormat::Auto
        };
        let accepting = (0..1_000).filter(accepts).count();
        assert!((620..720).contains(&accepting), "{accepting} of 1,000");
        let regressions = seeds_of(REGRESSIONS);
        let mut old = regressions.iter().take(BEFORE_PROTOBUF);
        assert!(!old.any(accepts));
    }

    #[test]
    fn faults_of_protobuf_are_drawn_where_objects_come_in_protobuf() {
        for seed in 0..1_000 {
            let plan = Plan::draw(seed, Packing::Drawn);
            let mut kinds = plan.kinds.iter();
            let is_met = kinds.any(|kind| FaultKind::IN_PROTOBUF.contains(kind));
            assert!(!is_met || plan.informer.prefers_protobuf(), "{seed}");
        }
    }
}
