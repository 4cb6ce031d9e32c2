//! A persistent array of shared records, addressed by number.
//!
//! A record keeps its number as long as its key is stored, so an update changes one slot and leaves
//! the orders and indexes, which refer to records by number. A change copies one leaf and its
//! ancestors. Both are short because each copied pointer is a reference count in a distant cache
//! line. The figures are in `docs/adr/0002-store-structure.md`.

use std::hint::black_box;
use std::marker::PhantomData;
use std::sync::Arc;

use derive_where::derive_where;

use crate::table::ids::Id;
use crate::table::shape::{LARGEST_FAN, LARGEST_LEAF, Shape};

/// The height of the node that [`Walk`] keeps, so that the next leaf is a few steps away.
const BLOCK: u32 = 3;

/// A persistent array with holes. Cloning is O(1).
#[derive_where(Clone)]
pub(crate) struct Slots<R, S> {
    root: Arc<Inner<R>>,
    /// Levels of inner nodes; at least 1.
    height: u32,
    shape: PhantomData<S>,
}

/// In a smaller shape than the largest, the rest of a leaf and of an inner node is empty.
type Leaf<R> = [Option<Arc<R>>; LARGEST_LEAF];
type Leaves<R> = [Option<Arc<Leaf<R>>>; LARGEST_FAN];

#[derive_where(Clone)]
enum Inner<R> {
    Leaves(Leaves<R>),
    Inners([Option<Arc<Inner<R>>>; LARGEST_FAN]),
}

impl<R> Inner<R> {
    /// The leaf of a slot and those beside it, below this node.
    #[inline]
    fn leaves<S: Shape>(&self, id: Id, mut height: u32) -> Option<&Leaves<R>> {
        let mut node = self;
        loop {
            match node {
                Self::Inners(inners) => node = inners[child::<S>(id, height)].as_deref()?,
                Self::Leaves(leaves) => return Some(leaves),
            }
            height -= 1;
        }
    }
}

impl<R, S> Default for Slots<R, S> {
    fn default() -> Self {
        Self {
            root: Arc::new(Inner::Leaves(Default::default())),
            height: 1,
            shape: PhantomData,
        }
    }
}

/// Which child of an inner node of this height leads to a slot.
fn child<S: Shape>(id: Id, height: u32) -> usize {
    (id >> (S::LEAF_BITS + (height - 1) * S::FAN_BITS)) as usize % S::FAN
}

/// The first `N` items, the rest of the array left empty.
fn array<R, const N: usize>(items: impl Iterator<Item = Arc<R>>) -> [Option<Arc<R>>; N] {
    let mut array = [const { None }; N];
    array
        .iter_mut()
        .zip(items)
        .for_each(|(place, item)| *place = Some(item));
    array
}

/// Loads the reference counts of all items.
fn touch<R>(items: &[Option<Arc<R>>]) {
    for item in items.iter().flatten() {
        black_box(Arc::strong_count(item));
    }
}

impl<R, S: Shape> Slots<R, S> {
    /// An array with these records in the first slots.
    pub(crate) fn from_records(records: &[Arc<R>]) -> Self {
        let leaves: Vec<Arc<Leaf<R>>> = records
            .chunks(S::LEAF)
            .map(|chunk| Arc::new(array(chunk.iter().cloned())))
            .collect();
        let mut level: Vec<Arc<Inner<R>>> = leaves
            .chunks(S::FAN)
            .map(|chunk| Arc::new(Inner::Leaves(array(chunk.iter().cloned()))))
            .collect();
        let mut height = 1;
        while level.len() > 1 {
            level = level
                .chunks(S::FAN)
                .map(|chunk| Arc::new(Inner::Inners(array(chunk.iter().cloned()))))
                .collect();
            height += 1;
        }
        level.pop().map_or_else(Self::default, |root| Self {
            root,
            height,
            shape: PhantomData,
        })
    }

