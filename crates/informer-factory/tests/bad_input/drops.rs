//! A type whose drop panics: what was committed is delivered all the same.

use std::borrow::Cow;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};

use informer_factory::InformerState;
use informer_testkit::ApiServer;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube_core::{NamespaceResourceScope, Resource};
use serde::Deserialize;

use crate::cluster::{QUEUES, Recorder, SOON, factory, pod, pods};

/// Whether the next drop panics. One test uses it.
static ARMED: AtomicBool = AtomicBool::new(false);

#[derive(Deserialize)]
struct Explosive {
    metadata: ObjectMeta,
}

impl Drop for Explosive {
    fn drop(&mut self) {
        if ARMED.swap(false, Ordering::Relaxed) {
            // Not by `panic!`, whose hook would write to standard error.
            resume_unwind(Box::new("planned"));
        }
    }
}

impl Resource for Explosive {
    type DynamicType = ();
    type Scope = NamespaceResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        "Pod".into()
    }

    fn group((): &()) -> Cow<'_, str> {
        "".into()
    }

    fn version((): &()) -> Cow<'_, str> {
        "v1".into()
    }

    fn plural((): &()) -> Cow<'_, str> {
        "pods".into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

/// The store's last `Arc` of an object is dropped when its deletion is committed.
#[tokio::test(start_paused = true)]
async fn panic_of_a_drop_in_a_commit_loses_no_notification() {
    for queue in QUEUES {
        let server = ApiServer::new();
        for name in ["a", "b"] {
            server.create(&pods(), pod(name, "n1")).expect("created");
        }
        let factory = factory(&server, queue);
        let informer = factory.informer::<Explosive>();
        let told = Recorder::default();
        informer.add_handler(told.clone()).expect("it runs");
        informer.start().expect("a runtime");
        informer.wait_synced(SOON).await.expect("synced");
        told.wait(2).await;
        ARMED.store(true, Ordering::Relaxed);
        server.delete(&pods(), "default", "a").expect("deleted");
        let lines = told.wait(1).await;
        assert!(lines[0].starts_with("delete a@"), "{lines:?}");
        assert!(!ARMED.load(Ordering::Relaxed), "a drop has panicked");
        server.delete(&pods(), "default", "b").expect("deleted");
        let lines = told.wait(1).await;
        assert!(lines[0].starts_with("delete b@"), "{lines:?}");
        assert_eq!(informer.status().task_panics, 1);
        assert_eq!(informer.status().state, InformerState::Synced);
        assert!(informer.quarantined().is_empty());
    }
}
