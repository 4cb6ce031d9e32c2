//! A client whose server is a closure.

use std::{convert::Infallible, future::Future};

use bytes::Bytes;
use futures::{Stream, StreamExt};
use http::{Request, Response, StatusCode, header};
use http_body::Frame;
use http_body_util::{StreamBody, combinators::UnsyncBoxBody};
use kube_client::{Client, client::Body};

pub(crate) use super::judge::pods as source;

pub(crate) type Scripted = Response<UnsyncBoxBody<Bytes, std::io::Error>>;

/// A client that asks `answer` instead of a server.
pub(crate) fn client<F, A>(answer: F) -> Client
where
    F: Fn(String) -> A + Send + Clone + 'static,
    A: Future<Output = Scripted> + Send,
{
    let service = tower::service_fn(move |request: Request<Body>| {
        let answer = answer.clone();
        async move { Ok::<_, Infallible>(answer(request.uri().to_string()).await) }
    });
    Client::new(service, "default")
}

/// An answer whose body comes in these pieces.
pub(crate) fn pieces(
    pieces: impl Stream<Item = Result<Bytes, std::io::Error>> + Send + 'static,
) -> Scripted {
    let body = StreamBody::new(pieces.map(|piece| piece.map(Frame::data)));
    let answer = Response::builder().header(header::CONTENT_TYPE, "application/json");
    answer.body(UnsyncBoxBody::new(body)).expect("a response")
}

/// An answer of 200 with this body.
pub(crate) fn json(body: impl Into<Bytes>) -> Scripted {
    let body = body.into();
    pieces(futures::stream::once(async move { Ok(body) }))
}

/// An answer with another status.
pub(crate) fn refusal(status: u16, body: impl Into<Bytes>) -> Scripted {
    let mut answer = json(body);
    *answer.status_mut() = StatusCode::from_u16(status).expect("a status");
    answer
}
