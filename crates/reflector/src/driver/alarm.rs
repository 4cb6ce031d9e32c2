//! One timer for the life of a reflector.
//!
//! The machine's deadline is the same for thousands of events. The timer is therefore set when the
//! deadline changes and not at each event: a new timer would take the lock of tokio's wheel.

use std::{future::pending, pin::Pin, time::Duration};

use tokio::time::{Instant, Sleep, sleep_until};

/// Rings at the machine's deadline.
pub(crate) struct Alarm {
    origin: Instant,
    sleep: Pin<Box<Sleep>>,
}

impl Alarm {
    /// Creates an alarm whose deadlines count from now.
    pub(crate) fn new() -> Self {
        let origin = Instant::now();
        Self {
            origin,
            sleep: Box::pin(sleep_until(origin)),
        }
    }

    /// Returns the time since the alarm was created.
    pub(crate) fn now(&self) -> Duration {
        self.origin.elapsed()
    }

    /// Waits until the deadline; for ever if there is none, or the clock cannot represent it.
    ///
    /// # Cancel safety
    ///
    /// Safe. The next call waits for its own deadline.
    pub(crate) async fn ring(&mut self, deadline: Option<Duration>) {
        match deadline.and_then(|deadline| self.origin.checked_add(deadline)) {
            None => pending().await,
            Some(due) => {
                if self.sleep.deadline() != due {
                    self.sleep.as_mut().reset(due);
                }
                self.sleep.as_mut().await;
            }
        }
    }
}
