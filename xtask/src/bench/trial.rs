//! One program, run once against a server of its own.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::host;
use super::plan::Trial;
use super::programs::{Program, Programs};
use crate::shell::{program, words};

/// Figures by name.
pub(super) type Metrics = BTreeMap<String, f64>;

/// The pods in protobuf, by how many there are.
pub(super) type Fixtures = BTreeMap<u64, PathBuf>;

/// Lets client-go write the pods in its own encoding, once for all rounds.
pub(super) fn fixtures(programs: &Programs, trials: &[Trial], folder: &Path) -> Result<Fixtures> {
    let mut fixtures = Fixtures::new();
    for trial in trials.iter().filter(|trial| trial.is_protobuf()) {
        if programs.missing(trial.program).is_some() || fixtures.contains_key(&trial.objects) {
            continue;
        }
        let path = folder.join(format!("pods-{}.pb", trial.objects));
        let server = Server::start(programs, trial.objects, Serving::Pods)?;
        let mut render = program(programs.path(Program::ClientGo));
        render
            .args(["-server", &server.address, "-render"])
            .arg(&path);
        output(&mut render)?;
        fixtures.insert(trial.objects, path);
    }
    Ok(fixtures)
}

/// Runs the trial, and adds to its figures what follows from them.
pub(super) fn run(programs: &Programs, fixtures: &Fixtures, trial: &Trial) -> Result<Metrics> {
    let fixture = fixtures.get(&trial.objects);
    let serving = match fixture.filter(|_| trial.is_protobuf()) {
        _ if trial.is_metadata() => Serving::Metadata,
        Some(path) => Serving::BothFormats(path),
        None => Serving::Pods,
    };
    let (server, probe) = match trial.is_alone() {
        true => (None, None),
        false => {
            let server = Server::start(programs, trial.objects, serving)?;
            // After the server has made its pods, which takes seconds: within these the host may
            // take pages back.
            (Some(server), Some(host::prepare(trial.memory)))
        }
    };
    let cores = cores();
    // With fewer cores a driver would lose the parallelism that it would have in its users' hands.
    let mut driver = match programs.can_pin && cores >= 4 {
        true => pinned(&format!("0-{}", cores - 2), programs.path(trial.program)),
        false => program(programs.path(trial.program)),
    };
    let address = server.as_ref().map_or("none", |server| &server.address);
    driver.args(["--server", address]);
    driver.args(["--variant", trial.variant, "--list", trial.list]);
    let numbers = [
        ("--objects", trial.objects),
        ("--events", trial.events),
        ("--handlers", trial.handlers),
        ("--changed", trial.changed),
        ("--rate", trial.rate),
        ("--readers", trial.readers),
        ("--seconds", trial.seconds),
        ("--joins", trial.joins),
        ("--informers", trial.informers),
    ];
    for (flag, number) in numbers {
        driver.args([flag, &number.to_string()]);
    }
    let printed = output(&mut driver)?;
    let line = printed.lines().last().context("the driver says nothing")?;
    let mut metrics = metrics(line).with_context(|| line.to_owned())?;
    derive(trial, &mut metrics);
    if let Some(probe) = probe {
        metrics.insert("page_touch_us".to_owned(), probe.touch_us);
    }
    Ok(metrics)
}

/// The figures that people compare.
fn derive(trial: &Trial, metrics: &mut Metrics) {
    let objects = trial.objects as f64;
    let derived = [
        ("sync_wall_us_per_object", "sync_wall_s", 1e6 / objects),
        ("sync_cpu_us_per_object", "sync_cpu_s", 1e6 / objects),
        ("rss_per_object", "sync_steady_rss", 1.0 / objects),
        ("events_cpu_us", "events_cpu_s", 1e6 / trial.events as f64),
    ];
    for (name, from, factor) in derived {
        if let Some(value) = metrics.get(from) {
            metrics.insert(name.to_owned(), value * factor);
        }
    }
    let peak = metrics.get("relist_peak_rss").copied();
    if let Some((peak, before)) = peak.zip(metrics.get("before_relist_steady_rss").copied()) {
        metrics.insert("relist_growth".to_owned(), peak - before);
        metrics.insert("allowed_growth".to_owned(), 25.0 * 1024.0 * 1024.0);
    }
    metrics.insert("gibibyte".to_owned(), 1024.0 * 1024.0 * 1024.0);
    if let Some(wall) = metrics.get("events_wall_s") {
        let rate = trial.events as f64 / wall;
        metrics.insert("events_per_s".to_owned(), rate);
    }
}

