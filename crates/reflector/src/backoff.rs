//! How long to wait before the next attempt. Pure: chance is drawn from a seed, time is the
//! caller's.
//!
//! - RFX-9: the n-th delay lies in `[d/2, d)`, `d = min(base * 2^n, cap)`, or is what the server
//!   asked for if that is longer.
//! - RFX-8: only [`Delays::start_over`] shortens the delays again, and the machine calls it for
//!   nothing but a watch that lived. Tested in `proof/random.rs` and below.

use std::time::Duration;

use crate::{Backoff, FailureKind, chance::Chance};

/// Whatever is configured, no loop is hotter than this.
const SHORTEST: Duration = Duration::from_millis(2);

/// The state of the back-off: how far it has grown, and how often in a row something failed.
#[derive(Clone, Debug)]
pub(crate) struct Delays {
    config: Backoff,
    /// How many delays have been drawn; the exponent.
    step: u32,
    /// Failed attempts, those answered at once included.
    attempts: u32,
}

impl Delays {
    pub(crate) fn new(config: Backoff) -> Self {
        Self {
            config,
            step: 0,
            attempts: 0,
        }
    }

    /// Failed attempts since the delays last started over.
    pub(crate) fn attempts(&self) -> u32 {
        self.attempts
    }

    /// Counts a failed attempt that is answered at once, by a different request.
    pub(crate) fn count(&mut self) {
        self.attempts = self.attempts.saturating_add(1);
    }

    /// Counts a failed attempt and draws the delay that answers it.
    ///
    /// `progress` says that the attempt brought something before it failed.
    pub(crate) fn draw(
        &mut self,
        kind: FailureKind,
        retry_after: Option<Duration>,
        progress: bool,
        chance: &mut Chance,
    ) -> Duration {
        self.count();
        let cap = match kind {
            FailureKind::Forbidden | FailureKind::NotFound => self.config.absent_cap,
            _ => self.config.cap,
        };
        let grown = 2_u32.checked_pow(self.step).unwrap_or(u32::MAX);
        let longest = self
            .config
            .base
            .saturating_mul(grown)
            .min(cap)
            .max(SHORTEST);
        self.step = self.step.saturating_add(1);
        let mut delay = chance.between(longest / 2, longest);
        if progress && may_hurry(kind) {
            delay = delay.min(self.config.progress_cap);
        }
        let asked = retry_after.unwrap_or_default();
        delay.max(asked.min(self.config.retry_after_cap))
    }

    /// The next delay is the first again.
    pub(crate) fn start_over(&mut self) {
        self.step = 0;
        self.attempts = 0;
    }
}

/// A server that says it is overloaded gets the whole delay, whatever it delivered before (FM-12).
fn may_hurry(kind: FailureKind) -> bool {
    !matches!(
        kind,
        FailureKind::Throttled | FailureKind::Unavailable | FailureKind::Connect
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn draws(kind: FailureKind, retry_after: Option<Duration>, progress: bool) -> Vec<Duration> {
        let (mut delays, mut chance) = (Delays::new(Backoff::default()), Chance::seeded(3));
        let mut draw = |_| delays.draw(kind, retry_after, progress, &mut chance);
        (0..60).map(&mut draw).collect()
    }

    /// RFX-9, design 6.20; scenario of `TestReflectorListAndWatchInitConnBackoff`.
    #[test]
    fn delays_double_within_half_open_halves_and_then_stay() {
        for (n, delay) in draws(FailureKind::Connect, None, false)
            .into_iter()
            .enumerate()
        {
            let doubled = 0.8 * 2_f64.powi(i32::try_from(n).expect("small"));
            let longest = Duration::from_secs_f64(doubled.min(30.0));
            assert!(delay >= longest / 2 && delay < longest, "{n}: {delay:?}");
        }
    }

    /// FM-12, SEC-27: the server may lengthen a delay, never shorten it, and not beyond a minute.
    #[test]
    fn retry_after_only_lengthens_and_is_capped() {
        let plain = draws(FailureKind::Throttled, None, true);
        let asked = draws(FailureKind::Throttled, Some(SECOND), true);
        for (plain, asked) in plain.iter().zip(&asked) {
            assert_eq!(*asked, (*plain).max(SECOND));
        }
        let huge = draws(FailureKind::Throttled, Some(Duration::MAX), false);
        assert!(huge.iter().all(|&delay| delay == 60 * SECOND));
    }

    /// R2, FM-76, FM-77: progress caps the delay at 5 s, absence lets it grow to 60 s.
    #[test]
    fn progress_and_absence_have_caps_of_their_own() {
        let progress = draws(FailureKind::ShortWatch, None, true);
        assert!(progress.iter().all(|&delay| delay <= 5 * SECOND));
        let absent = draws(FailureKind::NotFound, None, false);
        assert!(absent.iter().all(|&delay| delay < 60 * SECOND));
        assert!(absent.iter().any(|&delay| delay > 45 * SECOND));
    }

    /// A back-off configured away is still one.
    #[test]
    fn no_configuration_makes_a_hot_loop() {
        let nothing = Backoff {
            base: Duration::ZERO,
            cap: Duration::ZERO,
            ..Backoff::default()
        };
        let (mut delays, mut chance) = (Delays::new(nothing), Chance::seeded(3));
        let delay = delays.draw(FailureKind::Other, None, false, &mut chance);
        assert!(delay >= Duration::from_millis(1));
    }

    /// RFX-8: a watch that lived starts the delays over.
    #[test]
    fn starting_over_forgets_everything() {
        let (mut delays, mut chance) = (Delays::new(Backoff::default()), Chance::seeded(3));
        for _ in 0..9 {
            delays.draw(FailureKind::Other, None, false, &mut chance);
        }
        assert_eq!(delays.attempts(), 9);
        delays.start_over();
        let first = delays.draw(FailureKind::Other, None, false, &mut chance);
        assert!(first < Duration::from_millis(800));
        assert_eq!(delays.attempts(), 1);
    }
}
