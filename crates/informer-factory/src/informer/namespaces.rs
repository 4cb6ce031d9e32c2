//! Namespaces that come and go while an informer runs.

// FM-79

use std::sync::Arc;

use informer_store::Scope;
use tokio_util::sync::CancellationToken;

use crate::error::{AddNamespaceError, RemoveNamespaceError};
use crate::informer::SharedInformer;
use crate::options::is_namespace;
use crate::running::core::Core;
use crate::running::source_tasks;
use crate::status::shared::Lifecycle;

impl<T: Send + Sync + 'static> SharedInformer<T> {
    /// Starts watching another namespace; one that is removed at present is watched again when it
    /// has been removed. The source runs on the runtime on which the informer was started.
    ///
    /// The informer must have been requested with [`Namespaces::These`](crate::Namespaces::These).
    /// It stays synced; [`wait_for_version_in`](Self::wait_for_version_in) waits for the first list
    /// of the namespace.
    ///
    /// ```
    /// use informer_factory::{AddNamespaceError, SharedInformer};
    /// use k8s_openapi::api::core::v1::Pod;
    ///
    /// fn watch(pods: &SharedInformer<Pod>, namespace: &str) -> Result<(), AddNamespaceError> {
    ///     match pods.add_namespace(namespace) {
    ///         Err(AddNamespaceError::AlreadyWatched { .. }) => Ok(()),
    ///         result => result,
    ///     }
    /// }
    /// # let _ = watch;
    /// ```
    ///
    /// # Errors
    ///
    /// [`AddNamespaceError`] if the namespace is watched already, the informer watches all
    /// namespaces or is not running, or the name cannot be one of a namespace. Nothing has changed
    /// then.
    pub fn add_namespace(&self, namespace: &str) -> Result<(), AddNamespaceError> {
        let core = self.core();
        let informer = Arc::clone(&core.status.name);
        let namespace: Arc<str> = namespace.into();
        if !is_namespace(&namespace) {
            return Err(AddNamespaceError::InvalidName { namespace });
        }
        let sources = source_tasks::describe(core, &[Scope::Namespace(Arc::clone(&namespace))]);
        let _turn = core.runtime.turn();
        core.status.refuse_unless_running::<AddNamespaceError>()?;
        if core.runtime.sources.scopes().contains(&Scope::All) {
            return Err(AddNamespaceError::WatchesAll { informer });
        }
        match source_tasks::start(core, sources) {
            true => Ok(()),
            false => Err(AddNamespaceError::AlreadyWatched {
                informer,
                namespace,
            }),
        }
    }

    /// Stops watching a namespace and deletes its objects, with a tombstone each. If it is
    /// removed at present, and has been added again, the addition is taken back.
    ///
    /// # Errors
    ///
    /// [`RemoveNamespaceError`] if the namespace is not watched by itself, or the informer is not
    /// running. Nothing has changed then.
    ///
    /// # Cancel safety
    ///
    /// The namespace goes all the same.
    // FM-79
    pub async fn remove_namespace(&self, namespace: &str) -> Result<(), RemoveNamespaceError> {
        let removed = self.begin_removal(namespace.into())?;
        removed.cancelled().await;
        Ok(())
    }

    /// Begins a removal. The token is cancelled when the namespace has been removed, or everything
    /// has ended.
    fn begin_removal(
        &self,
        namespace: Arc<str>,
    ) -> Result<CancellationToken, RemoveNamespaceError> {
        let runtime = &self.core().runtime;
        let scope = Scope::Namespace(Arc::clone(&namespace));
        let _turn = runtime.turn();
        let status = &self.core().status;
        status.refuse_unless_running::<RemoveNamespaceError>()?;
        let Some((source, removed)) = runtime.sources.stop(&scope) else {
            let informer = Arc::clone(&status.name);
            return Err(RemoveNamespaceError::NotWatched {
                informer,
                namespace,
            });
        };
        let Some(source) = source else {
            return Ok(removed);
        };
        let (core, guard) = (Arc::clone(self.core()), removed.clone().drop_guard());
        runtime.spawn(async move {
            // Made by the task: a runtime that ends now drops the task where the turn is held.
            // However the removal ends, the namespace is then free or watched again, and after that
            // the waiters are woken.
            let _removal = scopeguard::guard(guard, |_removed| end_removal(&core, &scope));
            // An error is a panic that the source's own supervision has reported already.
            drop(source.await);
            core.applier.clear(&scope);
        });
        Ok(removed)
    }
}

/// Frees the scope of a source that has ended, or starts it again if it was added meanwhile.
fn end_removal<T: Send + Sync + 'static>(core: &Arc<Core<T>>, scope: &Scope) {
    if core.status.remove_source(scope) {
        core.applier.processor.upstream_synced();
    }
    let _turn = core.runtime.turn();
    if let Some(listed) = core.runtime.sources.forget(scope)
        && core.status.lifecycle() == Lifecycle::Running
    {
        source_tasks::start(core, vec![(scope.clone(), listed)]);
    }
}
