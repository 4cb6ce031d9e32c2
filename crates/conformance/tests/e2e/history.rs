//! What really happened to the objects of one resource: every version of every key, as the
//! writers' answers and a plain watch told it.
//!
//! A [`View`] is the same seen through a namespace and a selector, where an object that leaves the
//! selection ends and one that enters it begins.

use std::collections::BTreeMap;

use kube_core::ObjectMeta;

use crate::told::Identity;
use crate::watched::Scope;

/// All versions of all objects of one resource.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    keys: BTreeMap<String, BTreeMap<u64, Moment>>,
}

#[derive(Clone, Debug)]
struct Moment {
    uid: String,
    labels: BTreeMap<String, String>,
    end: bool,
}

/// What somebody who looks through a namespace and a selector can see, in order.
pub(crate) type View = BTreeMap<String, Vec<Turn>>;

/// One visible change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) at: Identity,
    /// False where the object ended, or left the selection.
    pub(crate) present: bool,
}

impl History {
    /// An object was in this state.
    pub(crate) fn was(&mut self, meta: &ObjectMeta) {
        self.note(meta, false);
    }

    /// An object ended in this state.
    pub(crate) fn ended(&mut self, meta: &ObjectMeta) {
        self.note(meta, true);
    }

    /// How many changes there were after a version.
    pub(crate) fn changes_after(&self, version: u64) -> usize {
        let later = |moments: &BTreeMap<u64, Moment>| moments.range(version + 1..).count();
        self.keys.values().map(later).sum()
    }

    pub(crate) fn view(&self, scope: &Scope) -> View {
        let seen = self.keys.iter().filter(|(key, _)| scope.has_key(key));
        seen.map(|(key, moments)| (key.clone(), turns(moments, scope)))
            .filter(|(_, turns)| !turns.is_empty())
            .collect()
    }

    fn note(&mut self, meta: &ObjectMeta, end: bool) {
        let identity = Identity::of_meta(meta);
        let namespace = meta.namespace.as_deref().unwrap_or_default();
        let name = meta.name.as_deref().unwrap_or_default();
        let moment = Moment {
            uid: identity.uid,
            labels: meta.labels.clone().unwrap_or_default(),
            end,
        };
        let key = self.keys.entry(format!("{namespace}/{name}"));
        key.or_default().insert(identity.version, moment);
    }
}

fn turns(moments: &BTreeMap<u64, Moment>, scope: &Scope) -> Vec<Turn> {
    let mut turns = Vec::new();
    let mut was_present = false;
    for (version, moment) in moments {
        let present = !moment.end && scope.selects(&moment.labels);
        if present || was_present {
            let at = Identity {
                uid: moment.uid.clone(),
                version: *version,
            };
            turns.push(Turn { at, present });
        }
        was_present = present;
    }
    turns
}
