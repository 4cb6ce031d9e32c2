//! Runs many seeds on all processors; `cargo xtask simulate` builds and calls it.

mod arguments;
#[cfg(sim)]
mod hunting;

use std::{
    process::ExitCode,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
};

use anyhow::{Result, anyhow};
use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use informer_simulation::{
    Outcome, Packing, REGRESSIONS, Tally, listen, searched, seeds_of, simulate, simulate_twice,
};

use arguments::Arguments;

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    if arguments.canary && !listen() {
        return Err(anyhow!("somebody else listens to the logs"));
    }
    #[cfg(not(sim))]
    if arguments.mutants || arguments.mutant.is_some() {
        return Err(anyhow!(
            "this build has no planted bugs; run `cargo xtask simulate --mutants`"
        ));
    }
    let jobs = arguments.jobs.unwrap_or_else(processors);
    let packing = match arguments.packed {
        true => Packing::Always,
        false => Packing::Drawn,
    };
    #[cfg(sim)]
    if arguments.mutants {
        let wanted = hunting::chosen(arguments.mutant.as_deref())?;
        return Ok(exit_code(hunting::kill_all(
            &wanted,
            arguments.seeds,
            jobs,
        )?));
    }
    if let Some(seed) = arguments.seed {
        #[cfg(sim)]
        let outcome = hunting::tell(arguments.mutant.as_deref(), seed, packing)?;
        #[cfg(not(sim))]
        let outcome = simulate(seed, packing, true);
        println!("{}", outcome.story);
        for violation in &outcome.violations {
            println!("{violation}");
        }
        println!("trace {:016x}, {} events", outcome.trace, outcome.events);
        return Ok(exit_code(outcome.violations.is_empty()));
    }
    let mut seeds = seeds_of(REGRESSIONS);
    seeds.extend(arguments.from..arguments.from.saturating_add(arguments.seeds));
    let (tally, failures) = run_all(&seeds, jobs, packing, &arguments)?;
    println!("{tally}");
    if let Some(first) = failures.first() {
        println!("{}", first.story);
    }
    for failure in &failures {
        let first = failure
            .violations
            .first()
            .ok_or_else(|| anyhow!("a failure has a cause"))?;
        println!("seed {} fails: {first}", failure.seed);
    }
    Ok(exit_code(
        failures.is_empty() && is_silent(arguments.canary),
    ))
}

/// Whether no payload was shown; says what was found.
fn is_silent(canary: bool) -> bool {
    if !canary {
        return true;
    }
    let searched = searched();
    let (texts, hits) = (searched.texts, searched.hits);
    println!("{texts} texts searched for payloads, {hits} hits");
    for place in &searched.places {
        println!("{place}");
    }
    if !searched.foreign.is_empty() {
        println!("shown by others: {}", searched.foreign.join(", "));
    }
    texts > 0 && hits == 0
}

fn exit_code(is_good: bool) -> ExitCode {
    if is_good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Runs seeds until all are done or one fails. Failures come in the order of seeds.
fn run_all(
    seeds: &[u64],
    jobs: usize,
    packing: Packing,
    arguments: &Arguments,
) -> Result<(Tally, Vec<Outcome>)> {
    let bar = ProgressBar::new(seeds.len() as u64);
    let style = "{elapsed} {wide_bar} {pos}/{len} {per_sec}";
    bar.set_style(ProgressStyle::with_template(style)?);
    let next = AtomicU64::new(0);
    let is_over = AtomicBool::new(false);
    let results = Mutex::new((Tally::default(), Vec::new()));
    let work = || {
        while !is_over.load(Ordering::Relaxed) {
            let index = usize::try_from(next.fetch_add(1, Ordering::Relaxed)).unwrap_or(usize::MAX);
            let Some(seed) = seeds.get(index) else {
                return;
            };
            let tells_panic = Told(*seed);
            let outcome = match arguments.twice {
                true => simulate_twice(*seed, packing),
                false => simulate(*seed, packing, false),
            };
            drop(tells_panic);
            let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
            results.0.add(&outcome);
            bar.inc(1);
            if !outcome.violations.is_empty() {
                results.1.push(outcome);
                is_over.fetch_or(!arguments.keep_going, Ordering::Relaxed);
            }
        }
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..jobs.max(1)).map(|_| scope.spawn(work)).collect();
        let ended = threads.into_iter().map(thread::ScopedJoinHandle::join);
        ended.collect::<std::result::Result<Vec<()>, _>>()
    })
    .map_err(|_| anyhow!("a run panicked; its seed is said above"))?;
    bar.finish();
    let rate = bar.per_sec();
    let (tally, mut failures) = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    println!("{:.0} schedules a second on {jobs} threads", rate.max(0.0));
    failures.sort_by_key(|failure| failure.seed);
    Ok((tally, failures))
}

/// Says which seed it was if its run panics.
struct Told(u64);

impl Drop for Told {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!(
                "seed {} panicked; replay: cargo xtask simulate --seed {0}",
                self.0
            );
        }
    }
}
