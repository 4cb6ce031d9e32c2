//! The machine, a server, a sink that does what it is told, and faults between them.
//!
//! Time is a number. Every answer is immediate unless a fault says that it never comes. Each step
//! is judged (`judge.rs`), and after faults stop the sink has to equal the server (RFX-10).

use std::{collections::VecDeque, time::Duration};

use super::{
    judge::{Expected, Judge},
    model::{Server, identity, number, version},
};
use crate::{
    Config, Demand, Effect, Emission, Failure, FailureKind, Input, ListRequest, Machine, Phase,
    WatchEvent, WatchRequest,
};

/// What happens to the server, to the next request, or to time.
#[derive(Clone, Debug)]
pub(super) enum Op {
    Write { key: u8, delete: bool },
    Compact,
    Rewind(u64),
    Bookmark,
    Advance(u64),
    List(ListFault),
    Watch(WatchFault),
    Demand(Demand),
}

/// What happens to one page.
#[derive(Clone, Debug)]
pub(super) enum ListFault {
    Fail(FailureKind, Option<Duration>),
    Hang,
    Panic,
    /// The server answers with an older state than asked for.
    Older,
    /// A page after the first is of another version.
    OtherVersion,
    NoVersion,
    /// A key comes twice; the older one first or last.
    Twice {
        older_last: bool,
    },
}

/// What happens to one watch.
#[derive(Clone, Debug)]
pub(super) struct WatchFault {
    pub(super) open: Open,
    /// How many old events come first.
    pub(super) replay: u64,
    /// The initial events are not ended.
    pub(super) no_end: bool,
    /// A deleted object carries the version before its deletion.
    pub(super) old_deletes: bool,
    /// Nothing ever comes.
    pub(super) silent: bool,
    pub(super) after: u32,
    pub(super) end: End,
}

#[derive(Clone, Debug)]
pub(super) enum Open {
    Accept,
    Fail(FailureKind, Option<Duration>),
    Hang,
    Panic,
}

#[derive(Clone, Debug)]
pub(super) enum End {
    Never,
    Close,
    Error(FailureKind),
    Break(FailureKind),
    Panic,
}

impl WatchFault {
    pub(super) fn none() -> Self {
        Self {
            open: Open::Accept,
            replay: 0,
            no_end: false,
            old_deletes: false,
            silent: false,
            after: 0,
            end: End::Never,
        }
    }
}

pub(super) enum Flight {
    Idle,
    List(ListRequest),
    Watch(WatchRequest),
    Hung,
    Stream(Stream),
}

pub(super) struct Stream {
    pub(super) closes: Duration,
    /// Everything up to here has been sent.
    pub(super) position: u64,
    pub(super) initial: VecDeque<WatchEvent<()>>,
    pub(super) fault: WatchFault,
    pub(super) sent: u32,
    /// Initial events have not ended.
    pub(super) unfinished: bool,
}

pub(super) struct World {
    pub(super) machine: Machine<()>,
    pub(super) now: Duration,
    pub(super) server: Server,
    pub(super) flight: Flight,
    pub(super) list_faults: VecDeque<ListFault>,
    pub(super) watch_faults: VecDeque<WatchFault>,
    pub(super) judge: Judge,
    pub(super) answers: u64,
}

impl World {
    pub(super) fn new(config: Config, seed: u64) -> Self {
        let mut world = Self {
            machine: Machine::new(config, seed),
            now: Duration::ZERO,
            server: Server::new(),
            flight: Flight::Idle,
            list_faults: VecDeque::new(),
            watch_faults: VecDeque::new(),
            judge: Judge::default(),
            answers: seed,
        };
        world.step(Input::Start, Expected::Fine);
        world.settle();
        world
    }

    pub(super) fn apply(&mut self, op: Op) {
        match op {
            Op::Write { key, delete } => self.server.write(key, delete),
            Op::Compact => self.server.compact(),
            Op::Rewind(back) => self.rewind(back),
            Op::Bookmark => self.bookmark(),
            Op::Advance(seconds) => self.advance(Duration::from_secs(seconds)),
            Op::List(fault) => self.list_faults.push_back(fault),
            Op::Watch(fault) => self.watch_faults.push_back(fault),
            Op::Demand(demand) => {
                self.judge.demanded(demand, self.now);
                self.step(Input::Demand(demand), Expected::Fine);
            }
        }
        self.settle();
    }

    /// RFX-10: without faults the sink equals the server before long.
    pub(super) fn calm_down(&mut self) {
        self.list_faults.clear();
        self.watch_faults.clear();
        self.answers = 0;
        let doubtful = match &self.flight {
            Flight::Hung => true,
            Flight::Stream(_) => !self.stream_is_sound(),
            Flight::Idle | Flight::List(_) | Flight::Watch(_) => false,
        };
        if doubtful {
            self.break_connection();
            self.settle();
        }
        if self.judge.branch != self.server.branch() {
            // Some rewinds look like nothing at all; that is what the checker is for (FM-39).
            self.apply(Op::Demand(Demand::Repair));
        }
        // A wait of a minute may be under way (404, Retry-After); then each of a refused watch, an
        // expired one, a stale list and its repetition may wait half of one.
        self.advance(Duration::from_secs(190));
        let expected = self
            .server
            .snapshot(self.server.branch(), self.server.version());
        assert_eq!(
            self.judge.held, expected,
            "RFX-10: the sink equals the server"
        );
        if self.machine.phase() == Phase::BackingOff {
            // A watch that the server ended in order at this very moment is opened again.
            self.advance(Duration::from_secs(60));
        }
        assert_eq!(
            self.machine.phase(),
            Phase::Watching,
            "RFX-10: a watch is open"
        );
        self.judge.finish();
    }

