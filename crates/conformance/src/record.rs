//! Asks client-go about the stored scenarios.

use std::path::Path;

use anyhow::{Result, bail};
use informer_conformance::coverage;
use informer_conformance::files::{self, Golden};
use informer_conformance::{Judge, JudgeError, Scenario};

use crate::Selected;

/// Records the traces of the selected scenarios; those of others stay, those of scenarios that
/// are no more go.
pub(crate) fn record(selected: &Selected) -> Result<()> {
    let mut judge = Judge::start(&selected.judge)?;
    let mut refused = 0;
    for file in files::stored()? {
        if selected.level.is_some_and(|level| level != file.level) {
            continue;
        }
        let mut old = files::read_golden(&file)?;
        let mut golden = Golden::new();
        let (mut new, mut changed) = (0, 0);
        for variant in file.scenarios.iter().flat_map(Scenario::variants) {
            let before = old.remove(&variant.name);
            if !selected.wants(file.level, &variant.name) {
                golden.extend(before.map(|trace| (variant.name, trace)));
                continue;
            }
            match judge.trace(file.level, &variant) {
                Ok(trace) => {
                    match &before {
                        None => new += 1,
                        Some(before) if *before != trace => changed += 1,
                        Some(_) => {}
                    }
                    golden.insert(variant.name, trace);
                }
                Err(JudgeError::Refused { scenario, message }) => {
                    eprintln!("{}/{scenario}: refused: {message}", file.level);
                    golden.extend(before.map(|trace| (variant.name, trace)));
                    refused += 1;
                }
                Err(error) => return Err(error.into()),
            }
        }
        files::write_golden(&file, &golden)?;
        let (level, name) = (file.level, &file.name);
        println!(
            "{level}/{name}: {} traces, {new} new, {changed} changed",
            golden.len()
        );
    }
    if refused > 0 {
        bail!("{refused} scenarios were refused");
    }
    Ok(())
}

/// Stores the names of client-go's own tests.
pub(crate) fn record_names(upstream: Option<&Path>) -> Result<()> {
    if let Some(folder) = upstream {
        println!("{} tests of client-go", coverage::store_names(folder)?);
    }
    Ok(())
}
