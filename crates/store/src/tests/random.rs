//! Random histories: `PROPTEST_CASES` of them, 256 if it is not set.

use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::*;

use super::model::{Change, INDEXES, Step};

fn key() -> impl Strategy<Value = String> {
    // "a-b" sorts before "a/" and tries the namespace's range; keys without slash are of cluster
    // scope.
    (
        prop_oneof![Just(""), Just("a/"), Just("b/"), Just("a-b/")],
        0..6_u8,
    )
        .prop_map(|(namespace, name)| format!("{namespace}n{name}"))
}

fn labels() -> impl Strategy<Value = Vec<u8>> {
    vec(0..5_u8, 0..4)
}

fn namespace() -> impl Strategy<Value = Option<String>> {
    weighted(
        0.6,
        prop_oneof![Just("a"), Just("b"), Just("a-b")].prop_map(String::from),
    )
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        6 => (key(), labels()).prop_map(|(key, labels)| Change::Upsert { key, labels }),
        3 => key().prop_map(|key| Change::Delete { key }),
        2 => (namespace(), vec((key(), labels()), 0..20))
            .prop_map(|(namespace, list)| Change::Replace { namespace, list }),
        1 => Just(Change::Relist),
        1 => (namespace(), 0..9_u8)
            .prop_map(|(namespace, version)| Change::Mark { namespace, version }),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => vec(change(), 0..5).prop_map(Step::Commit),
        2 => (0..INDEXES.len()).prop_map(Step::AddIndex),
        2 => (0..INDEXES.len()).prop_map(Step::PrepareIndex),
        1 => Just(Step::CatchUp),
        2 => Just(Step::InstallIndex),
        1 => (0..INDEXES.len()).prop_map(Step::RemoveIndex),
    ]
}

pub(crate) fn steps() -> impl Strategy<Value = Vec<Step>> {
    vec(step(), 1..16)
}

proptest! {
    /// STX-1..6, ST-02..05, IX-06..10, FM-13, FM-14, FM-51, FM-58..60.
    #[test]
    fn answers_as_the_model_does(steps in steps()) {
        super::run(&steps).map_err(TestCaseError::fail)?;
    }
}
