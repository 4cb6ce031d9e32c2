//! A list that is decoded while its body arrives.
//!
//! The body is cut into items, and batches of items are decoded off the task, one on each
//! processor, and put back in order. Only a few batches of the body are held at a time.

use std::sync::Arc;

use bytes::Bytes;
use informer_reflector::{Failure, Item, ListRequest, Page, Reuse};

use crate::{
    KubeSource, ReceivedWire,
    decode::{
        decoder::Buffers,
        object::FEW,
        ordered_jobs::{OrderedJobs, Room, threads_for_list},
    },
    list::{
        body::BodyCutter,
        page::{ItemReader, goes_back, not_cut},
    },
};

/// The size of a batch: about half a millisecond of work, which outweighs waking a thread. Smaller
/// under a fuzzer, whose lists are short but must be read in batches too.
const BATCH_BYTES: usize = if cfg!(fuzzing) { 256 } else { 64 * 1024 };
/// The size of a batch in a relist. The reader identifies cached items and does not decode them, so
/// a batch is about a tenth of a millisecond of work.
const REUSED_BATCH_BYTES: usize = 4 * BATCH_BYTES;
/// An item is refused if it is this many times larger than the largest object that is decoded: it
/// would be held for its identity alone.
// FM-56
const ITEM_LIMIT_FACTOR: usize = 16;

/// The least number of items for which a list gets more room.
const ROOM: usize = 2_048;
/// How many times as many items a list has room for when it is full.
const GROWTH: usize = 4;

/// The objects of a batch.
struct Decoded<T> {
    items: Result<Vec<Item<T>>, Failure>,
    /// The memory they were read in, which the next batch uses.
    buffers: Buffers,
    /// The part of the body that the batch held.
    bytes: usize,
}

/// Whether the decoder learns from the list.
enum Learning {
    /// It was not learning when the list began.
    No,
    /// It has been learning since the list began.
    Yes,
    /// It has learned. The next batches may have been decoded before that.
    Over { unfinished: usize },
}

/// A page that is not complete yet.
pub(crate) struct ArrivingList<T> {
    reader: ItemReader<T>,
    request: ListRequest,
    cutter: BodyCutter,
    /// The size of a batch.
    batch_bytes: usize,
    /// The bytes that came since the last batch was taken. Items are parts of the body, so all of
    /// these may be held, whatever lies between the items.
    // SEC-17
    held_bytes: usize,
    /// The bytes that the batches under way hold, and the most that they may hold. Only an item
    /// that is far too long makes a batch long.
    // SEC-17
    bytes_in_jobs: usize,
    most_in_jobs: usize,
    jobs: OrderedJobs<Decoded<T>>,
    threads: usize,
    learning: Learning,
    spare: Vec<Buffers>,
    items: Vec<Item<T>>,
}

