//! Two informers of the same objects: one in JSON, one in protobuf.

use std::time::Duration;

use informer_factory::{
    InformerOptions, ReceivedWire, SharedInformer, SharedInformerFactory, WireFormat,
};
use kube_core::Resource;
use serde::de::DeserializeOwned;
use tokio::time::Instant;

use super::planted::Planted;
use crate::followed::SYNC_LIMIT;

/// How long an informer may take to apply a version.
const LIMIT: Duration = Duration::from_secs(30);

/// Between two comparisons of objects that the server changes.
const PAUSE: Duration = Duration::from_millis(50);

/// The informers, and the object that is changed.
pub(super) struct Pair<T: Send + Sync + 'static> {
    json: SharedInformer<T>,
    protobuf: SharedInformer<T>,
    planted: Planted,
}

impl<T> Pair<T>
where
    T: Resource<DynamicType = ()> + DeserializeOwned + PartialEq + Send + Sync + 'static,
{
    pub(super) fn of(factory: &SharedInformerFactory, planted: Planted) -> Self {
        let informer = |format: WireFormat| {
            let options = InformerOptions::new().wire(format);
            let informer = factory.informer_with::<T>(options);
            informer.expect("the options are good")
        };
        Self {
            json: informer(WireFormat::Json),
            protobuf: informer(WireFormat::Protobuf),
            planted,
        }
    }

    /// Starts the informers, and compares the objects after one of them was changed, and after it
    /// was deleted and created again.
    pub(super) async fn follow(&self) {
        self.planted.create().await;
        for informer in [&self.json, &self.protobuf] {
            informer.start().expect("the informer starts");
            let synced = informer.wait_synced(SYNC_LIMIT).await;
            synced.unwrap_or_else(|error| panic!("{error:?} {:#?}", informer.status()));
        }
        let wires = [&self.json, &self.protobuf].map(|it| it.status().sources[0].wire);
        assert_eq!(
            wires,
            [Some(ReceivedWire::Json), Some(ReceivedWire::Protobuf)]
        );
        self.agree(&self.planted.touch("first").await).await;
        self.planted.delete().await;
        self.planted.create().await;
        let count = self.agree(&self.planted.touch("second").await).await;
        println!("{}: {count} objects are equal", self.json.name());
    }

    /// Waits until both informers are at the version and hold equal objects. Returns their number.
    async fn agree(&self, version: &str) -> usize {
        for informer in [&self.json, &self.protobuf] {
            let reached = informer.wait_for_version(&version.into(), LIMIT).await;
            reached.unwrap_or_else(|error| panic!("{error} {:#?}", informer.status()));
        }
        let start = Instant::now();
        loop {
            match self.compare() {
                Ok(count) => return count,
                Err(key) if start.elapsed() > LIMIT => panic!("{key} is at different versions"),
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    }

    /// Compares the stores; fails at a difference. The error is a key at different versions.
    fn compare(&self) -> Result<usize, String> {
        let (json, protobuf) = (
            self.json.reader().snapshot(),
            self.protobuf.reader().snapshot(),
        );
        for (key, entry) in json.iter() {
            let Some(other) = protobuf.get(key.as_str()) else {
                return Err(key.to_string());
            };
            if (&entry.uid, &entry.version) != (&other.uid, &other.version) {
                return Err(key.to_string());
            }
            assert!(entry.object == other.object, "{key} differs");
        }
        match json.len() == protobuf.len() {
            true => Ok(json.len()),
            false => Err("another key".to_owned()),
        }
    }
}