    /// Whether the array is high enough for a slot.
    #[inline]
    fn spans(&self, id: Id) -> bool {
        u64::from(id) >> (S::LEAF_BITS + self.height * S::FAN_BITS) == 0
    }

    /// The node above a slot that is not higher than wanted, with its height.
    #[inline]
    fn above(&self, id: Id, wanted: u32) -> Option<(&Inner<R>, u32)> {
        if !self.spans(id) {
            return None;
        }
        let mut node = &*self.root;
        let mut height = self.height;
        while height > wanted {
            let Inner::Inners(inners) = node else {
                break;
            };
            node = inners[child::<S>(id, height)].as_deref()?;
            height -= 1;
        }
        Some((node, height))
    }

    #[inline]
    fn leaf(&self, id: Id) -> Option<&Leaf<R>> {
        let (node, height) = self.above(id, 1)?;
        node.leaves::<S>(id, height)?[child::<S>(id, 1)].as_deref()
    }

    #[inline]
    pub(crate) fn get(&self, id: Id) -> Option<&Arc<R>> {
        self.leaf(id)?[id as usize % S::LEAF].as_ref()
    }

    /// Loads the reference counts that [`set`](Self::set) is about to change, together instead of
    /// one after the other: those in the slot's leaf and in the two lowest levels above it.
    pub(crate) fn fetch(&self, id: Id) {
        let Some((mut node, mut height)) = self.above(id, 2) else {
            return;
        };
        loop {
            let next = match node {
                Inner::Inners(inners) => {
                    touch(inners);
                    inners[child::<S>(id, height)].as_deref()
                }
                Inner::Leaves(leaves) => {
                    touch(leaves);
                    if let Some(leaf) = &leaves[child::<S>(id, height)] {
                        touch(leaf.as_slice());
                    }
                    None
                }
            };
            let Some(next) = next else { return };
            node = next;
            height -= 1;
        }
    }

    /// Fills or empties a slot and returns what was in it.
    pub(crate) fn set(&mut self, id: Id, record: Option<Arc<R>>) -> Option<Arc<R>> {
        while !self.spans(id) {
            let below = Arc::clone(&self.root);
            self.root = Arc::new(Inner::Inners(array(std::iter::once(below))));
            self.height += 1;
        }
        let mut node = &mut self.root;
        let mut height = self.height;
        loop {
            let place = child::<S>(id, height);
            height -= 1;
            match Arc::make_mut(node) {
                Inner::Inners(inners) => {
                    node = inners[place].get_or_insert_with(|| {
                        Arc::new(match height {
                            1 => Inner::Leaves(Default::default()),
                            _ => Inner::Inners(Default::default()),
                        })
                    });
                }
                Inner::Leaves(leaves) => {
                    let leaf = leaves[place].get_or_insert_default();
                    let slot = &mut Arc::make_mut(leaf)[id as usize % S::LEAF];
                    return std::mem::replace(slot, record);
                }
            }
        }
    }

    /// Returns a view that is fast for neighbouring numbers.
    pub(crate) fn walk(&self) -> Walk<'_, R, S> {
        Walk {
            slots: self,
            block: None,
            near: None,
            leaf: None,
            at: Id::MAX,
        }
    }
}

/// Looks up slots one after the other, and keeps the last leaf and a node above it.
#[derive_where(Clone, Copy)]
pub(crate) struct Walk<'a, R, S> {
    slots: &'a Slots<R, S>,
    block: Option<(&'a Inner<R>, u32)>,
    /// The leaves beside the last one, and itself.
    near: Option<&'a Leaves<R>>,
    leaf: Option<&'a Leaf<R>>,
    /// Which leaf it is; before the first, one that is not.
    at: Id,
}

