//! What an informer's status went through, from its stream.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use futures::StreamExt;
use informer_factory::SharedInformer;
use tokio::task::JoinHandle;

/// The states and the kinds of failure that were seen, by their names.
///
/// The stream shows the latest status only, so what lasted but a moment may be missing.
pub(crate) struct Chronicle {
    seen: Arc<Mutex<BTreeSet<String>>>,
    task: JoinHandle<()>,
}

impl Chronicle {
    pub(crate) fn of<T: Send + Sync + 'static>(informer: &SharedInformer<T>) -> Self {
        let seen = Arc::<Mutex<BTreeSet<String>>>::default();
        let writer = Arc::clone(&seen);
        let mut stream = Box::pin(informer.status_stream());
        let task = tokio::spawn(async move {
            while let Some(status) = stream.next().await {
                let mut seen = writer.lock().unwrap_or_else(PoisonError::into_inner);
                seen.insert(format!("{:?}", status.state));
                let failures = status.sources.iter().filter_map(|s| s.failure.as_ref());
                seen.extend(failures.map(|failure| format!("{:?}", failure.kind)));
            }
        });
        Self { seen, task }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.names().contains(name)
    }

    pub(crate) fn names(&self) -> BTreeSet<String> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.clone()
    }
}

impl Drop for Chronicle {
    fn drop(&mut self) {
        self.task.abort();
    }
}
