//! Wake-ups: whoever waits is woken by what it waits for alone (RB-3).

use std::time::Duration;

use super::explore;
use super::heard::Heard;
use super::world::World;
use crate::sync::{block_on, thread};

/// RB-3: nothing but the notification itself wakes the handler.
pub(super) fn of_a_handler() {
    let (world, heard) = (World::new(), Heard::new());
    world.add(&heard).expect("nobody has stopped it");
    world.set(1, 1);
    heard.wait_for(1);
    world.set(1, 2);
    heard.wait_for(2);
    block_on(world.processor.stop(Duration::MAX));
    heard.check_final(&world.state());
}

/// RB-3, with two who distribute.
pub(super) fn by_two() {
    let (world, heard) = (World::new(), Heard::new());
    world.add(&heard).expect("nobody has stopped it");
    let other = thread::spawn({
        let world = world.clone();
        move || world.set(1, 1)
    });
    world.set(2, 1);
    heard.wait_for(2);
    other.join().expect("the other ends");
    block_on(world.processor.stop(Duration::MAX));
    heard.check_final(&world.state());
}

#[test]
fn a_notification_alone_wakes_an_idle_handler() {
    explore(of_a_handler);
}

#[test]
fn no_wake_up_is_lost_between_two_distributions() {
    explore(by_two);
}
