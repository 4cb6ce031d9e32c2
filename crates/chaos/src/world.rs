//! Everything a run consists of: the server, who the informers are, the ways to the server, the
//! informers, and the load.

use std::time::Duration;

use anyhow::{Context, Result};
use futures::future::try_join_all;
use informer_factory::reflector::Config as ReflectorConfig;
use informer_factory::{Consistency, Grace, Namespaces, QueueKind, SharedInformerFactory};
use kube_core::discovery::ApiResource;

use crate::account::Account;
use crate::bound::{CHECKED, SHORT_WATCH};
use crate::cluster::{Cluster, NAMESPACES, PATIENCE, config_maps, gadgets, pods, secrets};
use crate::collection::Collection;
use crate::load::Load;
use crate::memory::Memory;
use crate::proxy::Proxy;
use crate::subject::Subject;
use crate::wires::Wires;

/// What there is before the informers start.
const FURNISHED: Duration = Duration::from_secs(3);

/// A way to the server, and who is on it.
pub(crate) struct Link {
    pub(crate) proxy: Proxy,
    factory: SharedInformerFactory,
    pub(crate) subjects: Vec<Subject>,
}

pub(crate) struct World {
    pub(crate) cluster: Cluster,
    pub(crate) account: Account,
    /// With short watches on the queue that joins changes per key.
    pub(crate) impatient: Link,
    /// With watches of the usual length on the queue that keeps their order.
    pub(crate) patient: Link,
    pub(crate) load: Load,
}

impl World {
    /// Starts everything; returns when all informers are synced. Back-off starts over after `calm`.
    pub(crate) async fn open(seed: u64, calm: Duration) -> Result<Self> {
        let cluster = Cluster::from_environment().await?;
        cluster.furnish().await?;
        let [first, second] = NAMESPACES;
        let written = [
            (config_maps(), first),
            (secrets(), first),
            (secrets(), second),
            (pods(), first),
            (gadgets(), first),
        ];
        let load = Load::start(&cluster.client, &written, seed);
        tokio::time::sleep(FURNISHED).await;
        let mut account = Account::open(&cluster).await?;
        let [maps, secrets, pods] = Wires::draw(seed);
        let impatient = impatient(&cluster, &account, seed, calm, [maps, secrets]).await?;
        let patient = patient(&cluster, &account, seed, calm, pods).await?;
        account.roles = vec![
            impatient.factory.rbac_role("informers-impatient"),
            patient.factory.rbac_role("informers-patient"),
        ];
        account.grant().await?;
        let world = Self {
            cluster,
            account,
            impatient,
            patient,
            load,
        };
        world.account.until_served(&world.collections()).await?;
        for link in world.links() {
            link.factory.start()?;
            link.factory.wait_synced(PATIENCE).await?;
        }
        Ok(world)
    }

    pub(crate) fn links(&self) -> [&Link; 2] {
        [&self.impatient, &self.patient]
    }

    pub(crate) fn subjects(&self) -> impl Iterator<Item = &Subject> + Clone {
        self.links().into_iter().flat_map(|link| &link.subjects)
    }

    pub(crate) fn collections(&self) -> Vec<&Collection> {
        let of_all = self.subjects().flat_map(|subject| &subject.collections);
        of_all.collect()
    }

    /// Returns when informers can be served, but for the proxies.
    pub(crate) async fn until_served(&self) -> Result<()> {
        self.account.until_served(&self.collections()).await
    }

    /// Compares everything with the server, while nothing is written.
    pub(crate) async fn agree(&self, limit: Duration) -> Result<()> {
        let _held = self.load.hold().await;
        self.compare(limit).await
    }

    /// Makes every object there may be, and marks what memory is then.
    pub(crate) async fn mark(&self, memory: &mut Memory) -> Result<()> {
        let _held = self.load.hold().await;
        self.load.fill().await.context("making every object")?;
        self.compare(PATIENCE).await.context("with every object")?;
        let stored = self.subjects();
        let objects = stored.map(|subject| subject.informer.reader().len());
        memory.mark(objects.sum()).await;
        Ok(())
    }

