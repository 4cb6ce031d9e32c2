//! What has happened to the pods: which version each has, and which pod each version changed.
//!
//! Versions are dense, and version `v` changes the pod at a fixed stride from that of `v - 1`, so
//! that any `n` changes in a row of `n` pods touch each once, in an order that defeats caches.

use crate::pod::FIRST_VERSION;

/// A prime, so it visits every pod unless their number is a multiple of it.
const STRIDE: u64 = 7_919;

/// Versions so far.
#[derive(Clone, Debug)]
pub struct History {
    /// The newest version of each pod, as an offset from [`FIRST_VERSION`].
    versions: Vec<u64>,
    /// When each change was published, in microseconds as [`crate::measure::stamp`] has them.
    published: Vec<u64>,
    /// Watches from before this version are refused.
    compacted: u64,
}

impl History {
    /// Pods that were added one after the other.
    ///
    /// # Panics
    /// Without pods, or with a number of them that the stride divides.
    pub fn new(count: usize) -> Self {
        assert!(count > 0 && !(count as u64).is_multiple_of(STRIDE));
        Self {
            versions: (0..count as u64).collect(),
            published: Vec::new(),
            compacted: 0,
        }
    }

    /// The newest version.
    pub fn head(&self) -> u64 {
        self.first_change() + self.published.len() as u64 - 1
    }

    /// Changes as many pods, one after the other.
    pub fn change(&mut self, count: u64, now: u64) {
        for _ in 0..count {
            self.published.push(now);
            let version = self.head();
            let pod = self.pod_changed_by(version);
            self.versions[pod] = version - FIRST_VERSION;
        }
    }

    /// Forgets what has happened: whoever watches has to list again.
    pub fn compact(&mut self) {
        self.compacted = self.head();
    }

    /// Whether a watch may begin after this version.
    pub fn is_kept(&self, version: u64) -> bool {
        version >= self.compacted
    }

    /// Which pod a change is about.
    pub fn pod_changed_by(&self, version: u64) -> usize {
        let count = self.versions.len() as u64;
        ((version - self.first_change()) % count * STRIDE % count) as usize
    }

    /// The version and the stamp of a pod now.
    pub fn state_of(&self, pod: usize) -> (u64, u64) {
        let version = FIRST_VERSION + self.versions[pod];
        (version, self.stamp_of(version))
    }

    /// When a version was published; for pods that never changed, their version.
    pub fn stamp_of(&self, version: u64) -> u64 {
        match version.checked_sub(self.first_change()) {
            Some(change) => self.published[change as usize],
            None => version,
        }
    }

    fn first_change(&self) -> u64 {
        FIRST_VERSION + self.versions.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_changes_as_pods_touch_each_once() {
        let mut history = History::new(10);
        let before = history.head();
        assert_eq!(before, FIRST_VERSION + 9);
        history.change(10, 5);
        let mut pods: Vec<usize> = (before + 1..=history.head())
            .map(|version| history.pod_changed_by(version))
            .collect();
        assert_ne!(pods, (0..10).collect::<Vec<_>>(), "not in order");
        pods.sort_unstable();
        assert_eq!(pods, (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn a_pod_has_the_version_of_its_last_change() {
        let mut history = History::new(3);
        assert_eq!(history.state_of(1), (FIRST_VERSION + 1, FIRST_VERSION + 1));
        history.change(4, 77);
        let last = history.head();
        let pod = history.pod_changed_by(last);
        assert_eq!(pod, history.pod_changed_by(last - 3), "a second round");
        assert_eq!(history.state_of(pod), (last, 77));
    }

    #[test]
    fn after_a_compaction_only_the_newest_version_is_kept() {
        let mut history = History::new(3);
        history.change(2, 0);
        assert!(history.is_kept(history.head() - 2));
        history.compact();
        assert!(!history.is_kept(history.head() - 1));
        assert!(history.is_kept(history.head()));
    }
}
