//! Which outage comes next, and how long it lasts: decided by the seed alone.

use std::time::Duration;

use clap::ValueEnum;

use crate::chance::Chance;

pub(crate) use crate::arguments::Kind;

impl Kind {
    /// For the table and `--only`.
    pub(crate) fn name(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

/// Deals all kinds in some order, then again in another.
pub(crate) struct Plan {
    chance: Chance,
    kinds: Vec<Kind>,
    dealt: Vec<Kind>,
}

impl Plan {
    /// Of these kinds; of all if there are none.
    pub(crate) fn new(seed: u64, only: &[Kind]) -> Self {
        let all = Kind::value_variants();
        let kinds = if only.is_empty() { all } else { only };
        Self {
            chance: Chance::seeded(seed),
            kinds: kinds.to_vec(),
            dealt: Vec::new(),
        }
    }

    /// The next outage, and how long it lasts beside what its steps take.
    pub(crate) fn next(&mut self) -> (Kind, Duration) {
        if self.dealt.is_empty() {
            self.dealt.clone_from(&self.kinds);
            self.chance.shuffle(&mut self.dealt);
        }
        let kind = self.dealt.pop().unwrap_or(Kind::Kill);
        let length = match kind {
            Kind::Pause | Kind::Cut | Kind::Stall | Kind::Trickle => self.any_length(),
            Kind::Reset | Kind::Finish | Kind::HalfOpen | Kind::Blackhole => Duration::ZERO,
            Kind::Kill | Kind::Restart | Kind::Compact => self.chance.millis(0, 5_000),
            // So much of the history is lost.
            Kind::Restore => self.chance.millis(2_000, 20_000),
            _ => self.chance.millis(1_000, 12_000),
        };
        (kind, length)
    }

    /// From each of R4's classes.
    fn any_length(&mut self) -> Duration {
        match self.chance.below(10) {
            0..5 => self.chance.millis(500, 4_500),
            5..9 => self.chance.millis(5_500, 25_000),
            _ => self.chance.millis(61_000, 70_000),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_comes_once_a_round_and_the_seed_decides_the_order() {
        let count = Kind::value_variants().len();
        let round = |seed| {
            let mut plan = Plan::new(seed, &[]);
            (0..count).map(|_| plan.next()).collect::<Vec<_>>()
        };
        assert_eq!(round(1), round(1));
        assert_ne!(round(1), round(2));
        let mut kinds: Vec<_> = round(3).into_iter().map(|(kind, _)| kind).collect();
        kinds.sort();
        assert_eq!(kinds, Kind::value_variants());
    }
}
