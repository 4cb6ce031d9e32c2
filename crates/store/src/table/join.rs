//! Two lists in key order, side by side.

use std::cmp::Ordering;

/// Pairs the items of two sorted lists; an item without a counterpart is alone in its pair.
pub(crate) fn joined<L, R>(
    left: impl IntoIterator<Item = L>,
    right: impl IntoIterator<Item = R>,
    compare: impl Fn(&L, &R) -> Ordering,
) -> impl Iterator<Item = (Option<L>, Option<R>)> {
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    std::iter::from_fn(move || {
        let order = match (left.peek(), right.peek()) {
            (Some(one), Some(other)) => compare(one, other),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return None,
        };
        let one = order.is_le().then(|| left.next()).flatten();
        Some((one, order.is_ge().then(|| right.next()).flatten()))
    })
}
