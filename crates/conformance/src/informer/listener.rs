//! The handlers: each writes down what it is told, waits at its gate, and panics where it is to.

use std::future::Future;
use std::sync::{Arc, Mutex};

use informer_factory::{
    Added, AsyncHandler, Deleted, Notification, ObjectKey, Registration, Updated,
};
use tokio::sync::watch;

use super::form::Form;
use super::object_text::{display, short_key};
use crate::scenario::Step;

/// One handler of a scenario, seen from outside.
pub(super) struct Listener {
    pub(super) name: String,
    pub(super) registration: Registration,
    pub(super) is_synced: bool,
    /// A name is free again when its handler has left; what it is told then counts all the same.
    pub(super) has_left: bool,
    lines: Arc<Mutex<Vec<String>>>,
    gate: watch::Sender<bool>,
}

/// What the informer calls.
pub(super) struct Ear {
    name: String,
    panics: Option<String>,
    lines: Arc<Mutex<Vec<String>>>,
    gate: watch::Receiver<bool>,
}

impl Ear {
    /// `handler <name> [panic=<key>] [blocked]`
    pub(super) fn new(name: &str, step: &Step) -> (Self, watch::Sender<bool>) {
        let (gate, gated) = watch::channel(!step.has("blocked"));
        let ear = Self {
            name: name.to_owned(),
            panics: step.option("panic").map(str::to_owned),
            lines: Arc::default(),
            gate: gated,
        };
        (ear, gate)
    }

    /// Joins, by what `add` says.
    pub(super) fn join<E>(
        self,
        gate: watch::Sender<bool>,
        add: impl FnOnce(Self) -> Result<Registration, E>,
    ) -> Result<Listener, E> {
        let (name, lines) = (self.name.clone(), Arc::clone(&self.lines));
        let registration = add(self)?;
        Ok(Listener {
            name,
            registration,
            is_synced: false,
            has_left: false,
            lines,
            gate,
        })
    }

    fn describe<T: Form>(&self, told: &Notification<ObjectKey, T>) -> (String, Option<Arc<T>>) {
        let display = |object: &T| display(&object.whole());
        match told {
            Notification::Added(Added {
                object, initial, ..
            }) => {
                let initial = if *initial { " initial" } else { "" };
                let text = format!("add {}{initial}", display(object));
                (text, Some(Arc::clone(object)))
            }
            Notification::Updated(Updated { old, new, .. }) => {
                let text = format!("update {} -> {}", display(old), display(new));
                (text, Some(Arc::clone(new)))
            }
            Notification::Deleted(deleted) => {
                let word = match deleted {
                    Deleted::Known { .. } => "delete",
                    Deleted::Unknown { .. } => "gone",
                    Deleted::MovedAway { .. } => "moved",
                };
                let last = deleted.last().cloned();
                let text = last.as_deref().map_or("-".to_owned(), &display);
                (format!("{word} {text}"), last)
            }
        }
    }
}

impl<T: Form> AsyncHandler<ObjectKey, T> for Ear {
    fn on_notification(
        &mut self,
        told: Arc<Notification<ObjectKey, T>>,
    ) -> impl Future<Output = ()> + Send {
        let (text, object) = self.describe(&told);
        let culprit =
            object.filter(|object| self.panics.as_ref() == Some(&short_key(&object.whole())));
        let mut lines = self.lines.lock().expect("no panic under it");
        lines.push(format!("{} {text}", self.name));
        if let Some(culprit) = &culprit {
            lines.push(format!("{} panic {}", self.name, display(&culprit.whole())));
        }
        drop(lines);
        let mut gate = self.gate.clone();
        async move {
            // A sender that is gone opens the gate for good.
            drop(gate.wait_for(|is_open| *is_open).await);
            if culprit.is_some() {
                // As a panic, without the message on standard error.
                std::panic::resume_unwind(Box::new("a scenario said so"));
            }
        }
    }
}

impl Listener {
    pub(super) fn unblock(&self) {
        self.gate.send_replace(true);
    }

    /// What it was told since the last time.
    pub(super) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.lines.lock().expect("no panic under it"))
    }
}
