//! Which version counts as received, and when one tells that the server's history was rewound.

use std::cmp::Ordering;

use super::{Effect, Machine};
use crate::{Report, ResourceVersion};

impl<T> Machine<T> {
    /// The resume version after something at `version` has been taken.
    ///
    /// It never goes back within an epoch (RFX-3, FM-36). Where versions cannot be compared there
    /// is no back, and the server's word is taken (FM-41). A version that names no point in history
    /// moves nothing.
    pub(super) fn received(&self, version: &ResourceVersion) -> ResourceVersion {
        planted!(ResumeGoesBack => return version.clone());
        if version.is_exact() && !version.is_older_than(&self.resume) {
            version.clone()
        } else {
            self.resume.clone()
        }
    }

    /// What planted bugs take for received.
    #[cfg(any(test, sim))]
    pub(super) fn next_version(&self) -> ResourceVersion {
        let next = self.resume.as_number().expect("of ours") + 1;
        next.into()
    }

    /// Says once that versions cannot be compared here (FM-41).
    pub(super) fn tell_if_incomparable(
        &mut self,
        version: &ResourceVersion,
        out: &mut Vec<Effect<T>>,
    ) {
        let comparable = version.compare(version) == Some(Ordering::Equal);
        if version.is_exact() && !comparable && !self.lessons.incomparable_told {
            self.lessons.incomparable_told = true;
            let version = version.clone();
            out.push(Effect::Report(Report::Incomparable { version }));
        }
    }
}
