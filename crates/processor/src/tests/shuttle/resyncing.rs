//! Resyncs beside commits and a removal (PR-10, FM-50).

use std::time::Duration;

use super::explore;
use super::heard::Heard;
use super::world::World;
use crate::sync::{block_on, thread};
use crate::{ListenerConfig, ProcessorConfig};

const PERIOD: Duration = Duration::from_secs(1);

/// A resync never takes a key back, wherever it falls between commits.
pub(super) fn amid_commits() {
    let world = World::over(ProcessorConfig::default().check_period(PERIOD));
    let heard = Heard::new();
    world.set(1, 1);
    let config = ListenerConfig::named("hearing").resync(PERIOD);
    world
        .add_configured(&heard, config)
        .expect("nobody has stopped it");
    let resync = thread::spawn({
        let world = world.clone();
        move || world.resync(crate::sync::now() + 2 * PERIOD)
    });
    world.set(1, 2);
    world.set(2, 1);
    resync.join().expect("the resync ends");
    block_on(world.processor.stop(Duration::MAX));
    heard.check_final(&world.state());
}

#[test]
fn a_resync_takes_no_key_back() {
    explore(amid_commits);
}
