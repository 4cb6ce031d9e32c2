//! `demo`: an API server, a load, informers and handlers in one process, and a judgement.
//!
//! Everything between server and handlers is what a controller would use: real HTTP on loopback, a
//! client, a factory. Only the judge looks behind the server's back.

mod budget;
mod cluster;
mod handlers;
mod informers;
mod judge;
mod lag;
mod load;
mod object;
mod picture;
mod pod;
mod report;
mod settle;
mod tally;

use std::sync::Arc;
use std::time::Duration;

use informer_factory::Grace;
use tokio::time::Instant;

use crate::failure::Failure;
use crate::queue::Queue;
use crate::screen::Screen;
use crate::{duration, memory, signals, stdout};

use budget::Budget;
use cluster::Cluster;
use informers::Informers;
use judge::Verdict;
use load::{Load, Produced};
use object::DemoPod;
use picture::{Picture, Scene};
use report::Report;

/// Show an informer at work: server, load and handlers in one process
///
/// Starts an API server in memory and serves it over HTTP on loopback, fills it
/// with pods and nodes, follows both with informers, and changes them all the
/// while. Three handlers receive the changes of pods: `fast`; `slow`, which rests
/// 1 ms after each change and lets changes of the same pod wait as one; and
/// `stream`, a loop over a stream. `nodes` receives those of nodes. At the end
/// the cache, and the notifications of each handler, are compared with the
/// server.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct DemoArguments {
    /// How many pods there are; there is one node for every 20
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=5_000_000))]
    objects: u32,
    /// Begin even if the estimated memory is not available
    ///
    /// Before anything is built, an estimate is printed, of about 13 KB for
    /// each pod, 5 KB packed. A demo that does not fit into the available
    /// memory of the machine or of a control group is refused.
    #[arg(long, verbatim_doc_comment)]
    ignore_memory: bool,
    /// How many changes are written per second; 0 for none
    #[arg(long, value_name = "EV/S", default_value_t = 500)]
    rate: u32,
    /// For how long they are written
    #[arg(long = "for", value_name = "DURATION", default_value = "30s")]
    #[arg(value_parser = duration::parse)]
    duration: Duration,
    /// Which queue stands between the watch and the cache
    #[arg(long, value_enum, default_value_t)]
    queue: Queue,
    /// Keep pods packed, with their labels and node beside the packed bytes
    #[arg(long)]
    packed: bool,
    /// Print one JSON object on stdout at the end; all else goes to stderr
    ///
    /// `delivered` and `handlers_match` have one entry per handler.
    /// `max_lag_ms` is the longest time from a write at the server to the
    /// callback, in the handlers that do not rest; `handlers` has it for
    /// each. `accounted` says that for each handler received + initial =
    /// delivered + coalesced + pending + abandoned, and that the handler has
    /// counted as many calls. `object_bytes` is what a pod takes in the
    /// cache, by the informer's estimate. `peak_rss_bytes` is that of the
    /// whole process, server and load included.
    #[arg(long, verbatim_doc_comment)]
    json: bool,
}

/// How long the first list may take.
const SYNC_TIMEOUT: Duration = Duration::from_secs(120);

/// Runs the demo. An error if the cache or a handler does not agree with the server.
pub(crate) async fn run(arguments: &DemoArguments) -> Result<(), Failure> {
    let screen = Screen::live();
    let result = play(arguments, &screen).await;
    screen.clear();
    result
}

async fn play(arguments: &DemoArguments, screen: &Screen) -> Result<(), Failure> {
    let available = memory::available_bytes();
    let budget = Budget::new(arguments.objects, arguments.packed);
    if !arguments.ignore_memory {
        budget.check(available)?;
    }
    screen.say(&budget.estimate(available));
    let cluster = Arc::new(Cluster::new(arguments.objects));
    fill(&cluster, screen).await?;
    let serving = cluster.server().serve().await;
    let serving = serving.map_err(|e| Failure::failed(format!("cannot serve on loopback: {e}")))?;
    let factory = informers::factory(&serving.url, arguments.queue.kind())?;
    signals::tell_status_when_asked(factory.clone(), screen.clone());
    let (report, verdict) = if arguments.packed {
        let informers = Informers::packed(factory, &cluster)?;
        follow(arguments, &informers, &cluster, screen).await?
    } else {
        let informers = Informers::typed(factory, &cluster)?;
        follow(arguments, &informers, &cluster, screen).await?
    };
    serving.shutdown().await;
    screen.clear();
    report.lines().iter().for_each(|line| screen.say(line));
    if arguments.json {
        let json = serde_json::to_string(&report).expect("numbers and names are JSON");
        stdout::print(&format!("{json}\n"))?;
    }
    verdict.into_result()
}

