//! The live picture, or a line a second where there is no terminal.

use std::time::Duration;

use informer_factory::{InformerStatus, ListenerStatus, SharedInformer};
use tokio::time::Instant;

use super::cluster::Cluster;
use super::handlers::Watched;
use super::informers::Informers;
use super::object::{DemoObject, DemoPod};
use crate::screen::Screen;
use crate::status::{self, brief};

/// How many nodes are shown.
const TOP: usize = 5;

/// What the demo is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scene {
    /// The load is writing.
    Changing,
    /// The handlers get through with what they were given.
    Draining,
}

/// Draws the state of the demo.
pub(super) struct Picture {
    screen: Screen,
    duration: Duration,
    start: Instant,
    /// When events were counted last, and how many there were.
    last: (Instant, u64),
}

impl Picture {
    pub(super) fn new(screen: Screen, duration: Duration) -> Self {
        let now = Instant::now();
        Self {
            screen,
            duration,
            start: now,
            last: (now, 0),
        }
    }

    /// How often to draw.
    pub(super) fn period(&self) -> Duration {
        Duration::from_millis(if self.screen.is_live() { 250 } else { 1_000 })
    }

    /// Draws; `events` is how many changes were written so far.
    pub(super) fn draw<P: DemoPod>(
        &mut self,
        scene: Scene,
        informers: &Informers<P>,
        cluster: &Cluster,
        events: u64,
    ) {
        let rate = self.rate(events);
        let (elapsed, duration) = (brief(self.start.elapsed()), brief(self.duration));
        let head = match scene {
            Scene::Changing => {
                format!("{elapsed} of {duration}: {events} changes, {rate:.0} a second")
            }
            Scene::Draining => format!("{elapsed}: after {events} changes, handlers catch up"),
        };
        if !self.screen.is_live() {
            return self.screen.say(&line(&head, informers, cluster));
        }
        let mut lines = vec![head, String::new()];
        lines.push(informer("pods", &informers.pods, cluster.pod_version()));
        lines.push(informer("nodes", &informers.nodes, cluster.node_version()));
        lines.push(String::new());
        lines.push(format!(
            "{:8} {:>9} {:>9} {:>9} {:>9} {:>10} {:>10}",
            "handler", "received", "merged", "waiting", "most", "oldest", "worst lag"
        ));
        lines.extend(informers.pod_handlers.iter().map(handler));
        lines.extend(informers.node_handlers.iter().map(handler));
        lines.push(String::new());
        lines.push(format!(
            "most pods, by index `node`: {}",
            top_nodes(informers)
        ));
        lines.push(format!("pods by index `app`: {}", apps(informers)));
        lines.extend(
            [&informers.pods.status(), &informers.nodes.status()]
                .map(failures)
                .concat(),
        );
        self.screen.show(&lines);
    }

    fn rate(&mut self, events: u64) -> f64 {
        let now = Instant::now();
        let (then, before) = std::mem::replace(&mut self.last, (now, events));
        let seconds = now.duration_since(then).as_secs_f64();
        if seconds > 0.0 {
            (events - before) as f64 / seconds
        } else {
            0.0
        }
    }
}

/// Everything in one line.
fn line<P: DemoPod>(head: &str, informers: &Informers<P>, cluster: &Cluster) -> String {
    let handlers: Vec<String> = informers
        .pod_handlers
        .iter()
        .map(|handler| {
            let ListenerStatus {
                delivered, depth, ..
            } = handler.status();
            format!("{} {delivered} received, {depth} waiting", handler.name())
        })
        .collect();
    let queue = behind(&informers.pods.status(), cluster.pod_version());
    let pods = informers.pods.reader().len();
    let lag = brief(informers.pod_handlers[0].max_lag());
    format!(
        "{head}; cache {pods} pods, {queue} versions behind, lag {lag}; {}",
        handlers.join(", ")
    )
}

/// How many versions the cache is behind the server's last write.
fn behind(status: &InformerStatus, written: u64) -> u64 {
    let applied = status
        .sources
        .first()
        .and_then(|source| source.applied.as_ref());
    let applied = applied.and_then(informer_factory::ResourceVersion::as_number);
    written.saturating_sub(applied.unwrap_or(0))
}

fn informer<T: Send + Sync>(name: &str, informer: &SharedInformer<T>, written: u64) -> String {
    let status = informer.status();
    let queue = behind(&status, written);
    let Some(source) = status.sources.first() else {
        return format!("{name:6} {:?}", status.state);
    };
    format!(
        "{name:6} {:?}, {:?}; {} in the cache, {queue} versions behind; {} relists, {} reconnects",
        status.state,
        source.phase,
        status.objects,
        source.relists(),
        source.reconnects(),
    )
}

/// The sources that fail at present.
fn failures(informer: &InformerStatus) -> Vec<String> {
    let failing = informer
        .sources
        .iter()
        .filter(|source| source.failure.is_some());
    failing.map(status::source).collect()
}

fn handler<T>(handler: &Watched<T>) -> String
where
    T: DemoObject,
{
    let status = handler.status();
    format!(
        "{:8} {:>9} {:>9} {:>9} {:>9} {:>10} {:>10}",
        handler.name(),
        status.delivered,
        status.coalesced,
        status.depth,
        status.high_water,
        status.oldest_age.map_or_else(|| "-".to_owned(), brief),
        brief(handler.max_lag()),
    )
}

fn top_nodes<P: DemoPod>(informers: &Informers<P>) -> String {
    let snapshot = informers.pods.reader().snapshot();
    let mut nodes: Vec<_> = informers
        .by_node
        .values()
        .into_iter()
        .map(|node| (snapshot.with(&informers.by_node, &node).len(), node))
        .collect();
    nodes.sort_by(|a, b| b.cmp(a));
    let top = nodes.iter().take(TOP);
    top.map(|(count, node)| format!("{node} {count}"))
        .collect::<Vec<_>>()
        .join(", ")
}

fn apps<P: DemoPod>(informers: &Informers<P>) -> String {
    let apps = informers.by_app.values().into_iter();
    apps.map(|app| format!("{app} {}", informers.by_app.count(&app)))
        .collect::<Vec<_>>()
        .join(", ")
}
