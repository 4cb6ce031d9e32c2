//! The healing, and the end.

use std::time::Duration;

use informer_factory::{Grace, ResourceVersion};
use informer_testkit::Resource;
use tokio::{runtime::Handle, task::yield_now, time::sleep};

use crate::{
    controlling::{Control, NAMESPACE},
    evidence::{Controlled, Ending, Evidence},
    object::{NAMESPACES, Sighting, TIERS, body},
    oracle::heal_bound,
    plan::Write,
    run::World,
    writing::sighting,
};

/// How long handlers may go on with what they have when the store is right again.
const SETTLING: Duration = Duration::from_secs(3_000);
const SECOND: Duration = Duration::from_secs(1);
/// After this an answer has come, or the informer has given up waiting for it (R6).
const IN_FLIGHT: Duration = Duration::from_secs(90);

impl World {
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
        let scope = self.plan.informer.scope;
        self.state_where(|one| {
            let namespace = one.0.metadata.namespace.as_deref();
            scope.selects(namespace.unwrap_or_default(), one.tier())
        })
    }

    fn state_where(
        &self,
        is_wanted: impl Fn(&Sighting) -> bool,
    ) -> Vec<(String, String, u64, u64)> {
        let snapshot = self.server.snapshot(&Resource::config_maps());
        let (objects, _) = snapshot.expect("config maps are known");
        let seen = objects.iter().filter_map(sighting);
        let mut state: Vec<_> = seen
            .filter(is_wanted)
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
        ending.everything = self.state_where(|_| true);
        let controlled = self.end_control(&ending).await;
        let version = ResourceVersion::from(self.server.version().to_string());
        let waited = self.informer.wait_for_version(&version, SECOND * 400).await;
        ending.version_error = waited.err().map(|error| error.to_string());
        // What cannot be used is known by now, too: the store may have been right before it came.
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
