//! A list that is decoded while its body arrives.
//!
//! The body is cut into items, and batches of items are decoded off the task, one on each
//! processor, and put back in order. Only a few batches of the body are held at a time.

use std::sync::Arc;

use informer_reflector::{Failure, Item, ListRequest, Page, Reuse};

use crate::{
    KubeSource, ReceivedWire,
    decode::{
        decoder::Buffers,
        object::FEW,
        ordered_jobs::{OrderedJobs, Room},
    },
    list::{
        body::BodyCutter,
        items::Items,
        page::{ItemReader, goes_back, not_cut},
    },
};

/// The size of a batch: about half a millisecond of work, which outweighs waking a thread. Smaller
/// under a fuzzer, whose lists are short but must be read in batches too.
const BATCH_BYTES: usize = if cfg!(fuzzing) { 256 } else { 64 * 1024 };
/// An item is refused if it is this many times larger than the largest object that is decoded: it
/// would be held for its identity alone.
// FM-56
const ITEM_LIMIT_FACTOR: usize = 16;

/// The number of items in a vector of a long list.
const PART: usize = 2_048;

/// The items of a batch, and the memory they were read in.
type Decoded<T> = (Result<Vec<Item<T>>, Failure>, Memory);

/// Memory that is used for one batch after another.
#[derive(Default)]
struct Memory {
    text: Items,
    buffers: Buffers,
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
    jobs: OrderedJobs<Decoded<T>>,
    threads: usize,
    learning: Learning,
    spare: Vec<Memory>,
    /// The items: as many as are expected in the first vector, and some thousand in each that
    /// follows. One vector would be copied each time it grows.
    parts: Vec<Vec<Item<T>>>,
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
        let item_limit = source.limits.object_bytes;
        let expected = reuse.as_ref().map_or(0, |reuse| reuse.expected_items());
        let most = request.limit.map_or(expected, |limit| limit as usize);
        let expected = expected.min(most);
        Self {
            reader: ItemReader {
                source: Arc::clone(source),
                format,
                reuse,
            },
            request: request.clone(),
            cutter: BodyCutter::new(format, item_limit.saturating_mul(ITEM_LIMIT_FACTOR)),
            jobs: OrderedJobs::new(threads),
            threads,
            learning: match source.decoder.is_learning() {
                true => Learning::Yes,
                false => Learning::No,
            },
            spare: Vec::new(),
            parts: match expected {
                0 => Vec::new(),
                // With room for some more, so that a collection that has grown is not copied.
                _ => vec![Vec::with_capacity(expected + expected / 32)],
            },
        }
    }

    /// Takes the next piece of the body; waits if decoding lags behind.
    pub(crate) async fn push(&mut self, piece: &[u8]) -> Result<(), Failure> {
        // A piece may be the whole body; as one batch it would leave processors idle.
        for part in piece.chunks(BATCH_BYTES) {
            self.cutter.push(part).map_err(not_cut)?;
            self.open();
            if self.cutter.ready_bytes() >= BATCH_BYTES {
                self.decode_ready().await?;
            }
        }
        Ok(())
    }

    /// Ends the body. Fails if the list is not complete.
    pub(crate) async fn complete(mut self) -> Result<Page<T>, Failure> {
        if self.parts.iter().all(Vec::is_empty) && self.jobs.is_idle() {
            // A small list is not worth a thread.
            let rest = self.cutter.take(Items::default());
            let items = self.reader.read(&rest, &mut Buffers::default(), || false)?;
            self.parts = vec![items];
        } else if self.cutter.ready_bytes() > 0 {
            self.decode_ready().await?;
        }
        while let Some(decoded) = self.jobs.next().await {
            self.keep(decoded)?;
        }
        let source = self.reader.source;
        let mut page = self.cutter.read_frame(&source)?;
        let mut items = gathered(self.parts);
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

    async fn decode_ready(&mut self) -> Result<(), Failure> {
        let mut batch = self.spare.pop().unwrap_or_default();
        batch.text = self.cutter.take(batch.text);
        while !self.jobs.has_room() {
            if let Some(decoded) = self.jobs.next().await {
                self.keep(decoded)?;
                self.finish_learned().await;
            }
        }
        let reader = self.reader.clone();
        let room = Room::of_objects(&*reader.source.decoder);
        self.jobs.push(room, move |abandoned| {
            let Memory { text, buffers } = &mut batch;
            let items = reader.read(text, buffers, || abandoned.is_set());
            (items, batch)
        });
        Ok(())
    }

    fn keep(&mut self, (items, memory): Decoded<T>) -> Result<(), Failure> {
        self.spare.push(memory);
        let mut items = items?;
        if let Learning::Over { unfinished } = &mut self.learning
            && *unfinished > 0
        {
            *unfinished -= 1;
            self.reader.source.finish(items.iter_mut());
        }
        let has_room = |part: &Vec<_>| part.capacity() - part.len() >= items.len();
        if !self.parts.last().is_some_and(has_room) && !self.parts.is_empty() {
            let size = PART.max(items.len());
            self.parts.push(Vec::with_capacity(size));
        }
        match self.parts.last_mut() {
            Some(part) => part.append(&mut items),
            // A list of one batch is kept in the memory of the batch.
            None => self.parts.push(items),
        }
        Ok(())
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
        let items = gathered(std::mem::take(&mut self.parts));
        let items = finished(Arc::clone(source), items, self.threads).await;
        self.parts.push(items);
    }
}

/// All items in one vector, which is as long as they are.
fn gathered<T>(mut parts: Vec<Vec<Item<T>>>) -> Vec<Item<T>> {
    if let [only] = &mut parts[..] {
        return std::mem::take(only);
    }
    let mut items = Vec::with_capacity(parts.iter().map(Vec::len).sum());
    parts.into_iter().for_each(|part| items.extend(part));
    items
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
