//! What is run for which row.

use std::time::Duration;

use anyhow::{Result, bail};

use super::host::Memory;
use super::programs::Program;
use super::{Sizes, beside, cold, latency, packed, protobuf};

/// The rows that are measured.
pub(super) const MEASURED: [&str; 30] = [
    "P1", "P2", "P3", "P4", "P5", "P6", "P7", "P8", "P9", "P10", "P11", "P12", "P13", "P14",
    "idle", "PK1", "PK2", "PK3", "PK4", "PK5", "PK6", "PK7", "PK8", "PK9", "PK10", "PB1", "PB2",
    "PB3", "PB4", "PB5",
];

/// How many readers list one namespace, as in client-go's BenchmarkSharedIndexInformer.
const NAMESPACE_READERS: u64 = 80;
/// For how long a writer writes, twice alone and twice beside readers.
const WRITER_SECONDS: u64 = 3;

/// How many handlers join late, and how many changes a second there are meanwhile.
const JOINS: u64 = 5;
const JOIN_RATE: u64 = 2_000;

/// How many informers are idle at once, and how many objects each has.
const IDLE_INFORMERS: u64 = 1_000;
const IDLE_OBJECTS: u64 = 10;

/// One program with one command line, run several times, each time against a server of its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial {
    pub(super) name: &'static str,
    pub(super) program: Program,
    pub(super) variant: &'static str,
    pub(super) list: &'static str,
    /// The rows that need it.
    rows: &'static [&'static str],
    /// How often it is run: once in each of the first rounds.
    pub(super) runs: usize,
    pub(super) objects: u64,
    /// The memory that it gets.
    pub(super) memory: Memory,
    pub(super) events: u64,
    pub(super) handlers: u64,
    pub(super) changed: u64,
    pub(super) rate: u64,
    pub(super) readers: u64,
    pub(super) seconds: u64,
    pub(super) joins: u64,
    pub(super) informers: u64,
}

impl Trial {
    /// Whether it measures a store alone, for which no server is needed.
    pub(super) fn is_alone(&self) -> bool {
        self.readers > 0
    }

    /// Whether the server has the pods in protobuf too. Clients that accept it get it then.
    pub(super) fn is_protobuf(&self) -> bool {
        self.variant.ends_with("protobuf") && !self.is_metadata()
    }

    /// Whether it gets memory that the harness has not touched.
    pub(super) fn is_cold(&self) -> bool {
        matches!(self.memory, Memory::Cold(_))
    }

    /// Whether the server has the metadata of a custom resource instead of pods.
    pub(super) fn is_metadata(&self) -> bool {
        self.variant.starts_with("metadata")
    }
}

/// What a trial goes through after the initial sync.
#[derive(Clone, Copy)]
pub(super) enum Course {
    Sync,
    Events,
    EventsAndRelist,
    /// Events, with memory that the harness has not touched.
    Cold,
    ManyHandlers,
    Latency,
    /// With a tenth of the objects, and with three times as many.
    Tenth,
    Triple,
    /// With ten times as many objects.
    TenTimes,
    /// The writer of a store beside readers.
    BesideOne,
    BesideMany,
    LateJoin,
    Idle,
}

use Course::{
    BesideMany, BesideOne, Cold, Events, EventsAndRelist, Idle, LateJoin, Latency, ManyHandlers,
    Sync, TenTimes, Tenth, Triple,
};
use Program::{ClientGo, KubeRuntime, Ours};

/// Name, program, variant, how it lists, course, rows.
pub(super) type Line = (
    &'static str,
    Program,
    &'static str,
    &'static str,
    Course,
    &'static [&'static str],
);

