//! `cargo xtask fuzz`: builds the fuzz targets with coverage, and runs them two at a time.
//!
//! A stable compiler instruments our crates by flags of its own, and the installed C++ compiler
//! builds libFuzzer; neither clang nor another toolchain is needed. There is no address sanitizer,
//! because our crates have no `unsafe` code.
//!
//! Seeds and inputs that once failed are in the tree. Inputs that a run adds to the corpus are kept
//! below the build folder, and the next run starts from them.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::checkout;
use crate::shell::{self, cargo, output_of, program, words};
use crate::stopwatch::Outcome;

/// In the order in which the specification has them.
const TARGETS: [&str; 13] = [
    "frame_chunks",
    "watch_event",
    "status_classify",
    "list_page",
    "retry_after",
    "rv_compare",
    "store_ops",
    "fifo_ops",
    "reflector_inputs",
    "coalescing_ring",
    "unpack",
    "protobuf_answer",
    "protobuf_frames",
];

/// The manifest of the fuzz targets, a separate workspace with its own lock file.
pub(crate) const MANIFEST: &str = "crates/fuzz/Cargo.toml";
const SEEDS: &str = "crates/fuzz/corpus";

/// The words of a server's answers, and the targets that read them.
const WORDS: &str = "crates/fuzz/answers.dict";
const READERS: [&str; 3] = ["watch_event", "status_classify", "list_page"];

/// Opens the crates' proofs, and counts every edge of the program. What only other proofs use is
/// dead here; the ordinary build judges that.
const FLAGS: &str = "--cfg fuzzing -Adead_code -Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares";

/// T10: a megabyte, half a thousand times.
const MEMORY_MB: u32 = 512;

/// One input that takes longer is as good as a hang.
const SLOWEST: Duration = Duration::from_secs(10);

/// So many targets at a time, which is how many cores the smallest machine has.
const TOGETHER: usize = 2;

/// What to run.
#[derive(Args, Debug)]
pub(crate) struct FuzzCommand {
    /// How long each target runs, such as `30s` or `5m`.
    #[arg(long = "for", value_name = "TIME", default_value = "30s", value_parser = duration)]
    time: Duration,
    /// One target only.
    #[arg(long, value_parser = TARGETS)]
    target: Option<String>,
    /// The seed of all random choices.
    #[arg(long, default_value_t = 1)]
    seed: u32,
}

impl FuzzCommand {
    /// Every target for so long.
    pub(crate) fn all(time: Duration) -> Self {
        Self {
            time,
            target: None,
            seed: 1,
        }
    }
}

/// Runs the targets, and says so if it cannot.
pub(crate) fn task(command: &FuzzCommand) -> Result<()> {
    if let Outcome::Skipped(reason) = run(command)? {
        println!("fuzz: skipped ({reason})");
    }
    Ok(())
}

/// Runs the targets; fails if one finds an input that breaks a promise, and says where it is.
pub(crate) fn run(command: &FuzzCommand) -> Result<Outcome> {
    if output_of(program("c++").arg("--version")).is_err() {
        let reason = "there is no C++ compiler to build libFuzzer with (c++)";
        return Ok(Outcome::Skipped(reason.to_owned()));
    }
    let fuzzer = build()?;
    let chosen: Vec<&str> = match &command.target {
        Some(target) => vec![target],
        None => TARGETS.to_vec(),
    };
    println!("target            runs/s   edges  corpus  memory");
    let mut failed = Vec::new();
    for pair in chosen.chunks(TOGETHER) {
        let start = |target: &&str| Run::start(&fuzzer, target, command);
        let runs = pair.iter().map(start).collect::<Result<Vec<Run>>>()?;
        for run in runs {
            let target = run.target.clone();
            if !run.end()? {
                failed.push(target);
            }
        }
    }
    ensure!(failed.is_empty(), "broken: {}", failed.join(", "));
    Ok(Outcome::Passed)
}

