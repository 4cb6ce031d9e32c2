//! Values of several generations of a dictionary, read by threads while the generations change.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, RwLock};
use std::thread;

use super::samples;
use crate::Packed;

const VALUES: usize = 200;
const GENERATIONS: usize = 12;
const READERS: usize = 3;

/// A value and what it was before it was packed.
type Kept = Arc<(Packed, Vec<u8>)>;

fn kept(packer: &crate::Packer, generation: usize, n: usize) -> Kept {
    let line = samples::line(generation, n);
    Arc::new((packer.pack(&line), line))
}

#[test]
fn readers_unpack_every_generation_while_dictionaries_change() {
    let packer = samples::packer(&samples::dictionary(0));
    let table: Vec<Kept> = (0..VALUES).map(|n| kept(&packer, 0, n)).collect();
    let table = RwLock::new(table);
    let (start, read) = (Barrier::new(READERS + 1), AtomicUsize::new(0));
    thread::scope(|scope| {
        for reader in 0..READERS {
            let (table, start, read) = (&table, &start, &read);
            scope.spawn(move || {
                start.wait();
                let mut value = Vec::new();
                for turn in 0..GENERATIONS * VALUES {
                    let place = (turn * 7 + reader * 31) % VALUES;
                    let kept = Arc::clone(&table.read().expect("no panic")[place]);
                    kept.0.unpack_into(&mut value).expect("its own dictionary");
                    assert_eq!(value, kept.1);
                    read.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        start.wait();
        for generation in 1..GENERATIONS {
            let packer = samples::packer(&samples::dictionary(generation));
            // A third of the values stays in the generation before, and so on.
            for n in (0..VALUES).filter(|n| n % 3 != generation % 3) {
                let new = kept(&packer, generation, n);
                table.write().expect("no panic")[n] = new;
            }
        }
    });
    assert_eq!(read.into_inner(), READERS * GENERATIONS * VALUES);
}

#[test]
fn a_dictionary_is_freed_with_the_last_value_that_needs_it() {
    let dictionary = samples::dictionary(1);
    let weak = Arc::downgrade(&dictionary);
    let packer = samples::packer(&dictionary);
    drop(dictionary);
    let line = samples::line(1, 9);
    let (one, stored) = (packer.pack(&line), packer.pack(b"?"));
    let two = one.clone();
    drop(packer);
    drop(one);
    assert!(weak.upgrade().is_some(), "the clone needs it");
    assert_eq!(two.unpack().as_deref(), Ok(&line[..]));
    drop(two);
    assert!(stored.is_stored());
    assert!(weak.upgrade().is_none(), "a stored value does not keep it");
}

#[test]
fn a_thread_that_ends_still_packs_and_unpacks() {
    struct AtEnd(crate::Packer, Arc<AtomicUsize>);

    impl Drop for AtEnd {
        fn drop(&mut self) {
            let line = samples::line(1, 3);
            let unpacked = self.0.pack(&line).unpack().expect("unpacks");
            self.1
                .fetch_add(usize::from(unpacked == line), Ordering::SeqCst);
        }
    }

    thread_local! {
        static AT_END: std::cell::RefCell<Option<AtEnd>> = const { std::cell::RefCell::new(None) };
    }

    let ended = Arc::new(AtomicUsize::new(0));
    let at_end = AtEnd(samples::packer(&samples::dictionary(1)), Arc::clone(&ended));
    let thread = thread::spawn(move || {
        // The destructor registered first runs first or last, depending on the system: the
        // contexts of the codec are made both before and after it.
        AT_END.with(|place| *place.borrow_mut() = Some(at_end));
        AT_END.with(|place| {
            let place = place.borrow();
            let packer = &place.as_ref().expect("just set").0;
            packer.pack(&samples::line(1, 4)).unpack().expect("unpacks");
        });
    });
    thread.join().expect("no panic");
    assert_eq!(ended.load(Ordering::SeqCst), 1);
}
