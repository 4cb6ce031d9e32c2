//! One open watch: a cursor into the history, and the clock that ends it.
//!
//! There is no buffer between the history and the watcher. A feed reads the next changes when it
//! is asked, so a reader that does not ask costs nothing, and is told 410 once the history has
//! passed it. Skins turn its frames into bytes or into events.
//!
//! - FEED-1: an event is sent once, in the order of versions, and none behind the cursor is left
//!   out. `proof`
//! - FEED-2: a bookmark is sent only when everything up to its version has been. `proof`

use std::{collections::VecDeque, sync::Arc, time::Duration};

use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use crate::{
    EventKind, Fault, Object, Rejection, Resource, ResourceId, Selection,
    listing::parse_version,
    server::{Server, Signal, State},
    tampering::Tampering,
    wire::{Form, Frame},
};

/// How many frames are read at once; the bound of what a feed holds of its own.
const BATCH: usize = 256;

/// What a watch asks for, in the words of its query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WatchOptions {
    pub(crate) selection: Selection,
    pub(crate) version: String,
    pub(crate) version_match: Option<String>,
    pub(crate) bookmarks: bool,
    pub(crate) send_initial_events: Option<bool>,
    pub(crate) timeout: Option<Duration>,
}

pub(crate) struct Feed {
    server: Arc<Server>,
    id: ResourceId,
    pub(crate) resource: Arc<Resource>,
    selection: Selection,
    pub(crate) form: Form,
    tampering: Tampering,
    /// Synthetic or replayed lines to be sent before the history is followed.
    first: VecDeque<Frame>,
    is_untouched: bool,
    /// The end of the initial events is still to be told.
    owes_end: bool,
    bookmarks: bool,
    cursor: u64,
    epoch: u64,
    closings: u64,
    news: watch::Receiver<()>,
    opened: Instant,
    deadline: Option<Instant>,
    next_bookmark: Instant,
    is_over: bool,
    _open: OpenWatch,
}

/// Counts a watch as open for as long as it lives.
struct OpenWatch(Arc<Signal>);

impl Drop for OpenWatch {
    fn drop(&mut self) {
        self.0.open().send_modify(|open| *open -= 1);
    }
}

/// Where a watch begins.
struct Start {
    cursor: u64,
    first: VecDeque<Frame>,
    owes_end: bool,
    why: String,
}

/// What the history had for a feed.
enum News {
    Closed,
    Lines(Vec<Frame>),
    Nothing { version: u64 },
}

impl Feed {
    /// Opens a watch; also tells why it begins where it does.
    pub(crate) fn open(
        server: &Arc<Server>,
        id: ResourceId,
        options: WatchOptions,
        form: Form,
        faults: &[Fault],
    ) -> Result<(Self, String), Rejection> {
        let state = server.lock();
        let start = start_of_watch(&state, id, &options, faults)?;
        let signal = state.signal(id);
        signal.open().send_modify(|open| *open += 1);
        let tampering = Tampering::new(faults);
        let opened = Instant::now();
        let timeout = options.timeout.unwrap_or(server.settings.watch_timeout);
        let feed = Self {
            server: Arc::clone(server),
            id,
            resource: Arc::clone(&state.cluster.collection(id).resource),
            selection: options.selection,
            form,
            first: start.first,
            is_untouched: true,
            owes_end: start.owes_end,
            bookmarks: options.bookmarks,
            cursor: start.cursor,
            epoch: state.cluster.epoch(),
            closings: state.closings,
            news: signal.news(),
            opened,
            deadline: (!tampering.ignores_timeout).then(|| opened + timeout),
            next_bookmark: opened + server.settings.bookmark_interval,
            tampering,
            is_over: false,
            _open: OpenWatch(signal),
        };
        Ok((feed, start.why))
    }

    /// The next lines; `None` when the server has closed the watch.
    ///
    /// # Cancel safety
    ///
    /// Safe: what has been read is returned without waiting again.
    pub(crate) async fn next(&mut self) -> Option<Vec<Frame>> {
        if self.tampering.is_hanging {
            std::future::pending::<()>().await;
        }
        loop {
            if self.is_over || self.tampering.is_over() {
                return None;
            }
            let frames = if std::mem::take(&mut self.is_untouched) {
                Vec::new()
            } else {
                self.read().await?
            };
            let frames = self.tampering.apply(frames, &self.resource, self.form);
            // An error is the last thing a server says in a watch.
            self.is_over |= matches!(frames.last(), Some(Frame::Error(_)));
            if !frames.is_empty() {
                return Some(frames);
            }
        }
    }

    async fn read(&mut self) -> Option<Vec<Frame>> {
        // Marked as seen before reading, so that a write in between wakes us again.
        self.news.borrow_and_update();
        let version = match self.look() {
            News::Closed => return None,
            News::Lines(lines) => return Some(lines),
            News::Nothing { version } => version,
        };
        if std::mem::take(&mut self.owes_end) {
            return Some(vec![Frame::Bookmark {
                version: self.cursor,
                ends_initial: true,
            }]);
        }
        let close_after = self.tampering.close_after.map(|time| self.opened + time);
        let bookmark_at = self.bookmarks.then_some(self.next_bookmark);
        tokio::select! {
            biased;
            () = until(close_after) => {
                self.is_over = true;
                Some(Vec::new())
            }
            () = until(self.deadline) => {
                self.is_over = true;
                Some(self.bookmark(version))
            }
            changed = self.news.changed() => changed.ok().map(|()| Vec::new()),
            () = until(bookmark_at) => {
                self.next_bookmark = Instant::now() + self.server.settings.bookmark_interval;
                Some(self.bookmark(version))
            }
        }
    }

