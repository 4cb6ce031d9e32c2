//! A scripted API server behind a `kube_client::Client`: it counts, answers as told, and hangs.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    io,
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use futures::{StreamExt, stream};
use http::{Request, Response};
use http_body::Frame;
use http_body_util::{StreamBody, combinators::UnsyncBoxBody};
use kube_client::{Client, client::Body};
use tokio::time::{Instant, sleep, sleep_until};

use crate::wire::{Encoding, Object, Wire};

/// What was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verb {
    List,
    Watch,
    /// A watch that asks for the initial state.
    Stream,
}

/// One request, as the server saw it.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) verb: Verb,
    /// How many of this verb came before.
    pub(crate) nth: usize,
    /// The version asked for; empty if none.
    pub(crate) version: String,
    /// Since the server was made.
    pub(crate) at: Duration,
    pub(crate) timeout: Duration,
}

impl Ask {
    /// The version asked for, as a number; 0 for none.
    pub(crate) fn since(&self) -> u64 {
        self.version.parse().unwrap_or(0)
    }
}

/// A piece of a body.
#[derive(Clone, Debug)]
pub(crate) enum Piece {
    /// These bytes, whatever the format.
    Text(String),
    /// An event, in the format of the answer.
    Event(&'static str, Object),
    /// The same without its last bytes: a line with its end, or a frame with the length of what is
    /// there.
    Torn(&'static str, Object),
    /// A list of these items at this version, in the format of the answer.
    List(&'static str, Vec<Object>),
    /// The first half of a list, in the format of the answer.
    HalfAList,
    /// A `Status` as the whole body, in the format of the answer.
    Status(Object),
    Wait(Duration),
    /// Nothing more until the timeout asked for, then a clean close, as a server should.
    UntilTimeout,
    /// Nothing more, ever.
    Hang,
}

/// What the server does.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// Status, content type, `Retry-After`, body. Without a content type it is that of the format.
    Reply(u16, Option<&'static str>, Option<u32>, Vec<Piece>),
    /// Not even headers.
    Silence,
}

/// 200 with these pieces.
pub(crate) fn body(pieces: impl IntoIterator<Item = Piece>) -> Answer {
    Answer::Reply(200, None, None, pieces.into_iter().collect())
}

/// 200 with this text, and a clean end.
pub(crate) fn text(text: impl Into<String>) -> Answer {
    body([Piece::Text(text.into())])
}

/// A `Status` with this code.
pub(crate) fn status(code: u16, reason: &str) -> Answer {
    let status = Piece::Status(Object::status(code, reason));
    Answer::Reply(code, None, None, vec![status])
}

/// Counts and keeps what was asked.
#[derive(Clone)]
pub(crate) struct Server {
    wire: Wire,
    asked: Arc<Mutex<Vec<Ask>>>,
    start: Instant,
}

impl Server {
    pub(crate) fn new(wire: Wire) -> Self {
        Self {
            wire,
            asked: Arc::default(),
            start: Instant::now(),
        }
    }

    pub(crate) fn asked(&self) -> Vec<Ask> {
        self.asked.lock().expect("not poisoned").clone()
    }

    /// A client of this server. Each request takes a virtual millisecond, so that even a loop
    /// without pauses comes to an end.
    pub(crate) fn client(
        &self,
        script: impl Fn(&Ask) -> Answer + Send + Sync + Clone + 'static,
    ) -> Client {
        let server = self.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let (server, script) = (server.clone(), script.clone());
            async move {
                let asked_at = Instant::now();
                let encoding = server.wire.encoding(request.headers());
                let ask = server.note(request.uri().query().unwrap_or_default());
                sleep(Duration::from_millis(1)).await;
                let answer = script(&ask);
                Ok::<_, Infallible>(respond(answer, encoding, asked_at + ask.timeout).await)
            }
        });
        Client::new(service, "default")
    }

    fn note(&self, query: &str) -> Ask {
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let query: BTreeMap<_, _> = pairs.collect();
        let verb = match (query.contains_key("watch"), query.get("sendInitialEvents")) {
            (true, Some(_)) => Verb::Stream,
            (true, None) => Verb::Watch,
            (false, _) => Verb::List,
        };
        let timeout = query
            .get("timeoutSeconds")
            .and_then(|text| text.parse().ok());
        let mut asked = self.asked.lock().expect("not poisoned");
        let ask = Ask {
            verb,
            nth: asked.iter().filter(|ask| ask.verb == verb).count(),
            version: query
                .get("resourceVersion")
                .copied()
                .unwrap_or_default()
                .to_owned(),
            at: self.start.elapsed(),
            timeout: Duration::from_secs(timeout.unwrap_or(0)),
        };
        asked.push(ask.clone());
        ask
    }
}

type Reply = Response<UnsyncBoxBody<Bytes, io::Error>>;

fn data(bytes: impl Into<Bytes>) -> Option<Result<Frame<Bytes>, io::Error>> {
    Some(Ok(Frame::data(bytes.into())))
}

async fn respond(answer: Answer, encoding: Encoding, timeout: Instant) -> Reply {
    let Answer::Reply(status, content_type, retry_after, pieces) = answer else {
        return std::future::pending().await;
    };
    let frames = stream::iter(pieces).filter_map(move |piece| async move {
        match piece {
            Piece::Text(text) => return data(text),
            Piece::Event(kind, object) => return data(encoding.event(kind, &object)),
            Piece::Torn(kind, object) => return data(encoding.torn(kind, &object)),
            Piece::List(version, items) => return data(encoding.list(version, &items)),
            Piece::HalfAList => return data(encoding.half_a_list()),
            Piece::Status(status) => return data(encoding.body(&status)),
            Piece::Wait(delay) => sleep(delay).await,
            Piece::UntilTimeout => sleep_until(timeout).await,
            Piece::Hang => std::future::pending().await,
        }
        None
    });
    let mut reply = Response::builder().status(status).header(
        "content-type",
        content_type.unwrap_or(encoding.content_type()),
    );
    if let Some(seconds) = retry_after {
        reply = reply.header("retry-after", seconds);
    }
    reply
        .body(UnsyncBoxBody::new(StreamBody::new(frames)))
        .expect("a response")
}

pub(crate) fn list_of(version: &'static str, items: &[Object]) -> Answer {
    body([Piece::List(version, items.to_vec())])
}

pub(crate) fn event(kind: &'static str, object: &Object) -> Piece {
    Piece::Event(kind, object.clone())
}
