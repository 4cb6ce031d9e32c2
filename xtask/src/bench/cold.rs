//! PK1 to PK3 once more with cold memory, for ours and the peers alike: shown, not judged.
//!
//! Cold memory is memory that the harness has not touched. These trials run before all others, and
//! each round begins with another one, because each uses pages that the one before has freed. What
//! the first touch of a page costs is measured before each trial, of these and of the others.

use super::claims::Bound::Shown;
use super::claims::Line as Target;
use super::plan::Course::Cold;
use super::plan::Line as Trial;
use super::programs::Program::{ClientGo, KubeRuntime, Ours};

const PACKED: &str = "ours packed, cold";
const FULL: &str = "ours full, cold";
const KUBE: &str = "kube-runtime, cold";
const CLIENT_GO: &str = "client-go protobuf, cold";

const WALL: &str = "sync_wall_s";
const STEADY: &str = "sync_steady_rss";
const RATE: &str = "events_per_s";

/// The rows of which the targets are shown without them.
const ROWS: &[&str] = &["PK1", "PK2", "PK3"];

/// For how many seconds the machine is idle before a cold trial, so that a host that takes free
/// pages back may do so.
pub(super) fn idle_seconds(is_quick: bool) -> u64 {
    match is_quick {
        true => 1,
        false => 10,
    }
}

pub(super) const TRIALS: [Trial; 4] = [
    (PACKED, Ours, "packed", "list", Cold, ROWS),
    (FULL, Ours, "full", "list", Cold, ROWS),
    (KUBE, KubeRuntime, "full", "list", Cold, ROWS),
    (CLIENT_GO, ClientGo, "protobuf", "list", Cold, ROWS),
];

pub(super) const TARGETS: [Target; 8] = [
    (
        "PK1",
        "initial sync, packed / kube-runtime",
        (PACKED, WALL),
        (KUBE, WALL),
        Shown,
    ),
    (
        "PK1",
        "initial sync, packed / client-go protobuf",
        (PACKED, WALL),
        (CLIENT_GO, WALL),
        Shown,
    ),
    (
        "PK1",
        "initial sync, full / kube-runtime",
        (FULL, WALL),
        (KUBE, WALL),
        Shown,
    ),
    (
        "PK1",
        "initial sync, full / client-go protobuf",
        (FULL, WALL),
        (CLIENT_GO, WALL),
        Shown,
    ),
    (
        "PK2",
        "memory, packed / client-go protobuf",
        (PACKED, STEADY),
        (CLIENT_GO, STEADY),
        Shown,
    ),
    (
        "PK2",
        "memory, packed / kube-runtime",
        (PACKED, STEADY),
        (KUBE, STEADY),
        Shown,
    ),
    (
        "PK3",
        "events/s, packed / kube-runtime",
        (PACKED, RATE),
        (KUBE, RATE),
        Shown,
    ),
    (
        "PK3",
        "events/s, packed / client-go protobuf",
        (PACKED, RATE),
        (CLIENT_GO, RATE),
        Shown,
    ),
];
