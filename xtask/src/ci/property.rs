//! The proofs of the pure cores, over many more random histories than an ordinary test run draws.

use anyhow::{Result, bail};

use crate::built::Built;
use crate::debug_build;
use crate::layers::LEAVES;
use crate::shell::run_watched;
use crate::stopwatch::Outcome;

/// How many random histories each property has to survive.
const HISTORIES: &str = "5000";

/// Property and exhaustive tests are in modules with this in their path.
const PROPERTY_FILTER: &str = "tests::";

/// Runs them; fails as well if a crate has lost its own.
pub(super) fn run() -> Result<Outcome> {
    // The facade has one pure core too, the apply step.
    for package in LEAVES.into_iter().chain(["informer-factory"]) {
        let built = Built::by(&mut debug_build::build_unit_tests(package))?;
        let mut command = built.unit_tests(package)?;
        command
            .arg(PROPERTY_FILTER)
            .env("PROPTEST_CASES", HISTORIES);
        let mut count = 0;
        run_watched(&mut command, |line| count += passed_tests(line))?;
        // A filter that meets nothing succeeds, and would prove nothing for ever.
        if count == 0 {
            bail!("{package} has no test with {PROPERTY_FILTER} in its path");
        }
    }
    Ok(Outcome::Passed)
}

/// The count in a line such as `test result: ok. 3 passed; 0 failed; ...`.
pub(super) fn passed_tests(line: &str) -> usize {
    let count = line
        .strip_prefix("test result: ok. ")
        .and_then(|rest| rest.split(' ').next());
    count.and_then(|count| count.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_line_of_results_counts_tests() {
        assert_eq!(
            passed_tests("test result: ok. 12 passed; 0 failed; 0 ignored"),
            12
        );
        assert_eq!(passed_tests("running 12 tests"), 0);
        assert_eq!(passed_tests("test result: FAILED. 3 passed; 1 failed"), 0);
    }
}
