//! Every request and why it was answered as it was: a story a failing test can print.

use std::{collections::VecDeque, fmt, time::Duration};

use crate::Resource;

/// What a request is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Verb {
    /// One object is read.
    Get,
    /// A collection is read.
    List,
    /// Changes of a collection are followed.
    Watch,
    /// An object is created.
    Create,
    /// An object is replaced.
    Replace,
    /// An object is changed by a patch.
    Patch,
    /// An object is deleted.
    Delete,
    /// All selected objects are deleted.
    DeleteCollection,
    /// Anything else: discovery, version, health, and what does not exist.
    Other,
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Replace => "replace",
            Self::Patch => "patch",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
            Self::Other => "other",
        })
    }
}

/// What was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestLine {
    /// What was to be done.
    pub verb: Verb,
    /// To which resource; `None` for discovery and the like.
    pub resource: Option<Resource>,
    /// In which namespace.
    pub namespace: Option<String>,
    /// To which object.
    pub name: Option<String>,
    /// The path and the query, as far as the skin has one.
    pub query: String,
    /// `resourceVersion`, as it was sent.
    pub version: String,
    /// Whether a list came with a continue token.
    pub is_continuation: bool,
    /// Whether a watch asked for initial events.
    pub wants_initial_events: bool,
}

impl RequestLine {
    pub(crate) fn other(query: String) -> Self {
        Self {
            verb: Verb::Other,
            resource: None,
            namespace: None,
            name: None,
            query,
            version: String::new(),
            is_continuation: false,
            wants_initial_events: false,
        }
    }

    pub(crate) fn of(verb: Verb, resource: &Resource) -> Self {
        let query = resource.path(None);
        Self {
            verb,
            resource: Some(resource.clone()),
            ..Self::other(query)
        }
    }
}

/// One request with its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestRecord {
    /// From 1, in the order in which requests came.
    pub number: u64,
    /// When it came, since the server was built; in tokio's time, which tests may pause.
    pub at: Duration,
    /// What was asked.
    pub line: RequestLine,
    /// The HTTP status; `None` while there is no answer, and if there never will be.
    pub code: Option<u16>,
    /// Why.
    pub why: String,
    /// The `Content-Type` of the answer over HTTP; empty if there is none.
    pub media_type: String,
}

impl RequestRecord {
    /// Returns whether the answer was in protobuf.
    ///
    /// ```
    /// use informer_testkit::ApiServer;
    ///
    /// let server = ApiServer::new();
    /// // Run the client under test against `server.service()`, then:
    /// assert!(server.requests().iter().all(|request| request.is_protobuf()));
    /// ```
    pub fn is_protobuf(&self) -> bool {
        self.media_type
            .starts_with("application/vnd.kubernetes.protobuf")
    }
}

impl fmt::Display for RequestRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            number,
            at,
            line,
            code,
            why,
            ..
        } = self;
        write!(f, "#{number} {at:.3?} {} {} -> ", line.verb, line.query)?;
        match code {
            Some(code) if self.is_protobuf() => {
                write!(f, "{code} in protobuf: {why}")
            }
            Some(code) => write!(f, "{code}: {why}"),
            None => write!(f, "nothing: {why}"),
        }
    }
}

/// The last requests; older ones fall out, so that a long demo does not grow.
#[derive(Debug, Default)]
pub(crate) struct RequestLog {
    records: VecDeque<RequestRecord>,
    count: u64,
}

/// How many requests are remembered.
const REMEMBERED: usize = 100_000;

impl RequestLog {
    /// The number of the next request.
    pub(crate) fn next_number(&self) -> u64 {
        self.count + 1
    }

    pub(crate) fn begin(&mut self, line: RequestLine, at: Duration) -> u64 {
        self.count += 1;
        let why = "not answered yet".to_owned();
        let number = self.count;
        self.records.push_back(RequestRecord {
            number,
            at,
            line,
            code: None,
            why,
            media_type: String::new(),
        });
        if self.records.len() > REMEMBERED {
            self.records.pop_front();
        }
        self.count
    }

    pub(crate) fn answer(&mut self, number: u64, code: Option<u16>, why: String) {
        if let Some(record) = self.record(number) {
            record.code = code;
            record.why = why;
        }
    }

    pub(crate) fn note_media_type(&mut self, number: u64, media_type: &str) {
        if let Some(record) = self.record(number) {
            media_type.clone_into(&mut record.media_type);
        }
    }

    fn record(&mut self, number: u64) -> Option<&mut RequestRecord> {
        let first = self.records.front().map_or(0, |record| record.number);
        let index = usize::try_from(number.checked_sub(first)?).ok()?;
        self.records.get_mut(index)
    }

    pub(crate) fn records(&self) -> Vec<RequestRecord> {
        self.records.iter().cloned().collect()
    }

    pub(crate) fn clear(&mut self) {
        self.records.clear();
    }
}
