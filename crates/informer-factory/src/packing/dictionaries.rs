//! The dictionaries of one informer and format: when one is trained, which one is used, when one is
//! given up.
//!
//! The first objects wait as they are, until there are enough of them to train a dictionary or the
//! first page is complete. A collection that grows later gets its first dictionary in the
//! background, and the objects that were packed without one are packed again. A dictionary is also
//! trained in the background when objects pack much worse than they did. Objects that were packed
//! before keep theirs: at most [`DictionarySettings::generations`] are in use, and before another
//! one is trained, the objects of the oldest are packed again.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Condvar, PoisonError, Weak};
use std::time::Instant;

use informer_object::ObjectKey;
use informer_packed::{DEFAULT_LEVEL, Dictionary, Packed, Packer, Trained};

use crate::packing::dictionary_settings::DictionarySettings;
use crate::packing::samples::Samples;

/// A ratio that is worse than the usual one by this factor calls for another dictionary.
const WORSE: f64 = 1.3;

/// The least part of the samples that a later dictionary is trained from.
const LEAST: usize = 4;

/// The dictionaries of one informer, for its objects in one wire format.
pub(super) struct Dictionaries {
    settings: DictionarySettings,
    state: std::sync::Mutex<State>,
    /// Notified when the first dictionary has been trained, or will not be.
    settled: Condvar,
}

struct State {
    phase: Phase,
    packer: Arc<Packer>,
    /// The dictionaries that objects may have, the oldest first.
    generations: VecDeque<Weak<Dictionary>>,
    /// The bytes of the objects packed since the last measurement.
    window: Window,
    /// The packed bytes for each byte at the last training, or since then if there is no
    /// dictionary.
    usual: Option<f64>,
    /// When the last dictionary was trained; never, for a small collection.
    trained: Option<Instant>,
    /// Whether another dictionary is needed, and there are as many as there may be.
    is_crowded: bool,
    /// Whether objects were packed before there was a dictionary, and have none.
    is_late: bool,
    /// The objects that were packed while there was no dictionary; no more than are needed for one.
    without: HashSet<ObjectKey>,
}

#[derive(Default)]
struct Window {
    objects: usize,
    bytes: usize,
    packed: usize,
}

enum Phase {
    /// The first objects wait for a dictionary.
    First(Samples),
    /// The first dictionary is being trained; `waiting` bytes of objects wait.
    FirstTraining { waiting: usize },
    /// Objects are packed.
    Steady,
    /// Objects are packed, and copies of them are collected.
    Collecting(Samples),
    /// Objects are packed, and a dictionary is being trained.
    Training,
}

/// What becomes of one object.
pub(super) enum Outcome {
    /// It waits, as it is, for [`Dictionaries::settle`].
    Waits(Packed),
    /// It is packed.
    Packed(Packed),
    /// It is packed, and the caller trains a dictionary with
    /// [`Dictionaries::train_again`], off the task that it is on.
    Train(Packed, TrainAgain),
}

/// The samples of a dictionary that is to be trained.
pub(super) struct TrainAgain(Vec<Box<[u8]>>);

/// The objects that are to be packed again.
pub(super) enum Outdated {
    /// Those that were packed before there was a dictionary.
    WithoutDictionary,
    /// Those of the oldest dictionary, because another one is needed.
    Of(Arc<Dictionary>),
}

impl Outdated {
    /// Whether an object is one of them.
    pub(super) fn has(&self, content: &Packed) -> bool {
        match (self, content.dictionary()) {
            (Self::WithoutDictionary, None) => true,
            (Self::Of(outdated), Some(dictionary)) => Arc::ptr_eq(outdated, dictionary),
            _ => false,
        }
    }
}

impl Dictionaries {
    pub(super) fn new(settings: DictionarySettings) -> Self {
        let phase = match settings.is_on {
            true => Phase::First(Samples::default()),
            false => Phase::Steady,
        };
        Self {
            settings,
            state: std::sync::Mutex::new(State {
                phase,
                packer: Arc::new(Packer::new(DEFAULT_LEVEL)),
                generations: VecDeque::new(),
                window: Window::default(),
                usual: None,
                trained: None,
                is_crowded: false,
                is_late: false,
                without: HashSet::new(),
            }),
            settled: Condvar::new(),
        }
    }

