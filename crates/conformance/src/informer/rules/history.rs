//! What a scenario's server writes, as a watch that sees all of it would tell it. The steps of the
//! scenario are played to a server of our own; no informer has a part in it.

use informer_testkit::{ApiServer, Change, EventKind, Object, Resource};
use k8s_openapi::api::core::v1::ConfigMap;

use crate::informer::object_text::{display, split_key};
use crate::informer::play::burst_length;
use crate::informer::server_steps;
use crate::informer::settings::Settings;
use crate::scenario::{Scenario, Step};

/// One change, as the selection sees it.
pub(super) struct Event {
    /// The step under which a trace shows it: of a burst the last.
    pub(super) step: usize,
    pub(super) version: u64,
    kind: EventKind,
    pub(super) key: String,
    old: String,
    pub(super) new: String,
    /// What a transform that fails, fails for.
    pub(super) is_bad: bool,
}

/// All changes of a scenario.
pub(super) struct History {
    pub(super) events: Vec<Event>,
    /// The server's version after each step.
    pub(super) versions: Vec<u64>,
}

impl History {
    /// Plays the server's steps; none if they make no sense.
    pub(super) fn of(scenario: &Scenario) -> Option<Self> {
        let settings = Settings::of(scenario);
        let server = settings.server().ok()?;
        let is_blank = scenario.setting("transform") == Some("blank");
        let mut history = Self {
            events: Vec::new(),
            versions: Vec::new(),
        };
        let mut shown_until = 0;
        for (index, step) in scenario.steps.iter().enumerate() {
            if step.verb == "burst" && index >= shown_until {
                shown_until = index + burst_length(&scenario.steps[index..]);
            }
            let shown_at = index.max(shown_until.saturating_sub(1));
            if let Some(change) = written(&server, step)? {
                let seen = change.seen_by(&settings.selection().selection);
                history.events.extend(seen.map(|(kind, object)| {
                    let text = |object: &Object| shown(object, is_blank);
                    Event {
                        step: shown_at,
                        version: change.version,
                        kind,
                        key: split_text(&text(&object)),
                        old: change.before.as_ref().map(text).unwrap_or_default(),
                        new: text(&object),
                        is_bad: object.json()["data"]["v"] == "bad",
                    }
                }));
            }
            history.versions.push(server.version());
        }
        Some(history)
    }
}

impl Event {
    pub(super) fn is_deletion(&self) -> bool {
        self.kind == EventKind::Deleted
    }

    /// What a handler is told that follows the watch.
    pub(super) fn told(&self, handler: &str) -> String {
        match self.kind {
            EventKind::Added => format!("{handler} add {}", self.new),
            EventKind::Modified => format!("{handler} update {} -> {}", self.old, self.new),
            EventKind::Deleted => format!("{handler} delete {}", self.new),
        }
    }
}

fn split_text(text: &str) -> String {
    super::told::key(text).to_owned()
}

fn shown(object: &Object, is_blank: bool) -> String {
    let Ok(mut object) = object.decode::<ConfigMap>() else {
        return String::new();
    };
    if is_blank {
        object.metadata.resource_version = None;
    }
    display(&object)
}

/// Does a step; the change, if it was a write that was not refused.
fn written(server: &ApiServer, step: &Step) -> Option<Option<Change>> {
    if !matches!(step.verb.as_str(), "create" | "update" | "delete" | "skip") {
        return Some(None);
    }
    if step.verb == "skip" {
        return server_steps::apply(server, step).map(|()| None);
    }
    let configs = Resource::config_maps();
    let (namespace, name) = split_key(step.args.first()?);
    let before = server.get(&configs, namespace, name).ok();
    if step.verb == "delete" {
        let deletion = server.delete(&configs, namespace, name).ok();
        return Some(
            deletion.map(|deletion| Change::new(before, deletion.object().clone()).deletion()),
        );
    }
    let version = server.version();
    server_steps::apply(server, step)?;
    let after = server.get(&configs, namespace, name).ok();
    let after = after.filter(|after| after.version() > version);
    Some(after.map(|after| Change::new(before, after)))
}
