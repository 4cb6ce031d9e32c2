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

#[cfg(test)]
mod tests {
    use super::*;

    /// SEC-25: each queue hashes in its own way, so nobody can choose names that collide in one.
    #[test]
    fn no_two_queues_hash_alike() {
        let hash = |_| random().hash_one("default/web-0");
        let hashes: std::collections::HashSet<u64> = (0..64).map(hash).collect();
        assert_eq!(hashes.len(), 64);
    }
}
