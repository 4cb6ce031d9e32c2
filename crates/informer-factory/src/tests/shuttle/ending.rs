//! Ending beside everything else: nothing begins after an end was reported (FAX-4, IN-5, IN-6).

use k8s_openapi::api::core::v1::Pod;

use super::explore;
use super::stage::{Stage, play, these};
use crate::processor::handler_fn;
use crate::{Grace, InformerOptions, SharedInformer};

/// A shutdown beside `f`; when both are done there is nothing left.
fn beside(f: impl FnOnce(&SharedInformer<Pod>) + Send + 'static, started: bool) {
    play(|stage| {
        let options = InformerOptions::<Pod>::new().namespaces(these(&["a"]));
        let informer = stage.factory().informer_with(options).expect("legal");
        if started {
            informer.start().expect("nobody has stopped it");
        }
        let other = stage.beside({
            let informer = informer.clone();
            move |_| f(&informer)
        });
        let report = stage.shut_down();
        other.join().expect("it ends");
        check_ended(stage, &informer);
        assert_eq!(report.informers.len(), 1, "FAX-4");
        assert!(report.is_complete(), "{report:?}");
    });
}

fn check_ended(stage: &Stage, informer: &SharedInformer<Pod>) {
    assert_eq!(stage.tasks(), 0, "IN-5: tasks are left");
    assert!(informer.core().status.has_ended(), "FAX-4");
    assert!(informer.start().is_err(), "FAX-4: it can be started");
    let widened = informer.add_namespace("c");
    assert!(widened.is_err(), "FAX-4: it can be widened");
}

pub(super) fn start() {
    beside(|informer| drop(informer.start()), false);
}

pub(super) fn widening() {
    let widen = |informer: &SharedInformer<Pod>| {
        // Refused if the end came first.
        let _added = informer.add_namespace("b");
    };
    beside(widen, true);
}

/// The namespace is removed by a thread that does not wait for it.
pub(super) fn narrowing() {
    use futures::FutureExt;
    let narrow = |informer: &SharedInformer<Pod>| {
        let _removed = informer.remove_namespace("a").now_or_never();
    };
    beside(narrow, true);
}

pub(super) fn a_handler() {
    let ignore = || handler_fn(|_: &crate::Notification<crate::ObjectKey, Pod>| {});
    beside(move |informer| drop(informer.add_handler(ignore())), true);
}

/// IN-6: the factory is dropped while it is started by one who has an informer only.
pub(super) fn dropping() {
    play(|stage| {
        let informer = stage.factory().informer::<Pod>();
        let starting = shuttle::thread::spawn({
            let informer = informer.clone();
            move || drop(informer.start())
        });
        stage.drop_factory();
        starting.join().expect("it ends");
        stage.settle();
        check_ended(stage, &informer);
        assert_eq!(stage.asked(), 0, "IN-6: the server was asked after the end");
    });
}

/// FAX-4: two who shut down, one of them the informer alone, get the same report.
pub(super) fn two_ends() {
    play(|stage| {
        let informer = stage.factory().informer::<Pod>();
        let starting = stage.beside(|factory| factory.start());
        let ends = async {
            let one = informer.shutdown(Grace::none());
            let all = stage.factory().shutdown(Grace::default());
            let (one, all) = futures::future::join(one, all).await;
            (
                one.expect("not in a callback"),
                all.expect("not in a callback"),
            )
        };
        let (one, all) = stage.run(ends);
        // Refused if the end came first.
        drop(starting.join().expect("it ends"));
        assert_eq!(all.informers[0].handlers, one.handlers);
        check_ended(stage, &informer);
    });
}

#[test]
fn a_start_beside_an_end_leaves_nothing() {
    explore(start);
}

#[test]
fn a_namespace_added_beside_an_end_leaves_nothing() {
    explore(widening);
}

#[test]
fn a_namespace_removed_beside_an_end_leaves_nothing() {
    explore(narrowing);
}

#[test]
fn a_handler_added_beside_an_end_leaves_nothing() {
    explore(a_handler);
}

#[test]
fn a_start_beside_a_drop_asks_nothing_of_the_server() {
    explore(dropping);
}

#[test]
fn two_ends_at_once_are_one() {
    explore(two_ends);
}
