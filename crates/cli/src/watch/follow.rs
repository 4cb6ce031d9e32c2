//! One informer from its start to its end: lines on stdout, everything else on stderr.

use std::io;
use std::time::Duration;

use futures::StreamExt;
use informer_factory::{
    Grace, ListenerConfig, Registration, SharedInformer, SharedInformerFactory,
};
use tokio::sync::watch;
use tokio::time::Instant;

use super::line::Lines;
use super::printable::ToJson;
use super::printer::{Ended, Printer};
use crate::cluster::explain::{self, Subject};
use crate::escape;
use crate::failure::Failure;
use crate::screen::Screen;
use crate::signals;

/// How long the first list may take before those who hold it up are named.
const SYNC_TIMEOUT: Duration = Duration::from_secs(30);

/// How long what waits may be printed after the end.
const GRACE: Duration = Duration::from_secs(2);

/// How many quarantined objects are named.
const SHOWN_QUARANTINED: usize = 5;

/// What to follow, and until when.
#[derive(Clone, Debug)]
pub(super) struct Following {
    pub(super) lines: Lines,
    /// `pods`, `widgets.example.com`
    pub(super) resource: String,
    /// `in namespace x`, or empty
    pub(super) scope: String,
    pub(super) until_synced: bool,
    pub(super) end: Option<Instant>,
    pub(super) screen: Screen,
}

/// Why it ends.
enum End {
    /// Everything there is was printed, and that was all that was asked for.
    Synced,
    /// The time is up, or somebody asked.
    Asked,
    /// Stdout has ended.
    Stdout(Ended),
    /// It cannot go on.
    Failed(Failure),
}

impl Following {
    /// Prints until there is a reason to end.
    pub(super) async fn follow<T>(
        &self,
        factory: &SharedInformerFactory,
        informer: &SharedInformer<T>,
    ) -> Result<(), Failure>
    where
        T: ToJson,
    {
        let failed = |error: &dyn std::error::Error| Failure::failed(error.to_string());
        let (printer, ended) = Printer::new(self.lines, io::stdout());
        let config = ListenerConfig::named("printer");
        let printer = informer.add_blocking_handler(printer, config);
        let printer = printer.map_err(|e| failed(&e))?;
        factory.start().map_err(|e| failed(&e))?;
        let troubles = tokio::spawn(tell_troubles(self.clone(), informer.clone()));

        let end = tokio::select! {
            end = self.until_end(informer, &printer) => end,
            () = signals::end() => End::Asked,
            () = time_up(self.end) => End::Asked,
            ended = stdout_ended(ended.clone()) => End::Stdout(ended),
        };
        troubles.abort();
        let grace = match &end {
            End::Synced | End::Asked => Grace(GRACE),
            End::Stdout(_) | End::Failed(_) => Grace::none(),
        };
        factory.shutdown(grace).await.map_err(|e| failed(&e))?;
        self.result(end, informer.is_synced(), &ended)
    }

    /// Ends by itself only with `--until-synced`.
    async fn until_end<T>(&self, informer: &SharedInformer<T>, printer: &Registration) -> End
    where
        T: Send + Sync + 'static,
    {
        let synced = tokio::select! {
            synced = informer.wait_synced(SYNC_TIMEOUT) => synced,
            failure = self.lasting_failure(informer) => return End::Failed(failure),
        };
        if let Err(error) = synced {
            let text = explain::not_synced(self.subject(), &error);
            if self.until_synced {
                return End::Failed(Failure::failed(text));
            }
            self.screen.say(&format!("{text}\n  Trying on."));
        }
        if printer.wait_synced(Duration::MAX).await.is_err() {
            // Only a printer that was removed never syncs, and nobody removes it.
            return End::Asked;
        }
        self.tell_synced(informer);
        if self.until_synced {
            return End::Synced;
        }
        std::future::pending().await
    }

