//! Text in, text out: what is told to the machine, line by line, and what it asks for.
//!
//! A line of a script is one input; an answer below it is indented. Emissions are accepted at once.
//!
//! | line | means |
//! | --- | --- |
//! | `start`, `stop`, `panic`, `retry`, `relist`, `repair` | that input |
//! | `page 5 a@1 b@2 more=t` | a page of version 5, with a continue token |
//! | `page-fails K`, `refused K`, `breaks K`, `error K` | kind K: list, watch, stream, `ERROR` |
//! | `opened`, `closed` | the watch |
//! | `added a@1`, `modified`, `deleted`, `bookmark 7`, `end 7` | events; `end`: the last initial |
//! | `after 31` | that many seconds pass |
//! | `wait` | time passes to the deadline |

use std::{fmt::Write as _, time::Duration};

use informer_reflector::{
    Change, Config, Demand, Effect, Emission, Input, Item, ListRequest, ListVersion, Machine,
    Report, ResourceVersion, WatchEvent,
};

use crate::wire::{failure, item, page};

/// Plays the script and compares what came out, line by line.
#[track_caller]
pub(crate) fn check(config: Config, script: &str, expected: &str) {
    let mut stage = Stage::new(config);
    for line in lines(script) {
        stage.line(line);
    }
    let expected: String = lines(expected).map(|line| format!("{line}\n")).collect();
    assert!(
        stage.seen == expected,
        "expected:\n{expected}\nseen:\n{}",
        stage.seen
    );
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    let trimmed = text.lines().map(str::trim);
    trimmed.filter(|line| !line.is_empty() && !line.starts_with('#'))
}

struct Stage {
    machine: Machine<()>,
    now: Duration,
    seen: String,
}

impl Stage {
    fn new(config: Config) -> Self {
        Self {
            machine: Machine::new(config, 1),
            now: Duration::ZERO,
            seen: String::new(),
        }
    }

    fn line(&mut self, line: &str) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let event = |event| Input::Event(Ok(event));
        let bookmark = |initial_events_end| WatchEvent::Bookmark {
            version: rest.into(),
            initial_events_end,
        };
        let input = match word {
            "start" => Input::Start,
            "stop" => Input::Stop,
            "panic" => Input::Panicked,
            "retry" => Input::Demand(Demand::Retry),
            "relist" => Input::Demand(Demand::Relist),
            "repair" => Input::Demand(Demand::Repair),
            "page" => Input::Page(Ok(page(rest))),
            "page-fails" => Input::Page(Err(failure(rest))),
            "opened" => Input::WatchOpened(Ok(())),
            "refused" => Input::WatchOpened(Err(failure(rest))),
            "breaks" => Input::Event(Err(failure(rest))),
            "error" => event(WatchEvent::Error(failure(rest))),
            "closed" => Input::StreamEnded,
            "added" => event(WatchEvent::Added(item(rest))),
            "modified" => event(WatchEvent::Modified(item(rest))),
            "deleted" => event(WatchEvent::Deleted(item(rest))),
            "bookmark" => event(bookmark(false)),
            "end" => event(bookmark(true)),
            "after" => return self.pass(Duration::from_secs(rest.parse().expect("seconds"))),
            "wait" => {
                self.now = self.machine.deadline().expect("something to wait for");
                Input::Timer
            }
            other => panic!("no such line: {other}"),
        };
        self.step(input);
    }

    fn pass(&mut self, time: Duration) {
        let target = self.now + time;
        while let Some(due) = self.machine.deadline().filter(|&due| due <= target) {
            self.now = self.now.max(due);
            self.step(Input::Timer);
        }
        self.now = target;
    }

    fn step(&mut self, input: Input<()>) {
        let mut effects = Vec::new();
        self.machine.step(self.now, input, &mut effects);
        for effect in effects {
            self.show(&effect);
            if let Effect::Emit(_) = effect {
                self.step(Input::Accepted);
            }
        }
    }

    fn show(&mut self, effect: &Effect<()>) {
        let seen = &mut self.seen;
        let written = match effect {
            Effect::List(request) => show_list(seen, request),
            Effect::Watch(request) if request.sends_initial_events() => {
                writeln!(seen, "stream {:?}", request.version)
            }
            Effect::Watch(request) => writeln!(seen, "watch {}", request.version),
            Effect::Abandon => writeln!(seen, "abandon"),
            Effect::Emit(emission) => show_emission(seen, emission),
            Effect::Report(Report::Failed {
                failure,
                attempts,
                next_in,
            }) => {
                let when = if next_in.is_zero() { "now" } else { "later" };
                writeln!(seen, "failed {:?} #{attempts}, again {when}", failure.kind)
            }
            Effect::Report(Report::Listed { cause, .. }) => writeln!(seen, "listed {cause:?}"),
            Effect::Report(Report::NewEpoch { before, after }) => {
                writeln!(seen, "new epoch {before} -> {after}")
            }
            Effect::Report(Report::Incomparable { version }) => {
                writeln!(seen, "incomparable {version}")
            }
            Effect::Report(_) => Ok(()),
        };
        written.expect("writing to a string");
    }
}

fn show_list(seen: &mut String, request: &ListRequest) -> std::fmt::Result {
    match &request.version {
        ListVersion::Any => write!(seen, "list any")?,
        ListVersion::Consistent => write!(seen, "list latest")?,
        ListVersion::NotOlderThan(version) => write!(seen, "list >={version}")?,
        ListVersion::Exact(version) => write!(seen, "list ={version}")?,
        other => write!(seen, "list {other:?}")?,
    }
    if let Some(limit) = request.limit {
        write!(seen, " limit={limit}")?;
    }
    if let Some(token) = &request.continue_token {
        write!(seen, " continue={token}")?;
    }
    if !request.reuse {
        write!(seen, " afresh")?;
    }
    writeln!(seen)
}

fn show_emission(seen: &mut String, emission: &Emission<()>) -> std::fmt::Result {
    let name = |item: &Item<()>| format!(" {}@{}", item.identity.key, item.identity.version);
    let at = |received: &ResourceVersion| format!("-> {received}");
    match emission {
        Emission::Replace {
            items, received, ..
        } => {
            let items: String = items.iter().map(name).collect();
            writeln!(seen, "replace{items} {}", at(received))
        }
        Emission::Change {
            change,
            item,
            received,
        } => {
            let change = match change {
                Change::Added => "add",
                Change::Modified => "modify",
                Change::Deleted => "delete",
            };
            writeln!(seen, "{change}{} {}", name(item), at(received))
        }
        Emission::Bookmark { received } => writeln!(seen, "bookmark {}", at(received)),
    }
}
