//! Both sides live on random scenarios. What differs is made small before it is shown.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use informer_conformance::{Difference, Judge, JudgeError, Level, Scenario, compare, shrink};

use crate::Selected;

/// How many times a difference may be run to make it small.
const ATTEMPTS: usize = 300;

/// After so many differences there is nothing to be learned from more.
const ENOUGH: usize = 5;

/// Of 20 scenarios 15 go to the queues, 2 each to store and handlers, 1 to the whole informer.
fn share(level: Level, count: u64) -> u64 {
    match level {
        Level::Queue => count - share(Level::Store, count) * 2 - share(Level::Informer, count),
        Level::Store | Level::Processor => count / 10,
        Level::Informer => count / 20,
    }
}

/// What is known of one level so far.
#[derive(Default)]
struct Tally {
    compared: u64,
    fired: BTreeMap<&'static str, usize>,
    found: Vec<String>,
}

/// Compares `count` random scenarios, with as many judges as there are processors.
pub(crate) fn compare_random(selected: &Selected, count: u64, seed: u64) -> Result<()> {
    let mut bad = 0;
    for level in Level::ALL {
        let count = match selected.level {
            Some(only) if only != level => continue,
            Some(_) => count,
            None => share(level, count),
        };
        bad += compare_level(selected, level, count, seed)?;
    }
    if bad > 0 {
        bail!("{bad} unexplained differences");
    }
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "two real programs are compared, and it takes time"
)]
fn now() -> Instant {
    Instant::now()
}

fn compare_level(selected: &Selected, level: Level, count: u64, seed: u64) -> Result<usize> {
    let start = now();
    let next = AtomicU64::new(0);
    let tally = Mutex::new(Tally::default());
    let workers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let work = || -> Result<()> {
            let mut judge = Judge::start(&selected.judge)?;
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let enough = tally.lock().expect("no panic under it").found.len() >= ENOUGH;
                if number >= count || enough {
                    return Ok(());
                }
                one(&mut judge, level, seed.wrapping_add(number), &tally)?;
            }
        };
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let join = |worker: thread::ScopedJoinHandle<'_, Result<()>>| worker.join();
        let results: Vec<_> = workers.into_iter().map(join).collect();
        let flat =
            |result: thread::Result<Result<()>>| result.unwrap_or_else(|_| bail!("panicked"));
        results.into_iter().try_for_each(flat)
    })?;
    let tally = tally.into_inner().expect("no panic under it");
    let fired: Vec<String> = tally
        .fired
        .iter()
        .map(|(row, n)| format!("{row} {n}"))
        .collect();
    let seconds = now().duration_since(start).as_secs_f64();
    println!(
        "{level}: {} random scenarios in {seconds:.0} s; rules fired: {}",
        tally.compared,
        fired.join(", ")
    );
    tally.found.iter().for_each(|text| eprintln!("{text}"));
    Ok(tally.found.len())
}

fn one(judge: &mut Judge, level: Level, seed: u64, tally: &Mutex<Tally>) -> Result<()> {
    let scenario = level.random(seed);
    for variant in scenario.variants() {
        let verdict = both(judge, level, &variant)
            .with_context(|| format!("{level}: seed {seed}\n{variant}"))?;
        let mut found = None;
        if let Some(first) = verdict.differences.into_iter().next() {
            found = Some(report(judge, level, seed, &variant, first)?);
        }
        let mut tally = tally.lock().expect("no panic under it");
        tally.compared += 1;
        for ((row, _), count) in verdict.fired {
            *tally.fired.entry(row).or_default() += count;
        }
        tally.found.extend(found);
    }
    Ok(())
}

fn both(
    judge: &mut Judge,
    level: Level,
    scenario: &Scenario,
) -> Result<informer_conformance::Verdict> {
    let theirs = judge.trace(level, scenario)?;
    let runs = level.run(scenario)?;
    Ok(compare(level, scenario, &theirs, &runs))
}

/// The smallest scenario that still differs, with both traces side by side.
fn report(
    judge: &mut Judge,
    level: Level,
    seed: u64,
    scenario: &Scenario,
    first: Difference,
) -> Result<String> {
    let mut last = first;
    let mut died = None;
    let small = shrink(scenario, ATTEMPTS, |smaller| {
        let verdict = match both(judge, level, smaller) {
            Ok(verdict) => verdict,
            Err(error) => {
                let gone = error.downcast_ref::<JudgeError>();
                if matches!(
                    gone,
                    Some(JudgeError::Gone(_) | JudgeError::Nonsense { .. })
                ) {
                    died = Some(error);
                }
                return false;
            }
        };
        let found = verdict.differences.into_iter().next();
        found.map(|difference| last = difference).is_some()
    });
    if let Some(error) = died {
        return Err(error);
    }
    let replay = format!("compare --level {level} --random 1 --seed {seed}");
    Ok(format!(
        "{level}, seed {seed}: a difference\n{small}\n{last}replay: {replay}\n"
    ))
}
