//! Demands on a running reflector.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

use crate::Demand;

/// A handle to a running reflector. Cheap to clone. Has no effect after the reflector's end.
#[derive(Clone, Debug)]
pub struct Control {
    demands: Arc<Demands>,
}

/// The strongest demand not yet taken. Demands are not counted: two for a list are one.
#[derive(Debug, Default)]
pub(crate) struct Demands {
    strongest: Mutex<Option<Demand>>,
    added: Notify,
}

impl Control {
    pub(crate) fn new(demands: Arc<Demands>) -> Self {
        Self { demands }
    }

    /// Makes the next attempt now instead of after its delay. Does not reset the delays.
    pub fn retry_now(&self) {
        self.demands.add(Demand::Retry);
    }

    /// Lists again, whatever the phase. The list is not older than the held state.
    pub fn relist_now(&self) {
        self.demands.add(Demand::Relist);
    }

    // FM-40, design 6.7
    /// Lists again, consistently and without reuse of held objects.
    pub fn repair_now(&self) {
        self.demands.add(Demand::Repair);
    }
}

impl Demands {
    fn add(&self, demand: Demand) {
        // A poisoned lock holds a complete value, because the value is replaced in one step.
        let mut strongest = self
            .strongest
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *strongest = strongest.max(Some(demand));
        drop(strongest);
        self.added.notify_one();
    }

    fn take(&self) -> Option<Demand> {
        self.strongest
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    /// Waits for the next demand and takes it.
    ///
    /// # Cancel safety
    ///
    /// Safe. The poll that returns a demand takes it.
    pub(crate) async fn next(&self) -> Demand {
        loop {
            if let Some(demand) = self.take() {
                return demand;
            }
            self.added.notified().await;
        }
    }
}
