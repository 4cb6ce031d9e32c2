//! What the model tests need of a queue beyond its trait: to be made, and to be copied.

use super::model::{Key, Model, Position, Value};
use crate::transform::Intake;
use crate::{Config, DeltaFifo, InOrderQueue, Queue};

/// A queue that can be copied with all that is in it.
pub(super) trait Judged: Queue<Key, Value, Position> + Clone {
    type Model: Model;
    fn make(config: Config<Value>) -> Self;
}

impl Judged for DeltaFifo<Key, Value, Position> {
    type Model = super::fifo_model::FifoModel;

    fn make(config: Config<Value>) -> Self {
        Self::new(config)
    }
}

impl Judged for InOrderQueue<Key, Value, Position> {
    type Model = super::in_order_model::InOrderModel;

    fn make(config: Config<Value>) -> Self {
        Self::new(config)
    }
}

/// A copy has no transform.
impl<K: Clone, V> Clone for Intake<K, V> {
    fn clone(&self) -> Self {
        Self::new(None)
    }
}
