//! Runs out of a fuzzer's numbers, in the proportions of `random`; and versions out of its text.

use std::{cmp::Ordering, time::Duration};

use super::{
    run::{Run, play},
    world::{End, ListFault, Op, Open, WatchFault},
};
use crate::{
    Backoff, Demand, Failure, FailureKind, ResourceVersion, backoff::Delays, chance::Chance,
};

/// Gives a number below the one it is given, or `None` when the input is used up.
pub type Draw<'a> = dyn FnMut(u32) -> Option<u32> + 'a;

/// As long as the runs of `random`, whose bounds on requests hold for runs of this length.
const LONGEST: usize = 60;

/// Plays one run of the machine against a server with faults (RFX-1 to RFX-6, RFX-8 to RFX-10).
///
/// # Panics
///
/// With the id of the rule that was broken.
pub fn reflector_inputs(draw: &mut Draw<'_>) {
    let mut run = Run {
        seed: u64::from(draw(1 << 16).unwrap_or_default()),
        streaming: draw(2) == Some(1),
        page_size: draw(6).filter(|size| (1..4).contains(size)),
        ops: Vec::new(),
    };
    while let Some(op) = op(draw).filter(|_| run.ops.len() < LONGEST) {
        run.ops.push(op);
    }
    play(run);
}

fn op(draw: &mut Draw<'_>) -> Option<Op> {
    let seconds = |least: u32, most: u32, draw: &mut Draw<'_>| {
        draw(most - least).map(|more| u64::from(least + more))
    };
    Some(match draw(36)? {
        0..12 => Op::Write {
            key: draw(5)? as u8,
            delete: draw(10)? < 3,
        },
        12 | 13 => Op::Compact,
        14 => Op::Rewind(1 + u64::from(draw(5)?)),
        15 | 16 => Op::Bookmark,
        17..23 => Op::Advance(seconds(1, 40, draw)?),
        23 | 24 => Op::Advance(seconds(40, 700, draw)?),
        25..29 => Op::List(list_fault(draw)?),
        29..35 => Op::Watch(watch_fault(draw)?),
        _ => Op::Demand([Demand::Retry, Demand::Relist, Demand::Repair][draw(3)? as usize]),
    })
}

fn list_fault(draw: &mut Draw<'_>) -> Option<ListFault> {
    Some(match draw(16)? {
        0..6 => ListFault::Fail(kind(draw)?, retry_after(draw)?),
        6 => ListFault::Hang,
        7 => ListFault::Panic,
        8..10 => ListFault::Older,
        10..12 => ListFault::OtherVersion,
        12 => ListFault::NoVersion,
        _ => ListFault::Twice {
            older_last: draw(2)? == 1,
        },
    })
}

fn watch_fault(draw: &mut Draw<'_>) -> Option<WatchFault> {
    let open = match draw(11)? {
        0..6 => Open::Accept,
        6..9 => Open::Fail(kind(draw)?, retry_after(draw)?),
        9 => Open::Hang,
        _ => Open::Panic,
    };
    let mut rare = || draw(7).map(|number| number == 6);
    let (no_end, old_deletes, silent) = (rare()?, rare()?, rare()?);
    Some(WatchFault {
        open,
        replay: u64::from(draw(4)?.saturating_sub(1)),
        no_end,
        old_deletes,
        silent,
        after: draw(5)?,
        end: match draw(12)? {
            0 | 1 => End::Never,
            2..5 => End::Close,
            5..8 => End::Error(kind(draw)?),
            8..11 => End::Break(kind(draw)?),
            _ => End::Panic,
        },
    })
}

fn retry_after(draw: &mut Draw<'_>) -> Option<Option<Duration>> {
    let asks = draw(5)? == 4;
    let seconds = if asks { Some(draw(200)?) } else { None };
    Some(seconds.map(|seconds| Duration::from_secs(seconds.into())))
}

/// What servers and networks may answer with; the rest is the machine's own.
const KINDS: [FailureKind; 15] = [
    FailureKind::Expired,
    FailureKind::TooLarge,
    FailureKind::Throttled,
    FailureKind::Unavailable,
    FailureKind::Internal,
    FailureKind::Unauthorized,
    FailureKind::Forbidden,
    FailureKind::NotFound,
    FailureKind::Invalid,
    FailureKind::Connect,
    FailureKind::Cut,
    FailureKind::TimedOut,
    FailureKind::Protocol,
    FailureKind::TooBig,
    FailureKind::Other,
];

/// Checks the delays after failures of one kind: none is shorter than the server asks for, up to
/// the cap, and none exceeds the cap.
///
/// # Panics
///
/// If one is or does.
pub fn delays(kind_number: u8, asked: Option<Duration>) {
    let mut numbers = Some(u32::from(kind_number));
    let kind = kind(&mut |below| numbers.take().map(|number| number % below));
    let kind = kind.expect("one number was there");
    let config = Backoff::default();
    let (longest, cap) = (config.absent_cap.max(config.cap), config.retry_after_cap);
    let mut delays = Delays::new(config);
    let mut chance = Chance::seeded(u64::from(kind_number));
    let failure = Failure::new(kind, "Fuzzed", "").with_retry_after(asked);
    for n in 0..9 {
        let now = Duration::from_secs(30 * n);
        let delay = delays.draw(now, &failure, kind_number % 2 == 0, &mut chance);
        assert!(
            delay >= asked.unwrap_or_default().min(cap),
            "FM-12: {delay:?}"
        );
        assert!(delay <= longest.max(cap), "SEC-27: {delay:?}");
    }
}

fn kind(draw: &mut Draw<'_>) -> Option<FailureKind> {
    draw(KINDS.len() as u32).map(|number| KINDS[number as usize])
}

/// Compares the first three lines of a text as versions: a total order on well-formed ones, none
/// between others (KY-08, FM-41).
///
/// # Panics
///
/// If it is not.
pub fn rv_compare(text: &str) {
    let mut lines = text.split('\n').chain(["", "", ""]);
    let texts: [&str; 3] = std::array::from_fn(|_| lines.next().unwrap_or_default());
    for a in texts {
        for b in texts {
            let (left, right) = (ResourceVersion::from(a), ResourceVersion::from(b));
            let order = left.compare(&right);
            assert_eq!(order, as_numbers(a, b), "{a:?} and {b:?}");
            let older = order == Some(Ordering::Less);
            assert_eq!(left.is_older_than(&right), older, "{a:?} and {b:?}");
            let back = right.compare(&left).map(Ordering::reverse);
            assert_eq!(order, back, "antisymmetric: {a:?} and {b:?}");
            let equal = order == Some(Ordering::Equal);
            assert!(!equal || left == right, "one text for one number: {a:?}");
        }
    }
    let [a, b, c] = texts.map(ResourceVersion::from);
    let ascends = a.is_older_than(&b) && b.is_older_than(&c);
    assert!(!ascends || a.is_older_than(&c), "transitive: {texts:?}");
}

/// The same, by padding both to one length.
fn as_numbers(a: &str, b: &str) -> Option<Ordering> {
    let is_number = |text: &str| {
        text.chars().all(|c| c.is_ascii_digit()) && text.chars().next().is_some_and(|c| c != '0')
    };
    let width = a.len().max(b.len());
    (is_number(a) && is_number(b)).then(|| format!("{a:0>width$}").cmp(&format!("{b:0>width$}")))
}
