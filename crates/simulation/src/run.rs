//! Carries out a plan, on a current-thread runtime with a paused clock, and has it judged.

use std::{
    collections::BTreeMap,
    num::NonZeroU32,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use informer_factory::{
    Index, InformerOptions, Namespaces, SharedInformer, SharedInformerFactory, Transform, reflector,
};
use informer_testkit::{ApiServer, FaultId};
use k8s_openapi::api::core::v1::ConfigMap;
use kube_client::Client;
use tokio::time::{Instant, sleep_until};

use crate::{
    FaultKind, Violation, canary,
    evidence::{Ending, Evidence, Left, Listened, Released, Sample},
    listener::{self, Joined},
    object::{Held, NAMESPACES, Sighting, TIERS, group, serial_of},
    oracle,
    plan::{ListenerPlan, Manner, Plan, Scope},
    story, trace,
    truth::Truth,
};

/// How far apart looks are, where nothing happens.
const LOOK: Duration = Duration::from_secs(10);
/// A run with fewer events tells nothing (T3).
const FEWEST_EVENTS: usize = 20;

/// What became of one seed.
#[derive(Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The seed.
    pub seed: u64,
    /// The same for every run of the seed.
    pub trace: u64,
    /// Fewer than 20 events, or no fault: the run has shown nothing (T3).
    pub is_void: bool,
    /// How many events handlers were told of.
    pub events: usize,
    /// How often each kind of fault happened.
    pub hits: Vec<(FaultKind, u64)>,
    /// What does not hold, the first first; empty if all does.
    pub violations: Vec<Violation>,
    /// What happened; empty for a run that was asked not to tell and in which all holds.
    pub story: String,
}

/// Runs one seed. `tells` asks for the story also if all holds.
///
/// # Panics
///
/// If a part that is simulated panics where it must not, or if no runtime can be made.
pub fn simulate(seed: u64, tells: bool) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime without IO can always be made");
    let evidence = runtime.block_on(execute(Plan::draw(seed)));
    drop(runtime);
    let violations = oracle::judge(&evidence);
    let met = evidence.hits.iter().map(|(_, hits)| hits).sum::<u64>();
    let story = match tells || !violations.is_empty() {
        true => story::tell(&evidence, &violations),
        false => String::new(),
    };
    Outcome {
        seed,
        trace: trace::hash(&evidence),
        is_void: evidence.events() < FEWEST_EVENTS || met == 0,
        events: evidence.events(),
        hits: evidence.hits,
        violations,
        story,
    }
}

/// A handler that has joined, and what was there when it did.
pub(crate) struct Member {
    pub(crate) plan: ListenerPlan,
    pub(crate) joined: Joined,
    at: Duration,
    present: Vec<Held>,
    is_early: bool,
    left: Option<Left>,
}

/// Everything of a run while it goes on.
pub(crate) struct World {
    pub(crate) server: ApiServer,
    pub(crate) factory: SharedInformerFactory,
    pub(crate) informer: SharedInformer<ConfigMap>,
    pub(crate) index: Option<Index<ConfigMap>>,
    pub(crate) start: Instant,
    pub(crate) plan: Plan,
    pub(crate) truth: Truth,
    pub(crate) serial: u64,
    pub(crate) joined: Vec<Member>,
    pub(crate) samples: Vec<Sample>,
    pub(crate) deeds: Vec<(Duration, String)>,
    pub(crate) counts: BTreeMap<FaultKind, u64>,
    pub(crate) scripted: Vec<(FaultKind, FaultId)>,
    pub(crate) rewound_at: Option<Duration>,
    pub(crate) jumped: Duration,
    pub(crate) released: Vec<Released>,
    refused: Arc<AtomicU64>,
}

