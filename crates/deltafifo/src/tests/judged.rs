//! What the proofs ask of a queue beyond its trait: to be copied.

use super::model::{Key, Model, Position, Value};
use crate::{Config, DeltaFifo, InOrderQueue, Queue};

/// A queue that can be copied with all that is in it.
pub(super) trait Judged: Queue<Key, Value, Position> + Sized {
    type Model: Model;
    fn make(config: Config<Value>) -> Self;
    fn copy(&self) -> Self;
}

impl Judged for DeltaFifo<Key, Value, Position> {
    type Model = super::fifo_model::FifoModel;

    fn make(config: Config<Value>) -> Self {
        Self::new(config)
    }

    fn copy(&self) -> Self {
        self.fork()
    }
}

impl Judged for InOrderQueue<Key, Value, Position> {
    type Model = super::in_order_model::InOrderModel;

    fn make(config: Config<Value>) -> Self {
        Self::new(config)
    }

    fn copy(&self) -> Self {
        self.fork()
    }
}
