//! News of one commit, shared by all listeners as a whole.
//!
//! A listener that keeps up takes one reference to a batch and not one to each notification: with
//! a hundred listeners on several cores, the counts are what costs.

use std::sync::Arc;

use crate::notification::Notification;

/// The longest batch. What a slow handler has passed is kept until the rest of its batch is done.
const LONGEST: usize = 64;

/// Some news of one commit, in order; never empty.
pub(crate) struct Batch<K, T> {
    pub(crate) news: Arc<[Arc<Notification<K, T>>]>,
    /// How many of them are initial.
    pub(crate) initial: u64,
}

impl<K, T> Batch<K, T> {
    /// All news of a commit, in pieces.
    pub(crate) fn split(news: &[Arc<Notification<K, T>>]) -> Vec<Self> {
        news.chunks(LONGEST)
            .map(|news| Self {
                news: Arc::from(news),
                initial: news.iter().filter(|news| news.is_initial()).count() as u64,
            })
            .collect()
    }
}

impl<K, T> Clone for Batch<K, T> {
    fn clone(&self) -> Self {
        Self {
            news: Arc::clone(&self.news),
            initial: self.initial,
        }
    }
}