async fn execute(plan: Plan) -> Evidence {
    let mut world = World::new(plan);
    for write in world.plan.initial.clone() {
        world.write(write);
    }
    if world.plan.informer.index_before_start {
        world.add_index();
    }
    for listener in world.plan.listeners.clone() {
        world.join(listener);
    }
    world.sample();
    world.informer.start().expect("there is a runtime");
    for step in std::mem::take(&mut world.plan.steps) {
        world.wait_until(step.at).await;
        world.act(step.what).await;
    }
    world.wait_until(crate::plan::FAULTS).await;
    let ending = world.heal().await;
    world.finish(ending).await
}

impl World {
    fn new(plan: Plan) -> Self {
        let mut builder = ApiServer::builder()
            .seed(plan.seed)
            .readable_uids()
            .starting_version(plan.server.starting_version)
            .bookmark_interval(plan.server.bookmark_interval)
            .history_limit(plan.server.history_limit);
        if let Some(limit) = plan.server.page_limit {
            builder = builder.page_limit(limit);
        }
        let server = builder.build();
        let mut config = reflector::Config::default();
        config.streaming = plan.informer.streaming;
        config.page_size = plan.informer.page_size.and_then(NonZeroU32::new);
        let client = Client::new(server.service(), "default");
        let factory = SharedInformerFactory::builder(client)
            .queue(plan.informer.queue)
            .seed(plan.informer.seed)
            .reflector(config)
            .build();
        let refused = Arc::new(AtomicU64::new(0));
        let informer = factory.informer_with(options(&plan, &refused));
        let informer = informer.expect("the options fit together");
        Self {
            server,
            factory,
            informer,
            index: None,
            start: Instant::now(),
            plan,
            truth: Truth::default(),
            serial: 0,
            joined: Vec::new(),
            samples: Vec::new(),
            deeds: Vec::new(),
            counts: BTreeMap::new(),
            scripted: Vec::new(),
            rewound_at: None,
            jumped: Duration::ZERO,
            released: Vec::new(),
            refused,
        }
    }

    pub(crate) fn now(&self) -> Duration {
        self.start.elapsed()
    }

    pub(crate) fn count(&mut self, kind: FaultKind) {
        *self.counts.entry(kind).or_default() += 1;
    }

    pub(crate) fn add_index(&mut self) {
        if self.index.is_none() {
            self.index = self.informer.add_index("group", group).ok();
        }
    }

    pub(crate) fn held(&self) -> Vec<Held> {
        let snapshot = self.informer.reader().snapshot();
        let all = snapshot.iter();
        all.map(|(key, entry)| (key.clone(), Sighting(Arc::clone(&entry.object))))
            .collect()
    }

    pub(crate) fn join(&mut self, plan: ListenerPlan) {
        let (at, present) = (self.now(), self.held());
        let is_early = !self.informer.has_synced();
        if let Some(joined) = listener::join(&self.informer, plan, self.start) {
            self.joined.push(Member {
                plan,
                joined,
                at,
                present,
                is_early,
                left: None,
            });
        }
    }

    /// Removes one that is still there.
    pub(crate) async fn remove(&mut self, index: usize) -> Option<ListenerPlan> {
        // The first is the one others are measured by.
        let count = self.joined.len();
        let index = 1 + index % count.saturating_sub(1).max(1);
        let registration = self.joined.get(index)?.joined.registration.clone();
        if self.joined[index].left.is_some() {
            return None;
        }
        let removed = registration.remove();
        let told = self.joined[index].joined.notebook.told().len();
        let left = Left {
            at: self.now(),
            told,
        };
        self.joined[index].left = Some(left);
        // A blocked one would be waited for until it returns; what matters begins at the call.
        drop(tokio::time::timeout(Duration::from_secs(1), removed).await);
        Some(self.joined[index].plan)
    }

    async fn wait_until(&mut self, at: Duration) {
        while self.now() + LOOK < at {
            let next = self.start + self.now() + LOOK;
            sleep_until(next).await;
            self.sample();
        }
        if self.now() < at {
            sleep_until(self.start + at).await;
            self.sample();
        }
    }

