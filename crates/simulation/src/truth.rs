//! What was written to the server, in the order in which it was: kept beside the server's own
//! history, since a judge must not ask the accused.

use std::{
    collections::{BTreeMap, HashMap},
    time::Duration,
};

use crate::object::Sighting;

/// One write, or one deletion.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub(crate) at: Duration,
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

    /// From before the first write, of what is selected, if nothing was ever undone.
    pub(crate) fn history(
        &self,
        is_selected: impl Fn(&Written) -> bool,
    ) -> History<'_, impl Fn(&Written) -> bool> {
        History {
            writes: &self.writes,
            next: 0,
            is_selected,
            state: BTreeMap::new(),
        }
    }
}

/// The writes, played again.
pub(crate) struct History<'a, F> {
    writes: &'a [Written],
    next: usize,
    is_selected: F,
    state: BTreeMap<&'a str, u64>,
}

impl<'a, F: Fn(&Written) -> bool> History<'a, F> {
    /// What was there at this version: serials by key. Cheap for versions that grow.
    pub(crate) fn at(&mut self, version: u64) -> &BTreeMap<&'a str, u64> {
        let is_beyond = self
            .next
            .checked_sub(1)
            .is_some_and(|last| self.writes[last].version > version);
        if is_beyond {
            self.next = 0;
            self.state.clear();
        }
        while let Some(write) = self.writes.get(self.next)
            && write.version <= version
        {
            match !write.is_deletion && (self.is_selected)(write) {
                true => self.state.insert(&write.key, write.serial),
                false => self.state.remove(write.key.as_str()),
            };
            self.next += 1;
        }
        &self.state
    }
}
