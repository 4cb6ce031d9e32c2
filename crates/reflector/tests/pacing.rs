//! Requests per hour under faults that do not end: R1 and R2, and that no fault wedges the machine.
//!
//! The rows are those of the table of scripted faults; a list always gives `a@1` at version 5.

mod wire;

use std::time::Duration;

use informer_reflector::{
    Config, Effect, Failure, FailureKind, Input, Machine, Page, Report, WatchEvent,
};
use wire::{failure, item, listing, page};

const HOUR: Duration = Duration::from_secs(3600);

/// How one watch goes.
enum Watch {
    Refused(Failure),
    /// These events, then the end, so long after the watch was asked for.
    Accepted(Vec<WatchEvent<()>>, Option<Failure>, Duration),
    /// Accepted, and nothing ever after.
    Silent,
}

#[derive(Debug, Default, PartialEq)]
struct Counts {
    lists: u32,
    watches: u32,
    failures: u32,
    longest_delay: Duration,
}

struct Hour {
    machine: Machine<()>,
    now: Duration,
    counts: Counts,
}

impl Hour {
    fn step(&mut self, input: Input<()>) -> Option<Effect<()>> {
        let mut effects = Vec::new();
        self.machine.step(self.now, input, &mut effects);
        let mut request = None;
        for effect in effects {
            match effect {
                Effect::Report(Report::Failed { next_in, .. }) => {
                    self.counts.failures += 1;
                    self.counts.longest_delay = self.counts.longest_delay.max(next_in);
                }
                Effect::Emit(_) => request = self.step(Input::Accepted),
                Effect::List(_) | Effect::Watch(_) => request = Some(effect),
                Effect::Abandon | Effect::Report(_) => {}
            }
        }
        request
    }

    /// Waits for the deadline; `None` when the hour is over.
    fn wait(&mut self) -> Option<Effect<()>> {
        let due = self
            .machine
            .deadline()
            .expect("the machine always waits for something");
        self.now = self.now.max(due);
        (self.now < HOUR).then(|| self.step(Input::Timer))?
    }

    fn watch(&mut self, watch: Watch) -> Option<Effect<()>> {
        let asked = self.now;
        match watch {
            Watch::Refused(failure) => self.step(Input::WatchOpened(Err(failure))),
            Watch::Silent => self.step(Input::WatchOpened(Ok(()))),
            Watch::Accepted(events, failure, lives) => {
                let mut next = self.step(Input::WatchOpened(Ok(())));
                for event in events {
                    next = next.or(self.step(Input::Event(Ok(event))));
                }
                if next.is_some() {
                    return next;
                }
                self.now = asked + lives;
                match failure {
                    Some(failure) => self.step(Input::Event(Err(failure))),
                    None => self.step(Input::StreamEnded),
                }
            }
        }
    }
}

/// Plays an hour with these answers, which are given the number of the request.
fn hour(
    config: Config,
    list: impl Fn(u32) -> Result<Page<()>, Failure>,
    watch: impl Fn(u32) -> Watch,
) -> Counts {
    let mut hour = Hour {
        machine: Machine::new(config, 11),
        now: Duration::ZERO,
        counts: Counts::default(),
    };
    let mut request = hour.step(Input::Start);
    while hour.now < HOUR {
        request = match request {
            Some(Effect::List(_)) => {
                hour.counts.lists += 1;
                let answer = list(hour.counts.lists);
                hour.step(Input::Page(answer))
            }
            Some(Effect::Watch(_)) => {
                hour.counts.watches += 1;
                let answer = watch(hour.counts.watches);
                hour.watch(answer)
            }
            _ => {
                let next = hour.wait();
                if next.is_none() && hour.now >= HOUR {
                    break;
                }
                next
            }
        };
    }
    println!("{:?}", hour.counts);
    hour.counts
}

fn good(_: u32) -> Result<Page<()>, Failure> {
    Ok(page("5 a@1"))
}

fn error(kind: &'static str) -> impl Fn(u32) -> Watch {
    let event = move || WatchEvent::Error(failure(kind));
    move |_| Watch::Accepted(vec![event()], None, Duration::ZERO)
}

fn refused(kind: &'static str) -> impl Fn(u32) -> Watch {
    move |_| Watch::Refused(failure(kind))
}

fn closes(after: Duration) -> impl Fn(u32) -> Watch {
    move |_| Watch::Accepted(Vec::new(), None, after)
}

/// R1, rows C, D and D2: at most 200 lists and 400 requests, and lists there are.
#[test]
fn an_unusable_version_is_listed_at_a_bounded_rate() {
    for config in [listing(), listing().streaming(true)] {
        for counts in [
            hour(config.clone(), good, error("TooLarge")),
            hour(config.clone(), good, refused("TooLarge")),
            hour(config.clone(), good, refused("Expired")),
            hour(config.clone(), good, error("Expired")),
        ] {
            assert!((100..=200).contains(&counts.lists), "{counts:?}");
            assert!(counts.lists + counts.watches <= 400, "{counts:?}");
            assert!(counts.failures >= counts.watches - 1, "RFX-13: {counts:?}");
        }
    }
}

