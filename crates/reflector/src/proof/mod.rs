//! Proofs of the machine: a server's own history, faults by chance, and bugs planted on purpose.

pub(crate) mod planted;