/// The one program that holds all targets.
fn build() -> Result<PathBuf> {
    // Naming the platform keeps the flags from what runs while building.
    let version = output_of(program("rustc").arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.context("rustc does not name its platform")?;
    let mut build = cargo(["build", "--release", "--locked", "--target", host]);
    build.args(["--manifest-path", MANIFEST, "--target-dir"]);
    build.arg(folder()).env("RUSTFLAGS", FLAGS);
    shell::run(&mut build)?;
    Ok(folder().join(host).join("release/informer-fuzz"))
}

/// Everything that is built and found is here.
fn folder() -> PathBuf {
    checkout::target().join("fuzz")
}

/// One target under way.
struct Run {
    target: String,
    child: Child,
    log: PathBuf,
    /// How to see a failure again.
    again: String,
}

impl Run {
    fn start(fuzzer: &Path, target: &str, command: &FuzzCommand) -> Result<Self> {
        let folder = folder();
        let (corpus, found) = (folder.join("corpus").join(target), folder.join("found"));
        for folder in [&corpus, &found] {
            fs::create_dir_all(folder).with_context(|| format!("cannot make {folder:?}"))?;
        }
        let log = found.join(format!("{target}.log"));
        let output = File::create(&log).with_context(|| format!("cannot write {log:?}"))?;
        let mut start = Command::new(fuzzer);
        start
            .current_dir(checkout::root())
            .env("FUZZ_TARGET", target);
        let again = words(&start);
        start.arg(format!("-max_total_time={}", command.time.as_secs()));
        start.arg(format!("-seed={}", command.seed));
        start.arg(format!("-rss_limit_mb={MEMORY_MB}"));
        start.arg(format!("-timeout={}", SLOWEST.as_secs()));
        start.arg("-print_final_stats=1");
        if READERS.contains(&target) {
            start.arg(format!("-dict={WORDS}"));
        }
        let prefix = found.join(format!("{target}-"));
        start.arg(format!("-artifact_prefix={}", prefix.display()));
        // New ones go into the first, the seeds in the tree are read only.
        start.arg(corpus).arg(Path::new(SEEDS).join(target));
        let child = start.stderr(output).spawn();
        let child = child.with_context(|| format!("cannot run {}", words(&start)))?;
        Ok(Self {
            target: target.to_owned(),
            child,
            log,
            again,
        })
    }

    /// Waits for it, and says what it did. Whether it found nothing.
    fn end(mut self) -> Result<bool> {
        let status = self.child.wait().context("cannot wait for the fuzzer")?;
        let log = fs::read(&self.log).with_context(|| format!("cannot read {:?}", self.log))?;
        let log = String::from_utf8_lossy(&log);
        if status.success() {
            println!("{:16}  {}", self.target, figures(&log));
            return Ok(true);
        }
        let lines: Vec<&str> = log.lines().filter(|line| tells_why(line)).collect();
        println!("{:16}  FAILED ({status})", self.target);
        println!("{}", lines.join("\n"));
        println!("again: {} INPUT", self.again);
        println!(
            "keep the input in {SEEDS}/{}, so that it is tried for ever",
            self.target
        );
        Ok(false)
    }
}

/// Whether a line of a failed run is about the failure, and not about progress.
fn tells_why(line: &str) -> bool {
    let is_progress = line.starts_with(['#', '\t']) || line.starts_with("INFO:");
    !is_progress && !line.starts_with("WARNING: Failed to find function")
}

/// Executions, edges, size of the corpus and memory, out of libFuzzer's report.
fn figures(log: &str) -> String {
    let statistic = |name: &str| {
        let value = log.lines().find_map(|line| line.strip_prefix(name));
        value.map_or("?", str::trim).to_owned()
    };
    let last = log
        .lines()
        .rfind(|line| line.contains("\tDONE ") && line.starts_with('#'));
    let word_after = |name: &str| {
        let mut words = last.unwrap_or_default().split_whitespace();
        words.find(|word| *word == name);
        words.next().unwrap_or("?").to_owned()
    };
    let corpus = word_after("corp:");
    format!(
        "{:>6}  {:>6}  {:>6}  {:>3} MB",
        statistic("stat::average_exec_per_sec:"),
        word_after("cov:"),
        corpus.split('/').next().unwrap_or("?"),
        statistic("stat::peak_rss_mb:"),
    )
}

/// Seconds, minutes or hours, such as `30s`.
fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let number: u64 = number
        .parse()
        .map_err(|_| "not like 30s, 5m or 1h".to_owned())?;
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => return Err("the unit is s, m or h".to_owned()),
    };
    let time = number.checked_mul(seconds).map(Duration::from_secs);
    time.filter(|time| !time.is_zero())
        .ok_or_else(|| "not a time".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_of_libfuzzer_is_read() {
        let log = "#2\tINITED cov: 9 ft: 9 corp: 1/1b exec/s: 0 rss: 27Mb\n\
            #41\tDONE   cov: 14 ft: 14 corp: 6/22b lim: 4096 exec/s: 1986 rss: 27Mb\n\
            stat::average_exec_per_sec:     1986\nstat::peak_rss_mb:              27\n";
        let figures = figures(log);
        let words: Vec<&str> = figures.split_whitespace().collect();
        assert_eq!(words, ["1986", "14", "6", "27", "MB"]);
    }

    #[test]
    fn a_failure_is_shown_without_the_progress_before_it() {
        assert!(tells_why("thread '<unnamed>' panicked at src/lib.rs:1:2:"));
        assert!(!tells_why("#2\tINITED cov: 9"));
        assert!(!tells_why("INFO: Seed: 1"));
    }

    #[test]
    fn times_have_a_unit() {
        assert_eq!(duration("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("5m"), Ok(Duration::from_secs(300)));
        for wrong in ["", "s", "5", "0s", "1d", "5\u{b5}", "99999999999999999999h"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }

    /// Every target has seeds, and every folder of seeds has a target.
    #[test]
    fn every_target_has_seeds() {
        let folders = fs::read_dir(checkout::root().join(SEEDS)).expect("seeds are in the tree");
        let names = folders.map(|folder| folder.expect("can be listed").file_name());
        let mut names: Vec<_> = names
            .map(|name| name.to_string_lossy().into_owned())
            .collect();
        names.sort_unstable();
        let mut targets = TARGETS;
        targets.sort_unstable();
        assert_eq!(names, targets);
    }
}
