//! The demo as a person runs it: a process, its exit status, its one JSON object.

mod program;

use std::path::Path;

use program::{Done, run};
use serde_json::Value;

fn demo(arguments: &[&str]) -> Done {
    let small = ["demo", "--objects", "200", "--rate", "400", "--for", "1s"];
    run(Path::new("/nonexistent"), &[&small, arguments].concat())
}

/// "Done when" 1, small, with both queues, and with packed pods.
#[test]
fn the_cache_and_every_handler_agree_with_the_server() {
    for (queue, packed) in [
        ("delta-fifo", false),
        ("in-order", false),
        ("in-order", true),
    ] {
        let form = packed.then_some("--packed");
        let arguments = ["--json", "--queue", queue].into_iter().chain(form);
        let done = demo(&arguments.collect::<Vec<_>>());
        done.assert_code(0);
        assert_eq!(
            done.lines().len(),
            1,
            "one object and nothing else: {done:#?}"
        );
        let report: Value = serde_json::from_str(&done.stdout).expect("JSON");
        assert_eq!(report["objects"], 200);
        assert_eq!(report["nodes"], 10);
        assert_eq!(report["queue"], queue);
        assert_eq!(report["store_matches_server"], true);
        assert_eq!(report["packed"], packed);
        let object_bytes = report["object_bytes"].as_u64().expect("a number");
        match packed {
            true => assert!((300..4_000).contains(&object_bytes), "{object_bytes}"),
            false => assert!((5_000..20_000).contains(&object_bytes), "{object_bytes}"),
        }
        assert_eq!(report["accounted"], true);
        for name in ["fast", "slow", "stream", "nodes"] {
            assert_eq!(report["handlers_match"][name], true, "{name}");
            let handler = &report["handlers"][name];
            let number = |field: &str| handler[field].as_u64().expect(field);
            assert_eq!(
                number("received") + number("initial"),
                number("delivered") + number("coalesced") + number("pending") + number("abandoned"),
                "{handler}"
            );
            assert_eq!(report["delivered"][name], handler["delivered"]);
            assert_eq!(handler["pending"], 0);
        }
        assert!(report["events_produced"].as_u64() > Some(0));
        assert!(report["synced_ms"].as_f64() > Some(0.0));
        assert!(report["max_lag_ms"].is_number() && report["coalesced"].is_u64());
        assert_eq!(report["peak_rss_bytes"].is_u64(), cfg!(target_os = "linux"));
        done.assert_says("The cache holds what the server holds");
        let form = if packed { "packed" } else { "typed" };
        done.assert_says(&format!(
            "A pod takes about {object_bytes} B in the cache, {form}"
        ));
    }
}

#[test]
fn without_json_stdout_stays_empty() {
    let done = run(
        Path::new("/nonexistent"),
        &["demo", "--objects", "1", "--rate", "0", "--for", "0s"],
    );
    done.assert_code(0);
    assert_eq!(done.stdout, "");
    done.assert_says("1 pods and 1 nodes");
    done.assert_says("1 pods need about 64 MiB of memory");
}

#[test]
fn wrong_usage_is_said_and_ends_with_2() {
    for (wrong, said) in [
        (&["--objects", "0"][..], "--objects"),
        (&["--for", "10"], "write for example"),
        (&["--queue", "lifo"], "delta-fifo"),
        (&["--rate", "many"], "--rate"),
    ] {
        let done = run(Path::new("/nonexistent"), &[&["demo"], wrong].concat());
        done.assert_code(2);
        done.assert_says(said);
    }
}

#[test]
fn help_names_everything() {
    let done = run(Path::new("/nonexistent"), &["demo", "--help"]);
    done.assert_code(0);
    for word in [
        "--objects",
        "--ignore-memory",
        "13 KB",
        "--rate",
        "--for",
        "--queue",
        "--packed",
        "--json",
        "max_lag_ms",
    ] {
        assert!(done.stdout.contains(word), "{word}");
    }
}
