//! Namespaces that come and go while an informer runs (design 6.17, FM-79).

use std::sync::Arc;

use informer_store::Scope;
use tokio::task::JoinHandle;

use crate::informer::SharedInformer;
use crate::options::is_namespace;
use crate::status::Life;

impl<T: Send + Sync + 'static> SharedInformer<T> {
    /// Follows one more namespace; false if it is followed already, all are, nothing runs, or the
    /// name cannot be one.
    pub fn add_namespace(&self, namespace: &str) -> bool {
        let _turn = self.core().turn();
        let running = self.core().board.life() == Life::Running;
        let scopes = self.core().sources.scopes();
        running
            && is_namespace(namespace)
            && !scopes.contains(&Scope::All)
            && self
                .core()
                .sources
                .start(self.core(), &[Scope::Namespace(namespace.into())])
    }

    /// Stops following a namespace and deletes its objects, with a tombstone each (FM-79). False if
    /// it was not followed.
    ///
    /// # Cancel safety
    ///
    /// The namespace goes all the same.
    pub async fn remove_namespace(&self, namespace: &str) -> bool {
        match self.begin_removal(Scope::Namespace(namespace.into())) {
            Some(removal) => removal.await.is_ok(),
            None => false,
        }
    }

    /// The task that removes a namespace; none if it is not followed, or all ends anyway.
    fn begin_removal(&self, scope: Scope) -> Option<JoinHandle<()>> {
        let _turn = self.core().turn();
        if self.core().board.life() != Life::Running {
            return None;
        }
        let source = self.core().sources.stop(&scope)?;
        let core = Arc::clone(self.core());
        Some(self.core().tasks.spawn(async move {
            // An error is a panic that the source's own supervision has reported already.
            drop(source.await);
            core.clear(&scope);
            if core.board.remove_source(&scope) {
                core.processor.upstream_synced();
            }
            core.sources.forget(&scope);
        }))
    }
}
