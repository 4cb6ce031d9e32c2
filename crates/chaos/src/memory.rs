//! How much memory the process holds, and whether that grows (D4).
//!
//! Resident memory tells little of a leak: the allocator keeps what was freed after a burst. So
//! what was allocated and not freed is counted too, and taken at *marks*: moments at which the same
//! objects are alive, everybody agrees, and nothing is written. Between two marks only the most is
//! noted.

use std::alloc::System;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

use crate::resident::resident;
use crate::trend::Trend;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const MIB: f64 = 1024.0 * 1024.0;
/// Between two looks at the most.
const PERIOD: Duration = Duration::from_millis(500);
/// From one mark to the next, if no outage comes in between.
const MARKED: Duration = Duration::from_secs(60);
/// A mark is the least of so many looks: a check or a connection that ends is under way in others.
const LOOKS: u32 = 20;
const LOOK: Duration = Duration::from_millis(100);
/// What comes before a third of the run is not judged, but no more than D4 leaves out.
const WARM: Duration = Duration::from_secs(30 * 60);
/// D4, in percent of memory per hour.
const LIMIT: f64 = 0.5;
/// So much of a run after [`WARM`], and D4 is judged as it stands.
const SHORTEST: Duration = Duration::from_secs(10 * 60);
/// In a shorter run live memory may grow by as much in all, as a part of itself: what has room for
/// the largest burst so far keeps it. Resident memory is not judged there.
const SETTLING: f64 = 0.01;
/// Tasks and files may be so many more: connections that are not used yet, or no longer.
const CONNECTIONS: f64 = 8.0;
/// Fewer marks make no line.
const FEWEST: usize = 5;

/// What the process holds at one moment.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    /// In MiB, allocated and not freed.
    live: f64,
    /// As many allocations.
    blocks: f64,
    /// In MiB.
    resident: f64,
    tasks: f64,
    files: f64,
}

impl Held {
    fn now() -> Self {
        let stats = ALLOCATOR.stats();
        let left = |made: usize, gone: usize| made.saturating_sub(gone) as f64;
        let files = std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
        Self {
            live: left(stats.bytes_allocated, stats.bytes_deallocated) / MIB,
            blocks: left(stats.allocations, stats.deallocations),
            resident: resident().unwrap_or(0.0),
            tasks: Handle::current().metrics().num_alive_tasks() as f64,
            files: files as f64,
        }
    }

    fn each(self, other: Self, choose: fn(f64, f64) -> f64) -> Self {
        Self {
            live: choose(self.live, other.live),
            blocks: choose(self.blocks, other.blocks),
            resident: choose(self.resident, other.resident),
            tasks: choose(self.tasks, other.tasks),
            files: choose(self.files, other.files),
        }
    }
}

/// A moment that can be compared with any other mark.
#[derive(Clone, Copy, Debug)]
struct Mark {
    /// Seconds from the start.
    at: f64,
    /// How many objects the informers have.
    objects: usize,
    held: Held,
    /// The most since the mark before.
    most: Held,
}

/// The marks of a run.
pub(crate) struct Memory {
    start: Instant,
    due: Instant,
    task: JoinHandle<()>,
    most: Arc<Mutex<Held>>,
    marks: Vec<Mark>,
}

impl Memory {
    pub(crate) fn watch() -> Self {
        let most = Arc::<Mutex<Held>>::default();
        let writer = Arc::clone(&most);
        let task = tokio::spawn(async move {
            loop {
                note(&writer, Held::now());
                sleep(PERIOD).await;
            }
        });
        let start = Instant::now();
        Self {
            start,
            due: start,
            task,
            most,
            marks: Vec::new(),
        }
    }

    /// Whether it is time for a mark.
    pub(crate) fn is_due(&self) -> bool {
        self.due <= Instant::now()
    }

    /// Notes what is held while this many objects are alive and nothing is written.
    pub(crate) async fn mark(&mut self, objects: usize) {
        let mut held = Held::now();
        for _ in 1..LOOKS {
            sleep(LOOK).await;
            held = held.each(Held::now(), f64::min);
        }
        let mark = Mark {
            at: self.start.elapsed().as_secs_f64(),
            objects,
            held,
            most: std::mem::take(&mut *lock(&self.most)).each(held, f64::max),
        };
        println!(
            "    {:.2} MiB live, {:.1} resident, with {objects} objects",
            held.live, held.resident
        );
        self.marks.push(mark);
        self.due = Instant::now() + MARKED;
    }

    /// For the report, and what of D4 does not hold.
    pub(crate) fn verdict(self) -> (String, Vec<String>) {
        self.task.abort();
        let mut text = table(&self.marks);
        let wrong = judge(&self.marks, &mut text);
        (text, wrong)
    }
}

fn note(most: &Mutex<Held>, now: Held) {
    let mut most = lock(most);
    *most = most.each(now, f64::max);
}

