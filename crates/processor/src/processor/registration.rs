//! The handle of a listener: is it synced, how does it fare, remove it.
//!
//! Dropping the handle keeps the handler. It does not keep the processor.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use tokio::sync::watch;

use crate::boundary;
use crate::error::{NeverSynced, NotDelivered, RemoveError};
use crate::listener::Listener;
use crate::listener::resync::ResyncTerms;
use crate::listener::status::{Caller, ListenerId, ListenerStatus, Milestones};
use crate::notification::Key;
use crate::sync::now;

/// A listener without its types, so that handles of all kinds fit into one list.
trait Remote: Send + Sync {
    fn status(&self) -> ListenerStatus;
    fn set_checkpoint(&self) -> u64;
    fn remove(&self);
}

impl<K: Key, T: Send + Sync + 'static> Remote for Listener<K, T> {
    fn status(&self) -> ListenerStatus {
        Listener::status(self, now())
    }

    fn set_checkpoint(&self) -> u64 {
        Listener::set_checkpoint(self)
    }

    fn remove(&self) {
        Listener::remove(self);
    }
}

/// A handle of one listener. Clones are the same listener; dropping all of them changes nothing.
#[doc(alias = "ResourceEventHandlerRegistration")]
#[derive(Clone)]
pub struct Registration {
    caller: Caller,
    name: Arc<str>,
    milestones: watch::Receiver<Milestones>,
    remote: Arc<dyn Remote>,
}

impl Registration {
    pub(crate) fn new<K: Key, T: Send + Sync + 'static>(listener: Arc<Listener<K, T>>) -> Self {
        Self {
            caller: listener.caller,
            name: Arc::clone(&listener.name),
            milestones: listener.milestones.subscribe(),
            remote: listener,
        }
    }

    /// The listener's id, unique within its processor.
    pub fn id(&self) -> ListenerId {
        self.caller.1
    }

    /// Its name in logs and status.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the callbacks of all objects that were there at the start have returned or panicked.
    /// Once true it stays true.
    ///
    /// A stream has handled an item when it is asked for the next one.
    // FM-72
    #[doc(alias = "HasSynced")]
    pub fn is_synced(&self) -> bool {
        self.milestones.borrow().synced
    }

    /// Waits for [`is_synced`](Registration::is_synced).
    ///
    /// The future has no time limit; bound it with `tokio::time::timeout`.
    ///
    /// # Errors
    ///
    /// [`NeverSynced::Ended`] when the listener ended before;
    /// [`NeverSynced::ReplayPanicked`] when the iterator of the initial [`Replay`](crate::Replay)
    /// panicked.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only looks.
    pub async fn wait_synced(&self) -> Result<(), NeverSynced> {
        let mut milestones = self.milestones.clone();
        let over = |seen: &Milestones| seen.synced || seen.ended || seen.replay_panicked;
        match milestones.wait_for(over).await {
            Ok(seen) if seen.synced => Ok(()),
            Ok(seen) if seen.replay_panicked => Err(NeverSynced::ReplayPanicked),
            // The sender lives in the listener this handle holds, so the first case is the rule.
            Ok(_) | Err(_) => Err(NeverSynced::Ended),
        }
    }

    /// Waits until everything distributed to this listener before the call has been handled.
    ///
    /// A notification is handled when its callback has returned or panicked. A stream has handled
    /// an item when it is asked for the next one. A notification that was merged into another one
    /// is handled with it. Objects of a replay that was pending at the call count too,
    /// notifications distributed after the call do not.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use informer_processor::{Added, Callbacks, ListenerConfig, Processor, Replay};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let processor: Processor<&str, u32> = Processor::default();
    /// let joining = processor.add(Callbacks::new(), ListenerConfig::named("handler"))?;
    /// let registration = joining.begin(0, Replay::empty());
    /// processor.distribute(1, &[Arc::new(Added::new("a", 1.into()).into())]);
    /// registration.wait_delivered().await?;
    /// assert_eq!(registration.status().delivered, 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// The future has no time limit; bound it with `tokio::time::timeout`.
    ///
    /// # Errors
    ///
    /// [`NotDelivered::Ended`] when the listener ended first;
    /// [`NotDelivered::ReplayPanicked`] when the iterator of the initial [`Replay`](crate::Replay)
    /// panicked, so that some objects never reach the handler;
    /// [`NotDelivered::FromOwnCallback`] when awaited in the listener's own callback.
    ///
    /// # Cancel safety
    ///
    /// Safe: only the waiting ends.
    // PR-15
    pub fn wait_delivered(&self) -> impl Future<Output = Result<(), NotDelivered>> + Send + use<> {
        let checkpoint = self.remote.set_checkpoint();
        let own = self.caller;
        let mut milestones = self.milestones.clone();
        async move {
            if boundary::caller() == Some(own) {
                return Err(NotDelivered::FromOwnCallback);
            }
            let delivered = |seen: &Milestones| seen.checkpoints >= checkpoint;
            let over = |seen: &Milestones| delivered(seen) || seen.ended || seen.replay_panicked;
            match milestones.wait_for(over).await {
                Ok(seen) if seen.replay_panicked => Err(NotDelivered::ReplayPanicked),
                Ok(seen) if delivered(&seen) => Ok(()),
                // An error means that the listener itself is gone, which is an end too.
                Ok(_) | Err(_) => Err(NotDelivered::Ended),
            }
        }
    }

    /// Its numbers now.
    pub fn status(&self) -> ListenerStatus {
        self.remote.status()
    }

    /// Requested and effective resync period, and why they differ.
    // SI-16
    pub fn resync(&self) -> ResyncTerms {
        self.remote.status().resync
    }

    /// Removes the listener: when this returns, no callback starts any more; one that is running
    /// goes on. What waits is thrown away. Allowed from the listener's own callback, and
    /// any number of times.
    // PL-04
    #[doc(alias = "RemoveEventHandler")]
    pub fn remove_now(&self) {
        self.remote.remove();
    }

    /// Removes the listener as [`remove_now`](Registration::remove_now) does, at the call, and then
    /// waits until the running callback has returned and the handler has been dropped.
    /// A stream, which has no callbacks, is not waited for.
    ///
    /// # Errors
    ///
    /// [`RemoveError::FromOwnCallback`] when awaited in the listener's own callback.
    ///
    /// # Cancel safety
    ///
    /// Safe: the removal has happened, only the waiting ends.
    // PR-11, FM-70
    #[doc(alias = "ShutDownEventHandler")]
    pub fn remove(&self) -> impl Future<Output = Result<(), RemoveError>> + Send + use<> {
        self.remote.remove();
        let own = self.caller;
        let mut milestones = self.milestones.clone();
        async move {
            if boundary::caller() == Some(own) {
                return Err(RemoveError::FromOwnCallback);
            }
            // An error means that the listener itself is gone, which is an end too.
            drop(milestones.wait_for(|seen| seen.ended).await);
            Ok(())
        }
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registration")
            .field("id", &self.id())
            .field("name", &self.name())
            .field("synced", &self.is_synced())
            .finish_non_exhaustive()
    }
}
