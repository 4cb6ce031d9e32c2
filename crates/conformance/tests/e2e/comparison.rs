//! The judge: what a handler was told against what really happened, and against what a handler of
//! the other side was told.
//!
//! | question | asked by | when |
//! | --- | --- | --- |
//! | is it a walk through the history, each old the last new, never back? | [`walk`] | always |
//! | is it the whole history, nothing left out, nothing twice? | [`whole`] | no connection broke |
//! | are both sides equal, but for rows of `docs/DIVERGENCES.md`? | [`agree`] | both saw the same |

use std::collections::BTreeSet;

use crate::history::{Turn, View};
use crate::told::{Identity, Objects, Tale, Told, line};

/// How many findings are worth reading.
const ENOUGH: usize = 10;

/// Which of the two wrote the tale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    ClientGo,
    Ours,
}

/// What a walk may do beside following the history.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Law {
    pub(crate) side: Side,
    /// The handler asked to be reminded.
    pub(crate) reminded: bool,
    /// The connection broke: steps may be missing, and a relist may follow.
    pub(crate) gap: bool,
    /// Even the recorder missed something: an end may have a version that nobody wrote down.
    pub(crate) holes: bool,
}

/// What was seen, and what was wrong.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    /// Notifications, reminders left out.
    pub(crate) events: usize,
    pub(crate) reminders: usize,
    /// Changes that were told as part of a later one, or never.
    pub(crate) skipped: usize,
    /// How often a rule of `docs/DIVERGENCES.md` explained a difference.
    pub(crate) ruled: usize,
    pub(crate) breaches: Vec<String>,
}

impl Findings {
    fn breach(&mut self, key: &str, text: &str) {
        if self.breaches.len() < ENOUGH {
            self.breaches.push(format!("{key}: {text}"));
        }
    }
}

/// Whether a tale is a walk through the history that begins with what the handler knew before.
pub(crate) fn walk(before: &Objects, tale: &Tale, view: &View, law: Law) -> Findings {
    let mut findings = Findings::default();
    for (key, told) in tale {
        let turns = view.get(key).map_or(&[][..], Vec::as_slice);
        let mut walk = Walk {
            turns,
            law,
            alive: before.get(key).cloned(),
            newest: before.get(key).map_or(0, |known| known.version),
        };
        for told in told {
            if told.is_reminder() {
                findings.reminders += 1;
            } else {
                findings.events += 1;
            }
            match walk.step(told) {
                Ok(skipped) => findings.skipped += skipped,
                Err(text) => findings.breach(key, &format!("{told}: {text}")),
            }
        }
    }
    findings
}

struct Walk<'a> {
    turns: &'a [Turn],
    law: Law,
    alive: Option<Identity>,
    newest: u64,
}

impl Walk<'_> {
    /// Takes one step, even a wrong one; answers with how many turns it left out.
    fn step(&mut self, told: &Told) -> Result<usize, String> {
        let before = self.alive.take();
        let to = told.identity().clone();
        self.alive = match told {
            Told::Added { .. } | Told::Updated { .. } => Some(to.clone()),
            Told::Deleted { .. } | Told::Missed { .. } => None,
        };
        let newest = self.newest;
        self.newest = newest.max(to.version);
        match (told, before) {
            (Told::Added { .. }, Some(before)) => Err(format!("{before} is alive")),
            (Told::Added { .. }, None) if to.version <= newest => {
                Err(format!("{newest} was told before"))
            }
            (Told::Added { .. }, None) => self.turn(&to, true),
            (_, None) => Err("nothing is alive".to_owned()),
            (Told::Updated { old, .. }, Some(before)) if *old != before => {
                Err(format!("what was told before is {before}"))
            }
            (Told::Updated { .. }, Some(before)) => self.update(&before, &to, told),
            (Told::Deleted { .. }, Some(before)) => self.end(&before, &to),
            (Told::Missed { .. }, Some(before)) if before != to => {
                Err(format!("what was told before is {before}"))
            }
            (Told::Missed { .. }, Some(_)) if !self.law.gap => Err("nothing was missed".to_owned()),
            (Told::Missed { .. }, Some(_)) => Ok(()),
        }?;
        // A walk that joins in begins somewhere; only what lies between two steps is left out.
        let between = |turn: &&Turn| newest < turn.at.version && turn.at.version < to.version;
        let skipped = self.turns.iter().filter(between).count();
        match (newest, skipped) {
            (0, _) | (_, 0) => Ok(0),
            _ if !self.law.gap => Err(format!("{skipped} changes since {newest} were left out")),
            _ => Ok(skipped),
        }
    }

    fn update(&self, before: &Identity, to: &Identity, told: &Told) -> Result<(), String> {
        if told.is_reminder() {
            // A relist of client-go's announces what did not change (D-04).
            let relist = self.law.gap && self.law.side == Side::ClientGo;
            let asked = self.law.reminded || relist;
            return asked.then_some(()).ok_or("nobody asked for it".to_owned());
        }
        if to.version <= before.version {
            return Err("it goes back".to_owned());
        }
        // Two lives in a gap are one update to client-go (D-05).
        let joined = self.law.gap && self.law.side == Side::ClientGo;
        if to.uid != before.uid && !joined {
            return Err("one life became another".to_owned());
        }
        self.turn(to, true)
    }

    fn end(&self, before: &Identity, last: &Identity) -> Result<(), String> {
        if last.version <= before.version {
            return Err("it goes back".to_owned());
        }
        if last.uid != before.uid {
            return Err(format!("{before} is another life"));
        }
        let known = self.turn(last, false);
        if known.is_ok() || !self.law.holes {
            return known;
        }
        // An end nobody wrote down lies behind everything that is known of its life.
        let later = |turn: &&Turn| turn.at.uid == last.uid && turn.at.version >= last.version;
        match self.turns.iter().find(later) {
            Some(turn) => Err(format!("{} lived on", turn.at)),
            None => Ok(()),
        }
    }

    fn turn(&self, at: &Identity, present: bool) -> Result<(), String> {
        let found = self
            .turns
            .iter()
            .any(|turn| turn.at == *at && turn.present == present);
        found
            .then_some(())
            .ok_or("the server never said so".to_owned())
    }
}

