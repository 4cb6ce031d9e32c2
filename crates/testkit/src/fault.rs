//! What can be made to go wrong, for which request, and how often.
//!
//! A fault is data. It is scripted with [`crate::ApiServer::fault`] and works the same in every
//! skin, so one script serves tests through the port and tests over HTTP.

use std::time::Duration;

use crate::{Damage, Rejection, RequestLine, Resource, Verb};

/// One thing that goes wrong with a request, or with its answer.
///
/// "First event" means the first of the watch that is not a bookmark. What does not apply to a
/// request's verb leaves its answer as it is, and still counts as used. A "line" is a frame in an
/// answer in protobuf.
///
/// ```
/// use informer_testkit::{ApiServer, Fault, Match, Resource, Times};
///
/// let server = ApiServer::new();
/// let pods = Match::watch().resource(&Resource::pods());
/// let id = server.fault(pods, Fault::LoseEvent(1), Times::Once);
/// assert_eq!(server.fault_hits(id), 0, "no watch has met it yet");
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Fault {
    /// Refused with this status; over HTTP as the answer to the request, watches included.
    // FM-05
    Status(Rejection),
    /// Answered by something that is no API server: a proxy, or a page for people.
    // FM-35
    Answer {
        /// The HTTP status.
        code: u16,
        /// The header `Retry-After`, whatever it says.
        // FM-12
        retry_after: Option<String>,
        /// The header `Content-Type`.
        media_type: &'static str,
        /// The body.
        body: String,
    },
    /// Watch: accepted, then after so many events an `ERROR` event with this status.
    ErrorEvent {
        /// How many events come first.
        after: u64,
        /// What the event carries.
        status: Rejection,
    },
    /// As `ErrorEvent`, with a status that does not say its kind.
    // FM-27
    BareError {
        /// How many events come first.
        after: u64,
        /// What the event carries.
        status: Rejection,
    },
    /// The connection is closed before anything was answered.
    Refuse,
    /// Nobody listens, as while a server restarts: the connection is refused. On a real
    /// socket, which does listen, it is closed at once as with `Refuse`.
    // FM-11
    Unreachable,
    /// The handshake fails, as with a certificate nobody accepts.
    Handshake,
    /// Answered after this time.
    Delay(Duration),
    /// Accepted, and then not a byte of the body for this time. Through the port, which has no
    /// headers, as `Delay`.
    Stall(Duration),
    /// Accepted, and then not a byte of the body, for ever.
    // FM-09, FM-16
    Hang,
    /// Not even headers, for ever.
    // FM-17
    HangHeaders,
    /// The connection breaks after so many bytes of the body.
    // FM-10, FM-30
    CutAfterBytes(u64),
    /// Watch: the connection breaks after so many events.
    CutAfterEvents(u64),
    /// Watch: closed cleanly after this time, 0 included.
    // FM-21
    CloseAfter(Duration),
    /// Watch: closed cleanly after so many events.
    // FM-21
    CloseAfterEvents(u64),
    /// Watch: the first event is cut in half, and its line still ended, or its frame as long as the
    /// half. List: the body is cut in half.
    // FM-30
    TruncatedLine,
    /// Watch: a line that is no event comes before the first event. List: instead of the body.
    GarbageLine,
    /// Watch: the first event has a type nobody knows.
    // FM-31
    UnknownType,
    /// 200 with a page for people.
    // FM-35
    Html,
    /// Watch: the first event carries a `Table`. List: the answer is one.
    // FM-33
    WrongKind,
    /// The first event or item has no name.
    // FM-52
    Nameless,
    /// The first event or item has good metadata, and nonsense for the rest.
    // FM-53, FM-54
    UndecodableItem,
    /// The first event or item is larger by so many bytes.
    // FM-56
    HugeItem(usize),
    /// The first event, or the body of a list, is compressed although nobody asked for it.
    Gzip,
    /// Watch: the first deletion carries the version before it.
    // FM-36
    DeletedOlderVersion,
    /// Watch: no bookmarks, the end of the initial events included.
    // FM-23
    BookmarkNever,
    /// Watch: the end of the initial events is never told.
    // FM-25
    NoInitialEventsEnd,
    /// Watch: the end of the initial events is told only after so many changes that came
    /// meanwhile.
    // RL-25
    LateInitialEventsEnd(u64),
    /// Watch: `sendInitialEvents` is not understood: changes from now on are sent.
    // FM-26
    IgnoreInitialEvents,
    /// List: without a version.
    // FM-08
    EmptyResourceVersion,
    /// List: the first item occurs twice, first in an older version.
    // FM-07
    DuplicateKey,
    /// List: the state at this version, as a stale replica would answer, or today's state
    /// under this version where the history does not reach back. Watch: the first event claims
    /// this version.
    // FM-01, FM-36, FM-37
    OlderVersion(u64),
    /// List: the state so many versions ago, as far as the history reaches back.
    // FM-01
    StaleBy(u64),
    /// Watch: the last so many changes before its version are sent again.
    // FM-37
    ReplaySuffix(usize),
    /// Watch: the n-th event, from 1, is never sent.
    // FM-40
    LoseEvent(u64),
    /// Watch: before the first event comes a bookmark with its version.
    // FM-24
    EarlyBookmark,
    /// Watch: `timeoutSeconds` is ignored.
    // FM-20
    IgnoreTimeout,
    /// The first event or item of an answer in protobuf is damaged. An answer in JSON stays as it
    /// is.
    Protobuf(Damage),
}

