//! A first-in first-out buffer that grows when it is full and gives memory back when it empties.
//!
//! Doubles when it is full and shrinks when less than half full, to four thirds of what it holds:
//! between a move of the contents and the second after it there are as many operations as a
//! constant share of what is moved, so that each operation costs amortised constant time. The
//! capacity is within its bound *at every moment*, not only after a burst; entries that are taken
//! together are one moment. Knows nothing of what it holds.
//!
//! - RB-1: what comes out is what went in, in the same order, once. `proof/ring.rs`
//! - RB-2: capacity <= max(`INITIAL`, 2 x len). `proof/ring.rs`
//! - Slots are cleared when read: the buffer keeps nothing alive (PL-03). `proof/ring.rs`

/// Room for as many entries as are taken at once; below it the buffer does not bother to shrink, so
/// that a busy listener needs no allocation. Not more, since a process may have thousands of idle
/// listeners (client-go takes 1024).
pub(crate) const INITIAL: usize = 64;

/// See the top of this file.
pub(crate) struct Ring<E> {
    slots: Vec<Option<E>>,
    head: usize,
    len: usize,
}

impl<E> Ring<E> {
    /// An empty buffer, which allocates with its first entry.
    pub(crate) fn new() -> Self {
        Self {
            slots: Vec::new(),
            head: 0,
            len: 0,
        }
    }

    #[cfg(any(test, fuzzing))]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// All entries, the oldest first.
    #[cfg(any(test, fuzzing))]
    pub(crate) fn iter(&self) -> impl Iterator<Item = &E> {
        let (wrapped, first) = self.slots.split_at(self.head);
        first.iter().chain(wrapped).flatten()
    }

    #[cfg(any(test, fuzzing))]
    pub(crate) fn capacity(&self) -> usize {
        self.slots.len()
    }

    /// How many slots still hold something.
    #[cfg(any(test, fuzzing))]
    pub(crate) fn occupied(&self) -> usize {
        self.slots.iter().flatten().count()
    }

    /// The oldest entry.
    pub(crate) fn front(&self) -> Option<&E> {
        self.slots.get(self.head)?.as_ref()
    }

    /// Adds an entry behind all others.
    #[inline]
    pub(crate) fn push(&mut self, entry: E) {
        if self.len == self.slots.len() {
            self.move_to((2 * self.len).max(INITIAL));
        }
        let capacity = self.slots.len();
        assert!(self.len < capacity, "RB-2: a full ring has grown");
        let mut at = self.head + self.len;
        if at >= capacity {
            at -= capacity;
        }
        let slot = &mut self.slots[at];
        assert!(
            slot.is_none(),
            "RB-1: a slot is written only when it is free"
        );
        *slot = Some(entry);
        self.len += 1;
    }

    /// Drops the oldest entry. By `take`, since to assign `None` copies a whole slot from the
    /// stack, and that took a fifth of the time of a handler's call.
    #[inline]
    pub(crate) fn discard(&mut self) {
        if self.len > 0 {
            drop(self.slots[self.head].take());
            self.advance();
            self.shrink();
        }
    }

    /// Takes the oldest entry.
    #[cfg(any(test, fuzzing))]
    pub(crate) fn pop(&mut self) -> Option<E> {
        let mut popped = None;
        self.pop_each(|entry| {
            popped = Some(entry);
            false
        });
        popped
    }

    /// Takes the oldest entries, until `each` says that it wants no more. Memory is given back once
    /// for all of them.
    #[inline]
    pub(crate) fn pop_each(&mut self, mut each: impl FnMut(E) -> bool) {
        let mut wanted = true;
        while wanted && self.len > 0 {
            let entry = self.slots[self.head]
                .take()
                .expect("RB-1: the head of a ring that is not empty holds an entry");
            self.advance();
            wanted = each(entry);
        }
        self.shrink();
    }

    /// The slot of the oldest entry has been cleared.
    fn advance(&mut self) {
        self.head += 1;
        if self.head == self.slots.len() {
            self.head = 0;
        }
        self.len -= 1;
    }

    fn shrink(&mut self) {
        let capacity = self.slots.len();
        let shrink = capacity > INITIAL && capacity > 2 * self.len;
        if shrink && !planted!(RingNeverShrinks) {
            self.move_to((self.len + self.len / 3).max(INITIAL));
        }
    }

    /// Moves the contents, unwrapped, to a buffer of `capacity` slots.
    fn move_to(&mut self, capacity: usize) {
        assert!(capacity >= self.len, "RB-1: no entry is lost in a move");
        if self.head == 0 && capacity >= self.slots.len() {
            // In order as it is: copied as a whole, if it has to be copied at all.
            self.slots.reserve_exact(capacity - self.slots.len());
            self.slots.resize_with(capacity, || None);
            return;
        }
        let mut slots = Vec::with_capacity(capacity);
        let old = &mut self.slots;
        let first = self.len.min(old.len() - self.head);
        if planted!(RingForgetsToUnwrap) {
            slots.extend(old.iter_mut().map(Option::take).take(self.len));
        } else {
            slots.extend(
                old[self.head..self.head + first]
                    .iter_mut()
                    .map(Option::take),
            );
            slots.extend(old[..self.len - first].iter_mut().map(Option::take));
        }
        slots.resize_with(capacity, || None);
        self.slots = slots;
        self.head = 0;
    }
}
