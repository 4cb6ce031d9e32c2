//! Every short history over two keys in two namespaces.

use super::model::{Change, Step};

fn letters() -> Vec<Step> {
    let upsert = |key: &str, labels: &[u8]| Change::Upsert {
        key: key.into(),
        labels: labels.to_vec(),
    };
    let delete = |key: &str| Change::Delete { key: key.into() };
    let replace = |namespace: Option<&str>, list: &[(&str, &[u8])]| Change::Replace {
        namespace: namespace.map(String::from),
        list: list
            .iter()
            .map(|(key, labels)| ((*key).into(), labels.to_vec()))
            .collect(),
    };
    let commits = [
        vec![upsert("a/x", &[0])],
        vec![upsert("a/x", &[1, 0])],
        vec![upsert("b/x", &[0])],
        vec![delete("a/x")],
        vec![replace(Some("a"), &[])],
        vec![replace(None, &[("b/x", &[1])])],
        vec![delete("a/x"), upsert("a/x", &[1]), upsert("b/x", &[1])],
    ];
    commits
        .into_iter()
        .map(Step::Commit)
        .chain([
            Step::AddIndex(0),
            Step::RemoveIndex(0),
            Step::PrepareIndex(0),
            Step::InstallIndex,
        ])
        .collect()
}

/// 11^4 = 14,641 histories.
#[test]
fn all_histories_of_four_steps() {
    let letters = letters();
    let count = letters.len();
    for number in 0..count.pow(4) {
        let steps: Vec<_> = (0..4)
            .map(|place| letters[number / count.pow(place) % count].clone())
            .collect();
        if let Err(what) = super::run(&steps) {
            panic!("{what}\nhistory: {steps:?}");
        }
    }
}
