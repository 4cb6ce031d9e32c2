//! The machine, a server, a sink that does what it is told, and faults between them.
//!
//! Time is a number. Every answer is immediate unless a fault says that it never comes. Each step
//! is judged (`judge.rs`), and after faults stop the sink has to equal the server (RFX-10).

use std::{collections::VecDeque, time::Duration};

use super::{
    judge::{Expected, Judge},
    model::{Server, identity, item, number, version},
    planted::Planted,
};
use crate::{
    Config, Demand, Effect, Emission, Failure, FailureKind, Input, ListRequest, ListVersion,
    Machine, Page, Phase, WatchEvent, WatchRequest,
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
    Nameless,
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

enum Flight {
    Idle,
    List(ListRequest),
    Watch(WatchRequest),
    Hung,
    Stream(Stream),
}

struct Stream {
    closes: Duration,
    /// Everything up to here has been sent.
    position: u64,
    initial: VecDeque<WatchEvent<()>>,
    fault: WatchFault,
    sent: u32,
    /// Initial events have not ended.
    unfinished: bool,
}

pub(super) struct World {
    machine: Machine<()>,
    now: Duration,
    server: Server,
    flight: Flight,
    list_faults: VecDeque<ListFault>,
    watch_faults: VecDeque<WatchFault>,
    judge: Judge,
    answers: u64,
}

impl World {
    pub(super) fn new(config: Config, seed: u64, planted: Option<Planted>) -> Self {
        let mut machine = Machine::new(config, seed);
        if let Some(bug) = planted {
            machine.plant(bug);
        }
        let mut world = Self {
            machine,
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
        // 404 waits for a minute; then a watch that expired and its list each wait half of one.
        self.advance(Duration::from_secs(125));
        let expected = self
            .server
            .snapshot(self.server.branch(), self.server.version());
        assert_eq!(
            self.judge.held, expected,
            "RFX-10: the sink equals the server"
        );
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

    fn serve_page(&mut self, request: &ListRequest) {
        self.answers += 1;
        let fault = self.list_faults.pop_front();
        let fail = |kind, wait| Err(Failure::new(kind, "Fault", "").with_retry_after(wait));
        match fault {
            Some(ListFault::Hang) => self.flight = Flight::Hung,
            Some(ListFault::Panic) => {
                self.step(Input::Panicked, Expected::Failure(FailureKind::Panicked));
            }
            Some(ListFault::Fail(kind, wait)) => {
                self.judge.list_refused(request, kind);
                self.step(Input::Page(fail(kind, wait)), Expected::Failure(kind));
            }
            other => match self.page(request, other) {
                Ok((page, expected)) => self.step(Input::Page(Ok(page)), expected),
                Err(kind) => {
                    self.judge.list_refused(request, kind);
                    self.step(Input::Page(fail(kind, None)), Expected::Failure(kind));
                }
            },
        }
    }

    /// What the server says to this request, and whether the machine must refuse it.
    fn page(
        &mut self,
        request: &ListRequest,
        fault: Option<ListFault>,
    ) -> Result<(Page<()>, Expected), FailureKind> {
        let latest = self.server.version();
        let skew = self.answers % 3;
        let (at, offset) = match (&request.continue_token, &request.version) {
            (Some(token), _) => {
                let (at, offset) = token.split_once(':').expect("a token of ours");
                let at: u64 = at.parse().expect("a version of ours");
                if at < self.server.compacted || at > latest {
                    return Err(FailureKind::Expired);
                }
                (at, offset.parse().expect("an offset of ours"))
            }
            (None, ListVersion::Any) => (latest.saturating_sub(skew).max(1), 0),
            (None, ListVersion::Consistent) => (latest, 0),
            (None, ListVersion::NotOlderThan(asked)) => {
                let asked = number(asked);
                if asked > latest {
                    return Err(FailureKind::TooLarge);
                }
                match fault {
                    Some(ListFault::Older) => (asked.saturating_sub(2).max(1), 0),
                    _ => (asked.max(latest.saturating_sub(skew)), 0),
                }
            }
        };
        let snapshot = self.server.snapshot(self.server.branch(), at);
        let limit = request
            .limit
            .map_or(usize::MAX, |limit| usize::try_from(limit).expect("u32"));
        let all = snapshot
            .iter()
            .skip(offset)
            .map(|(&key, &number)| item(key, number));
        let items: Vec<_> = all.take(limit).collect();
        let next = offset + items.len();
        let more = next < snapshot.len();
        let mut page = Page {
            items,
            version: version(at),
            continue_token: more.then(|| format!("{at}:{next}").into()),
            remaining: None,
        };
        self.judge.served = (self.server.branch(), at);
        let expected = spoil(&mut page, fault, offset > 0);
        let last = page.continue_token.is_none();
        if let (ListVersion::NotOlderThan(asked), Expected::Fine, true) =
            (&request.version, &expected, last)
            && at < number(asked)
        {
            self.judge.refused = true;
            return Ok((page, Expected::Failure(FailureKind::TooLarge)));
        }
        Ok((page, expected))
    }

    fn serve_watch(&mut self, request: &WatchRequest) {
        self.answers += 1;
        let fault = self
            .watch_faults
            .pop_front()
            .unwrap_or_else(WatchFault::none);
        match fault.open {
            Open::Hang => self.flight = Flight::Hung,
            Open::Panic => self.step(Input::Panicked, Expected::Failure(FailureKind::Panicked)),
            Open::Fail(kind, wait) => {
                self.judge.watch_refused(request, kind);
                let failure = Failure::new(kind, "Fault", "").with_retry_after(wait);
                self.step(Input::WatchOpened(Err(failure)), Expected::Failure(kind));
            }
            Open::Accept => self.accept_watch(request, fault),
        }
    }

    fn accept_watch(&mut self, request: &WatchRequest, mut fault: WatchFault) {
        let latest = self.server.version();
        let from = if request.version.is_exact() {
            number(&request.version)
        } else {
            assert!(
                request.send_initial_events,
                "RFX-4: a watch starts at a version"
            );
            latest
        };
        let refusal = if from > latest && (request.send_initial_events || self.answers % 2 == 0) {
            Some(FailureKind::TooLarge)
        } else if from < self.server.compacted && !request.send_initial_events {
            Some(FailureKind::Expired)
        } else {
            None
        };
        if let Some(kind) = refusal {
            if self.answers % 4 < 2 {
                self.judge.watch_refused(request, kind);
                let failure = Failure::new(kind, "Refused", "");
                return self.step(Input::WatchOpened(Err(failure)), Expected::Failure(kind));
            }
            fault.after = 0;
            fault.end = End::Error(kind);
        }
        let (initial, position) = if request.send_initial_events {
            (self.initial_events(&fault), latest)
        } else {
            (
                VecDeque::new(),
                from.min(latest).saturating_sub(fault.replay),
            )
        };
        self.step(Input::WatchOpened(Ok(())), Expected::Fine);
        self.judge.opened(request.clone(), self.now);
        self.flight = Flight::Stream(Stream {
            closes: self.now + request.timeout,
            position,
            unfinished: request.send_initial_events,
            initial,
            fault,
            sent: 0,
        });
    }

    /// Not in the order of versions, as a watch cache sends them (FM-38).
    fn initial_events(&mut self, fault: &WatchFault) -> VecDeque<WatchEvent<()>> {
        let (branch, at) = (self.server.branch(), self.server.version());
        self.judge.served = (branch, at);
        let snapshot = self.server.snapshot(branch, at);
        let added = snapshot.iter().rev();
        let mut events: VecDeque<_> = added
            .map(|(&key, &number)| WatchEvent::Added(item(key, number)))
            .collect();
        if !fault.no_end {
            events.push_back(WatchEvent::Bookmark {
                version: version(at),
                initial_events_end: true,
            });
        }
        events
    }

    /// Sends one event, or ends the stream; false if there is nothing to do for now.
    fn serve_event(&mut self, mut stream: Stream) -> bool {
        let fault = stream.fault.clone();
        if stream.sent >= fault.after && !matches!(fault.end, End::Never) {
            self.flight = Flight::Stream(stream);
            self.end_stream(match fault.end {
                End::Close | End::Never => Input::StreamEnded,
                End::Panic => Input::Panicked,
                End::Break(kind) => Input::Event(Err(Failure::new(kind, "Fault", ""))),
                End::Error(kind) => {
                    Input::Event(Ok(WatchEvent::Error(Failure::new(kind, "Fault", ""))))
                }
            });
            return true;
        }
        let waits_for_end = stream.unfinished && stream.initial.is_empty();
        let next = self.server.after(stream.position);
        let event = match (stream.initial.pop_front(), next) {
            _ if fault.silent => None,
            (Some(event), _) => {
                if matches!(event, WatchEvent::Bookmark { .. }) {
                    stream.unfinished = false;
                }
                Some(event)
            }
            (None, Some(write)) if !waits_for_end => {
                stream.position = write.version;
                let before = if fault.old_deletes {
                    write.before
                } else {
                    write.version
                };
                Some(match write.upsert {
                    Some(false) => WatchEvent::Added(item(write.key, write.version)),
                    Some(true) => WatchEvent::Modified(item(write.key, write.version)),
                    None => WatchEvent::Deleted(item(write.key, before)),
                })
            }
            (None, _) => None,
        };
        stream.sent += u32::from(event.is_some());
        self.flight = Flight::Stream(stream);
        let Some(event) = event else {
            return false;
        };
        self.event(event);
        true
    }

    fn event(&mut self, event: WatchEvent<()>) {
        let expected = self.judge.expected_of(&event, self.machine.phase());
        self.step(Input::Event(Ok(event)), expected);
    }

    fn end_stream(&mut self, input: Input<()>) {
        self.flight = Flight::Idle;
        let streaming = self.machine.phase() == Phase::Streaming;
        let expected = self.judge.expected_of_end(&input, streaming, self.now);
        self.step(input, expected);
    }

    fn step(&mut self, input: Input<()>, expected: Expected) {
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
                new_epoch,
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
                self.judge.replaced(held, branch, at, new_epoch);
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

/// Does to a page what the fault says, and tells how the machine has to take it.
fn spoil(page: &mut Page<()>, fault: Option<ListFault>, later: bool) -> Expected {
    let protocol = Expected::Failure(FailureKind::Protocol);
    match fault {
        Some(ListFault::NoVersion) => {
            page.version = version(0);
            if later {
                return Expected::Failure(FailureKind::Expired);
            }
            protocol
        }
        Some(ListFault::Nameless) if !page.items.is_empty() => {
            page.items[0].meta.name = "".into();
            protocol
        }
        Some(ListFault::OtherVersion) if later => {
            page.version = version(number(&page.version) + 1);
            Expected::Failure(FailureKind::Expired)
        }
        Some(ListFault::Twice { older_last }) if !page.items.is_empty() => {
            let (key, number) = identity(&page.items[0]);
            if number > 1 {
                let place = if older_last { page.items.len() } else { 0 };
                page.items.insert(place, item(key, number - 1));
            }
            Expected::Fine
        }
        _ => Expected::Fine,
    }
}
