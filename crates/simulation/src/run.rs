//! Carries out a plan, on a current-thread runtime with a paused clock, and has it judged.

use std::{
    collections::BTreeMap,
    num::NonZeroU32,
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use informer_factory::{
    DynamicObject, Index, InformerOptions, Namespaces, PartialObjectMetadata, QueueKind,
    SharedInformer, SharedInformerFactory, Transform, reflector,
};
use informer_testkit::{ApiServer, FaultId};
use k8s_openapi::api::core::v1::ConfigMap;
use kube_client::Client;
use tokio::time::{Instant, sleep_until};

use crate::{
    Cells, FaultKind, Violation, canary,
    controlling::Control,
    evidence::{Evidence, Left, Released, Sample},
    listener::{self, Joined},
    lookout::Lookout,
    object::{Form, Held, NAMESPACES, TIERS, held_in},
    oracle,
    packed::{PackedForm, Packings},
    plan::{ListenerPlan, PackedKind, PackedPlan, Plan, Scope},
    story, trace,
    truth::Truth,
    wires::Wires,
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
    /// In which phases of the reflector.
    pub cells: Cells,
    /// What does not hold, the first first; empty if all does.
    pub violations: Vec<Violation>,
    /// What became of packed objects; nothing, where there were none.
    pub packings: Packings,
    /// The formats of the answers.
    pub wires: Wires,
    /// What happened; empty for a run that was asked not to tell and in which all holds.
    pub story: String,
}

/// Whether the informer of a run holds packed objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Packing {
    /// The seed says so; one in ten does.
    #[default]
    Drawn,
    /// It does.
    Always,
}

/// Runs one seed. `tells` asks for the story also if all holds.
///
/// # Panics
///
/// If a part that is simulated panics where it must not, or if no runtime can be made.
pub fn simulate(seed: u64, packing: Packing, tells: bool) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime without IO can always be made");
    let plan = Plan::draw(seed, packing);
    let evidence = match plan.informer.packed {
        None => runtime.block_on(execute::<ConfigMap>(plan)),
        Some(PackedPlan { kind, .. }) => match kind {
            PackedKind::Typed => runtime.block_on(execute::<PackedForm<ConfigMap>>(plan)),
            PackedKind::Dynamic => runtime.block_on(execute::<PackedForm<DynamicObject>>(plan)),
            PackedKind::Metadata => {
                runtime.block_on(execute::<PackedForm<PartialObjectMetadata>>(plan))
            }
        },
    };
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
        packings: Packings::of(&evidence),
        wires: Wires::of(&evidence),
        hits: evidence.hits,
        cells: evidence.cells,
        violations,
        story,
    }
}

/// Runs one seed twice; that both runs are the same is one more thing that must hold (T12).
///
/// # Panics
///
/// As [`simulate`].
pub fn simulate_twice(seed: u64, packing: Packing) -> Outcome {
    let once = || simulate(seed, packing, false);
    let (mut one, other) = (once(), once());
    if one.trace != other.trace {
        one.violations.push(Violation {
            id: "T12",
            at: Duration::ZERO,
            what: format!("traces {:016x} and {:016x}", one.trace, other.trace),
        });
    }
    one
}

/// A handler that has joined, and what was there when it did.
pub(crate) struct Member {
    pub(crate) plan: ListenerPlan,
    pub(crate) joined: Joined,
    pub(crate) at: Duration,
    pub(crate) present: Vec<Held>,
    pub(crate) is_early: bool,
    pub(crate) left: Option<Left>,
}

/// Everything of a run while it goes on.
pub(crate) struct World<T: Form> {
    pub(crate) server: ApiServer,
    pub(crate) factory: SharedInformerFactory,
    pub(crate) informer: SharedInformer<T>,
    pub(crate) index: Option<Index<T>>,
    pub(crate) start: Instant,
    pub(crate) plan: Plan,
    pub(crate) truth: Truth,
    pub(crate) serial: u64,
    pub(crate) joined: Vec<Member>,
    pub(crate) samples: Vec<Sample>,
    pub(crate) deeds: Vec<(Duration, String)>,
    pub(crate) counts: BTreeMap<FaultKind, u64>,
    pub(crate) cells: Cells,
    pub(crate) control: Option<Control>,
    /// Whoever looks from within the index; the index itself must not keep the store alive.
    pub(crate) lookout: Arc<Lookout<T>>,
    pub(crate) scripted: Vec<(FaultKind, FaultId)>,
    pub(crate) rewound_at: Option<Duration>,
    pub(crate) jumped: Duration,
    pub(crate) released: Vec<Released>,
    pub(crate) refused: Arc<AtomicU64>,
}

async fn execute<T: Form>(plan: Plan) -> Evidence {
    let mut world = World::<T>::new(plan);
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
    if let Some(plan) = &world.plan.controller {
        let client = Client::new(world.server.service(), "default");
        let wire = world.plan.informer.wire;
        world.control = Some(Control::start(client, plan, wire, world.start));
    }
    for step in std::mem::take(&mut world.plan.steps) {
        world.wait_until(step.at).await;
        world.act(step.what).await;
    }
    world.wait_until(crate::plan::FAULTS).await;
    let ending = world.heal().await;
    world.finish(ending).await
}

impl<T: Form> World<T> {
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
            .build()
            .expect("all namespaces");
        let refused = Arc::new(AtomicU64::new(0));
        let informer = T::informer(&factory, options(&plan, &refused));
        let informer = informer.expect("the options fit together");
        let start = Instant::now();
        Self {
            cells: Cells::default(),
            control: None,
            lookout: Arc::new(Lookout::new(informer.reader(), start)),
            server,
            factory,
            informer,
            index: None,
            start,
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
        for source in self.informer.status().sources {
            self.cells.count(kind, source.phase);
        }
    }

    pub(crate) fn add_index(&mut self) {
        if self.index.is_some() {
            return;
        }
        // Where changes wait by key, or the server lies, a state in between proves nothing.
        let looks = self.plan.informer.queue == QueueKind::InOrder
            && self.plan.informer.scope != Scope::Namespaces
            && !self.plan.kinds.iter().any(|kind| kind.needs_list());
        let lookout = match looks {
            true => Arc::downgrade(&self.lookout),
            false => Weak::new(),
        };
        let values = move |object: &T| {
            if let Some(lookout) = lookout.upgrade() {
                lookout.look();
            }
            object.group()
        };
        self.index = self.informer.add_index("group", values).ok();
    }

    pub(crate) fn held(&self) -> Vec<Held> {
        held_in(&self.informer.reader().snapshot())
    }

    pub(crate) fn join(&mut self, plan: ListenerPlan) {
        let (at, present) = (self.now(), self.held());
        let is_early = !self.informer.is_synced();
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
}

fn options<T: Form>(plan: &Plan, refused: &Arc<AtomicU64>) -> InformerOptions<T> {
    let mut options = InformerOptions::new().wire(plan.informer.wire);
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
        options = options.transform(Transform::new(move |mut object: T| {
            if object.serial().is_multiple_of(divisor) {
                refused.fetch_add(1, Ordering::Relaxed);
                return Err(format!("refused on purpose {}", canary::mark()));
            }
            object.mark_transformed();
            Ok(object)
        }));
    }
    options
}
