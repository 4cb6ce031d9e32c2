//! Ends an act: asks everything that can be asked of what was told in it, and counts.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::comparison::{Findings, Law, Side, Start, agree, walk, whole};
use crate::history::View;
use crate::ledger::{Chapter, Listener};
use crate::stage::{Stage, Versions};
use crate::watched::REMINDED;

/// The name of a handler that joins while objects change: where it begins is a matter of luck.
pub(crate) const UNDER_LOAD: &str = "under-load";

/// What may happen to the connections in an act.
#[derive(Clone, Debug)]
pub(crate) enum Weather {
    /// Handlers may be new, and nothing changes, but for markers after these versions.
    Peace(Versions),
    /// No connection breaks.
    Calm,
    /// They were cut, and nothing was changed until these versions but behind everybody's back.
    Gap(Versions),
    /// The server died while it was busy.
    Fault,
}

/// One side's chapters of an act.
type Chapters = BTreeMap<Listener, Chapter>;

/// What the handlers of one informer should have been told.
struct Expectation {
    view: View,
    /// The newest version of the act before.
    known: u64,
    /// Keys that were changed while the two sides need not have seen the same.
    except: BTreeSet<String>,
}

/// What was found so far.
#[derive(Default)]
pub(crate) struct Verdict {
    /// Every side against the history, by act and side.
    alone: Vec<(String, Findings)>,
    /// Both sides against each other, by handler, over all pairs and acts.
    both: BTreeMap<Listener, Findings>,
}

impl Verdict {
    /// Ends an act.
    pub(crate) fn judge(&mut self, stage: &Stage, when: &str, known: &Versions, weather: &Weather) {
        let expected = expectations(stage, known, weather);
        let (mut theirs, mut ours) = (Vec::<Chapters>::new(), Vec::<Chapters>::new());
        for (name, side, ledger) in stage.ledgers() {
            let chapters = ledger.turn_over();
            let mut total = Findings::default();
            for (listener, chapter) in &chapters {
                let found = alone(
                    side,
                    listener,
                    chapter,
                    &expected[&*listener.watched],
                    weather,
                );
                must_be_good(when, name, listener, &found);
                add(&mut total, &found);
            }
            self.alone.push((format!("{when}: {name}"), total));
            match side {
                Side::ClientGo => theirs.push(chapters),
                Side::Ours => ours.push(chapters),
            }
        }
        if matches!(weather, Weather::Fault) {
            // Each side saw its own part of it.
            return;
        }
        for theirs in &theirs {
            for ours in &ours {
                self.judge_pair(when, &expected, theirs, ours);
            }
        }
    }

    fn judge_pair(
        &mut self,
        when: &str,
        expected: &BTreeMap<&str, Expectation>,
        theirs: &Chapters,
        ours: &Chapters,
    ) {
        assert!(
            theirs.keys().eq(ours.keys()),
            "both sides have the same handlers"
        );
        for (listener, chapter) in theirs {
            if listener.handler == UNDER_LOAD && chapter.before.is_none() {
                continue;
            }
            let except = &expected[&*listener.watched].except;
            let found = agree(&chapter.tale, &ours[listener].tale, except);
            must_be_good(when, "both", listener, &found);
            add(self.both.entry(listener.clone()).or_default(), &found);
        }
    }

    /// A rule that never fires explains nothing.
    ///
    /// Of what a relist leaves unchanged, client-go tells all handlers of an informer (D-04), but
    /// where some ask for resyncs only those.
    pub(crate) fn check_rules(&self, stage: &Stage) {
        for watched in &stage.watched {
            let handlers = self
                .both
                .iter()
                .filter(|(of, _)| of.watched == watched.name);
            for (listener, found) in handlers {
                assert!(found.ruled > 0, "D-05 was not needed by {listener}");
                let is_told = !watched.reminded || listener.handler == REMINDED;
                assert_eq!(found.reminders > 0, is_told, "D-04 and {listener}");
            }
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "against the history:")?;
        for (name, found) in &self.alone {
            let (events, reminders, skipped) = (found.events, found.reminders, found.skipped);
            writeln!(
                f,
                "  {name:<60} {events:>6} events {reminders:>6} reminders {skipped:>6} skipped"
            )?;
        }
        writeln!(f, "client-go against ours, over four pairs:")?;
        for (listener, found) in &self.both {
            let name = listener.to_string();
            let (events, same, lives) = (found.events, found.reminders, found.ruled);
            writeln!(
                f,
                "  {name:<28} {events:>6} events equal, after {same:>6} by D-04 or a resync and \
                 {lives:>5} by D-05"
            )?;
        }
        Ok(())
    }
}

fn expectations<'a>(
    stage: &'a Stage,
    known: &Versions,
    weather: &Weather,
) -> BTreeMap<&'a str, Expectation> {
    let expected = stage.watched.iter().map(|watched| {
        let plural = &watched.resource.plural;
        let view = stage.annals[plural].view(&watched.scope);
        let except = match weather {
            Weather::Peace(from) | Weather::Gap(from) => changed_after(&view, from[plural]),
            Weather::Calm | Weather::Fault => BTreeSet::new(),
        };
        let expectation = Expectation {
            view,
            known: known[plural],
            except,
        };
        (watched.name, expectation)
    });
    expected.collect()
}

/// What can be asked of one handler without the other side.
fn alone(
    side: Side,
    listener: &Listener,
    chapter: &Chapter,
    expected: &Expectation,
    weather: &Weather,
) -> Findings {
    let law = Law {
        side,
        reminded: listener.handler == REMINDED,
        gap: matches!(weather, Weather::Gap(_) | Weather::Fault),
        holes: matches!(weather, Weather::Fault),
    };
    let before = chapter.before.clone().unwrap_or_default();
    let mut found = walk(&before, &chapter.tale, &expected.view, law);
    if !law.gap {
        let start = match &chapter.before {
            Some(before) => Start::Knowing(before, expected.known),
            None => Start::Joining {
                in_peace: matches!(weather, Weather::Peace(_)),
            },
        };
        let whole = whole(start, &chapter.tale, &expected.view);
        found.breaches.extend(whole.breaches);
    }
    found
}

fn changed_after(view: &View, version: u64) -> BTreeSet<String> {
    let changed = view
        .iter()
        .filter(|(_, turns)| turns.last().is_some_and(|turn| turn.at.version > version));
    changed.map(|(key, _)| key.clone()).collect()
}

fn must_be_good(when: &str, who: &str, listener: &Listener, found: &Findings) {
    let breaches = &found.breaches;
    assert!(
        breaches.is_empty(),
        "{when}: {who}: {listener}: {breaches:#?}"
    );
}

fn add(total: &mut Findings, found: &Findings) {
    total.events += found.events;
    total.reminders += found.reminders;
    total.skipped += found.skipped;
    total.ruled += found.ruled;
}
