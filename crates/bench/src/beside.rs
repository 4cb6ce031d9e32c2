//! One writer beside readers: what each gets done, and how often the writer waits.
//!
//! Stores are measured alone, without a network: minimal pods, made before the clock starts, in the
//! order in which a server lists them, two versions of each. The writer stores the one and then the
//! other, in an order that defeats caches. Readers take the address of every object and look into
//! none, as client-go's benchmark does: what they would do with it needs no store. The driver of
//! kube-runtime includes this file, so that both are measured by the same code.

#![allow(dead_code, reason = "each program uses a part of it")]

use std::ops::AddAssign;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use tokio::task::JoinHandle;

use crate::command_line::CommandLine;
use crate::measure::{self, Report};

/// How many namespaces there are where readers walk all of them.
const NAMESPACES: u64 = 40;
/// The writer goes this far from one pod to the next; a prime, so it comes by every one.
const STRIDE: u64 = 7_919;
/// How often the writer is measured without readers and with them.
const ROUNDS: u64 = 2;

/// What readers ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// All objects.
    All,
    /// Those of one namespace, by an index; all are in it.
    Namespace,
}

impl Question {
    /// What a variant of the command line asks; nothing if it is not about readers.
    pub fn of(variant: &str) -> Option<Self> {
        match variant {
            "beside-all" => Some(Self::All),
            "beside-namespace" => Some(Self::Namespace),
            _ => None,
        }
    }

    /// The namespace of a pod; the first ones are in the first.
    pub fn namespace(self, index: u64, objects: u64) -> String {
        match self {
            Self::All => format!("team-{:02}", index * NAMESPACES / objects),
            Self::Namespace => "team-00".to_owned(),
        }
    }

    /// Both versions of every pod.
    pub fn pods(self, objects: u64) -> [Vec<Pod>; 2] {
        [1, 2].map(|version| {
            let pods =
                (0..objects).map(|index| pod(self.namespace(index, objects), index, version));
            pods.collect()
        })
    }
}

/// A pod with name, namespace, uid and version, and nothing else.
fn pod(namespace: String, index: u64, version: u64) -> Pod {
    Pod {
        metadata: ObjectMeta {
            name: Some(format!("pod-{index:016}")),
            namespace: Some(namespace),
            uid: Some(format!("00000000-0000-4000-a000-{index:012}")),
            resource_version: Some((1_000_000_000 * version + index).to_string()),
            ..ObjectMeta::default()
        },
        ..Pod::default()
    }
}

/// Which version of which pod is due at a turn.
pub fn due(turn: u64, objects: u64) -> (usize, usize) {
    let (round, place) = (turn / objects, turn % objects);
    ((round % 2) as usize, (place * STRIDE % objects) as usize)
}

/// The namespace of a pod; none is as "".
pub fn namespace_of(pod: &Pod) -> &str {
    pod.metadata.namespace.as_deref().unwrap_or_default()
}

/// What the writer got done.
#[derive(Clone, Copy, Debug, Default)]
struct Work {
    writes: u64,
    wall: Duration,
    /// Of the writer's thread alone.
    cpu: Duration,
    /// How often the thread gave its core away because it could not go on.
    waits: u64,
}

impl Work {
    fn per_second(self) -> f64 {
        self.writes as f64 / self.wall.as_secs_f64()
    }

    fn per_cpu_second(self) -> f64 {
        self.writes as f64 / self.cpu.as_secs_f64()
    }
}

impl AddAssign for Work {
    fn add_assign(&mut self, more: Self) {
        self.writes += more.writes;
        self.wall += more.wall;
        self.cpu += more.cpu;
        self.waits += more.waits;
    }
}

/// Measures. `write` stores the pod that is due at the given turn; `read` asks the question once
/// and returns how many objects there were.
///
/// # Errors
/// When a reader sees another number of objects, or one of the two panics.
pub async fn run<W, R>(
    peer: &'static str,
    command_line: &CommandLine,
    mut write: W,
    read: R,
) -> Result<Report>
where
    W: FnMut(u64) + Send + 'static,
    R: Fn() -> usize + Clone + Send + 'static,
{
    ensure!(read() as u64 == command_line.objects, "not all are stored");
    let duration = Duration::from_secs(command_line.seconds);
    let (mut alone, mut beside, mut reads) = (Work::default(), Work::default(), 0);
    for _ in 0..ROUNDS {
        let (work, back) = writing(write, alone.writes + beside.writes, duration).await?;
        alone += work;
        let readers = Readers::start(command_line.readers, &read).await;
        let before = readers.reads();
        let (work, back) = writing(back, alone.writes + beside.writes, duration).await?;
        beside += work;
        reads += readers.reads() - before;
        readers.stop(command_line.objects).await?;
        write = back;
    }
    Ok(report(peer, alone, beside, reads))
}

