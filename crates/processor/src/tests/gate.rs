//! PR-11: the gate, from two threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::listener::gate::Gate;

/// After `close` has returned nobody enters: whoever entered did so before.
#[test]
fn nobody_enters_a_closed_gate() {
    for _ in 0..2_000 {
        let gate = Arc::new(Gate::default());
        let closed = Arc::new(AtomicBool::new(false));
        let (inner, flag) = (Arc::clone(&gate), Arc::clone(&closed));
        let consumer = thread::spawn(move || {
            loop {
                let was_closed = flag.load(Ordering::SeqCst);
                if !inner.enter() {
                    return;
                }
                assert!(!was_closed, "PR-11: a callback started after the removal");
                inner.leave();
            }
        });
        gate.close();
        closed.store(true, Ordering::SeqCst);
        consumer.join().expect("PR-11");
        assert!(!gate.is_running());
        assert!(gate.is_closed());
    }
}

/// The same where one callback follows another without a pause.
#[test]
fn nobody_passes_a_closed_gate() {
    for _ in 0..2_000 {
        let gate = Arc::new(Gate::default());
        let closed = Arc::new(AtomicBool::new(false));
        let (inner, flag) = (Arc::clone(&gate), Arc::clone(&closed));
        assert!(gate.enter(), "it is open");
        let consumer = thread::spawn(move || {
            loop {
                let was_closed = flag.load(Ordering::SeqCst);
                if !inner.pass() {
                    return;
                }
                assert!(!was_closed, "PR-11: a callback started after the removal");
            }
        });
        gate.close();
        closed.store(true, Ordering::SeqCst);
        consumer.join().expect("PR-11");
        assert!(!gate.is_running(), "the last one has returned");
        assert!(!gate.enter());
    }
}