fn lock(held: &Mutex<Held>) -> MutexGuard<'_, Held> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One line for each mark.
fn table(marks: &[Mark]) -> String {
    let mut text = "memory at marks, and the most since the mark before\n".to_owned();
    text.push_str(
        "seconds objects  live MiB   blocks   RSS MiB tasks files   live most RSS most\n",
    );
    for Mark {
        at,
        objects,
        held,
        most,
    } in marks
    {
        let Held {
            live,
            blocks,
            resident,
            tasks,
            files,
        } = held;
        let (high, highest) = (most.live, most.resident);
        text.push_str(&format!(
            "{at:>7.0} {objects:>7} {live:>9.3} {blocks:>8} {resident:>9.1} \
             {tasks:>5} {files:>5} {high:>11.1} {highest:>8.1}\n"
        ));
    }
    text
}

/// What may grow by how much in all, beside [`LIMIT`].
struct Rule {
    name: &'static str,
    judged: bool,
    /// Of its mean.
    part: f64,
    more: f64,
    value: fn(&Held) -> f64,
}

impl Rule {
    fn of(name: &'static str, judged: bool, part: f64, more: f64, value: fn(&Held) -> f64) -> Self {
        Self {
            name,
            judged,
            part,
            more,
            value,
        }
    }
}

/// The rules for a run that is long enough for D4 as it stands, or for a shorter one.
fn rules(long: bool) -> [Rule; 5] {
    let part = if long { 0.0 } else { SETTLING };
    [
        Rule::of("live memory", true, part, 0.0, |held| held.live),
        Rule::of("allocations", true, part, 0.0, |held| held.blocks),
        // What the allocator keeps settles slowly.
        Rule::of("resident memory", long, 0.0, 0.0, |held| held.resident),
        Rule::of("tasks", true, 0.0, CONNECTIONS, |held| held.tasks),
        Rule::of("files", true, 0.0, CONNECTIONS, |held| held.files),
    ]
}

/// Appends the trends to `text`; what grows more than D4 allows.
fn judge(marks: &[Mark], text: &mut String) -> Vec<String> {
    let end = marks.last().map_or(0.0, |mark| mark.at);
    let warm = WARM.as_secs_f64().min(end / 3.0);
    let late: Vec<_> = marks.iter().filter(|mark| mark.at >= warm).collect();
    if late.len() < FEWEST {
        text.push_str(&format!(
            "trend: {} marks after {warm:.0} s tell nothing\n",
            late.len()
        ));
        return Vec::new();
    }
    let mut wrong = Vec::new();
    let long = end - WARM.as_secs_f64() >= SHORTEST.as_secs_f64();
    for rule in rules(long) {
        let points: Vec<_> = late
            .iter()
            .map(|mark| (mark.at, (rule.value)(&mark.held)))
            .collect();
        let trend = Trend::of(&points);
        let allowed = trend.percent(LIMIT) + rule.part * trend.mean + rule.more;
        let (name, grows) = (rule.name, trend.surely_grown() > allowed);
        let judgement = match (rule.judged, grows) {
            (false, _) => "not judged before 40 min",
            (true, false) => "flat",
            (true, true) => "GROWS",
        };
        text.push_str(&format!(
            "{name} from {warm:.0} s on: {trend}: {judgement}\n"
        ));
        if rule.judged && grows {
            wrong.push(format!("{name} grows: {trend}"));
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For twenty minutes, with so many MiB more at each of the marks.
    fn run(leak: f64) -> Vec<Mark> {
        let noise = [0.02, -0.01, 0.0, 0.03, -0.02];
        let mark = |i: u32| {
            let held = Held {
                live: 10.0 + leak * f64::from(i) + noise[i as usize % noise.len()],
                blocks: 50_000.0,
                resident: 20.0 + f64::from(i),
                tasks: 60.0 + f64::from(i % 3),
                files: 40.0,
            };
            Mark {
                at: f64::from(i) * 60.0,
                objects: 750,
                held,
                most: held,
            }
        };
        (0..20).map(mark).collect()
    }

    #[test]
    fn a_leak_is_seen_and_what_the_allocator_keeps_is_none() {
        let judged = |leak| judge(&run(leak), &mut String::new());
        assert_eq!(judged(0.0), Vec::<String>::new());
        // Less than two percent in thirteen minutes.
        let wrong = judged(0.015);
        assert!(
            wrong.len() == 1 && wrong[0].starts_with("live memory grows"),
            "{wrong:?}"
        );
        let mut text = table(&run(0.0));
        judge(&run(0.0), &mut text);
        assert!(
            text.contains("resident memory") && text.contains("not judged"),
            "{text}"
        );
    }

    #[test]
    fn tasks_that_are_left_behind_are_seen() {
        let mut marks = run(0.0);
        for (mark, left) in marks.iter_mut().zip(0..) {
            mark.held.tasks += f64::from(left);
        }
        let wrong = judge(&marks, &mut String::new());
        assert!(
            wrong.len() == 1 && wrong[0].starts_with("tasks"),
            "{wrong:?}"
        );
    }
}
