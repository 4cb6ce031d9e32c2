//! The registry of an informer's sources as running tasks.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use informer_reflector::Control;
use informer_store::Scope;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use crate::status::shared::SharedStatus;
use crate::sync::{Mutex, MutexGuard};

/// The tasks of an informer's sources, by scope.
#[derive(Default)]
pub(crate) struct Sources {
    running: Mutex<HashMap<Scope, Source>>,
}

#[derive(Default)]
struct Source {
    stop: CancellationToken,
    /// `None` while the scope is removed: it is then still taken.
    task: Option<JoinHandle<()>>,
    /// What is listed again once the scope has been removed, if it was added again meanwhile.
    again: Option<Arc<str>>,
    /// Cancelled when the scope has been removed.
    removed: CancellationToken,
    /// Passes demands to the reflector.
    control: Option<Control>,
    /// A repair was demanded. A reflector that panics may not have carried it out, so its successor
    /// repairs too.
    repair: bool,
}

impl Sources {
    /// Starts with `spawn` the sources of those scopes that are not taken. A scope that is removed
    /// at present is to be started when that is done. Returns false if a scope was taken already.
    pub(crate) fn start(
        &self,
        mut sources: Vec<(Scope, Arc<str>)>,
        status: &SharedStatus,
        spawn: impl Fn(&Scope) -> (CancellationToken, JoinHandle<()>),
    ) -> bool {
        let mut running = self.lock();
        let mut all = true;
        sources.retain(|(scope, listed)| match running.get_mut(scope) {
            None => true,
            Some(leaving) if leaving.task.is_none() && leaving.again.is_none() => {
                leaving.again = Some(Arc::clone(listed));
                false
            }
            Some(_) => {
                all = false;
                false
            }
        });
        status.add_sources(&sources);
        for (scope, _) in sources {
            let (stop, task) = spawn(&scope);
            let source = Source {
                stop,
                task: Some(task),
                ..Source::default()
            };
            running.insert(scope, source);
        }
        all
    }

    /// Stops the source of one scope. The scope stays taken until it is
    /// [`forgotten`](Self::forget), after the end of the returned task. Without a task, an earlier
    /// call has stopped the source. The token is cancelled when the scope has been removed.
    pub(crate) fn stop(
        &self,
        scope: &Scope,
    ) -> Option<(Option<JoinHandle<()>>, CancellationToken)> {
        let mut running = self.lock();
        let source = running.get_mut(scope)?;
        let task = source.task.take();
        match task {
            Some(_) => source.stop.cancel(),
            None => drop(source.again.take()?),
        }
        Some((task, source.removed.clone()))
    }

    /// Frees a scope. Returns what is listed again, if the scope was added again meanwhile.
    pub(crate) fn forget(&self, scope: &Scope) -> Option<Arc<str>> {
        self.lock().remove(scope)?.again
    }

    /// Waits for all sources, which were stopped, and aborts those that do not end within
    /// the grace. Returns the number of aborted sources.
    pub(crate) async fn join(&self, grace: Duration) -> usize {
        let (start, mut aborted) = (Instant::now(), 0);
        for mut task in self.take_tasks() {
            let left = grace.saturating_sub(start.elapsed());
            // An error of the task is a panic that its own supervision has reported already.
            if timeout(left, &mut task).await.is_err() {
                task.abort();
                aborted += 1;
            }
        }
        aborted
    }

    /// Aborts all sources.
    pub(crate) fn abort(&self) {
        self.take_tasks().iter().for_each(JoinHandle::abort);
    }

    fn take_tasks(&self) -> Vec<JoinHandle<()>> {
        let mut running = self.lock();
        running
            .drain()
            .filter_map(|(_, source)| source.task)
            .collect()
    }

    /// Has the reflector of a scope fetch everything anew, reusing nothing.
    // FM-40
    pub(crate) fn repair(&self, scope: &Scope) {
        if let Some(source) = self.lock().get_mut(scope) {
            source.repair = true;
            source.control.iter().for_each(Control::repair_now);
        }
    }

    /// Has all reflectors list again.
    pub(crate) fn relist_all(&self) {
        let running = self.lock();
        let controls = running
            .values()
            .filter_map(|source| source.control.as_ref());
        controls.for_each(Control::relist_now);
    }

    pub(crate) fn set_control(&self, scope: &Scope, control: Control) {
        if let Some(source) = self.lock().get_mut(scope) {
            if source.repair {
                control.repair_now();
            }
            source.control = Some(control);
        }
    }

    /// The scopes that are taken.
    pub(crate) fn scopes(&self) -> Vec<Scope> {
        self.lock().keys().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Scope, Source>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
