//! The healing, and the end.

use std::{collections::BTreeMap, time::Duration};

use informer_factory::{Grace, ResourceVersion};
use informer_testkit::{Object, Resource};
use tokio::{runtime::Handle, task::yield_now, time::sleep};

use crate::{
    controlling::{Control, NAMESPACE},
    evidence::{Controlled, Ending, Evidence},
    object::{Form, NAMESPACES, Sighting, TIERS, body},
    oracle::heal_bound,
    plan::Write,
    run::World,
    writing::{key, serial, tier},
};

/// How long handlers may go on with what they have when the store is right again.
const SETTLING: Duration = Duration::from_secs(3_000);
const SECOND: Duration = Duration::from_secs(1);
/// After this an answer has come, or the informer has given up waiting for it (R6).
const IN_FLIGHT: Duration = Duration::from_secs(90);

impl<T: Form> World<T> {
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

    /// All that is selected, from the server itself.
    fn selected(&self) -> Vec<Object> {
        let scope = self.plan.informer.scope;
        let mut selected = self.on_server();
        selected.retain(|one| scope.selects(one.namespace().unwrap_or_default(), tier(one)));
        selected
    }

    /// All there is, from the server itself.
    fn on_server(&self) -> Vec<Object> {
        let snapshot = self.server.snapshot(&Resource::config_maps());
        snapshot.expect("config maps are known").0
    }

    fn is_converged(&self) -> bool {
        let refused = self.plan.informer.refuses_multiples;
        let is_refused = |one: &Object| refused.is_some_and(|by| serial(one).is_multiple_of(by));
        let server = self.selected();
        let server: BTreeMap<String, &Object> = server.iter().map(|one| (key(one), one)).collect();
        let held = self.held();
        let held: BTreeMap<&str, &Sighting> =
            held.iter().map(|(key, one)| (key.as_str(), one)).collect();
        let is_held = |(key, one): (&String, &&Object)| {
            let held = held.get(key.as_str());
            held.is_some_and(|held| held.uid() == one.uid() && held.version() == one.version())
                || is_refused(one)
        };
        server.iter().all(is_held) && held.keys().all(|key| server.contains_key(*key))
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
        ending.server = states(&self.selected());
        ending.everything = states(&self.on_server());
        let controlled = self.end_control(&ending).await;
        let version = ResourceVersion::from(self.server.version());
        let waited = self.informer.wait_for_version(&version, SECOND * 400).await;
        ending.version_error = waited.err().map(|error| error.to_string());
        // What cannot be used is known by now, too: the store may have been right before it came.
        self.sample();
        ending.quarantined = self.informer.quarantined();
        self.shut_down(&mut ending).await;
        self.into_evidence(ending, controlled)
    }

    /// Lets the controller go on with what it has, then ends it.
    async fn end_control(&mut self, ending: &Ending) -> Option<Controlled> {
        let control = self.control.take()?;
        let is_there = |control: &Control| {
            let held = control.held();
            let followed = ending.everything.iter();
            let followed = followed.filter(|(key, ..)| key.starts_with(NAMESPACE));
            let held = held
                .iter()
                .map(|(key, held)| (key.as_str(), held.version()));
            held.eq(followed.map(|(key, _, version, _)| (key.as_str(), *version)))
        };
        let latest = self.now() + SETTLING;
        while self.now() < latest && !is_there(&control) {
            sleep(SECOND * 5).await;
        }
        Some(control.end().await)
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
        let unheard = body(NAMESPACES[0], "unheard", TIERS[0], 0, None);
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

/// Key, uid, version and serial of each.
fn states(objects: &[Object]) -> Vec<(String, String, u64, u64)> {
    let state = |one: &Object| (key(one), one.uid().to_owned(), one.version(), serial(one));
    let mut states: Vec<_> = objects.iter().map(state).collect();
    states.sort_unstable();
    states
}

impl crate::run::Member {
    fn is_behind(&self) -> bool {
        let status = self.joined.registration.status();
        status.phase != informer_factory::processor::ListenerPhase::Ended && status.depth > 0
    }
}
