//! Objects that are created, changed and deleted throughout, at a bounded rate, by a client that
//! goes to the server directly.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Result;
use futures::{StreamExt, TryStreamExt, stream};
use kube_client::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube_client::{Api, Client, Error};
use kube_core::DynamicObject;
use kube_core::discovery::ApiResource;
use serde_json::json;
use tokio::sync::{RwLock, RwLockWriteGuard};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, timeout};

use crate::chance::Chance;
use crate::cluster::body;

/// How many names there are in each collection.
const NAMES: u64 = 150;
/// How many are made at a time where every name is to be there.
const AT_ONCE: usize = 8;
/// Between two writes of one writer.
const PERIOD: Duration = Duration::from_millis(80);
/// A write that takes longer is given up; it may still happen.
const PATIENCE: Duration = Duration::from_secs(5);

/// The writers. Dropping it ends them.
pub(crate) struct Load {
    gate: Arc<RwLock<()>>,
    written: Arc<AtomicU64>,
    collections: Vec<(Api<DynamicObject>, ApiResource)>,
    _writers: JoinSet<()>,
}

impl Load {
    /// One writer for each of these.
    pub(crate) fn start(client: &Client, of: &[(ApiResource, &str)], seed: u64) -> Self {
        let (gate, written) = (Arc::<RwLock<()>>::default(), Arc::<AtomicU64>::default());
        let (mut writers, mut collections) = (JoinSet::new(), Vec::new());
        for ((resource, namespace), number) in of.iter().zip(1..) {
            let api = Api::namespaced_with(client.clone(), namespace, resource);
            collections.push((api.clone(), resource.clone()));
            let writer = Writer {
                api,
                resource: resource.clone(),
                chance: Chance::seeded(seed.wrapping_add(number << 32)),
                count: 0,
            };
            writers.spawn(writer.run(Arc::clone(&gate), Arc::clone(&written)));
        }
        Self {
            gate,
            written,
            collections,
            _writers: writers,
        }
    }

    /// Makes every object that is missing. To be called while the load is held.
    pub(crate) async fn fill(&self) -> Result<()> {
        for (api, resource) in &self.collections {
            let missing = (0..NAMES).map(async |number| {
                let name = name(number);
                match api.get_metadata_opt(&name).await? {
                    Some(_) => Ok(()),
                    None => create(api, resource, &name).await,
                }
            });
            let made = stream::iter(missing).buffered(AT_ONCE);
            made.try_collect::<()>().await?;
        }
        Ok(())
    }

    /// How many writes were acknowledged.
    pub(crate) fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// Nothing is written while the guard is held; what was begun is over.
    pub(crate) async fn hold(&self) -> RwLockWriteGuard<'_, ()> {
        self.gate.write().await
    }
}

struct Writer {
    api: Api<DynamicObject>,
    resource: ApiResource,
    chance: Chance,
    count: u64,
}

impl Writer {
    async fn run(mut self, gate: Arc<RwLock<()>>, written: Arc<AtomicU64>) {
        let mut ticks = interval(PERIOD);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let _open = gate.read().await;
            // During an outage writes fail, which is not what is judged here.
            if let Ok(Ok(())) = timeout(PATIENCE, self.write()).await {
                written.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    async fn write(&mut self) -> Result<()> {
        let name = name(self.chance.below(NAMES));
        self.count += 1;
        let dice = self.chance.below(100);
        if dice < 25 {
            self.delete(&name).await?;
            // Half of them come back at once, as another.
            if dice < 12 {
                create(&self.api, &self.resource, &name).await?;
            }
            return Ok(());
        }
        let patch = json!({ "metadata": { "labels": { "count": self.count.to_string() } } });
        let (params, patch) = (PatchParams::default(), Patch::Merge(patch));
        match self.api.patch(&name, &params, &patch).await {
            Err(Error::Api(status)) if status.code == 404 => {
                create(&self.api, &self.resource, &name).await
            }
            answer => Ok(answer.map(drop)?),
        }
    }

    async fn delete(&self, name: &str) -> Result<()> {
        match self
            .api
            .delete(name, &DeleteParams::default().grace_period(0))
            .await
        {
            Err(Error::Api(status)) if status.code == 404 => Ok(()),
            answer => Ok(answer.map(drop)?),
        }
    }
}

fn name(number: u64) -> String {
    format!("object-{number:03}")
}

async fn create(api: &Api<DynamicObject>, resource: &ApiResource, name: &str) -> Result<()> {
    let mut object = body(resource);
    object["metadata"] = json!({ "name": name });
    object["apiVersion"] = resource.api_version.clone().into();
    object["kind"] = resource.kind.clone().into();
    let object = serde_json::from_value(object)?;
    api.create(&PostParams::default(), &object).await?;
    Ok(())
}