    fn hits(&self) -> Vec<(FaultKind, u64)> {
        let mut counts = self.counts.clone();
        for (kind, id) in &self.scripted {
            *counts.entry(*kind).or_default() += self.server.fault_hits(*id);
        }
        for member in &self.joined {
            let told = member.joined.notebook.told().len() as u64;
            let (kind, hits) = match member.plan.manner {
                Manner::Slow(_) => (FaultKind::HandlerSlow, told),
                Manner::Blocked(..) => (FaultKind::HandlerBlocked, told),
                Manner::Reenters(_) => (FaultKind::HandlerReenters, told),
                Manner::Panics(_) => {
                    let panics = member.joined.notebook.panics.load(Ordering::Relaxed);
                    (FaultKind::HandlerPanics, panics)
                }
                _ => continue,
            };
            *counts.entry(kind).or_default() += hits;
        }
        let refused = self.refused.load(Ordering::Relaxed);
        *counts.entry(FaultKind::TransformError).or_default() += refused;
        if self.plan.kinds.contains(&FaultKind::SeedExtremes) {
            *counts.entry(FaultKind::SeedExtremes).or_default() += 1;
        }
        counts.into_iter().filter(|(_, hits)| *hits > 0).collect()
    }

    /// Turns what is left into evidence.
    pub(crate) fn into_evidence(self, ending: Ending) -> Evidence {
        let hits = self.hits();
        let listeners = self.joined.into_iter().map(|member| {
            let status = member.joined.registration.status();
            let notebook = &member.joined.notebook;
            let left = member.left.or_else(|| left_by_itself(&member));
            Listened {
                plan: member.plan,
                joined: member.at,
                present: member.present,
                is_early: member.is_early,
                told: std::mem::take(&mut *notebook.told()),
                overlaps: notebook.overlaps.load(Ordering::Relaxed),
                panics_planned: notebook.panics.load(Ordering::Relaxed),
                panics_counted: status.panics,
                left,
                is_synced: member.joined.registration.has_synced(),
                depth: status.depth,
                has_resync: member
                    .plan
                    .resync
                    .or(self.plan.informer.default_resync)
                    .is_some_and(|period| !period.is_zero()),
            }
        });
        Evidence {
            listeners: listeners.collect(),
            truth: self.truth,
            requests: self.server.requests(),
            samples: self.samples,
            deeds: self.deeds,
            hits,
            rewound_at: self.rewound_at,
            jumped: self.jumped,
            released: self.released,
            plan: self.plan,
            ending,
        }
    }
}

/// One that removes itself says when by its plan.
fn left_by_itself(member: &Member) -> Option<Left> {
    let Manner::Reenters(last) = member.plan.manner else {
        return None;
    };
    let told = usize::try_from(last).ok()?;
    let notes = member.joined.notebook.told();
    let at = notes.get(told.checked_sub(1)?)?.at;
    Some(Left { at, told })
}

fn options(plan: &Plan, refused: &Arc<AtomicU64>) -> InformerOptions<ConfigMap> {
    let mut options = InformerOptions::new();
    match plan.informer.scope {
        Scope::All => {}
        Scope::Tier => options = options.labels(format!("tier={}", TIERS[0])),
        Scope::Namespaces => {
            let names = NAMESPACES[..2].iter().map(|name| (*name).to_owned());
            options = options.namespaces(Namespaces::These(names.collect()));
        }
    }
    // Small enough for a fault to pass it; and no batch is worth a thread, whose wake-ups no seed
    // decides.
    options.limits.object_bytes = 8 * 1024;
    options.limits.event_bytes = 48 * 1024;
    if let Some(period) = plan.informer.default_resync {
        options = options.default_resync(period);
    }
    if let Some(divisor) = plan.informer.refuses_multiples {
        let refused = Arc::clone(refused);
        options = options.transform(Transform::new(move |object: ConfigMap| {
            if serial_of(&object).is_multiple_of(divisor) {
                refused.fetch_add(1, Ordering::Relaxed);
                return Err(format!("refused on purpose {}", canary::mark()));
            }
            Ok(object)
        }));
    }
    options
}
