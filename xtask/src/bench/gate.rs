//! `cargo xtask bench --gate`: no operation may take more instructions than were checked in.
//!
//! Time depends on what else a machine does; instructions hardly do. Each operation of
//! `bench-count` runs `n` times and `2n` times, and the difference of both counts is the cost of
//! `n` operations. Counts are those of one compiler: with another one nothing is compared.

mod callgrind;
mod counts;

use std::path::Path;

use anyhow::{Context, Result, bail};

use super::programs;
use crate::checkout;
use crate::shell::{cargo, output_of, program, run};
use crate::stopwatch::Outcome;
use callgrind::Instructions;
use counts::{Counts, Verdict};

/// Compares, as a job of continuous integration.
pub(crate) fn ci() -> Result<Outcome> {
    if let Some(why) = unable() {
        return Ok(Outcome::Skipped(why));
    }
    let compiler = compiler()?;
    let Some(expected) = Counts::load(&compiler)? else {
        return Ok(Outcome::Skipped(unknown(&compiler)));
    };
    compare(&expected, &count()?)?;
    Ok(Outcome::Passed)
}

/// Compares, or writes what is counted as what is expected from now on.
pub(super) fn gate(record: bool) -> Result<()> {
    if record {
        if let Some(why) = unable() {
            bail!("{why}");
        }
        let (compiler, counted) = (compiler()?, count()?);
        for (name, instructions) in &counted.parts {
            println!("{name:<28} {:>12}", shown(*instructions));
        }
        return counted.save(&compiler);
    }
    if let Outcome::Skipped(why) = ci()? {
        println!("gate: skipped ({why})");
    }
    Ok(())
}

/// Why nothing can be counted here, if so.
fn unable() -> Option<String> {
    if !programs::is_installed("valgrind", "--version") {
        return Some("valgrind is not installed".to_owned());
    }
    None
}

fn unknown(compiler: &str) -> String {
    format!("no counts of {compiler}; `cargo xtask bench --gate --record` writes them")
}

/// Version and machine, which decide what instructions are made.
fn compiler() -> Result<String> {
    let said = output_of(program("rustc").arg("-vV"))?;
    let after = |name: &str| said.lines().find_map(|line| line.strip_prefix(name));
    let release = after("release: ").context("rustc says its release")?;
    let host = after("host: ").context("rustc says its host")?;
    Ok(format!("{release}-{host}"))
}

fn count() -> Result<Counts> {
    let target = checkout::target();
    let build = ["build", "--profile", "count", "--locked"];
    let mut build = cargo(build);
    build.args([
        "-p",
        "informer-bench",
        "--bin",
        "bench-count",
        "--target-dir",
    ]);
    run(build.arg(&target))?;
    let counter = target.join("count/bench-count");
    let listed = output_of(&mut program(&counter))?;
    let parts = listed.lines().map(|line| {
        let (name, times) = line.split_once(' ').context("a name and a number")?;
        Ok((name.to_owned(), times.parse()?))
    });
    let parts: Vec<(String, u64)> = parts.collect::<Result<_>>()?;
    // Counting is slow, and does not mind company.
    let workers = super::trial::cores();
    let share = parts.len().div_ceil(workers);
    let counted = std::thread::scope(|scope| {
        let counter = &counter;
        let count = |worker, parts: &[(String, u64)]| -> Result<Vec<(String, Instructions)>> {
            let one = |(name, times): &(String, u64)| each(counter, name, *times, worker);
            parts.iter().map(one).collect()
        };
        let shares = parts.chunks(share).enumerate();
        let threads: Vec<_> = shares
            .map(|(worker, parts)| scope.spawn(move || count(worker, parts)))
            .collect();
        let done = threads.into_iter().map(std::thread::ScopedJoinHandle::join);
        done.collect::<Vec<_>>()
    });
    let mut all = Vec::new();
    for counted in counted {
        all.extend(counted.map_err(|_| anyhow::anyhow!("a counting thread panicked"))??);
    }
    Ok(Counts::new(callgrind::libc()?, all))
}

/// The instructions of one operation.
fn each(counter: &Path, name: &str, times: u64, worker: usize) -> Result<(String, Instructions)> {
    let once = callgrind::count(counter, name, times, worker)?;
    let twice = callgrind::count(counter, name, times * 2, worker)?;
    Ok((name.to_owned(), twice.beyond(once).each(times)))
}

fn compare(expected: &Counts, counted: &Counts) -> Result<()> {
    let judged = expected.judge(counted);
    println!("| operation | instructions | checked in | change | |");
    println!("| --- | --- | --- | --- | --- |");
    for line in &judged {
        println!("{line}");
    }
    let failed = judged.iter().filter(|one| one.verdict != Verdict::Good);
    let failed: Vec<&str> = failed.map(|one| &*one.name).collect();
    if !failed.is_empty() {
        bail!(
            "not as checked in: {}; if that is meant, `cargo xtask bench --gate --record`",
            failed.join(", ")
        );
    }
    Ok(())
}

fn shown(instructions: Instructions) -> String {
    format!("{:.1}", instructions.total())
}
