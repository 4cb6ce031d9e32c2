//! Answers as they are written: in pieces, each made when the client has taken the one before.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use futures::{Stream, stream};
use hyper::body::Frame;

use crate::collection::Collection;
use crate::history::History;
use crate::protobuf;
use crate::query::{Encoding, token};
use crate::resource::Resource;
use crate::server::Shared;

/// How large a piece gets. Larger ones would leave the caches between being made and being sent.
const PIECE: usize = 128 << 10;

/// A page, or all of a list.
pub(crate) struct Page {
    shared: Arc<Shared>,
    encoding: Encoding,
    history: Arc<History>,
    next: usize,
    end: usize,
    head: Option<Vec<u8>>,
}

impl Page {
    /// Items from one on, with the token for the rest.
    pub(crate) fn new(
        shared: Arc<Shared>,
        encoding: Encoding,
        history: Arc<History>,
        from: usize,
        limit: Option<usize>,
    ) -> Self {
        let count = shared.collection(encoding).len();
        let from = from.min(count);
        let end = limit.map_or(count, |limit| count.min(from + limit));
        let version = history.head();
        let rest = (end < count).then(|| (token(end, version), count - end));
        let rest = rest.as_ref().map(|(token, left)| (&**token, *left));
        let mut head = Vec::with_capacity(256);
        match encoding {
            Encoding::Json => json_list_head(shared.resource(), version, rest, &mut head),
            Encoding::Protobuf => {
                let pods = shared.collection(encoding);
                let items = (from..end)
                    .map(|index| protobuf::field_length(pods.length_of(index)))
                    .sum();
                let metadata = protobuf::list_metadata(version, rest);
                protobuf::list_head(pods.resource(), items, &metadata, &mut head);
            }
        }
        Self {
            shared,
            encoding,
            history,
            next: from,
            end,
            head: Some(head),
        }
    }

    fn piece(&mut self) -> Option<Vec<u8>> {
        let mut piece = Vec::with_capacity(PIECE + 8_192);
        let is_first = self.head.is_some();
        piece.extend_from_slice(&self.head.take().unwrap_or_default());
        if self.next > self.end || (self.next == self.end && !is_first) {
            return None;
        }
        let pods = self.shared.collection(self.encoding);
        let first = self.next;
        while self.next < self.end && piece.len() < PIECE {
            match self.encoding {
                Encoding::Json if self.next > first || !is_first => piece.push(b','),
                Encoding::Json => {}
                Encoding::Protobuf => protobuf::item_head(pods.length_of(self.next), &mut piece),
            }
            let (version, stamp) = self.history.state_of(self.next);
            pods.copy(self.next, version, stamp, &mut piece);
            self.next += 1;
        }
        if self.next == self.end && self.encoding == Encoding::Json {
            piece.extend_from_slice(b"]}");
        }
        Some(piece)
    }

    pub(crate) fn into_stream(self) -> impl Stream<Item = Result<Frame<Bytes>, Infallible>> + Send {
        stream::unfold(self, |mut page| async {
            let piece = page.piece()?;
            Some((Ok(Frame::data(Bytes::from(piece))), page))
        })
    }
}

