//! Invariants that do not depend on the model, checked over all notifications and the store.

use std::collections::BTreeMap;

use super::history::Received;
use super::model::Told;

/// The objects that one handler knows, from its notifications.
#[derive(Default)]
pub(super) struct Witness {
    knows: BTreeMap<&'static str, usize>,
}

impl Witness {
    /// Checks one notification against all before it.
    pub(super) fn hear(&mut self, told: &Told, received: &[Received]) -> Result<(), String> {
        let fail = |id: &str| Err(format!("{id}: {told:?} while {:?} is known", self.knows));
        match *told {
            Told::Added { key, object, .. } => {
                if self.knows.insert(key, object).is_some() {
                    return Err(format!("PR-2: {told:?}, and it was there"));
                }
            }
            Told::Updated { key, old, new, .. } => {
                if self.knows.get(key) != Some(&old) {
                    return fail("PR-2, PR-3");
                }
                let (before, after) = (&received[old], &received[new]);
                if !before.uid.is_empty() && !after.uid.is_empty() && before.uid != after.uid {
                    return fail("PR-4");
                }
                if before.epoch == after.epoch {
                    let number = |text: &str| text.parse::<u64>().ok();
                    let pair = (number(before.version), number(after.version));
                    if matches!(pair, (Some(before), Some(after)) if after < before) {
                        return fail("PR-5, STX-7");
                    }
                    if before.version == after.version && !before.version.is_empty() {
                        return fail("6.9");
                    }
                }
                self.knows.insert(key, new);
            }
            Told::Deleted { key, last } => match self.knows.remove(key) {
                None => return Err(format!("PR-2: {told:?}, and nobody knew of it")),
                Some(known) => {
                    let (known, last) = (received[known].uid, received[last].uid);
                    if known != last && !known.is_empty() && !last.is_empty() {
                        return Err(format!("PR-13: {told:?} ends another life"));
                    }
                }
            },
            Told::Tombstone { key, last } => {
                if self.knows.remove(key) != Some(last) {
                    return Err(format!("PR-2, PR-3: {told:?}"));
                }
            }
        }
        Ok(())
    }

    /// PR-6: the notifications add up to what is stored.
    pub(super) fn agrees_with(&self, stored: &BTreeMap<&'static str, usize>) -> Result<(), String> {
        if self.knows == *stored {
            return Ok(());
        }
        Err(format!("PR-6: told {:?}, stored {stored:?}", self.knows))
    }
}
