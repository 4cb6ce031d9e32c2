//! What a key has to be able to do.
//!
//! The processor compares keys, copies them and prints them in its log; it knows nothing else about
//! them. `Hash`, `Eq` and `Clone` of a key run under a listener's lock and must not call back.

use std::fmt::Debug;
use std::hash::Hash;

/// An opaque name of an object. Implemented for everything that fits; nothing to write by hand.
///
/// `Debug` is asked for because a panic of a handler is logged with the key (FM-66).
pub trait Key: Clone + Eq + Hash + Debug + Send + Sync + 'static {}

impl<K: Clone + Eq + Hash + Debug + Send + Sync + 'static> Key for K {}