    async fn compare(&self, limit: Duration) -> Result<()> {
        let mut newest = 0;
        for subject in self.subjects() {
            for version in subject.touch().await? {
                newest = newest.max(version.parse::<u64>()?);
            }
        }
        let version = newest.to_string();
        try_join_all(self.subjects().map(async |subject| {
            let agreed = subject.agree(&version, limit).await;
            agreed.with_context(|| subject.name)
        }))
        .await?;
        self.subjects().try_for_each(Subject::check_rules)
    }

    /// Ends the informers; fails if one does not end in order.
    pub(crate) async fn close(self) -> Result<()> {
        for link in self.links() {
            let report = link.factory.shutdown(Grace::default()).await?;
            anyhow::ensure!(
                report.is_complete(),
                "the shutdown is not complete: {report:#?}"
            );
        }
        Ok(())
    }
}

/// A link without informers.
async fn link(
    cluster: &Cluster,
    account: &Account,
    queue: QueueKind,
    seed: u64,
    config: ReflectorConfig,
) -> Result<Link> {
    let proxy = Proxy::to(cluster.address()?).await?;
    let mut kube = account.config.clone();
    kube.cluster_url = format!("https://127.0.0.1:{}", proxy.port()).parse()?;
    let client = informer_factory::client(kube)?;
    let builder = SharedInformerFactory::builder(client)
        .queue(queue)
        .seed(seed)
        .check_consistency(Consistency::every(CHECKED));
    Ok(Link {
        proxy,
        factory: builder.reflector(config).build()?,
        subjects: Vec::new(),
    })
}

async fn impatient(
    cluster: &Cluster,
    account: &Account,
    seed: u64,
    calm: Duration,
    [of_maps, of_secrets]: [Wires; 2],
) -> Result<Link> {
    let mut config = ReflectorConfig::default();
    config.watch_timeout = SHORT_WATCH..=SHORT_WATCH;
    config.streaming = seed.is_multiple_of(2);
    config.backoff.healthy_after = calm;
    let mut link = link(cluster, account, QueueKind::DeltaFifo, seed, config).await?;
    let one = |resource: ApiResource, namespace| {
        Collection::of_namespace(cluster.client.clone(), resource, namespace)
    };
    let everywhere = vec![one(config_maps(), NAMESPACES[0]).everywhere()];
    let all = Namespaces::All;
    let factory = &link.factory;
    let resource = config_maps();
    let maps = Subject::new("config maps", factory, &resource, all, everywhere, of_maps)?;
    let each = NAMESPACES.map(|namespace| one(secrets(), namespace));
    let these = Namespaces::These(NAMESPACES.map(str::to_owned).to_vec());
    let resource = secrets();
    let two = Subject::new(
        "secrets",
        factory,
        &resource,
        these,
        each.into(),
        of_secrets,
    )?;
    link.subjects = vec![maps, two];
    Ok(link)
}

async fn patient(
    cluster: &Cluster,
    account: &Account,
    seed: u64,
    calm: Duration,
    of_pods: Wires,
) -> Result<Link> {
    let mut config = ReflectorConfig::default();
    config.streaming = !seed.is_multiple_of(2);
    config.backoff.healthy_after = calm;
    let mut link = link(cluster, account, QueueKind::InOrder, seed, config).await?;
    let kinds = [
        ("pods", pods(), of_pods),
        ("gadgets", gadgets(), Wires::JSON),
    ];
    let subjects = kinds.into_iter().map(|(name, resource, wires)| {
        let client = cluster.client.clone();
        let of = Collection::of_namespace(client, resource.clone(), NAMESPACES[0]).everywhere();
        let all = Namespaces::All;
        Subject::new(name, &link.factory, &resource, all, vec![of], wires)
    });
    link.subjects = subjects.collect::<Result<_>>()?;
    Ok(link)
}
