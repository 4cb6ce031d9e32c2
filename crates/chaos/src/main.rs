//! Informers under load while a real API server fails in every way, one outage after the other.
//!
//! `cargo xtask chaos` starts the server and calls this. After each outage all informers have to be
//! what the server says, within the bounds of the specification (R4, R5, R8, R10), and all handlers
//! must have been told so in order.
//!
//! | file | concept |
//! | --- | --- |
//! | `arguments` | what it is told; `cargo xtask chaos` describes it |
//! | `plan`, `chance` | which outage comes next, by the seed |
//! | `wires` | the wire formats of the informers, by the seed |
//! | `outage` | what is done, and when it is over |
//! | `proxy` | the way to the server, which fails too |
//! | `recovery`, `bound`, `notice` | how long it may take and how long it takes |
//! | `world` | the parts of a run together |
//! | `cluster`, `account` | the server; who the informers are |
//! | `load` | what is written all the time |
//! | `subject`, `witness`, `collection` | an informer, its handlers, what the server says |
//! | `table`, `memory`, `trend`, `resident` | what the run has shown |

mod account;
mod arguments;
mod bound;
mod chance;
mod cluster;
mod collection;
mod load;
mod memory;
mod notice;
mod outage;
mod plan;
mod proxy;
mod recovery;
mod resident;
mod subject;
mod table;
mod trend;
mod wires;
mod witness;
mod world;

use std::panic;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result};
use clap::Parser;
use tokio::time::{Instant, sleep};

use arguments::Arguments;
use memory::Memory;
use plan::{Kind, Plan};
use recovery::{Case, strike};
use subject::Asked;
use table::Table;
use world::World;

/// Fewer writes a second than this, and the run has shown nothing.
const FEWEST_WRITES: f64 = 5.0;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> ExitCode {
    match run(&Arguments::parse()).await {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: &Arguments) -> Result<ExitCode> {
    static PANICS: AtomicU64 = AtomicU64::new(0);
    let print = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        PANICS.fetch_add(1, Ordering::SeqCst);
        print(panic);
    }));
    let Arguments { seed, calm, .. } = *arguments;
    let mut world = World::open(seed, calm)
        .await
        .context("nothing has happened yet")?;
    println!(
        "seed {seed}; {} writes before the first outage",
        world.load.written()
    );
    let (mut memory, start, before) = (Memory::watch(), Instant::now(), world.load.written());
    if arguments.story {
        world.subjects().for_each(|subject| subject.narrate(start));
    }
    let mut cases = Vec::new();
    let ended = outages(&mut world, arguments, &mut cases, &mut memory).await;
    let took = start.elapsed();
    let written = world.load.written() - before;
    let rate = written as f64 / took.as_secs_f64();
    let asked = Asked::by(world.subjects());
    let closed = world.close().await;
    let (memory, grows) = memory.verdict();
    let panics = PANICS.load(Ordering::SeqCst);
    println!("\nseed {seed}, {took:.0?}\n{}{memory}", Table(&cases));
    println!("load: {written} writes, {rate:.1}/s; in all {asked:?}; panics: {panics}");
    let mut wrong: Vec<String> = cases
        .iter()
        .filter_map(|case| case.failure.clone())
        .collect();
    wrong.extend(ended.err().map(|error| format!("{error:#}")));
    wrong.extend(closed.err().map(|error| format!("{error:#}")));
    let rewound = cases.iter().filter(|case| case.kind == Kind::Restore);
    let explained: u64 = rewound.map(|case| case.asked.mismatches).sum();
    if asked.checks == 0 || asked.mismatches > explained {
        wrong.push(format!(
            "checks: {asked:?}, of which {explained} tell of a rewind"
        ));
    }
    if rate < FEWEST_WRITES {
        wrong.push(format!("{rate:.1} writes a second show nothing"));
    }
    if panics > 0 {
        wrong.push("there were panics".to_owned());
    }
    wrong.extend(grows);
    wrong.iter().for_each(|wrong| println!("FAILED: {wrong}"));
    Ok(if wrong.is_empty() {
        println!(
            "chaos: {} outages, all recovered in time, no mismatch",
            cases.len()
        );
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// One outage after the other until time is up, or until informers are lost.
async fn outages(
    world: &mut World,
    arguments: &Arguments,
    cases: &mut Vec<Case>,
    memory: &mut Memory,
) -> Result<()> {
    let mut plan = Plan::new(arguments.seed, &arguments.only);
    let start = Instant::now();
    world.mark(memory).await?;
    while start.elapsed() < arguments.length {
        sleep(arguments.calm).await;
        let (kind, length) = plan.next();
        let name = kind.name();
        println!("{:>6.1} s: {name}", start.elapsed().as_secs_f64());
        let case = strike(world, kind, length).await;
        let case = case.with_context(|| format!("during {name}"))?;
        println!(
            "    {:.1?} long, found after {:.1?}, recovered in {:.2?} of {:?}, {:?}: {}",
            case.length,
            case.found,
            case.recovered,
            case.bound.recovered,
            case.asked,
            case.failure.as_deref().unwrap_or("met"),
        );
        cases.push(case);
        // Later outages would only show the same again.
        let agreed = world.agree(cluster::PATIENCE).await;
        agreed.with_context(|| format!("lost after {name}"))?;
        if memory.is_due() {
            world.mark(memory).await?;
        }
    }
    Ok(())
}
