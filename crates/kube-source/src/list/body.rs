//! The body of a list in either format.

use bytes::Bytes;
use informer_reflector::{Failure, Page};

use crate::{
    KubeSource, ReceivedWire,
    list::{
        cut::{CutError, Cutter},
        message_cut::MessageCutter,
        message_page::{ends_early, read_message_frame},
        page::read_frame,
    },
};

/// Cuts a body that is pushed piece by piece into items, and reads what is outside of them.
#[derive(Debug)]
pub(crate) enum BodyCutter {
    Json(Cutter),
    Protobuf(MessageCutter),
}

impl BodyCutter {
    /// A cutter for items of up to `item_limit` bytes.
    pub(crate) fn new(format: ReceivedWire, item_limit: usize) -> Self {
        match format {
            ReceivedWire::Json => Self::Json(Cutter::new(item_limit)),
            ReceivedWire::Protobuf => Self::Protobuf(MessageCutter::new(item_limit)),
        }
    }

    /// Takes the next piece of the body.
    pub(crate) fn push(&mut self, piece: Bytes) -> Result<(), CutError> {
        match self {
            Self::Json(cutter) => cutter.push(piece),
            Self::Protobuf(cutter) => cutter.push(piece),
        }
    }

    /// Whether a complete item was not taken.
    pub(crate) fn has_items(&self) -> bool {
        match self {
            Self::Json(cutter) => cutter.has_items(),
            Self::Protobuf(cutter) => cutter.has_items(),
        }
    }

    /// Takes the complete items.
    pub(crate) fn take(&mut self) -> Vec<Bytes> {
        match self {
            Self::Json(cutter) => cutter.take(),
            Self::Protobuf(cutter) => cutter.take(),
        }
    }

    /// Reads the frame before the items as a page without items. Returned once, when the items
    /// begin.
    pub(crate) fn read_head<T: 'static>(
        &mut self,
        source: &KubeSource<T>,
    ) -> Option<Result<Page<T>, Failure>> {
        match self {
            Self::Json(cutter) => Some(read_frame(&cutter.take_head()?, source)),
            Self::Protobuf(cutter) => Some(read_message_frame(&cutter.take_head()?, source)),
        }
    }

    /// Reads the frame, after the whole body was pushed, as a page without items. Fails if the list
    /// is not complete.
    pub(crate) fn read_frame<T: 'static>(self, source: &KubeSource<T>) -> Result<Page<T>, Failure> {
        match self {
            Self::Json(cutter) => read_frame(&cutter.into_frame(), source),
            Self::Protobuf(cutter) => {
                let frame = cutter.into_frame().ok_or_else(ends_early)?;
                read_message_frame(&frame, source)
            }
        }
    }
}
