//! The facade against a real kube-apiserver, on both queues.
//!
//! What is judged: every handler's fold and the store against the server's own LIST at an exact
//! version, while objects are created, changed and deleted, and while the server is killed, the
//! connection is cut and the history is compacted. `cargo xtask e2e` starts the server and tells
//! where it is by two environment variables (`cluster`).
//!
//! | file | concept |
//! | --- | --- |
//! | `load`, `expiry`, `variants`, `formats` | the cases |
//! | `packed` | a packed informer beside a typed one, which must hold the same |
//! | `followed` | one informer with its audience and the collection it follows |
//! | `audience`, `witness` | handlers of all kinds, and the rules each of them must see kept |
//! | `collection` | what the server itself says the collection is, at an exact version |
//! | `planted` | that the judge finds what it is to find; needs no server |
//! | `granted` | the user informers run as, with the role of their factory and no other |
//! | `workload` | writes that outlive a server |
//! | `cluster`, `relay`, `request_log`, `chronicle` | the server, the way to it, and observation |
#![cfg(feature = "e2e")]

mod audience;
mod chronicle;
mod cluster;
mod collection;
mod expiry;
mod followed;
mod formats;
mod granted;
mod load;
mod packed;
mod planted;
mod relay;
mod request_log;
mod variants;
mod witness;
mod workload;

use std::time::Duration;

/// No case may take longer, however busy the machine is.
const CASE_LIMIT: Duration = Duration::from_secs(240);

async fn within_limit(name: &str, case: impl Future<Output = ()>) {
    let start = tokio::time::Instant::now();
    println!("--- {name}");
    if tokio::time::timeout(CASE_LIMIT, case).await.is_err() {
        panic!("{name} did not end within {CASE_LIMIT:?}");
    }
    println!("--- {name}: {:.1?} in all", start.elapsed());
}

macro_rules! on_both_queues {
    ($($name:ident => $case:path;)*) => {$(
        mod $name {
            use informer_factory::QueueKind;

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn delta_fifo() {
                let name = concat!(stringify!($name), " on DeltaFifo");
                super::within_limit(name, $case(QueueKind::DeltaFifo)).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn in_order() {
                let name = concat!(stringify!($name), " on InOrder");
                super::within_limit(name, $case(QueueKind::InOrder)).await;
            }
        }
    )*};
}

on_both_queues! {
    a_load_and_a_killed_server => crate::load::run;
    b_expired_watch => crate::expiry::run;
    c_streaming_and_paged_lists => crate::variants::streaming_and_paged;
    d_metadata_only => crate::variants::metadata_only;
    e_custom_resource => crate::variants::custom_resource;
    f_label_selector => crate::variants::label_selector;
    g_several_namespaces => crate::variants::several_namespaces;
    h_informers_in_both_formats => crate::formats::informers;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn i_every_resource_in_both_formats() {
    within_limit(
        "i_every_resource_in_both_formats",
        formats::every_resource(),
    )
    .await;
}
