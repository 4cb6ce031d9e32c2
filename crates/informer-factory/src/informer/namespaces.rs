//! Namespaces that come and go while an informer runs.

// FM-79

use std::sync::Arc;

use informer_store::Scope;
use tokio_util::sync::CancellationToken;

use crate::informer::SharedInformer;
use crate::options::is_namespace;
use crate::running::core::Core;
use crate::running::source_tasks;
use crate::status::shared::Lifecycle;

impl<T: Send + Sync + 'static> SharedInformer<T> {
    /// Starts watching another namespace; one that is removed at present is watched again when it
    /// has been removed. The source runs on the runtime on which the informer was started.
    ///
    /// Returns false if the namespace is watched already, all are, nothing runs, or the name cannot
    /// be one.
    pub fn add_namespace(&self, namespace: &str) -> bool {
        if !is_namespace(namespace) {
            return false;
        }
        let core = self.core();
        let sources = source_tasks::describe(core, &[Scope::Namespace(namespace.into())]);
        let _turn = core.runtime.turn();
        core.status.lifecycle() == Lifecycle::Running
            && !core.runtime.sources.scopes().contains(&Scope::All)
            && source_tasks::start(core, sources)
    }

    /// Stops watching a namespace and deletes its objects, with a tombstone each. If it is
    /// removed at present, and has been added again, the addition is taken back.
    ///
    /// Returns false if it was not watched.
    ///
    /// # Cancel safety
    ///
    /// The namespace goes all the same.
    // FM-79
    pub async fn remove_namespace(&self, namespace: &str) -> bool {
        let Some(removed) = self.begin_removal(Scope::Namespace(namespace.into())) else {
            return false;
        };
        removed.cancelled().await;
        true
    }

    /// Cancelled when a namespace has been removed, or everything has ended; none if the namespace
    /// is not watched, or the informer is not running.
    fn begin_removal(&self, scope: Scope) -> Option<CancellationToken> {
        let runtime = &self.core().runtime;
        let _turn = runtime.turn();
        if self.core().status.lifecycle() != Lifecycle::Running {
            return None;
        }
        let (source, removed) = runtime.sources.stop(&scope)?;
        let Some(source) = source else {
            return Some(removed);
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
        Some(removed)
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