    /// With `--until-synced` there is no point in waiting for what does not come by itself.
    async fn lasting_failure<T>(&self, informer: &SharedInformer<T>) -> Failure
    where
        T: Send + Sync + 'static,
    {
        let mut statuses = std::pin::pin!(informer.status_stream());
        while let Some(status) = statuses.next().await {
            let cause = explain::lasting_failure(&status.sources);
            if let Some(cause) = cause.filter(|_| self.until_synced) {
                return Failure::failed(explain::trouble(self.subject(), cause));
            }
        }
        std::future::pending().await
    }

    fn tell_synced<T: Send + Sync + 'static>(&self, informer: &SharedInformer<T>) {
        let quarantined = informer.quarantined();
        for bad in quarantined.iter().take(SHOWN_QUARANTINED) {
            let text = format!("cannot read {}: {}", bad.key, bad.reason);
            self.screen.say(&escape::text(&text));
        }
        if quarantined.len() > SHOWN_QUARANTINED {
            let more = quarantined.len() - SHOWN_QUARANTINED;
            self.screen
                .say(&format!("and {more} more that cannot be read"));
        }
        self.screen
            .say(&format!("synced {} objects", informer.reader().len()));
    }

    fn result(
        &self,
        end: End,
        synced: bool,
        ended: &watch::Receiver<Ended>,
    ) -> Result<(), Failure> {
        // What waited was printed after the decision to end, and may have met the end of stdout.
        let stdout = match &end {
            End::Stdout(ended) => ended.clone(),
            End::Synced | End::Asked | End::Failed(_) => ended.borrow().clone(),
        };
        match (end, stdout) {
            (End::Failed(failure), _) => Err(failure),
            (_, Ended::Failed(error)) => {
                Err(Failure::failed(format!("cannot write to stdout: {error}")))
            }
            (_, Ended::BrokenPipe) => Ok(()),
            (End::Synced | End::Stdout(_), Ended::No) => Ok(()),
            (End::Asked, Ended::No) if synced => Ok(()),
            (End::Asked, Ended::No) => Err(Failure::failed(format!(
                "ended before {} were listed for the first time",
                self.resource
            ))),
        }
    }

    fn subject(&self) -> Subject<'_> {
        Subject {
            resource: &self.resource,
            scope: &self.scope,
        }
    }
}

/// Says whenever a source begins to fail in another way, and when it works again.
async fn tell_troubles<T>(following: Following, informer: SharedInformer<T>)
where
    T: Send + Sync + 'static,
{
    let mut told: Vec<(String, String)> = Vec::new();
    let mut statuses = std::pin::pin!(informer.status_stream());
    while let Some(status) = statuses.next().await {
        for source in &status.sources {
            let place = told.iter().position(|(name, _)| **name == *source.source);
            match (&source.failure, place) {
                (None, None) => {}
                (None, Some(place)) => {
                    told.swap_remove(place);
                    let what = escape::text(&source.source);
                    following.screen.say(&format!("{what} answers again"));
                }
                (Some(cause), place) => {
                    let kind = format!("{:?} {:?}", cause.kind, cause.code);
                    let known = place.is_some_and(|place| told[place].1 == kind);
                    // With --until-synced the same is said at the end.
                    let last_word = following.until_synced && explain::is_lasting(cause.kind);
                    if !known && !last_word {
                        let text = explain::trouble(following.subject(), cause);
                        following.screen.say(&text);
                    }
                    let entry = (source.source.to_string(), kind);
                    match place {
                        Some(place) => told[place] = entry,
                        None => told.push(entry),
                    }
                }
            }
        }
    }
}

async fn time_up(end: Option<Instant>) {
    match end {
        Some(end) => tokio::time::sleep_until(end).await,
        None => std::future::pending().await,
    }
}

async fn stdout_ended(mut ended: watch::Receiver<Ended>) -> Ended {
    let ended = ended
        .wait_for(|ended| !matches!(ended, Ended::No))
        .await
        .map(|e| e.clone());
    match ended {
        Ok(ended) => ended,
        // The printer is gone; whoever ended it says why.
        Err(_) => std::future::pending().await,
    }
}
