//! Items of a list that are cut out of its body.

use bytes::Bytes;

/// Complete items, and the beginning of the next one.
///
/// An item that came in one piece of the body is a part of that piece, and is not copied.
#[derive(Debug, Default)]
pub(super) struct Items {
    complete: Vec<Bytes>,
    begun: Begun,
}

/// The item that is not complete yet.
#[derive(Debug)]
enum Begun {
    /// All of it is in one piece of the body.
    Part(Bytes),
    /// It is in several pieces.
    Joined(Vec<u8>),
}

impl Default for Begun {
    fn default() -> Self {
        Self::Part(Bytes::new())
    }
}

impl Items {
    /// Whether there is a complete item.
    pub(super) fn has_complete(&self) -> bool {
        !self.complete.is_empty()
    }

    /// The size of the item that is not complete yet.
    pub(super) fn begun_bytes(&self) -> usize {
        match &self.begun {
            Begun::Part(part) => part.len(),
            Begun::Joined(joined) => joined.len(),
        }
    }

    /// Adds bytes to the item that is not complete yet.
    pub(super) fn extend(&mut self, more: Bytes) {
        match &mut self.begun {
            Begun::Part(part) if part.is_empty() => *part = more,
            Begun::Part(part) => self.begun = Begun::Joined([&part[..], &more[..]].concat()),
            Begun::Joined(joined) => joined.extend_from_slice(&more),
        }
    }

    /// Completes an item.
    pub(super) fn end_item(&mut self) {
        self.complete.push(match std::mem::take(&mut self.begun) {
            Begun::Part(part) => part,
            Begun::Joined(joined) => Bytes::from(joined),
        });
    }

    /// Takes the complete items.
    pub(super) fn take(&mut self) -> Vec<Bytes> {
        std::mem::take(&mut self.complete)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_item_of_several_pieces_is_copied() {
        let pieces = [&b"one,tw"[..], b"o", b",three"].map(Bytes::from_static);
        let mut items = Items::default();
        items.extend(pieces[0].slice(..3));
        items.end_item();
        items.extend(pieces[0].slice(4..));
        items.extend(pieces[1].clone());
        assert!(items.has_complete() && items.begun_bytes() == 3);
        items.extend(Bytes::new());
        items.end_item();
        items.extend(pieces[2].slice(1..));
        assert_eq!(items.begun_bytes(), 5);

        let taken = items.take();
        assert_eq!(taken, [&b"one"[..], b"two"]);
        assert_eq!(taken[0].as_ptr(), pieces[0].as_ptr());
        assert!(!items.has_complete() && items.begun_bytes() == 5);
        items.end_item();
        assert_eq!(items.take()[0].as_ptr(), pieces[2][1..].as_ptr());
    }
}
