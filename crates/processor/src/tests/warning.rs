//! The warning of a backlog: at its depth, at each doubling, and again after it has gone.

use std::num::NonZeroUsize;

use crate::backlog::Warning;

#[test]
fn warns_at_the_depth_and_at_each_doubling() {
    let mut warning = Warning::new(NonZeroUsize::new(10).expect("ten"));
    let heard: Vec<_> = (0..100)
        .filter_map(|depth| warning.observe(depth))
        .collect();
    assert_eq!(heard, [10, 20, 40, 80]);
    // Swaying around a depth that was warned of is no news.
    assert_eq!(warning.observe(9), None);
    assert_eq!(warning.observe(85), None);
    // Gone, and here again.
    assert_eq!(warning.observe(5), None);
    assert_eq!(warning.observe(35), Some(35));
    assert_eq!(warning.observe(39), None);
    assert_eq!(warning.observe(40), Some(40));
}

#[test]
fn the_largest_depth_ends() {
    let mut warning = Warning::new(NonZeroUsize::MAX);
    assert_eq!(warning.observe(usize::MAX - 1), None);
    assert_eq!(warning.observe(usize::MAX), Some(usize::MAX));
}
