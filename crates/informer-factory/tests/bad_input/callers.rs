//! What callers get wrong: keys, index names, handlers that panic or come too late.

use std::sync::{Arc, Mutex};

use informer_factory::processor::{AddError, handler_fn};
use informer_factory::store::{IndexError, KeyError};
use informer_factory::{
    AddHandlerError, AddIndexError, Grace, ListenerConfig, Notification, ObjectKey, index,
    lister_of,
};
use k8s_openapi::api::core::v1::Pod;

use crate::cluster::{QUEUES, Recorder};
use crate::world::World;

/// KY-01, KY-04: what is not a key says which and why; a look-up by it finds nothing.
#[tokio::test(start_paused = true)]
async fn malformed_keys_are_typed_errors() {
    for text in ["", "a/", "/b", "a/b/c", "/"] {
        let error = text.parse::<ObjectKey>().expect_err("not a key");
        assert!(
            text.is_empty() || error.to_string().contains(text),
            "{error}"
        );
    }
    let slash = ObjectKey::new(Some("a"), "b/c");
    assert!(
        matches!(slash, Err(KeyError::SlashInName { .. })),
        "{slash:?}"
    );
    assert!(matches!(
        lister_of([Pod::default()]),
        Err(KeyError::EmptyName { .. })
    ));

    let world = World::synced(QUEUES[0], &["a"]).await;
    for text in ["", "a", "default/", "/a", "default/a/b"] {
        assert!(world.informer.reader().get(text).is_none(), "{text:?}");
    }
    assert!(
        world
            .informer
            .lister()
            .namespace("default")
            .get("")
            .is_none()
    );
    assert!(
        world
            .informer
            .lister()
            .namespace("no such")
            .get("a")
            .is_none()
    );
}

/// IX-08, IX-10: unknown names are answered with those there are, taken ones are refused, and the
/// index there was goes on.
#[tokio::test(start_paused = true)]
async fn unknown_and_taken_index_names_are_typed_errors() {
    let world = World::new(QUEUES[0], &["a"]);
    let by_node = world
        .informer
        .add_index("node", index::node)
        .expect("a new name");
    for _ in ["before the start", "after it"] {
        let taken = world.informer.add_index("node", |_: &Pod| None::<String>);
        let error = taken.expect_err("the name is taken");
        let AddIndexError::Index(IndexError::NameTaken { name }) = &error else {
            panic!("{error:?}");
        };
        assert_eq!(&**name, "node");
        world.start().await;
    }
    assert_eq!(by_node.get("n1").len(), 1);
    let error = world
        .informer
        .reader()
        .by_index("nod", "n1")
        .expect_err("no such index");
    assert!(error.to_string().contains("nod") && error.to_string().contains("[\"node\"]"));
    let IndexError::UnknownIndex { known, .. } = error else {
        panic!("another error");
    };
    assert_eq!(known.len(), 1);
    assert!(by_node.get("no such node").is_empty());
}

/// SI-11, SI-12: after the end, handlers, streams and indexes are refused with what to do.
#[tokio::test(start_paused = true)]
async fn a_handler_that_comes_too_late_is_refused() {
    let world = World::synced(QUEUES[0], &["a"]).await;
    world
        .informer
        .shutdown(Grace::default())
        .await
        .expect("not in a callback");
    let refused = world.informer.add_handler(Recorder::default());
    assert!(
        matches!(refused, Err(AddHandlerError::Processor(AddError::Stopped))),
        "{refused:?}"
    );
    assert!(
        refused
            .expect_err("refused")
            .to_string()
            .contains("stopped")
    );
    let config = ListenerConfig::named("late");
    assert!(matches!(
        world.informer.events(config.clone()),
        Err(AddHandlerError::Processor(AddError::Stopped))
    ));
    let blocking = world
        .informer
        .add_blocking_handler(Recorder::default(), config);
    assert!(
        matches!(blocking, Err(AddHandlerError::Processor(AddError::Stopped))),
        "{blocking:?}"
    );
    let late = world.informer.add_index("late", index::node);
    assert!(matches!(late, Err(AddIndexError::Stopped(_))), "{late:?}");
    assert!(
        late.expect_err("refused")
            .to_string()
            .contains("build a new one")
    );
}

/// PR-9, PR-12: a callback that panics is counted and skipped; the next item is delivered, the
/// listener is synced, and nobody else notices.
#[tokio::test(start_paused = true)]
async fn a_handler_that_panics_gets_the_next_item() {
    for queue in QUEUES {
        let world = World::new(queue, &["a", "b"]);
        let seen = Arc::new(Mutex::new(Vec::new()));
        let writes = Arc::clone(&seen);
        let touchy = handler_fn(move |news: &Notification<ObjectKey, Pod>| {
            let name = news.key().name().to_owned();
            writes
                .lock()
                .expect("nobody panics while writing")
                .push(name.clone());
            assert!(name != "a" && name != "c", "planned");
        });
        let config = ListenerConfig::named("touchy");
        let registration = world
            .informer
            .add_handler_with(touchy, config)
            .expect("running");
        world.start().await;
        registration
            .wait_synced()
            .await
            .expect("synced in spite of it");
        world.create("c");
        world.create("d");
        assert_eq!(world.told.wait(4).await.len(), 4, "the other handler's");
        world.converges().await;
        world.told.wait(1).await;
        let report = world
            .factory
            .shutdown(Grace::default())
            .await
            .expect("not in a callback");
        assert!(report.is_complete(), "{report:?}");
        let mut seen = seen.lock().expect("whole").clone();
        seen[..2].sort();
        assert_eq!(seen, ["a", "b", "c", "d", "last"]);
        assert_eq!(registration.status().panics, 2);
        assert_eq!(world.informer.status().task_panics, 0);
    }
}