fn metrics(line: &str) -> Result<Metrics> {
    let report: Value = serde_json::from_str(line)?;
    let metrics = report["metrics"].as_object().context("no figures")?;
    let figure = |(name, value): (&String, &Value)| Some((name.clone(), value.as_f64()?));
    Ok(metrics.iter().filter_map(figure).collect())
}

/// A line while it runs.
pub(super) fn summary(metrics: &Metrics) -> String {
    let shown = [
        ("sync_wall_s", "sync", "s"),
        ("sync_cpu_s", "cpu", "s"),
        ("events_per_s", "events", "/s"),
        ("relist_cpu_s", "relist cpu", "s"),
        ("latency_p99_us", "p99", "us"),
        ("floor_p99_us", "floor p99", "us"),
        ("alone_writes_per_cpu_s", "alone", "writes/CPU s"),
        ("beside_writes_per_cpu_s", "beside", "writes/CPU s"),
        ("beside_writes_per_s", "", "writes/s"),
        ("reads_per_s", "", "reads/s"),
        ("beside_waits", "", "waits"),
        ("stall_us", "stall", "us"),
        ("idle_bytes_each", "each", "bytes"),
    ];
    let parts = shown.iter().filter_map(|(name, word, unit)| {
        let value = metrics.get(*name)?;
        Some(format!("{word} {value:.2} {unit}"))
    });
    parts.collect::<Vec<_>>().join(", ")
}

/// The objects of a server.
#[derive(Clone, Copy)]
enum Serving<'p> {
    /// Pods in JSON.
    Pods,
    /// Pods in JSON, and in protobuf from this file.
    BothFormats(&'p Path),
    /// The metadata of a custom resource, in both formats.
    Metadata,
}

/// A server that ends when this is dropped.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(programs: &Programs, objects: u64, serving: Serving<'_>) -> Result<Self> {
        let cores = cores();
        let mut command = match programs.can_pin && cores >= 2 {
            true => pinned(&(cores - 1).to_string(), &programs.server),
            false => program(&programs.server),
        };
        command.args(["--objects", &objects.to_string()]);
        match serving {
            Serving::Pods => {}
            Serving::BothFormats(path) => drop(command.arg("--protobuf").arg(path)),
            Serving::Metadata => drop(command.arg("--metadata")),
        }
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot run {}", words(&command)))?;
        let output = child.stdout.take().context("the output was asked for")?;
        let mut address = String::new();
        BufReader::new(output).read_line(&mut address)?;
        let server = Self {
            child,
            address: address.trim().to_owned(),
        };
        if server.address.is_empty() {
            bail!("the server does not say where it listens");
        }
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It ends with its input; a server that is gone already is as well.
        drop(self.child.stdin.take());
        drop(self.child.wait());
    }
}

/// How many cores we may use.
pub(super) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn pinned(cores: &str, path: &Path) -> Command {
    let mut command = program("taskset");
    command.args(["-c", cores]).arg(path);
    command
}

/// What the program printed; what it complains of goes to the terminal.
fn output(command: &mut Command) -> Result<String> {
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.with_context(|| format!("cannot run {}", words(command)))?;
    if !output.status.success() {
        bail!("`{}` failed ({})", words(command), output.status);
    }
    String::from_utf8(output.stdout).context("the output is not UTF-8")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Sizes, plan};

    #[test]
    fn figures_that_follow_are_added() {
        let sizes = Sizes {
            objects: 1_000,
            events: 500,
            handlers: 1,
            rounds: 1,
            latency_runs: 1,
            latency_seconds: 5,
            cold_seconds: 1,
        };
        let trial = plan::trials(sizes, &[]).expect("all rows")[0];
        let line =
            r#"{"peer":"x","metrics":{"sync_cpu_s":2.0,"events_wall_s":0.25,"events_cpu_s":1.0}}"#;
        let mut metrics = metrics(line).expect("it is a report");
        derive(&trial, &mut metrics);
        assert_eq!(metrics["sync_cpu_us_per_object"], 2_000.0);
        assert_eq!(metrics["events_per_s"], 2_000.0);
        assert_eq!(metrics["events_cpu_us"], 2_000.0);
        assert!(!metrics.contains_key("rss_per_object"), "was not measured");
    }

    #[test]
    fn what_is_no_report_is_an_error() {
        assert!(metrics("3").is_err());
        assert!(metrics("error: no server").is_err());
    }
}