const LINES: [Line; 19] = [
    (
        "ours full",
        Ours,
        "full",
        "list",
        EventsAndRelist,
        &["P1", "P3", "P4", "P5", "P6", "P7", "P8", "PK8"],
    ),
    (
        "kube-runtime",
        KubeRuntime,
        "full",
        "list",
        EventsAndRelist,
        &["P1", "P2", "P4", "P5", "P7", "P8", "PK1", "PK2", "PK3"],
    ),
    (
        "client-go json",
        ClientGo,
        "json",
        "list",
        EventsAndRelist,
        &["P1", "P4", "P5", "P7"],
    ),
    (
        "client-go protobuf",
        ClientGo,
        "protobuf",
        "list",
        EventsAndRelist,
        &[
            "P1", "P2", "P4", "P5", "P7", "P8", "PK1", "PK2", "PK3", "PK5",
        ],
    ),
    (
        "ours lean",
        Ours,
        "lean",
        "list",
        Events,
        &["P2", "P4", "P7"],
    ),
    ("ours partial", Ours, "partial", "list", Events, &["P4"]),
    ("bare decode", Ours, "decode", "list", Sync, &["P3"]),
    (
        "ours full, watch-list",
        Ours,
        "full",
        "watch-list",
        Sync,
        &["P1"],
    ),
    (
        "kube-runtime, watch-list",
        KubeRuntime,
        "full",
        "watch-list",
        Sync,
        &["P1"],
    ),
    (
        "client-go json, watch-list",
        ClientGo,
        "json",
        "watch-list",
        Sync,
        &["P1"],
    ),
    (
        "client-go protobuf, watch-list",
        ClientGo,
        "protobuf",
        "watch-list",
        Sync,
        &["P1"],
    ),
    (
        "ours full, many handlers",
        Ours,
        "full",
        "list",
        ManyHandlers,
        &["P8"],
    ),
    (
        "kube-runtime, many handlers",
        KubeRuntime,
        "full",
        "list",
        ManyHandlers,
        &["P8", "PK4"],
    ),
    (
        "client-go protobuf, many handlers",
        ClientGo,
        "protobuf",
        "list",
        ManyHandlers,
        &["P8"],
    ),
    ("ours full, a tenth", Ours, "full", "list", Tenth, &["P14"]),
    (
        "ours full, three times",
        Ours,
        "full",
        "list",
        Triple,
        &["P14"],
    ),
    (
        "ours, parts",
        Ours,
        "parts",
        "list",
        Sync,
        &["P8", "P10", "P13"],
    ),
    (
        "kube-runtime, parts",
        KubeRuntime,
        "parts",
        "list",
        Sync,
        &["P10"],
    ),
    (
        "client-go, parts",
        ClientGo,
        "parts",
        "list",
        Sync,
        &["P8", "P10", "P13"],
    ),
];

fn lines() -> impl Iterator<Item = &'static Line> {
    let all = LINES.iter().chain(&latency::TRIALS).chain(&beside::TRIALS);
    let all = all.chain(&packed::TRIALS).chain(&protobuf::TRIALS);
    all.chain(&cold::TRIALS)
}

/// The trials for these rows; none given means all.
///
/// # Errors
/// When a row is unknown.
pub(super) fn trials(sizes: Sizes, rows: &[String]) -> Result<Vec<Trial>> {
    for row in rows {
        if !MEASURED.contains(&&**row) {
            bail!("{row} is no row; there are {}", MEASURED.join(", "));
        }
    }
    let wanted = |trial: &Trial| {
        let asked = |row: &&str| rows.iter().any(|asked| asked == row);
        rows.is_empty() || trial.rows.iter().any(asked)
    };
    let trials = lines().map(|line| trial(sizes, line));
    Ok(trials.filter(wanted).collect())
}

/// The order in which trials are run, each with the number of the round.
///
/// All rounds of the cold trials come first, since a warm trial touches memory for all that follow.
/// Each of their rounds begins with another trial.
pub(super) fn order(trials: Vec<Trial>) -> Vec<(usize, Trial)> {
    let (mut cold, warm): (Vec<Trial>, Vec<Trial>) = trials.into_iter().partition(Trial::is_cold);
    let rounds = |trials: &[Trial]| 1..=trials.iter().map(|trial| trial.runs).max().unwrap_or(0);
    let mut order = Vec::new();
    for round in rounds(&cold) {
        order.extend(cold.iter().map(|trial| (round, *trial)));
        cold.rotate_left(1);
    }
    for round in rounds(&warm) {
        let due = warm.iter().filter(|trial| round <= trial.runs);
        order.extend(due.map(|trial| (round, *trial)));
    }
    order
}

