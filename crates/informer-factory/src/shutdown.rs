//! How things end: in order, within a grace, and with a report (C6, IN-5, D1).

use std::sync::Arc;
use std::time::Duration;

use informer_processor::StopReport;
use tokio::time::Instant;

use crate::core::Core;
use crate::status::Life;

/// How long handlers may go on with what is pending when an informer is shut down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grace(pub Duration);

impl Default for Grace {
    /// 5 s: longer than any handler that keeps up needs, and within the 30 s a pod is given to end.
    fn default() -> Self {
        Self(Duration::from_secs(5))
    }
}

impl Grace {
    /// Nothing pending is delivered; callbacks in progress are not waited for.
    pub fn none() -> Self {
        Self(Duration::ZERO)
    }
}

/// How one informer ended.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct InformerReport {
    /// The informer's name.
    pub informer: Arc<str>,
    /// Sources that did not end within the grace and were aborted. Normally none.
    pub aborted_sources: usize,
    /// What the handlers were given, and what not.
    pub handlers: StopReport,
}

impl InformerReport {
    /// When the runtime ended before the informer did.
    pub(crate) fn unknown(informer: Arc<str>) -> Self {
        Self {
            informer,
            aborted_sources: 0,
            handlers: StopReport::default(),
        }
    }
}

/// How a factory ended.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ShutdownReport {
    /// One for each informer, by name.
    pub informers: Vec<InformerReport>,
}

impl ShutdownReport {
    /// True if every handler got everything that was pending for it.
    pub fn is_complete(&self) -> bool {
        let mut informers = self.informers.iter();
        informers.all(|report| report.aborted_sources == 0 && report.handlers.is_clean())
    }

    /// How many notifications were pending and not delivered.
    pub fn abandoned(&self) -> u64 {
        self.informers
            .iter()
            .map(|report| report.handlers.abandoned)
            .sum()
    }
}

/// Source, reflector, queue, handlers: whoever feeds ends before whoever is fed.
pub(crate) async fn stop<T: Send + Sync + 'static>(core: &Core<T>, grace: Grace) -> InformerReport {
    let deadline = Instant::now() + grace.0;
    core.say_stop();
    let aborted_sources = core.sources.join(deadline).await;
    let left = deadline.saturating_duration_since(Instant::now());
    let handlers = core.processor.stop(left).await;
    // Everything has ended or been aborted; an aborted task ends when it next would go on.
    core.tasks.close();
    core.tasks.wait().await;
    core.board.set_life(Life::Stopped);
    InformerReport {
        informer: Arc::clone(&core.name),
        aborted_sources,
        handlers,
    }
}
