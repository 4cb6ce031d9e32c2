//! All stored scenarios against the stored traces of client-go: needs no Go.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use crate::compare::{Verdict, compare};
use crate::files::{self, ScenarioFile};
use crate::level::Level;
use crate::rules::rules_of;

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct Stored {
    /// How many scenarios there are in each level, variants not counted.
    pub scenarios: BTreeMap<Level, usize>,
    /// In which scenarios each row's rules changed client-go's trace: row -> `level/name`.
    pub fired: BTreeMap<&'static str, Vec<String>>,
    /// The rules that fired, by level, row and name.
    rules: BTreeSet<(Level, &'static str, &'static str)>,
    /// What is wrong, a text for each: differences, traces that are missing or left over, rules
    /// that never fire.
    pub findings: Vec<String>,
}

/// Checks everything that is stored.
///
/// # Errors
///
/// A file cannot be read or makes no sense.
pub fn check_stored() -> Result<Stored> {
    let mut stored = Stored::default();
    for file in files::stored()? {
        check_file(&mut stored, &file)?;
    }
    for level in Level::ALL {
        for rule in rules_of(level) {
            let handlers = rule_level(level);
            if !stored.rules.contains(&(handlers, rule.row, rule.name)) {
                let finding = format!("{level}: rule {} ({}) never fires", rule.row, rule.name);
                stored.findings.push(finding);
            }
        }
    }
    Ok(stored)
}

/// Handlers and the whole informer have their rules together.
fn rule_level(level: Level) -> Level {
    match level {
        Level::Processor => Level::Informer,
        other => other,
    }
}

fn check_file(stored: &mut Stored, file: &ScenarioFile) -> Result<()> {
    let mut golden = files::read_golden(file)?;
    *stored.scenarios.entry(file.level).or_default() += file.scenarios.len();
    for scenario in &file.scenarios {
        for variant in scenario.variants() {
            let at = format!("{}/{}", file.level, variant.name);
            let Some(theirs) = golden.remove(&variant.name) else {
                stored
                    .findings
                    .push(format!("{at}: client-go's trace was never recorded"));
                continue;
            };
            match file.level.run(&variant) {
                Ok(runs) => {
                    let verdict = compare(file.level, &variant, &theirs, &runs);
                    take(
                        stored,
                        &at,
                        &format!("{}/{}", file.level, scenario.name),
                        verdict,
                    );
                }
                Err(malformed) => stored.findings.push(format!("{at}: {malformed}")),
            }
        }
    }
    let left_over = golden.keys();
    let finding = |name| format!("{}/{name}: a trace without a scenario", file.level);
    stored.findings.extend(left_over.map(finding));
    Ok(())
}

fn take(stored: &mut Stored, variant: &str, scenario: &str, verdict: Verdict) {
    let level = scenario.split('/').next();
    let level = Level::ALL
        .into_iter()
        .find(|known| Some(known.name()) == level);
    for (row, name) in verdict.fired.into_keys() {
        stored
            .rules
            .extend(level.map(|level| (rule_level(level), row, name)));
        let scenarios = stored.fired.entry(row).or_default();
        if scenarios.last().is_none_or(|last| last != scenario) {
            scenarios.push(scenario.to_owned());
        }
    }
    for difference in verdict.differences {
        stored
            .findings
            .push(format!("{variant}: a difference\n{difference}"));
    }
}
