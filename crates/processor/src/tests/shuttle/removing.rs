//! Removal against callbacks (PR-1, PR-11, FM-70).

use std::sync::Arc;

use super::explore;
use super::heard::{Heard, Hearing};
use super::world::World;
use crate::sync::{Mutex, block_on, thread};
use crate::{Handler, ListenerConfig, Notification, Registration, Replay};

/// PR-11: when `remove_now` has returned and no callback runs, none begins.
pub(super) fn now() {
    let (world, heard) = (World::new(), Heard::new());
    let registration = world.add(&heard).expect("nobody has stopped it");
    let listener = Arc::clone(&world.processor.registry.listeners()[0]);
    let writer = thread::spawn({
        let world = world.clone();
        move || {
            world.set(1, 1);
            world.set(1, 2);
        }
    });
    registration.remove_now();
    if !listener.gate.is_running() {
        heard.expect_silence();
    }
    writer.join().expect("the writer ends");
    registration.remove_now();
    block_on(registration.remove()).expect("not in a callback");
    heard.check();
}

/// PR-11, FM-70: when `remove` is ready no callback runs, and the handler is gone.
pub(super) fn awaited() {
    let (world, heard) = (World::new(), Heard::new());
    world.set(1, 1);
    world.set(2, 1);
    let registration = world.add(&heard).expect("nobody has stopped it");
    let writer = thread::spawn({
        let world = world.clone();
        move || world.set(1, 2)
    });
    block_on(registration.remove()).expect("not in a callback");
    heard.expect_silence();
    assert!(!heard.is_running(), "PR-11: a callback runs");
    assert!(heard.is_dropped(), "FM-70: the handler lives");
    writer.join().expect("the writer ends");
    heard.check();
}

/// Removes itself in its first callback.
struct Leaving {
    hearing: Hearing,
    registration: Arc<Mutex<Option<Registration>>>,
}

impl Handler<u8, u64> for Leaving {
    fn on_notification(&mut self, news: &Notification<u8, u64>) {
        self.hearing.on_notification(news);
        let registration = self.registration.lock().expect("nobody panics").take();
        if let Some(registration) = registration {
            registration.remove_now();
            self.hearing.0.expect_silence();
        }
    }
}

/// PR-11: from inside a callback; it is the last one.
pub(super) fn from_inside() {
    let (world, heard) = (World::new(), Heard::new());
    let own = Arc::new(Mutex::new(None));
    let handler = Leaving {
        hearing: Hearing(heard.clone()),
        registration: Arc::clone(&own),
    };
    let joining = world
        .processor
        .add_blocking(handler, ListenerConfig::default())
        .expect("nobody has stopped it");
    let registration = joining.begin(0, Replay::empty());
    *own.lock().expect("nobody panics") = Some(registration.clone());
    let writer = thread::spawn({
        let world = world.clone();
        move || {
            world.set(1, 1);
            world.set(1, 2);
        }
    });
    block_on(registration.remove()).expect("not in a callback");
    assert!(heard.is_dropped(), "FM-70: the handler lives");
    writer.join().expect("the writer ends");
    heard.check();
}

/// Two who remove the same listener both come back, and both to silence.
pub(super) fn twice() {
    let (world, heard) = (World::new(), Heard::new());
    world.set(1, 1);
    let registration = world.add(&heard).expect("nobody has stopped it");
    let other = thread::spawn({
        let registration = registration.clone();
        move || block_on(registration.remove()).expect("not in a callback")
    });
    block_on(registration.remove()).expect("not in a callback");
    heard.expect_silence();
    assert!(heard.is_dropped(), "FM-70: the handler lives");
    other.join().expect("the other ends");
    assert!(world.processor.listeners().is_empty(), "it is off the list");
    heard.check();
}

#[test]
fn after_a_removal_no_callback_begins() {
    explore(now);
}

#[test]
fn after_an_awaited_removal_none_runs_and_the_handler_is_gone() {
    explore(awaited);
}

#[test]
fn a_callback_that_removes_its_own_listener_is_the_last() {
    explore(from_inside);
}

#[test]
fn two_removals_of_one_listener_both_end() {
    explore(twice);
}
