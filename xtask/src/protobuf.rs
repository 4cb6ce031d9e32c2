//! `cargo xtask protobuf-schema` and `protobuf-equality`: the table of `crates/kube-protobuf`, and
//! the objects that judge its decoder. A Go program makes both from the Go types of Kubernetes.

mod k8s_openapi;
mod structs;

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

use crate::checkout;
use crate::debug_build::leaf_tests;
use crate::shell::{go_build, has_go, output_of, program, run as shell_run, words};
use crate::stopwatch::Outcome;

/// The checked-in table.
const TABLE: &str = "crates/kube-protobuf/schema.txt";

/// The structs of k8s-openapi, made from the table.
const STRUCTS: &str = "crates/kube-protobuf/structs.in";

/// Which objects are made.
#[derive(Debug, Args)]
pub(crate) struct Equality {
    /// Objects of each kind.
    #[arg(long, default_value_t = 50)]
    objects: u32,
    /// The seed of all random values.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only this kind, as `apps/v1/Deployment`.
    #[arg(long)]
    only: Option<String>,
}

/// Makes the table anew, or checks that the one in the checkout is what Go's types say.
pub(crate) fn schema(check: bool) -> Result<()> {
    print_skipped(make_schema(check)?)
}

/// Compares what Go's objects decode to from JSON and from protobuf.
pub(crate) fn equality(arguments: &Equality) -> Result<()> {
    print_skipped(compare(arguments)?)
}

/// The job of continuous integration.
pub(crate) fn ci() -> Result<Outcome> {
    if let Outcome::Skipped(why) = make_schema(true)? {
        return Ok(Outcome::Skipped(why));
    }
    compare(&Equality {
        objects: 50,
        seed: 1,
        only: None,
    })
}

fn print_skipped(outcome: Outcome) -> Result<()> {
    if let Outcome::Skipped(why) = outcome {
        println!("skipped: {why}");
    }
    Ok(())
}

fn make_schema(check: bool) -> Result<Outcome> {
    let outcome = match build_judge()? {
        Some(mut judge) => {
            store(TABLE, &output_of(judge.arg("schema"))?, check)?;
            Outcome::Passed
        }
        None => without_go("the table of crates/kube-protobuf was not checked"),
    };
    let table = fs::read_to_string(checkout::root().join(TABLE));
    let structs = structs::generate(&table.context("cannot read the table")?)?;
    store(STRUCTS, &structs, check)?;
    Ok(outcome)
}

/// Writes a file that is made, or checks that the checkout has it.
fn store(name: &str, text: &str, check: bool) -> Result<()> {
    let path = checkout::root().join(name);
    if !check {
        return fs::write(&path, text).with_context(|| format!("cannot write {name}"));
    }
    let stored = fs::read_to_string(&path).with_context(|| format!("cannot read {name}"))?;
    ensure!(
        stored == text,
        "{name} is out of date; run `cargo xtask protobuf-schema`"
    );
    println!("protobuf-schema: {name} is up to date");
    Ok(())
}

fn compare(arguments: &Equality) -> Result<Outcome> {
    let Some(mut judge) = build_judge()? else {
        return Ok(without_go("no objects of Go's types were made"));
    };
    judge.arg("objects");
    judge.arg(format!("-objects={}", arguments.objects));
    judge.arg(format!("-seed={}", arguments.seed));
    if let Some(only) = &arguments.only {
        judge.arg(format!("-only={only}"));
    }
    let path = folder().join("objects.bin");
    let file = File::create(&path).context("cannot create the file of objects")?;
    println!("$ {} > {}", words(&judge), path.display());
    let status = judge.stdout(Stdio::from(file)).status();
    let status = status.context("cannot run the program of Go's types")?;
    if !status.success() {
        bail!("`{}` failed ({status})", words(&judge));
    }
    let mut tests = leaf_tests("informer-kube-protobuf");
    tests.args(["--test", "equality", "--", "--nocapture"]);
    shell_run(tests.env("INFORMER_PROTOBUF_OBJECTS", &path))?;
    Ok(Outcome::Passed)
}

fn without_go(what: &str) -> Outcome {
    Outcome::Skipped(format!("Go is not installed: {what}"))
}

fn folder() -> PathBuf {
    checkout::root().join("target/kube-protobuf")
}

/// Builds the Go program; `None` without Go. Go's own cache makes this fast.
fn build_judge() -> Result<Option<Command>> {
    if !has_go() {
        return Ok(None);
    }
    let built = folder().join("judge");
    let mut build = go_build(&["build"]);
    build.arg("-o").arg(&built).arg(".");
    build.current_dir(checkout::root().join("crates/kube-protobuf/go"));
    fs::create_dir_all(folder()).context("cannot create the folder of the program")?;
    shell_run(&mut build).context("the Go types of Kubernetes do not compile")?;
    Ok(Some(program(built)))
}
