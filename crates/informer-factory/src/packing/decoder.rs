//! The decoder of packed objects.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use informer_kube_source::{Buffers, Decode, Encoded, JsonDecoder, Projection};
use informer_object::Identity;
use informer_packed::Packed;
use informer_reflector::{Body, DecodeError};
use serde::de::DeserializeOwned;
use tokio::runtime::Handle;

use crate::packing::PackedObject;
use crate::packing::dictionaries::{Dictionaries, DictionarySettings, Outcome, TrainAgain};
use crate::packing::object::Stage;
use crate::running::renewal::{Renew, Renewal};
use crate::sync::now;

/// The capacity that a thread keeps for its next object.
const KEPT: usize = 256 * 1024;

/// The weight of an object in the average of packed lengths is one of this many.
const REMEMBERED: usize = 256;

/// Packs the objects of one informer. `V` is their view.
pub(crate) struct PackedDecoder {
    json: JsonDecoder,
    dictionaries: Arc<Dictionaries>,
    /// The average length of packed objects, times [`REMEMBERED`]; 0 before the first.
    average: AtomicUsize,
}

/// The memory of one thread.
#[derive(Default)]
struct Memory {
    json: Buffers,
    text: Vec<u8>,
}

impl PackedDecoder {
    pub(crate) fn new(projection: Projection, settings: DictionarySettings) -> Self {
        Self {
            json: JsonDecoder::new(projection),
            dictionaries: Arc::new(Dictionaries::new(settings)),
            average: AtomicUsize::new(0),
        }
    }

    fn pack(&self, text: &[u8]) -> (Packed, Stage) {
        match self.dictionaries.pack(text, now) {
            Outcome::Waits(stored) => (stored, Stage::Raw),
            Outcome::Packed(packed) => (packed, Stage::Packed),
            Outcome::Train(packed, samples) => {
                self.train_again(samples);
                (packed, Stage::Packed)
            }
        }
    }

    /// Trains a dictionary in the background; here, where there is no runtime, and in the
    /// simulator, of which no seed decides when a thread ends.
    fn train_again(&self, samples: TrainAgain) {
        let dictionaries = Arc::clone(&self.dictionaries);
        let train = move || dictionaries.train_again(&samples, now);
        match Handle::try_current() {
            Ok(runtime) if !cfg!(sim) => drop(runtime.spawn_blocking(train)),
            _ => train(),
        }
    }

    /// Counts a packed length in the average. A concurrent one may be lost.
    fn measure(&self, packed: usize) {
        let before = self.average.load(Ordering::Relaxed);
        let average = match before {
            0 => packed * REMEMBERED,
            _ => before - before / REMEMBERED + packed,
        };
        self.average.store(average, Ordering::Relaxed);
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
        let Memory { json, text } = buffers.get();
        let before = match planted!(OldBytesPacked) {
            true => Some(text.clone()),
            false => planted!(OldViewKept).then(|| text.clone()),
        };
        let mut view = self.json.decode_with_text(object, json, text)?;
        if let Some(before) = before.filter(|before| !before.is_empty()) {
            if planted!(OldBytesPacked) {
                *text = before;
            } else {
                let before = String::from_utf8_lossy(&before);
                view = self.json.decode_text(&before, json)?;
            }
        }
        let (content, stage) = self.pack(text);
        if text.capacity() > KEPT {
            *text = Vec::new();
        }
        if stage == Stage::Packed {
            self.measure(content.packed_len());
        }
        let identity = object.identity.clone();
        Ok(PackedObject::new(identity, view, content, stage))
    }

    fn object_bytes(&self) -> Option<usize> {
        let packed = match self.average.load(Ordering::Relaxed) {
            0 => return None,
            average => average / REMEMBERED,
        };
        // A view without a field is not measured.
        let view = Decode::<V>::object_bytes(&self.json).unwrap_or(size_of::<V>());
        let inline = size_of::<PackedObject<K, V>>() - size_of::<V>();
        Some(view + inline + packed)
    }

    fn shared_bytes(&self) -> usize {
        self.dictionaries.memory()
    }

    fn is_learning(&self) -> bool {
        self.dictionaries.is_learning()
    }

    fn finish<'a>(
        &self,
        items: &mut dyn Iterator<Item = (&'a Identity, &'a mut Body<PackedObject<K, V>>)>,
    ) where
        PackedObject<K, V>: 'a,
    {
        self.dictionaries.settle(now);
        for (_, body) in items {
            // A decoded object has not been shared yet.
            if let Body::Decoded(object) = body
                && let Some(object) = Arc::get_mut(object)
                && object.is_raw()
                && !planted!(RawTailStays)
                && let Ok(text) = object.content().unpack()
            {
                object.set_packed(self.dictionaries.newest(&text));
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
        let outdated = self.dictionaries.outdated()?;
        let retired = (Arc::clone(&self.dictionaries), Arc::clone(&outdated));
        let renew = move |object: &PackedObject<K, V>| {
            let dictionary = object.content().dictionary()?;
            if !Arc::ptr_eq(dictionary, &outdated) {
                return None;
            }
            let text = object.content().unpack().ok()?;
            // The view is made again, because it may not be `Clone`.
            let text = std::str::from_utf8(&text).ok()?;
            let view = self.json.decode_text(text, &mut Buffers::default()).ok()?;
            let content = self.dictionaries.newest(text.as_bytes());
            let identity = object.identity().clone();
            Some(PackedObject::new(identity, view, content, Stage::Packed))
        };
        Some(Renewal {
            renew: Arc::new(renew),
            done: Box::new(move || retired.0.retire(&retired.1)),
        })
    }
}
