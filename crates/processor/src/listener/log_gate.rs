//! Lets one log line through per interval and counts the others. Pure: the time is an argument.

use std::time::{Duration, Instant};

/// One line a second is enough to see that a handler panics, and not enough to fill a disk.
const INTERVAL: Duration = Duration::from_secs(1);

/// See the top of this file.
#[derive(Debug, Default)]
pub(crate) struct LogGate {
    next: Option<Instant>,
    suppressed: u64,
}

impl LogGate {
    /// The number of lines left out since the last one, if a line may be written now.
    pub(crate) fn admit(&mut self, now: Instant) -> Option<u64> {
        if self.next.is_some_and(|next| now < next) {
            self.suppressed += 1;
            return None;
        }
        self.next = now.checked_add(INTERVAL);
        Some(std::mem::take(&mut self.suppressed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_per_interval_and_the_rest_is_counted() {
        let mut gate = LogGate::default();
        let start = crate::sync::now();
        assert_eq!(gate.admit(start), Some(0));
        assert_eq!(gate.admit(start), None);
        assert_eq!(gate.admit(start + INTERVAL / 2), None);
        assert_eq!(gate.admit(start + INTERVAL), Some(2));
        assert_eq!(gate.admit(start + 3 * INTERVAL), Some(0));
    }
}
