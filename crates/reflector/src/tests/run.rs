//! One run: a configuration, a seed, and what happens.

use std::num::NonZeroU32;

use super::world::{Op, World};
use crate::Config;

/// One run.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) seed: u64,
    pub(super) streaming: bool,
    pub(super) page_size: Option<u32>,
    pub(super) ops: Vec<Op>,
}

/// Plays a run; panics with the id of the rule that was broken.
pub(super) fn play(run: Run) -> World {
    let config = Config {
        streaming: run.streaming,
        page_size: run.page_size.and_then(NonZeroU32::new),
        ..Config::default()
    };
    let mut world = World::new(config, run.seed);
    for op in run.ops {
        world.apply(op);
    }
    world.calm_down();
    world
}
