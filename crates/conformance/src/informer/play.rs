//! One scenario through our informer, over the API server in memory, under a paused clock.

use std::time::Duration;

use informer_factory::store::Scope;
use informer_factory::{
    Grace, ListenerConfig, QueueKind, SharedInformer, SharedInformerFactory, WireFormat,
};
use informer_testkit::{ApiServer, Resource};
use kube_client::Client;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::failures::Failures;
use super::form::Form;
use super::listener::{Ear, Listener};
use super::object_text::{display, display_all, store_key};
use super::settings::{Settings, duration};
use super::{requests, server_steps};
use crate::scenario::{Malformed, Scenario, Step};
use crate::trace::Trace;

/// How often `recover` looks, and how long it waits at most.
const RECOVER_STEP: Duration = Duration::from_millis(100);
const RECOVER_STEPS: u32 = 6000;

/// client-go waits for callbacks for as long as they take. So do we here, within reason.
const GRACE: Grace = Grace(Duration::from_secs(24 * 3600));

/// Runs a scenario with one of the queues, objects in one of the forms, and a format on the wire.
pub(super) fn play<T: Form>(
    scenario: &Scenario,
    queue: QueueKind,
    wire: WireFormat,
) -> Result<Trace, Malformed> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    let runtime = runtime.expect("a runtime without a driver of its own needs nothing");
    runtime.block_on(async {
        let mut stage = Stage::<T>::new(scenario, queue, wire)?;
        stage.play().await?;
        Ok(stage.trace)
    })
}

/// A scenario at work.
struct Stage<'a, T: Form> {
    scenario: &'a Scenario,
    settings: Settings<'a>,
    server: ApiServer,
    informer: SharedInformer<T>,
    listeners: Vec<Listener>,
    failures: Failures,
    has_started: bool,
    ending: Option<JoinHandle<()>>,
    trace: Trace,
    // What was written last, so that only changes are.
    store: String,
    version: String,
    is_synced: bool,
    is_stopped: bool,
    /// The factory owns the informer.
    _factory: SharedInformerFactory,
}

impl<'a, T: Form> Stage<'a, T> {
    fn new(scenario: &'a Scenario, queue: QueueKind, wire: WireFormat) -> Result<Self, Malformed> {
        let settings = Settings::of(scenario);
        let server = settings.server()?;
        let client = Client::new(server.service(), "default");
        let factory = SharedInformerFactory::builder(client).seed(1).build();
        let factory = factory.expect("all namespaces");
        let informer = T::informer(&factory, settings.options(queue)?.wire(wire));
        let refused = |_| scenario.malformed("no such informer", &Step::new("set", ["labels"]));
        let informer = informer.map_err(refused)?;
        if settings.has_index() {
            let index = informer.add_index("data", T::data);
            drop(index.expect("a new name"));
        }
        Ok(Self {
            scenario,
            failures: Failures::follow(&informer),
            settings,
            server,
            informer,
            listeners: Vec::new(),
            has_started: false,
            ending: None,
            trace: Trace::default(),
            store: "none".to_owned(),
            version: "-".to_owned(),
            is_synced: false,
            is_stopped: false,
            _factory: factory,
        })
    }

    async fn play(&mut self) -> Result<(), Malformed> {
        settle().await;
        let mut steps = self.scenario.steps.as_slice();
        while let Some(first) = steps.first() {
            let count = match first.verb.as_str() {
                "burst" => burst_length(steps),
                _ => 1,
            };
            let (now, later) = steps.split_at(count);
            now.iter().for_each(|step| self.trace.step(step));
            let answer = self.apply(now).await?;
            settle().await;
            self.observe(answer);
            steps = later;
        }
        Ok(())
    }

    async fn apply(&mut self, steps: &[Step]) -> Result<Option<String>, Malformed> {
        let step = &steps[0];
        let malformed = |step: &Step| self.scenario.malformed("a step that makes no sense", step);
        let subject = || step.args.first().ok_or_else(|| malformed(step));
        match step.verb.as_str() {
            "end" | "burst" => {
                for step in steps.iter().filter(|step| server_steps::is_servers(step)) {
                    server_steps::apply(&self.server, step).ok_or_else(|| malformed(step))?;
                }
            }
            "advance" => {
                let time = duration(&step.args.join(" ")).ok_or_else(|| malformed(step))?;
                sleep(time).await;
            }
            "recover" => return Ok(self.recover().await),
            "start" => self.start(),
            "stop" => self.stop(),
            "handler" => return self.join(subject()?, step),
            "unblock" => {
                let name = subject()?;
                self.named(name).into_iter().for_each(|one| one.unblock());
            }
            "remove" => {
                let name = subject()?;
                if let Some(listener) = self.named(name) {
                    listener.has_left = true;
                    listener.registration.remove_now();
                }
            }
            "get" => {
                let found = self.informer.reader().get(store_key(subject()?));
                let found = found.map_or("none".to_owned(), |object| display(&object.whole()));
                return Ok(Some(format!("get {found}")));
            }
            "index" => {
                let found = self.informer.reader().by_index("data", subject()?);
                return Ok(Some(match found {
                    Ok(found) => {
                        format!(
                            "index {}",
                            display_all(found.iter().map(|object| &**object))
                        )
                    }
                    Err(_) => "error no-index".to_owned(),
                }));
            }
            _ => server_steps::apply(&self.server, step).ok_or_else(|| malformed(step))?,
        }
        Ok(None)
    }

