//! The stored scenarios over real HTTP: client-go must do what was recorded in virtual time.

use std::sync::Mutex;
use std::thread;

use anyhow::{Result, bail};
use informer_conformance::informer::over_http;
use informer_conformance::{Difference, Judge, Level, Scenario, Trace, files};

use crate::Selected;

/// Most of the time is waiting, so many go at once.
const AT_ONCE: usize = 16;

/// A difference of two clocks is tried again: a busy machine is no difference.
const ATTEMPTS: usize = 3;

struct Case {
    level: Level,
    scenario: Scenario,
    recorded: Trace,
}

/// Compares, and prints what differs.
pub(crate) fn compare_over_http(selected: &Selected) -> Result<()> {
    let (cases, left_out) = cases(selected)?;
    let count = cases.len();
    if count == 0 {
        bail!("no scenario of that name");
    }
    let waiting = Mutex::new(cases);
    let found = Mutex::new(Vec::new());
    thread::scope(|scope| {
        let work = || -> Result<()> {
            let mut judge = Judge::start(&selected.judge)?;
            loop {
                let case = waiting.lock().expect("no panic under it").pop();
                let Some(case) = case else { return Ok(()) };
                if let Some(text) = difference(&mut judge, &case)? {
                    found.lock().expect("no panic under it").push(text);
                }
            }
        };
        let workers: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().unwrap_or_else(|_| bail!("a worker panicked")))
    })?;
    let found = found.into_inner().expect("no panic under it");
    found.iter().for_each(|text| eprintln!("{text}"));
    println!("{count} runs of stored scenarios over real HTTP, {left_out} need virtual time");
    if !found.is_empty() {
        bail!("{} are not what was recorded", found.len());
    }
    Ok(())
}

fn cases(selected: &Selected) -> Result<(Vec<Case>, usize)> {
    let (mut cases, mut left_out) = (Vec::new(), 0);
    for file in files::stored()? {
        if !matches!(file.level, Level::Processor | Level::Informer) {
            continue;
        }
        let mut golden = files::read_golden(&file)?;
        for scenario in file.scenarios.iter().flat_map(Scenario::variants) {
            if !selected.wants(file.level, &scenario.name) {
                continue;
            }
            let Some(recorded) = golden.remove(&scenario.name) else {
                bail!("{}/{} was never recorded", file.level, scenario.name);
            };
            if over_http::is_possible(&scenario) {
                cases.push(Case {
                    level: file.level,
                    scenario,
                    recorded,
                });
            } else {
                left_out += 1;
            }
        }
    }
    Ok((cases, left_out))
}

fn difference(judge: &mut Judge, case: &Case) -> Result<Option<String>> {
    let mut last = None;
    for _ in 0..ATTEMPTS {
        let live = over_http::theirs(judge, case.level, &case.scenario)?;
        if live == case.recorded {
            return Ok(None);
        }
        last = Some(Difference {
            way: "real HTTP",
            theirs: case.recorded.clone(),
            expected: case.recorded.clone(),
            ours: live,
        });
    }
    let at = format!("{}/{}", case.level, case.scenario.name);
    Ok(last.map(|difference| format!("{at}: not what was recorded\n{difference}")))
}
