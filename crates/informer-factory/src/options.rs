//! The options of an informer, each with a default and the reason for it.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;
use std::time::Duration;

use derive_where::derive_where;
use informer_kube_source::{Deadlines, Limits, Projection, Transform, WireFormat};
use informer_reflector::Config as ReflectorConfig;

use crate::checker::consistency::Consistency;

/// The namespaces that an informer covers.
///
/// ```
/// use informer_factory::{InformerOptions, Namespaces};
/// use k8s_openapi::api::core::v1::Pod;
///
/// let two = Namespaces::These(vec!["web".into(), "db".into()]);
/// let options = InformerOptions::<Pod>::new().namespaces(two);
/// # let _ = options;
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Namespaces {
    /// All of them, through one list and one watch; also right for cluster-scoped resources.
    #[default]
    All,
    /// These, each through a list and a watch of its own, into one store.
    These(Vec<String>),
}

impl Namespaces {
    /// One namespace.
    pub fn one(namespace: impl Into<String>) -> Self {
        Self::These(vec![namespace.into()])
    }

    /// Sorted and without repetition, so that equal sets share one informer.
    pub(crate) fn normal(&self) -> Self {
        match self {
            Self::All => Self::All,
            Self::These(names) => {
                let names: BTreeSet<_> = names.iter().cloned().collect();
                Self::These(names.into_iter().collect())
            }
        }
    }
}

/// Whether a URL path can hold the name. The server checks the rest of the rules for names.
pub(crate) fn is_namespace(name: &str) -> bool {
    !name.is_empty() && !name.contains('/')
}

/// Which queue stands between reflector and store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum QueueKind {
    /// Changes wait per key: a key that changes often waits once, and the store catches up with
    /// fewer commits. Order is kept per key.
    #[default]
    DeltaFifo,
    /// Changes wait in the order of the watch, across keys (client-go's RealFIFO).
    // FM-90
    InOrder,
}

/// The objects that an informer caches, and how it fetches them.
///
/// `namespaces`, the selectors, `projection` and `wire` say *which objects* come, and how: requests
/// that agree on them share one watch and one cache. The first request decides the rest. A later
/// request that names another transform or another name than the first is refused.
///
/// ```
/// use informer_factory::{InformerOptions, Projection};
/// use k8s_openapi::api::core::v1::Pod;
///
/// let options = InformerOptions::<Pod>::new()
///     .name("web-pods")
///     .namespace("web")
///     .labels("app in (web, api)")
///     .projection(Projection::lean());
/// assert_eq!(options.field_selector, None);
/// ```
// FAX-1
#[derive_where(Clone, Debug)]
#[must_use = "options do nothing until an informer is asked for with them"]
#[non_exhaustive]
pub struct InformerOptions<T> {
    /// The name in status, logs and metrics. Default: the resource, with a short hash if the
    /// informer is restricted, such as `pods#7f6b0ac8`; status and logs add the restrictions to it,
    /// and metrics do not. Given names differ within one factory.
    pub name: Option<Arc<str>>,
    /// Which namespaces. Default: the factory's; all for a cluster-scoped type.
    pub namespaces: Option<Namespaces>,
    /// A label selector in the server's syntax, such as `app=web,tier!=cache`. Default: none.
    pub label_selector: Option<String>,
    /// A field selector, such as `spec.nodeName=node-7`. Default: none.
    pub field_selector: Option<String>,
    /// The fields that are dropped before anything is decoded or packed. Default: none; of packed
    /// objects `metadata.managedFields`, which is a third of their size.
    pub projection: Option<Projection>,
    /// The format in which the server sends the objects. Default: [`WireFormat::Auto`], because
    /// protobuf costs a server much less than JSON; see [`wire`](Self::wire()).
    pub wire: WireFormat,
    /// Changes every object after decoding. Default: none.
    pub transform: Option<Transform<T>>,
    /// The resync period of handlers that ask for none. `None`, the default, means the factory's.
    pub default_resync: Option<Duration>,
    /// Which queue. Default: the factory's.
    pub queue: Option<QueueKind>,
    /// How many keys may wait before the watch is held back. Default: 2,000, as client-go's two
    /// batches of 1,000.
    // FQ-13
    pub queue_bound: NonZeroUsize,
    /// How many values one object may give one index; one that gives more is quarantined. Default:
    /// 1,024, more than any index of a well-formed object has.
    // SEC-24
    pub index_values: NonZeroUsize,
    /// The number of quarantined keys that are kept with version and reason. Beyond it only the key
    /// is kept, and everything is listed again every ten minutes. Default: 1,000.
    // SEC-23
    pub quarantined: NonZeroUsize,
    /// The estimated memory in bytes above which the informer logs a warning that names what takes
    /// most; see [`MemoryStatus`](crate::MemoryStatus). Nothing is refused or dropped. Default:
    /// none.
    pub soft_memory_limit: Option<usize>,
    /// Back-off, page size and timeouts. Default: the factory's.
    pub reflector: Option<ReflectorConfig>,
    /// The largest page, event and object that are accepted. Default: `Limits::default()`.
    pub limits: Limits,
    /// The deadlines after which a silent server counts as failed. Default: `Deadlines::default()`.
    pub deadlines: Deadlines,
    /// Whether the store is compared with the server, and how often. Default: the factory's.
    pub consistency: Option<Consistency>,
    /// Whether packed objects share a dictionary. It has no effect on informers of unpacked
    /// objects. Default: all but Secrets.
    #[cfg(feature = "packed")]
    pub dictionary: DictionaryUse,
}

