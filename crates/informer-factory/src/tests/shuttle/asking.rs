//! Asking at once, and beside a start, an end and a release (FAX-1, FAX-2, FAX-4).

use k8s_openapi::api::core::v1::Pod;

use super::explore;
use super::stage::{is_same, play};
use crate::{Grace, InformerOptions, SharedInformerFactory};

fn pods(factory: &SharedInformerFactory) -> crate::SharedInformer<Pod> {
    factory.informer::<Pod>()
}

/// FAX-1: three who ask for the same get the same.
pub(super) fn three_at_once() {
    play(|stage| {
        let others = [0, 1].map(|_| stage.beside(|factory| pods(&factory)));
        let one = pods(stage.factory());
        for other in others {
            let other = other.join().expect("it ends");
            assert!(
                is_same(&one, &other),
                "FAX-1: two informers for one question"
            );
        }
        assert_eq!(stage.factory().status().len(), 1, "FAX-1");
        stage.shut_down();
        assert!(one.core().status.has_ended(), "FAX-4: one was forgotten");
    });
}

/// FAX-2: an informer requested during a start is started by it or by the next one; never twice.
pub(super) fn beside_a_start() {
    play(|stage| {
        let starting = stage.beside(|factory| factory.start());
        let informer = pods(stage.factory());
        starting
            .join()
            .expect("it ends")
            .expect("nobody has stopped it");
        stage.factory().start().expect("nobody has stopped it");
        assert_eq!(stage.asked(), 1, "FAX-2: not started once");
        stage.shut_down();
        assert!(
            informer.core().status.has_ended(),
            "FAX-4: one was forgotten"
        );
    });
}

/// FAX-4: a request while the factory stops is refused, or its informer ends with the others.
pub(super) fn beside_an_end() {
    play(|stage| {
        let asking = stage.beside(|factory| {
            let informer = factory.informer_with::<Pod>(InformerOptions::new());
            informer.map(|informer| (informer.start().is_ok(), informer))
        });
        stage.shut_down();
        if let Ok((_, informer)) = asking.join().expect("it ends") {
            assert!(
                informer.core().status.has_ended(),
                "FAX-4: one was forgotten"
            );
            assert!(informer.start().is_err(), "FAX-4: it can be started");
        }
        assert_eq!(stage.tasks(), 0, "IN-5: tasks are left");
        let late = stage.factory().informer_with::<Pod>(InformerOptions::new());
        assert!(late.is_err(), "FAX-4: not refused");
    });
}

/// FAX-5: a request during a release gets the old informer or a new one, and the new one is kept.
pub(super) fn beside_a_release() {
    play(|stage| {
        let released = pods(stage.factory());
        let asking = stage.beside(|factory| pods(&factory));
        let report = stage.run(stage.factory().release(&released, Grace::none()));
        assert!(report.expect("not in a callback").is_some(), "it was ours");
        let other = asking.join().expect("it ends");
        let kept = pods(stage.factory());
        assert!(
            !kept.core().status.has_ended(),
            "FAX-5: an ended one is given"
        );
        assert!(
            is_same(&kept, &other) || is_same(&released, &other),
            "FAX-1: two informers for one question"
        );
        stage.shut_down();
        assert!(
            kept.core().status.has_ended() && other.core().status.has_ended(),
            "FAX-4"
        );
    });
}

#[test]
fn three_who_ask_at_once_get_the_same() {
    explore(three_at_once);
}

#[test]
fn who_asks_beside_a_start_is_started_once() {
    explore(beside_a_start);
}

#[test]
fn who_asks_beside_an_end_is_refused_or_ended() {
    explore(beside_an_end);
}

#[test]
fn who_asks_beside_a_release_gets_the_old_or_the_new() {
    explore(beside_a_release);
}
