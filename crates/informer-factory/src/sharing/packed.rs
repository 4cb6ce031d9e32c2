//! Requests for packed objects.

use std::any::type_name;
use std::sync::Arc;

use informer_kube_source::{PartialObjectMetadata, Projection, Representation};
use k8s_openapi::api::core::v1::Secret;
use kube_core::discovery::ApiResource;
use kube_core::{DynamicObject, Resource};
use serde::de::DeserializeOwned;

use crate::error::InformerError;
use crate::informer::SharedInformer;
use crate::options::{DictionaryUse, InformerOptions};
use crate::packing::{DictionarySettings, NoView, PackedDecoder, PackedObject};
use crate::sharing::assembly::{Decoder, is_dynamic};
use crate::sharing::factory::SharedInformerFactory;

impl SharedInformerFactory {
    /// The informer for a type, over the factory's namespaces, whose objects are kept packed.
    ///
    /// Choose it for collections of more than some ten thousand objects that a program mostly keeps
    /// and seldom reads: see [`PackedObject`]. Everything but the type of the objects is as for
    /// [`informer`](Self::informer). The managed fields are dropped.
    ///
    /// The bytes that are packed are JSON or protobuf, as the server sends them
    /// ([`InformerOptions::wire`](InformerOptions::wire())). Large pods pack to two thirds in
    /// protobuf, and pods that are mostly random values to as much as in JSON.
    ///
    /// An object that is not well formed, nested too deeply or too large is quarantined when it
    /// arrives. Whether it fits `K` shows when it is read.
    ///
    /// # Panics
    ///
    /// If another informer was given the name of this one, such as `pods#1c9d03f7`.
    /// [`packed_with`](Self::packed_with) returns an error instead.
    ///
    /// ```
    /// use std::time::Duration;
    /// use informer_factory::{Grace, SharedInformerFactory};
    /// use informer_testkit::Resource;
    /// use k8s_openapi::api::core::v1::Pod;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let server = informer_testkit::ApiServer::new();
    /// # let client = informer_factory::Client::new(server.service(), "default");
    /// let factory = SharedInformerFactory::new(client);
    /// let pods = factory.packed::<Pod>();
    /// factory.start()?;
    ///
    /// let pod = serde_json::json!({"metadata": {"name": "web-0"}, "spec": {
    ///     "nodeName": "node-7", "containers": []
    /// }});
    /// let version = server.create(&Resource::pods(), pod)?.version().into();
    /// pods.wait_for_version(&version, Duration::from_secs(30)).await?;
    /// let packed = pods.lister().get("default/web-0").expect("it was created");
    /// let pod: Pod = packed.unpack()?;
    /// assert_eq!(pod.spec.unwrap_or_default().node_name.as_deref(), Some("node-7"));
    /// factory.shutdown(Grace::default()).await?;
    /// # Ok(()) }
    /// ```
    pub fn packed<K>(&self) -> SharedInformer<PackedObject<K>>
    where
        K: Resource<DynamicType = ()> + 'static,
        K::Scope: 'static,
    {
        self.get_or_pack::<K, K, NoView>(&(), Representation::Full, InformerOptions::default())
            .unwrap_or_else(|error| panic!("{error}"))
    }

