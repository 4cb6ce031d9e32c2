//! The jobs of continuous integration, each a few commands.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use cargo_metadata::{Metadata, MetadataCommand};

use crate::bench::gate;
use crate::checkout;
use crate::conformance;
use crate::debug_build::{leaf_tests, tests_without_leaves};
use crate::fuzz::{self, FuzzCommand};
use crate::layers::{self, LEAVES};
use crate::protobuf;
use crate::shell::{cargo, run};
use crate::shuttle::{self, ShuttleCommand};
use crate::simulate::{self, SimulateCommand};
use crate::stopwatch::Outcome;
use crate::tidy;

use super::advisories;
use super::compilers;
use super::deny;
use super::miri;
use super::property;
use super::published;
use super::semver;

/// One job.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    /// What to type after `cargo xtask ci`.
    pub(super) name: &'static str,
    /// What it proves.
    pub(super) about: &'static str,
    /// About how long it takes on two cores within a whole run, with nothing built before.
    pub(super) seconds: u32,
    /// Does it.
    pub(super) run: fn() -> Result<Outcome>,
}

/// All jobs.
pub(super) const JOBS: [Job; 24] = [
    Job {
        name: "fmt",
        about: "the code is formatted",
        seconds: 2,
        run: fmt,
    },
    Job {
        name: "tidy",
        about: "the text keeps to the house rules",
        seconds: 4,
        run: tidy,
    },
    Job {
        name: "layers",
        about: "no forbidden dependency between crates or files",
        seconds: 1,
        run: layers,
    },
    Job {
        name: "deny",
        about: "dependencies: allowed licences, names, sources",
        seconds: 1,
        run: deny::run,
    },
    Job {
        name: "advisories",
        about: "dependencies have no known vulnerability",
        seconds: 2,
        run: advisories::run,
    },
    Job {
        name: "clippy",
        about: "all code compiles, and no lint fires",
        seconds: 145,
        run: clippy,
    },
    Job {
        name: "test",
        about: "all tests of every crate but the leaves",
        seconds: 370,
        run: test,
    },
    Job {
        name: "leaves",
        about: "each leaf builds alone and passes all its tests",
        seconds: 260,
        run: leaves,
    },
    Job {
        name: "property",
        about: "5,000 random histories per property",
        seconds: 153,
        run: property::run,
    },
    Job {
        name: "simulate",
        about: "10,000 runs under faults keep the invariants",
        seconds: 400,
        run: simulate,
    },
    Job {
        name: "mutants",
        about: "the simulator finds every planted bug",
        seconds: 119,
        run: mutants,
    },
    Job {
        name: "shuttle",
        about: "2,000 orders of threads for each scenario",
        seconds: 218,
        run: shuttle,
    },
    Job {
        name: "fuzz",
        about: "10 seconds of each fuzz target find nothing",
        seconds: 283,
        run: fuzz,
    },
    Job {
        name: "conformance",
        about: "client-go does the same, or a rule says why not",
        seconds: 130,
        run: conformance::ci,
    },
    Job {
        name: "protobuf",
        about: "Go's objects are equal by JSON and protobuf",
        seconds: 120,
        run: protobuf::ci,
    },
    Job {
        name: "gate",
        about: "no operation takes more instructions",
        seconds: 453,
        run: gate::ci,
    },
    Job {
        name: "docs",
        about: "docs, README program, types of foreign crates",
        seconds: 120,
        run: docs,
    },
    Job {
        name: "examples",
        about: "the examples of the leaves run",
        seconds: 7,
        run: examples,
    },
    Job {
        name: "package",
        about: "what would be published can be packed",
        seconds: 2,
        run: package,
    },
    Job {
        name: "msrv",
        about: "libraries compile with the oldest compiler",
        seconds: 50,
        run: compilers::oldest,
    },
    Job {
        name: "minimal",
        about: "packages compile with the oldest dependencies",
        seconds: 35,
        run: compilers::oldest_dependencies,
    },
    Job {
        name: "semver",
        about: "the APIs keep what the newest tag promises",
        seconds: 1,
        run: semver,
    },
    Job {
        name: "wasm",
        about: "pure crates compile without a system",
        seconds: 10,
        run: compilers::wasm,
    },
    Job {
        name: "miri",
        about: "no undefined behaviour below the pure crates",
        seconds: 100,
        run: miri::run,
    },
];

