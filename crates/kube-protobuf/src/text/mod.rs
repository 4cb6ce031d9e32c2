//! The texts that JSON has for times, durations and bytes.

mod parse;

use std::ops::RangeInclusive;

pub(crate) use parse::{from_base64, from_duration, from_time};

/// The seconds of Go's zero time, the first second of the year 1.
pub(crate) const GO_ZERO_SECONDS: i64 = -62_135_596_800;

/// The seconds of the years 0 to 9999, which have four digits.
const YEARS: RangeInclusive<i64> = -62_167_219_200..=253_402_300_799;

/// The digits of base64.
const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

const SECONDS_OF_DAY: i64 = 86_400;

/// A time as text, on the stack.
pub(crate) struct TimeText {
    bytes: [u8; 27],
    len: usize,
}

impl TimeText {
    const SECONDS: Self = Self::new(*b"0000-00-00T00:00:00Z0000000", 20);
    const MICROS: Self = Self::new(*b"0000-00-00T00:00:00.000000Z", 27);

    const fn new(bytes: [u8; 27], len: usize) -> Self {
        Self { bytes, len }
    }

    pub(crate) fn as_str(&self) -> &str {
        let text = self.bytes.get(..self.len).unwrap_or_default();
        std::str::from_utf8(text).unwrap_or_default()
    }

    /// Writes two digits.
    #[inline(always)]
    fn pair(&mut self, at: usize, number: i64) {
        let number = number as u32;
        self.bytes[at] = b'0' + (number / 10 % 10) as u8;
        self.bytes[at + 1] = b'0' + (number % 10) as u8;
    }
}

/// Writes a time as Go does, in seconds or with `nanos` cut to microseconds; `None` beyond the
/// years 0 to 9999.
pub(crate) fn time(seconds: i64, nanos: Option<i32>) -> Option<TimeText> {
    let seconds = whole_seconds(seconds, nanos)?;
    let micros = nanos.map(micros);
    let (day, second) = (
        seconds.div_euclid(SECONDS_OF_DAY),
        seconds.rem_euclid(SECONDS_OF_DAY),
    );
    let (year, month, day) = date(day);
    let mut text = match micros {
        None => TimeText::SECONDS,
        Some(_) => TimeText::MICROS,
    };
    text.pair(0, year / 100);
    text.pair(2, year % 100);
    text.pair(5, month);
    text.pair(8, day);
    text.pair(11, second / 3600);
    text.pair(14, second / 60 % 60);
    text.pair(17, second % 60);
    if let Some(micros) = micros {
        let micros = micros.rem_euclid(1_000_000);
        text.pair(20, micros / 10_000);
        text.pair(22, micros / 100 % 100);
        text.pair(24, micros % 100);
    }
    Some(text)
}

/// The seconds of a time; `None` beyond the years 0 to 9999. Nanoseconds outside of their range
/// count into the seconds.
#[inline]
pub(crate) fn whole_seconds(seconds: i64, nanos: Option<i32>) -> Option<i64> {
    let carry = nanos.map_or(0, |nanos| micros(nanos).div_euclid(1_000_000));
    let seconds = seconds.checked_add(carry)?;
    YEARS.contains(&seconds).then_some(seconds)
}

#[inline]
fn micros(nanos: i32) -> i64 {
    i64::from(nanos) / 1000
}

/// The Gregorian date of a day since 1970. Years begin in March here, so that the leap day is the
/// last one of a year, and 400 years have 146,097 days.
fn date(day: i64) -> (i64, i64, i64) {
    let day = day + 719_468;
    let (era, day) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    (year + era * 400 + carry, month, day)
}

/// Writes a duration as Go does: `1h2m3.5s`, `1.5ms`, `0s`.
pub(crate) fn duration(nanos: i64) -> String {
    let sign = if nanos < 0 { "-" } else { "" };
    let nanos = nanos.unsigned_abs();
    let (unit, name) = match nanos {
        0 => return "0s".to_owned(),
        1..1_000 => (1, "ns"),
        1_000..1_000_000 => (1_000, "µs"),
        1_000_000..1_000_000_000 => (1_000_000, "ms"),
        _ => return format!("{sign}{}", long_duration(nanos)),
    };
    format!("{sign}{}{name}", decimal(nanos, unit))
}

fn long_duration(nanos: u64) -> String {
    const SECOND: u64 = 1_000_000_000;
    let (minutes, rest) = (nanos / (60 * SECOND), nanos % (60 * SECOND));
    let seconds = decimal(rest, SECOND);
    match (minutes / 60, minutes % 60) {
        (0, 0) => format!("{seconds}s"),
        (0, minutes) => format!("{minutes}m{seconds}s"),
        (hours, minutes) => format!("{hours}h{minutes}m{seconds}s"),
    }
}

/// Writes `number / unit` without zeros at the end; `unit` is a power of ten.
fn decimal(number: u64, unit: u64) -> String {
    let (whole, fraction) = (number / unit, number % unit);
    if fraction == 0 {
        return whole.to_string();
    }
    let digits = format!("{:01$}", fraction, unit.ilog10() as usize);
    format!("{whole}.{}", digits.trim_end_matches('0'))
}

/// Writes bytes in base64 with padding.
pub(crate) fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            let index = (bits >> (18 - 6 * digit)) as usize & 63;
            text.push(if digit > chunk.len() {
                '='
            } else {
                char::from(DIGITS[index])
            });
        }
    }
    text
}
