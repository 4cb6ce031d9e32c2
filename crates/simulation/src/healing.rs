//! What is done step by step, then the healing, and the end.

use std::{future::Future, pin::pin, task::Context, time::Duration};

use futures::task::noop_waker;
use informer_factory::{Grace, InformerOptions, ResourceVersion};
use informer_testkit::{Interjection, Resource};
use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::json;
use tokio::{
    runtime::Handle,
    task::yield_now,
    time::{advance, sleep},
};

use crate::{
    FaultKind,
    evidence::{Ending, Evidence, Released},
    object::{NAMESPACES, Sighting, TIERS, body},
    oracle::heal_bound,
    plan::{Action, Write},
    requests::{SIDE, matching},
    run::World,
    writing::sighting,
};

/// How long handlers may go on with what they have when the store is right again.
const SETTLING: Duration = Duration::from_secs(3_000);
const SECOND: Duration = Duration::from_secs(1);
/// After this an answer has come, or the informer has given up waiting for it (R6).
const IN_FLIGHT: Duration = Duration::from_secs(90);

impl World {
    fn did(&mut self, what: String) {
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

    /// Drops calls of ours in the middle, and a whole informer.
    async fn cancel(&mut self, polls: u32) {
        self.count(FaultKind::Cancel);
        let version = ResourceVersion::from((self.server.version() + 1).to_string());
        poll_and_drop(
            self.informer.wait_for_version(&version, SECOND * 900),
            polls,
        );
        poll_and_drop(self.informer.wait_for_sync(SECOND * 900), polls);
        poll_and_drop(self.joined[0].joined.registration.synced(), polls);
        let selector = format!("tier={SIDE}{}", self.released.len());
        let options = InformerOptions::<ConfigMap>::new().labels(selector.clone());
        let side = self
            .factory
            .informer_with(options)
            .expect("the factory runs");
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

    /// Ends all faults, and waits until the store is what the server holds.
    pub(crate) async fn heal(&mut self) -> Ending {
        self.server.clear_faults();
        if self.plan.heals_by_list {
            // What is on its way may lie, and must not come after the list that puts it right.
            sleep(IN_FLIGHT).await;
            // Beyond whatever anybody was told before a restore.
            self.server.skip_versions(10_000);
            self.server.compact();
        }
        self.server.cut_watches();
        let mut ending = Ending {
            healed: self.now(),
            ..Ending::default()
        };
        self.did("healed".to_owned());
        for name in 0..3 {
            self.write(Write::Put {
                namespace: name % 2,
                name,
            });
        }
        let latest = ending.healed + heal_bound(&self.plan) + SECOND * 30;
        while ending.converged.is_none() && self.now() < latest {
            sleep(SECOND).await;
            if self.is_converged() {
                ending.converged = Some(self.now());
            }
            self.sample();
        }
        ending
    }

    /// Key, uid, version and serial of all that is selected, from the server itself.
    fn server_state(&self) -> Vec<(String, String, u64, u64)> {
        let snapshot = self.server.snapshot(&Resource::config_maps());
        let (objects, _) = snapshot.expect("config maps are known");
        let scope = self.plan.informer.scope;
        let seen = objects.iter().filter_map(sighting);
        let mut state: Vec<_> = seen
            .filter(|one| {
                let namespace = one.0.metadata.namespace.as_deref();
                scope.selects(namespace.unwrap_or_default(), one.tier())
            })
            .map(|one| (one.key(), one.uid().to_owned(), one.version(), one.serial()))
            .collect();
        state.sort_unstable();
        state
    }

    fn is_converged(&self) -> bool {
        let refused = self.plan.informer.refuses_multiples;
        let is_refused = |serial: u64| refused.is_some_and(|by| serial.is_multiple_of(by));
        let server = self.server_state();
        let wanted = server.iter().filter(|(.., serial)| !is_refused(*serial));
        let held = self.held();
        let has = |key: &str| held.iter().find(|(one, _)| one.as_str() == key);
        let all_there = wanted.clone().all(|(key, uid, version, _)| {
            has(key).is_some_and(|(_, one)| one.uid() == uid && one.version() == *version)
        });
        let on_server = |one: &str| server.iter().any(|(key, ..)| key == one);
        all_there && held.iter().all(|(key, _)| on_server(key.as_str()))
    }

    /// Waits for the handlers, shuts down, and looks what is left.
    pub(crate) async fn finish(mut self, mut ending: Ending) -> Evidence {
        let latest = self.now() + SETTLING;
        while self.now() < latest && self.joined.iter().any(crate::run::Member::is_behind) {
            sleep(SECOND * 5).await;
        }
        // Whoever had nothing to do has had time to see that nothing came.
        sleep(SECOND * 20).await;
        self.sample();
        ending.server = self.server_state();
        ending.quarantined = self.informer.quarantined();
        let version = ResourceVersion::from(self.server.version().to_string());
        let waited = self.informer.wait_for_version(&version, SECOND * 400).await;
        ending.version_error = waited.err().map(|error| error.to_string());
        self.shut_down(&mut ending).await;
        self.into_evidence(ending)
    }

    async fn shut_down(&mut self, ending: &mut Ending) {
        let from = self.now();
        for member in &mut self.joined {
            if let Some(reader) = member.joined.reader.take() {
                reader.abort();
            }
        }
        yield_now().await;
        ending.is_idle = !self.joined.iter().any(crate::run::Member::is_behind);
        let report = self.factory.shutdown(Grace::default()).await;
        ending.shutdown = self.now() - from;
        ending.is_shutdown_complete = report.is_ok_and(|report| report.is_complete());
        let (requests, told, held) = (self.server.requests().len(), self.told(), self.held());
        // Not in the truth: nobody is to hear of it.
        let unheard = body(NAMESPACES[0], "unheard", TIERS[0], 0);
        let created = self.server.create(&Resource::config_maps(), unheard);
        created.expect("nobody else has that name");
        sleep(SECOND * 700).await;
        ending.requests_after = self.server.requests().len() - requests;
        ending.told_after = self.told() - told;
        ending.open_watches = self.server.open_watches(&Resource::config_maps());
        let now = self.held();
        let same = |((a, left), (b, right)): (&(_, Sighting), &(_, Sighting))| {
            a == b && left.is_same(right)
        };
        ending.is_store_frozen = held.len() == now.len() && held.iter().zip(&now).all(same);
        ending.state = Some(self.informer.status().state);
        // What is left is the client's own worker, which goes with the client.
        ending.tasks_left = Handle::current()
            .metrics()
            .num_alive_tasks()
            .saturating_sub(1);
    }

    fn told(&self) -> usize {
        self.joined
            .iter()
            .map(|one| one.joined.notebook.told().len())
            .sum()
    }
}

impl crate::run::Member {
    fn is_behind(&self) -> bool {
        let status = self.joined.registration.status();
        status.phase != informer_factory::processor::ListenerPhase::Ended && status.depth > 0
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
