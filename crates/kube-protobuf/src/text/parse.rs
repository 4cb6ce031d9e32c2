//! Parses the texts that JSON has for times, durations and bytes.

/// Parses a time as in RFC 3339: seconds since 1970, and nanoseconds.
pub(crate) fn from_time(text: &str) -> Option<(i64, i64)> {
    let (date, rest) = text.split_once(['T', 't'])?;
    let (year, date) = date.split_once('-')?;
    let (month, day) = date.split_once('-')?;
    let (year, month, day) = (digits(year, 4)?, digits(month, 2)?, digits(day, 2)?);
    let end = rest.find(['Z', 'z', '+', '-'])?;
    let (clock, zone) = rest.split_at(end);
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let mut parts = clock.split(':');
    let (hour, minute, second) = (parts.next()?, parts.next()?, parts.next()?);
    let (hour, minute) = (digits(hour, 2)?, digits(minute, 2)?);
    let second = digits(second, 2)?;
    let in_range = (1..=12).contains(&month) && (1..=31).contains(&day);
    if !in_range || hour > 23 || minute > 59 || second > 59 || parts.next().is_some() {
        return None;
    }
    let seconds = day_number(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second;
    Some((seconds - zone_seconds(zone)?, billionths(fraction)?))
}

/// The days since 1970, by counting the leap days of the years before, which begin in March.
fn day_number(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let leaps = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    365 * year + leaps + (153 * month + 2) / 5 + day - 1 - 719_468
}

fn zone_seconds(zone: &str) -> Option<i64> {
    let sign = match zone.as_bytes().first()? {
        b'Z' | b'z' => return (zone.len() == 1).then_some(0),
        b'-' => -1,
        _ => 1,
    };
    let (hours, minutes) = zone.get(1..)?.split_once(':')?;
    Some(sign * (digits(hours, 2)? * 3_600 + digits(minutes, 2)? * 60))
}

/// Parses exactly `count` digits.
fn digits(text: &str, count: usize) -> Option<i64> {
    let is_number = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

/// Parses the digits behind a decimal point as billionths.
fn billionths(text: &str) -> Option<i64> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    format!("{:0<9}", text.get(..9).unwrap_or(text))
        .parse()
        .ok()
}

/// Parses a duration as Go does: signed decimal numbers, each with a unit.
pub(crate) fn from_duration(text: &str) -> Option<i64> {
    let (sign, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0);
    }
    let mut nanos: i128 = 0;
    while !rest.is_empty() {
        let end = rest.find(|digit: char| !digit.is_ascii_digit() && digit != '.')?;
        let (number, tail) = rest.split_at(end);
        let end = tail.find(|digit: char| digit.is_ascii_digit() || digit == '.');
        let (unit, tail) = tail.split_at(end.unwrap_or(tail.len()));
        let unit: i128 = match unit {
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            _ => return None,
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
        let whole: i128 = i128::from(whole.parse::<i64>().ok()?);
        let part = i128::from(billionths(fraction)?);
        nanos = nanos.checked_add(whole * unit + part * unit / 1_000_000_000)?;
        rest = tail;
    }
    (!text.is_empty())
        .then(|| i64::try_from(sign * nanos).ok())
        .flatten()
}

/// Parses base64 with padding.
pub(crate) fn from_base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let padding = text.bytes().rev().take_while(|&byte| byte == b'=').count();
    if !text.len().is_multiple_of(4) || padding > 2 {
        return None;
    }
    for chunk in text.as_bytes().get(..text.len() - padding)?.chunks(4) {
        let mut bits = 0;
        for &digit in chunk {
            let value = super::DIGITS.iter().position(|&it| it == digit)?;
            bits = bits << 6 | value as u32;
        }
        bits <<= 6 * (4 - chunk.len());
        bytes.extend(bits.to_be_bytes().get(1..chunk.len())?);
    }
    Some(bytes)
}