    pub(super) fn requests(&self) -> usize {
        self.judge.requests()
    }

    pub(super) fn received(&self) -> Option<u64> {
        self.judge.received
    }

    fn stream_is_sound(&self) -> bool {
        let Flight::Stream(stream) = &self.flight else {
            return false;
        };
        let fault = &stream.fault;
        matches!(fault.end, End::Never) && !fault.silent && !stream.unfinished
    }

    fn advance(&mut self, by: Duration) {
        let target = self.now + by;
        loop {
            let closes = match &self.flight {
                Flight::Stream(stream) if !stream.fault.silent => Some(stream.closes),
                _ => None,
            };
            let due = self.machine.deadline();
            let next = [closes, due].into_iter().flatten().min();
            let Some(next) = next.filter(|&next| next <= target) else {
                break;
            };
            self.now = self.now.max(next);
            if closes == Some(next) {
                self.end_stream(Input::StreamEnded);
            } else {
                let expected = match self.machine.phase() {
                    Phase::BackingOff => Expected::Fine,
                    Phase::Streaming => Expected::Failure(FailureKind::Incomplete),
                    _ => Expected::Failure(FailureKind::TimedOut),
                };
                self.step(Input::Timer, expected);
            }
            self.settle();
        }
        self.now = target;
    }

    fn rewind(&mut self, back: u64) {
        self.server.rewind(back);
        self.break_connection();
    }

    fn break_connection(&mut self) {
        let cut = || Failure::new(FailureKind::Cut, "Cut", "");
        let input = match (&self.flight, self.machine.phase()) {
            (Flight::Stream(_), _) => Input::Event(Err(cut())),
            (Flight::Hung, Phase::Listing) => Input::Page(Err(cut())),
            (Flight::Hung, Phase::OpeningWatch | Phase::Streaming) => {
                Input::WatchOpened(Err(cut()))
            }
            _ => return,
        };
        self.flight = Flight::Idle;
        self.step(input, Expected::Failure(FailureKind::Cut));
    }

    fn bookmark(&mut self) {
        self.settle();
        if self.stream_is_sound() {
            let version = version(self.server.version());
            self.event(WatchEvent::Bookmark {
                version,
                initial_events_end: false,
            });
        }
    }

    /// Answers until there is nothing left to answer at this instant.
    fn settle(&mut self) {
        loop {
            match std::mem::replace(&mut self.flight, Flight::Idle) {
                Flight::List(request) => self.serve_page(&request),
                Flight::Watch(request) => self.serve_watch(&request),
                Flight::Stream(stream) => {
                    if !self.serve_event(stream) {
                        return;
                    }
                }
                flight @ (Flight::Idle | Flight::Hung) => {
                    self.flight = flight;
                    return;
                }
            }
        }
    }

    pub(super) fn event(&mut self, event: WatchEvent<()>) {
        let expected = self.judge.expected_of(&event, self.machine.phase());
        self.step(Input::Event(Ok(event)), expected);
    }

    pub(super) fn end_stream(&mut self, input: Input<()>) {
        self.flight = Flight::Idle;
        let streaming = self.machine.phase() == Phase::Streaming;
        let expected = self.judge.expected_of_end(&input, streaming, self.now);
        self.step(input, expected);
    }

    pub(super) fn step(&mut self, input: Input<()>, expected: Expected) {
        let (mut input, mut expected) = (input, expected);
        loop {
            let mut effects = Vec::new();
            self.machine.step(self.now, input, &mut effects);
            self.judge
                .step(&effects, &expected, self.now, &self.machine);
            let mut emission = None;
            for effect in effects {
                assert!(emission.is_none(), "an emission is the last effect");
                match effect {
                    Effect::Abandon => self.flight = Flight::Idle,
                    Effect::List(request) => self.flight = self.in_flight(Flight::List(request)),
                    Effect::Watch(request) => self.flight = self.in_flight(Flight::Watch(request)),
                    Effect::Emit(emitted) => emission = Some(emitted),
                    Effect::Report(_) => {}
                }
            }
            let Some(emission) = emission else { return };
            self.accept(emission);
            (input, expected) = (Input::Accepted, Expected::Fine);
        }
    }

    fn in_flight(&self, flight: Flight) -> Flight {
        assert!(
            matches!(self.flight, Flight::Idle),
            "one request is in flight at a time"
        );
        flight
    }

    fn accept(&mut self, emission: Emission<()>) {
        let resume = self.machine.resume_version().map(number);
        assert_eq!(
            resume, self.judge.received,
            "RFX-2: nothing is received before it is taken"
        );
        let current = self.server.branch();
        match emission {
            Emission::Replace {
                items,
                received,
                epoch,
            } => {
                let (branch, at) = self.judge.served;
                assert_eq!(number(&received), at, "RFX-6: the version of the pages");
                let held = items.iter().map(identity).collect();
                assert_eq!(items.len(), self.server.snapshot(branch, at).len(), "FQ-8");
                assert_eq!(
                    held,
                    self.server.snapshot(branch, at),
                    "RFX-6: one snapshot"
                );
                self.judge.replaced(held, branch, at, epoch);
            }
            Emission::Change {
                change,
                item,
                received,
            } => self
                .judge
                .changed(change, identity(&item), number(&received)),
            Emission::Bookmark { received } => self.judge.advanced(number(&received)),
        }
        if self.judge.branch == current {
            self.judge.check_nothing_is_missing(&self.server);
        }
    }
}