/// FM-04: a list at our version that expires each time as well does not double the rate.
#[test]
fn a_list_that_expires_each_time_does_not_double_the_rate() {
    let every_other = |n: u32| {
        if n.is_multiple_of(2) {
            Err(failure("Expired"))
        } else {
            good(n)
        }
    };
    let counts = hour(listing(), every_other, refused("Expired"));
    assert!(counts.lists <= 200, "{counts:?}");
    assert!(counts.lists + counts.watches <= 400, "{counts:?}");
}

/// R1, rows R to X: what fails for good is asked for at most 200 times an hour, absence half of it.
#[test]
fn lists_that_always_fail_are_bounded() {
    let fails = |kind| move |_| Err(failure(kind));
    for kind in [
        "Other",
        "Internal",
        "Unavailable",
        "Throttled",
        "Connect",
        "Unauthorized",
        "Protocol",
    ] {
        for config in [listing(), listing().streaming(true)] {
            let counts = hour(config, fails(kind), refused(kind));
            assert!(counts.lists <= 200, "{kind}: {counts:?}");
            let requests = counts.lists + counts.watches;
            assert!((100..=400).contains(&requests), "{kind}: {counts:?}");
            assert!(counts.longest_delay <= Duration::from_secs(32));
        }
    }
    let counts = hour(listing(), fails("Forbidden"), refused("Forbidden"));
    assert!((60..=110).contains(&counts.lists), "{counts:?}");
    assert!(counts.longest_delay <= Duration::from_secs(60), "R8");
    let counts = hour(listing(), |_| Ok(page("a@1")), refused("Other"));
    assert!((100..=200).contains(&counts.lists), "row X: {counts:?}");
}

/// R1, R2, rows F and F2: a close at once, or after two seconds.
#[test]
fn early_closes_are_bounded() {
    for lives in [0, 2, 29] {
        let counts = hour(listing(), good, closes(Duration::from_secs(lives)));
        assert!((60..=200).contains(&counts.watches), "{lives}: {counts:?}");
        assert!(counts.lists <= 15, "{lives}: {counts:?}");
    }
    let counts = hour(listing(), good, closes(Duration::from_secs(30)));
    assert_eq!((counts.lists, counts.watches, counts.failures), (1, 120, 0));
}

/// R2, row F3: one event, then a close. 720 an hour after the ramp, which adds some seven to the
/// first hour; and no event waits for more than five seconds.
#[test]
fn early_closes_with_progress_are_bounded() {
    let watch = |n: u32| {
        let event = WatchEvent::Modified(item(&format!("a@{}", n + 5)));
        Watch::Accepted(vec![event], None, Duration::ZERO)
    };
    let counts = hour(listing(), good, watch);
    assert!((700..=730).contains(&counts.watches), "{counts:?}");
    assert!(counts.longest_delay <= Duration::from_secs(5), "{counts:?}");
    assert_eq!(counts.lists, 1);
}

/// Row J, FM-12: a throttled watch is never answered with a list.
#[test]
fn throttling_never_leads_to_a_list() {
    let throttled = |_| {
        let failure = failure("Throttled").with_retry_after(Some(Duration::from_secs(1)));
        Watch::Refused(failure)
    };
    let counts = hour(listing(), good, throttled);
    assert_eq!(counts.lists, 1);
    assert!((100..=200).contains(&counts.watches), "{counts:?}");
    let patient = |_| {
        let failure = failure("Throttled").with_retry_after(Some(Duration::from_secs(86_400)));
        Watch::Refused(failure)
    };
    let counts = hour(listing(), good, patient);
    assert_eq!(counts.watches, 60, "SEC-27");
}

/// Rows B, E and W: what is never the protocol ends in lists, at a bounded rate.
#[test]
fn streams_that_are_not_the_protocol_are_bounded() {
    let html = |_| {
        let failure = Failure::new(FailureKind::Protocol, "Html", "");
        Watch::Accepted(Vec::new(), Some(failure), Duration::ZERO)
    };
    let counts = hour(listing(), good, html);
    assert!((50..=200).contains(&counts.lists), "{counts:?}");
    assert!(counts.lists + counts.watches <= 400, "{counts:?}");
}

/// Row H: a watch that never brings a byte is replaced when it is overdue, without a list.
#[test]
fn silent_watches_are_replaced() {
    let counts = hour(listing(), good, |_| Watch::Silent);
    assert_eq!(counts.lists, 1);
    assert!((11..=15).contains(&counts.watches), "{counts:?}");
}

/// Row O: streams that never end their initial events are tried twice, then listed.
#[test]
fn endless_streaming_lists_are_bounded() {
    let watch = |n: u32| {
        if n <= 2 {
            Watch::Accepted(vec![WatchEvent::Added(item("a@1"))], None, Duration::ZERO)
        } else {
            Watch::Silent
        }
    };
    let counts = hour(listing().streaming(true), good, watch);
    assert_eq!(counts.lists, 1);
}
