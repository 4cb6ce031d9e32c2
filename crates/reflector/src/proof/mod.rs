//! Proofs of the machine: a server's own history, faults by chance, and bugs planted on purpose.

mod exhaustive;
mod judge;
mod model;
mod planted;
mod random;
mod serving;
mod world;