    /// A bookmark up to here, if one was asked for and the history has reached the watch.
    fn bookmark(&self, version: u64) -> Vec<Frame> {
        let is_due = self.bookmarks && version >= self.cursor;
        is_due
            .then_some(Frame::Bookmark {
                version,
                ends_initial: false,
            })
            .into_iter()
            .collect()
    }

    /// Reads what the history has, without waiting.
    fn look(&mut self) -> News {
        if !self.first.is_empty() {
            let count = self.first.len().min(BATCH);
            return News::Lines(self.first.drain(..count).collect());
        }
        let state = self.server.lock();
        let is_closed = state.closings != self.closings || state.cluster.epoch() != self.epoch;
        let now = Instant::now();
        let is_late = self.deadline.is_some_and(|deadline| deadline <= now)
            || self
                .tampering
                .close_after
                .is_some_and(|time| self.opened + time <= now);
        if is_closed {
            return News::Closed;
        }
        let version = state.cluster.version();
        if is_late || self.owes_end {
            // What is due by the clock comes before what a busy history still has to tell.
            return News::Nothing {
                version: if is_late { self.cursor } else { version },
            };
        }
        let changes = match state.changes_after(self.id, self.cursor, BATCH) {
            Ok(changes) => changes,
            Err(rejection) => {
                return News::Lines(vec![Frame::Error(rejection)]);
            }
        };
        drop(state);
        let Some(last) = changes.last() else {
            return News::Nothing { version };
        };
        self.cursor = last.version;
        let seen = changes
            .iter()
            .filter_map(|change| change.seen_by(&self.selection));
        let seen = seen.map(|(kind, object)| Frame::Event { kind, object });
        let mut lines: Vec<Frame> = seen.collect();
        if self.bookmarks && self.next_bookmark <= now {
            // A busy history gets its bookmarks too, at what has just been read.
            self.next_bookmark = now + self.server.settings.bookmark_interval;
            lines.extend(self.bookmark(self.cursor));
        }
        News::Lines(lines)
    }
}

async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

/// Checks the options of a watch and finds its first lines.
fn start_of_watch(
    state: &State,
    id: ResourceId,
    options: &WatchOptions,
    faults: &[Fault],
) -> Result<Start, Rejection> {
    check_match(options)?;
    let mut initial = options.send_initial_events;
    if faults.contains(&Fault::IgnoreInitialEvents) {
        initial = initial.and(Some(false));
    }
    let now = state.cluster.version();
    let quiet = |cursor, why: String| Start {
        cursor,
        first: VecDeque::new(),
        owes_end: false,
        why,
    };
    match (options.version.as_str(), initial) {
        ("" | "0", Some(false)) => Ok(quiet(now, format!("changes from now on, {now}"))),
        ("" | "0", None) => {
            let why = format!("the state at {now}, then changes");
            Ok(Start {
                first: snapshot(state, id, options),
                ..quiet(now, why)
            })
        }
        (text, Some(true)) => {
            if !matches!(text, "" | "0") {
                state.cluster.reached(parse_version(text)?)?;
            }
            let why = format!("initial events at {now}, then changes");
            let first = snapshot(state, id, options);
            Ok(Start {
                first,
                owes_end: options.bookmarks,
                ..quiet(now, why)
            })
        }
        (text, _) => {
            let version = parse_version(text)?;
            if let Err(rejection) = state.cluster.not_expired(id, version) {
                // kube-apiserver accepts such a watch and says so in its first event (RL-48).
                let why = format!("accepted, and told at once: {rejection}");
                let first = VecDeque::from([Frame::Error(rejection)]);
                return Ok(Start {
                    first,
                    ..quiet(now, why)
                });
            }
            let why = format!("changes after {version}; the server is at {now}");
            let first = replayed(state, id, version, &options.selection, faults);
            Ok(Start {
                first,
                ..quiet(version, why)
            })
        }
    }
}

fn check_match(options: &WatchOptions) -> Result<(), Rejection> {
    let field = "resourceVersionMatch";
    match (
        options.version_match.as_deref(),
        options.send_initial_events,
    ) {
        (None, None) | (Some("NotOlderThan"), Some(_)) => Ok(()),
        (Some(_), None) => {
            let why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is \
                       provided";
            Err(Rejection::invalid_option(field, why))
        }
        (_, Some(_)) => {
            let why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
            Err(Rejection::invalid_option(field, why))
        }
    }
}

fn added(object: &Object) -> Frame {
    Frame::Event {
        kind: EventKind::Added,
        object: object.clone(),
    }
}

fn snapshot(state: &State, id: ResourceId, options: &WatchOptions) -> VecDeque<Frame> {
    let collection = state.cluster.collection(id);
    collection
        .at(state.cluster.version(), None, &options.selection)
        .map(added)
        .collect()
}

fn replayed(
    state: &State,
    id: ResourceId,
    version: u64,
    selection: &Selection,
    faults: &[Fault],
) -> VecDeque<Frame> {
    let count = faults.iter().find_map(|fault| match fault {
        Fault::ReplaySuffix(count) => Some(*count),
        _ => None,
    });
    let changes = state
        .cluster
        .collection(id)
        .changes_up_to(version, count.unwrap_or(0));
    let seen = changes
        .iter()
        .filter_map(|change| change.seen_by(selection));
    seen.map(|(kind, object)| Frame::Event { kind, object })
        .collect()
}