fn report(peer: &'static str, alone: Work, beside: Work, reads: u64) -> Report {
    let mut report = Report::new(peer);
    for (name, work) in [("alone", alone), ("beside", beside)] {
        report.set(format!("{name}_writes"), work.writes as f64);
        report.set(format!("{name}_writes_per_s"), work.per_second());
        report.set(format!("{name}_writes_per_cpu_s"), work.per_cpu_second());
        report.set(format!("{name}_waits"), work.waits as f64);
    }
    report.set("reads_per_s", reads as f64 / beside.wall.as_secs_f64());
    report
}

/// Writes for as long, on a thread of its own, and at least once.
async fn writing<W>(mut write: W, first: u64, duration: Duration) -> Result<(Work, W)>
where
    W: FnMut(u64) + Send + 'static,
{
    let writer = tokio::task::spawn_blocking(move || {
        let mut work = Work::default();
        let (wall, cpu, waits) = (measure::now(), measure::thread_cpu(), measure::waits());
        while work.wall < duration {
            write(first + work.writes);
            work.writes += 1;
            work.wall = measure::now().saturating_sub(wall);
        }
        work.cpu = measure::thread_cpu().saturating_sub(cpu);
        work.waits = measure::waits() - waits;
        (work, write)
    });
    Ok(writer.await?)
}

/// Tasks that read until they are stopped.
struct Readers {
    tasks: Vec<JoinHandle<usize>>,
    reads: Arc<AtomicU64>,
    is_over: Arc<AtomicBool>,
}

impl Readers {
    /// Returns when the first has read.
    async fn start<R>(count: u64, read: &R) -> Self
    where
        R: Fn() -> usize + Clone + Send + 'static,
    {
        let (reads, is_over) = (Arc::<AtomicU64>::default(), Arc::<AtomicBool>::default());
        let reader = |_| {
            let (reads, is_over, read) = (Arc::clone(&reads), Arc::clone(&is_over), read.clone());
            tokio::spawn(async move {
                let mut seen = usize::MAX;
                while !is_over.load(Ordering::Relaxed) {
                    seen = seen.min(read());
                    reads.fetch_add(1, Ordering::Relaxed);
                    tokio::task::yield_now().await;
                }
                seen
            })
        };
        let tasks = (0..count).map(reader).collect();
        while reads.load(Ordering::Relaxed) == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        Self {
            tasks,
            reads,
            is_over,
        }
    }

    fn reads(&self) -> u64 {
        self.reads.load(Ordering::Relaxed)
    }

    async fn stop(self, objects: u64) -> Result<()> {
        self.is_over.store(true, Ordering::Relaxed);
        for task in self.tasks {
            let least = task.await? as u64;
            ensure!(least >= objects, "a reader saw {least} objects");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_over_the_clock_and_over_processor_time() {
        let mut work = Work {
            writes: 10,
            wall: Duration::from_secs(2),
            cpu: Duration::from_millis(500),
            waits: 3,
        };
        work += work;
        assert_eq!((work.per_second(), work.per_cpu_second()), (5.0, 20.0));
        let report = report("x", work, work, 8);
        assert_eq!(report.metrics["beside_waits"], 6.0);
        assert_eq!(report.metrics["reads_per_s"], 2.0);
    }

    #[test]
    fn every_pod_is_due_once_a_round() {
        let mut round: Vec<_> = (10..20).map(|turn| due(turn, 10)).collect();
        assert_ne!(round[0].1 + 1, round[1].1, "not in order");
        round.sort_unstable();
        assert_eq!(round, (0..10).map(|pod| (1, pod)).collect::<Vec<_>>());
    }

    #[test]
    fn pods_have_two_versions_and_one_name() {
        let [old, new] = Question::All.pods(50);
        assert_eq!(old[49].metadata.name, new[49].metadata.name);
        assert_ne!(
            old[49].metadata.resource_version,
            new[49].metadata.resource_version
        );
        assert_eq!(namespace_of(&old[0]), namespace_of(&old[1]));
        assert_eq!(namespace_of(&old[49]), "team-39");
        assert_eq!(Question::Namespace.namespace(49, 50), "team-00");
        assert_eq!(Question::of("full"), None);
    }
}
