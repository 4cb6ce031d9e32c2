//! Asking something of a reflector that runs.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

use crate::Demand;

/// A handle to a running reflector. Cheap to clone; useless, but harmless, after its end.
#[derive(Clone, Debug)]
pub struct Control {
    demands: Arc<Demands>,
}

/// The strongest demand not yet heard. Demands are not counted: two lists asked for are one.
#[derive(Debug, Default)]
pub(crate) struct Demands {
    strongest: Mutex<Option<Demand>>,
    heard: Notify,
}

impl Control {
    pub(crate) fn new(demands: Arc<Demands>) -> Self {
        Self { demands }
    }

    /// Makes the next attempt now instead of after its delay. The delays are not reset.
    pub fn retry_now(&self) {
        self.demands.add(Demand::Retry);
    }

    /// Lists again, whatever the phase, no older than what is held.
    pub fn relist_now(&self) {
        self.demands.add(Demand::Relist);
    }

    /// Lists again, consistently and without reusing anything held (FM-40, design 6.7).
    pub fn repair_now(&self) {
        self.demands.add(Demand::Repair);
    }
}

impl Demands {
    fn add(&self, demand: Demand) {
        // A poisoned lock cannot hold anything half done: the value is replaced in one step.
        let mut strongest = self
            .strongest
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *strongest = strongest.max(Some(demand));
        drop(strongest);
        self.heard.notify_one();
    }

    fn take(&self) -> Option<Demand> {
        self.strongest
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    /// The next demand.
    ///
    /// # Cancel safety
    ///
    /// Safe. A demand is taken in the poll that returns it.
    pub(crate) async fn next(&self) -> Demand {
        loop {
            if let Some(demand) = self.take() {
                return demand;
            }
            self.heard.notified().await;
        }
    }
}
