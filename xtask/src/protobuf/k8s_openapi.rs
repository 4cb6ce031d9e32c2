//! The structs of k8s-openapi, read from its source.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::checkout;
use crate::shell::output_of;

/// The source of k8s-openapi.
pub(super) struct Sources {
    /// By minor version of Kubernetes, in order.
    versions: Vec<(u32, PathBuf)>,
}

/// A struct of one version: the names of its fields and their types by their names in JSON.
pub(super) type Struct = BTreeMap<String, (String, String)>;

impl Sources {
    pub(super) fn find() -> Result<Self> {
        let mut metadata = Command::new(env!("CARGO"));
        metadata.args(["metadata", "--format-version=1", "--locked"]);
        metadata.current_dir(checkout::root());
        let metadata: serde_json::Value = serde_json::from_str(&output_of(&mut metadata)?)?;
        let packages = metadata["packages"].as_array().context("no packages")?;
        let package = packages.iter().find(|it| it["name"] == "k8s-openapi");
        let manifest = package.and_then(|it| it["manifest_path"].as_str());
        let manifest = Path::new(manifest.context("k8s-openapi is no dependency")?);
        let mut versions = Vec::new();
        for entry in fs::read_dir(manifest.with_file_name("src"))? {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str());
            let minor = name.and_then(|name| name.strip_prefix("v1_"));
            if let Some(minor) = minor.and_then(|minor| minor.parse().ok()) {
                versions.push((minor, path));
            }
        }
        versions.sort();
        ensure!(!versions.is_empty(), "k8s-openapi has no versions");
        Ok(Self { versions })
    }

    /// Returns the struct of a message in each version that has it.
    pub(super) fn structs(&self, message: &str) -> Result<BTreeMap<u32, Struct>> {
        let mut structs = BTreeMap::new();
        for (minor, source) in &self.versions {
            let Some((folder, name)) = folder(message) else {
                continue;
            };
            let folder = source.join(folder);
            let module = fs::read_to_string(folder.join("mod.rs")).unwrap_or_default();
            let export = format!("::{name};");
            let Some(line) = module.lines().find(|line| line.ends_with(&export)) else {
                continue;
            };
            let file = line.trim_start_matches("pub use self::").split("::").next();
            let file = format!("{}.rs", file.unwrap_or_default());
            let text = fs::read_to_string(folder.join(&file))
                .with_context(|| format!("no {file} for {message}"))?;
            if let Some(found) = read_struct(&text) {
                structs.insert(*minor, found);
            }
        }
        Ok(structs)
    }

    /// The first version.
    pub(super) fn oldest(&self) -> u32 {
        self.versions.first().map_or(0, |(minor, _)| *minor)
    }
}

/// The folder of a message in the source and the name of its struct.
fn folder(message: &str) -> Option<(String, &str)> {
    let (package, name) = message.split_once('.')?;
    Some(match package {
        "meta/v1" => ("apimachinery/pkg/apis/meta/v1".to_owned(), name),
        _ => (format!("api/{package}"), name),
    })
}

/// The path of a struct within k8s-openapi.
pub(super) fn path(message: &str) -> Option<String> {
    let (folder, name) = folder(message)?;
    Some(format!("{}::{name}", folder.replace('/', "::")))
}

/// Reads the fields of the struct in a file. The files are generated, so all have the same form.
fn read_struct(text: &str) -> Option<Struct> {
    let mut types = BTreeMap::new();
    let (_, body) = text.split_once("\npub struct ")?;
    let (_, body) = body.split_once("{\n")?;
    for line in body.lines().take_while(|line| *line != "}") {
        let field = line
            .strip_prefix("    pub ")
            .and_then(|it| it.split_once(": "));
        if let Some((name, of_type)) = field {
            types.insert(name, of_type.trim_end_matches(','));
        }
    }
    let mut fields = Struct::new();
    for line in text.lines() {
        let arm = line.trim().split_once(" => Field::Key_");
        let Some((json, field)) = arm.filter(|(json, _)| json.starts_with('"')) else {
            continue;
        };
        let field = field.trim_end_matches(',');
        if let Some(of_type) = types.get(field) {
            let json = json.trim_matches('"').to_owned();
            fields.insert(json, (field.to_owned(), (*of_type).to_owned()));
        }
    }
    Some(fields)
}
