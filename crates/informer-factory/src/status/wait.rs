//! Waiting, without polling: for sync with named culprits, and for a version.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use informer_reflector::ResourceVersion;
use informer_store::Scope;
use tokio::time::Instant;

use crate::error::{Culprit, NotSynced, WaitForVersionError};
use crate::status::shared::{Lifecycle, SharedStatus};
use crate::status::{InformerState, SourceStatus};

/// Waits until everything on the statuses is synced, except for the informers that are in a state
/// in which they are not awaited.
// WF-02, FAX-3
pub(crate) async fn for_sync(
    statuses: &[&Arc<SharedStatus>],
    timeout: Duration,
    is_awaited: impl Fn(Lifecycle) -> bool,
) -> Result<(), NotSynced> {
    let start = Instant::now();
    let is_awaited = |status: &SharedStatus| !status.is_synced() && is_awaited(status.lifecycle());
    let all = async {
        // Another informer may be started during the wait for one, so each look is at all of them.
        while let Some(status) = statuses.iter().find(|status| is_awaited(status)) {
            let mut changes = status.changed.subscribe();
            while is_awaited(status) {
                // The status outlives its receivers, so the sender is never gone.
                drop(changes.changed().await);
            }
        }
    };
    // The result is read from the statuses, whether or not the time sufficed.
    drop(tokio::time::timeout(timeout, all).await);
    check_synced(statuses, start)
}

/// Refuses statuses that are not synced, after a wait since `start`.
pub(crate) fn check_synced(
    statuses: &[&Arc<SharedStatus>],
    start: Instant,
) -> Result<(), NotSynced> {
    let culprits = statuses.iter().flat_map(|status| culprits(status));
    let (culprits, waited): (Vec<_>, _) = (culprits.collect(), start.elapsed());
    match culprits.is_empty() {
        true => Ok(()),
        false => Err(NotSynced { waited, culprits }),
    }
}

fn culprits(status: &SharedStatus) -> Vec<Culprit> {
    let status = status.snapshot();
    let is_gone = status.state == InformerState::RuntimeGone;
    if status.synced && !is_gone {
        return Vec::new();
    }
    let mut unsynced = status.sources;
    if unsynced.is_empty() {
        unsynced.push(SourceStatus::new(&"no source".into(), &Scope::All));
    }
    // A source that was synced is behind by now, if nothing follows the server.
    unsynced.retain(|source| !source.synced || is_gone);
    let culprit = |source: SourceStatus| Culprit {
        informer: Arc::clone(&status.name),
        state: status.state,
        source: source.source,
        phase: source.phase,
        failure: source.failure,
        attempts: source.attempts,
    };
    unsynced.into_iter().map(culprit).collect()
}

/// Waits until each source that `select` names has applied `wanted`.
// IN-8
pub(crate) async fn for_version(
    status: &SharedStatus,
    wanted: &ResourceVersion,
    timeout: Duration,
    select: impl Fn(&SourceStatus) -> bool,
) -> Result<(), WaitForVersionError> {
    let mut epochs: HashMap<Scope, u32> = HashMap::new();
    let reached = async {
        loop {
            // Registered before the look, so that a change between look and wait is not missed.
            let applied = status.applied.notified();
            let mut applied = std::pin::pin!(applied);
            applied.as_mut().enable();
            let mut sources = status.sources();
            sources.retain(&select);
            let rewound = |source: &SourceStatus| {
                *epochs.entry(source.scope.clone()).or_insert(source.epoch) != source.epoch
            };
            if sources.iter().any(rewound) {
                return Err(WaitForVersionError::NewEpoch {
                    wanted: wanted.to_string(),
                });
            }
            if all_reached(&sources, wanted)? {
                return Ok(());
            }
            status.refuse_if_over::<WaitForVersionError>()?;
            applied.await;
        }
    };
    match tokio::time::timeout(timeout, reached).await {
        Ok(result) => result,
        Err(_) => Err(WaitForVersionError::TimedOut {
            wanted: wanted.to_string(),
            applied: oldest_applied(&status.sources(), select),
            waited: timeout,
        }),
    }
}

fn all_reached(
    sources: &[SourceStatus],
    wanted: &ResourceVersion,
) -> Result<bool, WaitForVersionError> {
    let mut reached = !sources.is_empty();
    for source in sources {
        // Versions of before a rewind cannot be compared.
        let applied = source
            .applied
            .as_ref()
            .filter(|_| source.applied_epoch == source.epoch);
        reached &= match applied.map(|applied| (applied, applied.compare(wanted))) {
            None => false,
            Some((applied, _)) if applied == wanted => true,
            Some((_, Some(order))) => order != Ordering::Less,
            Some((applied, None)) => {
                return Err(WaitForVersionError::Incomparable {
                    wanted: wanted.to_string(),
                    applied: applied.to_string(),
                });
            }
        };
    }
    Ok(reached)
}

fn oldest_applied(
    sources: &[SourceStatus],
    select: impl Fn(&SourceStatus) -> bool,
) -> Option<String> {
    let mut oldest: Option<&ResourceVersion> = None;
    for source in sources.iter().filter(|source| select(source)) {
        let applied = source.applied.as_ref()?;
        if oldest.is_none_or(|oldest| applied.is_older_than(oldest)) {
            oldest = Some(applied);
        }
    }
    oldest.map(ToString::to_string)
}
