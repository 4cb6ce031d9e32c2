//! Durations as people write them: `500ms`, `30s`, `1m30s`, `2h`.

use std::time::Duration;

/// Reads a duration. A number without a unit is refused, since nobody knows what was meant.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text:?} is no duration; write for example 500ms, 30s, 1m30s or 2h");
    let mut rest = text;
    let mut total = Duration::ZERO;
    if text.is_empty() {
        return Err(wrong());
    }
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, tail) = rest.split_at(digits);
        let letters = tail.bytes().take_while(u8::is_ascii_alphabetic).count();
        let (unit, tail) = tail.split_at(letters);
        let number: u64 = number.parse().map_err(|_| wrong())?;
        let milliseconds = match unit {
            "ms" => 1,
            "s" => 1_000,
            "m" => 60_000,
            "h" => 3_600_000,
            _ => return Err(wrong()),
        };
        let part = number.checked_mul(milliseconds).ok_or_else(wrong)?;
        let sum = total.checked_add(Duration::from_millis(part));
        total = sum.ok_or_else(wrong)?;
        rest = tail;
    }
    // A year; beyond that a deadline cannot be computed on every platform.
    if total > Duration::from_secs(366 * 86_400) {
        return Err(format!("{text} is longer than a year"));
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_add_up() {
        for (text, milliseconds) in [
            ("500ms", 500),
            ("30s", 30_000),
            ("1m30s", 90_000),
            ("2h", 7_200_000),
            ("0s", 0),
        ] {
            assert_eq!(
                parse(text),
                Ok(Duration::from_millis(milliseconds)),
                "{text}"
            );
        }
    }

    #[test]
    fn nonsense_is_refused_with_an_example() {
        for text in [
            "",
            "5",
            "s",
            "5 s",
            "-1s",
            "1.5s",
            "5d",
            "99999999999999999999s",
            "9999999h",
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.contains("30s") || error.contains("year"), "{error}");
        }
    }
}
