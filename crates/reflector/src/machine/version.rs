//! The version that counts as received, and the report of versions that have no order.

use std::cmp::Ordering;

use super::context::Context;
use crate::{Report, ResourceVersion};

impl<T> Context<T> {
    /// Returns the resume version after the sink has accepted something at `version`.
    ///
    /// The resume version never moves back within an epoch (RFX-3, FM-36). Versions that cannot be
    /// compared have no order, so the server's version is taken (FM-41). A version that names no
    /// point in history changes nothing.
    pub(super) fn received(&self, version: &ResourceVersion) -> ResourceVersion {
        planted!(ResumeGoesBack => return version.clone());
        if version.is_exact() && !version.is_older_than(&self.resume) {
            version.clone()
        } else {
            self.resume.clone()
        }
    }

    /// The version that planted bugs count as received.
    #[cfg(any(test, sim))]
    pub(super) fn next_version(&self) -> ResourceVersion {
        let next = self.resume.as_number().expect("of ours") + 1;
        next.into()
    }

    /// Reports once that versions cannot be compared (FM-41).
    pub(super) fn report_incomparable(&mut self, version: &ResourceVersion) {
        let comparable = version.compare(version) == Some(Ordering::Equal);
        if version.is_exact() && !comparable && !self.retry.incomparable_reported {
            self.retry.incomparable_reported = true;
            let version = version.clone();
            self.report(Report::Incomparable { version });
        }
    }
}