    /// The handler of this name that has not left.
    fn named(&mut self, name: &str) -> Option<&mut Listener> {
        let mut listeners = self.listeners.iter_mut();
        listeners.find(|listener| listener.name == name && !listener.has_left)
    }

    fn start(&mut self) {
        if !self.has_started {
            self.has_started = true;
            let started = self.informer.start();
            started.expect("within a runtime, and before any stop");
        }
    }

    fn stop(&mut self) {
        if self.has_started && self.ending.is_none() {
            let informer = self.informer.clone();
            self.ending = Some(tokio::spawn(async move {
                let report = informer.shutdown(GRACE).await;
                drop(report.expect("not called from a callback"));
            }));
        }
    }

    fn join(&mut self, name: &str, step: &Step) -> Result<Option<String>, Malformed> {
        if self.named(name).is_some() {
            return Ok(None);
        }
        let mut config = ListenerConfig::named(name);
        if let Some(period) = step.option("resync") {
            let malformed = || self.scenario.malformed("no time", step);
            config = config.resync(duration(period).ok_or_else(malformed)?);
        }
        let (ear, gate) = Ear::new(name, step);
        let joined = ear.join(gate, |ear| self.informer.add_async_handler(ear, config));
        match joined {
            Ok(listener) => self.listeners.push(listener),
            Err(_) => return Ok(Some("error stopped".to_owned())),
        }
        Ok(None)
    }

    /// Lets time pass until the informer has all there is, and watches.
    async fn recover(&mut self) -> Option<String> {
        if !self.has_started || self.ending.is_some() {
            return None;
        }
        for _ in 0..RECOVER_STEPS {
            settle().await;
            if self.has_all() {
                return None;
            }
            sleep(RECOVER_STEP).await;
        }
        Some("error not-recovered".to_owned())
    }

    /// Whether the store has what the server has, by key and version.
    fn has_all(&self) -> bool {
        let configs = Resource::config_maps();
        let selected = self.settings.selection();
        let listed = self.server.list(&configs, &selected);
        let listed = listed.expect("config maps can be listed as they are now");
        let theirs = listed.items.iter().map(|object| {
            let key = format!(
                "{}/{}",
                object.namespace().unwrap_or_default(),
                object.name()
            );
            (key, object.version().to_string())
        });
        let stored = self.informer.reader().list();
        let ours = stored.iter().map(|object| {
            let object = object.whole();
            let version = object.metadata.resource_version.clone();
            (
                store_key(&super::object_text::short_key(&object)),
                version.unwrap_or_default(),
            )
        });
        self.informer.is_synced() && theirs.eq(ours) && self.server.idle_watches(&configs) > 0
    }

    /// Writes down what happened in a step.
    fn observe(&mut self, answer: Option<String>) {
        self.listeners.sort_by(|a, b| a.name.cmp(&b.name));
        for listener in &self.listeners {
            listener
                .take()
                .into_iter()
                .for_each(|line| self.trace.push(line));
        }
        let requests = self.server.requests();
        self.server.clear_requests();
        if self.settings.has_requests() {
            let lines = requests
                .iter()
                .map(|request| requests::normal(&request.line.query));
            lines.for_each(|line| self.trace.push(format!("request {line}")));
        }
        let failures = self.failures.take();
        if self.settings.has_failures() {
            failures.into_iter().for_each(|line| self.trace.push(line));
        }
        answer.into_iter().for_each(|line| self.trace.push(line));
        self.observe_state();
    }

    fn observe_state(&mut self) {
        let stored = self.informer.reader().list();
        let store = display_all(stored.iter().map(|object| &**object));
        if store != self.store {
            self.trace.push(format!("store {store}"));
            self.store = store;
        }
        let scope = match self.settings.namespace() {
            Some(namespace) => Scope::Namespace(namespace.into()),
            None => Scope::All,
        };
        let version = self.informer.reader().version(&scope);
        let version = version.filter(|version| !version.is_unset());
        let version = version.map_or("-".to_owned(), |version| version.to_string());
        if version != self.version {
            self.trace.push(format!("version {version}"));
            self.version = version;
        }
        if !self.is_synced && self.informer.is_synced() {
            self.is_synced = true;
            self.trace.push("synced");
        }
        for listener in self.listeners.iter_mut().filter(|one| !one.has_left) {
            if !listener.is_synced && listener.registration.is_synced() {
                listener.is_synced = true;
                self.trace.push(format!("{} synced", listener.name));
            }
        }
        let has_ended = self.ending.as_ref().is_some_and(JoinHandle::is_finished);
        if has_ended && !self.is_stopped {
            self.is_stopped = true;
            self.trace.push("stopped");
        }
    }
}

/// Until nobody has anything to do: the clock stands still while somebody has.
async fn settle() {
    sleep(Duration::from_millis(1)).await;
}

/// How many steps are one: until `end`, or what is not the server's.
pub(super) fn burst_length(steps: &[Step]) -> usize {
    for (index, step) in steps.iter().enumerate().skip(1) {
        if step.verb == "end" {
            return index + 1;
        }
        if !server_steps::is_servers(step) {
            return index;
        }
    }
    steps.len()
}
