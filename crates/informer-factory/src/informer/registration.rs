//! The handle of a handler.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use informer_processor::{
    ListenerId, ListenerStatus, Registration as Listener, RemoveError, ResyncTerms,
};
use informer_reflector::ResourceVersion;
use tokio::time::Instant;

use crate::error::{HandlerNotSynced, NotHandled};
use crate::status::shared::SharedStatus;
use crate::status::wait;

/// The handle of one handler of an informer.
///
/// Clones are the handle of the same handler. Dropping all of them keeps the handler; remove it
/// with [`remove`](Self::remove).
///
/// ```
/// use std::time::Duration;
/// use informer_factory::{Grace, SharedInformerFactory};
/// use informer_testkit::{ApiServer, Resource};
/// use k8s_openapi::api::core::v1::Pod;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = ApiServer::new();
/// # let client = informer_factory::Client::new(server.service(), "default");
/// let factory = SharedInformerFactory::new(client);
/// let pods = factory.informer::<Pod>();
/// let printer = pods.callbacks().on_add(|added| println!("{}", added.key));
/// let registration = pods.add_handler(printer)?;
/// factory.start()?;
///
/// let patience = Duration::from_secs(30);
/// registration.wait_synced(patience).await?; // All pods of the first list have been printed.
/// server.create(&Resource::pods(), serde_json::json!({"metadata": {"name": "web-0"}}))?;
/// // With an `Api`, the version is `resource_version` in the metadata of what a write returns.
/// let version = server.version().into();
/// registration.wait_for_version(&version, patience).await?; // The new pod too.
/// registration.remove().await?; // No callback runs any more.
/// factory.shutdown(Grace::default()).await?;
/// # Ok(()) }
/// ```
#[doc(alias = "ResourceEventHandlerRegistration")]
#[derive(Clone)]
pub struct Registration {
    listener: Listener,
    /// The status of the informer.
    status: Arc<SharedStatus>,
}

impl Registration {
    pub(crate) fn new(listener: Listener, status: &Arc<SharedStatus>) -> Self {
        let status = Arc::clone(status);
        Self { listener, status }
    }

    /// Distinguishes the handler from the other handlers of its informer.
    pub fn id(&self) -> ListenerId {
        self.listener.id()
    }

    /// The handler's name in status, logs and metrics.
    pub fn name(&self) -> &str {
        self.listener.name()
    }

    /// True once the callbacks of all objects that were there when the informer synced, or when the
    /// handler was added later, have returned or panicked. Never false again.
    ///
    /// A stream has handled an item when the next one is requested.
    // FM-72, IN-2
    #[doc(alias = "HasSynced")]
    pub fn is_synced(&self) -> bool {
        self.listener.is_synced()
    }

    /// Waits until the handler [`is_synced`](Self::is_synced).
    ///
    /// # Errors
    ///
    /// [`HandlerNotSynced`] says whether the informer is not synced, and why, or whether the
    /// handler is slow or has ended.
    ///
    /// # Cancel safety
    ///
    /// Safe; nothing is lost.
    #[doc(alias = "WaitForCacheSync")]
    pub async fn wait_synced(&self, timeout: Duration) -> Result<(), HandlerNotSynced> {
        let start = Instant::now();
        let handler = || Arc::from(self.name());
        match tokio::time::timeout(timeout, self.listener.wait_synced()).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(reason)) => Err(HandlerNotSynced::Never {
                handler: handler(),
                reason,
            }),
            Err(_) => {
                wait::check_synced(&[&self.status], start)?;
                Err(HandlerNotSynced::TimedOut {
                    handler: handler(),
                    pending: self.status().pending(),
                    waited: start.elapsed(),
                })
            }
        }
    }

    /// Waits until the handler has handled every change up to `version`, for example one that this
    /// program wrote: the store has applied it, and the callbacks of all changes up to it have
    /// returned or panicked.
    ///
    /// A change that a coalescing handler receives as part of another one is handled with it. With
    /// several namespaces, the version is awaited in all of them. After a removal, this ends when
    /// the running callback has returned.
    ///
    /// # Errors
    ///
    /// [`NotHandled`] says whether the store has not applied the version, or whether the handler
    /// is slow, has ended, or awaits this in its own callback.
    ///
    /// # Cancel safety
    ///
    /// Safe; nothing is lost.
    // IN-9: a change is distributed before its version counts as applied.
    pub async fn wait_for_version(
        &self,
        version: &ResourceVersion,
        timeout: Duration,
    ) -> Result<(), NotHandled> {
        let start = Instant::now();
        wait::for_version(&self.status, version, timeout, |_| true).await?;
        let delivered = self.listener.wait_delivered();
        let left = timeout.saturating_sub(start.elapsed());
        let (handler, wanted) = (|| Arc::from(self.name()), version.to_string());
        match tokio::time::timeout(left, delivered).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(reason)) => Err(NotHandled::Handler {
                handler: handler(),
                wanted,
                reason,
            }),
            Err(_) => Err(NotHandled::TimedOut {
                handler: handler(),
                wanted,
                pending: self.status().pending(),
                waited: start.elapsed(),
            }),
        }
    }

    /// Phase, backlog, counts and resync period of the handler, as of now.
    pub fn status(&self) -> ListenerStatus {
        self.listener.status()
    }

    /// The requested and the effective resync period, and why they differ.
    // SI-16
    pub fn resync(&self) -> ResyncTerms {
        self.listener.resync()
    }

    /// Removes the handler: when this returns, no callback starts any more; one that is running
    /// goes on. Pending notifications are dropped. Allowed in the handler's own callback, and any
    /// number of times.
    // PL-04
    #[doc(alias = "RemoveEventHandler")]
    pub fn remove_now(&self) {
        self.listener.remove_now();
    }

    /// Removes the handler as [`remove_now`](Self::remove_now) does, at the call, and then waits
    /// until the running callback has returned and the handler has been dropped. A stream, which
    /// has no callbacks, is not waited for.
    ///
    /// # Errors
    ///
    /// [`RemoveError::FromOwnCallback`] when awaited in the handler's own callback.
    ///
    /// # Cancel safety
    ///
    /// Safe: the removal has happened, only the waiting ends.
    // PR-11, FM-70
    #[doc(alias = "ShutDownEventHandler")]
    pub fn remove(&self) -> impl Future<Output = Result<(), RemoveError>> + Send + use<> {
        self.listener.remove()
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registration")
            .field("informer", &self.status.name)
            .field("handler", &self.name())
            .field("synced", &self.is_synced())
            .finish_non_exhaustive()
    }
}
