//! What is done step by step.

use std::{future::Future, pin::pin, task::Context, time::Duration};

use futures::task::noop_waker;
use informer_factory::{Grace, InformerOptions, ResourceVersion};
use informer_testkit::{Interjection, Resource};
use serde_json::json;
use tokio::{task::yield_now, time::advance};

use crate::{
    FaultKind,
    controlling::NAMESPACE,
    evidence::Released,
    object::{Form, body},
    plan::{Action, Scope, Write},
    requests::{SIDE, matching},
    run::World,
};

const SECOND: Duration = Duration::from_secs(1);

impl<T: Form> World<T> {
    pub(crate) fn did(&mut self, what: String) {
        let at = self.now();
        self.deeds.push((at, what));
    }

    pub(crate) async fn act(&mut self, action: Action) {
        if !matches!(
            action,
            Action::Write(Write::Put { .. } | Write::Delete { .. })
        ) {
            self.did(format!("{action:?}"));
        }
        match action {
            Action::Start => self.informer.start().expect("there is a runtime"),
            Action::Repeat => self.repeat(),
            Action::Write(write) => self.act_write(write),
            Action::Script(kind, requests, fault, times) => {
                let id = self.server.fault(matching(requests), fault, times);
                self.scripted.push((kind, id));
                if kind.forges_versions() {
                    self.rewound();
                }
            }
            Action::Unscript(kind) => {
                let ids = self.scripted.iter().filter(|(one, _)| *one == kind);
                ids.for_each(|(_, id)| self.server.remove_fault(*id));
            }
            Action::Compact => {
                self.count(FaultKind::Compaction);
                self.server.compact_and_forget();
            }
            Action::Restore(back) => self.restore(back),
            Action::Cut => self.server.cut_watches(),
            Action::Close => self.server.close_watches(),
            Action::Silence(kind) => {
                self.count(kind);
                self.server.silence_watches();
            }
            Action::LowerBookmark(back) => self.lower_bookmark(back),
            Action::Add(kind, plan) => {
                self.count(kind);
                self.join(plan);
            }
            Action::Remove(index) => {
                if self.remove(index).await.is_some() {
                    self.count(FaultKind::HandlerRemove);
                }
            }
            Action::Readd(index) => {
                if let Some(plan) = self.remove(index).await {
                    self.count(FaultKind::HandlerReadd);
                    self.join(plan);
                }
            }
            Action::AddIndex => {
                self.count(FaultKind::IndexAdd);
                self.add_index();
            }
            Action::Jump(by) => {
                self.count(FaultKind::ClockJump);
                self.jumped += by;
                advance(by).await;
            }
            Action::Cancel(polls) => self.cancel(polls).await,
            Action::Skip(count) => self.server.skip_versions(count),
        }
    }

    fn act_write(&mut self, write: Write) {
        let kind = match write {
            Write::Recreate { .. } => Some(FaultKind::UidChange),
            Write::Flash { .. } => Some(FaultKind::Ephemeral),
            Write::FlipLabel { .. } => Some(FaultKind::LabelFlip),
            Write::Wipe { .. } => Some(FaultKind::Wipe),
            Write::Put { .. } | Write::Delete { .. } => None,
        };
        if let Some(kind) = kind.filter(|kind| self.plan.kinds.contains(kind)) {
            self.count(kind);
        }
        self.write(write);
    }

    fn rewound(&mut self) {
        let now = self.now();
        self.rewound_at.get_or_insert(now);
    }

    fn restore(&mut self, back: u64) {
        let version = self.server.version().saturating_sub(back);
        let version = version.max(self.plan.server.starting_version);
        if self.server.restore(version).is_ok() {
            self.truth.rewind(version);
            self.count(FaultKind::Restore);
            self.rewound();
        }
    }

    fn lower_bookmark(&mut self, back: u64) {
        self.rewound();
        self.count(FaultKind::LowerBookmark);
        let version = self
            .server
            .version()
            .saturating_sub(back)
            .max(1)
            .to_string();
        let line = json!({"type": "BOOKMARK", "object": {
            "kind": "ConfigMap", "apiVersion": "v1", "metadata": {"resourceVersion": version},
        }});
        let said = self
            .server
            .interject(&Resource::config_maps(), Interjection::Line(line));
        said.expect("config maps are known");
    }

    /// FM-37: tells open watches of a state that has a successor. Only of the namespace that all
    /// who watch without a selector have.
    fn repeat(&mut self) {
        let scope = self.plan.informer.scope;
        let writes = &self.truth.writes;
        let is_repeatable = |index: &usize| {
            let one = &writes[*index];
            let mut later = writes[index + 1..].iter();
            let is_live = !one.is_deletion && !one.is_undone && one.key.starts_with(NAMESPACE);
            is_live && later.any(|next| next.key == one.key && next.uid == one.uid)
        };
        let found = (0..writes.len()).rev().find(is_repeatable);
        let Some(one) = found
            .filter(|_| scope == Scope::All)
            .map(|index| &writes[index])
        else {
            return;
        };
        let (namespace, name) = one.key.split_once('/').unwrap_or_default();
        let template = self.plan.informer.template(one.serial);
        let mut object = body(namespace, name, &one.tier, one.serial, template);
        object["metadata"]["uid"] = json!(one.uid);
        object["metadata"]["resourceVersion"] = json!(one.version.to_string());
        let line = json!({"type": "MODIFIED", "object": object});
        self.count(FaultKind::Replay);
        let said = self
            .server
            .interject(&Resource::config_maps(), Interjection::Line(line));
        said.expect("config maps are known");
    }

    /// Drops calls of ours in the middle, and a whole informer.
    async fn cancel(&mut self, polls: u32) {
        self.count(FaultKind::Cancel);
        let version = ResourceVersion::from(self.server.version() + 1);
        poll_and_drop(
            self.informer.wait_for_version(&version, SECOND * 900),
            polls,
        );
        poll_and_drop(self.informer.wait_synced(SECOND * 900), polls);
        poll_and_drop(
            self.joined[0].joined.registration.wait_synced(SECOND * 900),
            polls,
        );
        let selector = format!("tier={SIDE}{}", self.released.len());
        let options = InformerOptions::new().labels(selector.clone());
        let options = options.wire(self.plan.informer.wire);
        let side = T::informer(&self.factory, options).expect("the factory runs");
        side.start().expect("there is a runtime");
        for _ in 0..polls * 3 {
            yield_now().await;
        }
        let from = self.now();
        let released = self.factory.release(&side, Grace::default()).await;
        released.expect("not from a callback");
        let selector = selector.replace('=', "%3D");
        self.released.push(Released {
            selector,
            from,
            until: self.now(),
        });
    }
}

fn poll_and_drop<F: Future>(future: F, polls: u32) {
    let mut future = pin!(future);
    let waker = noop_waker();
    let mut context = Context::from_waker(&waker);
    for _ in 0..polls {
        if future.as_mut().poll(&mut context).is_ready() {
            return;
        }
    }
}
