//! A list on its way: cut into items as its body arrives, and decoded meanwhile.
//!
//! Neither the body nor the objects wait for one another: what is held of the body are a few
//! batches. Batches are decoded off the task, on as many threads as there are processors, and put
//! back in order.

use std::sync::Arc;

use informer_reflector::{Failure, Item, ListRequest, Page, Reuse};
use serde::de::DeserializeOwned;

use crate::{
    decode::{object::ObjectDecoder, ordered_jobs::Decoding, tape::Scratch},
    list::{
        cut::{Cutter, Items},
        page::{Frame, ItemReader, goes_back, not_cut},
    },
};

/// Decoded in one go: about half a millisecond of work, which is worth a thread's wake-up. The
/// lists of a fuzzer are short, and come in batches all the same.
const BATCH_BYTES: usize = if cfg!(fuzzing) { 256 } else { 64 * 1024 };
/// An item is refused if it is so many times larger than what would be decoded (FM-56): it would
/// have to be held for its identity alone.
const ITEM_LIMIT_FACTOR: usize = 16;

/// Items that came back, and the memory they were read in.
type Decoded<T> = (Result<Vec<Item<T>>, Failure>, Memory);

/// What one batch after the other is read in.
#[derive(Default)]
struct Memory {
    text: Items,
    scratch: Scratch,
}

/// A page that is not complete yet.
pub(crate) struct ArrivingList<T> {
    decoder: Arc<ObjectDecoder<T>>,
    reader: ItemReader<T>,
    request: ListRequest,
    cutter: Cutter,
    decoding: Decoding<Decoded<T>>,
    spare: Vec<Memory>,
    items: Vec<Item<T>>,
}

impl<T: DeserializeOwned + Send + Sync + 'static> ArrivingList<T> {
    /// Nothing of it has come yet. `reuse` is `None` if nothing may be reused; `threads` is how
    /// many batches may be decoded at a time.
    pub(crate) fn new(
        decoder: &Arc<ObjectDecoder<T>>,
        request: &ListRequest,
        reuse: Option<Arc<dyn Reuse<T>>>,
        threads: usize,
    ) -> Self {
        let item_limit = decoder.limits().object_bytes;
        Self {
            decoder: Arc::clone(decoder),
            reader: ItemReader::new(Arc::clone(decoder), reuse),
            request: request.clone(),
            cutter: Cutter::new(item_limit.saturating_mul(ITEM_LIMIT_FACTOR)),
            decoding: Decoding::new(threads),
            spare: Vec::new(),
            items: Vec::new(),
        }
    }

    /// Takes the next piece of the body; waits if decoding does not keep up.
    pub(crate) async fn push(&mut self, piece: &[u8]) -> Result<(), Failure> {
        // A piece may be the whole body, and one batch of it would leave processors idle.
        for part in piece.chunks(BATCH_BYTES) {
            self.cutter.push(part).map_err(not_cut)?;
            self.open();
            if self.cutter.ready_bytes() >= BATCH_BYTES {
                self.decode_ready().await?;
            }
        }
        Ok(())
    }

    /// The body is complete: so must be the list.
    pub(crate) async fn complete(mut self) -> Result<Page<T>, Failure> {
        let rest = self.cutter.take(Items::default());
        if self.items.is_empty() && self.decoding.is_idle() {
            // A small list is not worth a thread.
            self.items = self.reader.read(&rest, &mut Scratch::default(), || false)?;
        } else if !rest.is_empty() {
            let scratch = self.spare.pop().unwrap_or_default().scratch;
            self.submit(Memory {
                text: rest,
                scratch,
            })
            .await?;
        }
        while let Some(decoded) = self.decoding.next().await {
            self.keep(decoded)?;
        }
        let frame = Frame::read(&self.cutter.into_frame(), &self.decoder)?;
        Ok(frame.with(self.items))
    }

    /// Looks at what stands before the items, once: most lists say their version there.
    fn open(&mut self) {
        // What is wrong with it will be said when it is complete.
        if let Some(head) = self.cutter.take_head()
            && let Ok(frame) = Frame::read(&head, &self.decoder)
            && goes_back(&frame.version, &self.request)
        {
            self.reader = ItemReader::new(Arc::clone(&self.decoder), None);
        }
    }

    async fn decode_ready(&mut self) -> Result<(), Failure> {
        let Memory { text, scratch } = self.spare.pop().unwrap_or_default();
        let text = self.cutter.take(text);
        self.submit(Memory { text, scratch }).await
    }

    async fn submit(&mut self, mut batch: Memory) -> Result<(), Failure> {
        while !self.decoding.has_room() {
            if let Some(decoded) = self.decoding.next().await {
                self.keep(decoded)?;
            }
        }
        let reader = self.reader.clone();
        self.decoding.push(move |abandoned| {
            let Memory { text, scratch } = &mut batch;
            let items = reader.read(text, scratch, || abandoned.is_set());
            (items, batch)
        });
        Ok(())
    }

    fn keep(&mut self, (items, memory): Decoded<T>) -> Result<(), Failure> {
        self.spare.push(memory);
        self.items.append(&mut items?);
        Ok(())
    }
}
