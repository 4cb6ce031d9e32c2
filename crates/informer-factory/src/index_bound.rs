//! How many values one object may give one index (SEC-24).
//!
//! Whoever writes an object may choose what an index finds in it. One that gives more values than
//! the bound is treated like one on which the index function panics: its key is quarantined, its
//! last good version stays, and everything else goes on.

use std::num::NonZeroUsize;
use std::panic::resume_unwind;

/// The values, and a panic after `most` of them.
pub(crate) fn bounded<I: IntoIterator>(
    values: I,
    most: NonZeroUsize,
) -> impl Iterator<Item = I::Item> {
    let mut left = most.get();
    values.into_iter().inspect(move |_| {
        if left == 0 {
            // Not by `panic!`, whose hook would write to standard error whenever such an object
            // comes.
            resume_unwind(Box::new(format!(
                "an object gives an index over {most} values"
            )));
        }
        left -= 1;
    })
}
