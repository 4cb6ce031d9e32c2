//! A run as one number: everything the server was asked and everything handlers were told.
//!
//! Two runs of one seed have to have the same (FNV-1a, 64 bit; it need not withstand anybody).

use std::fmt::{self, Write};

use crate::evidence::Evidence;

struct Hash(u64);

impl Write for Hash {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Ok(())
    }
}

pub(crate) fn hash(evidence: &Evidence) -> u64 {
    let mut hash = Hash(0xcbf2_9ce4_8422_2325);
    write_all(&mut hash, evidence).expect("a hash takes everything");
    hash.0
}

fn write_all(out: &mut Hash, evidence: &Evidence) -> fmt::Result {
    for request in &evidence.requests {
        write!(out, "{} {:?} {request}", request.number, request.at)?;
    }
    for listener in &evidence.listeners {
        write!(out, "|{:?} {:?}", listener.joined, listener.plan)?;
        for told in &listener.told {
            write!(out, "{told:?}")?;
        }
    }
    for sample in &evidence.samples {
        write!(out, "|{:?} {:?} {:?}", sample.at, sample.state, sample.held)?;
    }
    write!(out, "{:?}", evidence.ending)
}
