//! News of one commit, shared by all listeners as a whole.
//!
//! A listener that keeps up takes one reference to a batch and not one to each notification: with
//! a hundred listeners on several cores, the counts are what costs.

use std::sync::Arc;

use derive_where::derive_where;

use crate::notification::Notification;

/// The longest batch. What a slow handler has passed is kept until the rest of its batch is done.
const LONGEST: usize = 64;

/// One notification or several that belong together.
#[derive_where(Clone)]
pub(crate) enum News<K, T> {
    /// Alone, so that it needs no array around it.
    One(Arc<Notification<K, T>>),
    /// Never empty.
    Several(Arc<[Arc<Notification<K, T>>]>),
}

impl<K, T> News<K, T> {
    pub(crate) fn as_slice(&self) -> &[Arc<Notification<K, T>>] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Several(several) => several,
        }
    }
}

/// Some news of one commit, in order.
pub(crate) struct Batch<K, T> {
    pub(crate) news: News<K, T>,
    /// How many of them are initial.
    pub(crate) initial: u64,
}

impl<K, T> Batch<K, T> {
    /// All news of a commit, in pieces.
    pub(crate) fn split(news: &[Arc<Notification<K, T>>]) -> Split<K, T> {
        match news.len() {
            1..=LONGEST => Split::Whole([Self::of(news)]),
            _ => Split::Pieces(news.chunks(LONGEST).map(Self::of).collect()),
        }
    }

    fn of(news: &[Arc<Notification<K, T>>]) -> Self {
        Self {
            initial: news.iter().map(|news| u64::from(news.is_initial())).sum(),
            news: match news {
                [one] => News::One(Arc::clone(one)),
                several => News::Several(Arc::from(several)),
            },
        }
    }
}

/// The batches of one commit. Most commits are short, and one batch needs no list around it.
pub(crate) enum Split<K, T> {
    Whole([Batch<K, T>; 1]),
    Pieces(Vec<Batch<K, T>>),
}

impl<K, T> Split<K, T> {
    pub(crate) fn as_slice(&self) -> &[Batch<K, T>] {
        match self {
            Self::Whole(whole) => whole,
            Self::Pieces(pieces) => pieces,
        }
    }
}
