//! Packs a collection as an informer does: lengths, and the time to pack and unpack.

use std::collections::HashMap;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use informer_factory::packed::{DEFAULT_LEVEL, Dictionary, Packed, Packer};
use informer_factory::{Grace, InformerOptions, NoView, ReflectorConfig, SharedInformerFactory};

use super::{Item, Shape, served};
use informer_bench::measure;

/// How long a list may take.
const PATIENCE: Duration = Duration::from_secs(300);

/// The values that are timed together, and the number of times.
const BATCH: usize = 50;
const TURNS: usize = 7;

/// The lengths of one object, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lengths {
    pub(super) template: usize,
    /// As the server sends it.
    pub(super) json: usize,
    /// Without managed fields, as it is packed.
    pub(super) text: usize,
    pub(super) packed: usize,
}

/// A collection as its informer holds it.
pub(super) struct Packing {
    pub(super) dictionary: Option<Arc<Dictionary>>,
    pub(super) objects: Vec<Lengths>,
    /// The texts of the objects, in the order of `objects`.
    pub(super) texts: Vec<Vec<u8>>,
    packed: Vec<Packed>,
}

impl Packing {
    /// Lets a packed informer list the objects, and takes what it holds.
    ///
    /// # Errors
    ///
    /// If the informer does not hold each of the objects, packed with one dictionary.
    pub(super) async fn of(shape: Shape, items: Vec<Item>) -> Result<Self> {
        let items: Arc<[Item]> = items.into();
        let resource = shape.resource();
        let factory = SharedInformerFactory::new(served::client(&resource, &items));
        // The server in memory has no streaming lists.
        let options = InformerOptions::new();
        let options = options.reflector(ReflectorConfig::default().streaming(false));
        let informer = factory.packed_dynamic::<NoView>(&resource, options)?;
        factory.start()?;
        factory.wait_synced(PATIENCE).await?;
        let mut held = HashMap::new();
        for object in informer.lister().all() {
            held.insert(object.key().to_string(), object.content().clone());
        }
        factory.shutdown(Grace::default()).await?;
        let mut packing = Self {
            dictionary: held.values().find_map(Packed::dictionary).cloned(),
            objects: Vec::with_capacity(items.len()),
            texts: Vec::with_capacity(items.len()),
            packed: Vec::with_capacity(items.len()),
        };
        let packer = packer(packing.dictionary.as_ref())?;
        for item in items.iter() {
            let packed = held.remove(&item.key);
            let packed = packed.with_context(|| format!("{} is not held", item.key))?;
            let text = packed.unpack()?;
            let again = packer.pack_or_store(&text).packed_len();
            ensure!(
                again == packed.packed_len(),
                "{} has another dictionary",
                item.key
            );
            packing.objects.push(Lengths {
                template: item.template,
                json: item.json.len(),
                text: text.len(),
                packed: packed.packed_len(),
            });
            packing.texts.push(text);
            packing.packed.push(packed);
        }
        Ok(packing)
    }

    /// Returns the lengths that these objects have when they are packed with another dictionary.
    pub(super) fn packed_with(&self, dictionary: Option<&Arc<Dictionary>>) -> Result<Vec<Lengths>> {
        let packer = packer(dictionary)?;
        let objects = self.objects.iter().zip(&self.texts);
        let packed = objects.map(|(lengths, text)| Lengths {
            packed: packer.pack_or_store(text).packed_len(),
            ..*lengths
        });
        Ok(packed.collect())
    }

    /// Returns the microseconds that packing one object takes.
    pub(super) fn pack_time(&self) -> Result<f64> {
        let packer = packer(self.dictionary.as_ref())?;
        let pack = |text: &Vec<u8>| drop(black_box(packer.pack_or_store(text)));
        Ok(microseconds(&self.texts, pack))
    }

    /// Returns the microseconds that unpacking one object takes.
    pub(super) fn unpack_time(&self) -> Result<f64> {
        let (mut text, mut failed) = (Vec::new(), None);
        let time = microseconds(&self.packed, |packed| {
            failed = packed.unpack_into(&mut text).err().or(failed);
            black_box(&text);
        });
        failed.map_or(Ok(time), |error| Err(error.into()))
    }
}

fn packer(dictionary: Option<&Arc<Dictionary>>) -> Result<Packer> {
    Ok(match dictionary {
        Some(dictionary) => Packer::with_dictionary(Arc::clone(dictionary), DEFAULT_LEVEL)?,
        None => Packer::new(DEFAULT_LEVEL),
    })
}

/// Calls `work` with each item, and returns the microseconds that one takes.
///
/// A batch is timed several times and its quickest time counts, because a batch is so short that
/// it seldom shares its processor each time.
fn microseconds<T>(items: &[T], mut work: impl FnMut(&T)) -> f64 {
    let mut time = |batch: &[T]| {
        let begin = measure::now();
        batch.iter().for_each(&mut work);
        measure::now() - begin
    };
    let mut quickest = |batch| (0..TURNS).map(|_| time(batch)).min().unwrap_or_default();
    let total: Duration = items.chunks(BATCH).map(&mut quickest).sum();
    total.as_secs_f64() * 1e6 / items.len().max(1) as f64
}
