//! The tables for people, and the same for programs.

use anyhow::Result;
use serde_json::{Map, Value, json};

use super::claims::{Bound, Judged};
use super::machine::Description;
use super::results::{Results, Spread};
use super::{Sizes, beside};

/// Heading, figure, by how much it is divided, and digits behind the point.
type Column = (&'static str, &'static str, f64, usize);

const MEBIBYTE: f64 = 1_048_576.0;

const INITIAL: [Column; 8] = [
    ("sync s", "sync_wall_s", 1.0, 2),
    ("CPU s", "sync_cpu_s", 1.0, 2),
    ("server CPU s", "sync_server_cpu_s", 1.0, 2),
    ("RSS MiB, synced", "sync_rss", MEBIBYTE, 0),
    ("settled", "sync_steady_rss", MEBIBYTE, 0),
    ("peak", "sync_peak_rss", MEBIBYTE, 0),
    ("B/object", "rss_per_object", 1.0, 0),
    ("us/page before", "page_touch_us", 1.0, 2),
];

const CHANGES: [Column; 3] = [
    ("events/s", "events_per_s", 1.0, 0),
    ("CPU us/event", "events_cpu_us", 1.0, 1),
    ("server CPU s", "events_server_cpu_s", 1.0, 2),
];

const RELIST: [Column; 5] = [
    ("relist s, with back-off", "relist_wall_s", 1.0, 2),
    ("CPU s", "relist_cpu_s", 1.0, 2),
    ("server CPU s", "relist_server_cpu_s", 1.0, 2),
    ("RSS MiB before", "before_relist_steady_rss", MEBIBYTE, 0),
    ("peak", "relist_peak_rss", MEBIBYTE, 0),
];

const PACED: [Column; 6] = [
    ("p50 us", "latency_p50_us", 1.0, 0),
    ("p99 us", "latency_p99_us", 1.0, 0),
    ("floor p99 us", "floor_p99_us", 1.0, 0),
    ("floor max us", "floor_max_us", 1.0, 0),
    ("CPU s", "paced_cpu_s", 1.0, 2),
    ("server CPU s", "paced_server_cpu_s", 1.0, 2),
];

const STORE: [Column; 7] = [
    ("get", "store_get_ns", 1.0, 0),
    ("get, borrowed", "store_get_borrowed_ns", 1.0, 0),
    ("visit by index", "store_by_index_ns", 1.0, 0),
    ("collect by index", "store_by_index_collect_ns", 1.0, 0),
    ("visit all", "store_iterate_ns", 1.0, 0),
    ("collect all", "store_list_ns", 1.0, 0),
    ("update", "store_update_ns", 1.0, 0),
];

const EVENT: [Column; 8] = [
    ("to 1 handler", "distribute_1_ns", 1.0, 0),
    ("of it sending", "distribute_1_send_ns", 1.0, 0),
    ("CPU", "distribute_1_cpu_ns", 1.0, 0),
    ("to 10", "distribute_10_ns", 1.0, 0),
    ("to 100", "distribute_100_ns", 1.0, 0),
    ("of it sending", "distribute_100_send_ns", 1.0, 0),
    ("DeltaFIFO", "queue_delta_fifo_ns", 1.0, 0),
    ("in order", "queue_in_order_ns", 1.0, 0),
];

const BESIDE: [Column; 7] = [
    ("writes/s alone", "alone_writes_per_s", 1.0, 0),
    ("beside readers", "beside_writes_per_s", 1.0, 0),
    ("writes/CPU s alone", "alone_writes_per_cpu_s", 1.0, 0),
    ("beside readers", "beside_writes_per_cpu_s", 1.0, 0),
    ("reads/s", "reads_per_s", 1.0, 1),
    ("waits alone", "alone_waits", 1.0, 0),
    ("beside readers", "beside_waits", 1.0, 0),
];

const LATE: [Column; 4] = [
    ("stall us", "stall_us", 1.0, 0),
    ("worst", "stall_worst_us", 1.0, 0),
    ("without a join", "quiet_stall_us", 1.0, 0),
    ("join us", "join_us", 1.0, 0),
];

const MANY: [Column; 5] = [
    ("KiB each", "idle_bytes_each", 1_024.0, 1),
    ("tasks each", "idle_tasks_each", 1.0, 2),
    ("CPU ms/s of all", "idle_cpu_ms_per_s", 1.0, 2),
    ("sync of all s", "many_sync_wall_s", 1.0, 2),
    ("CPU s", "many_sync_cpu_s", 1.0, 2),
];

/// Prints everything.
pub(super) fn print(machine: &Description, sizes: Sizes, results: &Results, judged: &[Judged]) {
    let Sizes {
        objects,
        events,
        handlers,
        rounds,
        latency_runs,
        latency_seconds,
        cold_seconds,
    } = sizes;
    println!("{objects} objects, {events} events, {handlers} handlers, {rounds} rounds;");
    println!("latency: {latency_runs} runs of {latency_seconds} s; cold: {cold_seconds} s idle\n");
    for (name, value) in machine {
        println!("- {name}: {value}");
    }
    section("Initial state", results, &INITIAL);
    section("Changes as fast as they are taken", results, &CHANGES);
    section("Relist, 1 % changed", results, &RELIST);
    section(
        "Latency at 5,000 changes a second, 10 handlers",
        results,
        &PACED,
    );
    section("The store alone, ns", results, &STORE);
    section("Queue and processor alone, ns an event", results, &EVENT);
    section("A writer beside readers, stores alone", results, &BESIDE);
    section(
        "Another handler joins late, 2,000 changes a second",
        results,
        &LATE,
    );
    section("1,000 idle informers, 10 objects each", results, &MANY);
    let is_shown = |one: &&Judged| matches!(one.claim.bound, Bound::Shown);
    let (shown, judged): (Vec<&Judged>, Vec<&Judged>) = judged.iter().partition(is_shown);
    targets("Targets", &judged);
    targets("With cold memory: shown, not judged", &shown);
    println!("\n{}", beside::ABSENT);
    for (name, why) in results.skipped() {
        println!("Skipped: {name}: {why}.");
    }
    for (name, why) in results.failed() {
        println!("FAILED: {name}: {why}");
    }
}