/// Where a tale begins that is to be whole.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Start<'a> {
    /// The handler knew all this, and the history up to this version.
    Knowing(&'a Objects, u64),
    /// The handler is new: it begins anywhere, once for each key, and misses nothing after that.
    Joining {
        /// It came while nothing happened: whatever it is told first is initial.
        in_peace: bool,
    },
}

/// Whether a tale is the history from its beginning on, without anything left out.
pub(crate) fn whole(start: Start<'_>, tale: &Tale, view: &View) -> Findings {
    let mut findings = Findings::default();
    let none = Vec::new();
    let keys: BTreeSet<&String> = tale.keys().chain(view.keys()).collect();
    for key in keys {
        let told: Vec<&Told> = {
            let told = tale.get(key).unwrap_or(&none).iter();
            told.filter(|told| !told.is_reminder()).collect()
        };
        findings.events += told.len();
        let turns = view.get(key).map_or(&[][..], Vec::as_slice);
        let expected = match start {
            Start::Knowing(before, version) => continued(before.get(key).cloned(), version, turns),
            Start::Joining { in_peace } => joined(&told, turns, in_peace),
        };
        if !told.iter().copied().eq(&expected) {
            let is = line(&told.into_iter().cloned().collect::<Vec<_>>());
            findings.breach(key, &format!("[{is}], should be [{}]", line(&expected)));
        }
    }
    findings
}

fn continued(mut alive: Option<Identity>, version: u64, turns: &[Turn]) -> Vec<Told> {
    let mut expected = Vec::new();
    let version = alive
        .as_ref()
        .map_or(version, |alive| version.max(alive.version));
    for turn in turns.iter().filter(|turn| turn.at.version > version) {
        let (new, last) = (turn.at.clone(), turn.at.clone());
        expected.push(match alive.take() {
            _ if !turn.present => Told::Deleted { last },
            Some(old) => Told::Updated { old, new },
            None => Told::Added {
                new,
                initial: false,
            },
        });
        alive = turn.present.then(|| turn.at.clone());
    }
    expected
}

/// What follows from the first thing told; if nothing was told, nothing may be there in the end.
fn joined(told: &[&Told], turns: &[Turn], in_peace: bool) -> Vec<Told> {
    let end = turns.last().filter(|turn| turn.present);
    let first = match (told.first(), end) {
        (Some(Told::Added { new, initial }), _) => Some((new.clone(), *initial || in_peace)),
        (_, Some(end)) => Some((end.at.clone(), in_peace)),
        (_, None) => None,
    };
    let Some((new, initial)) = first else {
        return Vec::new();
    };
    let is_first = |turn: &Turn| turn.present && turn.at == new;
    if !turns.iter().any(is_first) {
        return Vec::new();
    }
    let rest = continued(Some(new.clone()), new.version, turns);
    std::iter::once(Told::Added { new, initial })
        .chain(rest)
        .collect()
}

/// Whether two tales are equal, after the rules have turned client-go's into ours.
pub(crate) fn agree(theirs: &Tale, ours: &Tale, except: &BTreeSet<String>) -> Findings {
    let mut findings = Findings::default();
    let none = Vec::new();
    let keys: BTreeSet<&String> = theirs.keys().chain(ours.keys()).collect();
    for key in keys.into_iter().filter(|key| !except.contains(*key)) {
        let theirs = theirs.get(key).unwrap_or(&none);
        findings.reminders += theirs.iter().filter(|told| told.is_reminder()).count();
        let theirs = without_reminders(theirs);
        let (expected, ruled) = two_lives(theirs);
        let ours = without_reminders(ours.get(key).unwrap_or(&none));
        findings.events += ours.len();
        findings.ruled += ruled;
        if expected != ours {
            let (theirs, ours) = (line(&expected), line(&ours));
            findings.breach(key, &format!("client-go: [{theirs}], ours: [{ours}]"));
        }
    }
    findings
}

/// D-04, and resyncs, whose number is a matter of time.
fn without_reminders(told: &[Told]) -> Vec<Told> {
    let told = told.iter().filter(|told| !told.is_reminder());
    told.cloned().collect()
}

/// D-05: an update whose uids differ is an end that nobody saw, and a beginning.
fn two_lives(told: Vec<Told>) -> (Vec<Told>, usize) {
    let (mut split, mut ruled) = (Vec::new(), 0);
    for told in told {
        match told {
            Told::Updated { old, new } if old.uid != new.uid => {
                ruled += 1;
                split.push(Told::Missed { last: old });
                split.push(Told::Added {
                    new,
                    initial: false,
                });
            }
            other => split.push(other),
        }
    }
    (split, ruled)
}
