//! Histories out of a fuzzer's numbers, in the proportions of `random`.

use super::model::{Change, INDEXES, Step};

/// Gives a number below the one it is given, or `None` when the input is used up.
pub type Draw<'a> = dyn FnMut(u32) -> Option<u32> + 'a;

/// So long that every structure splits and melts, so short that thousands run in a second.
const LONGEST: usize = 24;

/// Runs one history through store and model.
///
/// # Panics
///
/// At the first answer that differs.
pub fn store_ops(draw: &mut Draw<'_>) {
    let mut steps = Vec::new();
    while let Some(step) = step(draw).filter(|_| steps.len() < LONGEST) {
        steps.push(step);
    }
    if let Err(wrong) = super::run(&steps) {
        panic!("{wrong}\nhistory: {steps:?}");
    }
}

fn step(draw: &mut Draw<'_>) -> Option<Step> {
    let indexes = INDEXES.len() as u32;
    Some(match draw(16)? {
        0..8 => {
            let count = draw(5)?;
            Step::Commit((0..count).map_while(|_| change(draw)).collect())
        }
        8 | 9 => Step::AddIndex(draw(indexes)? as usize),
        10 => Step::RemoveIndex(draw(indexes)? as usize),
        11 | 12 => Step::PrepareIndex(draw(indexes)? as usize),
        13 => Step::CatchUp,
        _ => Step::InstallIndex,
    })
}

fn change(draw: &mut Draw<'_>) -> Option<Change> {
    Some(match draw(13)? {
        0..6 => Change::Upsert {
            key: key(draw)?,
            labels: labels(draw)?,
        },
        6..9 => Change::Delete { key: key(draw)? },
        9 | 10 => {
            let (namespace, count) = (namespace(draw)?, draw(20)?);
            let listed = |_| Some((key(draw)?, labels(draw)?));
            let list = (0..count).map_while(listed).collect();
            Change::Replace { namespace, list }
        }
        11 => Change::Relist,
        _ => Change::Mark {
            namespace: namespace(draw)?,
            version: draw(9)? as u8,
        },
    })
}

fn key(draw: &mut Draw<'_>) -> Option<String> {
    let namespace = ["", "a/", "b/", "a-b/"][draw(4)? as usize];
    Some(format!("{namespace}n{}", draw(6)?))
}

fn labels(draw: &mut Draw<'_>) -> Option<Vec<u8>> {
    let count = draw(4)?;
    let labels = (0..count).map_while(|_| draw(5));
    Some(labels.map(|label| label as u8).collect())
}

fn namespace(draw: &mut Draw<'_>) -> Option<Option<String>> {
    let namespace = [None, None, Some("a"), Some("b"), Some("a-b")][draw(5)? as usize];
    Some(namespace.map(String::from))
}