    /// Whether the first objects wait for a dictionary.
    pub(super) fn is_learning(&self) -> bool {
        matches!(
            self.lock().phase,
            Phase::First(_) | Phase::FirstTraining { .. }
        )
    }

    /// Whether objects wait for a dictionary.
    pub(super) fn has_waiting(&self) -> bool {
        match &self.lock().phase {
            Phase::First(samples) => !samples.texts.is_empty(),
            Phase::FirstTraining { .. } => true,
            Phase::Steady | Phase::Collecting(_) | Phase::Training => false,
        }
    }

    /// Packs an object, or keeps it waiting. The object that completes the samples of the first
    /// dictionary trains it; others wait for it once too many bytes do.
    pub(super) fn pack(&self, key: &ObjectKey, text: &[u8], now: impl Fn() -> Instant) -> Outcome {
        let mut state = self.lock();
        match &mut state.phase {
            Phase::First(samples) => {
                if !samples.add((key, text), self.settings.first_samples, &self.settings) {
                    return Outcome::Waits(Packed::stored(text));
                }
                drop(state);
                self.settle(&now);
            }
            Phase::FirstTraining { waiting } => {
                let after = *waiting + text.len();
                if after <= self.settings.waiting_bytes {
                    *waiting = after;
                    return Outcome::Waits(Packed::stored(text));
                }
                drop(state);
                self.wait_for_first();
            }
            Phase::Steady | Phase::Collecting(_) | Phase::Training => drop(state),
        }
        self.pack_now(key, text, now)
    }

    /// Packs an object with the newest dictionary.
    fn pack_now(&self, key: &ObjectKey, text: &[u8], now: impl Fn() -> Instant) -> Outcome {
        let packed = self.newest(text);
        let mut state = self.lock();
        state.window.add(text.len(), packed.packed_len());
        let settings = &self.settings;
        if settings.is_on {
            state.review(key, settings, now);
        }
        let Phase::Collecting(samples) = &mut state.phase else {
            return Outcome::Packed(packed);
        };
        if !samples.add((key, text), settings.samples, settings) {
            return Outcome::Packed(packed);
        }
        if !samples.are_enough(settings.samples / LEAST, settings) {
            state.phase = Phase::Steady;
            return Outcome::Packed(packed);
        }
        let samples = TrainAgain(std::mem::take(&mut samples.texts));
        state.phase = Phase::Training;
        Outcome::Train(packed, samples)
    }

    /// Packs an object with the newest dictionary, without counting it.
    pub(super) fn newest(&self, text: &[u8]) -> Packed {
        let packer = Arc::clone(&self.lock().packer);
        packer.pack_or_store(text)
    }

    /// Ends the wait of the first objects: a page is complete. Trains a dictionary from what there
    /// is, unless it is too little.
    pub(super) fn settle(&self, now: impl Fn() -> Instant) {
        let mut state = self.lock();
        match &state.phase {
            Phase::First(samples) if samples.are_enough(self.settings.samples, &self.settings) => {
                drop(state);
                self.train_first(now());
            }
            Phase::First(_) => {
                state.phase = Phase::Steady;
                drop(state);
                self.settled.notify_all();
            }
            Phase::FirstTraining { .. } => {
                drop(state);
                self.wait_for_first();
            }
            Phase::Steady | Phase::Collecting(_) | Phase::Training => {}
        }
    }

    /// Trains the first dictionary, unless another thread does.
    fn train_first(&self, now: Instant) {
        let mut state = self.lock();
        let Phase::First(samples) = &mut state.phase else {
            drop(state);
            self.wait_for_first();
            return;
        };
        let samples = std::mem::take(samples);
        state.phase = Phase::FirstTraining {
            waiting: samples.seen_bytes,
        };
        drop(state);
        // Others wait for this: it ends in any case.
        let settle = scopeguard::guard((), |()| {
            let mut state = self.lock();
            state.phase = Phase::Steady;
            drop(state);
            self.settled.notify_all();
        });
        let trained = Trained::from_samples(&samples.texts, DEFAULT_LEVEL).ok();
        self.lock().install(trained, now);
        drop(settle);
    }