/// Which packed objects are packed with a dictionary.
///
/// A dictionary consists of parts of the objects, in plain text, and packs small objects to less
/// than a tenth of their size. It never leaves its informer.
#[cfg(feature = "packed")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DictionaryUse {
    /// All but Secrets.
    #[default]
    ExceptSecrets,
    /// All, Secrets too.
    WithSecrets,
    /// No dictionary: an object is compressed alone, and only if this halves it.
    Never,
    /// All but Secrets, trained from a few objects and again after a few others: for collections
    /// of the size that tests have.
    #[cfg(any(test, sim))]
    #[doc(hidden)]
    Early,
}

/// The number of attempts before the key of a failing change is quarantined: enough for a transient
/// cause.
pub(crate) const ATTEMPTS: NonZeroU32 = NonZeroU32::new(5).expect("5 is not zero");

/// Two of client-go's batches of 1,000.
pub(crate) const QUEUE_BOUND: NonZeroUsize = NonZeroUsize::new(2_000).expect("2,000 is not zero");

/// An object with more values in one index needs another index.
pub(crate) const INDEX_VALUES: NonZeroUsize = NonZeroUsize::new(1_024).expect("1,024 is not zero");

/// More reasons than a person reads.
pub(crate) const QUARANTINED: NonZeroUsize = NonZeroUsize::new(1_000).expect("1,000 is not zero");

/// A seed from the operating system.
pub(crate) fn random_seed() -> u64 {
    RandomState::new().hash_one(())
}

impl<T> Default for InformerOptions<T> {
    fn default() -> Self {
        Self {
            name: None,
            namespaces: None,
            label_selector: None,
            field_selector: None,
            projection: None,
            wire: WireFormat::default(),
            transform: None,
            default_resync: None,
            queue: None,
            queue_bound: QUEUE_BOUND,
            index_values: INDEX_VALUES,
            quarantined: QUARANTINED,
            soft_memory_limit: None,
            reflector: None,
            limits: Limits::default(),
            deadlines: Deadlines::default(),
            consistency: None,
            #[cfg(feature = "packed")]
            dictionary: DictionaryUse::default(),
        }
    }
}

impl<T> InformerOptions<T> {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// The fields that are dropped.
    pub(crate) fn dropped_fields(&self) -> Projection {
        self.projection.clone().unwrap_or_default()
    }

    setters! {
        /// Sets the name in status, logs and metrics. It must not contain a secret.
        name(name: impl Into<Arc<str>>) => name = Some(name.into());
        /// Restricts to one namespace.
        namespace(namespace: impl Into<String>) => namespaces = Some(Namespaces::one(namespace));
        /// Sets the namespaces.
        namespaces(namespaces: Namespaces) => namespaces = Some(namespaces);
        /// Sets the label selector.
        labels(selector: impl Into<String>) => label_selector = Some(selector.into());
        /// Sets the field selector.
        fields(selector: impl Into<String>) => field_selector = Some(selector.into());
        /// Drops unused fields while decoding; [`Projection::lean`] is the usual choice.
        projection(projection: Projection) => projection = Some(projection);
        /// Sets the format in which the server sends the objects.
        ///
        /// The objects are the same in either format. Use
        ///
        /// - [`WireFormat::Auto`], the default, for most programs: protobuf for built-in kinds, and
        ///   for the metadata of all kinds. Custom and aggregated kinds in full come as JSON, and
        ///   so does everything from a server that refuses protobuf. A `DynamicObject` comes as
        ///   JSON too, because it also has the fields that a server has added since this version;
        /// - [`WireFormat::Json`] to read the traffic, and for types with the rest of the fields in
        ///   a map (`#[serde(flatten)]`), or with a type of serde_json that reads JSON alone, such
        ///   as `RawValue`;
        /// - [`WireFormat::Protobuf`] where JSON would be a mistake: a server that has no protobuf
        ///   is a failure of the informer then.
        ///
        /// [`SourceStatus::wire`](crate::SourceStatus::wire) is the format that was received last.
        ///
        /// ```
        /// use informer_factory::{InformerOptions, WireFormat};
        /// use k8s_openapi::api::core::v1::Pod;
        ///
        /// let options = InformerOptions::<Pod>::new().wire(WireFormat::Json);
        /// assert_eq!(options.wire, WireFormat::Json);
        /// assert_eq!(InformerOptions::<Pod>::new().wire, WireFormat::Auto);
        /// ```
        wire(format: WireFormat) => wire = format;
        /// Sets the transform.
        transform(transform: Transform<T>) => transform = Some(transform);
        /// Sets the resync period of handlers that set none.
        default_resync(period: Duration) => default_resync = Some(period);
        /// Chooses the queue.
        queue(queue: QueueKind) => queue = Some(queue);
        /// Sets the estimated memory in bytes above which the informer logs a warning.
        soft_memory_limit(bytes: usize) => soft_memory_limit = Some(bytes);
        /// Sets the number of keys that may wait before the watch is held back.
        queue_bound(keys: NonZeroUsize) => queue_bound = keys;
        /// Sets the number of values that one object may give one index.
        index_values(values: NonZeroUsize) => index_values = values;
        /// Sets the number of quarantined keys that are kept with version and reason.
        quarantined(keys: NonZeroUsize) => quarantined = keys;
        /// Configures the reflector: back-off, page size and timeouts.
        #[doc(alias = "default_backoff")]
        reflector(config: ReflectorConfig) => reflector = Some(config);
        /// Sets the largest page, event and object that are accepted.
        limits(limits: Limits) => limits = limits;
        /// Sets the deadlines after which a server counts as silent.
        deadlines(deadlines: Deadlines) => deadlines = deadlines;
        /// Sets which packed objects are packed with a dictionary.
        #[cfg(feature = "packed")]
        dictionary(dictionary: DictionaryUse) => dictionary = dictionary;
        // FM-40
        /// Compares the store with the server periodically.
        check_consistency(consistency: Consistency) => consistency = Some(consistency);
    }
}
