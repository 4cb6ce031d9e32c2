//! A client whose API server is a list in memory, which never changes.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use futures::{Stream, StreamExt, future, stream};
use http::{Request, Response, header};
use http_body_util::StreamBody;
use hyper::body::Frame;
use informer_factory::{ApiResource, Client};
use kube_client::client::Body;

use super::Item;

/// The bytes of a piece of a list, at least. Larger pieces only save calls.
const PIECE: usize = 256 * 1024;

/// Returns a client that gets these objects from every list, and no event from any watch.
pub(super) fn client(resource: &ApiResource, items: &Arc<[Item]>) -> Client {
    let head = format!(
        r#"{{"kind":"{}List","apiVersion":"{}","metadata":{{"resourceVersion":"1000000000"}},"items":["#,
        resource.kind, resource.api_version
    );
    let (head, items) = (Bytes::from(head), Arc::clone(items));
    let service = tower::service_fn(move |request: Request<Body>| {
        let query = request.uri().query().unwrap_or_default();
        let body = match query
            .split('&')
            .any(|pair| matches!(pair, "watch=true" | "watch=1"))
        {
            true => stream::pending().boxed(),
            false => list(head.clone(), Arc::clone(&items)).boxed(),
        };
        let body = StreamBody::new(body.map(|piece| Ok::<_, Infallible>(Frame::data(piece))));
        let answer = Response::builder().header(header::CONTENT_TYPE, "application/json");
        future::ready(answer.body(body))
    });
    Client::new(service, "default")
}

fn list(head: Bytes, items: Arc<[Item]>) -> impl Stream<Item = Bytes> + Send {
    let pieces = stream::unfold(0, move |mut next| {
        let mut piece = Vec::with_capacity(PIECE + 64 * 1024);
        while piece.len() < PIECE && next < items.len() {
            if next > 0 {
                piece.push(b',');
            }
            piece.extend_from_slice(items[next].json.as_bytes());
            next += 1;
        }
        future::ready((!piece.is_empty()).then(|| (Bytes::from(piece), next)))
    });
    let (head, end) = (
        future::ready(head),
        future::ready(Bytes::from_static(b"]}")),
    );
    stream::once(head).chain(pieces).chain(stream::once(end))
}
