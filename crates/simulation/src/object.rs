//! The objects of a run: config maps that say which write made them.

use std::{fmt, ops::Deref, sync::Arc};

use informer_factory::{
    Identity, InformerError, InformerOptions, ObjectKey, ReadError, SharedInformer,
    SharedInformerFactory, store::Snapshot,
};
use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::{Value, json};

use crate::{canary, chance::Chance};

/// The namespaces objects are in.
pub(crate) const NAMESPACES: [&str; 3] = ["n0", "n1", "n2"];
/// How many names there are in each.
pub(crate) const NAMES: usize = 8;
/// The values of the label that selectors ask for.
pub(crate) const TIERS: [&str; 2] = ["a", "b"];
/// The values of the index.
pub(crate) const GROUPS: [&str; 4] = ["g0", "g1", "g2", "g3"];

/// The length of the text that objects of one template share.
const TEMPLATE: usize = 256;

/// What is written: `serial` tells every write from every other. A template adds a text that no
/// other template has.
pub(crate) fn body(
    namespace: &str,
    name: &str,
    tier: &str,
    serial: u64,
    template: Option<u64>,
) -> Value {
    let group = GROUPS[usize::try_from(serial % 4).unwrap_or(0)];
    let mut object = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"namespace": namespace, "name": name, "labels": {"tier": tier}},
        "data": {"serial": serial.to_string(), "group": group},
    });
    if let Some(template) = template {
        let chance = &mut Chance::seeded(template);
        let words = (0..TEMPLATE / 16).map(|_| format!("{:016x}", chance.next()));
        // In the metadata, because some informers have nothing else.
        object["metadata"]["annotations"] = json!({
            "serial": serial.to_string(), "group": group, "text": words.collect::<String>(),
        });
    }
    canary::mark_object(&mut object);
    object
}

/// What the simulation reads of an object, in whatever form the informer holds it.
pub(crate) trait Content: fmt::Debug + Send + Sync + 'static {
    fn uid(&self) -> &str;

    /// The version it says; 0 if that is no number.
    fn version(&self) -> u64;

    /// Which write made it; 0 if it does not say.
    fn serial(&self) -> u64;

    /// The key by its own words.
    fn key(&self) -> String;

    /// The values of the index `group`.
    fn group(&self) -> Option<String>;

    /// How often the transform ran on it.
    fn transformed(&self) -> usize;

    /// The packed form, where it is packed.
    fn packed(&self) -> Option<&dyn Packing> {
        None
    }
}

/// What only a packed object has.
pub(crate) trait Packing {
    /// The packed bytes as an object, which has no data if only metadata are held.
    fn unpacked(&self) -> Result<ConfigMap, ReadError>;

    /// What is kept beside view and bytes.
    fn identity(&self) -> &Identity;

    /// The label `tier`, as the view has it.
    fn tier(&self) -> &str;

    /// What tells its dictionary from all others that an object still has.
    fn dictionary(&self) -> Option<usize>;
}

/// A form in which an informer holds config maps.
pub(crate) trait Form: Content + Sized {
    /// The informer with these options.
    fn informer(
        factory: &SharedInformerFactory,
        options: InformerOptions<Self>,
    ) -> Result<SharedInformer<Self>, InformerError>;

    /// What the transform does: it can be seen how often it ran.
    fn mark_transformed(&mut self);
}

impl Content for ConfigMap {
    fn uid(&self) -> &str {
        self.metadata.uid.as_deref().unwrap_or_default()
    }

    fn version(&self) -> u64 {
        let version = self.metadata.resource_version.as_deref();
        version.and_then(|text| text.parse().ok()).unwrap_or(0)
    }

    fn serial(&self) -> u64 {
        let serial = said(self, "serial");
        serial.and_then(|text| text.parse().ok()).unwrap_or(0)
    }

    fn key(&self) -> String {
        let namespace = self.metadata.namespace.as_deref().unwrap_or_default();
        let name = self.metadata.name.as_deref().unwrap_or_default();
        format!("{namespace}/{name}")
    }

    fn group(&self) -> Option<String> {
        said(self, "group").cloned()
    }

    fn transformed(&self) -> usize {
        let data = self.data.as_ref();
        data.and_then(|data| data.get("transformed"))
            .map_or(0, String::len)
    }
}

/// What the data say, or the annotations where there are no data.
fn said<'a>(object: &'a ConfigMap, name: &str) -> Option<&'a String> {
    let data = object.data.as_ref();
    data.or(object.metadata.annotations.as_ref())?.get(name)
}

impl Form for ConfigMap {
    fn informer(
        factory: &SharedInformerFactory,
        options: InformerOptions<Self>,
    ) -> Result<SharedInformer<Self>, InformerError> {
        factory.informer_with(options)
    }

    fn mark_transformed(&mut self) {
        let data = self.data.get_or_insert_default();
        data.entry("transformed".to_owned()).or_default().push('x');
    }
}

/// One state of one object, as somebody saw it.
#[derive(Clone)]
pub(crate) struct Sighting(Arc<dyn Content>);

impl Sighting {
    pub(crate) fn of<T: Content>(object: &Arc<T>) -> Self {
        Self(Arc::<T>::clone(object))
    }

    /// The same for every sighting of one object in memory.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// Same identity and same content.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || (self.uid() == other.uid()
                && self.version() == other.version()
                && self.serial() == other.serial())
    }
}

impl Deref for Sighting {
    type Target = dyn Content;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl fmt::Debug for Sighting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}#{}", self.uid(), self.version(), self.serial())
    }
}

/// A key and what is there.
pub(crate) type Held = (ObjectKey, Sighting);

/// All that a store holds.
pub(crate) fn held_in<T: Content>(snapshot: &Snapshot<T>) -> Vec<Held> {
    let all = snapshot.iter();
    all.map(|(key, entry)| (key.clone(), Sighting::of(&entry.object)))
        .collect()
}
