//! What many runs come to.

use std::{collections::BTreeMap, fmt};

use crate::{Cells, FaultKind, Outcome, Packings, Wires};

/// Totals of runs.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// How many runs.
    pub schedules: u64,
    /// How many of them showed nothing.
    pub void: u64,
    /// Events handlers were told of, in all.
    pub events: u64,
    /// How many did not hold.
    pub failed: u64,
    /// What became of packed objects.
    pub packings: Packings,
    /// The formats of the answers.
    pub wires: Wires,
    hits: BTreeMap<FaultKind, u64>,
    cells: Cells,
}

impl Tally {
    /// Counts one run.
    pub fn add(&mut self, outcome: &Outcome) {
        self.schedules += 1;
        self.void += u64::from(outcome.is_void);
        self.failed += u64::from(!outcome.violations.is_empty());
        self.events += outcome.events as u64;
        self.cells.add(&outcome.cells);
        self.packings.add(&outcome.packings);
        self.wires.add(&outcome.wires);
        for (kind, hits) in &outcome.hits {
            *self.hits.entry(*kind).or_default() += hits;
        }
    }

    /// How often a kind happened.
    pub fn hits(&self, kind: FaultKind) -> u64 {
        self.hits.get(&kind).copied().unwrap_or(0)
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for kind in FaultKind::ALL {
            writeln!(f, "{:>10}  {kind}", self.hits(*kind))?;
        }
        writeln!(f, "{}", self.cells)?;
        writeln!(f, "{}", self.packings)?;
        writeln!(f, "{}", self.wires)?;
        let Self {
            schedules,
            void,
            events,
            failed,
            ..
        } = self;
        write!(
            f,
            "{schedules} schedules, {void} void, {events} events, {failed} failed"
        )
    }
}
