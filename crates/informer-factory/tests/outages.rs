//! D4: an informer that goes through outage after outage holds no more memory than before.
//!
//! What is allocated and not freed is counted, which is exact, as resident memory is not.
//! `OUTAGES=4000` goes through as many.

mod cluster;

use std::alloc::System;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cluster::{QUEUES, SOON, client, pod, pods};
use informer_factory::{
    AsyncHandler, Callbacks, Consistency, Grace, ListenerConfig, Notification, ObjectKey, Overflow,
    QueueKind, SharedInformer, SharedInformerFactory, Updated, index,
};
use informer_testkit::ApiServer;
use k8s_openapi::api::core::v1::Pod;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const PODS: usize = 20;
/// After it an earlier failure is forgotten.
const CALM: Duration = Duration::from_secs(130);
/// In bytes for each outage: less than anything that could be kept of one.
const SLOPE: f64 = 16.0;

fn live() -> f64 {
    let stats = ALLOCATOR.stats();
    (stats.bytes_allocated - stats.bytes_deallocated) as f64
}

/// Hears of everything and keeps nothing.
struct Forgetful;

impl AsyncHandler<ObjectKey, Pod> for Forgetful {
    async fn on_notification(&mut self, notification: Arc<Notification<ObjectKey, Pod>>) {
        drop(notification);
    }
}

/// Changes every object, in as many bytes as ever. The version after that.
fn change(server: &ApiServer, number: usize) -> String {
    let gone = server.delete(&pods(), "default", "p0");
    drop(gone.expect("it was there"));
    let made = server.create(&pods(), pod("p0", &format!("node-{number:06}")));
    drop(made.expect("it was gone"));
    let mut last = 0;
    for i in 1..PODS {
        let changed = pod(&format!("p{i}"), &format!("node-{number:06}"));
        let changed = server.replace(&pods(), changed).expect("it is there");
        last = changed.version();
    }
    last.to_string()
}

/// Loses the watch in one of three ways; returns when all is well, and has been for long.
async fn outage(server: &ApiServer, informer: &SharedInformer<Pod>, number: usize) {
    match number % 3 {
        0 => server.cut_watches(),
        // What was missed is forgotten: a relist.
        1 => {
            server.cut_watches();
            change(server, number);
            server.compact_and_forget();
        }
        _ => server.close_watches(),
    }
    let version = change(server, number);
    let wanted = version.as_str().into();
    let reached = informer.wait_for_version(&wanted, SOON).await;
    reached.expect("it recovers");
    tokio::time::sleep(CALM).await;
    // The server's own memory of it; of faults that are scripted it would keep a record.
    server.compact_and_forget();
    server.clear_requests();
}

/// By how many bytes memory grows with each outage, where a handler may keep objects.
async fn slope(queue: QueueKind, outages: usize, keeps: bool) -> f64 {
    let server = ApiServer::new();
    // Versions of one length.
    server.skip_versions(1_000_000);
    for i in 0..PODS {
        let created = server.create(&pods(), pod(&format!("p{i}"), "node-000000"));
        drop(created.expect("created"));
    }
    let factory = SharedInformerFactory::builder(client(&server))
        .queue(queue)
        .seed(7)
        .check_consistency(Consistency::every(Duration::from_secs(60)))
        .build()
        .expect("legal");
    let informer = factory.informer::<Pod>();
    let _by_node = informer.add_index("node", index::node).expect("a new name");
    let kept = Mutex::<Vec<Arc<Pod>>>::default();
    let handler = Callbacks::new().on_update(move |updated: &Updated<ObjectKey, Pod>| {
        if keeps {
            kept.lock()
                .expect("nobody panics")
                .push(Arc::clone(&updated.new));
        }
    });
    let config = ListenerConfig::named("growing");
    let _growing = informer.add_handler_with(handler, config).expect("running");
    let config = ListenerConfig::named("coalescing").overflow(Overflow::Coalesce);
    let _coalescing = informer.add_async_handler(Forgetful, config);
    factory.start().expect("a runtime");
    factory.wait_synced(SOON).await.expect("synced");
    let mut held = [0.0; 2];
    for half in &mut held {
        for number in 0..outages {
            outage(&server, &informer, number).await;
        }
        *half = live();
    }
    assert_eq!(informer.reader().len(), PODS);
    assert!(informer.status().sources[0].lists as usize >= 2 * outages / 3);
    let report = factory.shutdown(Grace::default()).await;
    assert!(report.expect("not in a callback").is_complete());
    (held[1] - held[0]) / outages as f64
}

#[tokio::test(start_paused = true)]
async fn outages_leave_no_memory_behind() {
    let outages = std::env::var("OUTAGES").map_or(60, |outages| {
        outages
            .parse::<usize>()
            .expect("OUTAGES is a number of outages")
    });
    for queue in QUEUES {
        let slope = slope(queue, outages, false).await;
        println!("{queue:?}: {outages} outages, and as many again: {slope:+.1} bytes each");
        assert!(slope <= SLOPE, "D4: {slope} bytes an outage");
    }
    // What is kept is seen.
    let leak = slope(QUEUES[0], 20, true).await;
    assert!(leak > 1_000.0, "a leak of {leak} bytes an outage");
}