/// Follows the server while it changes, and judges the result.
async fn follow<P: DemoPod>(
    arguments: &DemoArguments,
    informers: &Informers<P>,
    cluster: &Arc<Cluster>,
    screen: &Screen,
) -> Result<(Report, Verdict), Failure> {
    let start = Instant::now();
    sync(informers, cluster, screen).await?;
    let synced = start.elapsed();
    let mut picture = Picture::new(screen.clone(), arguments.duration);
    let mut load = Load::new(Arc::clone(cluster));
    let produced = change(arguments, &mut load, informers, cluster, &mut picture).await?;

    let settled = settle::settle(informers, cluster, &mut picture, &produced).await;
    let verdict = judge::judge(informers, cluster, &settled)?;
    let report = Report::new(arguments, informers, &verdict, &produced, synced);
    let ended = informers.factory.shutdown(Grace::default()).await;
    ended.map_err(|e| Failure::failed(e.to_string()))?;
    Ok((report, verdict))
}

/// Writes the pods and nodes there are at the start.
async fn fill(cluster: &Cluster, screen: &Screen) -> Result<(), Failure> {
    let (pods, nodes) = (cluster.pods(), cluster.nodes());
    if !screen.is_live() {
        screen.say(&format!("writing {pods} pods and {nodes} nodes"));
    }
    for number in 0..nodes {
        cluster.create_node(number)?;
    }
    for number in 0..pods {
        cluster.create_pod(number)?;
        if number % 1_024 == 0 {
            screen.progress("writing pods", u64::from(number), u64::from(pods));
            // Writing never waits, and a signal wants to be heard.
            tokio::task::yield_now().await;
        }
    }
    Ok(())
}

/// Starts the informers and waits for their first lists.
async fn sync<P: DemoPod>(
    informers: &Informers<P>,
    cluster: &Cluster,
    screen: &Screen,
) -> Result<(), Failure> {
    let failed = |e: String| Failure::failed(e);
    informers
        .factory
        .start()
        .map_err(|e| failed(e.to_string()))?;
    let synced = informers.factory.wait_synced(SYNC_TIMEOUT);
    let mut synced = std::pin::pin!(synced);
    let mut frames = tokio::time::interval(Duration::from_millis(50));
    loop {
        tokio::select! {
            result = &mut synced => return result.map_err(|e| failed(e.to_string())),
            _ = frames.tick() => {
                screen.progress("listing pods", informers.arrived(), u64::from(cluster.pods()));
            }
        }
    }
}

/// Lets the load run, with a picture of it, until it is over or somebody asks to end.
async fn change<P: DemoPod>(
    arguments: &DemoArguments,
    load: &mut Load,
    informers: &Informers<P>,
    cluster: &Cluster,
    picture: &mut Picture,
) -> Result<Produced, Failure> {
    let counter = load.counter();
    let (stop, stopped) = tokio::sync::oneshot::channel();
    let running = load.run(arguments.rate, arguments.duration, stopped);
    let mut running = std::pin::pin!(running);
    let mut end = std::pin::pin!(signals::end());
    let mut stop = Some(stop);
    let mut frames = tokio::time::interval(picture.period());
    frames.reset();
    loop {
        tokio::select! {
            produced = &mut running => return produced,
            () = &mut end, if stop.is_some() => {
                // The sender being gone is the signal.
                drop(stop.take());
            }
            _ = frames.tick() => {
                picture.draw(Scene::Changing, informers, cluster, counter.load());
            }
        }
    }
}
