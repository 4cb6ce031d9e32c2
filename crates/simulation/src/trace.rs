//! A run as one number: everything the server was asked and everything handlers were told.
//!
//! Two runs of one seed have to have the same (FNV-1a, 64 bit; it need not withstand anybody).

use std::fmt::{self, Write};

use crate::{
    evidence::Evidence,
    listener::{Told, What},
    object::Sighting,
};

struct Hash(u64);

impl Write for Hash {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            self.number(u64::from(byte));
        }
        Ok(())
    }
}

impl Hash {
    fn number(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x0000_0100_0000_01b3);
    }

    /// No words: there are far more of these than of all else.
    fn told(&mut self, told: &Told) -> fmt::Result {
        self.number(told.at.as_secs());
        self.number(told.at.subsec_nanos().into());
        self.write_str(told.key.as_str())?;
        match &told.what {
            What::Added { new, initial } => {
                self.number(u64::from(*initial));
                self.sighting(new)?;
            }
            What::Updated { old, new, cause } => {
                self.number(2 + *cause as u64);
                self.sighting(old)?;
                self.sighting(new)?;
            }
            What::Deleted { last, is_known } => {
                self.number(8 + u64::from(*is_known));
                last.as_ref().map_or(Ok(()), |last| self.sighting(last))?;
            }
        }
        match &told.in_store {
            Some(Some(held)) => self.sighting(held),
            Some(None) => self.write_str("none"),
            None => Ok(()),
        }
    }

    fn sighting(&mut self, seen: &Sighting) -> fmt::Result {
        self.number(seen.version());
        self.number(seen.serial());
        self.write_str(seen.uid())
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
        listener.told.iter().try_for_each(|told| out.told(told))?;
    }
    for sample in &evidence.samples {
        write!(out, "|{:?} {:?}", sample.at, sample.state)?;
        for (key, held) in &sample.held {
            out.write_str(key.as_str())?;
            out.sighting(held)?;
        }
    }
    write!(out, "{:?}", evidence.ending)
}
