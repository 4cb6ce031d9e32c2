//! How long to wait before the next attempt. Pure: chance is drawn from a seed, time is the
//! caller's.

// - RFX-9, as changed by ADR 11: a delay lies in `[d/2, d)`, `d = min(base * 2^n, cap)`, or is
//   what the server asked for if that is longer. While a failure is young, n is at most 1 (R4).
// - An answer that is clear, and says what to do, does not lengthen the delays: [`Delays::soon`].
// - RFX-8: only [`Delays::start_over`] shortens the delays again, and the machine calls it for
//   nothing but a watch that lived. Tested in `tests/random.rs` and below.

use std::time::Duration;

use crate::{Backoff, Failure, FailureKind, chance::Chance};

/// Whatever is configured, no loop is hotter than this.
const SHORTEST: Duration = Duration::from_millis(2);

/// The largest exponent while a failure is young. Not 0: a thousand that ask each second twice are
/// more than the server may see at once.
// R3
const YOUNG: u32 = 1;

/// The state of the back-off: how far it has grown, and how often in a row something failed.
#[derive(Clone, Debug)]
pub(crate) struct Delays {
    config: Backoff,
    /// The exponent of the next delay.
    step: u32,
    /// Failed attempts since the delays last started over, immediate retries included.
    pub(crate) attempts: u32,
    /// When the first of them failed.
    since: Option<Duration>,
}

impl Delays {
    pub(crate) fn new(config: Backoff) -> Self {
        Self {
            config,
            step: 0,
            attempts: 0,
            since: None,
        }
    }

    /// Counts a failed attempt that is answered at once, by a different request.
    pub(crate) fn count(&mut self, now: Duration) {
        self.attempts = self.attempts.saturating_add(1);
        self.since.get_or_insert(now);
    }

    /// Counts an attempt that failed now and draws the delay that answers it.
    ///
    /// `progress` says that the attempt brought something before it failed.
    pub(crate) fn draw(
        &mut self,
        now: Duration,
        failure: &Failure,
        progress: bool,
        chance: &mut Chance,
    ) -> Duration {
        self.count(now);
        let age = now.saturating_sub(self.since.unwrap_or(now));
        if age <= self.config.young {
            self.step = self.step.min(YOUNG);
        }
        let cap = match failure.kind {
            FailureKind::Forbidden | FailureKind::NotFound => self.config.absent_cap,
            _ => self.config.cap,
        };
        let mut delay = self.nth(self.step, cap, chance);
        self.step = self.step.saturating_add(1);
        if progress && may_hurry(failure.kind) {
            delay = delay.min(self.config.progress_cap.max(SHORTEST));
        }
        self.as_asked(delay, failure)
    }

    /// Counts a failed attempt and draws the shortest delay; those that follow do not grow by it.
    pub(crate) fn soon(
        &mut self,
        now: Duration,
        failure: &Failure,
        chance: &mut Chance,
    ) -> Duration {
        self.count(now);
        let delay = self.nth(0, self.config.cap, chance);
        self.as_asked(delay, failure)
    }

    /// The next delay is the first again.
    pub(crate) fn start_over(&mut self) {
        *self = Self::new(self.config.clone());
    }

    fn nth(&self, step: u32, cap: Duration, chance: &mut Chance) -> Duration {
        let grown = 2_u32.checked_pow(step).unwrap_or(u32::MAX);
        let longest = self.config.base.saturating_mul(grown);
        let longest = longest.min(cap).max(SHORTEST);
        chance.between(longest / 2, longest)
    }

    /// The server may lengthen a delay, up to a bound.
    fn as_asked(&self, delay: Duration, failure: &Failure) -> Duration {
        let asked = failure.retry_after.unwrap_or_default();
        delay.max(asked.min(self.config.retry_after_cap))
    }
}

