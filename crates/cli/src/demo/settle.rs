//! After the load: the cache catches up with the last write, the handlers with the cache.
//! Whoever asks to end now ends the waiting; what is not done by then is a complaint.

use std::time::Duration;

use informer_factory::{ResourceVersion, WaitForVersionError};
use tokio::time::Instant;

use super::cluster::Cluster;
use super::informers::Informers;
use super::load::Produced;
use super::object::DemoPod;
use super::picture::{Picture, Scene};
use crate::signals;

/// How long the cache may take.
const APPLY_TIMEOUT: Duration = Duration::from_secs(60);

/// How long the handlers may take, whatever they have to do.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(60);

/// And for each pod: two changes may wait for it, after each of which the slow one rests 1 ms,
/// which the timer makes 2 ms.
const DRAIN_TIMEOUT_PER_POD: Duration = Duration::from_millis(5);

/// Between two looks at the handlers.
const LOOK: Duration = Duration::from_millis(20);

/// Whether everything has come to rest, and what has not.
#[derive(Debug)]
pub(super) struct Settled {
    /// Why the cache is not at the server's last version.
    pub(super) behind: Vec<WaitForVersionError>,
    /// Whether the handlers have handled everything.
    pub(super) drained: bool,
}

/// Waits until nothing is under way any more.
pub(super) async fn settle<P: DemoPod>(
    informers: &Informers<P>,
    cluster: &Cluster,
    picture: &mut Picture,
    produced: &Produced,
) -> Settled {
    let (pods, nodes) = (
        ResourceVersion::from(cluster.pod_version()),
        ResourceVersion::from(cluster.node_version()),
    );
    let (pods, nodes) = tokio::join!(
        informers.pods.wait_for_version(&pods, APPLY_TIMEOUT),
        informers.nodes.wait_for_version(&nodes, APPLY_TIMEOUT),
    );
    let behind = [pods, nodes].into_iter().filter_map(Result::err).collect();
    let deadline = Instant::now() + DRAIN_TIMEOUT + DRAIN_TIMEOUT_PER_POD * cluster.pods();
    let mut frames = tokio::time::interval(picture.period());
    frames.reset();
    let mut look = tokio::time::interval(LOOK);
    let mut end = std::pin::pin!(signals::end());
    while !informers.are_drained() && Instant::now() < deadline {
        tokio::select! {
            _ = look.tick() => {}
            () = &mut end => break,
            _ = frames.tick() => picture.draw(Scene::Draining, informers, cluster, produced.events),
        }
    }
    Settled {
        behind,
        drained: informers.are_drained(),
    }
}
