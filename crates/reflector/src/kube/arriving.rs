//! A list on its way: cut into items as its body arrives, and decoded meanwhile.
//!
//! Neither the body nor the objects wait for one another: what is held of the body are a few
//! batches. Batches are decoded off the task, on as many threads as there are processors, and put
//! back in order.

use std::sync::Arc;

use serde::de::DeserializeOwned;

use super::{
    cut::{Cutter, Items},
    decoding::{Decoding, processors},
    object::ObjectDecoder,
    page::{Frame, ItemReader, goes_back, not_cut},
};
use crate::{Failure, Item, ListRequest, Page, Reuse};

/// Decoded in one go: about half a millisecond of work, which is worth a thread's wake-up.
const BATCH_BYTES: usize = 64 * 1024;
/// An item is refused if it is so many times larger than what would be decoded (FM-56): it would
/// have to be held for its identity alone.
const ITEM_LIMIT_FACTOR: usize = 16;

/// Items that came back, and the memory their text was in.
type Decoded<T> = (Result<Vec<Item<T>>, Failure>, Items);

/// A page that is not complete yet.
pub(super) struct ArrivingList<T> {
    decoder: Arc<ObjectDecoder<T>>,
    reader: ItemReader<T>,
    request: ListRequest,
    cutter: Cutter,
    /// The frame as far as it stands before the items was looked at.
    opened: bool,
    decoding: Decoding<Decoded<T>>,
    spare: Vec<Items>,
    items: Vec<Item<T>>,
}

impl<T: DeserializeOwned + Send + Sync + 'static> ArrivingList<T> {
    /// Nothing of it has come yet. `reuse` is `None` if nothing may be reused.
    pub(super) fn new(
        decoder: &Arc<ObjectDecoder<T>>,
        request: &ListRequest,
        reuse: Option<Arc<dyn Reuse<T>>>,
    ) -> Self {
        let item_limit = decoder.limits().object_bytes;
        Self {
            decoder: Arc::clone(decoder),
            reader: ItemReader::new(Arc::clone(decoder), reuse),
            request: request.clone(),
            cutter: Cutter::new(item_limit.saturating_mul(ITEM_LIMIT_FACTOR)),
            opened: false,
            decoding: Decoding::new(processors()),
            spare: Vec::new(),
            items: Vec::new(),
        }
    }

    /// Takes the next piece of the body; waits if decoding does not keep up.
    pub(super) async fn push(&mut self, piece: &[u8]) -> Result<(), Failure> {
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
    pub(super) async fn complete(mut self) -> Result<Page<T>, Failure> {
        let rest = self.cutter.take(Items::default());
        if self.items.is_empty() && self.decoding.is_idle() {
            // A small list is not worth a thread.
            self.items = self.reader.read(&rest, || false)?;
        } else if !rest.is_empty() {
            self.submit(rest).await?;
        }
        while let Some(decoded) = self.decoding.next().await {
            self.keep(decoded)?;
        }
        let frame = Frame::read(&self.cutter.into_frame(), &self.decoder)?;
        Ok(frame.with(self.items))
    }

    /// Looks at what stands before the items, once: most lists say their version there.
    fn open(&mut self) {
        if self.opened {
            return;
        }
        let Some(head) = self.cutter.head() else {
            return;
        };
        self.opened = true;
        // What is wrong with it will be said when it is complete.
        if let Ok(frame) = Frame::read(&head, &self.decoder)
            && goes_back(&frame.version, &self.request)
        {
            self.reader = ItemReader::new(Arc::clone(&self.decoder), None);
        }
    }

    async fn decode_ready(&mut self) -> Result<(), Failure> {
        let spare = self.spare.pop().unwrap_or_default();
        let batch = self.cutter.take(spare);
        self.submit(batch).await
    }

    async fn submit(&mut self, batch: Items) -> Result<(), Failure> {
        while !self.decoding.has_room() {
            if let Some(decoded) = self.decoding.next().await {
                self.keep(decoded)?;
            }
        }
        let reader = self.reader.clone();
        self.decoding.push(move |abandoned| {
            let items = reader.read(&batch, || abandoned.is_set());
            (items, batch)
        });
        Ok(())
    }

    fn keep(&mut self, (items, mut text): Decoded<T>) -> Result<(), Failure> {
        text.clear();
        self.spare.push(text);
        self.items.append(&mut items?);
        Ok(())
    }
}
