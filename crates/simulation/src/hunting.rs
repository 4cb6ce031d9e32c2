//! Looks for each planted bug until a run does not hold: a simulator that finds nothing proves
//! something only if it would have found these (T5).

use std::{
    fmt,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use anyhow::{Result, anyhow};
use informer_simulation::{Mutant, Outcome, Packing, simulate};

/// What became of one planted bug.
struct Found {
    mutant: Mutant,
    /// How many schedules it took, and what did not hold then.
    by: Option<(u64, String)>,
}

/// The planted bug of this name, or all.
pub(super) fn chosen(name: Option<&str>) -> Result<Vec<Mutant>> {
    let all = Mutant::ALL.iter().copied();
    let Some(name) = name else {
        return Ok(all.collect());
    };
    let mut named = all.filter(|mutant| mutant.to_string() == name);
    let one = named.next();
    Ok(vec![one.ok_or_else(|| {
        anyhow!("no planted bug is called {name}")
    })?])
}

/// The story of one run, with the planted bug of this name or without any.
pub(super) fn tell(name: Option<&str>, seed: u64, packing: Packing) -> Result<Outcome> {
    let Some(name) = name else {
        return Ok(simulate(seed, packing, true));
    };
    let [mutant] = chosen(Some(name))?[..] else {
        return Err(anyhow!("one name is one planted bug"));
    };
    Ok(mutant.with(|| simulate(seed, packing, true)))
}

/// Runs seeds with each planted bug until one does not hold. Whether each was found.
pub(super) fn kill_all(mutants: &[Mutant], most: u64, jobs: usize) -> Result<bool> {
    // Where the product asserts, a panic is what was to be found.
    std::panic::set_hook(Box::new(|_| {}));
    let next = AtomicUsize::new(0);
    let all = Mutex::new(Vec::new());
    let work = || {
        while let Some(mutant) = mutants.get(next.fetch_add(1, Ordering::Relaxed)) {
            let found = hunt(*mutant, most);
            println!("{found}");
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            all.push(found);
        }
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..jobs.max(1)).map(|_| scope.spawn(work)).collect();
        let ended = threads.into_iter().map(thread::ScopedJoinHandle::join);
        ended.collect::<std::result::Result<Vec<()>, _>>()
    })
    .map_err(|_| anyhow!("the hunt itself panicked"))?;
    let all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    let survivors: Vec<_> = all.iter().filter(|found| found.by.is_none()).collect();
    let schedules = all
        .iter()
        .map(|found| found.by.as_ref().map_or(most, |by| by.0));
    println!(
        "{} of {} planted bugs killed, in {} schedules",
        all.len() - survivors.len(),
        all.len(),
        schedules.sum::<u64>()
    );
    for survivor in &survivors {
        println!("{} survives", survivor.mutant);
    }
    Ok(survivors.is_empty() && all.len() == mutants.len())
}

fn hunt(mutant: Mutant, most: u64) -> Found {
    let by = (0..most).find_map(|seed| {
        // On a thread of its own, whose end tells of a panic.
        let run = || mutant.with(|| simulate(seed, mutant.packing(), false));
        let broken = match thread::scope(|scope| scope.spawn(run).join()) {
            Ok(outcome) => outcome.violations.into_iter().next()?.to_string(),
            Err(_) => "a panic".to_owned(),
        };
        Some((seed + 1, broken))
    });
    Found { mutant, by }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LONGEST: usize = 110;
        let (mutant, entry, layer) = (self.mutant, self.mutant.entry(), self.mutant.layer());
        write!(f, "{entry:6} {layer:10} {:26} ", mutant.to_string())?;
        match &self.by {
            Some((schedules, broken)) => {
                let broken: String = broken.chars().take(LONGEST).collect();
                write!(f, "killed by schedule {schedules:>5}: {broken}")
            }
            None => f.write_str("SURVIVES"),
        }
    }
}
