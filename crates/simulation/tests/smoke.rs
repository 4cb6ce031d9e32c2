//! Some seeds on every run of the tests, and that a seed says everything.

use informer_simulation::{Packing, REGRESSIONS, Tally, seeds_of, simulate};

/// Seeds that failed once, and fifty others.
#[test]
fn all_holds_for_some_seeds() {
    let mut tally = Tally::default();
    for seed in seeds_of(REGRESSIONS).into_iter().chain(0..50) {
        let outcome = simulate(seed, Packing::Drawn, false);
        assert!(outcome.violations.is_empty(), "{}", outcome.story);
        tally.add(&outcome);
    }
    assert!(
        tally.void * 4 < tally.schedules,
        "too many runs show nothing: {tally}"
    );
    assert!(tally.wires.protobuf > 20, "{}", tally.wires);
    assert!(tally.wires.answers > 200, "{}", tally.wires);
}

/// The same seed twice is the same run.
#[test]
fn a_seed_is_a_run() {
    for seed in 1_000..1_020 {
        let (one, other) = (
            simulate(seed, Packing::Drawn, true),
            simulate(seed, Packing::Drawn, true),
        );
        assert_eq!(one.story, other.story, "seed {seed}");
        assert_eq!(one.trace, other.trace, "seed {seed}");
    }
}
