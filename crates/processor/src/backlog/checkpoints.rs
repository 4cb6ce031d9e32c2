//! Checkpoints: the positions of a backlog that callers wait for.
//!
//! A checkpoint stands behind everything that was pending when it was set. The consumer passes it
//! when it has handled all of that and takes again. Checkpoints have no wakers: the listener
//! publishes the number of those that were passed.

// - PR-15: a checkpoint is passed after everything before it was handled. `tests/checkpoints`

use std::collections::VecDeque;

/// A position of a backlog, and the number of replays that were queued before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Checkpoint {
    position: u64,
    replays: u64,
}

/// The checkpoints of one backlog, in order. See the module.
#[derive(Debug, Default)]
pub(crate) struct Checkpoints {
    pending: VecDeque<Checkpoint>,
    /// The number of checkpoints that were ever passed.
    pub(crate) passed: u64,
}

impl Checkpoints {
    /// Sets a checkpoint and returns its number: `passed` has reached it when the checkpoint has
    /// been passed. Two at the same place are one.
    pub(crate) fn set(&mut self, position: u64, replays: u64) -> u64 {
        let checkpoint = Checkpoint { position, replays };
        if self.pending.back() != Some(&checkpoint) {
            self.pending.push_back(checkpoint);
        }
        self.last()
    }

    /// The number of the checkpoint that was set last.
    pub(crate) fn last(&self) -> u64 {
        self.passed + self.pending.len() as u64
    }

    /// The position of the next checkpoint.
    pub(crate) fn next(&self) -> Option<u64> {
        self.pending.front().map(|next| next.position)
    }

    /// Passes the checkpoints up to `position` that stand behind at most `replays` replays.
    pub(crate) fn pass(&mut self, position: u64, replays: u64) {
        let is_passed = |next: &Checkpoint| next.position <= position && next.replays <= replays;
        while self.pending.front().is_some_and(is_passed) {
            self.pending.pop_front();
            self.passed += 1;
        }
    }

    /// Moves each checkpoint, in order, to its place among renumbered positions.
    pub(crate) fn renumber(&mut self, mut moved: impl FnMut(u64) -> u64) {
        for checkpoint in &mut self.pending {
            checkpoint.position = moved(checkpoint.position);
        }
    }
}
