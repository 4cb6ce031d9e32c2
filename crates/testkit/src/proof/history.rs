//! Random writes, and a naive record of them: a full copy of the state after every version.
//!
//! Shares nothing with the server but the names of labels and nodes.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;

use crate::{ApiServer, Deletion, Resource};

/// One write. Names are few, so that objects are deleted and come again.
#[derive(Clone, Debug)]
pub(super) enum Write {
    Create {
        name: u8,
        label: u8,
    },
    Label {
        name: u8,
        label: u8,
    },
    Touch {
        name: u8,
        value: u8,
    },
    Delete {
        name: u8,
    },
    /// A write to another resource, which takes a version.
    Elsewhere {
        name: u8,
    },
    SkipVersions(u8),
}

pub(super) fn writes(most: usize) -> impl Strategy<Value = Vec<Write>> {
    let name = 0..4_u8;
    let label = 0..3_u8;
    let write = prop_oneof![
        4 => (name.clone(), label.clone()).prop_map(|(name, label)| Write::Create { name, label }),
        3 => (name.clone(), label).prop_map(|(name, label)| Write::Label { name, label }),
        3 => (name.clone(), 0..2_u8).prop_map(|(name, value)| Write::Touch { name, value }),
        3 => name.clone().prop_map(|name| Write::Delete { name }),
        1 => name.prop_map(|name| Write::Elsewhere { name }),
        1 => (1..3_u8).prop_map(Write::SkipVersions),
    ];
    prop::collection::vec(write, 0..=most)
}

/// One object as the record knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) uid: String,
    pub(super) version: u64,
    pub(super) label: u8,
}

pub(super) type State = BTreeMap<String, Known>;

/// What happened: the state after every version that changed it, and before the first.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) states: Vec<(u64, State)>,
}

impl Record {
    pub(super) fn new(version: u64) -> Self {
        Self {
            states: vec![(version, State::new())],
        }
    }

    /// The state at a version.
    pub(super) fn at(&self, version: u64) -> &State {
        let known = self.states.iter().rev().find(|(at, _)| *at <= version);
        &known.expect("asked for a version before the first").1
    }

    pub(super) fn last(&self) -> u64 {
        self.states.last().expect("there is a first state").0
    }

    fn change(&mut self, version: u64, change: impl FnOnce(&mut State)) {
        let mut state = self.at(version).clone();
        change(&mut state);
        self.states.push((version, state));
    }
}

pub(super) fn name_of(name: u8) -> String {
    format!("pod-{name}")
}

/// Carries one write out on the server, and notes it if the server took it.
pub(super) fn write(server: &ApiServer, record: &mut Record, write: &Write) {
    let pods = Resource::pods();
    match write {
        Write::Create { name, label } => {
            let metadata = json!({"name": name_of(*name), "labels": {"l": label.to_string()}});
            let Ok(object) = server.create(&pods, json!({"metadata": metadata})) else {
                return;
            };
            let known = Known {
                uid: object.uid().to_owned(),
                version: object.version(),
                label: *label,
            };
            record.change(object.version(), |state| {
                drop(state.insert(name_of(*name), known));
            });
        }
        Write::Label { name, label } => {
            let patch = json!({"metadata": {"labels": {"l": label.to_string()}}});
            patch_pod(server, record, *name, Some(*label), &patch);
        }
        Write::Touch { name, value } => {
            patch_pod(
                server,
                record,
                *name,
                None,
                &json!({"spec": {"value": value}}),
            );
        }
        Write::Delete { name } => {
            let deleted = server.delete(&pods, "default", &name_of(*name));
            let Ok(Deletion::Gone(object)) = deleted else {
                return;
            };
            record.change(object.version(), |state| drop(state.remove(object.name())));
        }
        Write::Elsewhere { name } => {
            let object = json!({"metadata": {"name": name_of(*name)}});
            // Taken or not, it is none of this record's business.
            drop(server.create(&Resource::nodes(), object));
        }
        Write::SkipVersions(count) => server.skip_versions(u64::from(*count)),
    }
}

fn patch_pod(
    server: &ApiServer,
    record: &mut Record,
    name: u8,
    label: Option<u8>,
    patch: &serde_json::Value,
) {
    let name = name_of(name);
    let Ok(object) = server.patch(&Resource::pods(), "default", &name, patch) else {
        return;
    };
    if record.at(u64::MAX).get(&name).map(|known| known.version) == Some(object.version()) {
        return;
    }
    record.change(object.version(), |state| {
        let known = state
            .get_mut(&name)
            .expect("the server knows it, so the record does");
        known.version = object.version();
        known.label = label.unwrap_or(known.label);
    });
}