fn targets(title: &str, judged: &[&Judged]) {
    if judged.is_empty() {
        return;
    }
    println!("\n## {title}\n");
    println!("| row | ratio of medians | ours | other | ratio | target | | in CPU | floor us |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for judged in judged {
        println!("{}", target(judged));
    }
}

fn section(title: &str, results: &Results, columns: &[Column]) {
    let has = |name: &&&str| results.spread(name, columns[0].1).is_some();
    let names: Vec<_> = results.names().iter().filter(has).collect();
    if names.is_empty() {
        return;
    }
    println!("\n## {title}: median (least-most)\n");
    let headings: Vec<_> = columns.iter().map(|column| column.0).collect();
    println!("| | {} |", headings.join(" | "));
    println!("| --- |{}", " --- |".repeat(columns.len()));
    for name in names {
        let cell = |column: &Column| {
            let spread = results.spread(name, column.1);
            spread.map_or_else(|| "-".to_owned(), |spread| shown(spread, column))
        };
        let cells: Vec<_> = columns.iter().map(cell).collect();
        println!("| {name} | {} |", cells.join(" | "));
    }
}

fn shown(spread: Spread, (_, _, divisor, digits): &Column) -> String {
    let number = |value: f64| format!("{:.digits$}", value / divisor, digits = *digits);
    let (median, least, most) = (
        number(spread.median),
        number(spread.least),
        number(spread.most),
    );
    match least == most {
        true => median,
        false => format!("{median} ({least}-{most})"),
    }
}

fn target(judged: &Judged) -> String {
    // Memory is the only figure that large: counts and times are of some millions at most.
    let short = |value: f64| match value.abs() {
        value if value >= 16.0 * MEBIBYTE => format!("{:.0} MiB", value / MEBIBYTE),
        value if value >= 100.0 => format!("{value:.0}"),
        _ => format!("{value:.2}"),
    };
    let (ours, other) = match judged.figures {
        Some((ours, other)) => (short(ours), short(other)),
        None => ("-".to_owned(), "-".to_owned()),
    };
    let ratio = judged.ratio();
    let ratio = ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.3}"));
    let cpu = judged.cpu_ratio;
    let cpu = cpu.map_or_else(String::new, |ratio| format!("{ratio:.3}"));
    let bound = match judged.claim.bound {
        Bound::AtMost(bound) => format!("<= {bound:.2}"),
        Bound::AtLeast(bound) => format!(">= {bound:.2}"),
        Bound::Shown => "-".to_owned(),
    };
    let (row, what, verdict) = (judged.claim.row, judged.claim.what, judged.verdict());
    let floor = judged.floor.map_or_else(String::new, short);
    format!(
        "| {row} | {what} | {ours} | {other} | {ratio} | {bound} | {verdict} | {cpu} | {floor} |"
    )
}

/// Prints every value of every round.
pub(super) fn print_json(
    machine: &Description,
    sizes: Sizes,
    results: &Results,
    judged: &[Judged],
) -> Result<()> {
    let machine: Map<String, Value> = machine
        .iter()
        .map(|(name, value)| ((*name).to_owned(), json!(value)))
        .collect();
    let trials: Map<String, Value> = results
        .names()
        .iter()
        .map(|name| ((*name).to_owned(), json!(results.values_of(name))))
        .collect();
    let targets: Vec<Value> = judged
        .iter()
        .map(|judged| {
            json!({
                "row": judged.claim.row, "what": judged.claim.what, "figures": judged.figures,
                "ratio": judged.ratio(), "cpu_ratio": judged.cpu_ratio, "floor_us": judged.floor,
                "verdict": judged.verdict(),
            })
        })
        .collect();
    let everything = json!({
        "sizes": {
            "objects": sizes.objects, "events": sizes.events,
            "handlers": sizes.handlers, "rounds": sizes.rounds,
            "latency_runs": sizes.latency_runs, "latency_seconds": sizes.latency_seconds,
            "cold_seconds": sizes.cold_seconds,
        },
        "machine": machine, "trials": trials, "targets": targets,
        "absent": beside::ABSENT, "skipped": results.skipped(), "failed": results.failed(),
    });
    println!("{}", serde_json::to_string_pretty(&everything)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::claims;

    #[test]
    fn a_spread_is_shown_only_where_there_is_one() {
        let spread = Spread {
            median: 2.0,
            least: 1.0,
            most: 4.0,
        };
        assert_eq!(shown(spread, &("x", "x", 2.0, 1)), "1.0 (0.5-2.0)");
        let alone = Spread {
            median: 2.0,
            least: 2.0,
            most: 2.0,
        };
        assert_eq!(shown(alone, &("x", "x", 1.0, 0)), "2");
    }

    #[test]
    fn a_target_without_figures_says_so() {
        let judged = claims::judge(&Results::default(), &["P6".to_owned()]);
        let line = target(&judged[0]);
        assert!(
            line.ends_with("| - | - | - | <= 0.25 | not measured |  |  |"),
            "{line}"
        );
    }
}