impl Fault {
    /// A status without further details.
    pub fn status(code: u16, reason: &str, message: &str) -> Self {
        Self::Status(Rejection::new(code, reason, message))
    }

    /// 410 as an `ERROR` event, which is how kube-apiserver tells it in a watch.
    // RL-48
    pub fn expired_event() -> Self {
        let status = Rejection::expired(1, 2);
        Self::ErrorEvent { after: 0, status }
    }
}

/// How often a fault happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Times {
    /// To the first request that matches.
    Once,
    /// To so many requests that match.
    Times(u64),
    /// To every request that matches.
    Always,
}

/// Which requests a fault is for. Everything left open matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct Match {
    verb: Option<Verb>,
    resource: Option<Resource>,
    namespace: Option<String>,
    name: Option<String>,
    continuation: Option<bool>,
    initial_events: Option<bool>,
    nth: u64,
}

impl Match {
    /// Every request.
    pub fn any() -> Self {
        Self::default()
    }

    /// Requests with this verb.
    pub fn verb(verb: Verb) -> Self {
        Self {
            verb: Some(verb),
            ..Self::default()
        }
    }

    /// Lists.
    pub fn list() -> Self {
        Self::verb(Verb::List)
    }

    /// Watches.
    pub fn watch() -> Self {
        Self::verb(Verb::Watch)
    }

    /// Only of this resource.
    pub fn resource(mut self, resource: &Resource) -> Self {
        self.resource = Some(resource.clone());
        self
    }

    /// Only in this namespace.
    pub fn namespace(mut self, namespace: &str) -> Self {
        self.namespace = Some(namespace.to_owned());
        self
    }

    /// Only of this object.
    pub fn name(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self
    }

    /// Only lists with a continue token, or only those without.
    pub fn continuation(mut self, is_continuation: bool) -> Self {
        self.continuation = Some(is_continuation);
        self
    }

    /// Only watches that ask for initial events, or only those that do not.
    pub fn initial_events(mut self, are_asked_for: bool) -> Self {
        self.initial_events = Some(are_asked_for);
        self
    }

    /// From the n-th matching request on, counted from 1 and from when the fault is scripted.
    pub fn nth(mut self, nth: u64) -> Self {
        self.nth = nth;
        self
    }

    fn matches(&self, line: &RequestLine) -> bool {
        let resource = line.resource.as_ref();
        self.verb.is_none_or(|verb| verb == line.verb)
            && is_open_or(&self.resource, |wanted| {
                resource.is_some_and(|resource| resource.is_same(wanted))
            })
            && is_open_or(&self.namespace, |wanted| {
                line.namespace.as_ref() == Some(wanted)
            })
            && is_open_or(&self.name, |wanted| line.name.as_ref() == Some(wanted))
            && self
                .continuation
                .is_none_or(|wanted| line.is_continuation == wanted)
            && self
                .initial_events
                .is_none_or(|wanted| line.wants_initial_events == wanted)
    }
}

fn is_open_or<T>(wanted: &Option<T>, test: impl FnOnce(&T) -> bool) -> bool {
    wanted.as_ref().is_none_or(test)
}

/// Names one scripted fault, to remove it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultId(usize);

/// The script: faults not yet used up, in the order in which they were given.
#[derive(Debug, Default)]
pub(crate) struct Script {
    rules: Vec<Rule>,
    /// The numbers of the requests that met each fault; its place is its id.
    met: Vec<Vec<u64>>,
}

#[derive(Debug)]
struct Rule {
    id: FaultId,
    wanted: Match,
    fault: Fault,
    /// How often it may still happen; `None` for ever.
    left: Option<u64>,
    seen: u64,
}

impl Script {
    pub(crate) fn add(&mut self, wanted: Match, fault: Fault, times: Times) -> FaultId {
        let left = match times {
            Times::Once => Some(1),
            Times::Times(times) => Some(times),
            Times::Always => None,
        };
        let id = FaultId(self.met.len());
        self.met.push(Vec::new());
        self.rules.push(Rule {
            id,
            wanted,
            fault,
            left,
            seen: 0,
        });
        id
    }

    pub(crate) fn remove(&mut self, id: FaultId) {
        self.rules.retain(|rule| rule.id != id);
    }

    pub(crate) fn met(&self, id: FaultId) -> &[u64] {
        self.met.get(id.0).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn clear(&mut self) {
        self.rules.clear();
    }

    /// The faults that the request of this number meets; they are used up by it.
    pub(crate) fn take(&mut self, line: &RequestLine, number: u64) -> Vec<Fault> {
        let mut faults = Vec::new();
        for rule in &mut self.rules {
            if !rule.wanted.matches(line) {
                continue;
            }
            rule.seen += 1;
            if rule.seen < rule.wanted.nth || rule.left == Some(0) {
                continue;
            }
            rule.left = rule.left.map(|left| left - 1);
            self.met[rule.id.0].push(number);
            faults.push(rule.fault.clone());
        }
        self.rules.retain(|rule| rule.left != Some(0));
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_happens_as_often_as_scripted_and_to_whom() {
        let mut script = Script::default();
        let pods = Resource::pods();
        let wanted = Match::list().resource(&pods).nth(2);
        script.add(wanted, Fault::Refuse, Times::Times(2));
        let list = RequestLine::of(Verb::List, &pods);
        let watch = RequestLine::of(Verb::Watch, &pods);
        let mut met = |line| !script.take(line, 1).is_empty();
        assert_eq!([met(&watch), met(&list), met(&watch)], [false; 3]);
        assert_eq!([met(&list), met(&list), met(&list)], [true, true, false]);
    }
}
