//! Looks for payloads where none belong (SEC-6, SEC-7, SEC-9, SEC-10).
//!
//! While it is on, objects carry a mark, transforms and proxies quote it, and everything that a
//! user might print is searched for it: log lines of every level, names and labels of metrics, and
//! what the values in a user's hands show of themselves. It is one for the whole process, as logs
//! are, and off unless [`listen`] was called: the mark makes objects longer, and so other runs.
//!
//! Only lines of our own crates count as ours. What others write, such as the client or its
//! transport, is searched as well and told apart.

use std::{
    error::Error,
    fmt::{self, Write},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use informer_factory::QuarantineReason;
use metrics::{Counter, Gauge, Histogram, Key, KeyName, Recorder, SharedString, Unit};
use serde_json::{Value, json};
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

use crate::{object::Form, run::World};

/// What no text may hold.
const MARK: &str = "CANARY-d1f0";
/// Where the targets of our own log lines begin, and the places that we name.
const OURS: &str = "informer";
/// So many hits are kept; the others are counted.
const KEPT: usize = 20;

static IS_ON: AtomicBool = AtomicBool::new(false);
static SEARCHED: Mutex<Searched> = Mutex::new(Searched {
    texts: 0,
    hits: 0,
    places: Vec::new(),
    foreign: Vec::new(),
});

/// What was searched, and what was found.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Searched {
    /// How many texts of ours were looked through.
    pub texts: u64,
    /// How many of them held the mark.
    pub hits: u64,
    /// The first of these, each by its place.
    pub places: Vec<String>,
    /// Targets of others whose lines held it.
    pub foreign: Vec<String>,
}

/// Switches it on, for good; `false` if somebody else in this process listens to logs or metrics.
pub fn listen() -> bool {
    let hears = tracing::subscriber::set_global_default(Listener).is_ok()
        && metrics::set_global_recorder(Labels).is_ok();
    IS_ON.store(hears, Ordering::Relaxed);
    hears
}

/// What has been found so far.
pub fn searched() -> Searched {
    lock().clone()
}

fn lock() -> MutexGuard<'static, Searched> {
    SEARCHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The mark, or nothing while it is off: for texts that quote objects.
pub(crate) fn mark() -> &'static str {
    match IS_ON.load(Ordering::Relaxed) {
        true => MARK,
        false => "",
    }
}

/// Puts the mark where secrets are: into the data, and into the copy that `kubectl apply` keeps.
pub(crate) fn mark_object(object: &mut Value) {
    if mark().is_empty() {
        return;
    }
    object["data"]["token"] = MARK.into();
    let copy = json!({"data": {"token": MARK}}).to_string();
    object["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] =
        copy.into();
}

/// Searches what a value shows of itself.
pub(crate) fn shows(place: &str, value: &impl fmt::Debug) {
    if !mark().is_empty() {
        search(place, &format!("{value:?}\n{value:#?}"));
    }
}

/// Searches an error and all its causes.
fn says(place: &str, error: &dyn Error) {
    let mut cause = Some(error);
    while let Some(error) = cause {
        search(place, &format!("{error}\n{error:?}"));
        cause = error.source();
    }
}

fn search(place: &str, text: &str) {
    let found = text.contains(MARK);
    let mut searched = lock();
    if place.starts_with(OURS) {
        searched.texts += 1;
        searched.hits += u64::from(found);
        if found && searched.places.len() < KEPT {
            searched.places.push(format!("{place}: {text}"));
        }
    } else if found && !searched.foreign.iter().any(|known| known == place) {
        searched.foreign.push(place.to_owned());
    }
}

impl<T: Form> World<T> {
    /// Searches everything that a user has in hand at this moment.
    pub(crate) fn search_for_payloads(&self) {
        if mark().is_empty() {
            return;
        }
        let informer = &self.informer;
        let (reader, lister) = (informer.reader(), informer.lister());
        let snapshot = reader.snapshot();
        shows("informer", informer);
        shows("informer factory", &self.factory);
        shows("informer role", &self.factory.rbac_role("reader"));
        shows("informer status", &informer.status());
        shows("informer lister", &(&lister, lister.namespace("n0")));
        shows("informer reader", &(&reader, &snapshot, snapshot.iter()));
        shows("informer index", &self.index);
        for entry in snapshot.iter() {
            shows("informer entry", &entry);
        }
        for source in informer.status().sources {
            if let Some(failure) = source.failure {
                says("informer failure", &failure);
            }
        }
        for quarantined in informer.quarantined() {
            shows("informer quarantine", &quarantined);
            if let QuarantineReason::Undecodable(error) = &quarantined.reason {
                says("informer quarantine", error);
            }
        }
        for member in &self.joined {
            let registration = &member.joined.registration;
            shows("informer handler", &(registration, registration.status()));
        }
    }
}

/// Hears every line and span of every level.
struct Listener;

impl Subscriber for Listener {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &span::Attributes<'_>) -> span::Id {
        let mut text = Text::default();
        span.record(&mut text);
        search(span.metadata().target(), &text.0);
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, values: &span::Record<'_>) {
        let mut text = Text::default();
        values.record(&mut text);
        // Whose span it is was said when it began; here it may be anybody's.
        search(OURS, &text.0);
    }

    fn event(&self, event: &Event<'_>) {
        let mut text = Text::default();
        event.record(&mut text);
        search(event.metadata().target(), &text.0);
    }

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

/// All fields of one line.
#[derive(Default)]
struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        write!(self.0, "{}={value:?} ", field.name()).expect("a string takes all");
    }

    fn record_error(&mut self, _: &Field, error: &(dyn Error + 'static)) {
        says(OURS, error);
    }
}

/// Hears every name and label of a metric.
struct Labels;

impl Recorder for Labels {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &metrics::Metadata<'_>) -> Counter {
        shows("informer metric", key);
        Counter::noop()
    }

    fn register_gauge(&self, key: &Key, _: &metrics::Metadata<'_>) -> Gauge {
        shows("informer metric", key);
        Gauge::noop()
    }

    fn register_histogram(&self, key: &Key, _: &metrics::Metadata<'_>) -> Histogram {
        shows("informer metric", key);
        Histogram::noop()
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;

    use super::*;

    /// The search finds what it is there for. One test, since it is one for the process.
    #[test]
    fn what_shows_an_object_is_found() {
        let mut object = json!({"metadata": {}, "data": {}});
        mark_object(&mut object);
        assert_eq!(object["data"]["token"], Value::Null, "off unless asked for");
        assert!(listen(), "nobody else listens");
        mark_object(&mut object);
        let object: ConfigMap = serde_json::from_value(object).expect("a config map");
        shows("informer value", &"nothing");
        assert_eq!(searched().hits, 0);
        shows("informer value", &object);
        assert_eq!(searched().hits, 1, "Debug");
        says("informer error", &fmt::Error);
        assert_eq!(searched().hits, 1);
        says("informer error", &std::io::Error::other(mark()));
        assert_eq!(searched().hits, 2, "an error");
        metrics::counter!("informer_test_total", "object" => mark()).increment(1);
        assert_eq!(searched().hits, 3, "a label");
    }
}
