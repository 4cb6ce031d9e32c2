//! Histories of thousands of objects, in which the shipped shape splits, joins and renews too.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::history::History;
use super::model::{Change, INDEXES, Step};
use crate::table::shape::{Shape, Shipped};

/// `count` keys of one namespace in an order that is not that of the keys.
fn keys(namespace: &str, first: usize, count: usize) -> impl Iterator<Item = String> {
    let prefix = match namespace {
        "" => String::new(),
        namespace => format!("{namespace}/"),
    };
    // 7,919 is a prime, so no number is met twice.
    (first..first + count).map(move |number| format!("{prefix}n{}", number * 7_919 % 10_000))
}

fn labels(number: usize) -> Vec<u8> {
    vec![(number % 5) as u8, (number % 3) as u8]
}

fn upserts(namespace: &str, first: usize, count: usize) -> Vec<Change> {
    let upsert = |(number, key)| Change::Upsert {
        key,
        labels: labels(number),
    };
    keys(namespace, first, count)
        .enumerate()
        .map(upsert)
        .collect()
}

fn deletes(namespace: &str, first: usize, count: usize) -> Vec<Change> {
    let delete = |key| Change::Delete { key };
    keys(namespace, first, count).map(delete).collect()
}

fn replacement(namespace: Option<&str>, first: usize, count: usize) -> Change {
    let keys = keys(namespace.unwrap_or("b"), first, count);
    Change::Replace {
        namespace: namespace.map(String::from),
        list: keys
            .enumerate()
            .map(|(number, key)| (key, labels(number)))
            .collect(),
    }
}

fn step() -> impl Strategy<Value = Step> {
    let range = || {
        let namespace = prop_oneof![Just(""), Just("a"), Just("b"), Just("a-b")];
        // Ranges of filed and of merged batches.
        (
            namespace,
            0..1500_usize,
            prop_oneof![1..250_usize, 250..1500_usize],
        )
    };
    prop_oneof![
        4 => range().prop_map(|(namespace, first, count)| {
            Step::Commit(upserts(namespace, first, count))
        }),
        4 => range().prop_map(|(namespace, first, count)| {
            Step::Commit(deletes(namespace, first, count))
        }),
        1 => (Just(Some("a")), 0..300_usize, 0..2500_usize).prop_map(|(namespace, first, count)| {
            Step::Commit(vec![replacement(namespace, first, count)])
        }),
        1 => (0..300_usize, 0..2500_usize).prop_map(|(first, count)| {
            Step::Commit(vec![replacement(None, first, count), Change::Relist])
        }),
        1 => (0..INDEXES.len()).prop_map(Step::AddIndex),
        1 => (0..INDEXES.len()).prop_map(Step::PrepareIndex),
        1 => Just(Step::CatchUp),
        1 => Just(Step::InstallIndex),
        1 => (0..INDEXES.len()).prop_map(Step::RemoveIndex),
    ]
}

/// The environment may not ask for more: each history compares millions of answers, and the
/// `proptest!` macro would obey `PROPTEST_CASES`.
const HISTORIES: u32 = 12;

#[test]
fn large_histories_answer_as_the_model_does() {
    let mut runner = TestRunner::new(Config {
        cases: HISTORIES,
        source_file: Some(file!()),
        ..Config::default()
    });
    let histories = (vec(step(), 1..12), 500..1400_usize);
    let outcome = runner.run(&histories, |(steps, first)| {
        let mut all = vec![
            Step::Commit(upserts("a", 0, first)),
            Step::AddIndex(0),
            Step::Commit(upserts("", 0, 1200)),
        ];
        all.extend(steps);
        History::<Shipped>::run(&all).map_err(TestCaseError::fail)
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
}

#[test]
fn store_filed_and_emptied_one_by_one_splits_joins_and_renews_its_numbering() {
    let mut history = History::<Shipped>::new();
    history.step(&Step::AddIndex(0));
    // Fewer than are merged at once.
    let slice = Shipped::MANY - 6;
    for first in (0..4000).step_by(slice) {
        history.step(&Step::Commit(upserts("a", first, slice)));
        history.check().expect("as the model");
    }
    let items = |history: &History<Shipped>| {
        let items = &history.writer.state.items;
        (
            items.order.chunks().len(),
            items.hashes.segments.len(),
            items.next,
        )
    };
    let (chunks, segments, numbers) = items(&history);
    assert!(chunks > 3 && segments > 4 && numbers == 4000);
    let mut fewest = numbers;
    for first in (0..3900).step_by(slice) {
        history.step(&Step::Commit(deletes("a", first, slice)));
        history.check().expect("as the model");
        fewest = fewest.min(items(&history).2);
    }
    assert!(items(&history).0 < chunks && fewest < numbers, "renewed");
}
