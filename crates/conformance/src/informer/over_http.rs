//! The stored scenarios over real HTTP, in real time: client-go's client and the testkit's server,
//! in two processes. Nothing but the wire and the clock may be different from what was recorded.

use std::collections::BTreeMap;
use std::thread;

use anyhow::{Context, Result};
use informer_testkit::{ApiServer, Object, Resource, ServerHandle};
use k8s_openapi::api::core::v1::ConfigMap;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use super::object_text::{display_all, store_key};
use super::play::burst_length;
use super::server_steps;
use super::settings::Settings;
use crate::judge::Judge;
use crate::level::Level;
use crate::scenario::{Scenario, Step};
use crate::trace::Trace;

/// How often an object may be created again.
const LIVES: u64 = 50;

/// Whether the scenario makes sense in real time.
pub fn is_possible(scenario: &Scenario) -> bool {
    scenario.setting("live") != Some("no")
}

/// What client-go does against the testkit's server.
///
/// # Errors
///
/// The judge or the server fails, or a step makes no sense.
pub fn theirs(judge: &mut Judge, level: Level, scenario: &Scenario) -> Result<Trace> {
    let settings = Settings::of(scenario);
    let server = settings.server()?;
    let served = Served::new(&server)?;
    judge.begin_over_http(level, scenario, &served.url)?;
    let mut trace = Vec::new();
    let mut steps = scenario.steps.as_slice();
    while let Some(first) = steps.first() {
        let count = match first.verb.as_str() {
            "burst" => burst_length(steps),
            _ => 1,
        };
        let (now, later) = steps.split_at(count);
        for step in now.iter().filter(|step| server_steps::is_servers(step)) {
            let done = server_steps::apply(&server, step);
            done.ok_or_else(|| scenario.malformed("a step that makes no sense", step))?;
        }
        let text: Vec<String> = now.iter().map(Step::to_string).collect();
        let expected = expected(&server, &settings);
        let seen = judge.step_over_http(&text.join("\n"), &lives(scenario), &expected)?;
        trace.extend(seen);
        steps = later;
    }
    judge.end_over_http()?;
    Ok(Trace::new(trace))
}

/// What the store is to have in the end.
fn expected(server: &ApiServer, settings: &Settings<'_>) -> String {
    let listed = server.list(&Resource::config_maps(), &settings.selection());
    let listed = listed.expect("config maps can be listed as they are now");
    let objects = listed.items.iter().map(Object::decode::<ConfigMap>);
    let objects: Vec<ConfigMap> = objects
        .collect::<Result<_, _>>()
        .expect("the server holds what scenarios wrote");
    display_all(&objects)
}

/// Which life each uid stands for: uids are readable.
fn lives(scenario: &Scenario) -> BTreeMap<String, u64> {
    let words = scenario.steps.iter().flat_map(|step| &step.args);
    let keys = words.map(|word| word.split(['@', '.']).next().unwrap_or_default());
    let uids = |key: &str| {
        let key = store_key(key);
        (1..=LIVES).map(move |life| (format!("{key}-{life}"), life))
    };
    keys.flat_map(uids).collect()
}

/// The server on a port, driven by a thread of its own.
struct Served {
    url: String,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Served {
    fn new(server: &ApiServer) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let handle = runtime.block_on(server.serve())?;
        let url = handle.url.clone();
        let (stop, stopped) = oneshot::channel();
        let thread = thread::Builder::new()
            .spawn(move || drive(&runtime, handle, stopped))
            .context("no thread for the server")?;
        Ok(Self {
            url,
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

fn drive(runtime: &Runtime, handle: ServerHandle, stopped: oneshot::Receiver<()>) {
    runtime.block_on(async {
        // It ends either way, told or left.
        drop(stopped.await);
        handle.shutdown().await;
    });
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}
