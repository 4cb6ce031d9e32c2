//! Objects of the caller are dropped after the lock of a channel is released (SYS-6).

use std::cell::RefCell;
use std::num::NonZeroUsize;
use std::sync::Arc;

use futures::FutureExt;

use crate::channel::shared::Shared;
use crate::{DeltaFifo, InOrderQueue, Known, Queue, channel};

type Probe = Arc<dyn Fn() -> bool>;

thread_local! {
    /// Whether the lock is free, and what was found at each drop.
    static PROBE: RefCell<(Option<Probe>, Vec<bool>)> = const { RefCell::new((None, Vec::new())) };
}

/// An object, or a snapshot of the store, that looks at the lock when it is dropped.
#[derive(Clone, Debug, PartialEq)]
struct Probing(u32);

impl Drop for Probing {
    fn drop(&mut self) {
        let probe = PROBE.with_borrow(|(probe, _)| probe.clone());
        if let Some(probe) = probe {
            let is_free = probe();
            PROBE.with_borrow_mut(|(_, found)| found.push(is_free));
        }
    }
}

/// Holds each object that is asked for.
impl Known<u8, Probing> for Probing {
    fn get(&self, _: &u8) -> Option<Probing> {
        None
    }

    fn for_each(&self, _: &mut dyn FnMut(&u8, &Probing)) {}

    fn holds(&self, _: &u8, _: &Probing) -> bool {
        true
    }
}

/// A relist whose objects are held, or listed twice; what was found at each drop.
fn drops(queue: impl Queue<u8, Probing, u32> + 'static) -> Vec<bool> {
    let (producer, _consumer) = channel(queue, NonZeroUsize::MAX);
    let shared: Arc<Shared<u8, Probing, u32>> = Arc::clone(&producer.shared);
    let probe: Probe = Arc::new(move || shared.state.try_lock().is_ok());
    let items = vec![(1, Probing(1)), (1, Probing(2)), (2, Probing(3))];
    PROBE.with_borrow_mut(|of| *of = (Some(probe), Vec::new()));
    let replaced = producer.replace(items, 1, || Probing(0)).now_or_never();
    let (_, found) = PROBE.with_borrow_mut(std::mem::take);
    replaced.expect("there is room").expect("open");
    found
}

#[test]
fn objects_that_a_relist_leaves_out_are_dropped_after_the_lock_is_released() {
    assert_eq!(drops(DeltaFifo::default()), [true; 4]);
    assert_eq!(drops(InOrderQueue::default()), [true; 2]);
}
