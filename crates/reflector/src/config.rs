//! How the reflector paces itself: every number, and why it is what it is.
//!
//! A value handed down; nothing is read from the environment. What belongs to the bytes of an
//! answer (headers, progress within a body, size) belongs to the [`crate::ListWatch`].

use std::{num::NonZeroU32, ops::RangeInclusive, time::Duration};

/// Paging, pacing and patience of one reflector.
///
/// ```
/// use std::time::Duration;
/// use informer_reflector::{Backoff, Config, InitialState};
///
/// let config = Config::default()
///     .initial(InitialState::Consistent)
///     .backoff(Backoff::default().cap(Duration::from_secs(60)));
/// assert_eq!(config.backoff.base, Duration::from_millis(800));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Config {
    /// How fresh the first list has to be.
    ///
    /// Any state by default, as in client-go: after an outage of the API server every client lists,
    /// and its cache can answer that where etcd cannot.
    // FM-02, FM-11
    pub initial: InitialState,
    /// Items per page of every list. `None`, the default, pages only where the API server would
    /// have to read etcd anyway. With some number every list asks for pages; a server that
    /// may answer with any state ignores that and answers from its cache in one, so to have pages
    /// ask for [`InitialState::Consistent`] too.
    // RL-17
    #[doc(alias = "WatchListPageSize")]
    pub page_size: Option<NonZeroU32>,
    /// Items per page where `page_size` says nothing. 500, as every client of Kubernetes.
    // PG-01
    pub usual_page_size: NonZeroU32,
    /// Whether the initial state is requested through a watch, as a streaming list. Off: a plain
    /// list costs an API server of 1.33 and later less processor time and memory. Older servers
    /// build the whole answer in memory first; for large collections there, switch it on. A source
    /// may still decline.
    // LW-05
    #[doc(alias = "WatchListClient")]
    pub streaming: bool,
    /// Streaming lists that may fail in a row before a plain list is tried. 2: the first may have
    /// met a restart of the server.
    // RFX-12, R9
    pub streaming_attempts: u32,
    /// How long a streaming list may bring nothing. 60 s: longer than any pause in a burst of
    /// initial events, short enough for a user who waits.
    // FM-25, R9
    pub streaming_patience: Duration,
    /// For how long streaming lists are left alone after the server has shown that it cannot do
    /// them. 1 h: an upgrade is noticed within a morning, and trying costs a minute at most.
    pub streaming_pause: Duration,
    /// Whether unchanged objects may be taken from the [`crate::Reuse`] port. On; the switch is for
    /// measurements and for doubt.
    pub reuse: bool,
    /// How long one page may take altogether. 10 min: only a backstop for sources without deadlines
    /// of their own, so it must not cut a long list that makes progress.
    // FM-09
    pub list_timeout: Duration,
    /// How long the server is asked to keep a watch open; drawn anew for each, in whole seconds.
    /// 4 to 5 min: a peer that acknowledges and says nothing is found within 305 s, where
    /// client-go's 5 to 10 min would hide it twice as long; less is a storm of restarts.
    /// Lower it to detect a silent peer sooner: with 15 s, within 20 s.
    // R5, RL-02, FM-18
    #[doc(alias = "minWatchTimeout")]
    pub watch_timeout: RangeInclusive<Duration>,
    /// How much longer than asked a watch may live, headers included. 5 s: what a busy server and
    /// a proxy need to pass on the close.
    // FM-16, FM-17, FM-20, R5
    pub idle_margin: Duration,
    /// A watch that closes before this counts as a failed attempt, whatever it carried, unless no
    /// more was asked for. 30 s: the shortest time servers and proxies close after on purpose is a
    /// minute.
    // FM-21
    pub short_watch: Duration,
    /// How long watches may answer 500 before a list is tried. 30 s: a server that fails for one
    /// version often recovers within a lease, and a list is expensive.
    // FM-34
    #[doc(alias = "MaxInternalErrorRetryDuration")]
    pub internal_patience: Duration,
    /// How long watches may break without bringing anything before a list is tried. 5 min: longer
    /// than a rolling restart, which must not cause lists, and a bound for a
    /// server that closes each watch from a version without refusing the version.
    // FM-22, R3
    pub rewatch_patience: Duration,
    /// How attempts are spaced.
    pub backoff: Backoff,
}