fn json_list_head(
    resource: Resource,
    version: u64,
    rest: Option<(&str, usize)>,
    into: &mut Vec<u8>,
) {
    let (kind, api_version) = (resource.kind(), resource.api_version());
    let rest = rest.map_or_else(String::new, |(token, left)| {
        format!(r#","continue":"{token}","remainingItemCount":{left}"#)
    });
    let head = format!(
        r#"{{"kind":"{kind}List","apiVersion":"{api_version}","metadata":{{"resourceVersion":"{version}"{rest}}},"items":["#
    );
    into.extend_from_slice(head.as_bytes());
}

/// A watch, which may begin with everything.
pub(crate) struct Events {
    shared: Arc<Shared>,
    encoding: Encoding,
    phase: Phase,
}

enum Phase {
    /// The next pod, as the history had it when the watch began.
    Initial(usize, Arc<History>),
    /// The last version that was sent.
    Following(u64),
    Ended,
}

impl Events {
    /// Changes after a version.
    pub(crate) fn after(shared: Arc<Shared>, encoding: Encoding, version: u64) -> Self {
        Self {
            shared,
            encoding,
            phase: Phase::Following(version),
        }
    }

    /// Everything, and then changes.
    pub(crate) fn from_start(shared: Arc<Shared>, encoding: Encoding) -> Self {
        let history = shared.history.borrow().clone();
        Self {
            shared,
            encoding,
            phase: Phase::Initial(0, history),
        }
    }

    async fn piece(&mut self) -> Option<Vec<u8>> {
        match &mut self.phase {
            Phase::Ended => None,
            Phase::Initial(next, history) => {
                let pods = self.shared.collection(self.encoding);
                let mut piece = Vec::with_capacity(PIECE + 8_192);
                while *next < pods.len() && piece.len() < PIECE {
                    let (version, stamp) = history.state_of(*next);
                    event(
                        self.encoding,
                        "ADDED",
                        pods,
                        *next,
                        (version, stamp),
                        &mut piece,
                    );
                    *next += 1;
                }
                if *next == pods.len() {
                    let head = history.head();
                    end_of_initial(self.encoding, pods.resource(), head, &mut piece);
                    self.phase = Phase::Following(head);
                }
                Some(piece)
            }
            Phase::Following(sent) => {
                let mut history = self.shared.history.subscribe();
                let news = history.wait_for(|history| history.head() > *sent).await;
                let history = Arc::clone(&*news.ok()?);
                if !history.is_kept(*sent) {
                    self.phase = Phase::Ended;
                    return Some(expired(self.encoding));
                }
                let pods = self.shared.collection(self.encoding);
                let mut piece = Vec::with_capacity(PIECE + 8_192);
                while *sent < history.head() && piece.len() < PIECE {
                    *sent += 1;
                    let state = (*sent, history.stamp_of(*sent));
                    let pod = history.pod_changed_by(*sent);
                    event(self.encoding, "MODIFIED", pods, pod, state, &mut piece);
                }
                Some(piece)
            }
        }
    }

    pub(crate) fn into_stream(self) -> impl Stream<Item = Result<Frame<Bytes>, Infallible>> + Send {
        stream::unfold(self, |mut events| async {
            let piece = events.piece().await?;
            Some((Ok(Frame::data(Bytes::from(piece))), events))
        })
    }
}

fn event(
    encoding: Encoding,
    kind: &str,
    pods: &Collection,
    pod: usize,
    (version, stamp): (u64, u64),
    into: &mut Vec<u8>,
) {
    match encoding {
        Encoding::Json => {
            into.extend_from_slice(b"{\"type\":\"");
            into.extend_from_slice(kind.as_bytes());
            into.extend_from_slice(b"\",\"object\":");
            match pods.resource() {
                Resource::Pods => {
                    into.extend_from_slice(b"{\"kind\":\"Pod\",\"apiVersion\":\"v1\"");
                    // The brace of the item makes room for the comma.
                    let brace = into.len();
                    pods.copy(pod, version, stamp, into);
                    into[brace] = b',';
                }
                // Items of a list have their type.
                Resource::WidgetMetadata => pods.copy(pod, version, stamp, into),
            }
            into.extend_from_slice(b"}\n");
        }
        Encoding::Protobuf => {
            protobuf::event_head(pods.resource(), kind, pods.length_of(pod), into);
            pods.copy(pod, version, stamp, into);
        }
    }
}

fn end_of_initial(encoding: Encoding, resource: Resource, version: u64, into: &mut Vec<u8>) {
    match encoding {
        Encoding::Json => {
            let (kind, api_version) = (resource.kind(), resource.api_version());
            let rest = match resource {
                Resource::Pods => r#","spec":{"containers":null},"status":{}"#,
                Resource::WidgetMetadata => "",
            };
            let line = format!(
                r#"{{"type":"BOOKMARK","object":{{"kind":"{kind}","apiVersion":"{api_version}","metadata":{{"resourceVersion":"{version}","annotations":{{"k8s.io/initial-events-end":"true"}}}}{rest}}}}}"#
            );
            into.extend_from_slice(line.as_bytes());
            into.push(b'\n');
        }
        Encoding::Protobuf => {
            let pod = protobuf::bookmark(version, true);
            protobuf::event_head(resource, "BOOKMARK", pod.len(), into);
            into.extend_from_slice(&pod);
        }
    }
}

fn expired(encoding: Encoding) -> Vec<u8> {
    let message = "too old resource version";
    let mut event = Vec::new();
    match encoding {
        Encoding::Json => {
            let line = format!(
                r#"{{"type":"ERROR","object":{{"kind":"Status","apiVersion":"v1","metadata":{{}},"status":"Failure","message":"{message}","reason":"Expired","code":410}}}}"#
            );
            event.extend_from_slice(line.as_bytes());
            event.push(b'\n');
        }
        Encoding::Protobuf => protobuf::expired_event(message, &mut event),
    }
    event
}
