//! The fuzz targets: how bytes become input, and the properties that must hold.
//!
//! The first bytes select conditions, such as how the rest is cut into pieces. The rest is the
//! answer of a server, so that a seed is readable.

use std::time::Duration;

use informer_reflector::fuzzing::delays;

use super::judge::{judge_event, judge_list, judge_status};
use crate::{ReceivedWire, http::status, watch::frame::Framer};

/// Any pieces of the same bytes give the same frames and the same end, and no more is held than a
/// line of the longest kind and one piece.
///
/// # Panics
///
/// If they do not.
pub fn frame_chunks(data: &[u8]) {
    let [limit, cut, bytes @ ..] = data else {
        return;
    };
    let limit = usize::from(*limit);
    let format = match cut {
        ..250 => ReceivedWire::Json,
        _ => ReceivedWire::Protobuf,
    };
    let mut framer = Framer::new(format, limit);
    let mut lines = Vec::new();
    let mut too_long = false;
    for piece in pieces(bytes, *cut) {
        framer.push(piece);
        too_long = match cut % 3 {
            0 => in_batches(&mut framer, usize::from(*cut), &mut lines),
            _ => hand_out(&mut framer, &mut lines),
        };
        if too_long {
            break;
        }
        let held = framer.rest().len();
        assert!(
            held <= limit + 4,
            "RFX-17: {held} bytes of a frame of {limit}"
        );
    }
    let expected = match format {
        ReceivedWire::Json => split_lines(bytes, limit),
        ReceivedWire::Protobuf => split_messages(bytes, limit),
    };
    assert_eq!((lines, too_long), expected, "FM-30, SEC-16");
}

/// The messages behind their lengths, naively.
fn split_messages(mut bytes: &[u8], limit: usize) -> (Vec<Vec<u8>>, bool) {
    let mut messages = Vec::new();
    while let [a, b, c, d, rest @ ..] = bytes {
        let length = u64::from_be_bytes([0, 0, 0, 0, *a, *b, *c, *d]);
        if length > limit as u64 {
            return (messages, true);
        }
        let Some((message, rest)) = rest.split_at_checked(length as usize) else {
            break;
        };
        messages.push(message.to_vec());
        bytes = rest;
    }
    (messages, false)
}

/// The lines, naively.
fn split_lines(bytes: &[u8], limit: usize) -> (Vec<Vec<u8>>, bool) {
    let mut lines: Vec<&[u8]> = bytes.split(|&byte| byte == b'\n').collect();
    let is_too_long = |line: &&[u8]| line.len() > limit;
    let too_long = lines.iter().position(is_too_long);
    // The last one has no newline and is never handed out; nor is what is too long, nor what
    // comes after it.
    lines.truncate(too_long.unwrap_or(lines.len() - 1));
    let is_blank = |line: &&[u8]| line.iter().all(u8::is_ascii_whitespace);
    let lines = lines.into_iter().filter(|line| !is_blank(line));
    (lines.map(<[u8]>::to_vec).collect(), too_long.is_some())
}

/// Whether one was too long.
fn hand_out(framer: &mut Framer, lines: &mut Vec<Vec<u8>>) -> bool {
    loop {
        match framer.next_frame() {
            Ok(Some(line)) => lines.push(line.to_vec()),
            Ok(None) => return false,
            Err(_) => return true,
        }
    }
}

/// The same through framers of some lines each.
fn in_batches(framer: &mut Framer, least: usize, lines: &mut Vec<Vec<u8>>) -> bool {
    while framer.complete_bytes() > 0 {
        if hand_out(&mut framer.split_off(least), lines) {
            return true;
        }
    }
    framer.has_answer()
}

/// The bytes whole, or in pieces of lengths that repeat.
fn pieces(bytes: &[u8], cut: u8) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    let mut turn = cut;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        turn = turn.wrapping_mul(5).wrapping_add(cut | 1);
        let length = match cut {
            0 => rest.len(),
            1..=127 => 1 + usize::from(turn % 4),
            _ => 1 + usize::from(turn),
        };
        let (piece, later) = rest.split_at(length.min(rest.len()));
        rest = later;
        Some(piece)
    })
}

/// One line of a watch is an event, whole and as it was written, or a failure of some class.
///
/// # Panics
///
/// If it is neither.
pub fn watch_event(line: &[u8]) {
    judge_event(line);
}

/// A list in pieces is the whole list, or a failure.
///
/// # Panics
///
/// If it is neither.
pub fn list_page(data: &[u8]) {
    let [cut, body @ ..] = data else { return };
    judge_list(body, pieces(body, *cut));
}

/// Each `Status` has one class, however it is written and wherever it came.
///
/// # Panics
///
/// If it has more, or none.
pub fn status_classify(data: &[u8]) {
    const CODES: [u16; 16] = [
        0, 200, 400, 401, 403, 404, 409, 410, 422, 429, 500, 502, 503, 504, 599, 999,
    ];
    let [code, text @ ..] = data else { return };
    if let Ok(text) = std::str::from_utf8(text) {
        judge_status(text, CODES[usize::from(*code) % CODES.len()]);
    }
}

/// What a server asks us to wait is never shortened below zero, nor beyond the cap.
///
/// # Panics
///
/// If it is.
pub fn retry_after(data: &[u8]) {
    let [kind_number, rest @ ..] = data else {
        return;
    };
    let Some((now, header)) = rest.split_first_chunk::<4>() else {
        return;
    };
    let now = jiff::Timestamp::from_second(i64::from(u32::from_be_bytes(*now)) * 4);
    let (Ok(now), Ok(header)) = (now, std::str::from_utf8(header)) else {
        return;
    };
    let asked = status::retry_after(header, now);
    let day = Duration::from_secs(24 * 60 * 60);
    let is_wish = |asked: Duration| !asked.is_zero() && asked <= day;
    assert!(asked.is_none_or(is_wish), "SEC-27: {header:?} is {asked:?}");
    let digits = header.trim();
    if !digits.is_empty() && digits.len() < 19 && digits.bytes().all(|b| b.is_ascii_digit()) {
        let seconds = digits.parse().expect("few digits are a number");
        assert_eq!(
            asked.unwrap_or_default(),
            day.min(Duration::from_secs(seconds))
        );
    }
    delays(*kind_number, asked);
}
