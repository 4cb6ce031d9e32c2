//! Both sides live on the stored scenarios; and whether client-go still does what was stored.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use informer_conformance::files;
use informer_conformance::{Judge, Scenario, compare};

use crate::Selected;

/// Compares, prints what differs, and how often each rule fired.
pub(crate) fn compare_live(selected: &Selected) -> Result<()> {
    let mut judge = Judge::start(&selected.judge)?;
    let mut fired: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut compared, mut bad) = (0, 0);
    for file in files::stored()? {
        let golden = files::read_golden(&file)?;
        for variant in file.scenarios.iter().flat_map(Scenario::variants) {
            if !selected.wants(file.level, &variant.name) {
                continue;
            }
            compared += 1;
            let at = format!("{}/{}", file.level, variant.name);
            let theirs = judge.trace(file.level, &variant)?;
            if golden.get(&variant.name) != Some(&theirs) {
                eprintln!("{at}: client-go does not do what was recorded");
                bad += 1;
            }
            let runs = file.level.run(&variant)?;
            let verdict = compare(file.level, &variant, &theirs, &runs);
            for ((row, _), count) in verdict.fired {
                *fired.entry(row).or_default() += count;
            }
            bad += verdict.differences.len();
            for difference in verdict.differences {
                eprintln!("{at}: a difference\n{difference}");
            }
        }
    }
    let fired: Vec<String> = fired.iter().map(|(row, n)| format!("{row} {n}")).collect();
    println!(
        "{compared} runs of stored scenarios compared; rules fired: {}",
        fired.join(", ")
    );
    if compared == 0 {
        bail!("no scenario of that name");
    }
    if bad > 0 {
        bail!("{bad} differences");
    }
    Ok(())
}
