//! Where scenarios and client-go's traces are kept: `scenarios/<level>/<file>.txt`, and beside
//! it `golden/<level>/<file>.txt` with one trace for each variant of each scenario.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::level::Level;
use crate::scenario::{Scenario, parse_scenarios};
use crate::trace::Trace;

/// A file of scenarios.
#[derive(Clone, Debug)]
pub struct ScenarioFile {
    /// Its level.
    pub level: Level,
    /// Its name, without folder and ending.
    pub name: String,
    /// What is in it, variants not yet told apart.
    pub scenarios: Vec<Scenario>,
}

/// The folder of this crate.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// All stored scenarios, by level and name of file. A name is unique in its level.
///
/// # Errors
///
/// A file that cannot be read or makes no sense, or a name that is there twice.
pub fn stored() -> Result<Vec<ScenarioFile>> {
    let mut files = Vec::new();
    for level in Level::ALL {
        let folder = root().join("scenarios").join(level.name());
        let mut names: BTreeMap<String, String> = BTreeMap::new();
        for path in texts_in(&folder)? {
            let file = read_scenarios(level, &path)?;
            for scenario in &file.scenarios {
                let before = names.insert(scenario.name.clone(), file.name.clone());
                if let Some(before) = before {
                    bail!(
                        "{level}: `{}` is in {before} and in {}",
                        scenario.name,
                        file.name
                    );
                }
            }
            files.push(file);
        }
    }
    Ok(files)
}

fn texts_in(folder: &Path) -> Result<Vec<PathBuf>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))?;
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "txt") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

fn read_scenarios(level: Level, path: &Path) -> Result<ScenarioFile> {
    let text = fs::read_to_string(path)?;
    let scenarios = parse_scenarios(&text).with_context(|| path.display().to_string())?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    Ok(ScenarioFile {
        level,
        name: name.into_owned(),
        scenarios,
    })
}

/// client-go's traces for a file of scenarios, by the name of the variant.
pub type Golden = BTreeMap<String, Trace>;

fn golden_path(file: &ScenarioFile) -> PathBuf {
    let folder = root().join("golden").join(file.level.name());
    folder.join(format!("{}.txt", file.name))
}

/// Reads what client-go did; empty if it was never asked.
///
/// # Errors
///
/// The file cannot be read.
pub fn read_golden(file: &ScenarioFile) -> Result<Golden> {
    let path = golden_path(file);
    if !path.exists() {
        return Ok(Golden::new());
    }
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    parse_golden(&text).with_context(|| path.display().to_string())
}

/// Stores what client-go did.
///
/// # Errors
///
/// The file cannot be written.
pub fn write_golden(file: &ScenarioFile, golden: &Golden) -> Result<()> {
    let path = golden_path(file);
    fs::create_dir_all(path.parent().unwrap_or(&path))?;
    fs::write(&path, render_golden(golden)).with_context(|| path.display().to_string())
}

/// Reads what [`render_golden`] writes.
///
/// # Errors
///
/// A trace is not what was recorded.
pub fn parse_golden(text: &str) -> Result<Golden> {
    let mut golden = Golden::new();
    let mut current: Option<(String, Vec<String>)> = None;
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("== ") {
            finish(&mut golden, current.take())?;
            current = Some((name.to_owned(), Vec::new()));
        } else if let Some((_, lines)) = &mut current
            && !line.is_empty()
        {
            lines.push(line.to_owned());
        }
    }
    finish(&mut golden, current)?;
    Ok(golden)
}

/// The name of a trace stands with a digest of it: a rule may drop a line, but nobody may change
/// one. Traces are recorded, not written.
fn finish(golden: &mut Golden, trace: Option<(String, Vec<String>)>) -> Result<()> {
    let Some((heading, lines)) = trace else {
        return Ok(());
    };
    let (name, digest) = heading.rsplit_once(' ').unwrap_or((&heading, ""));
    let trace = Trace::new(lines);
    if trace.digest() != digest {
        bail!("the trace of `{name}` is not what was recorded");
    }
    golden.insert(name.to_owned(), trace);
    Ok(())
}

/// Writes traces, each with its digest.
pub fn render_golden(golden: &Golden) -> String {
    let mut text = String::new();
    for (name, trace) in golden {
        let gap = if text.is_empty() { "" } else { "\n" };
        text.push_str(&format!("{gap}== {name} {}\n{trace}", trace.digest()));
    }
    text
}
