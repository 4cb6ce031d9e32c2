//! D-06: a key twice in one list is twice in client-go's queue.

use std::collections::BTreeMap;

use super::line::{Taken, kind_of, without};
use super::step_by_step;
use crate::scenario::Scenario;
use crate::trace::Trace;

/// How often each key that waits is in each of the lists that brought it.
type Listed = BTreeMap<String, Vec<usize>>;

pub(super) fn keep_the_last(_: &Scenario, _: &str, trace: Trace) -> Trace {
    let mut listed = Listed::new();
    step_by_step(trace, |step, lines| {
        let verb = step.iter().position(|&word| word == "replace");
        let list = verb.map_or(&[][..], |verb| &step[verb + 1..]);
        let mut kept = Vec::new();
        for line in lines {
            if let Some(touched) = line.strip_prefix("touched ") {
                touched
                    .split(' ')
                    .for_each(|key| count(&mut listed, key, list));
            }
            kept.push(match Taken::parse(&line) {
                Some(mut taken) => {
                    let counts = listed.remove(&taken.key).unwrap_or_default();
                    merge(&mut taken, &counts);
                    taken.to_string()
                }
                None => distinct(line),
            });
        }
        kept
    })
}

fn count(listed: &mut Listed, key: &str, list: &[&str]) {
    let mine = list.iter().filter(|word| {
        word.split_once('@').is_some_and(|(known, _)| known == key) && !word.ends_with('!')
    });
    let count = mine.count();
    if count > 0 {
        listed.entry(key.to_owned()).or_default().push(count);
    }
}

/// `counts` says how many `Replaced` came with one list.
fn merge(taken: &mut Taken, counts: &[usize]) {
    let last_of_list: Vec<bool> = counts
        .iter()
        .flat_map(|&count| (1..=count).map(move |nth| nth == count))
        .collect();
    let mut replaced = last_of_list.into_iter();
    taken.deltas.retain(|delta| match kind_of(delta) {
        "Replaced" => replaced.next().unwrap_or(true),
        _ => true,
    });
}

/// The list in one piece: the last object, at the place of the first.
fn distinct(line: String) -> String {
    let (failed, rest) = without(&line, "failed ");
    let (initial, rest) = without(rest, "initial ");
    let Some(list) = rest.strip_prefix("list ") else {
        return line;
    };
    let mut words = list.split(' ');
    let mut head = String::new();
    head.push_str(if failed { "failed " } else { "" });
    head.push_str(if initial { "initial " } else { "" });
    head.push_str("list ");
    head.push_str(words.next().unwrap_or_default());
    let mut objects: Vec<(&str, &str)> = Vec::new();
    for word in words {
        let (key, version) = word.split_once('@').unwrap_or((word, ""));
        match objects.iter_mut().find(|(known, _)| *known == key) {
            Some((_, last)) => *last = version,
            None => objects.push((key, version)),
        }
    }
    objects.into_iter().fold(head, |line, (key, version)| {
        format!("{line} {key}@{version}")
    })
}
