//! D-14: client-go hands out a relist key by key, ours in one piece.

use std::collections::BTreeMap;

use super::line::Taken;
use super::step_by_step;
use crate::scenario::Scenario;
use crate::trace::Trace;

/// Which group each key that waits belongs to.
type Groups = BTreeMap<String, usize>;

/// What was taken, with the line behind it that says that the queue is synced; or another line.
enum Item {
    Taken(Taken, Option<String>),
    Other(String),
}

/// Client-go's side says with `touched` which keys wait when a relist has come: all of them belong
/// to it. A key that waits through two relists ties them together.
pub(super) fn take_together(_: &Scenario, _: &str, trace: Trace) -> Trace {
    let mut groups = Groups::new();
    let mut relists = 0;
    step_by_step(trace, |step, lines| {
        let counts = !step.starts_with(&["batch"]);
        let mut moved = Vec::new();
        let mut waiting = Vec::new();
        for line in lines {
            let Some(touched) = line.strip_prefix("touched ") else {
                waiting.push(line);
                continue;
            };
            moved.extend(together(std::mem::take(&mut waiting), &mut groups, counts));
            relists += 1;
            for key in touched.split(' ') {
                tie(&mut groups, key, relists);
            }
        }
        moved.extend(together(waiting, &mut groups, counts));
        moved
    })
}

fn tie(groups: &mut Groups, key: &str, relist: usize) {
    if let Some(before) = groups.insert(key.to_owned(), relist) {
        for group in groups.values_mut().filter(|group| **group == before) {
            *group = relist;
        }
    }
}

/// Moves each group to where its first key is.
fn together(lines: Vec<String>, groups: &mut Groups, counts: bool) -> Vec<String> {
    let mut left = items(lines);
    let mut moved = Vec::new();
    while !left.is_empty() {
        let first = left.remove(0);
        let group = match &first {
            Item::Taken(taken, _) => groups.get(&taken.key).copied(),
            Item::Other(_) => None,
        };
        let mut members = vec![first];
        if let Some(group) = group {
            members.extend(left.extract_if(.., |item| match item {
                Item::Taken(taken, _) => groups.get(&taken.key) == Some(&group),
                Item::Other(_) => false,
            }));
            groups.retain(|_, other| *other != group);
        }
        moved.extend(one_lease(members, counts));
    }
    moved
}

/// All at once: what is initial is so as a whole, and the queue is synced after all of it. What
/// fails so is taken one by one at last, as client-go does.
fn one_lease(members: Vec<Item>, counts: bool) -> Vec<String> {
    let (mut whole, mut alone, mut synced) = (Vec::new(), Vec::new(), None);
    let mut initial = None;
    let several = members.len() > 1;
    for member in members {
        match member {
            Item::Other(line) => return vec![line],
            Item::Taken(taken, behind) => {
                if taken.failed && several {
                    alone.push(taken.to_string());
                    alone.extend(behind);
                } else {
                    synced = synced.or(behind);
                }
                let initial = *initial.get_or_insert(taken.initial);
                whole.push(Taken { initial, ..taken }.to_string());
            }
        }
    }
    let head = (several && counts).then(|| format!("together {}", whole.len()));
    let all = head.into_iter().chain(whole);
    all.chain(alone).chain(synced).collect()
}

fn items(lines: Vec<String>) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    for line in lines {
        match (Taken::parse(&line), items.last_mut()) {
            (Some(taken), _) => items.push(Item::Taken(taken, None)),
            (None, Some(Item::Taken(_, behind))) if line.starts_with("synced") => {
                *behind = Some(line);
            }
            (None, _) => items.push(Item::Other(line)),
        }
    }
    items
}