fn trial(sizes: Sizes, (name, program, variant, list, course, rows): &Line) -> Trial {
    let mut trial = Trial {
        name,
        program: *program,
        variant,
        list,
        rows,
        runs: sizes.rounds,
        objects: sizes.objects,
        memory: Memory::Warm(sizes.objects),
        events: 0,
        handlers: 1,
        changed: 0,
        rate: 0,
        readers: 0,
        seconds: 0,
        joins: 0,
        informers: 1,
    };
    match course {
        Sync => {}
        Events | Cold => trial.events = sizes.events,
        EventsAndRelist => {
            trial.events = sizes.events;
            trial.changed = (sizes.objects / 100).max(1);
        }
        ManyHandlers => {
            trial.events = sizes.events;
            trial.handlers = sizes.handlers;
        }
        Latency => {
            trial.runs = sizes.latency_runs;
            trial.seconds = sizes.latency_seconds;
            trial.handlers = latency::HANDLERS;
            trial.rate = latency::RATE;
        }
        Tenth => trial.objects = (sizes.objects / 10).max(1),
        Triple => trial.objects = sizes.objects * 3,
        TenTimes => trial.objects = sizes.objects * 10,
        BesideOne => {
            trial.readers = 1;
            trial.seconds = WRITER_SECONDS;
        }
        BesideMany => {
            // 160,000 where all else has 100,000.
            trial.objects = sizes.objects * 8 / 5;
            trial.readers = NAMESPACE_READERS;
            trial.seconds = WRITER_SECONDS;
        }
        LateJoin => {
            trial.joins = JOINS;
            trial.rate = JOIN_RATE;
        }
        Idle => {
            trial.objects = IDLE_OBJECTS;
            trial.informers = IDLE_INFORMERS;
        }
    }
    trial.memory = match course {
        Cold => Memory::Cold(Duration::from_secs(sizes.cold_seconds)),
        // Its peer is a large trial, whose memory the host has provided already.
        // Ten times as many, packed, take less than as many that are not.
        Tenth | TenTimes => Memory::Warm(sizes.objects),
        _ => Memory::Warm(trial.objects),
    };
    trial
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: Sizes = Sizes {
        objects: 1_000,
        events: 2_000,
        handlers: 7,
        rounds: 3,
        latency_runs: 7,
        latency_seconds: 30,
        cold_seconds: 10,
    };

    #[test]
    fn only_what_a_row_needs_is_run() {
        let all = trials(SIZES, &[]).expect("no row is wrong");
        assert_eq!(all.len(), lines().count());
        let some = trials(SIZES, &["P14".to_owned()]).expect("the row is known");
        let objects: Vec<u64> = some.iter().map(|trial| trial.objects).collect();
        assert_eq!(objects, [100, 3_000]);
        let memory: Vec<Memory> = some.iter().map(|trial| trial.memory).collect();
        assert_eq!(memory, [Memory::Warm(1_000), Memory::Warm(3_000)]);
    }

    #[test]
    fn every_measured_row_has_trials_and_no_other_has() {
        for row in MEASURED {
            assert!(trials(SIZES, &[row.to_owned()]).is_ok_and(|trials| !trials.is_empty()));
        }
        let known = |row: &str| MEASURED.contains(&row);
        assert!(lines().all(|line| line.5.iter().all(|row| known(row))));
    }

    #[test]
    fn latency_is_measured_seven_times_for_30_seconds_whatever_the_rounds() {
        for rounds in [1, 3, 9] {
            let sizes = Sizes { rounds, ..SIZES };
            let trials = trials(sizes, &[]).expect("no row is wrong");
            let is_latency = |trial: &&Trial| trial.name.ends_with("latency");
            let (latency, others): (Vec<&Trial>, Vec<_>) = trials.iter().partition(is_latency);
            assert_eq!(latency.len(), 5);
            assert!(latency.iter().all(|trial| trial.runs == 7));
            assert!(latency.iter().all(|trial| trial.seconds == 30));
            assert!(others.iter().all(|trial| trial.runs == rounds));
        }
    }

    #[test]
    fn trials_are_interleaved_and_cold_ones_come_first() {
        let rows = ["PK2", "PK7"].map(str::to_owned);
        let order = order(trials(SIZES, &rows).expect("no row is wrong"));
        let names: Vec<(usize, &str)> = order.iter().map(|(at, one)| (*at, one.name)).collect();
        let cold = names.iter().filter(|(_, name)| name.ends_with(", cold"));
        assert_eq!(cold.count(), 12);
        assert!(order[..12].iter().all(|(_, trial)| trial.is_cold()));
        assert_eq!(names[0], (1, "ours packed, cold"));
        assert_eq!(names[4], (2, "ours full, cold"));
        assert_eq!(names[8], (3, "kube-runtime, cold"));
        let (ours, peer) = ("ours packed, latency", "client-go protobuf, latency");
        let last: Vec<_> = (4..=7).flat_map(|at| [(at, peer), (at, ours)]).collect();
        assert!(names.ends_with(&last), "{names:?}");
    }

    #[test]
    fn cold_trials_are_those_whose_name_says_so() {
        let trials = trials(SIZES, &[]).expect("no row is wrong");
        let cold: Vec<&Trial> = trials.iter().filter(|trial| trial.is_cold()).collect();
        assert_eq!(cold.len(), 4);
        let agrees = |trial: &Trial| trial.name.ends_with(", cold") == trial.is_cold();
        assert!(trials.iter().all(agrees));
        let memory = Memory::Cold(Duration::from_secs(10));
        assert!(cold.iter().all(|trial| trial.memory == memory));
    }

    #[test]
    fn a_row_that_is_none_is_refused_by_name() {
        let error = trials(SIZES, &["P0".to_owned()]).expect_err("there are fewer");
        assert!(error.to_string().starts_with("P0 is no row"));
    }
}