/// A server that says it is overloaded gets the whole delay, whatever it delivered before.
// FM-12
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

    fn failure(kind: FailureKind, retry_after: Option<Duration>) -> Failure {
        Failure::new(kind, "Drawn", "").with_retry_after(retry_after)
    }

    /// Delays, each after the one before, and when they began.
    fn timed(failure: &Failure, progress: bool, seed: u64) -> Vec<(Duration, Duration)> {
        let (mut delays, mut chance) = (Delays::new(Backoff::default()), Chance::seeded(seed));
        let mut now = 1000 * SECOND;
        let draw = |_| {
            let (began, delay) = (now, delays.draw(now, failure, progress, &mut chance));
            now += delay;
            (began - 1000 * SECOND, delay)
        };
        (0..60).map(draw).collect()
    }

    fn draws(kind: FailureKind, retry_after: Option<Duration>, progress: bool) -> Vec<Duration> {
        let timed = timed(&failure(kind, retry_after), progress, 3);
        timed.into_iter().map(|(_, delay)| delay).collect()
    }

    #[test]
    fn no_delay_is_shorter_than_the_shortest_whatever_is_configured() {
        let zero = Duration::ZERO;
        let config = Backoff {
            base: zero,
            cap: zero,
            absent_cap: zero,
            progress_cap: zero,
            ..Backoff::default()
        };
        let (mut delays, mut chance) = (Delays::new(config), Chance::seeded(3));
        let failure = failure(FailureKind::Connect, None);
        for progress in [false, true] {
            let delay = delays.draw(SECOND, &failure, progress, &mut chance);
            assert!(delay >= SHORTEST / 2, "{delay:?}");
        }
    }

    fn lies_below(delay: Duration, longest: Duration) -> bool {
        delay >= longest / 2 && delay < longest
    }

    /// R4: whatever chance says, nobody who failed for the first time up to 5 s ago, and a second
    /// for the attempt itself, waits for longer than 1.6 s; and a thousand of them ask less than
    /// 1,200 times a second (R3).
    #[test]
    fn delays_do_not_grow_while_a_failure_is_young() {
        let base = Backoff::default().base;
        for seed in 0..1000 {
            let drawn = timed(&failure(FailureKind::Connect, None), false, seed);
            let young = drawn.iter().take_while(|(began, _)| *began <= 6 * SECOND);
            for (n, (began, delay)) in young.enumerate() {
                let longest = base * if n == 0 { 1 } else { 2 };
                assert!(lies_below(*delay, longest), "{began:?}: {delay:?}");
            }
        }
    }

    /// RFX-9; scenario of `TestReflectorListAndWatchInitConnBackoff`.
    #[test]
    fn later_delays_double_within_half_open_halves_and_then_stay() {
        for seed in 0..100 {
            let drawn = timed(&failure(FailureKind::Connect, None), false, seed);
            let old = drawn.iter().filter(|(began, _)| *began > 6 * SECOND);
            for (n, (_, delay)) in old.enumerate() {
                let doubled = 3.2 * 2_f64.powi(i32::try_from(n).expect("small"));
                let longest = Duration::from_secs_f64(doubled.min(32.0));
                assert!(lies_below(*delay, longest), "{n}: {delay:?}");
            }
        }
    }

    /// An answer that says what to do is followed by the shortest delay, and nothing grows by it;
    /// what the server asks for counts (FM-12).
    #[test]
    fn soon_is_the_first_delay_however_many_there_were() {
        let (mut delays, mut chance) = (Delays::new(Backoff::default()), Chance::seeded(3));
        let base = Backoff::default().base;
        for n in 0..20 {
            let now = n * 60 * SECOND;
            let step = delays.step;
            let plain = failure(FailureKind::Expired, None);
            assert!(lies_below(delays.soon(now, &plain, &mut chance), base));
            assert_eq!(delays.step, step);
            let asked = failure(FailureKind::Expired, Some(9 * SECOND));
            assert_eq!(delays.soon(now, &asked, &mut chance), 9 * SECOND);
            delays.draw(now, &plain, false, &mut chance);
        }
        assert_eq!(delays.attempts, 60);
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
        let other = failure(FailureKind::Other, None);
        let delay = delays.draw(SECOND, &other, false, &mut chance);
        assert!(delay >= Duration::from_millis(1));
    }

    /// RFX-8: a watch that lived starts the delays over.
    #[test]
    fn starting_over_forgets_everything() {
        let (mut delays, mut chance) = (Delays::new(Backoff::default()), Chance::seeded(3));
        let other = failure(FailureKind::Other, None);
        for n in 0..9 {
            delays.draw(60 * n * SECOND, &other, false, &mut chance);
        }
        assert_eq!(delays.attempts, 9);
        delays.start_over();
        for longest in [800, 1600, 1600, 1600] {
            let delay = delays.draw(1000 * SECOND, &other, false, &mut chance);
            assert!(lies_below(delay, Duration::from_millis(longest)));
        }
        assert_eq!(delays.attempts, 4);
    }
}
