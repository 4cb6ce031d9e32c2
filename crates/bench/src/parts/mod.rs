//! Single operations of the leaves, each defined once.
//!
//! `bench-informer` takes their time beside the peers', `cargo bench` takes it by itself, and
//! `bench-count` runs them while their instructions are counted for `cargo xtask bench --gate`.

pub mod crowd;
pub mod listener;
pub mod pods;
pub mod queue;
pub mod reflector;
pub mod store;

use pods::Pods;

/// An operation with all it needs, to be run so many times.
pub type Operation = Box<dyn FnMut(u64)>;

/// One operation of one leaf.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// The leaf, a slash, and what is done.
    pub name: &'static str,
    /// How many at a time are as in real use.
    pub batch: u64,
    /// How many make the instructions of one known well enough.
    pub counted: u64,
    /// Over how many of them, each with hashes of its own, so that chance is averaged out; the
    /// count is a multiple of it.
    pub seeds: u64,
    /// Makes all that is not measured.
    pub prepare: fn(&Pods) -> Operation,
}

/// All there are.
pub fn all() -> impl Iterator<Item = &'static Part> {
    store::PARTS
        .iter()
        .chain(&queue::PARTS)
        .chain(&listener::PARTS)
        .chain(&reflector::PARTS)
}

/// The one of this name.
pub fn find(name: &str) -> Option<&'static Part> {
    all().find(|part| part.name == name)
}

/// The names of one leaf's.
pub fn names(leaf: &str) -> impl Iterator<Item = &'static str> {
    let names = all().map(|part| part.name);
    names.filter(move |name| name.split('/').next() == Some(leaf))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_can_be_run_again_and_again() {
        let pods = Pods::decode(100);
        for part in all() {
            assert_eq!(part.counted % (part.seeds * part.batch), 0, "{}", part.name);
            let mut operation = (part.prepare)(&pods);
            for times in [1, 0, 3, part.batch] {
                operation(times);
            }
        }
    }

    #[test]
    fn names_are_unique_and_found() {
        for part in all() {
            assert_eq!(all().filter(|other| other.name == part.name).count(), 1);
            assert!(find(part.name).is_some());
        }
        assert_eq!(names("store").count(), store::PARTS.len());
        assert!(find("store").is_none());
    }
}
