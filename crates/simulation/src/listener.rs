//! Handlers that write down what they are told, each with a manner of its own.

use std::{
    panic::resume_unwind,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use futures::StreamExt;
use informer_factory::{
    Added, AsyncHandler, Cause, Deleted, Event, Handler, ListenerConfig, Notification, ObjectKey,
    Overflow, Registration, SharedInformer, Updated, reflector::Phase,
};
use tokio::time::{Instant, sleep, sleep_until};

use crate::{
    canary,
    object::{Content, Sighting},
    plan::{ListenerPlan, Manner},
};

type News<T> = Notification<ObjectKey, T>;

/// One notification, as it was told.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) at: Duration,
    pub(crate) key: ObjectKey,
    pub(crate) what: What,
    /// What the store held for the key meanwhile, where the handler looked.
    pub(crate) in_store: Option<Option<Sighting>>,
}

#[derive(Clone, Debug)]
pub(crate) enum What {
    Added {
        new: Sighting,
        initial: bool,
    },
    Updated {
        old: Sighting,
        new: Sighting,
        cause: Cause,
    },
    Deleted {
        last: Option<Sighting>,
        is_known: bool,
    },
}

impl What {
    pub(crate) fn of<T: Content>(news: &News<T>) -> Self {
        match news {
            Notification::Added(Added {
                object, initial, ..
            }) => Self::Added {
                new: Sighting::of(object),
                initial: *initial,
            },
            Notification::Updated(Updated {
                old, new, cause, ..
            }) => Self::Updated {
                old: Sighting::of(old),
                new: Sighting::of(new),
                cause: *cause,
            },
            Notification::Deleted(deleted) => Self::Deleted {
                last: deleted.last().map(Sighting::of),
                is_known: !matches!(deleted, Deleted::Unknown { .. }),
            },
        }
    }
}

impl Told {
    /// The state the handler knows afterwards.
    pub(crate) fn state(&self) -> Option<&Sighting> {
        match &self.what {
            What::Added { new, .. } | What::Updated { new, .. } => Some(new),
            What::Deleted { .. } => None,
        }
    }

    /// All objects that it was told of or looked at.
    pub(crate) fn sightings(&self) -> impl Iterator<Item = &Sighting> {
        let told = match &self.what {
            What::Added { new, .. } => [Some(new), None],
            What::Updated { old, new, .. } => [Some(old), Some(new)],
            What::Deleted { last, .. } => [last.as_ref(), None],
        };
        let in_store = self.in_store.iter().flatten();
        told.into_iter().flatten().chain(in_store)
    }

    pub(crate) fn is_resync(&self) -> bool {
        matches!(
            self.what,
            What::Updated {
                cause: Cause::Resync,
                ..
            }
        )
    }
}

/// What one handler writes into, and the run reads from.
#[derive(Debug, Default)]
pub(crate) struct Notebook {
    told: Mutex<Vec<Told>>,
    /// In which phases of a source it was told something.
    phases: Mutex<Vec<Phase>>,
    is_busy: AtomicBool,
    pub(crate) overlaps: AtomicU64,
    pub(crate) panics: AtomicU64,
}

impl Notebook {
    pub(crate) fn told(&self) -> MutexGuard<'_, Vec<Told>> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn phases(&self) -> MutexGuard<'_, Vec<Phase>> {
        self.phases.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self) {
        if self.is_busy.swap(true, Ordering::Relaxed) {
            self.overlaps.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn leave(&self) {
        self.is_busy.store(false, Ordering::Relaxed);
    }
}

/// A handler of the simulation; the same for all manners.
struct Scribe<T: Content> {
    manner: Manner,
    notebook: Arc<Notebook>,
    start: Instant,
    informer: SharedInformer<T>,
    registration: Arc<OnceLock<Registration>>,
}

impl<T: Content> Scribe<T> {
    /// Writes a notification down; how many there are with it.
    fn write(&self, news: &News<T>) -> u64 {
        canary::shows("informer notification", news);
        let (key, what) = (news.key().clone(), What::of(news));
        let looks = matches!(self.manner, Manner::Reenters(_));
        let look = || {
            let held = self.informer.lister().get(key.as_str());
            held.as_ref().map(Sighting::of)
        };
        let in_store = looks.then(look);
        if self.manner.fault().is_some() {
            let mut phases = self.notebook.phases();
            for source in self.informer.status().sources {
                if !phases.contains(&source.phase) {
                    phases.push(source.phase);
                }
            }
        }
        let at = self.start.elapsed();
        let mut told = self.notebook.told();
        told.push(Told {
            at,
            key,
            what,
            in_store,
        });
        told.len() as u64
    }
}

impl<T: Content> Handler<ObjectKey, T> for Scribe<T> {
    fn on_notification(&mut self, news: &News<T>) {
        self.notebook.enter();
        let count = self.write(news);
        self.notebook.leave();
        match self.manner {
            Manner::Panics(every) if count.is_multiple_of(every) => {
                self.notebook.panics.fetch_add(1, Ordering::Relaxed);
                // Not `panic!`, which would also print.
                resume_unwind(Box::new("planned"));
            }
            Manner::Reenters(last) => {
                let _status = self.informer.status();
                if count == last
                    && let Some(registration) = self.registration.get()
                {
                    registration.remove_now();
                }
            }
            _ => {}
        }
    }
}

impl<T: Content> AsyncHandler<ObjectKey, T> for Scribe<T> {
    async fn on_notification(&mut self, news: Event<T>) {
        self.notebook.enter();
        self.write(&news);
        match self.manner {
            Manner::Slow(time) => sleep(time).await,
            Manner::Blocked(from, until) if self.start.elapsed() >= from => {
                sleep_until(self.start + until).await;
            }
            _ => {}
        }
        self.notebook.leave();
    }
}

/// A handler that has joined.
pub(crate) struct Joined {
    pub(crate) notebook: Arc<Notebook>,
    pub(crate) registration: Registration,
    /// Reads the stream, where it is one.
    pub(crate) reader: Option<tokio::task::JoinHandle<()>>,
}

/// Lets a handler join; `None` if the informer has ended.
pub(crate) fn join<T: Content>(
    informer: &SharedInformer<T>,
    plan: ListenerPlan,
    start: Instant,
) -> Option<Joined> {
    let mut config = ListenerConfig::named(format!("{:?}", plan.manner));
    if plan.coalesces {
        config = config.overflow(Overflow::Coalesce);
    }
    config.resync = plan.resync;
    let notebook = Arc::new(Notebook::default());
    let scribe = Scribe {
        manner: plan.manner,
        notebook: Arc::clone(&notebook),
        start,
        informer: informer.clone(),
        registration: Arc::default(),
    };
    let own = Arc::clone(&scribe.registration);
    let mut reader = None;
    let registration = match plan.manner {
        Manner::Fast | Manner::Panics(_) | Manner::Reenters(_) => {
            informer.add_handler_with(scribe, config).ok()?
        }
        Manner::Slow(_) | Manner::Blocked(..) => informer.add_async_handler(scribe, config).ok()?,
        Manner::Stream(pause) => {
            let (registration, mut stream) = informer.events(config).ok()?;
            let read = async move {
                while let Some(news) = stream.next().await {
                    scribe.write(&news);
                    sleep(pause).await;
                }
            };
            reader = Some(tokio::spawn(read));
            registration
        }
    };
    // Set once; it is the only one that sets it.
    drop(own.set(registration.clone()));
    Some(Joined {
        notebook,
        registration,
        reader,
    })
}
