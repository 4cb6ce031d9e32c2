//! What is done to the server and to the way there, and when it is over.

use std::time::Duration;

use anyhow::Result;
use tokio::time::{Instant, sleep};

use crate::cluster::NAMESPACES;
use crate::notice::Notice;
use crate::plan::Kind;
use crate::proxy::{Fate, Flow};
use crate::world::{Link, World};

/// An outage that is over: whoever asks now is served.
pub(crate) struct Outage {
    pub(crate) began: Instant,
    /// The server is ready, allows what informers need, and the way there is free.
    pub(crate) reachable: Instant,
    /// For what has to be noticed within a bound.
    pub(crate) notice: Option<Notice>,
}

impl Outage {
    fn since(began: Instant) -> Self {
        Self {
            began,
            reachable: Instant::now(),
            notice: None,
        }
    }
}

/// Does it, and undoes it after `length`.
pub(crate) async fn inflict(world: &mut World, kind: Kind, length: Duration) -> Result<Outage> {
    match kind {
        Kind::Kill => servers(world, "kill-apiserver", length, "start-apiserver").await,
        Kind::Restart => servers(world, "stop-apiserver", length, "start-apiserver").await,
        Kind::Pause => servers(world, "pause-apiserver", length, "resume-apiserver").await,
        Kind::Cut => Ok(flow(world, Flow::Refused, length).await),
        Kind::Stall => Ok(flow(world, Flow::Stalled, length).await),
        Kind::Trickle => Ok(flow(world, Flow::Trickling, length).await),
        Kind::Reset => Ok(fate(&world.links(), Fate::Reset)),
        Kind::Finish => Ok(fate(&world.links(), Fate::Finish)),
        Kind::HalfOpen => Ok(fate(&[&world.patient], Fate::Vanish)),
        Kind::Blackhole => Ok(fate(&[&world.impatient], Fate::Swallow)),
        Kind::Compact => compact(world, length).await,
        Kind::Restore => restore(world, length).await,
        Kind::DeleteDefinition => delete_definition(world, length).await,
        Kind::DeleteNamespace => delete_namespace(world, length).await,
        Kind::RevokePermission => revoke_permission(world, length).await,
        Kind::RotateToken => rotate_token(world, length).await,
    }
}

async fn servers(world: &World, end: &str, length: Duration, begin: &str) -> Result<Outage> {
    let began = Instant::now();
    world.cluster.ask(end).await?;
    sleep(length).await;
    world.cluster.ask(begin).await?;
    world.until_served().await?;
    Ok(Outage::since(began))
}

async fn flow(world: &World, flow: Flow, length: Duration) -> Outage {
    let began = Instant::now();
    set_flow(world, flow);
    sleep(length).await;
    set_flow(world, Flow::Free);
    Outage::since(began)
}

fn set_flow(world: &World, flow: Flow) {
    world
        .links()
        .iter()
        .for_each(|link| link.proxy.set_flow(flow));
}

/// Connections die at once, and others can be had at once.
fn fate(links: &[&Link], fate: Fate) -> Outage {
    let subjects = links.iter().flat_map(|link| &link.subjects);
    let notice = Notice::of(subjects.map(|subject| subject.informer.clone()));
    links.iter().for_each(|link| link.proxy.decide(fate));
    Outage {
        notice: Some(notice),
        ..Outage::since(Instant::now())
    }
}

/// Watches are ended, so that what was taken away is missed.
fn reset(world: &World) {
    world
        .links()
        .iter()
        .for_each(|link| link.proxy.decide(Fate::Reset));
}

/// The API server answers from its memory what etcd has forgotten, so it has to forget too.
async fn compact(world: &World, length: Duration) -> Result<Outage> {
    let began = Instant::now();
    set_flow(world, Flow::Refused);
    sleep(length.max(Duration::from_secs(2))).await;
    for command in ["compact", "stop-apiserver", "start-apiserver"] {
        world.cluster.ask(command).await?;
    }
    world.until_served().await?;
    set_flow(world, Flow::Free);
    Ok(Outage::since(began))
}

async fn restore(world: &World, length: Duration) -> Result<Outage> {
    world.cluster.ask("save-etcd").await?;
    // What is written now will never have been.
    sleep(length).await;
    let witnesses = world.subjects().flat_map(|subject| &subject.witnesses);
    witnesses.for_each(|witness| witness.expect_rewind());
    servers(world, "restore-etcd", Duration::ZERO, "start-apiserver").await
}

async fn delete_definition(world: &World, length: Duration) -> Result<Outage> {
    let began = Instant::now();
    world.cluster.delete_definition().await?;
    sleep(length).await;
    world.cluster.create_definition().await?;
    world.until_served().await?;
    Ok(Outage::since(began))
}

async fn delete_namespace(world: &World, length: Duration) -> Result<Outage> {
    let (began, name) = (Instant::now(), NAMESPACES[1]);
    world.cluster.delete_namespace(name).await?;
    reset(world);
    sleep(length).await;
    world.cluster.create_namespace(name).await?;
    // The roles went with the namespace.
    world.account.grant().await?;
    world.until_served().await?;
    Ok(Outage::since(began))
}

async fn revoke_permission(world: &World, length: Duration) -> Result<Outage> {
    let began = Instant::now();
    world.account.revoke(&world.collections()).await?;
    reset(world);
    sleep(length).await;
    world.account.grant().await?;
    world.until_served().await?;
    Ok(Outage::since(began))
}

async fn rotate_token(world: &mut World, length: Duration) -> Result<Outage> {
    let collection = &world.impatient.subjects[0].collections[0];
    world.account.rotate(collection).await?;
    let began = Instant::now();
    reset(world);
    sleep(length).await;
    world.account.hand_out()?;
    world.until_served().await?;
    Ok(Outage::since(began))
}
