//! What the machine remembers of failures beyond a phase.

use std::{mem, time::Duration};

use crate::FailureKind;

/// The consequences of failures that outlive the phase in which they happened.
#[derive(Default)]
pub(super) struct RetryState {
    /// The server refused the resume version. Lists are consistent until one succeeds.
    // RL-12
    pub(super) version_refused: bool,
    /// A list of any state came in pages: the server has no watch cache, so lists are paged.
    // RL-18
    pub(super) paginated: bool,
    /// The page size that was small enough.
    // SEC-17
    pub(super) page_limit: Option<u32>,
    /// Streaming lists that failed since the last success or the last pause.
    pub(super) failed_streams: u32,
    /// No streaming list is requested before this time.
    // RFX-12
    pub(super) streaming_paused_until: Duration,
    pub(super) quick: QuickRetries,
    /// How watches have failed since the last progress.
    pub(super) watch_failures: WatchFailures,
    /// A consistent list has confirmed where the server's history ends. Holds for one watch.
    pub(super) confirmed: bool,
    pub(super) incomparable_reported: bool,
}

/// The retries without a delay, or with the shortest, that were used since the last healthy watch.
///
/// Each is used once. A second failure of the same kind is not a coincidence and gets a full delay.
// R1, FM-03, FM-04
#[derive(Default)]
pub(super) struct QuickRetries {
    /// Watching again after an early close.
    // FM-21
    pub(super) reopen: bool,
    /// Listing consistently after a version was refused.
    // RL-19
    pub(super) consistent: bool,
    /// Listing unpaged after a continue token was refused.
    // PG-04
    pub(super) unpaged: bool,
    /// Listing soon after the history was lost.
    // R4
    history: bool,
    /// Retrying soon after credentials were refused: the source reads them again.
    // R7
    credentials: bool,
}

impl QuickRetries {
    /// Uses the short delay for a failure of this kind. False if the kind has none left.
    ///
    /// Only failures that say what to do have one. Delays have spread the clients that come out of
    /// an outage already, so a short delay then causes no burst of requests.
    pub(super) fn use_short_delay(&mut self, kind: FailureKind) -> bool {
        let used = match kind {
            FailureKind::Expired | FailureKind::TooLarge => &mut self.history,
            FailureKind::Unauthorized => &mut self.credentials,
            _ => return false,
        };
        !mem::replace(used, true)
    }
}

/// How watches fail, and since when.
#[derive(Default)]
pub(super) struct WatchFailures {
    /// Since when watches are answered 500.
    pub(super) internal_since: Option<Duration>,
    /// Since when watches break in other ways that the version may cause.
    pub(super) broken_since: Option<Duration>,
    /// A watch has sent something that is not the protocol.
    // FM-30
    pub(super) protocol: bool,
}
