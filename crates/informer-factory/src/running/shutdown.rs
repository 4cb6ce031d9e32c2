//! How things end: in order, within a grace, and with a report.

// IN-5, D1

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::{BoxFuture, OptionFuture, Shared};
use informer_processor::StopReport;
use scopeguard::ScopeGuard;
use tokio::runtime::Handle;
use tokio::time::{Instant, timeout};

use crate::running::core::Core;
use crate::status::shared::Lifecycle;

/// How long handlers may go on with what is pending when an informer is shut down.
///
/// `Duration::MAX` means as long as it takes. Closed on purpose: a grace is a duration and nothing
/// else.
///
/// ```
/// # use informer_factory::{FromOwnCallback, SharedInformerFactory};
/// use std::time::Duration;
/// use informer_factory::Grace;
///
/// # async fn example(factory: &SharedInformerFactory) -> Result<(), FromOwnCallback> {
/// factory.shutdown(Grace(Duration::from_secs(20))).await?;
/// # Ok(()) }
/// # let _ = example;
/// ```
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
    /// The numbers of delivered and abandoned notifications.
    pub handlers: StopReport,
    /// The informer ended before its shutdown did, because a runtime ended or a task could not be
    /// ended. What its queue still held is not known, so such an end is never complete.
    pub cut_off: bool,
}

impl InformerReport {
    /// Whether the informer ended in order, and every handler got everything that was pending.
    pub fn is_complete(&self) -> bool {
        !self.cut_off && self.aborted_sources == 0 && self.handlers.is_clean()
    }
}

/// How a factory ended.
///
/// ```
/// # use informer_factory::{FromOwnCallback, Grace, SharedInformerFactory};
/// # async fn example(factory: &SharedInformerFactory) -> Result<(), FromOwnCallback> {
/// let report = factory.shutdown(Grace::default()).await?;
/// if !report.is_complete() {
///     eprintln!("{} notifications were not delivered", report.abandoned());
/// }
/// # Ok(()) }
/// # let _ = example;
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ShutdownReport {
    /// One for each informer, by name.
    pub informers: Vec<InformerReport>,
}

impl ShutdownReport {
    /// Whether every informer ended in order, and every handler got everything that was pending.
    pub fn is_complete(&self) -> bool {
        self.informers.iter().all(InformerReport::is_complete)
    }

    /// How many notifications were pending and not delivered.
    pub fn abandoned(&self) -> u64 {
        let reports = self.informers.iter();
        reports.map(|report| report.handlers.abandoned).sum()
    }
}

/// The end of an informer, which any number may wait for.
pub(crate) type Ending = Shared<BoxFuture<'static, InformerReport>>;

/// How long tasks that were aborted may take to end. One that does not wait for anything, such as
/// an index function that does not return, cannot be ended.
const ABORTED: Duration = Duration::from_secs(1);

/// Begins the end of an informer.
pub(crate) fn begin<T: Send + Sync + 'static>(core: &Arc<Core<T>>, grace: Grace) -> Ending {
    let runtime = Handle::try_current().ok();
    let runtime = runtime.or_else(|| core.runtime.handle.get().cloned());
    // A task of its own, so that a caller who gives up does not leave it half done.
    let ending = runtime.map(|runtime| {
        // Dropped with the runtime before it is done, it ends the informer where it is.
        let unfinished = scopeguard::guard(Arc::clone(core), |core| drop(core.abort()));
        runtime.spawn(async move {
            let report = stop(&unfinished, grace).await;
            ScopeGuard::into_inner(unfinished);
            report
        })
    });
    let core = Arc::clone(core);
    let report = async move {
        // Without a runtime the informer was never started, and there is nothing to wait on.
        let ended = OptionFuture::from(ending).await.and_then(Result::ok);
        ended.unwrap_or_else(|| cut_off(&core))
    };
    report.boxed().shared()
}

/// Ends an informer where it is, and reports what is known of it.
fn cut_off<T: Send + Sync + 'static>(core: &Core<T>) -> InformerReport {
    InformerReport {
        informer: Arc::clone(&core.status.name),
        aborted_sources: 0,
        handlers: core.abort(),
        cut_off: true,
    }
}

/// Source, reflector, queue, handlers: each ends before the one it feeds.
async fn stop<T: Send + Sync + 'static>(core: &Core<T>, grace: Grace) -> InformerReport {
    let start = Instant::now();
    let was_gone = core.status.refuse_if_gone().is_err();
    core.begin_stop();
    let aborted_sources = core.runtime.sources.join(grace.0).await;
    let left = grace.0.saturating_sub(start.elapsed());
    let handlers = core.applier.processor.stop(left).await;
    // Everything has ended or been aborted; an aborted task ends when it next would go on.
    core.runtime.tasks.close();
    let have_ended = timeout(ABORTED, core.runtime.tasks.wait()).await.is_ok();
    core.status.set_lifecycle(Lifecycle::Stopped);
    InformerReport {
        informer: Arc::clone(&core.status.name),
        aborted_sources,
        handlers,
        cut_off: was_gone || !have_ended,
    }
}
