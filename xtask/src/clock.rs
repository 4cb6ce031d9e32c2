//! The one place of xtask that reads the clock or lets time pass.
//!
//! The libraries of this project take time as an argument, and `clippy.toml` holds them to it. A
//! program that starts other programs has to wait for them, so the exceptions are here, together.

use std::time::{Duration, Instant};

/// How often a loop looks again at something that cannot wake it.
pub(crate) const POLL_PERIOD: Duration = Duration::from_millis(50);

/// The current instant.
#[expect(
    clippy::disallowed_methods,
    reason = "xtask measures how long real programs take"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Lets one [`POLL_PERIOD`] pass.
#[expect(
    clippy::disallowed_methods,
    reason = "a child process gives no event to wait for"
)]
pub(crate) fn pause() {
    std::thread::sleep(POLL_PERIOD);
}

/// The time since `start`, in seconds with one digit, for people to read.
pub(crate) fn seconds_since(start: Instant) -> String {
    format!("{:.1} s", now().duration_since(start).as_secs_f64())
}
