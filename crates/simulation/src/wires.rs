//! The formats in which runs requested and received their objects.

use std::fmt;

use crate::evidence::Evidence;

/// The formats of answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wires {
    /// The number of runs that request JSON alone.
    pub json: u64,
    /// The number of runs that prefer protobuf.
    pub protobuf: u64,
    /// The number of lists and watches that were answered in protobuf.
    pub answers: u64,
}

impl Wires {
    pub(crate) fn of(evidence: &Evidence) -> Self {
        let is_protobuf = evidence.plan.informer.prefers_protobuf();
        let requests = evidence.requests.iter();
        Self {
            json: u64::from(!is_protobuf),
            protobuf: u64::from(is_protobuf),
            answers: requests.filter(|request| request.is_protobuf()).count() as u64,
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.json += other.json;
        self.protobuf += other.protobuf;
        self.answers += other.answers;
    }
}

impl fmt::Display for Wires {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            json,
            protobuf,
            answers,
        } = self;
        write!(
            f,
            "{protobuf} by protobuf, {json} by JSON: {answers} answers in protobuf"
        )
    }
}
