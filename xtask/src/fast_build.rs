//! What has to be fast is built in one way, so that its dependencies are built once.
//!
//! Cargo gives a dependency the features which the chosen packages ask for, and builds it again
//! when other packages are chosen. Here the whole workspace is always chosen, with a test among the
//! targets (tests count only then) and with the features of the end-to-end tests.

use std::process::Command;

use crate::shell::cargo;

const SCOPE: [&str; 5] = [
    "--release",
    "--locked",
    "--workspace",
    "--features",
    "informer-factory/e2e,informer-cli/e2e,informer-conformance/e2e",
];

/// A build of the workspace's libraries and of the targets that are added to it. They run a
/// thousand times and are no use to a debugger. Optimising them as far as possible would take
/// longer than it saves.
fn build(verb: &str) -> Command {
    let mut command = cargo([verb]);
    command
        .args(SCOPE)
        .env("CARGO_PROFILE_RELEASE_DEBUG", "false")
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1");
    command
}

/// The program of this name; the test is one of its package's.
pub(crate) fn build_program(name: &str, test: &str) -> Command {
    let mut command = build("build");
    command.args(["--bin", name, "--test", test]);
    command
}

/// The integration tests of this name, of every package that has one.
pub(crate) fn build_tests(target: &str) -> Command {
    let mut command = build("test");
    command.args(["--test", target, "--no-run"]);
    command
}
