//! How keys are hashed: fast, and keyed with a secret.
//!
//! Names are chosen by whoever may create objects, so a hash that anybody can compute would let
//! them make keys that all collide. SipHash forbids that at 270 instructions for a name of usual
//! length, more than all else a queue does with a key; foldhash, the hash of hashbrown, needs 40.
//! It is no cryptographic hash, and who sees many hashes could find its key; but nobody sees any:
//! no order, and no answer of a queue, depends on them. The key comes from the system.

use std::hash::{BuildHasher, RandomState};

use foldhash::SharedSeed;
use foldhash::fast::SeedableRandomState;

/// Makes hashes that nobody else can foretell.
pub(crate) type KeyHash = SeedableRandomState;

/// A hash function of its own, as of all calls.
pub(crate) fn random() -> KeyHash {
    let seed = RandomState::new().hash_one(());
    SeedableRandomState::with_seed(seed, SharedSeed::global_random())
}
