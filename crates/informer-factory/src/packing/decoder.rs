//! The decoder of packed objects.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use informer_kube_source::{Buffers, Decode, Encoded, Projection, ReceivedWire, SerdeDecoder};
use informer_object::{Identity, ObjectKey};
use informer_packed::Packed;
use informer_reflector::{Body, DecodeError};
use serde::de::DeserializeOwned;
use tokio::runtime::Handle;

use crate::packing::PackedObject;
use crate::packing::dictionaries::{Dictionaries, Outcome, TrainAgain};
use crate::packing::dictionary_settings::DictionarySettings;
use crate::packing::object::Stage;
use crate::packing::read;
use crate::packing::wires::Wires;
use crate::running::renewal::{Renew, Renewal};
use crate::sync::now;

/// The capacity that a thread keeps for its next object.
const KEPT: usize = 256 * 1024;

/// The least weight of an object in the average of packed lengths is one of this many.
const REMEMBERED: usize = 256;

/// Packs the objects of one informer. `V` is their view.
pub(crate) struct PackedDecoder {
    decoder: SerdeDecoder,
    wires: Wires,
    /// The average length of packed objects, times [`REMEMBERED`]; 0 before the first.
    average: AtomicUsize,
    /// The number of packed lengths in the average.
    measured: AtomicUsize,
}

/// The memory of one thread.
#[derive(Default)]
struct Memory {
    buffers: Buffers,
    bytes: Vec<u8>,
}

impl PackedDecoder {
    pub(crate) fn new(projection: Projection, settings: DictionarySettings) -> Self {
        Self {
            decoder: SerdeDecoder::new(projection),
            wires: Wires::new(settings),
            average: AtomicUsize::new(0),
            measured: AtomicUsize::new(0),
        }
    }

    fn pack(&self, key: &ObjectKey, wire: ReceivedWire, bytes: &[u8]) -> (Packed, Stage) {
        let dictionaries = self.wires.of(wire);
        match dictionaries.pack(key, bytes, now) {
            Outcome::Waits(stored) => (stored, Stage::Raw),
            Outcome::Packed(packed) => (packed, Stage::Packed),
            Outcome::Train(packed, samples) => {
                train_again(Arc::clone(dictionaries), samples);
                (packed, Stage::Packed)
            }
        }
    }

    /// Counts a packed length in the average. A concurrent one may be lost.
    fn measure(&self, packed: usize) {
        let weight = self.measured.fetch_add(1, Ordering::Relaxed) + 1;
        let weight = weight.min(REMEMBERED);
        let before = self.average.load(Ordering::Relaxed);
        let average = before - before / weight + packed.saturating_mul(REMEMBERED) / weight;
        self.average.store(average, Ordering::Relaxed);
    }
}

/// Trains a dictionary in the background; here, where there is no runtime, and in the simulator, of
/// which no seed decides when a thread ends.
fn train_again(dictionaries: Arc<Dictionaries>, samples: TrainAgain) {
    let train = move || dictionaries.train_again(&samples, now);
    match Handle::try_current() {
        Ok(runtime) if !cfg!(sim) => drop(runtime.spawn_blocking(train)),
        _ => train(),
    }
}

impl<K, V> Decode<PackedObject<K, V>> for PackedDecoder
where
    K: 'static,
    V: DeserializeOwned + Send + Sync + 'static,
{
    fn decode(
        &self,
        object: Encoded<'_>,
        buffers: &mut Buffers,
    ) -> Result<PackedObject<K, V>, DecodeError> {
        let Memory { buffers, bytes } = buffers.get();
        let before = match planted!(OldBytesPacked) {
            true => Some(bytes.clone()),
            false => planted!(OldViewKept).then(|| bytes.clone()),
        };
        let mut view = self.decoder.decode_with_message(object, buffers, bytes)?;
        let wire = read::sealed(&object, bytes);
        if let Some(before) = before.filter(|before| !before.is_empty()) {
            if planted!(OldBytesPacked) {
                *bytes = before;
            } else {
                view = read::decode(&self.decoder, wire, &before)?;
            }
        }
        let (content, stage) = self.pack(&object.identity.key, wire, bytes);
        if bytes.capacity() > KEPT {
            *bytes = Vec::new();
        }
        if stage == Stage::Packed {
            self.measure(content.packed_len());
        }
        let identity = object.identity.clone();
        Ok(PackedObject::new(identity, view, wire, (content, stage)))
    }

    /// The view is decoded on arrival, so it decides the format. Whether `K` decodes from protobuf
    /// is found when an object is read.
    fn reads_protobuf(&self) -> bool {
        Decode::<V>::reads_protobuf(&self.decoder)
    }

    fn object_bytes(&self) -> Option<usize> {
        let packed = match self.average.load(Ordering::Relaxed) {
            0 => return None,
            average => average / REMEMBERED,
        };
        // A view without a field is not measured.
        let view = Decode::<V>::object_bytes(&self.decoder).unwrap_or(size_of::<V>());
        let inline = size_of::<PackedObject<K, V>>() - size_of::<V>();
        Some(view + inline + packed)
    }

    fn shared_bytes(&self) -> usize {
        self.wires.memory()
    }

    fn is_learning(&self) -> bool {
        self.wires.is_learning()
    }

    fn finish<'a>(
        &self,
        items: &mut dyn Iterator<Item = (&'a Identity, &'a mut Body<PackedObject<K, V>>)>,
    ) where
        PackedObject<K, V>: 'a,
    {
        self.wires.settle(now);
        for (_, body) in items {
            // A decoded object has not been shared yet.
            if let Body::Decoded(object) = body
                && let Some(object) = Arc::get_mut(object)
                && object.is_raw()
                && !planted!(RawTailStays)
                && let Ok(bytes) = object.content().unpack()
            {
                object.set_packed(self.wires.of(object.wire()).newest(&bytes));
                self.measure(object.content().packed_len());
            }
        }
    }
}

impl<K, V> Renew<PackedObject<K, V>> for PackedDecoder
where
    K: 'static,
    V: DeserializeOwned + Send + Sync + 'static,
{
    fn renewal(self: Arc<Self>) -> Option<Renewal<PackedObject<K, V>>> {
        let (dictionaries, outdated) = self.wires.outdated()?;
        let outdated = Arc::new(outdated);
        let retired = (Arc::clone(&dictionaries), Arc::clone(&outdated));
        let renew = move |object: &PackedObject<K, V>| {
            let is_of_format = Arc::ptr_eq(self.wires.of(object.wire()), &dictionaries);
            if !is_of_format || !outdated.has(object.content()) {
                return None;
            }
            let (wire, bytes) = (object.wire(), object.content().unpack().ok()?);
            // The view is made again, because it may not be `Clone`.
            let view = read::decode(&self.decoder, wire, &bytes).ok()?;
            let packed = (dictionaries.newest(&bytes), Stage::Packed);
            let identity = object.identity().clone();
            Some(PackedObject::new(identity, view, wire, packed))
        };
        Some(Renewal {
            renew: Arc::new(renew),
            done: Box::new(move |is_complete| retired.0.retire(&retired.1, is_complete)),
        })
    }
}