impl<T: Send + Sync + 'static> ArrivingList<T> {
    /// A list of which nothing has arrived. `reuse` is `None` if no object may be reused; `threads`
    /// is the number of batches that may be decoded at a time.
    pub(crate) fn new(
        source: &Arc<KubeSource<T>>,
        format: ReceivedWire,
        request: &ListRequest,
        reuse: Option<Arc<dyn Reuse<T>>>,
        threads: usize,
    ) -> Self {
        let item_limit = source.limits.object_bytes.saturating_mul(ITEM_LIMIT_FACTOR);
        let expected = reuse.as_ref().map_or(0, |reuse| reuse.expected_items());
        let batch_bytes = match expected {
            0 => BATCH_BYTES,
            _ => REUSED_BATCH_BYTES,
        };
        let most = request.limit.map_or(expected, |limit| limit as usize);
        let expected = expected.min(most);
        let is_learning = source.decoder.is_learning();
        let threads = threads_for_list(threads, is_learning);
        Self {
            reader: ItemReader {
                source: Arc::clone(source),
                format,
                reuse,
            },
            request: request.clone(),
            cutter: BodyCutter::new(format, item_limit),
            batch_bytes,
            held_bytes: 0,
            bytes_in_jobs: 0,
            most_in_jobs: item_limit.max(threads.saturating_mul(batch_bytes)),
            jobs: OrderedJobs::new(threads),
            threads,
            learning: match is_learning {
                true => Learning::Yes,
                false => Learning::No,
            },
            spare: Vec::new(),
            // With room for some more, so that a collection that has grown is not copied.
            items: Vec::with_capacity(expected + expected / 32),
        }
    }

    /// Takes the next piece of the body; waits if decoding lags behind.
    pub(crate) async fn push(&mut self, piece: &Bytes) -> Result<(), Failure> {
        // A piece may be the whole body; as one batch it would leave processors idle.
        for part in piece.chunks(self.batch_bytes) {
            self.cutter.push(piece.slice_ref(part)).map_err(not_cut)?;
            self.open();
            self.held_bytes += part.len();
            if self.held_bytes >= self.batch_bytes && self.cutter.has_items() {
                let items = self.cutter.take();
                self.decode(items).await?;
            }
        }
        Ok(())
    }

    /// Ends the body. Fails if the list is not complete.
    pub(crate) async fn complete(mut self) -> Result<Page<T>, Failure> {
        let rest = self.cutter.take();
        let is_first = self.items.is_empty() && self.jobs.is_idle();
        let may_train = matches!(self.learning, Learning::Yes) && rest.len() > FEW;
        if is_first && !may_train {
            // A small list is not worth a thread.
            self.items = self.reader.read(&rest, &mut Buffers::default(), || false)?;
        } else if !rest.is_empty() {
            self.decode(rest).await?;
        }
        while let Some(decoded) = self.jobs.next().await {
            self.keep(decoded)?;
        }
        let source = self.reader.source;
        let mut page = self.cutter.read_frame(&source)?;
        let mut items = self.items;
        page.items = match self.learning {
            Learning::Over { .. } => items,
            Learning::Yes if items.len() > FEW => finished(source, items, self.threads).await,
            Learning::Yes | Learning::No => {
                source.finish(items.iter_mut());
                items
            }
        };
        Ok(page)
    }

    /// Reads the frame before the items, once: most lists have their version there.
    fn open(&mut self) {
        // An error here is reported when the whole frame is read.
        if let Some(Ok(frame)) = self.cutter.read_head(&self.reader.source)
            && goes_back(&frame.version, &self.request)
        {
            self.reader.reuse = None;
        }
    }

    async fn decode(&mut self, items: Vec<Bytes>) -> Result<(), Failure> {
        let bytes = std::mem::take(&mut self.held_bytes);
        while !(self.jobs.has_room() && self.may_hold(bytes)) {
            if let Some(decoded) = self.jobs.next().await {
                self.keep(decoded)?;
                self.finish_learned().await;
            }
        }
        self.bytes_in_jobs += bytes;
        let reader = self.reader.clone();
        let mut buffers = self.spare.pop().unwrap_or_default();
        let room = Room::of_objects(&*reader.source.decoder);
        self.jobs.push(room, move |abandoned| {
            let items = reader.read(&items, &mut buffers, || abandoned.is_set());
            Decoded {
                items,
                buffers,
                bytes,
            }
        });
        Ok(())
    }

    /// Whether a batch of `bytes` may join those under way.
    fn may_hold(&self, bytes: usize) -> bool {
        self.jobs.is_idle() || self.bytes_in_jobs.saturating_add(bytes) <= self.most_in_jobs
    }

    fn keep(&mut self, decoded: Decoded<T>) -> Result<(), Failure> {
        self.spare.push(decoded.buffers);
        self.bytes_in_jobs -= decoded.bytes;
        let mut items = decoded.items?;
        if let Learning::Over { unfinished } = &mut self.learning
            && *unfinished > 0
        {
            *unfinished -= 1;
            self.reader.source.finish(items.iter_mut());
        }
        if self.items.capacity() == 0 {
            // A list of one batch is kept in the memory of the batch.
            self.items = items;
            return Ok(());
        }
        self.make_room(items.len());
        self.items.append(&mut items);
        Ok(())
    }

    /// Makes room for the items of a batch. A list of unknown length gets much room, and seldom:
    /// growing copies the items, and the system gives memory only for those that come.
    fn make_room(&mut self, more: usize) {
        let (len, capacity) = (self.items.len(), self.items.capacity());
        if capacity - len < more {
            let total = capacity.saturating_mul(GROWTH).max(len + more).max(ROOM);
            self.items.reserve_exact(total - len);
        }
    }

    /// Finishes what was decoded while the decoder was learning, once it has learned. Until then
    /// items may take much more memory than others, so this does not wait for the end of the list.
    async fn finish_learned(&mut self) {
        let source = &self.reader.source;
        if !matches!(self.learning, Learning::Yes) || source.decoder.is_learning() {
            return;
        }
        let unfinished = self.jobs.len();
        self.learning = Learning::Over { unfinished };
        let items = std::mem::take(&mut self.items);
        self.items = finished(Arc::clone(source), items, self.threads).await;
    }
}

/// Finishes items on a thread of its own: what a decoder has learned may take long to use.
async fn finished<T: Send + Sync + 'static>(
    source: Arc<KubeSource<T>>,
    mut items: Vec<Item<T>>,
    threads: usize,
) -> Vec<Item<T>> {
    let mut jobs = OrderedJobs::new(threads);
    jobs.push(Room::NONE, move |_| {
        source.finish(items.iter_mut());
        items
    });
    jobs.next().await.expect("one job was pushed")
}