impl Config {
    setters! {
        /// Sets how fresh the first list has to be.
        initial(state: InitialState) => initial = state;
        /// Sets the items per page of every list.
        page_size(items: NonZeroU32) => page_size = Some(items);
        /// Sets the items per page where `page_size` says nothing.
        usual_page_size(items: NonZeroU32) => usual_page_size = items;
        /// Sets whether the initial state is requested through a watch.
        streaming(streaming: bool) => streaming = streaming;
        /// Sets how many streaming lists may fail in a row.
        streaming_attempts(attempts: u32) => streaming_attempts = attempts;
        /// Sets how long a streaming list may bring nothing.
        streaming_patience(time: Duration) => streaming_patience = time;
        /// Sets how long streaming lists pause after the server has shown that it cannot do them.
        streaming_pause(time: Duration) => streaming_pause = time;
        /// Sets whether unchanged objects are reused.
        reuse(reuse: bool) => reuse = reuse;
        /// Sets how long one page may take altogether.
        list_timeout(time: Duration) => list_timeout = time;
        /// Sets the range that the timeout of each watch is drawn from.
        watch_timeout(range: RangeInclusive<Duration>) => watch_timeout = range;
        /// Sets how much longer than its timeout a watch may live.
        idle_margin(time: Duration) => idle_margin = time;
        /// Sets the lifetime below which a watch counts as a failed attempt.
        short_watch(time: Duration) => short_watch = time;
        /// Sets how long watches may answer 500 before a list is tried.
        internal_patience(time: Duration) => internal_patience = time;
        /// Sets how long watches may break without bringing anything before a list is tried.
        rewatch_patience(time: Duration) => rewatch_patience = time;
        /// Sets how attempts are spaced.
        backoff(backoff: Backoff) => backoff = backoff;
    }
}

/// How fresh the first list has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InitialState {
    /// The state that the server has cached, which may be older than what this process received
    /// before a restart.
    // FM-02
    Any,
    /// The most recent state, which may cost the server a quorum read.
    Consistent,
}

/// How attempts are spaced.
///
/// A delay is drawn uniformly from `[d/2, d)` with `d = min(base * 2^n, cap)`. n is the number of
/// the delay, but at most 1 while the failure is young.
// RFX-8, RFX-9, ADR 11
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Backoff {
    /// The first `d`. 0.8 s, as in client-go.
    // RL-03
    pub base: Duration,
    /// For how long after the first failure the delays stay below `2 * base`. 6 s: an outage of up
    /// to 5 s is over within 3 s, and the last attempt during it may take a second to fail.
    // R4
    pub young: Duration,
    /// The largest `d`. 32 s: at most 200 lists an hour whatever goes wrong, convergence
    /// within 35 s after the server is back, and lists of many spread over 30 s.
    // R1, R4, R3
    pub cap: Duration,
    /// The largest `d` while the answer is 403 or 404. 60 s: these last until a person acts, and
    /// are still noticed within a minute.
    // FM-76, FM-77, R8
    pub absent_cap: Duration,
    /// The longest delay a server may ask for. 60 s: a typo in a header must not stop us.
    // SEC-27
    pub retry_after_cap: Duration,
    /// The longest delay before a watch that made progress is resumed. 5 s: a server that closes
    /// after each event still delivers, at no more than 720 requests an hour.
    // R2
    pub progress_cap: Duration,
    /// How long a watch has to live without an error before the delays start over. 120 s: four
    /// times the cap, so no fault that recurs can keep the delays short.
    // RFX-8
    pub healthy_after: Duration,
}

impl Backoff {
    setters! {
        /// Sets the first `d`.
        base(time: Duration) => base = time;
        /// Sets how long after the first failure the delays stay below `2 * base`.
        young(time: Duration) => young = time;
        /// Sets the largest `d`.
        cap(time: Duration) => cap = time;
        /// Sets the largest `d` while the answer is 403 or 404.
        absent_cap(time: Duration) => absent_cap = time;
        /// Sets the longest delay that a server may ask for.
        retry_after_cap(time: Duration) => retry_after_cap = time;
        /// Sets the longest delay before a watch that made progress is resumed.
        progress_cap(time: Duration) => progress_cap = time;
        /// Sets how long a watch has to live without an error before the delays start over.
        healthy_after(time: Duration) => healthy_after = time;
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            initial: InitialState::Any,
            page_size: None,
            usual_page_size: NonZeroU32::MIN.saturating_add(499),
            streaming: false,
            streaming_attempts: 2,
            streaming_patience: Duration::from_secs(60),
            streaming_pause: Duration::from_secs(3600),
            reuse: true,
            list_timeout: Duration::from_secs(600),
            watch_timeout: Duration::from_secs(240)..=Duration::from_secs(300),
            idle_margin: Duration::from_secs(5),
            short_watch: Duration::from_secs(30),
            internal_patience: Duration::from_secs(30),
            rewatch_patience: Duration::from_secs(300),
            backoff: Backoff::default(),
        }
    }
}

impl Default for Backoff {
    fn default() -> Self {
        Self {
            base: Duration::from_millis(800),
            young: Duration::from_secs(6),
            cap: Duration::from_secs(32),
            absent_cap: Duration::from_secs(60),
            retry_after_cap: Duration::from_secs(60),
            progress_cap: Duration::from_secs(5),
            healthy_after: Duration::from_secs(120),
        }
    }
}
