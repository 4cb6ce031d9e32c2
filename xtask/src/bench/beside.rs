//! P9, P12 and idle: what goes on beside something else. The writer of a store beside readers, a
//! handler beside one that joins late, and informers beside many others.

use super::claims::Bound::{AtLeast, AtMost};
use super::claims::Line as Target;
use super::plan::Course::{BesideMany, BesideOne, Idle, LateJoin};
use super::plan::Line as Trial;
use super::programs::Program::{ClientGo, KubeRuntime, Ours};

const ONE: &str = "ours, store beside 1 reader";
const ONE_GO: &str = "client-go, store beside 1 reader";
const EIGHTY: &str = "ours, store beside 80 readers";
const EIGHTY_GO: &str = "client-go, store beside 80 readers";
const LATE: &str = "ours full, late join";
const LATE_GO: &str = "client-go protobuf, late join";

const IDLE: &str = "ours, 1,000 idle";
const IDLE_KUBE: &str = "kube-runtime, 1,000 idle";
const IDLE_GO: &str = "client-go json, 1,000 idle";

const WRITES: &str = "beside_writes_per_s";
const EFFORT: &str = "beside_writes_per_cpu_s";
const EFFORT_ALONE: &str = "alone_writes_per_cpu_s";
const WAITS: &str = "beside_waits";
const READS: &str = "reads_per_s";

pub(super) const TRIALS: [Trial; 10] = [
    (ONE, Ours, "beside-all", "list", BesideOne, &["P9"]),
    (
        "kube-runtime, store beside 1 reader",
        KubeRuntime,
        "beside-all",
        "list",
        BesideOne,
        &["P9"],
    ),
    (ONE_GO, ClientGo, "beside-all", "list", BesideOne, &["P9"]),
    (
        EIGHTY,
        Ours,
        "beside-namespace",
        "list",
        BesideMany,
        &["P9"],
    ),
    (
        EIGHTY_GO,
        ClientGo,
        "beside-namespace",
        "list",
        BesideMany,
        &["P9"],
    ),
    (LATE, Ours, "full", "list", LateJoin, &["P12"]),
    (LATE_GO, ClientGo, "protobuf", "list", LateJoin, &["P12"]),
    (IDLE, Ours, "idle", "list", Idle, &["idle"]),
    (IDLE_KUBE, KubeRuntime, "idle", "list", Idle, &["idle"]),
    (IDLE_GO, ClientGo, "idle", "list", Idle, &["idle", "PK10"]),
];

/// Rows for which kube-runtime has no counterpart, for the reader of the table.
pub(super) const ABSENT: &str = "kube-runtime: its store has no indexes, so nobody lists a \
    namespace (P9); a subscriber is never told what was there before, so nobody joins late (P12).";

pub(super) const TARGETS: [Target; 11] = [
    (
        "P9",
        "writes/CPU second beside 1 reader / alone",
        (ONE, EFFORT),
        (ONE, EFFORT_ALONE),
        AtLeast(0.9),
    ),
    (
        "P9",
        "waits beside 1 reader / writes",
        (ONE, WAITS),
        (ONE, "beside_writes"),
        AtMost(0.0),
    ),
    (
        "P9",
        "writes/s beside 1 reader / client-go",
        (ONE, WRITES),
        (ONE_GO, WRITES),
        AtLeast(100.0),
    ),
    (
        "P9",
        "reads/s of 1 reader / client-go",
        (ONE, READS),
        (ONE_GO, READS),
        AtLeast(1.0),
    ),
    (
        "P9",
        "writes/CPU second beside 80 readers / alone",
        (EIGHTY, EFFORT),
        (EIGHTY, EFFORT_ALONE),
        AtLeast(0.9),
    ),
    (
        "P9",
        "waits beside 80 readers / writes",
        (EIGHTY, WAITS),
        (EIGHTY, "beside_writes"),
        AtMost(0.0),
    ),
    (
        "P9",
        "writes/s beside 80 readers / client-go",
        (EIGHTY, WRITES),
        (EIGHTY_GO, WRITES),
        AtLeast(3.0),
    ),
    (
        "P9",
        "reads/s of 80 readers / client-go",
        (EIGHTY, READS),
        (EIGHTY_GO, READS),
        AtLeast(1.0),
    ),
    (
        "P12",
        "stall by a late join / client-go",
        (LATE, "stall_us"),
        (LATE_GO, "stall_us"),
        AtMost(0.05),
    ),
    (
        "idle",
        "memory of an idle informer / client-go",
        (IDLE, "idle_bytes_each"),
        (IDLE_GO, "idle_bytes_each"),
        AtMost(1.0),
    ),
    (
        "idle",
        "memory of an idle informer / kube-runtime",
        (IDLE, "idle_bytes_each"),
        (IDLE_KUBE, "idle_bytes_each"),
        AtMost(1.0),
    ),
];
