//! What follows a watch that failed.

// - FM-30, FM-31: something that is not the protocol is watched again from the last good version
//   once, then listed.
// - FM-21: the first early close is followed by a new watch immediately.
// - FM-22, FM-34: a watch that fails in other ways is tried again for a while, then listed.

use std::time::Duration;

use super::{
    context::Context,
    next::{Attempt, Next, Pace, Pass},
    retry::WatchFailures,
};
use crate::{Config, Failure, FailureKind, Recovery, RelistCause};

impl<T> Context<T> {
    /// Chooses the attempt after a failed watch. `progress` is true if the watch has moved the
    /// resume version.
    pub(super) fn watch_failed(&mut self, progress: bool, failure: Failure) -> Next<T> {
        planted!(ForbiddenIsFatal => if failure.kind == FailureKind::Forbidden {
            return Next::Stop;
        });
        let attempt = self.remedy(failure.kind);
        let pace = match attempt {
            Attempt::Watch if failure.kind == FailureKind::ShortWatch => {
                let reopen = &mut self.retry.quick.reopen;
                Pace::immediate_once(reopen, Pace::Delayed { progress })
            }
            Attempt::Watch => Pace::Delayed { progress },
            // A list after each event would be a list every five seconds.
            Attempt::Populate(_) | Attempt::List(..) => Pace::DELAYED,
        };
        self.failed(failure, attempt, pace)
    }

    /// Ends the series of failures if a watch lived for long enough.
    // RFX-8
    pub(super) fn note_health(&mut self, lived: Duration) {
        if lived >= self.config.backoff.healthy_after {
            self.recovered();
        }
    }

    fn remedy(&mut self, kind: FailureKind) -> Attempt {
        let failures = &mut self.retry.watch_failures;
        let exhausted = patience_is_exhausted(kind, failures, self.now, &self.config);
        let broken = Attempt::Populate(Pass::new(RelistCause::WatchBroken));
        match kind.recovery() {
            Recovery::Rewatch if exhausted => broken,
            Recovery::Rewatch => Attempt::Watch,
            Recovery::Relist if kind == FailureKind::Protocol && !failures.protocol => {
                failures.protocol = true;
                Attempt::Watch
            }
            Recovery::Relist if kind == FailureKind::Expired => {
                Attempt::Populate(Pass::new(RelistCause::Expired))
            }
            Recovery::Relist => broken,
            Recovery::RelistConsistent => {
                self.retry.version_refused = true;
                Attempt::Populate(Pass::new(RelistCause::TooLarge))
            }
        }
    }
}

/// Whether watching again has been tried for long enough.
///
/// A server that does not answer or is overloaded says nothing about the version, and would not
/// answer a list either. Such failures start no period of patience.
// FM-12, FM-22
fn patience_is_exhausted(
    kind: FailureKind,
    failures: &mut WatchFailures,
    now: Duration,
    config: &Config,
) -> bool {
    let (since, patience) = match kind {
        FailureKind::Throttled | FailureKind::Connect | FailureKind::Unauthorized => return false,
        FailureKind::Internal => (&mut failures.internal_since, config.internal_patience),
        _ => (&mut failures.broken_since, config.rewatch_patience),
    };
    now.saturating_sub(*since.get_or_insert(now)) > patience
}
