//! The writing half of a store: batches, the writer, and how a batch becomes the next state.

pub(crate) mod apply;
pub(crate) mod batch;
pub(crate) mod bulk;
pub(crate) mod pieces;
pub(crate) mod replace;
pub(crate) mod writer;
