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

/// The time for which protobuf is not requested from a server that cannot answer in it.
const JSON_ONLY: Duration = Duration::from_secs(10 * 60);
/// The number of consecutive failures (500, or a protocol failure) after which protobuf counts as
/// the cause.
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

/// The wire formats that the server has shown to serve for one collection, and those it refused.
#[derive(Debug, Default)]
pub(crate) struct Negotiation(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Set while JSON alone is requested.
    json_only: Option<JsonOnly>,
    failures: u8,
    received: Option<ReceivedWire>,
    /// Whether it was logged that the server answers in JSON alone.
    is_logged: bool,
}

#[derive(Clone, Copy, Debug)]
struct JsonOnly {
    since: Instant,
    /// Whether the server has refused protobuf, or answered in JSON where it failed in protobuf.
    is_proven: bool,
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

    /// Notes the format in which a list or an event was received, or the failure that came instead.
    pub(crate) fn note(
        &self,
        accepted: Accepted,
        received: Result<ReceivedWire, &Failure>,
        now: Instant,
    ) {
        match received {
            Ok(format) => self.received(format),
            Err(failure) => self.failed(accepted, failure, now),
        }
    }

    fn received(&self, format: ReceivedWire) {
        let mut state = self.state();
        state.received = Some(format);
        if format == ReceivedWire::Protobuf {
            state.failures = 0;
            state.is_logged = false;
        } else if let Some(json_only) = &mut state.json_only {
            json_only.is_proven = true;
            if !std::mem::replace(&mut state.is_logged, true) {
                tracing::warn!(
                    "protobuf was refused or failed, and JSON was received: only JSON is requested \
                     for ten minutes"
                );
            }
        }
    }

    fn failed(&self, accepted: Accepted, failure: &Failure, now: Instant) {
        let mut state = self.state();
        let is_refused = matches!(failure.code, Some(406 | 415));
        let may_be_unable = failure.code == Some(500) || failure.kind == FailureKind::Protocol;
        if !is_refused && !may_be_unable {
            return;
        }
        match accepted {
            Accepted::Both => {
                state.failures += 1;
                if is_refused || state.failures >= MOST_FAILURES {
                    state.failures = 0;
                    state.json_only = Some(JsonOnly {
                        since: now,
                        is_proven: is_refused,
                    });
                }
            }
            // It fails in either format, so the format is not the cause.
            Accepted::Json => state.json_only = state.json_only.filter(|only| only.is_proven),
            Accepted::Protobuf => {}
        }
    }

    /// Returns the format of what was received last.
    pub(crate) fn last(&self) -> Option<ReceivedWire> {
        self.state().received
    }

    fn is_json_only(&self, now: Instant) -> bool {
        let mut state = self.state();
        let is_current = |only: &JsonOnly| now.saturating_duration_since(only.since) < JSON_ONLY;
        state.json_only = state.json_only.filter(is_current);
        state.json_only.is_some()
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
