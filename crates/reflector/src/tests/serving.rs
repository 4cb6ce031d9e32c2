//! How the server answers: from its history, unless a fault says otherwise.

use std::collections::VecDeque;

use super::{
    judge::Expected,
    model::{identity, item, number, version},
    world::{End, Flight, ListFault, Open, Stream, WatchFault, World},
};
use crate::{
    Failure, FailureKind, Input, ListRequest, ListVersion, Page, WatchEvent, WatchRequest,
};

impl World {
    pub(super) fn serve_page(&mut self, request: &ListRequest) {
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
            other => match self.page(request, other.as_ref()) {
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
        fault: Option<&ListFault>,
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
            (None, ListVersion::Exact(_)) => unreachable!("no reflector asks for it"),
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

    pub(super) fn serve_watch(&mut self, request: &WatchRequest) {
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
                request.sends_initial_events(),
                "RFX-4: a watch starts at a version"
            );
            latest
        };
        let refusal = if from > latest
            && (request.sends_initial_events() || self.answers.is_multiple_of(2))
        {
            Some(FailureKind::TooLarge)
        } else if from < self.server.compacted && !request.sends_initial_events() {
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
        let (initial, position) = if request.sends_initial_events() {
            (self.initial_events(&fault), latest)
        } else {
            (
                VecDeque::new(),
                from.min(latest).saturating_sub(fault.replay),
            )
        };
        self.step(Input::WatchOpened(Ok(())), Expected::Fine);
        self.judge.opened(request, self.now);
        self.flight = Flight::Stream(Stream {
            closes: self.now + request.timeout,
            position,
            unfinished: request.sends_initial_events(),
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
    pub(super) fn serve_event(&mut self, mut stream: Stream) -> bool {
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
}

/// Does to a page what the fault says, and tells how the machine has to take it.
fn spoil(page: &mut Page<()>, fault: Option<&ListFault>, later: bool) -> Expected {
    let protocol = Expected::Failure(FailureKind::Protocol);
    match fault {
        Some(ListFault::NoVersion) => {
            page.version = version(0);
            if later {
                return Expected::Failure(FailureKind::Expired);
            }
            protocol
        }
        Some(ListFault::OtherVersion) if later => {
            page.version = version(number(&page.version) + 1);
            Expected::Failure(FailureKind::Expired)
        }
        Some(&ListFault::Twice { older_last }) if !page.items.is_empty() => {
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
