//! Takes down what the handlers of one side are told, one chapter for each act.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use crate::told::{Objects, Tale, Told, difference};

/// Within which what handlers are told counts as one piece of news.
const BURST: Duration = Duration::from_millis(20);

/// One handler of one informer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Listener {
    pub(crate) watched: String,
    pub(crate) handler: String,
}

impl fmt::Display for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.watched, self.handler)
    }
}

/// What one handler was told since the last act.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chapter {
    /// What it had been told to be there before; `None` if it is new.
    pub(crate) before: Option<Objects>,
    pub(crate) tale: Tale,
}

/// What all handlers of one side were told.
#[derive(Default)]
pub(crate) struct Ledger {
    pages: Mutex<BTreeMap<Listener, Page>>,
    /// Changes whenever somebody is told something.
    told: watch::Sender<()>,
}

#[derive(Default)]
struct Page {
    chapter: Chapter,
    /// The fold of everything told.
    alive: Objects,
}

impl Ledger {
    pub(crate) fn take_down(&self, listener: &Listener, key: &str, told: Told) {
        self.with(|pages| {
            let page = match pages.get_mut(listener) {
                Some(page) => page,
                None => pages.entry(listener.clone()).or_default(),
            };
            match &told {
                Told::Added { new, .. } | Told::Updated { new, .. } => {
                    page.alive.insert(key.to_owned(), new.clone());
                }
                Told::Deleted { .. } | Told::Missed { .. } => drop(page.alive.remove(key)),
            }
            page.chapter
                .tale
                .entry(key.to_owned())
                .or_default()
                .push(told);
        });
        self.told.send_replace(());
    }

    /// Ends the act: what everybody was told in it.
    pub(crate) fn turn_over(&self) -> BTreeMap<Listener, Chapter> {
        self.with(|pages| {
            let turn = |(listener, page): (&Listener, &mut Page)| {
                let next = Chapter {
                    before: Some(page.alive.clone()),
                    tale: Tale::new(),
                };
                (listener.clone(), std::mem::replace(&mut page.chapter, next))
            };
            pages.iter_mut().map(turn).collect()
        })
    }

    /// Waits until every handler of an informer has been told exactly this to be there.
    pub(crate) async fn agree(
        &self,
        watched: &str,
        truth: &Objects,
        deadline: Instant,
    ) -> Result<(), String> {
        let mut told = self.told.subscribe();
        while let Some(text) = self.disagreement(watched, truth) {
            if !self.something_new(&mut told, deadline).await {
                return Err(text);
            }
        }
        Ok(())
    }

    fn disagreement(&self, watched: &str, truth: &Objects) -> Option<String> {
        self.with(|pages| {
            let mut pages = pages
                .iter()
                .filter(|(listener, _)| listener.watched == watched);
            pages.find_map(|(listener, page)| {
                let text = difference(truth, &page.alive)?;
                Some(format!("{watched}/{}: {text}", listener.handler))
            })
        })
    }

    /// Waits until a handler has been reminded of each of these objects so often in this act.
    pub(crate) async fn reminded(
        &self,
        listener: &Listener,
        objects: &Objects,
        times: usize,
        deadline: Instant,
    ) -> Result<(), String> {
        let mut told = self.told.subscribe();
        loop {
            let missing = self.with(|pages| {
                let tale = pages.get(listener).map(|page| &page.chapter.tale);
                let count = |key: &String| {
                    let told = tale.and_then(|tale| tale.get(key)).into_iter().flatten();
                    told.filter(|told| told.is_reminder()).count()
                };
                objects.keys().filter(|key| count(key) < times).count()
            });
            if missing == 0 {
                return Ok(());
            }
            if !self.something_new(&mut told, deadline).await {
                return Err(format!("{listener} was not reminded of {missing} objects"));
            }
        }
    }

    /// Waits for more; false if none came in time. Looking at everything is dear, so a burst is
    /// one piece of news.
    async fn something_new(&self, told: &mut watch::Receiver<()>, deadline: Instant) -> bool {
        let more = tokio::time::timeout_at(deadline, told.changed()).await;
        tokio::time::sleep(BURST).await;
        told.mark_unchanged();
        more.is_ok()
    }

    fn with<R>(&self, look: impl FnOnce(&mut BTreeMap<Listener, Page>) -> R) -> R {
        look(&mut self.pages.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
