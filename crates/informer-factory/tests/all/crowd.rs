//! L4: many informers of one factory, and handlers that come and go on all of them at once, while
//! objects change. `INFORMERS=1000` is as many as the goal says; each gets ten handlers in turn.

use std::time::Duration;

use crate::cluster::{QUEUES, Recorder, SOON, factory, pod, pods};
use informer_factory::{Grace, InformerOptions, SharedInformer};
use informer_testkit::ApiServer;
use k8s_openapi::api::core::v1::Pod;
use tokio::time::Instant;

/// How many come and go at the same time.
const AT_ONCE: usize = 100;

const PODS: usize = 20;

/// One visitor: its handler sees all there is, and is removed; so often, each time elsewhere.
async fn visit(informers: Vec<SharedInformer<Pod>>, times: usize, first: usize) {
    for turn in 0..times {
        let informer = &informers[(first + turn * AT_ONCE) % informers.len()];
        let recorder = Recorder::default();
        let registration = informer.add_handler(recorder.clone()).expect("running");
        registration.wait_synced().await.expect("synced");
        assert!(
            recorder.lines().len() + 1 >= PODS,
            "PR-7: {:?}",
            recorder.lines()
        );
        registration.remove().await.expect("not in a callback");
        let told = recorder.lines().len();
        tokio::task::yield_now().await;
        assert_eq!(recorder.lines().len(), told, "PR-11");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn handlers_come_and_go_on_many_informers() {
    let count = std::env::var("INFORMERS").map_or(50, |count| {
        count.parse::<usize>().expect("INFORMERS is a number")
    });
    let server = ApiServer::new();
    for number in 0..PODS {
        let created = server.create(&pods(), pod(&format!("p{number}"), "n1"));
        drop(created.expect("created"));
    }
    let factory = factory(&server, QUEUES[0]);
    let of = |number: usize| {
        let selector = format!("app=web,none{number}!=x");
        let options = InformerOptions::<Pod>::new().labels(selector);
        factory.informer_with(options).expect("legal")
    };
    let informers: Vec<_> = (0..count).map(of).collect();
    let start = Instant::now();
    factory.start().expect("a runtime");
    factory.wait_for_sync(SOON).await.expect("synced");
    let synced = start.elapsed();

    let cycles = 10 * count;
    let start = Instant::now();
    let visitors =
        (0..AT_ONCE).map(|first| tokio::spawn(visit(informers.clone(), cycles / AT_ONCE, first)));
    let visitors: Vec<_> = visitors.collect();
    for number in 0..PODS {
        let name = format!("p{number}");
        let changed = server.delete(&pods(), "default", &name);
        drop(changed.expect("it is there"));
        drop(server.create(&pods(), pod(&format!("q{number}"), "n1")));
        tokio::task::yield_now().await;
    }
    for visitor in visitors {
        visitor.await.expect("no assertion failed");
    }
    let visited = start.elapsed();
    for informer in &informers {
        assert!(
            informer.status().handlers.is_empty(),
            "nobody is left behind"
        );
    }
    let start = Instant::now();
    let report = factory.shutdown(Grace::default()).await;
    assert!(report.expect("not in a callback").is_complete());
    let ended = start.elapsed();
    assert!(ended < Duration::from_secs(60), "{ended:?}");
    println!("{count} informers synced in {synced:?}; {cycles} handlers in {visited:?}; {ended:?}");
}
