//! All short sequences of answers, sensible or not: 22 letters, from four starts (T7).
//!
//! No server stands behind these answers, so what is checked is what holds whatever is said: one
//! thing in flight, one thing waited for, versions from accepted emissions only, silence after the
//! end.

use std::time::Duration;

use super::model::{item, version};
use crate::{
    Config, Demand, Effect, Emission, Epoch, Failure, FailureKind, Input, Machine, Page, Phase,
    Report, ResourceVersion, WatchEvent,
};

const LETTERS: usize = 22;

fn failure(kind: FailureKind) -> Failure {
    Failure::new(kind, "Letter", "")
}

fn page(at: u64, more: bool) -> Input<()> {
    Input::Page(Ok(Page {
        items: vec![item(1, 1), item(2, 2)],
        version: version(at),
        continue_token: more.then(|| "t".into()),
        remaining: None,
    }))
}

fn letter(n: usize) -> Input<()> {
    let event = |event| Input::Event(Ok(event));
    let bookmark = |at, initial_events_end| WatchEvent::Bookmark {
        version: version(at),
        initial_events_end,
    };
    match n {
        0 => page(5, false),
        1 => page(5, true),
        2 => page(3, false),
        3 => Input::Page(Err(failure(FailureKind::Expired))),
        4 => Input::Page(Err(failure(FailureKind::TooBig))),
        5 => Input::WatchOpened(Ok(())),
        6 => Input::WatchOpened(Err(failure(FailureKind::TooLarge))),
        7 => Input::WatchOpened(Err(failure(FailureKind::Throttled))),
        8 => event(WatchEvent::Added(item(3, 6))),
        9 => event(WatchEvent::Modified(item(1, 4))),
        10 => event(WatchEvent::Deleted(item(1, 2))),
        11 => event(WatchEvent::Deleted(item(9, 9))),
        12 => event(bookmark(7, false)),
        13 => event(bookmark(8, true)),
        14 => event(WatchEvent::Error(failure(FailureKind::Expired))),
        15 => Input::Event(Err(failure(FailureKind::Protocol))),
        16 => Input::StreamEnded,
        17 => Input::Panicked,
        18 => Input::Timer,
        19 => Input::Demand(Demand::Retry),
        20 => Input::Demand(Demand::Relist),
        21 => Input::Stop,
        _ => unreachable!("{LETTERS} letters"),
    }
}

struct Watcher {
    machine: Machine<()>,
    now: Duration,
    in_flight: bool,
    received: Option<ResourceVersion>,
    told: Phase,
}

impl Watcher {
    fn new(streaming: bool) -> Self {
        let config = Config {
            streaming,
            ..Config::default()
        };
        let mut watcher = Self {
            machine: Machine::new(config, 5),
            now: Duration::ZERO,
            in_flight: false,
            received: None,
            told: Phase::Created,
        };
        watcher.step(Input::Start);
        watcher
    }

    fn step(&mut self, input: Input<()>) {
        if matches!(input, Input::Timer) {
            self.now = self.machine.deadline().unwrap_or(self.now);
        }
        // A source that has said its last word is no longer in flight.
        self.in_flight &= !matches!(
            input,
            Input::Page(_)
                | Input::WatchOpened(Err(_))
                | Input::Event(Err(_))
                | Input::StreamEnded
                | Input::Panicked
        ) || !self.fits(&input);
        let stopped = self.machine.phase() == Phase::Stopped;
        let mut effects = Vec::new();
        self.machine.step(self.now, input, &mut effects);
        assert!(!stopped || effects.is_empty(), "silence after the end");
        let failed = |effect: &&Effect<()>| matches!(effect, Effect::Report(Report::Failed { .. }));
        assert!(effects.iter().filter(failed).count() <= 1, "RFX-13: once");
        let mut emitted = None;
        for effect in effects {
            assert!(emitted.is_none(), "an emission is the last effect");
            match effect {
                Effect::Abandon => self.in_flight = false,
                Effect::List(_) | Effect::Watch(_) => {
                    assert!(!self.in_flight, "one thing in flight");
                    self.in_flight = true;
                    if let Effect::Watch(request) = &effect
                        && !request.sends_initial_events()
                    {
                        assert_eq!(Some(&request.version), self.received.as_ref(), "RFX-4");
                    }
                }
                Effect::Emit(emission) => emitted = Some(emission),
                Effect::Report(Report::Phase(phase)) => self.told = phase,
                Effect::Report(_) => {}
            }
        }
        assert_eq!(
            self.told,
            self.machine.phase(),
            "every change of phase is told"
        );
        match emitted {
            Some(emission) => self.take(&emission),
            None => self.waits_for_one_thing(),
        }
    }

    /// Whether the machine takes this as the answer to what is in flight.
    fn fits(&self, input: &Input<()>) -> bool {
        let phase = self.machine.phase();
        match input {
            Input::Page(_) => phase == Phase::Listing,
            Input::WatchOpened(_) => matches!(phase, Phase::Streaming | Phase::OpeningWatch),
            Input::Event(_) | Input::StreamEnded => {
                matches!(phase, Phase::Streaming | Phase::Watching)
            }
            Input::Panicked => !matches!(phase, Phase::BackingOff),
            _ => false,
        }
    }

    /// Nothing moves while the sink takes an emission; then the version is what it said (RFX-2).
    fn take(&mut self, emission: &Emission<()>) {
        for other in [letter(18), letter(8), letter(16), letter(0), letter(17)] {
            let mut effects = Vec::new();
            self.machine.step(self.now, other, &mut effects);
            assert!(
                effects.is_empty(),
                "nothing happens while an emission is taken"
            );
        }
        assert_eq!(
            self.machine.resume_version(),
            self.received.as_ref(),
            "RFX-2: not yet"
        );
        let received = emission.received().clone();
        let epoch = matches!(
            emission,
            Emission::Replace {
                epoch: Epoch::New,
                ..
            }
        );
        let older = |held: &ResourceVersion| received.is_older_than(held);
        assert_eq!(self.received.as_ref().is_some_and(older), epoch, "RFX-3");
        self.received = Some(received);
        self.step(Input::Accepted);
        assert_eq!(
            self.machine.resume_version(),
            self.received.as_ref(),
            "RFX-2: now"
        );
    }

    fn waits_for_one_thing(&self) {
        let phase = self.machine.phase();
        let backing_off = phase == Phase::BackingOff;
        let live = phase != Phase::Stopped;
        assert_eq!(self.in_flight, live && !backing_off, "{phase:?}");
        assert_eq!(
            self.machine.deadline().is_some(),
            live,
            "nothing is waited for without end"
        );
    }
}

/// Every sequence of so many letters from a state reached by these.
fn all_after(streaming: bool, start: &[usize], length: u32) {
    for sequence in 0..LETTERS.pow(length) {
        let mut watcher = Watcher::new(streaming);
        for &n in start {
            watcher.step(letter(n));
        }
        for place in 0..length {
            watcher.step(letter(sequence / LETTERS.pow(place) % LETTERS));
        }
    }
}

#[test]
fn all_short_sequences_from_the_first_list() {
    all_after(false, &[], 4);
}

#[test]
fn all_short_sequences_from_the_first_stream() {
    all_after(true, &[5, 8], 3);
}

#[test]
fn all_short_sequences_from_an_open_watch() {
    all_after(false, &[0, 5], 4);
}

#[test]
fn all_short_sequences_from_a_delay() {
    all_after(true, &[5, 13, 14], 3);
}
