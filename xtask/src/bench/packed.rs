//! PK1 to PK11: packed objects beside the peers, and what packing asks of typed ones.
//!
//! client-go's handler of PK5 reads nothing: a field of a struct costs it next to nothing.

use super::claims::Bound::{AtLeast, AtMost};
use super::claims::Line as Target;
use super::latency::{CLIENT_GO as GO_LATENCY, PERCENTILE_99};
use super::plan::Course::{Events, EventsAndRelist, Idle, Latency, ManyHandlers, Sync, TenTimes};
use super::plan::Line as Trial;
use super::programs::Program::Ours;

const PACKED: &str = "ours packed";
const PLAIN: &str = "ours packed, nothing decoded";
const MANY: &str = "ours packed, many handlers";
const READ: &str = "ours packed, five fields read";
const VIEW: &str = "ours packed, five fields of the view";
const ONCE: &str = "ours packed, one by one";
const LATENCY: &str = "ours packed, latency";
const MILLION: &str = "ours packed, ten times";
const IDLE: &str = "ours packed, 1,000 idle";

const OURS: &str = "ours full";
const KUBE: &str = "kube-runtime";
const PROTOBUF: &str = "client-go protobuf";

const WALL: &str = "sync_wall_s";
const STEADY: &str = "sync_steady_rss";
const RATE: &str = "events_per_s";

pub(super) const TRIALS: [Trial; 9] = [
    (
        PACKED,
        Ours,
        "packed",
        "list",
        EventsAndRelist,
        &["PK1", "PK2", "PK3", "PK8", "PK9"],
    ),
    (PLAIN, Ours, "packed-plain", "list", Events, &["PK1"]),
    (MANY, Ours, "packed", "list", ManyHandlers, &["PK4"]),
    (READ, Ours, "packed-read", "list", Events, &["PK5"]),
    (VIEW, Ours, "packed-view", "list", Events, &["PK5"]),
    (ONCE, Ours, "packed-once", "list", Sync, &["PK6", "PB3"]),
    (LATENCY, Ours, "packed", "list", Latency, &["PK7"]),
    (MILLION, Ours, "packed", "list", TenTimes, &["PK9"]),
    (IDLE, Ours, "idle-packed", "list", Idle, &["PK10"]),
];

pub(super) const TARGETS: [Target; 18] = [
    (
        "PK1",
        "initial sync, packed / kube-runtime",
        (PACKED, WALL),
        (KUBE, WALL),
        AtMost(0.22),
    ),
    (
        "PK1",
        "initial sync, packed / client-go protobuf",
        (PACKED, WALL),
        (PROTOBUF, WALL),
        AtMost(0.26),
    ),
    (
        "PK2",
        "memory, packed / client-go protobuf",
        (PACKED, STEADY),
        (PROTOBUF, STEADY),
        AtMost(0.15),
    ),
    (
        "PK2",
        "memory, packed / kube-runtime",
        (PACKED, STEADY),
        (KUBE, STEADY),
        AtMost(0.045),
    ),
    (
        "PK3",
        "events/s, packed / kube-runtime",
        (PACKED, RATE),
        (KUBE, RATE),
        AtLeast(3.5),
    ),
    (
        "PK3",
        "events/s, packed / client-go protobuf",
        (PACKED, RATE),
        (PROTOBUF, RATE),
        AtLeast(1.8),
    ),
    (
        "PK4",
        "events/s, packed, many handlers / kube-runtime",
        (MANY, RATE),
        ("kube-runtime, many handlers", RATE),
        AtLeast(4.0),
    ),
    (
        "PK5",
        "events/s, five fields read / client-go protobuf",
        (READ, RATE),
        (PROTOBUF, RATE),
        AtLeast(1.2),
    ),
    (
        "PK5",
        "events/s, five fields of the view / client-go protobuf",
        (VIEW, RATE),
        (PROTOBUF, RATE),
        AtLeast(1.8),
    ),
    (
        "PK6",
        "unpacking a pod / decoding its text",
        (ONCE, "unpack_ns"),
        (ONCE, "decode_ns"),
        AtMost(1.1),
    ),
    (
        "PK6",
        "reading five fields / serde_json decoding all",
        (ONCE, "read_five_ns"),
        (ONCE, "serde_json_ns"),
        AtMost(0.45),
    ),
    (
        "PK7",
        "latency p99, 10 handlers, packed / client-go protobuf",
        (LATENCY, PERCENTILE_99),
        (GO_LATENCY, PERCENTILE_99),
        AtMost(2.0),
    ),
    (
        "PK8",
        "CPU of a relist with 1 % changed, packed / full",
        (PACKED, "relist_cpu_s"),
        (OURS, "relist_cpu_s"),
        AtMost(0.8),
    ),
    (
        "PK8",
        "growth of that relist / 25 MiB",
        (PACKED, "relist_growth"),
        (PACKED, "allowed_growth"),
        AtMost(1.0),
    ),
    (
        "PK9",
        "memory of ten times as many / 1 GiB",
        (MILLION, STEADY),
        (MILLION, "gibibyte"),
        AtMost(1.0),
    ),
    (
        "PK9",
        "peak / steady memory of ten times as many",
        (MILLION, "sync_peak_rss"),
        (MILLION, STEADY),
        AtMost(1.3),
    ),
    (
        "PK9",
        "CPU an object, ten times as many / as many",
        (MILLION, "sync_cpu_us_per_object"),
        (PACKED, "sync_cpu_us_per_object"),
        AtMost(1.2),
    ),
    (
        "PK10",
        "memory of an idle informer, packed / client-go",
        (IDLE, "idle_bytes_each"),
        ("client-go json, 1,000 idle", "idle_bytes_each"),
        AtMost(0.8),
    ),
];
