//! Starting: once, from any thread and however often (FAX-2).

use k8s_openapi::api::core::v1::{ConfigMap, Pod};

use super::explore;
use super::stage::{Stage, play, these};
use crate::InformerOptions;

/// FAX-2: the factory twice, and the informer itself.
pub(super) fn by_three() {
    play(|stage| {
        let informer = stage.factory().informer::<Pod>();
        let others = [0, 1].map(|_| stage.beside(|factory| factory.start()));
        informer.start().expect("nobody has stopped it");
        for other in others {
            other
                .join()
                .expect("it ends")
                .expect("nobody has stopped it");
        }
        assert_eq!(stage.asked(), 1, "FAX-2: not started once");
        let tasks = informer.core().runtime.tasks.len();
        assert_eq!(tasks, started_once(stage), "FAX-2: not started once");
        stage.shut_down();
        assert_eq!(stage.tasks(), 0, "IN-5: tasks are left");
    });
}

/// How many tasks an informer has that nobody started twice.
fn started_once(stage: &Stage) -> usize {
    let other = stage.factory().informer::<ConfigMap>();
    other.start().expect("nobody has stopped it");
    stage.settle();
    other.core().runtime.tasks.len()
}

/// FM-79: the same namespace twice, while it starts: one source for each.
pub(super) fn with_namespaces() {
    play(|stage| {
        let options = InformerOptions::<Pod>::new().namespaces(these(&["a", "b"]));
        let informer = stage.factory().informer_with(options).expect("legal");
        let adding = stage.beside({
            let informer = informer.clone();
            move |_| informer.add_namespace("c")
        });
        stage.factory().start().expect("nobody has stopped it");
        let again = informer.add_namespace("c").is_ok();
        let added = adding.join().expect("it ends").is_ok();
        assert!(!(added && again), "FM-79: added twice");
        assert!(again || added, "FM-79: it runs, so it can be added");
        assert_eq!(stage.asked(), 3, "FAX-2: one source for each");
        assert_eq!(informer.status().sources.len(), 3);
        stage.shut_down();
        assert_eq!(stage.tasks(), 0, "IN-5: tasks are left");
    });
}

#[test]
fn an_informer_is_started_once_by_whomever() {
    explore(by_three);
}

#[test]
fn each_namespace_gets_one_source() {
    explore(with_namespaces);
}
