//! Operations of the reflector: pods from the bytes of an answer, one by one.
//!
//! Framing and decoding are not public, so they are reached as the reflector reaches them: by
//! lists and watches through a client, whose server is a function. What an answer costs by itself
//! is in the figures; with so many pods in each it is little.

use std::convert::Infallible;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use http::{Request, Response, header};
use http_body_util::StreamBody;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::Frame;
use informer_factory::kube_source::{KubeListWatch, KubeSource, Projection, SerdeDecoder};
use informer_factory::reflector::{
    Identity, ListRequest, ListVersion, ListWatch, Reuse, WatchRequest,
};
use k8s_openapi::api::core::v1::Pod;
use kube_client::Client;
use kube_client::client::Body;
use serde::de::DeserializeOwned;
use tokio::runtime::{Builder, Runtime};

use super::pods::{Pods, SEED};
use super::{Operation, Part};
use crate::pod;
use crate::small_pod::SmallPod;

/// How many pods, events or bookmarks an answer has.
const BATCH: u64 = 200;

/// As a connection hands out what it has received.
const PIECE: usize = 16 * 1_024;

/// All of them.
pub const PARTS: [Part; 8] = [
    part("reflector/watch_full", |_| {
        watch::<Pod>(events(), Projection::new())
    }),
    part("reflector/watch_lean", |_| {
        watch::<Pod>(events(), Projection::lean())
    }),
    part("reflector/watch_partial", |_| {
        watch::<SmallPod>(events(), SmallPod::projection())
    }),
    part("reflector/watch_bookmark", |_| {
        watch::<Pod>(bookmarks(), Projection::new())
    }),
    part("reflector/list_full", |_| {
        list::<Pod>(Projection::new(), false)
    }),
    part("reflector/list_lean", |_| {
        list::<Pod>(Projection::lean(), false)
    }),
    part("reflector/list_partial", |_| {
        list::<SmallPod>(SmallPod::projection(), false)
    }),
    part("reflector/list_unchanged", |_| {
        list::<Pod>(Projection::new(), true)
    }),
];

const fn part(name: &'static str, prepare: fn(&Pods) -> Operation) -> Part {
    Part {
        name,
        batch: BATCH,
        counted: BATCH * 2,
        seeds: 1,
        prepare,
    }
}

fn pods() -> impl Iterator<Item = String> {
    let count = usize::try_from(BATCH).expect("they are few");
    (0..count).map(|index| pod::json(SEED, index))
}

/// Changed pods, a line each.
fn events() -> String {
    let kind = r#""kind":"Pod","apiVersion":"v1","#;
    let event = |pod: String| format!(r#"{{"type":"MODIFIED","object":{{{kind}{}}}"#, &pod[1..]);
    pods().map(|pod| event(pod) + "\n").collect()
}

/// Lines of which little is decoded.
fn bookmarks() -> String {
    let version = |index| pod::FIRST_VERSION + index;
    let object = r#""kind":"Pod","apiVersion":"v1","metadata":"#;
    let bookmark = |index| {
        let metadata = format!("{{\"resourceVersion\":\"{}\"}}", version(index));
        format!("{{\"type\":\"BOOKMARK\",\"object\":{{{object}{metadata}}}}}\n")
    };
    (0..BATCH).map(bookmark).collect()
}

/// All pods at once.
fn page() -> String {
    let items: Vec<String> = pods().collect();
    let version = pod::FIRST_VERSION + BATCH;
    let head = r#"{"kind":"PodList","apiVersion":"v1","metadata":"#;
    let items = items.join(",");
    format!("{head}{{\"resourceVersion\":\"{version}\"}},\"items\":[{items}]}}\n")
}

/// A source whose server always gives this answer, and the runtime that it works on.
fn source<T>(answer: String, projection: Projection) -> (Runtime, KubeListWatch<T>)
where
    T: DeserializeOwned + Send + Sync + 'static,
{
    let runtime = Builder::new_current_thread().enable_time().build();
    let runtime = runtime.expect("it needs nothing");
    let answer = Bytes::from(answer);
    let service = tower::service_fn(move |_: Request<Body>| {
        let answer = answer.clone();
        async move { Ok::<_, Infallible>(respond(&answer)) }
    });
    let client = {
        let _within = runtime.enter();
        Client::new(service, "default")
    };
    let decoder = Arc::new(SerdeDecoder::new(projection));
    let source = KubeSource::new("/api/v1/pods", "v1", "Pod", decoder);
    (runtime, KubeListWatch::new(client, source))
}

fn respond(answer: &Bytes) -> Response<UnsyncBoxBody<Bytes, Infallible>> {
    let starts = (0..answer.len()).step_by(PIECE);
    let piece = |start: usize| answer.slice(start..answer.len().min(start + PIECE));
    let pieces: Vec<_> = starts.map(|start| Ok(Frame::data(piece(start)))).collect();
    let body = StreamBody::new(futures::stream::iter(pieces));
    let response = Response::builder()
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::CONTENT_LENGTH, answer.len());
    response
        .body(UnsyncBoxBody::new(body))
        .expect("the headers are well formed")
}

/// Answers that hold all that is asked for, and more than that where it is less than one answer.
fn answers(times: u64) -> u64 {
    times.div_ceil(BATCH)
}

fn watch<T>(answer: String, projection: Projection) -> Operation
where
    T: DeserializeOwned + Send + Sync + 'static,
{
    let (runtime, source) = source::<T>(answer, projection);
    let request = WatchRequest::new("1", Duration::from_secs(600));
    Box::new(move |times| {
        for _ in 0..answers(times) {
            let received = runtime.block_on(async {
                let opened = source.watch(request.clone(), Arc::new(())).await;
                let mut events = opened.expect("the server accepts it");
                let mut received = 0;
                while let Some(event) = events.next().await {
                    black_box(event.expect("it is complete"));
                    received += 1;
                }
                received
            });
            assert_eq!(received, BATCH, "one event a line");
        }
    })
}

fn list<T>(projection: Projection, unchanged: bool) -> Operation
where
    T: DeserializeOwned + Send + Sync + 'static,
{
    let (runtime, source) = source::<T>(page(), projection);
    let mut request = ListRequest::new(ListVersion::Any);
    request.reuse = unchanged;
    let first = runtime.block_on(source.list(request.clone(), Arc::new(())));
    let first = first.expect("the list is complete");
    let reuse: Arc<dyn Reuse<T>> = match unchanged {
        true => {
            let object = first
                .items
                .iter()
                .find_map(|item| item.body.object().cloned());
            Arc::new(Same(object.expect("pods are decoded")))
        }
        false => Arc::new(()),
    };
    Box::new(move |times| {
        for _ in 0..answers(times) {
            let page = runtime.block_on(source.list(request.clone(), Arc::clone(&reuse)));
            let page = black_box(page).expect("the list is complete");
            assert_eq!(page.items.len() as u64, BATCH, "all pods are in it");
        }
    })
}

/// Takes every object for an unchanged one.
struct Same<T>(Arc<T>);

impl<T: Send + Sync> Reuse<T> for Same<T> {
    fn reuse(&self, _: &Identity) -> Option<Arc<T>> {
        Some(Arc::clone(&self.0))
    }
}
