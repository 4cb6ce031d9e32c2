//! D-62: a bookmark waits in client-go's queue like a change, and ends a batch. Ours only marks how
//! far the others got.

use super::line::Taken;
use super::step_by_step;
use crate::scenario::Scenario;
use crate::trace::Trace;

pub(super) fn without_bookmarks(scenario: &Scenario, _: &str, trace: Trace) -> Trace {
    let size = scenario.setting("batch").and_then(|text| text.parse().ok());
    let size = size.unwrap_or(1000);
    step_by_step(trace, |_, lines| {
        let mut kept = Vec::new();
        // Changes in a row, as batches of client-go, and whether a bookmark was among them.
        let (mut row, mut disturbed) = (Vec::new(), false);
        for line in lines {
            if line.starts_with("bookmark ") {
                disturbed = true;
            } else if line.starts_with("batch ") || Taken::parse(&line).is_some() {
                row.push(line);
            } else {
                kept.extend(batches(std::mem::take(&mut row), disturbed, size));
                disturbed = false;
                kept.push(line);
            }
        }
        kept.extend(batches(row, disturbed, size));
        kept
    })
}

/// The same changes in batches of distinct keys. A header at the end belongs to what follows, which
/// is no change of a key.
fn batches(mut row: Vec<String>, disturbed: bool, size: usize) -> Vec<String> {
    if !disturbed || !row.iter().any(|line| line.starts_with("batch ")) {
        return row;
    }
    let next = row.pop_if(|line| line.starts_with("batch "));
    let mut batches: Vec<Vec<Taken>> = Vec::new();
    for taken in row.iter().filter_map(|line| Taken::parse(line)) {
        match batches.last_mut() {
            Some(batch)
                if batch.len() < size && batch.iter().all(|other| other.key != taken.key) =>
            {
                batch.push(taken);
            }
            _ => batches.push(vec![taken]),
        }
    }
    let lines = batches.iter().flat_map(|batch| {
        let head = format!("batch {}", batch.len());
        std::iter::once(head).chain(batch.iter().map(Taken::to_string))
    });
    lines.chain(next).collect()
}
