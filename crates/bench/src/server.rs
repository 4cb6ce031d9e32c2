//! The fixture server: lists and watches of one resource over HTTP, and a side door that makes
//! things happen.
//!
//! It has no selectors and no writes. Every path that ends in `/pods` is all pods, and every path
//! that ends in `/widgets` the metadata of all widgets, by which resource it has.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use bytes::Bytes;
use futures::StreamExt;
use http::{Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::answer::{Events, Page};
use crate::collection::Collection;
use crate::history::History;
use crate::measure;
use crate::query::{Encoding, Question, encoding, number, parameter, question};
use crate::resource::Resource;

type Body = UnsyncBoxBody<Bytes, Infallible>;

/// What all connections share.
#[derive(Debug)]
pub struct Shared {
    json: Collection,
    protobuf: Option<Collection>,
    pub(crate) history: watch::Sender<Arc<History>>,
}

impl Shared {
    /// The objects, in one encoding or two.
    pub fn new(json: Collection, protobuf: Option<Collection>) -> Self {
        let history = Arc::new(History::new(json.len()));
        Self {
            json,
            protobuf,
            history: watch::Sender::new(history),
        }
    }

    pub(crate) fn resource(&self) -> Resource {
        self.json.resource()
    }

    pub(crate) fn collection(&self, encoding: Encoding) -> &Collection {
        match (encoding, &self.protobuf) {
            (Encoding::Protobuf, Some(pods)) => pods,
            _ => &self.json,
        }
    }

    fn change(&self, count: u64) {
        let now = measure::stamp();
        let change = |history: &mut Arc<History>| Arc::make_mut(history).change(count, now);
        self.history.send_modify(change);
    }

    fn expire(&self, count: u64) {
        let now = measure::stamp();
        self.history.send_modify(|history| {
            let history = Arc::make_mut(history);
            history.change(count, now);
            history.compact();
        });
    }
}

/// Serves whoever connects, until it is dropped.
///
/// # Errors
/// When the socket fails.
pub async fn serve(listener: TcpListener, shared: Arc<Shared>) -> Result<()> {
    loop {
        let (socket, _) = listener.accept().await?;
        socket.set_nodelay(true)?;
        let shared = Arc::clone(&shared);
        let service = service_fn(move |request| {
            let answer = answer(&shared, &request);
            async move { Ok::<_, Infallible>(answer) }
        });
        tokio::spawn(async move {
            let connection = hyper::server::conn::http1::Builder::new();
            // A client that goes in the middle of an answer is no failure of ours.
            drop(
                connection
                    .serve_connection(TokioIo::new(socket), service)
                    .await,
            );
        });
    }
}

fn answer(shared: &Arc<Shared>, request: &Request<Incoming>) -> Response<Body> {
    let (path, query) = (
        request.uri().path(),
        request.uri().query().unwrap_or_default(),
    );
    let result = if shared.resource().is_at(path) {
        question(query).map(|question| objects(shared, request, question))
    } else {
        side_door(shared, path, query).map(|text| plain(StatusCode::OK, text))
    };
    result.unwrap_or_else(|why| plain(StatusCode::BAD_REQUEST, why))
}

fn objects(
    shared: &Arc<Shared>,
    request: &Request<Incoming>,
    question: Question,
) -> Response<Body> {
    let accept = request.headers().get(header::ACCEPT);
    let accept = accept.and_then(|value| value.to_str().ok());
    let accept = accept.unwrap_or_default();
    if !shared.resource().is_accepted(accept) {
        let why = format!("{accept:?} is not served");
        return plain(StatusCode::NOT_ACCEPTABLE, why);
    }
    let encoding = encoding(accept, shared.protobuf.is_some());
    let (own, history) = (Arc::clone(shared), shared.history.borrow().clone());
    let events = match question {
        Question::List { from, since, limit } => {
            if since.is_some_and(|since| since != history.head()) {
                return plain(StatusCode::GONE, gone());
            }
            let page = Page::new(own, encoding, history, from, limit);
            let body = BodyExt::boxed_unsync(StreamBody::new(page.into_stream()));
            return typed(list_type(encoding), body);
        }
        Question::Watch { after } => {
            Events::after(own, encoding, after.unwrap_or_else(|| history.head()))
        }
        Question::StreamingList => Events::from_start(own, encoding),
    };
    // An empty piece would end a chunked body.
    let pieces = events.into_stream().filter(|piece| {
        let has_data = piece
            .as_ref()
            .is_ok_and(|frame| frame.data_ref().is_some_and(|data| !data.is_empty()));
        std::future::ready(has_data)
    });
    typed(
        watch_type(encoding),
        BodyExt::boxed_unsync(StreamBody::new(pieces)),
    )
}

fn side_door(shared: &Arc<Shared>, path: &str, query: &str) -> Result<String, String> {
    let count = parameter(query, "count").map_or(Ok(0), number)?;
    match path {
        "/bench/cpu" => {}
        "/bench/expire" => shared.expire(count),
        "/bench/change" => match parameter(query, "rate").map(number).transpose()? {
            Some(rate) => drop(tokio::spawn(pace(Arc::clone(shared), count, rate))),
            None => shared.change(count),
        },
        _ => return Err(format!("{path} is not served")),
    }
    Ok(measure::cpu().as_secs_f64().to_string())
}

/// Publishes at a rate, by the millisecond; what a late tick missed, the next one makes up for.
async fn pace(shared: Arc<Shared>, count: u64, rate: u64) {
    let mut tick = tokio::time::interval(Duration::from_millis(1));
    let (start, mut done) = (tick.tick().await, 0);
    while done < count {
        let elapsed = tick.tick().await.duration_since(start);
        let due = (elapsed.as_secs_f64() * rate as f64) as u64;
        let due = due.min(count);
        if due > done {
            shared.change(due - done);
            done = due;
        }
    }
}

fn gone() -> String {
    let status = serde_json::json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "the pages have changed", "reason": "Expired", "code": 410,
    });
    status.to_string()
}

fn list_type(encoding: Encoding) -> &'static str {
    match encoding {
        Encoding::Json => "application/json",
        Encoding::Protobuf => "application/vnd.kubernetes.protobuf",
    }
}

fn watch_type(encoding: Encoding) -> &'static str {
    match encoding {
        Encoding::Json => "application/json",
        Encoding::Protobuf => "application/vnd.kubernetes.protobuf;stream=watch",
    }
}

fn plain(status: StatusCode, text: String) -> Response<Body> {
    let mut response = typed("application/json", Full::from(text).boxed_unsync());
    *response.status_mut() = status;
    response
}

fn typed(content_type: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    let value = header::HeaderValue::from_static(content_type);
    response.headers_mut().insert(header::CONTENT_TYPE, value);
    response
}
