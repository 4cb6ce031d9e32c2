//! The project's own tasks, so that a laptop and continuous integration do exactly the same.
//!
//! `cargo xtask --help` lists them. Nothing here is published; the crates do not know of it.

mod bench;
mod built;
mod cache;
mod chaos;
mod checkout;
mod ci;
mod circles;
mod clock;
mod conformance;
mod control_plane;
mod debug_build;
mod e2e;
mod fast_build;
mod fuzz;
mod layers;
mod proof_build;
mod protobuf;
mod shell;
mod shuttle;
mod simulate;
mod stop_signal;
mod stopwatch;
mod tidy;

use std::process::ExitCode;

use clap::Parser;

use bench::BenchCommand;
use conformance::ConformanceCommand;
use control_plane::ControlPlaneCommand;
use fuzz::FuzzCommand;
use shuttle::ShuttleCommand;
use simulate::SimulateCommand;

/// The project's own tasks.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask")]
enum Task {
    /// Everything that has to hold, or one job of it.
    #[command(after_help = ci::seconds_of_all())]
    Ci {
        /// The job; without it, all run until the first failure.
        #[arg(value_parser = ci::job_names())]
        job: Option<String>,
    },
    /// What to run before each commit: rules, lints, tests of the crates that changed.
    Check {
        /// The commit that the files are compared with.
        #[arg(long, value_name = "COMMIT", default_value = "HEAD")]
        since: String,
    },
    /// The house rules for the text of the tree.
    Tidy,
    /// Which crates and which files may depend on each other.
    Layers,
    /// A real etcd and kube-apiserver on this machine.
    #[command(subcommand)]
    ControlPlane(ControlPlaneCommand),
    /// client-go and ours on the same scenarios.
    #[command(subcommand)]
    Conformance(ConformanceCommand),
    /// The table of crates/kube-protobuf, made from the Go types of Kubernetes.
    ProtobufSchema {
        /// Only compare it with the one in the checkout.
        #[arg(long)]
        check: bool,
    },
    /// Random objects of Go's types, decoded from JSON and from protobuf.
    ProtobufEquality(protobuf::Equality),
    /// Ours beside its peers on the same bytes, in one run.
    Bench(BenchCommand),
    /// The end-to-end tests, against a real API server.
    E2e,
    /// Informers under load while a real API server fails in every way.
    Chaos(chaos::Arguments),
    /// The whole facade under faults, time and chance drawn from seeds.
    Simulate(simulate::Arguments),
    /// The threads of the crates that have some, in thousands of orders.
    Shuttle(ShuttleCommand),
    /// The fuzz targets, each for a while.
    Fuzz(FuzzCommand),
}

fn main() -> ExitCode {
    if let Some(code) = proof_build::compile().or_else(ci::public_types::rustdoc) {
        return code;
    }
    let result = match Task::parse() {
        Task::Ci { job } => ci::run(job.as_deref()),
        Task::Check { since } => ci::check::run(&since),
        Task::Tidy => tidy::run(),
        Task::Layers => layers::run(),
        Task::ControlPlane(command) => control_plane::run(command),
        Task::Conformance(command) => conformance::run(&command),
        Task::ProtobufSchema { check } => protobuf::schema(check),
        Task::ProtobufEquality(arguments) => protobuf::equality(&arguments),
        Task::Bench(command) => bench::run(&command),
        Task::E2e => e2e::run(),
        Task::Chaos(_) => chaos::run(),
        Task::Simulate(_) => simulate::run(&SimulateCommand::from_command_line()),
        Task::Shuttle(command) => shuttle::run(&command),
        Task::Fuzz(command) => fuzz::task(&command),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Without a backtrace: these errors are about the checkout, not about xtask.
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use clap::error::ErrorKind;

    use super::*;

    /// What `cargo xtask TASK --help` prints. Nothing is run to print it.
    fn help(task: &str) -> String {
        let error = Task::try_parse_from(["cargo xtask", task, "--help"]).expect_err("only help");
        assert_eq!(error.kind(), ErrorKind::DisplayHelp, "{task}: {error}");
        error.to_string()
    }

    #[test]
    fn every_task_prints_help_without_being_run() {
        Task::command().debug_assert();
        for task in Task::command().get_subcommands() {
            help(task.get_name());
        }
    }

    #[test]
    fn help_names_every_option_of_the_program_that_is_built_for_a_task() {
        let simulate = help("simulate");
        for option in ["--seeds", "--seed", "--twice", "--mutants", "--canary"] {
            assert!(simulate.contains(option), "{option} in {simulate}");
        }
        let chaos = help("chaos");
        for option in ["--for", "--only", "--calm", "half-open"] {
            assert!(chaos.contains(option), "{option} in {chaos}");
        }
    }

    #[test]
    fn help_names_every_job_and_what_it_proves() {
        let help = help("ci");
        for (name, line) in ci::jobs() {
            let label = format!("- {name}:");
            let shown = help.lines().find(|text| text.contains(&label));
            assert!(
                shown.is_some_and(|shown| shown.ends_with(&line)),
                "{name} in {help}"
            );
        }
        assert!(help.contains(&ci::seconds_of_all()), "{help}");
        for line in help.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}
