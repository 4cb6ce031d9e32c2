//! Which foreign crates' types stand in the public API of each published library.
//!
//! A new major version of such a crate needs a new major version of ours. The crates are read from
//! rustdoc's JSON and compared with a list that states a reason for each.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::checkout;

/// The list, a line for each library and foreign crate.
const PATH: &str = "xtask/config/public-types.txt";

/// Set for the run of cargo that calls xtask as rustdoc.
const MARK: &str = "INFORMER_RUSTDOC_JSON";

/// The standard library, whose types need no reason.
const STANDARD: [&str; 3] = ["alloc", "core", "std"];

/// A library and a foreign crate whose types or traits its public API contains.
type Use = (String, String);

/// Makes a `cargo rustdoc` write JSON, which only an unstable option of rustdoc does.
///
/// Cargo calls xtask in place of rustdoc, so that no other program sees the variable that permits
/// unstable options: build scripts run again when it changes, and every dependency after them.
pub(super) fn write_json(command: &mut Command) -> Result<()> {
    let this = env::current_exe().context("cannot find xtask itself")?;
    command.env("RUSTDOC", this).env(MARK, "1");
    command.args(["--", "-Zunstable-options", "--output-format=json"]);
    Ok(())
}

/// Runs rustdoc, if cargo calls xtask in place of it.
pub(crate) fn rustdoc() -> Option<ExitCode> {
    env::var_os(MARK)?;
    let mut rustdoc = Command::new("rustdoc");
    rustdoc
        .args(env::args_os().skip(1))
        .env("RUSTC_BOOTSTRAP", "1");
    let succeeded = rustdoc.status().is_ok_and(|status| status.success());
    Some(if succeeded {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Returns the uses in the JSON file that describes `library`.
pub(super) fn read(library: &str, json: &Path) -> Result<BTreeSet<Use>> {
    let text = fs::read(json).with_context(|| format!("cannot read {json:?}"))?;
    let api: Value = serde_json::from_slice(&text).with_context(|| format!("in {json:?}"))?;
    let uses = foreign_crates(&api).into_iter();
    Ok(uses
        .map(|name| (library.to_owned(), name.to_owned()))
        .collect())
}

/// Compares the uses of all libraries with the list.
pub(super) fn check(found: &BTreeSet<Use>) -> Result<()> {
    let text = fs::read_to_string(checkout::root().join(PATH));
    let allowed = parse(&text.with_context(|| format!("cannot read {PATH}"))?)?;
    for (library, name) in found.difference(&allowed) {
        eprintln!("error: types of {name} stand in the API of {library}, which {PATH} lacks");
    }
    for (library, name) in allowed.difference(found) {
        eprintln!("error: {PATH} has {name} for {library}, whose API has none of its types");
    }
    if *found != allowed {
        bail!("the public APIs and {PATH} differ");
    }
    println!(
        "public types: {} uses of foreign crates are allowed",
        found.len()
    );
    Ok(())
}

/// The lines `LIBRARY FOREIGN: reason`.
fn parse(text: &str) -> Result<BTreeSet<Use>> {
    let used = |line: &&str| !line.is_empty() && !line.starts_with('#');
    let parse = |line: &str| {
        let (place, reason) = line.split_once(": ")?;
        let (library, name) = place.split_once(' ')?;
        (!reason.trim().is_empty()).then(|| (library.to_owned(), name.to_owned()))
    };
    let lines = text.lines().filter(used);
    lines
        .map(|line| parse(line).with_context(|| format!("{PATH}: {line:?} has no reason")))
        .collect()
}

/// The foreign crates in the description of one library.
///
/// Implementations that the compiler derives from bounds (`Send`, and traits for every type) are
/// left out: they do not stand in the source.
fn foreign_crates(api: &Value) -> BTreeSet<&str> {
    let mut ids = BTreeSet::new();
    for item in api["index"]
        .as_object()
        .into_iter()
        .flat_map(|index| index.values())
    {
        let implementation = &item["inner"]["impl"];
        let is_written =
            implementation["is_synthetic"] != true && implementation["blanket_impl"].is_null();
        if item["crate_id"] == 0 && is_written {
            named_ids(&item["inner"], &mut ids);
        }
    }
    let crate_of = |id: &u64| {
        let owner = api["paths"][id.to_string()]["crate_id"].as_u64()?;
        api["external_crates"][owner.to_string()]["name"].as_str()
    };
    let mut crates: BTreeSet<&str> = ids.iter().filter_map(crate_of).collect();
    crates.retain(|name| !STANDARD.contains(name));
    crates
}

/// Collects the ids of all types, traits and re-exports that a part of the JSON names.
fn named_ids(part: &Value, ids: &mut BTreeSet<u64>) {
    match part {
        Value::Object(fields) => {
            // `path` in types and traits, `source` in re-exports.
            if fields.contains_key("path") || fields.contains_key("source") {
                ids.extend(fields.get("id").and_then(Value::as_u64));
            }
            fields.values().for_each(|field| named_ids(field, ids));
        }
        Value::Array(parts) => parts.iter().for_each(|part| named_ids(part, ids)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A library with the items that `index` lists; ids 1 to 4 are those of its own type, of `Arc`,
    /// and of types of the crates `http` and `tower`.
    fn crates(index: &Value) -> Vec<String> {
        let api = json!({
            "index": index,
            "paths": {
                "1": {"crate_id": 0}, "2": {"crate_id": 1}, "3": {"crate_id": 2},
                "4": {"crate_id": 3}
            },
            "external_crates": {
                "1": {"name": "alloc"}, "2": {"name": "http"}, "3": {"name": "tower"}
            }
        });
        foreign_crates(&api)
            .into_iter()
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn types_traits_and_reexports_are_found_at_any_depth() {
        let http = json!({"resolved_path": {"path": "http::Uri", "id": 3, "args": null}});
        let nested = json!({"resolved_path": {"path": "Arc", "id": 2, "args": {"types": [http]}}});
        let function = json!({"crate_id": 0, "inner": {"function": {"output": nested}}});
        assert_eq!(crates(&json!({"9": function})), ["http"]);
        let bound = json!({"trait_bound": {"trait": {"path": "tower::Service", "id": 4}}});
        let generics = json!({"crate_id": 0, "inner": {"struct": {"bounds": [bound]}}});
        assert_eq!(crates(&json!({"9": generics})), ["tower"]);
        let reexport = json!({"crate_id": 0, "inner": {"use": {"source": "tower", "id": 4}}});
        assert_eq!(crates(&json!({"9": reexport})), ["tower"]);
    }

    #[test]
    fn derived_implementations_and_foreign_items_are_left_out() {
        let implementation = |synthetic: bool, blanket: Value| {
            json!({"crate_id": 0, "inner": {"impl": {
                "is_synthetic": synthetic, "blanket_impl": blanket,
                "trait": {"path": "tower::Service", "id": 4}
            }}})
        };
        assert_eq!(
            crates(&json!({"9": implementation(false, Value::Null)})),
            ["tower"]
        );
        assert!(crates(&json!({"9": implementation(true, Value::Null)})).is_empty());
        assert!(crates(&json!({"9": implementation(false, json!({"generic": "T"}))})).is_empty());
        let foreign = json!({"crate_id": 3, "inner": {"struct": {"path": "Uri", "id": 3}}});
        assert!(crates(&json!({"9": foreign})).is_empty());
    }

    #[test]
    fn line_of_the_list_has_a_reason() {
        let parsed = parse("# Comment.\n\nx http: requests\n").expect("well formed");
        assert_eq!(
            parsed,
            BTreeSet::from([("x".to_owned(), "http".to_owned())])
        );
        assert!(parse("x http").is_err());
        assert!(parse("x http: ").is_err());
    }
}
