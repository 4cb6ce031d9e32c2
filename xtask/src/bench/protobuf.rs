//! PB1 to PB5: the informer in protobuf, beside the peers and beside itself in JSON.

use super::claims::Bound::{AtLeast, AtMost};
use super::claims::Line as Target;
use super::plan::Course::{Events, Sync};
use super::plan::Line as Trial;
use super::programs::Program::Ours;

const PACKED: &str = "ours packed, protobuf";
const FULL: &str = "ours full, protobuf";
const LEAN: &str = "ours lean, protobuf";
const PARTIAL: &str = "ours partial, protobuf";
const WIRES: &str = "ours, either format";
const METADATA: &str = "ours metadata, protobuf";
const METADATA_JSON: &str = "ours metadata";
const LEAN_METADATA: &str = "ours lean metadata, protobuf";
const LEAN_METADATA_JSON: &str = "ours lean metadata";
const ONCE: &str = "ours packed, one by one, protobuf";
const ONCE_JSON: &str = "ours packed, one by one";

const KUBE: &str = "kube-runtime";
const CLIENT_GO: &str = "client-go protobuf";

const WALL: &str = "sync_wall_s";
const RATE: &str = "events_per_s";

pub(super) const TRIALS: [Trial; 10] = [
    (
        PACKED,
        Ours,
        "packed-protobuf",
        "list",
        Events,
        &["PB1", "PB2"],
    ),
    (FULL, Ours, "full-protobuf", "list", Events, &["PB1", "PB2"]),
    (LEAN, Ours, "lean-protobuf", "list", Events, &["PB1", "PB2"]),
    (
        PARTIAL,
        Ours,
        "partial-protobuf",
        "list",
        Events,
        &["PB1", "PB2"],
    ),
    (ONCE, Ours, "packed-once-protobuf", "list", Sync, &["PB3"]),
    (WIRES, Ours, "wires", "list", Sync, &["PB4"]),
    (METADATA_JSON, Ours, "metadata", "list", Events, &["PB5"]),
    (
        LEAN_METADATA_JSON,
        Ours,
        "metadata-lean",
        "list",
        Events,
        &["PB5"],
    ),
    (
        LEAN_METADATA,
        Ours,
        "metadata-lean-protobuf",
        "list",
        Events,
        &["PB5"],
    ),
    (
        METADATA,
        Ours,
        "metadata-protobuf",
        "list",
        Events,
        &["PB5"],
    ),
];

pub(super) const TARGETS: [Target; 11] = [
    (
        "PB1",
        "initial sync, packed in protobuf / kube-runtime",
        (PACKED, WALL),
        (KUBE, WALL),
        AtMost(0.13),
    ),
    (
        "PB1",
        "initial sync, packed in protobuf / client-go protobuf",
        (PACKED, WALL),
        (CLIENT_GO, WALL),
        AtMost(0.26),
    ),
    (
        "PB1",
        "initial sync, full in protobuf / client-go protobuf",
        (FULL, WALL),
        (CLIENT_GO, WALL),
        AtMost(1.0),
    ),
    (
        "PB2",
        "events/s, packed in protobuf / kube-runtime",
        (PACKED, RATE),
        (KUBE, RATE),
        AtLeast(4.0),
    ),
    (
        "PB2",
        "events/s, full in protobuf / client-go protobuf",
        (FULL, RATE),
        (CLIENT_GO, RATE),
        AtLeast(1.0),
    ),
    (
        "PB3",
        "bytes of a packed object, protobuf / JSON",
        (ONCE, "packed_bytes"),
        (ONCE_JSON, "packed_bytes"),
        AtMost(0.75),
    ),
    (
        "PB4",
        "decode of a whole pod, protobuf / JSON",
        (WIRES, "full_protobuf_ns"),
        (WIRES, "full_json_ns"),
        AtMost(0.8),
    ),
    (
        "PB4",
        "decode of a lean pod, protobuf / JSON",
        (WIRES, "lean_protobuf_ns"),
        (WIRES, "lean_json_ns"),
        AtMost(0.7),
    ),
    (
        "PB4",
        "decode of eight fields, protobuf / JSON",
        (WIRES, "partial_protobuf_ns"),
        (WIRES, "partial_json_ns"),
        AtMost(0.45),
    ),
    (
        "PB5",
        "metadata of custom resources, initial sync, protobuf / JSON",
        (METADATA, WALL),
        (METADATA_JSON, WALL),
        AtMost(0.5),
    ),
    (
        "PB5",
        "the same without managed fields, protobuf / JSON",
        (LEAN_METADATA, WALL),
        (LEAN_METADATA_JSON, WALL),
        AtMost(0.5),
    ),
];
