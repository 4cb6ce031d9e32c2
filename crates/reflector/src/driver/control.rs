//! Demands on a running reflector.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::Demand;

/// A handle to a running reflector. Cheap to clone. Has no effect after the reflector's end.
#[derive(Clone, Debug)]
pub struct Control {
    demands: Arc<Demands>,
}

/// The strongest demand not yet taken. Demands are not counted: two for a list are one.
#[derive(Debug, Default)]
struct Demands {
    strongest: Mutex<Option<Demand>>,
    added: Notify,
}

impl Control {
    pub(crate) fn new() -> Self {
        Self {
            demands: Arc::default(),
        }
    }

    /// Makes the next attempt now instead of after its delay. Does not reset the delays.
    pub fn retry_now(&self) {
        self.add(Demand::Retry);
    }

    /// Lists again, whatever the phase. The list is not older than the held state.
    pub fn relist_now(&self) {
        self.add(Demand::Relist);
    }

    // FM-40
    /// Lists again, consistently and without reuse of held objects.
    pub fn repair_now(&self) {
        self.add(Demand::Repair);
    }

    fn add(&self, demand: Demand) {
        let mut strongest = self.strongest();
        *strongest = strongest.max(Some(demand));
        drop(strongest);
        self.demands.added.notify_one();
    }

    fn strongest(&self) -> MutexGuard<'_, Option<Demand>> {
        // A poisoned lock holds a complete value, because the value is replaced in one step.
        let locked = self.demands.strongest.lock();
        locked.unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the next demand and takes it.
    ///
    /// # Cancel safety
    ///
    /// Safe. The poll that returns a demand takes it.
    pub(crate) async fn next(&self) -> Demand {
        loop {
            let taken = self.strongest().take();
            if let Some(demand) = taken {
                return demand;
            }
            self.demands.added.notified().await;
        }
    }
}