impl<'a, R, S: Shape> Walk<'a, R, S> {
    #[inline]
    pub(crate) fn get(&mut self, id: Id) -> Option<&'a Arc<R>> {
        if id >> S::LEAF_BITS != self.at {
            self.turn(id);
        }
        self.leaf?[id as usize % S::LEAF].as_ref()
    }

    /// Folds the records of all these slots, which are filled.
    ///
    /// The loop is as short as possible: objects are loaded from memory, and the fewer instructions
    /// lie between two of them, the more loads a processor keeps in flight.
    #[inline]
    pub(crate) fn fold<A>(
        mut self,
        ids: impl Iterator<Item = Id>,
        first: A,
        mut pass: impl FnMut(A, &'a Arc<R>) -> A,
    ) -> A {
        let (mut at, mut leaf) = (self.at, self.leaf);
        ids.fold(first, |so_far, id| {
            if id >> S::LEAF_BITS != at {
                self.turn(id);
                (at, leaf) = (self.at, self.leaf);
            }
            let record = leaf.and_then(|leaf| leaf[id as usize % S::LEAF].as_ref());
            pass(so_far, record.expect("a filed number has a record"))
        })
    }

    /// Goes to the leaf of a slot.
    #[inline]
    fn turn(&mut self, id: Id) {
        let at = id >> S::LEAF_BITS;
        if (at ^ self.at) >> S::FAN_BITS != 0 {
            self.leap(id);
        }
        self.at = at;
        self.leaf = self
            .near
            .and_then(|leaves| leaves[at as usize % S::FAN].as_deref());
    }

    /// Goes to the node above the leaf of a slot.
    #[inline(never)]
    fn leap(&mut self, id: Id) {
        if ((id >> S::LEAF_BITS) ^ self.at) >> (BLOCK * S::FAN_BITS) != 0 {
            self.block = self.slots.above(id, BLOCK);
        }
        // The block may be a root that is lower than one.
        let block = self.block.filter(|_| self.slots.spans(id));
        self.near = block.and_then(|(node, height)| node.leaves::<S>(id, height));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::shape::Shipped;
    use crate::tests::Small;

    #[test]
    fn slots_keep_their_numbers_at_every_height() {
        numbers_are_kept::<Shipped>();
        numbers_are_kept::<Small>();
    }

    fn numbers_are_kept<S: Shape>() {
        for count in [0, 1, 7, 8, 9, 127, 128, 129, 2047, 2048, 2049, 5000] {
            let records: Vec<_> = (0..count).map(Arc::new).collect();
            let bulk = Slots::<_, S>::from_records(&records);
            let mut single = Slots::default();
            for id in (0..count).rev() {
                assert_eq!(
                    single.set(id, Some(Arc::clone(&records[id as usize]))),
                    None
                );
            }
            for slots in [&bulk, &single] {
                assert!((0..count).all(|id| slots.get(id).is_some_and(|held| **held == id)));
                assert_eq!(slots.get(count), None);
                assert_eq!(slots.get(Id::MAX), None);
                let mut walk = slots.walk();
                assert!((0..count).all(|id| walk.get(id).is_some_and(|held| **held == id)));
                assert!((count..count + 99).all(|id| walk.get(id).is_none()));
            }
        }
    }

    #[test]
    fn a_clone_does_not_see_later_changes() {
        clones_are_apart::<Shipped>();
        clones_are_apart::<Small>();
    }

    fn clones_are_apart<S: Shape>() {
        let mut slots = Slots::<_, S>::from_records(&(0..300).map(Arc::new).collect::<Vec<_>>());
        let before = slots.clone();
        assert_eq!(slots.set(17, None).as_deref(), Some(&17));
        slots.set(299, Some(Arc::new(1)));
        slots.set(4000, Some(Arc::new(2)));
        assert_eq!(
            (before.get(17).map(|r| **r), slots.get(17)),
            (Some(17), None)
        );
        assert_eq!(
            (before.get(299).map(|r| **r), before.get(4000)),
            (Some(299), None)
        );
    }
}
