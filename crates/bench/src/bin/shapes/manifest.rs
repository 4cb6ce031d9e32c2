//! The manifests of workloads, and the values that fill their placeholders.
//!
//! A placeholder is part of a string. `${app}` and `${team}` are the same in all workloads of a
//! template. `${hex:N}`, `${number:MIN-MAX}`, `${version}` and `${word}` are drawn anew for each
//! workload and each rollout.

use serde_json::{Map, Value};

use informer_bench::chance::Chance;

/// The controller that creates and owns the pods of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    DaemonSet,
    Job,
    ReplicaSet,
    StatefulSet,
}

impl Owner {
    pub(super) fn kind(self) -> &'static str {
        match self {
            Self::DaemonSet => "DaemonSet",
            Self::Job => "Job",
            Self::ReplicaSet => "ReplicaSet",
            Self::StatefulSet => "StatefulSet",
        }
    }
}

/// A workload as its author writes it.
#[derive(Clone, Debug)]
pub(super) struct Manifest {
    pub(super) owner: Owner,
    pub(super) name: String,
    /// Metadata and specification of its pods.
    pub(super) pod: Value,
}

impl Manifest {
    /// Parses a manifest of this crate.
    ///
    /// # Panics
    ///
    /// If it is not the manifest of a workload.
    pub(super) fn parse(text: &str) -> Self {
        let mut manifest: Value = serde_saphyr::from_str(text).expect("a manifest is YAML");
        let owner = match manifest["kind"].as_str() {
            Some("Deployment") => Owner::ReplicaSet,
            Some("StatefulSet") => Owner::StatefulSet,
            Some("DaemonSet") => Owner::DaemonSet,
            Some("Job") => Owner::Job,
            other => panic!("{other:?} is not the kind of a workload"),
        };
        let name = manifest["metadata"]["name"].as_str();
        Self {
            owner,
            name: name.expect("a workload has a name").to_owned(),
            pod: manifest["spec"]["template"].take(),
        }
    }
}

/// The names of a template.
#[derive(Clone, Copy, Debug)]
pub(super) struct Names<'a> {
    pub(super) app: &'a str,
    pub(super) team: &'a str,
}

/// Returns the value with its placeholders filled.
///
/// # Panics
///
/// If a placeholder is not one of those of this module.
pub(super) fn fill(value: &Value, names: Names<'_>, chance: &mut Chance) -> Value {
    match value {
        Value::String(text) => Value::String(fill_text(text, names, chance)),
        Value::Array(items) => items.iter().map(|item| fill(item, names, chance)).collect(),
        Value::Object(fields) => {
            let filled = fields.iter().map(|(name, value)| {
                let name = fill_text(name, names, chance);
                (name, fill(value, names, chance))
            });
            Value::Object(filled.collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

/// Returns the text with its placeholders filled, as [`fill`] does.
pub(super) fn fill_text(text: &str, names: Names<'_>, chance: &mut Chance) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, placeholder)) = rest.split_once("${") {
        let (placeholder, after) = placeholder.split_once('}').expect("a placeholder ends");
        filled.push_str(before);
        filled.push_str(&drawn(placeholder, names, chance));
        rest = after;
    }
    filled.push_str(rest);
    filled
}

fn drawn(placeholder: &str, names: Names<'_>, chance: &mut Chance) -> String {
    let number = |text: &str| text.parse::<u64>().expect("a bound is a number");
    match placeholder.split_once(':') {
        None => match placeholder {
            "app" => names.app.to_owned(),
            "team" => names.team.to_owned(),
            "version" => chance.version(),
            "word" => chance.word().to_owned(),
            other => panic!("there is no placeholder {other}"),
        },
        Some(("hex", digits)) => chance.hex(digits.parse().expect("a length is a number")),
        Some(("number", range)) => {
            let (least, most) = range.split_once('-').expect("a range has two bounds");
            let (least, most) = (number(least), number(most));
            (least + chance.below(most - least + 1)).to_string()
        }
        Some((other, _)) => panic!("there is no placeholder {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: Names<'_> = Names {
        app: "shop",
        team: "web",
    };

    #[test]
    fn placeholders_are_filled_in_names_and_values() {
        let value = serde_json::json!({"${app}.x": ["${team}-${number:7-7}", 5, "${hex:20}"]});
        let filled = fill(&value, NAMES, &mut Chance::new(1, 1));
        assert_eq!(filled["shop.x"][0], "web-7");
        assert_eq!(filled["shop.x"][1], 5);
        let hex = filled["shop.x"][2].as_str().expect("a string");
        assert!(hex.len() == 20 && hex.chars().all(|c| c.is_ascii_hexdigit()));
    }

    #[test]
    #[should_panic(expected = "no placeholder apps")]
    fn placeholder_that_does_not_exist_is_refused() {
        fill_text("${apps}", NAMES, &mut Chance::new(1, 1));
    }

    #[test]
    fn manifest_has_the_owner_of_its_pods() {
        let text = "kind: Deployment\nmetadata: {name: x}\nspec: {template: {spec: {a: 1}}}";
        let manifest = Manifest::parse(text);
        assert_eq!((manifest.owner, &*manifest.name), (Owner::ReplicaSet, "x"));
        assert_eq!(manifest.pod["spec"]["a"], 1);
    }
}
