//! The targets of single operations: the store (P10), queue and listener (P13), fan-out (P8).

use super::Bound::AtMost;
use super::Line;

const OURS: &str = "ours, parts";
const KUBE: &str = "kube-runtime, parts";
const GO: &str = "client-go, parts";

pub(super) const LINES: [Line; 11] = [
    (
        "P10",
        "get by key, borrowed / client-go",
        (OURS, "store_get_borrowed_ns"),
        (GO, "store_get_ns"),
        AtMost(1.0),
    ),
    (
        "P10",
        "get by key, to keep / kube-runtime",
        (OURS, "store_get_ns"),
        (KUBE, "store_get_ns"),
        AtMost(0.6),
    ),
    (
        "P10",
        "find a fiftieth, by index / client-go",
        (OURS, "store_by_index_borrowed_ns"),
        (GO, "store_by_index_collect_ns"),
        AtMost(0.25),
    ),
    (
        "P10",
        "visit a fiftieth, by index / client-go",
        (OURS, "store_by_index_ns"),
        (GO, "store_by_index_ns"),
        AtMost(0.25),
    ),
    (
        "P10",
        "walk all / client-go",
        (OURS, "store_iterate_borrowed_ns"),
        (GO, "store_list_ns"),
        AtMost(0.5),
    ),
    (
        "P10",
        "visit all / client-go",
        (OURS, "store_iterate_ns"),
        (GO, "store_iterate_ns"),
        AtMost(0.5),
    ),
    (
        "P10",
        "update with one index / client-go",
        (OURS, "store_update_ns"),
        (GO, "store_update_ns"),
        AtMost(0.75),
    ),
    (
        "P13",
        "DeltaFIFO: update and pop / client-go",
        (OURS, "queue_delta_fifo_ns"),
        (GO, "queue_delta_fifo_ns"),
        AtMost(0.4),
    ),
    (
        "P13",
        "in order: update and pop / client-go's RealFIFO",
        (OURS, "queue_in_order_ns"),
        (GO, "queue_in_order_ns"),
        AtMost(0.4),
    ),
    (
        "P13",
        "an event to 1 handler / client-go",
        (OURS, "distribute_1_ns"),
        (GO, "distribute_1_ns"),
        AtMost(0.2),
    ),
    (
        "P8",
        "an event to 100 handlers / client-go",
        (OURS, "distribute_100_ns"),
        (GO, "distribute_100_ns"),
        AtMost(0.1),
    ),
];
