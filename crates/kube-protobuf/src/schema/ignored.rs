//! The fields of a message that a visitor ignores, as they were found by decoding.
//!
//! A visitor receives each field, and ignores most of them if its struct has a few. Each message
//! has a short list of visitors with the fields that each of them ignored, so that a field is
//! skipped from the second object on. The list is shared by all threads.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Entry, Message};

/// A message remembers this many visitors. All fields are handed to others.
pub(crate) const MOST_VISITORS: usize = 16;

/// The bit of `apiVersion` and `kind`, if they are supplied. No field has the number 0.
pub(crate) const NAMES: u64 = 1;

/// A visitor and the fields that it states.
#[derive(Clone, Copy)]
pub(crate) struct VisitorId {
    /// The address of the function that visits. Different functions have different addresses,
    /// unless they consist of the same instructions; then they do the same.
    pub(crate) code: usize,
    /// The names of the fields of the struct.
    pub(crate) fields: &'static [&'static str],
}

/// The fields of one message that one visitor ignores.
pub(crate) struct Ignored {
    visitor: VisitorId,
    /// A bit for the number of each field that the visitor does not state.
    unlisted: u64,
    /// A bit for the number of each unlisted field that the visitor ignored.
    fields: AtomicU64,
    next: Next,
}

/// The next visitor of a message.
pub(super) type Next = OnceLock<Box<Ignored>>;

impl Entry {
    /// Returns what a visitor ignores of this message. `None` if it can ignore nothing, or if the
    /// message has too many visitors.
    ///
    /// `learns` returns whether the visitor always ignores a field that it ignored once. It is
    /// called for a new visitor.
    #[inline]
    pub(crate) fn ignored_by(
        &'static self,
        visitor: VisitorId,
        learns: fn() -> bool,
    ) -> Option<&'static Ignored> {
        let mut place = &self.ignored;
        for _ in 0..MOST_VISITORS {
            let found = match place.get() {
                Some(found) => found,
                // Another thread may add another visitor.
                None => place.get_or_init(|| Ignored::new(visitor, self.message(), learns())),
            };
            if found.visitor == visitor {
                return (found.unlisted != 0).then_some(found);
            }
            place = &found.next;
        }
        None
    }
}

#[cfg(test)]
impl Entry {
    /// Returns the fields that each of the visitors ignores.
    pub(crate) fn ignored(&self) -> Vec<u64> {
        let first = self.ignored.get();
        let visitors = std::iter::successors(first, |ignored| ignored.next.get());
        visitors.map(|ignored| ignored.fields()).collect()
    }
}

impl Ignored {
    #[cold]
    fn new(visitor: VisitorId, message: &Message, learns: bool) -> Box<Self> {
        let is_unlisted = |name: &str| !visitor.fields.contains(&name);
        let mut unlisted = 0;
        if learns {
            for field in message.fields().filter(|field| is_unlisted(field.name)) {
                unlisted |= 1 << field.number;
            }
            if is_unlisted("apiVersion") && is_unlisted("kind") {
                unlisted |= NAMES;
            }
        }
        Box::new(Self {
            visitor,
            unlisted,
            fields: AtomicU64::new(0),
            next: OnceLock::new(),
        })
    }

    /// Returns a bit for the number of each field that the visitor ignores.
    #[inline]
    pub(crate) fn fields(&self) -> u64 {
        self.fields.load(Ordering::Relaxed)
    }

    /// Remembers fields that the visitor ignored. Fields that it states are never remembered.
    #[cold]
    pub(crate) fn add(&self, fields: u64) {
        let unlisted = fields & self.unlisted;
        // No other thread waits for the cache line if there is nothing new.
        if unlisted & !self.fields() != 0 {
            self.fields.fetch_or(unlisted, Ordering::Relaxed);
        }
    }
}

impl PartialEq for VisitorId {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.code == other.code && std::ptr::eq(self.fields, other.fields)
    }
}
