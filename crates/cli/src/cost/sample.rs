//! The sample: some objects of a collection, each measured when it is decoded, and the number of
//! all.

use std::sync::Arc;

use informer_factory::reflector::{Body, ListRequest, ListVersion};
use informer_factory::store::{Entry, store};
use informer_factory::{
    ApiResource, Buffers, Client, Decode, DecodeError, DynamicObject, Encoded, Failure,
    KubeListWatch, KubeSource, ListWatch, Namespaces, NoView, Projection, Representation,
    SerdeDecoder, Wire,
};
use kube_core::Resource;

/// The most objects that are measured, and the items of a page when the others are counted.
const MOST: u32 = 500;

/// A collection of the server.
pub(super) struct Collection {
    pub(super) client: Client,
    pub(super) resource: ApiResource,
    pub(super) namespaces: Namespaces,
    pub(super) label_selector: Option<String>,
    pub(super) field_selector: Option<String>,
}

/// Some objects of a collection.
pub(super) struct Sample {
    /// The number of objects in the collection.
    pub(super) objects: u64,
    /// The objects of the sample that can be read.
    pub(super) measured: Vec<Arc<Measured>>,
    /// The number of objects of the sample that cannot be read.
    pub(super) unreadable: usize,
    /// The bytes that a store takes for the keys, uids and versions of all measured objects.
    pub(super) records: usize,
}

/// One measured object, in bytes.
pub(super) struct Measured {
    /// Its JSON as the server sends it.
    pub(super) json: usize,
    /// Decoded as it is.
    pub(super) typed: usize,
    /// Decoded without the fields of [`Projection::lean`].
    pub(super) lean: usize,
    /// What is packed: its JSON without the fields that informers of packed objects drop.
    pub(super) text: Box<[u8]>,
}

impl Collection {
    /// Lists the first objects, and counts the others.
    pub(super) async fn sample(&self) -> Result<Sample, Failure> {
        let namespaces = match &self.namespaces {
            Namespaces::These(names) => names.iter().map(|name| Some(name.as_str())).collect(),
            // Also for a kind of scope that this program does not choose.
            _ => vec![None],
        };
        let each = (MOST / u32::try_from(namespaces.len()).unwrap_or(MOST)).max(1);
        let (mut writer, reader) = store::<()>();
        let mut sample = Sample {
            objects: 0,
            measured: Vec::new(),
            unreadable: 0,
            records: 0,
        };
        for namespace in namespaces {
            let whole = self.source(namespace, Representation::Full, Measure::new());
            // The most recent state, since a limit is ignored for any other.
            let request = ListRequest::new(ListVersion::Consistent).limit(each);
            let page = whole.list(request, Arc::new(())).await?;
            sample.objects += page.items.len() as u64;
            sample.objects += match (page.remaining, page.continue_token) {
                (Some(remaining), _) => remaining,
                (None, Some(token)) => self.count(namespace, token).await?,
                (None, None) => 0,
            };
            for item in page.items {
                let Body::Decoded(object) = item.body else {
                    sample.unreadable += 1;
                    continue;
                };
                let entry = Entry::new((), item.identity.uid, item.identity.version);
                writer.upsert(item.identity.key, entry);
                sample.measured.push(object);
            }
        }
        sample.records = reader.snapshot().memory().records;
        Ok(sample)
    }

    /// Counts the objects of the other pages, of which only the metadata is requested.
    ///
    /// A server does not say how many remain if there are selectors.
    async fn count(&self, namespace: Option<&str>, first: Arc<str>) -> Result<u64, Failure> {
        let metadata = self.source(namespace, Representation::MetadataOnly, Nothing);
        let (mut counted, mut token) = (0, Some(first));
        while token.is_some() {
            let mut request = ListRequest::new(ListVersion::Consistent).limit(MOST);
            request.continue_token = token;
            let page = metadata.list(request, Arc::new(())).await?;
            counted += page.items.len() as u64;
            token = page.continue_token;
        }
        Ok(counted)
    }

    fn source<T: Send + Sync + 'static>(
        &self,
        namespace: Option<&str>,
        part: Representation,
        decoder: impl Decode<T>,
    ) -> KubeListWatch<T> {
        let resource = &self.resource;
        let path = DynamicObject::url_path(resource, namespace);
        let (version, kind) = (&resource.api_version, &resource.kind);
        let mut source = KubeSource::new(path, version, kind, Arc::new(decoder));
        source.representation = part;
        source.label_selector.clone_from(&self.label_selector);
        source.field_selector.clone_from(&self.field_selector);
        KubeListWatch::new(self.client.clone(), source)
    }
}

/// Measures objects instead of decoding them.
struct Measure {
    typed: SerdeDecoder,
    lean: SerdeDecoder,
    packed: SerdeDecoder,
}

impl Measure {
    fn new() -> Self {
        let managed = Projection::new().drop_path("metadata.managedFields");
        Self {
            typed: SerdeDecoder::default(),
            lean: SerdeDecoder::new(Projection::lean()),
            packed: SerdeDecoder::new(managed),
        }
    }
}

impl Decode<Measured> for Measure {
    fn decode(&self, object: Encoded<'_>, buffers: &mut Buffers) -> Result<Measured, DecodeError> {
        let mut text = Vec::new();
        let packed = &self.packed;
        packed.decode_with_message::<NoView>(object, buffers, &mut text)?;
        let json = match object.wire {
            Wire::Json(json) => json.len(),
            // No other format is requested.
            _ => text.len(),
        };
        Ok(Measured {
            json,
            typed: self.typed.measure::<DynamicObject>(object)?,
            lean: self.lean.measure::<DynamicObject>(object)?,
            text: text.into(),
        })
    }
}

/// Decodes nothing.
struct Nothing;

impl Decode<()> for Nothing {
    fn decode(&self, _: Encoded<'_>, _: &mut Buffers) -> Result<(), DecodeError> {
        Ok(())
    }
}
