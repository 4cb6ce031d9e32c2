//! One open watch: a cursor into the history, and the clock that ends it.
//!
//! There is no buffer between the history and the watcher. A feed reads the next changes when it
//! is asked, so a reader that does not ask costs nothing, and is told 410 once the history has
//! passed it. Skins turn its frames into bytes or into events.

// - FEED-1: an event is sent once, in the order of versions, and none behind the cursor is left
//   out. `proof`
// - FEED-2: a bookmark is sent only when everything up to its version has been. `proof`

use std::{
    collections::VecDeque,
    pin::pin,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use bytes::Bytes;

use tokio::time::{Instant, sleep_until};

use crate::{
    Change, Fault, Rejection, Resource, ResourceId, Selection,
    server::{Server, Signal, State},
    tampering::Tampering,
    watch_start::start_of_watch,
    wire::{Format, Frame},
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
    pub(crate) format: Format,
    tampering: Tampering,
    /// Synthetic or replayed lines to be sent before the history is followed.
    first: VecDeque<Frame>,
    is_untouched: bool,
    /// The end of the initial events is still to be told.
    owes_end: bool,
    /// How many changes come before it.
    late_end: u64,
    bookmarks: bool,
    cursor: u64,
    /// How many of the interjections have been passed.
    said: usize,
    epoch: u64,
    closings: u64,
    silences: u64,
    opened: Instant,
    deadline: Option<Instant>,
    next_bookmark: Option<Instant>,
    is_over: bool,
    open: OpenWatch,
}

/// Counts a watch as open for as long as it lives.
struct OpenWatch(Arc<Signal>);

impl Drop for OpenWatch {
    fn drop(&mut self) {
        self.0.open().send_modify(|open| *open -= 1);
    }
}

/// What the history had for a feed.
enum News {
    Closed,
    Cut,
    /// Nothing, ever again.
    Silence,
    Lines(Vec<Frame>),
    Nothing {
        version: u64,
    },
}

impl Feed {
    /// Opens a watch; also tells why it begins where it does.
    pub(crate) fn open(
        server: &Arc<Server>,
        id: ResourceId,
        options: WatchOptions,
        format: Format,
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
            format,
            first: start.first,
            is_untouched: true,
            owes_end: start.owes_end,
            late_end: start.late_end,
            said: state.interjections(id).len(),
            bookmarks: options.bookmarks,
            cursor: start.cursor,
            epoch: state.cluster.epoch(),
            closings: state.closings,
            silences: state.silences,
            opened,
            // A moment that cannot be told is never reached.
            deadline: opened
                .checked_add(timeout)
                .filter(|_| !tampering.ignores_timeout),
            next_bookmark: opened.checked_add(server.settings.bookmark_interval),
            tampering,
            is_over: false,
            open: OpenWatch(signal),
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
            let frames = self.tampering.apply(frames, &self.resource, self.format);
            self.is_over |= is_over(&frames);
            if !frames.is_empty() {
                return Some(frames);
            }
        }
    }

    async fn read(&mut self) -> Option<Vec<Frame>> {
        let signal = Arc::clone(&self.open.0);
        let mut news = pin!(signal.news().notified());
        // In line before reading, so that a write in between wakes us again.
        news.as_mut().enable();
        let version = match self.look() {
            News::Closed => return None,
            News::Silence => return std::future::pending().await,
            News::Cut => {
                self.is_over = true;
                return Some(vec![Frame::Cut(Bytes::new())]);
            }
            News::Lines(lines) => return Some(lines),
            News::Nothing { version } => version,
        };
        if self.late_end == 0 && std::mem::take(&mut self.owes_end) {
            return Some(vec![Frame::Bookmark {
                version: self.cursor,
                ends_initial: true,
            }]);
        }
        let close_after = self.close_at();
        let bookmark_at = self.next_bookmark.filter(|_| self.bookmarks);
        let _idle = Idle::new(&self.open.0);
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
            () = news => Some(Vec::new()),
            () = until(bookmark_at) => {
                self.schedule_bookmark(Instant::now());
                Some(self.bookmark(version))
            }
        }
    }

    /// When a fault closes the watch.
    fn close_at(&self) -> Option<Instant> {
        let after = self.tampering.close_after?;
        self.opened.checked_add(after)
    }

    fn schedule_bookmark(&mut self, now: Instant) {
        self.next_bookmark = now.checked_add(self.server.settings.bookmark_interval);
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
        if self.server.lock().silences != self.silences {
            return News::Silence;
        }
        if !self.first.is_empty() {
            let count = self.first.len().min(BATCH);
            return News::Lines(self.first.drain(..count).collect());
        }
        let server = Arc::clone(&self.server);
        let state = server.lock();
        let is_closed = state.closings != self.closings || state.cluster.epoch() != self.epoch;
        let now = Instant::now();
        let ends = [self.deadline, self.close_at()];
        let is_late = ends.into_iter().flatten().any(|end| end <= now);
        if is_closed && state.cut > self.closings {
            return News::Cut;
        }
        if is_closed {
            return News::Closed;
        }
        let version = state.cluster.version();
        if is_late || (self.owes_end && self.late_end == 0) {
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
        let mut lines = self.follow(&state, &changes);
        drop(state);
        if lines.is_empty() && changes.is_empty() {
            return News::Nothing { version };
        }
        if self.bookmarks && self.next_bookmark.is_some_and(|at| at <= now) {
            // A busy history gets its bookmarks too, at what has just been read.
            self.schedule_bookmark(now);
            lines.extend(self.bookmark(self.cursor));
        }
        News::Lines(lines)
    }

    /// The lines of these changes, and what was said between them.
    fn follow(&mut self, state: &State, changes: &[Arc<Change>]) -> Vec<Frame> {
        let mut lines = Vec::new();
        for change in changes {
            self.listen(state, change.version - 1, &mut lines);
            if is_over(&lines) {
                return lines;
            }
            self.cursor = change.version;
            let Some((kind, object)) = change.seen_by(&self.selection) else {
                continue;
            };
            lines.push(Frame::Event { kind, object });
            if self.owes_end && self.late_end > 0 {
                self.late_end -= 1;
                if self.late_end == 0 {
                    // What is left comes behind the end.
                    return lines;
                }
            }
        }
        let is_all = changes.len() < BATCH;
        let reached = if is_all { u64::MAX } else { self.cursor };
        self.listen(state, reached, &mut lines);
        lines
    }

    /// What was said up to a version.
    fn listen(&mut self, state: &State, version: u64, lines: &mut Vec<Frame>) {
        for said in &state.interjections(self.id)[self.said..] {
            if said.at > version {
                return;
            }
            self.said += 1;
            let frame = said.frame(&self.resource, self.bookmarks && !self.owes_end);
            lines.extend(frame);
            if is_over(lines) {
                return;
            }
        }
    }
}

/// An error is the last thing a server says in a watch.
fn is_over(lines: &[Frame]) -> bool {
    matches!(lines.last(), Some(Frame::Error(_)))
}

/// Counts a watch as idle while it waits for news.
struct Idle(Arc<Signal>);

impl Idle {
    fn new(signal: &Arc<Signal>) -> Self {
        signal.idle().fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(signal))
    }
}

impl Drop for Idle {
    fn drop(&mut self) {
        self.0.idle().fetch_sub(1, Ordering::Relaxed);
    }
}

async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    }
}
