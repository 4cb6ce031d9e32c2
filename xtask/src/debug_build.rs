//! Builds for debugging, in two ways: each leaf alone, and all other crates together.
//!
//! Another choice of packages compiles the dependencies again, for other features.

use std::process::Command;

use crate::layers::LEAVES;
use crate::shell::cargo;

/// Libraries whose unit tests only the job `test` runs, and on which no feature depends.
const BESIDE: [&str; 3] = ["informer-testkit", "informer-simulation", "informer-chaos"];

/// Tests of all crates but the leaves. These are tested one by one, which is stricter: there they
/// have only what they ask for.
pub(crate) fn tests_without_leaves() -> Command {
    let mut command = cargo(["test", "--workspace", "--locked"]);
    for leaf in LEAVES {
        command.args(["--exclude", leaf]);
    }
    command
}

/// The leaf whose tests are for a feature as well, and the feature.
const TESTED_FEATURE: [&str; 2] = ["informer-kube-protobuf", "k8s-openapi"];

/// All tests of one leaf.
pub(crate) fn leaf_tests(leaf: &str) -> Command {
    let mut tests = cargo(["test", "--locked", "-p", leaf]);
    let [tested, feature] = TESTED_FEATURE;
    if leaf == tested {
        tests.args(["--features", feature]);
    }
    tests
}

/// The unit tests of a library, if nothing has changed just as the jobs `leaves` and `test` left
/// them.
pub(crate) fn build_unit_tests(package: &str) -> Command {
    let mut command = if LEAVES.contains(&package) {
        leaf_tests(package)
    } else {
        let mut others = tests_without_leaves();
        for beside in BESIDE {
            others.args(["--exclude", beside]);
        }
        others
    };
    command.args(["--lib", "--no-run"]);
    command
}