    fn wait_for_first(&self) {
        let is_training = |state: &mut State| matches!(state.phase, Phase::FirstTraining { .. });
        let waited = self.settled.wait_while(self.lock(), is_training);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// Trains another dictionary, which objects packed from now on have.
    pub(super) fn train_again(&self, samples: &TrainAgain, now: impl Fn() -> Instant) {
        let trained = Trained::from_samples(&samples.0, DEFAULT_LEVEL).ok();
        let mut state = self.lock();
        let is_first = state.trained.is_none();
        state.install(trained, now());
        state.is_late = is_first && !state.generations.is_empty();
        state.phase = Phase::Steady;
    }

    /// The objects that are to be packed again: those without a dictionary, if the first one came
    /// late; those of the oldest, if there are too many for another one that is needed.
    pub(super) fn outdated(&self) -> Option<Outdated> {
        let mut state = self.lock();
        if state.is_late {
            return Some(Outdated::WithoutDictionary);
        }
        state.forget_unused();
        state.is_crowded &= state.generations.len() >= self.settings.generations;
        let oldest = state.generations.front().filter(|_| state.is_crowded)?;
        oldest.upgrade().map(Outdated::Of)
    }

    /// Notes that outdated objects have been packed again, all of them if nothing failed. Readers
    /// may still hold some. After a failure it is tried again when another dictionary is needed.
    pub(super) fn retire(&self, outdated: &Outdated, is_complete: bool) {
        let mut state = self.lock();
        match outdated {
            Outdated::WithoutDictionary => state.is_late = false,
            Outdated::Of(dictionary) if is_complete => state
                .generations
                .retain(|generation| !std::ptr::eq(generation.as_ptr(), Arc::as_ptr(dictionary))),
            Outdated::Of(_) => state.is_crowded = false,
        }
    }

    /// The bytes of memory that dictionaries and samples take.
    pub(super) fn memory(&self) -> usize {
        let state = self.lock();
        let generations = state.generations.iter().filter_map(Weak::upgrade);
        let dictionaries: usize = generations.map(|dictionary| dictionary.memory()).sum();
        let samples = match &state.phase {
            Phase::First(samples) | Phase::Collecting(samples) => samples.bytes,
            Phase::FirstTraining { .. } | Phase::Steady | Phase::Training => 0,
        };
        dictionaries + state.packer.memory() + samples
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        // No code of the caller runs while it is locked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Window {
    fn add(&mut self, bytes: usize, packed: usize) {
        self.objects += 1;
        self.bytes += bytes;
        self.packed += packed;
    }

    fn ratio(&self) -> f64 {
        self.packed as f64 / self.bytes.max(1) as f64
    }
}

impl State {
    /// Uses a new dictionary from now on. Without one, objects are packed as before.
    fn install(&mut self, trained: Option<Trained>, now: Instant) {
        self.trained = Some(now);
        self.usual = trained.as_ref().map(|trained| trained.ratio);
        self.window = Window::default();
        self.without = HashSet::new();
        if let Some(Trained { packer, .. }) = trained.filter(|_| !planted!(StaleDictionary)) {
            let dictionary = packer.dictionary().map(Arc::downgrade);
            self.generations.extend(dictionary);
            self.packer = Arc::new(packer);
        }
    }

    /// Decides whether another dictionary is needed.
    fn review(
        &mut self,
        key: &ObjectKey,
        settings: &DictionarySettings,
        now: impl Fn() -> Instant,
    ) {
        if !matches!(self.phase, Phase::Steady) {
            return;
        }
        let Some(trained) = self.trained else {
            self.without.insert(key.clone());
            // A collection that was small has grown. Many versions of few objects do not count.
            if self.without.len() >= settings.samples {
                self.without = HashSet::new();
                self.phase = Phase::Collecting(Samples::default());
            }
            return;
        };
        if self.window.objects < settings.window {
            return;
        }
        let ratio = std::mem::take(&mut self.window).ratio();
        let usual = *self.usual.get_or_insert(ratio);
        if ratio <= usual * WORSE || now().saturating_duration_since(trained) < settings.pause {
            return;
        }
        self.forget_unused();
        self.is_crowded = self.generations.len() >= settings.generations;
        if !self.is_crowded {
            self.phase = Phase::Collecting(Samples::default());
        }
    }

    fn forget_unused(&mut self) {
        self.generations
            .retain(|generation| generation.strong_count() > 0);
    }
}