    /// The informer for a type whose objects are kept packed, with a view and with options.
    ///
    /// The view `V` is decoded once, when an object arrives, and kept beside the packed bytes. A
    /// small type with `Deserialize` will do; [`Labels`](crate::Labels) is a compact one for
    /// labels. An object that does not fit it is quarantined. Requests with different views are
    /// different informers, with a watch and a cache each.
    ///
    /// # Errors
    ///
    /// [`InformerError`]; [`InformerError::TransformOfPacked`] for options with a transform.
    ///
    /// ```
    /// use informer_factory::{HasNode, InformerOptions, SharedInformerFactory, index};
    /// use k8s_openapi::api::core::v1::Pod;
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize)]
    /// struct PodView {
    ///     spec: SpecView,
    /// }
    ///
    /// #[derive(Deserialize)]
    /// #[serde(rename_all = "camelCase")]
    /// struct SpecView {
    ///     node_name: Option<Box<str>>,
    /// }
    ///
    /// impl HasNode for PodView {
    ///     fn node(&self) -> Option<&str> {
    ///         self.spec.node_name.as_deref()
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let server = informer_testkit::ApiServer::new();
    /// # let client = informer_factory::Client::new(server.service(), "default");
    /// let factory = SharedInformerFactory::new(client);
    /// let pods = factory.packed_with::<Pod, PodView>(InformerOptions::new())?;
    /// let by_node = pods.add_index("node", index::node)?; // Reads the view only.
    /// # let _ = by_node;
    /// # Ok(()) }
    /// ```
    ///
    /// What a view does not have cannot be asked of it:
    ///
    /// ```compile_fail,E0277
    /// # use informer_factory::{SharedInformerFactory, index};
    /// # use k8s_openapi::api::core::v1::Pod;
    /// # fn example(factory: &SharedInformerFactory) {
    /// let by_node = factory.packed::<Pod>().add_index("node", index::node);
    /// # }
    /// ```
    pub fn packed_with<K, V>(
        &self,
        options: InformerOptions<PackedObject<K, V>>,
    ) -> Result<SharedInformer<PackedObject<K, V>>, InformerError>
    where
        K: Resource<DynamicType = ()> + 'static,
        K::Scope: 'static,
        V: DeserializeOwned + Send + Sync + 'static,
    {
        self.refuse_after_stop()?;
        self.get_or_pack::<K, K, V>(&(), Representation::Full, options)
    }

    /// The informer for a resource known at run time only, whose objects are kept packed.
    ///
    /// As [`dynamic`](Self::dynamic) and [`packed_with`](Self::packed_with).
    ///
    /// # Errors
    ///
    /// As for [`packed_with`](Self::packed_with).
    pub fn packed_dynamic<V>(
        &self,
        resource: &ApiResource,
        options: InformerOptions<PackedObject<DynamicObject, V>>,
    ) -> Result<SharedInformer<PackedObject<DynamicObject, V>>, InformerError>
    where
        V: DeserializeOwned + Send + Sync + 'static,
    {
        self.refuse_after_stop()?;
        let whole = Representation::Full;
        self.get_or_pack::<DynamicObject, DynamicObject, V>(resource, whole, options)
    }

    /// The informer for the metadata of a resource, kept packed.
    ///
    /// As [`metadata`](Self::metadata) and [`packed_with`](Self::packed_with).
    ///
    /// # Errors
    ///
    /// As for [`packed_with`](Self::packed_with).
    pub fn packed_metadata<V>(
        &self,
        resource: &ApiResource,
        options: InformerOptions<PackedObject<PartialObjectMetadata, V>>,
    ) -> Result<SharedInformer<PackedObject<PartialObjectMetadata, V>>, InformerError>
    where
        V: DeserializeOwned + Send + Sync + 'static,
    {
        self.refuse_after_stop()?;
        let metadata = Representation::MetadataOnly;
        self.get_or_pack::<DynamicObject, PartialObjectMetadata, V>(resource, metadata, options)
    }

    fn get_or_pack<R, K, V>(
        &self,
        resource: &R::DynamicType,
        representation: Representation,
        mut options: InformerOptions<PackedObject<K, V>>,
    ) -> Result<SharedInformer<PackedObject<K, V>>, InformerError>
    where
        R: Resource + 'static,
        R::DynamicType: Clone + Send + Sync + 'static,
        R::Scope: 'static,
        K: 'static,
        V: DeserializeOwned + Send + Sync + 'static,
    {
        if options.transform.is_some() {
            let kind = R::kind(resource).into_owned();
            return Err(InformerError::TransformOfPacked { kind });
        }
        let managed = || Projection::new().drop_path("metadata.managedFields");
        let projection = options.projection.get_or_insert_with(managed).clone();
        let is_secret =
            R::group(resource) == Secret::group(&()) && R::kind(resource) == Secret::kind(&());
        let usual = match options.dictionary {
            #[cfg(any(test, sim))]
            DictionaryUse::Early => DictionarySettings::early(),
            _ => DictionarySettings::default(),
        };
        let settings = DictionarySettings {
            is_on: match options.dictionary {
                DictionaryUse::WithSecrets => true,
                DictionaryUse::Never => false,
                _ => !is_secret,
            },
            ..usual
        };
        let decoder = Arc::new(PackedDecoder::new(projection, settings));
        let decoder = Decoder {
            decode: Arc::clone(&decoder) as _,
            is_own: false,
            renew: Some(decoder as _),
            view: Some(type_name::<V>()),
            is_dynamic: is_dynamic::<K>(),
        };
        self.get_or_make::<R, _>(resource, representation, decoder, options)
    }
}
