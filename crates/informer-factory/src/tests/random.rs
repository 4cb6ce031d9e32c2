//! Random histories of both queues, over all namespaces and over one.

use proptest::prelude::*;

use super::history::histories;
use super::run::check;

proptest! {
    /// PD-01..06, STX-7, PR-2..6, PR-13.
    #[test]
    fn the_apply_step_is_the_model(history in histories()) {
        check(&history).map_err(TestCaseError::fail)?;
    }
}
