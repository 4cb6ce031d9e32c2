//! How long it takes until the informers are right again, and whether they are.

use std::time::Duration;

use anyhow::{Context, Result};
use futures::future::try_join_all;
use tokio::time::{Instant, sleep};

use crate::bound::Bound;
use crate::cluster::{LOOK, PATIENCE};
use crate::outage::{Outage, inflict};
use crate::plan::Kind;
use crate::subject::Asked;
use crate::world::World;

/// Between two comparisons; the load goes on meanwhile.
const PAUSE: Duration = Duration::from_millis(500);
/// What is written is applied within this, once all is well.
const APPLIED: Duration = Duration::from_secs(5);

/// One outage, as it went.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) kind: Kind,
    pub(crate) length: Duration,
    pub(crate) bound: Bound,
    pub(crate) found: Option<Duration>,
    pub(crate) recovered: Duration,
    pub(crate) asked: Asked,
    /// What was wrong.
    pub(crate) failure: Option<String>,
}

/// Lets it happen, and judges what follows.
pub(crate) async fn strike(world: &mut World, kind: Kind, length: Duration) -> Result<Case> {
    let before = Asked::by(world.subjects());
    let outage = inflict(world, kind, length).await?;
    let length = outage.reachable - outage.began;
    let bound = Bound::of(kind, length);
    let result = recover(world, outage.reachable, bound).await;
    let recovered = outage.reachable.elapsed();
    let found = noticed(outage).await;
    let (recovered, mut failure) = match result {
        Ok(time) => (time, None),
        Err(error) => (recovered, Some(format!("{error:#}"))),
    };
    if failure.is_none() {
        failure = late(&bound, found, recovered);
    }
    let witnesses = world.subjects().flat_map(|subject| &subject.witnesses);
    witnesses.for_each(|witness| witness.end_rewind());
    let asked = Asked::by(world.subjects()).since(before);
    // A history that is rewound may be found by the checker alone; all else has to be seen.
    if failure.is_none() && kind != Kind::Restore && asked.mismatches > 0 {
        failure = Some(format!("{} mismatches found by checks", asked.mismatches));
    }
    Ok(Case {
        kind,
        length,
        bound,
        found,
        recovered,
        asked,
        failure,
    })
}

async fn noticed(outage: Outage) -> Option<Duration> {
    match outage.notice {
        Some(notice) => notice.taken().await,
        None => None,
    }
}

fn late(bound: &Bound, found: Option<Duration>, recovered: Duration) -> Option<String> {
    match (bound.found, found) {
        (Some(limit), None) => return Some(format!("not noticed within {limit:?}")),
        (Some(limit), Some(found)) if found > limit => {
            return Some(format!("noticed after {found:.1?}, allowed are {limit:?}"));
        }
        _ => {}
    }
    let limit = bound.recovered;
    (recovered > limit).then(|| format!("recovered in {recovered:.1?}, allowed are {limit:?}"))
}

/// Waits until everything is right; how long that took since `reachable`.
///
/// First, under load, until everybody has what was written right after that moment. Then the load
/// is held and everything compared; as long as something differs, the time runs on.
async fn recover(world: &World, reachable: Instant, bound: Bound) -> Result<Duration> {
    let deadline = reachable + bound.recovered + PATIENCE;
    let limit = deadline - Instant::now();
    let caught_up = try_join_all(world.subjects().map(async |subject| {
        let versions = loop {
            match subject.touch().await {
                Ok(versions) => break versions,
                Err(error) if Instant::now() > deadline => return Err(error),
                Err(_) => sleep(LOOK).await,
            }
        };
        subject.reach(&versions, limit).await
    }));
    caught_up.await.context("not caught up")?;
    let (mut time, mut told) = (reachable.elapsed(), false);
    loop {
        let Err(error) = world.agree(APPLIED).await else {
            return Ok(time);
        };
        if Instant::now() > deadline {
            return Err(error);
        }
        if !told {
            println!("    not yet, after {time:.1?}: {error:#}");
        }
        told = true;
        sleep(PAUSE).await;
        time = reachable.elapsed();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_late_or_blind_fails() {
        let seconds = Duration::from_secs;
        let bound = Bound::of(Kind::Reset, Duration::ZERO);
        assert_eq!(late(&bound, Some(seconds(1)), seconds(4)), None);
        assert!(late(&bound, None, seconds(1)).is_some());
        assert!(late(&bound, Some(seconds(2)), seconds(3)).is_some());
        assert!(late(&bound, Some(seconds(1)), seconds(5)).is_some());
    }
}
