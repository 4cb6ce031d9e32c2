//! The formats in which a collection is requested: protobuf, JSON or both.
//!
//! Some servers cannot answer in protobuf although they should choose JSON then: aggregated API
//! servers refuse the request, fail, or answer with something else. Such a server is asked for JSON
//! alone for some time.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use informer_reflector::{Failure, FailureKind};
use tokio::time::Instant;

use crate::{ReceivedWire, WireFormat};

/// The time for which a server that cannot answer in protobuf is not asked for it.
const JSON_ONLY: Duration = Duration::from_secs(10 * 60);
/// The number of consecutive failures that may have another cause until protobuf is taken for it.
const MOST_FAILURES: u8 = 2;

/// The formats that a request accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Accepted {
    Json,
    Protobuf,
    /// Either, protobuf preferred.
    Both,
}

impl Accepted {
    pub(crate) fn has(self, format: ReceivedWire) -> bool {
        match self {
            Self::Json => format == ReceivedWire::Json,
            Self::Protobuf => format == ReceivedWire::Protobuf,
            Self::Both => true,
        }
    }
}

/// What the answers of a server to one collection have shown.
#[derive(Debug, Default)]
pub(crate) struct Negotiation(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// When the server proved unable to answer in protobuf.
    json_since: Option<Instant>,
    failures: u8,
    received: Option<ReceivedWire>,
}

impl Negotiation {
    /// Returns the formats to request. `is_possible` tells whether protobuf can be decoded.
    pub(crate) fn accepted(&self, wire: WireFormat, is_possible: bool, now: Instant) -> Accepted {
        match wire {
            WireFormat::Json => Accepted::Json,
            WireFormat::Protobuf => Accepted::Protobuf,
            WireFormat::Auto if !is_possible || self.is_json_only(now) => Accepted::Json,
            WireFormat::Auto => Accepted::Both,
        }
    }

    /// Notes that a list or an event was received in this format.
    pub(crate) fn received(&self, format: ReceivedWire) {
        let mut state = self.state();
        state.received = Some(format);
        if format == ReceivedWire::Protobuf {
            state.failures = 0;
        }
    }

    /// Notes the failure of a request for either format, before anything was received.
    pub(crate) fn failed(&self, accepted: Accepted, failure: &Failure, now: Instant) {
        if accepted != Accepted::Both {
            return;
        }
        let mut state = self.state();
        match (failure.code, failure.kind) {
            (Some(406 | 415), _) => state.failures = MOST_FAILURES,
            (Some(500), _) | (_, FailureKind::Protocol) => state.failures += 1,
            _ => return,
        }
        if state.failures >= MOST_FAILURES {
            tracing::warn!("the server cannot answer in protobuf, JSON is requested: {failure}");
            state.failures = 0;
            state.json_since = Some(now);
        }
    }

    /// Returns the format of what was received last.
    pub(crate) fn last(&self) -> Option<ReceivedWire> {
        self.state().received
    }

    fn is_json_only(&self, now: Instant) -> bool {
        let mut state = self.state();
        let since = state.json_since;
        if since.is_some_and(|since| now.saturating_duration_since(since) >= JSON_ONLY) {
            state.json_since = None;
        }
        state.json_since.is_some()
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
