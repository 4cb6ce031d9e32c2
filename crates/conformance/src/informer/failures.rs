//! What the informer's status says went wrong, each failed attempt once.

use std::sync::{Arc, Mutex};

use futures::StreamExt;
use informer_factory::SharedInformer;

use super::form::Form;

/// Follows the status of an informer.
pub(super) struct Failures(Arc<Mutex<Vec<String>>>);

impl Failures {
    pub(super) fn follow<T: Form>(informer: &SharedInformer<T>) -> Self {
        let lines = Arc::<Mutex<Vec<String>>>::default();
        let states = informer.status_stream();
        let seen = Arc::clone(&lines);
        tokio::spawn(async move {
            let mut states = std::pin::pin!(states);
            let mut before = 0;
            while let Some(status) = states.next().await {
                let Some(source) = status.sources.first() else {
                    continue;
                };
                if let Some(failure) = source
                    .failure
                    .as_ref()
                    .filter(|_| source.attempts != before)
                {
                    let line = format!("failure {}", reason(&failure.reason));
                    seen.lock().expect("no panic under it").push(line);
                }
                before = source.attempts;
            }
        });
        Self(lines)
    }

    /// What was seen since the last time.
    pub(super) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().expect("no panic under it"))
    }
}

/// The reason of a `Status`; words of our own are `other`.
fn reason(reason: &str) -> &str {
    const KNOWN: [&str; 12] = [
        "BadRequest",
        "Unauthorized",
        "Forbidden",
        "NotFound",
        "Conflict",
        "Expired",
        "Gone",
        "Invalid",
        "TooManyRequests",
        "InternalError",
        "ServiceUnavailable",
        "Timeout",
    ];
    if KNOWN.contains(&reason) {
        reason
    } else {
        "other"
    }
}
