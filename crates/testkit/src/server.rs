//! The one state behind every handle: history, script, log, and who is to be woken.
//!
//! One lock, held for the time of one read or write of memory and never across an await. Watchers
//! are woken through a counter per resource and then read the history themselves, so a slow one
//! costs nothing and loses nothing that the history still holds.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::AtomicUsize},
    time::{Duration, SystemTime},
};

use tokio::{
    sync::{Notify, watch},
    time::Instant,
};

use crate::{
    Change, Cluster, Fault, Interjection, ProtobufSupport, Rejection, RequestLine, Resource,
    ResourceId, fault::Script, interjection::Said, request_log::RequestLog, timestamp,
};

pub(crate) struct Server {
    state: Mutex<State>,
    pub(crate) settings: Settings,
    started: Instant,
}

/// What a server is built with; the reasons stand at [`crate::Builder`].
pub(crate) struct Settings {
    pub(crate) clock: Option<Box<dyn Fn() -> SystemTime + Send + Sync>>,
    pub(crate) bookmark_interval: Duration,
    pub(crate) watch_timeout: Duration,
    pub(crate) protobuf: ProtobufSupport,
}

pub(crate) struct State {
    pub(crate) cluster: Cluster,
    pub(crate) script: Script,
    pub(crate) log: RequestLog,
    signals: Vec<Arc<Signal>>,
    /// Grows when all watches are to end.
    pub(crate) closings: u64,
    /// The last of the closings that broke them in the middle.
    pub(crate) cut: u64,
    /// Grows when all watches fall silent.
    pub(crate) silences: u64,
    /// What was said beside the history, by resource.
    interjections: Vec<Vec<Said>>,
}

/// How the watches of one resource hear of news, and how many there are.
pub(crate) struct Signal {
    /// Wakes them in the order in which they wait, which a `watch` channel would not.
    news: Notify,
    open: watch::Sender<usize>,
    idle: AtomicUsize,
}

impl Signal {
    pub(crate) fn news(&self) -> &Notify {
        &self.news
    }

    pub(crate) fn open(&self) -> &watch::Sender<usize> {
        &self.open
    }

    /// How many of them have sent everything and wait for news.
    pub(crate) fn idle(&self) -> &AtomicUsize {
        &self.idle
    }
}

impl Server {
    pub(crate) fn new(cluster: Cluster, settings: Settings) -> Self {
        let state = State {
            cluster,
            script: Script::default(),
            log: RequestLog::default(),
            signals: Vec::new(),
            closings: 0,
            cut: 0,
            silences: 0,
            interjections: Vec::new(),
        };
        Self {
            state: Mutex::new(state),
            settings,
            started: Instant::now(),
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        // A panic of ours leaves either the old state or the new one, never half a write.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes, and wakes those who watch.
    pub(crate) fn write<R>(
        &self,
        id: ResourceId,
        write: impl FnOnce(&mut Cluster, &str) -> Result<R, Rejection>,
    ) -> Result<R, Rejection> {
        let mut state = self.lock();
        let now = self.now(state.cluster.version() + 1);
        let result = write(&mut state.cluster, &now);
        let signal = state.signal(id);
        drop(state);
        signal.news.notify_waiters();
        result
    }

    /// Prepares a write and does not record it, so that nothing changes and no watch wakes.
    pub(crate) fn dry_run<R>(&self, prepare: impl FnOnce(&mut Cluster, &str) -> R) -> R {
        let mut state = self.lock();
        let now = self.now(state.cluster.version() + 1);
        state.cluster.dry_run(|cluster| prepare(cluster, &now))
    }

    /// RFC 3339; without a clock, a fixed moment plus one second for each version.
    fn now(&self, version: u64) -> String {
        let seconds = match &self.settings.clock {
            Some(clock) => {
                let since = clock().duration_since(SystemTime::UNIX_EPOCH);
                since.map_or(0, |since| since.as_secs())
            }
            None => timestamp::BEGINNING + version,
        };
        timestamp::rfc3339(seconds)
    }

    /// Writes a request into the log, and tells which faults it meets.
    pub(crate) fn begin(&self, line: RequestLine) -> (u64, Vec<Fault>) {
        let at = self.started.elapsed();
        let mut state = self.lock();
        let next = state.log.next_number();
        let faults = state.script.take(&line, next);
        let number = state.log.begin(line, at);
        (number, faults)
    }

    /// Notes the media type of an answer.
    pub(crate) fn note_media_type(&self, number: u64, media_type: &str) {
        self.lock().log.note_media_type(number, media_type);
    }

    pub(crate) fn answer(&self, number: u64, code: Option<u16>, why: impl Into<String>) {
        self.lock().log.answer(number, code, why.into());
    }
}

impl State {
    pub(crate) fn register(&mut self, resource: Resource) -> ResourceId {
        let id = self.cluster.register(resource);
        while self.signals.len() <= id.0 {
            let (news, open) = (Notify::new(), watch::Sender::new(0));
            let idle = AtomicUsize::new(0);
            self.signals.push(Arc::new(Signal { news, open, idle }));
            self.interjections.push(Vec::new());
        }
        id
    }

    pub(crate) fn signal(&self, id: ResourceId) -> Arc<Signal> {
        Arc::clone(&self.signals[id.0])
    }

    /// Says something beside the history to the watches that are open now.
    pub(crate) fn interject(&mut self, id: ResourceId, what: Interjection) {
        let said = Said::new(self.cluster.version(), what);
        self.interjections[id.0].push(said);
        self.signals[id.0].news.notify_waiters();
    }

    pub(crate) fn interjections(&self, id: ResourceId) -> &[Said] {
        &self.interjections[id.0]
    }

    /// Wakes every watch, since something other than a write has happened.
    pub(crate) fn wake_all(&self) {
        for signal in &self.signals {
            signal.news.notify_waiters();
        }
    }

    /// The next changes for a watch behind `version`.
    ///
    /// # Errors
    ///
    /// 410 if the history no longer holds what it has still to send.
    pub(crate) fn changes_after(
        &self,
        id: ResourceId,
        version: u64,
        limit: usize,
    ) -> Result<Vec<Arc<Change>>, Rejection> {
        let collection = self.cluster.collection(id);
        if version < collection.dropped() {
            return Err(Rejection::expired(version, collection.dropped()));
        }
        Ok(collection.changes_after(version, limit).cloned().collect())
    }
}
