//! FM-11, R3, R4: a thousand reflectors lose their server for a minute. How often they ask, and how
//! soon all of them are back.

mod wire;

use std::{cmp::Reverse, collections::BinaryHeap, time::Duration};

use informer_reflector::{Effect, Input, Machine};
use wire::{failure, listing, page};

const REFLECTORS: u64 = 1000;

/// So many times, with other seeds.
const HERDS: u64 = 5;

const DOWN: Duration = Duration::from_secs(1000);

const UP: Duration = Duration::from_secs(1060);

/// What is known of one reflector from outside.
struct Member {
    machine: Machine<()>,
    /// When the server ends its open watch.
    closes: Option<Duration>,
    /// When its first watch after the outage was opened.
    back: Option<Duration>,
}

/// What they asked for from the moment the server went down.
#[derive(Default)]
struct Asked {
    lists: Vec<Duration>,
    watches: Vec<Duration>,
}

/// Whether the server still has the history once it is up again.
#[derive(Clone, Copy)]
struct Server {
    forgets: bool,
}

impl Member {
    fn new(seed: u64) -> Self {
        Self {
            machine: Machine::new(listing(), seed),
            closes: None,
            back: None,
        }
    }

    /// What happens to it next, and when.
    fn next(&self) -> Duration {
        let deadline = self.machine.deadline().expect("it always waits");
        self.closes.map_or(deadline, |closes| closes.min(deadline))
    }

    fn happens(&mut self, now: Duration, server: Server, asked: &mut Asked) {
        match self.closes {
            Some(closes) if closes <= now => {
                self.closes = None;
                self.step(now, Input::StreamEnded, server, asked);
            }
            _ => self.step(now, Input::Timer, server, asked),
        }
    }

    fn step(&mut self, now: Duration, input: Input<()>, server: Server, asked: &mut Asked) {
        let mut effects = Vec::new();
        self.machine.step(now, input, &mut effects);
        let is_up = !(DOWN..UP).contains(&now);
        for effect in effects {
            let answer = match effect {
                Effect::Emit(_) => Input::Accepted,
                Effect::List(_) => {
                    asked.lists.push(now);
                    Input::Page(match is_up {
                        true => Ok(page(if now < DOWN { "5" } else { "9" })),
                        false => Err(failure("Connect")),
                    })
                }
                Effect::Watch(watch) => {
                    asked.watches.push(now);
                    let is_lost = server.forgets && now >= UP && watch.version == "5";
                    Input::WatchOpened(match (is_up, is_lost) {
                        (false, _) => Err(failure("Connect")),
                        (true, true) => Err(failure("Expired")),
                        (true, false) => {
                            self.closes = Some(now + watch.timeout);
                            self.back = self.back.or((now >= UP).then_some(now));
                            Ok(())
                        }
                    })
                }
                Effect::Abandon | Effect::Report(_) => continue,
            };
            self.step(now, answer, server, asked);
        }
    }
}

/// Runs until a while after the outage.
fn outage(server: Server, herd: u64) -> (Asked, Vec<Duration>) {
    let first = herd * REFLECTORS;
    let mut members: Vec<_> = (first..first + REFLECTORS).map(Member::new).collect();
    let mut queue = BinaryHeap::new();
    let mut asked = Asked::default();
    for (at, member) in members.iter_mut().enumerate() {
        // They were not started in one moment.
        let start = Duration::from_millis(at as u64 * 100);
        member.step(start, Input::Start, server, &mut asked);
        queue.push(Reverse((member.next(), at)));
    }
    let mut is_down = false;
    while let Some(Reverse((now, at))) = queue.pop() {
        if now >= DOWN && !is_down {
            is_down = true;
            asked = Asked::default();
            queue.clear();
            for (at, member) in members.iter_mut().enumerate() {
                assert!(member.closes.take().is_some(), "all were watching");
                let cut = Input::Event(Err(failure("Cut")));
                member.step(DOWN, cut, server, &mut asked);
                queue.push(Reverse((member.next(), at)));
            }
            continue;
        }
        if now > UP + Duration::from_secs(200) {
            break;
        }
        members[at].happens(now, server, &mut asked);
        queue.push(Reverse((members[at].next(), at)));
    }
    let back = members.iter().map(|member| member.back.expect("back"));
    (asked, back.collect())
}

/// The most that fall into one second, wherever it begins.
fn busiest_second(times: impl IntoIterator<Item = Duration>) -> usize {
    let mut times: Vec<_> = times.into_iter().collect();
    times.sort();
    let within = |(at, start): (usize, &Duration)| {
        let end = *start + Duration::from_secs(1);
        times[at..].partition_point(|time| *time < end)
    };
    times.iter().enumerate().map(within).max().expect("asked")
}

fn is_paced(asked: &Asked) {
    let busiest = busiest_second(asked.lists.iter().chain(&asked.watches).copied());
    println!("{busiest} requests in a second");
    assert!(busiest <= 1200, "R3: {busiest} requests in a second");
}

fn are_back(back: &[Duration], within: u64) {
    let last = *back.iter().max().expect("members") - UP;
    println!("the last is back after {last:?}");
    assert!(last <= Duration::from_secs(within), "R4: {last:?}");
}

/// The server still knows the versions: nobody lists.
#[test]
fn an_outage_costs_no_list_where_history_is_kept() {
    for herd in 0..HERDS {
        let (asked, back) = outage(Server { forgets: false }, herd);
        assert_eq!(asked.lists.len(), 0);
        is_paced(&asked);
        are_back(&back, 35);
    }
}

/// It does not: everybody lists, once, and not in one moment, since the delays of the outage have
/// spread them.
#[test]
fn lists_after_an_outage_are_spread() {
    for herd in 0..HERDS {
        let (asked, back) = outage(Server { forgets: true }, herd);
        assert_eq!(asked.lists.len(), REFLECTORS as usize);
        is_paced(&asked);
        are_back(&back, 35);
        let (first, last) = (asked.lists.iter().min(), asked.lists.iter().max());
        let spread = *last.expect("lists") - *first.expect("lists");
        println!(
            "{spread:?}, {} lists a second",
            busiest_second(asked.lists.iter().copied())
        );
        assert!(spread >= Duration::from_secs(30), "R3: {spread:?}");
    }
}
