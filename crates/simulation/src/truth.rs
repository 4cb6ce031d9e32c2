//! What was written to the server, in the order in which it was: kept beside the server's own
//! history, since a judge must not ask the accused.

use std::collections::{BTreeMap, HashMap};

use crate::object::Sighting;

/// One write, or one deletion.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    /// The version it was given.
    pub(crate) version: u64,
    pub(crate) key: String,
    pub(crate) uid: String,
    /// The content; that of the last write, for a deletion.
    pub(crate) serial: u64,
    pub(crate) tier: String,
    pub(crate) is_deletion: bool,
    /// A restore has made it never have happened.
    pub(crate) is_undone: bool,
}

/// All writes.
#[derive(Debug, Default)]
pub(crate) struct Truth {
    pub(crate) writes: Vec<Written>,
    by_serial: HashMap<u64, usize>,
}

impl Truth {
    pub(crate) fn record(&mut self, written: Written) {
        if !written.is_deletion {
            self.by_serial.insert(written.serial, self.writes.len());
        }
        self.writes.push(written);
    }

    /// The server went back to this version.
    pub(crate) fn rewind(&mut self, version: u64) {
        for written in &mut self.writes {
            written.is_undone |= written.version > version;
        }
    }

    /// The write that gave an object its content.
    pub(crate) fn write(&self, serial: u64) -> Option<&Written> {
        self.by_serial
            .get(&serial)
            .map(|&index| &self.writes[index])
    }

    /// Its place in the order of all writes.
    pub(crate) fn place(&self, serial: u64) -> Option<usize> {
        self.by_serial.get(&serial).copied()
    }

    /// Whether the object was there in this state, or was deleted from it at that version.
    pub(crate) fn knows(&self, seen: &Sighting, may_be_deleted: bool) -> bool {
        let Some(written) = self.write(seen.serial()) else {
            return false;
        };
        if written.uid != seen.uid() {
            return false;
        }
        written.version == seen.version()
            || (may_be_deleted
                && self.writes.iter().any(|one| {
                    one.is_deletion && one.serial == seen.serial() && one.version == seen.version()
                }))
    }

    /// What was there at this version, if nothing was ever undone: serials by key.
    pub(crate) fn state_at(
        &self,
        version: u64,
        is_selected: impl Fn(&Written) -> bool,
    ) -> BTreeMap<&str, u64> {
        let mut state = BTreeMap::new();
        let until = self
            .writes
            .iter()
            .take_while(|written| written.version <= version);
        for written in until.filter(|written| !written.is_undone) {
            if written.is_deletion || !is_selected(written) {
                state.remove(written.key.as_str());
            } else {
                state.insert(written.key.as_str(), written.serial);
            }
        }
        state
    }
}
