//! The sources of one informer as running tasks: one reflector, one queue and one applying loop
//! each.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};

use informer_reflector::Control;
use informer_store::Scope;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::running::core::Core;
use crate::running::source_tasks::keep_running;
use crate::sync::{Mutex, MutexGuard};

/// The tasks of an informer's sources.
#[derive(Default)]
pub(crate) struct Sources {
    running: Mutex<HashMap<Scope, Source>>,
}

struct Source {
    stop: CancellationToken,
    /// Gone while the scope is removed: it is then still taken.
    task: Option<JoinHandle<()>>,
    /// It was asked for again while it is removed.
    again: bool,
    /// Cancelled when the scope has been removed.
    removed: CancellationToken,
    /// Where its reflector can be asked for something.
    control: Option<Control>,
}

impl Sources {
    /// Starts the sources of those scopes that are not taken. One that is removed at present is
    /// started when that is done. False if a scope was taken already.
    pub(crate) fn start<T: Send + Sync + 'static>(
        &self,
        core: &Arc<Core<T>>,
        scopes: &[Scope],
    ) -> bool {
        let mut running = self.lock();
        let mut fresh = Vec::new();
        let mut all = true;
        for scope in scopes {
            match running.get_mut(scope) {
                None => fresh.push(scope.clone()),
                Some(leaving) if leaving.task.is_none() && !leaving.again => leaving.again = true,
                Some(_) => all = false,
            }
        }
        let described = fresh
            .iter()
            .map(|scope| (core.launch.describe(scope), scope.clone()));
        core.board.add_sources(described.collect());
        for scope in fresh {
            let stop = core.stop.child_token();
            let source = keep_running(Arc::clone(core), scope.clone(), stop.clone());
            let task = Some(core.spawn(source));
            running.insert(
                scope,
                Source {
                    stop,
                    task,
                    again: false,
                    removed: CancellationToken::new(),
                    control: None,
                },
            );
        }
        all
    }

    /// Tells the source of one scope to end. The scope stays taken until it is
    /// [`forgotten`](Self::forget).
    pub(crate) fn stop(&self, scope: &Scope) -> Option<Leaving> {
        let mut running = self.lock();
        let source = running.get_mut(scope)?;
        let removed = source.removed.clone();
        match source.task.take() {
            Some(task) => {
                source.stop.cancel();
                Some(Leaving::Now { task, removed })
            }
            None if source.again => {
                source.again = false;
                Some(Leaving::Already { removed })
            }
            None => None,
        }
    }

    /// Frees a scope. Whether it was asked for again meanwhile.
    pub(crate) fn forget(&self, scope: &Scope) -> bool {
        self.lock().remove(scope).is_some_and(|source| source.again)
    }

    /// Waits for all sources, which have been told to stop, and aborts those that do not end before
    /// the deadline, if there is one. Returns how many those were.
    pub(crate) async fn join(&self, deadline: Option<Instant>) -> usize {
        let sources: Vec<Source> = self.lock().drain().map(|(_, source)| source).collect();
        let mut aborted = 0;
        for mut task in sources.into_iter().filter_map(|source| source.task) {
            let ended = match deadline {
                Some(deadline) => tokio::time::timeout_at(deadline, &mut task).await.is_ok(),
                None => {
                    // An error is a panic that its own supervision has reported already.
                    drop((&mut task).await);
                    true
                }
            };
            if !ended {
                task.abort();
                aborted += 1;
            }
        }
        aborted
    }

    /// Ends all sources where they are.
    pub(crate) fn abort(&self) {
        let tasks = self
            .lock()
            .drain()
            .filter_map(|(_, source)| source.task)
            .collect::<Vec<_>>();
        tasks.iter().for_each(JoinHandle::abort);
    }

    /// Has the reflector of a scope fetch everything anew, reusing nothing (FM-40).
    pub(crate) fn repair(&self, scope: &Scope) {
        let running = self.lock();
        let control = running
            .get(scope)
            .and_then(|source| source.control.as_ref());
        control.inspect(|control| control.repair_now());
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

/// A source that has been told to end.
pub(crate) enum Leaving {
    /// By this call, whose caller waits for the task and then forgets the scope.
    Now {
        task: JoinHandle<()>,
        removed: CancellationToken,
    },
    /// By a call before.
    Already { removed: CancellationToken },
}
