//! Looks an informer up by its sharing key, or makes it.

use std::sync::Arc;

use informer_kube_source::{Representation, SerdeDecoder};
use informer_store::Scope;
use kube_core::Resource;
use serde::de::IgnoredAny;

use crate::checker::Checking;
use crate::error::InformerError;
use crate::informer::SharedInformer;
use crate::options::{ATTEMPTS, InformerOptions, Namespaces};
use crate::running::core::{Core, Settings};
use crate::sharing::assembly::{Decoder, check_scope, connect, is_cluster_scoped};
use crate::sharing::factory::{SEED_STEP, SharedInformerFactory};
use crate::sharing::key::SharingKey;
use crate::sharing::registry::Shared;
use crate::status::shared::Identity;
use crate::sync::Entry;
use crate::sync::atomic::Ordering;

impl SharedInformerFactory {
    /// Returns the informer of a request, which is made if there is none.
    pub(super) fn get_or_make<R, T>(
        &self,
        resource: &R::DynamicType,
        representation: Representation,
        decoder: Decoder<T>,
        mut options: InformerOptions<T>,
    ) -> Result<SharedInformer<T>, InformerError>
    where
        R: Resource + 'static,
        R::DynamicType: Clone + Send + Sync + 'static,
        R::Scope: 'static,
        T: Send + Sync + 'static,
    {
        let namespaces = self.namespaces::<R, T>(&options);
        check_scope::<R>(resource, &namespaces)?;
        let mut key = SharingKey::new::<R, T>(resource, representation, &namespaces, &options);
        key.view = decoder.view;
        let wire = decoder.wire(options.wire);
        let (own, meter) = (decoder.own(), decoder.meter(options.soft_memory_limit));
        let Decoder { decode, renew, .. } = decoder;
        let (wanted, stopped) = (options.transform.clone(), self.is_stopped());
        let name = options.name.clone();
        // Locked while the informer is made, so that two concurrent requests get one.
        let mut entry = self.inner.registry.entry(key.clone());
        if let Entry::Occupied(present) = &entry {
            let shared = Shared::<T>::of(present.get()).expect("the key holds the object's type");
            // One that was shut down by itself makes room for a new one.
            if stopped || !shared.informer.core().status.has_ended() {
                shared.check(name.as_ref(), wanted.as_ref(), own.as_ref())?;
                return Ok(shared.informer.clone());
            }
        }
        if planted!(MadeByTwo) {
            drop(entry);
            entry = self.inner.registry.entry(key.clone());
        }
        let is_named = name.is_some();
        let identity = name.map_or_else(|| key.identity(), Identity::named);
        self.inner.registry.name(&key, &identity.label, is_named)?;
        let client = self.inner.client.clone();
        let settings = self.settings::<R, T>(resource, &options);
        options.wire = wire;
        let source = connect::<R, T>(client, resource.clone(), representation, decode, options);
        let launch = Box::new(move |scope: &Scope| Arc::new(source(scope)));
        let core = Core::new(identity, settings, launch, meter, renew);
        let informer = SharedInformer::new(core, &namespaces);
        if self.is_stopped() {
            drop(informer.core().abort());
            return Ok(informer);
        }
        let shared = Arc::new(Shared {
            informer: informer.clone(),
            transform: wanted,
            decoder: own,
        });
        // Dropped after the map is unlocked: with it the handlers of its users may go.
        let replaced = match entry {
            Entry::Occupied(mut present) => Some(present.insert(shared)),
            Entry::Vacant(place) => {
                drop(place.insert(shared));
                None
            }
        };
        drop(replaced);
        Ok(informer)
    }

    /// The namespaces of a request: its own, or the factory's if the type has namespaces.
    fn namespaces<R, T>(&self, options: &InformerOptions<T>) -> Namespaces
    where
        R: Resource,
        R::Scope: 'static,
    {
        match &options.namespaces {
            Some(own) => own.clone(),
            None if is_cluster_scoped::<R>() => Namespaces::All,
            None => self.inner.defaults.namespaces.clone(),
        }
    }

    fn settings<R, T>(&self, resource: &R::DynamicType, options: &InformerOptions<T>) -> Settings
    where
        R: Resource + 'static,
        R::DynamicType: Clone + Send + Sync + 'static,
    {
        let defaults = &self.inner.defaults;
        let reflector = options.reflector.as_ref().unwrap_or(&defaults.reflector);
        let checking = options.consistency.or(defaults.consistency);
        let checking = checking.map(|consistency| {
            // A check lists the metadata of the same collections.
            let options = InformerOptions::<IgnoredAny> {
                label_selector: options.label_selector.clone(),
                field_selector: options.field_selector.clone(),
                wire: options.wire,
                limits: options.limits,
                deadlines: options.deadlines,
                ..InformerOptions::default()
            };
            let (client, resource) = (self.inner.client.clone(), resource.clone());
            let (metadata, decoder) = (Representation::MetadataOnly, SerdeDecoder::default());
            let census = connect::<R, _>(client, resource, metadata, Arc::new(decoder), options);
            Arc::new(Checking {
                consistency,
                page_size: reflector.usual_page_size.get(),
                census: Box::new(census),
            })
        });
        Settings {
            queue: options.queue.unwrap_or(defaults.queue),
            queue_bound: options.queue_bound,
            attempts: ATTEMPTS,
            index_values: options.index_values,
            quarantined: options.quarantined,
            reflector: reflector.clone(),
            default_resync: options.default_resync.or(defaults.resync),
            // Any odd step visits all seeds; this one spreads neighbours well.
            seed: self.inner.seeds.fetch_add(SEED_STEP, Ordering::Relaxed),
            checking,
        }
    }
}