/// How many schedules the simulator runs (T1).
const SCHEDULES: u64 = 10_000;
/// How many of them run twice (T12).
const TWICE: u64 = 200;

/// How long each fuzz target runs (T10).
const FUZZING: Duration = Duration::from_secs(10);

/// How many orders of threads each scenario of shuttle meets, other ones in each run (T8).
const ORDERS: u64 = 2_000;
/// How many more with marked payloads, which nothing may show (SEC-9).
const MARKED: u64 = 500;

fn fmt() -> Result<Outcome> {
    passed(run(&mut cargo(["fmt", "--all", "--check"])))
}

fn tidy() -> Result<Outcome> {
    passed(tidy::run())
}

fn layers() -> Result<Outcome> {
    passed(layers::run())
}

fn clippy() -> Result<Outcome> {
    let scope = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--all-features",
        "--locked",
    ];
    passed(run(cargo(scope).args(["--", "-D", "warnings"])))
}

/// The examples are not built: each is as much code as a program that uses the whole facade, and
/// `clippy` has checked them.
fn test() -> Result<Outcome> {
    run(tests_without_leaves().args(["--lib", "--bins", "--tests"]))?;
    passed(run(tests_without_leaves().arg("--doc")))
}

fn leaves() -> Result<Outcome> {
    for leaf in LEAVES {
        run(&mut leaf_tests(leaf))?;
    }
    let core = [
        "check",
        "--locked",
        "-p",
        "informer-reflector",
        "--no-default-features",
    ];
    passed(run(&mut cargo(core)))
}

fn simulate() -> Result<Outcome> {
    simulate::run(&SimulateCommand::twice(TWICE))?;
    simulate::run(&SimulateCommand::seeds(SCHEDULES))?;
    passed(simulate::run(&SimulateCommand::canary(MARKED)))
}

fn shuttle() -> Result<Outcome> {
    passed(shuttle::run(&ShuttleCommand::sample(ORDERS)))
}

fn fuzz() -> Result<Outcome> {
    fuzz::run(&FuzzCommand::all(FUZZING))
}

fn mutants() -> Result<Outcome> {
    passed(simulate::run(&SimulateCommand::mutants(SCHEDULES)))
}

fn docs() -> Result<Outcome> {
    let scope = [
        "doc",
        "--workspace",
        "--no-deps",
        "--document-private-items",
        "--locked",
    ];
    run(cargo(scope).env("RUSTDOCFLAGS", "-D warnings"))?;
    passed(published::run(&metadata()?))
}

fn examples() -> Result<Outcome> {
    let metadata = metadata()?;
    for leaf in LEAVES {
        let examples = examples_of(&metadata, leaf)?;
        if examples.is_empty() {
            bail!("{leaf} has no example that uses it alone");
        }
        for example in examples {
            run(&mut cargo([
                "run",
                "--quiet",
                "--locked",
                "-p",
                leaf,
                "--example",
                &example,
            ]))?;
        }
    }
    Ok(Outcome::Passed)
}

fn package() -> Result<Outcome> {
    passed(run(&mut published::package(&metadata()?)))
}

fn semver() -> Result<Outcome> {
    passed(semver::run(&metadata()?))
}

pub(super) fn passed(result: Result<()>) -> Result<Outcome> {
    result.map(|()| Outcome::Passed)
}

pub(super) fn metadata() -> Result<Metadata> {
    let mut command = MetadataCommand::new();
    command.current_dir(checkout::root()).no_deps();
    command.exec().context("cannot read the workspace")
}

fn examples_of(metadata: &Metadata, package: &str) -> Result<Vec<String>> {
    let packages = metadata.workspace_packages();
    let package = packages
        .into_iter()
        .find(|one| one.name.as_str() == package);
    let targets = &package
        .context("the table of leaves names a missing crate")?
        .targets;
    let examples = targets.iter().filter(|target| target.is_example());
    Ok(examples.map(|target| target.name.clone()).collect())
}
