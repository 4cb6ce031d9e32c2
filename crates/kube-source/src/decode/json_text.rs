//! The text of an answer: JSON white space, UTF-8, and failures that name a position.
//!
//! Failures never quote the text, except names of types.

// SEC-7

use informer_reflector::{Failure, FailureKind};

/// ASCII white space also contains the form feed, which is not JSON.
// FM-10, FM-30
const BLANK: [u8; 4] = *b" \t\n\r";

/// Removes white space at the end.
pub(crate) fn trim_end(text: &str) -> &str {
    text.trim_end_matches(BLANK.map(char::from))
}

/// Removes white space at the start.
pub(crate) fn trim_start(bytes: &[u8]) -> &[u8] {
    let blank = bytes.iter().take_while(|byte| BLANK.contains(byte));
    &bytes[blank.count()..]
}

/// Checks that the bytes are UTF-8, also in fields that are skipped. One pass over all bytes is the
/// fastest way.
pub(crate) fn text(bytes: &[u8]) -> Result<&str, Failure> {
    simdutf8::basic::from_utf8(bytes).map_err(|_| not_utf8(bytes))
}

#[cold]
fn not_utf8(bytes: &[u8]) -> Failure {
    let valid = bytes
        .utf8_chunks()
        .next()
        .map_or(0, |chunk| chunk.valid().len());
    protocol(
        "Malformed",
        format!("the answer is not UTF-8 at byte {valid}"),
    )
}

/// The failure of a text that is not JSON, or does not have the expected shape.
pub(crate) fn not_json(error: &serde_json::Error) -> Failure {
    let what = match error.classify() {
        serde_json::error::Category::Eof => "ends early",
        serde_json::error::Category::Data => "has an unexpected shape",
        _ => "is not well-formed JSON",
    };
    let (line, column) = (error.line(), error.column());
    let message = format!("the answer {what} at line {line}, column {column}");
    protocol("Malformed", message)
}

/// The failure of an object or list of an unexpected type.
pub(crate) fn wrong_kind(api_version: &str, kind: &str) -> Failure {
    let (api_version, kind) = (short(api_version), short(kind));
    let message = format!("unexpected type {api_version:?}, {kind:?}");
    protocol("WrongKind", message)
}

/// The failure of an answer that no API server sends.
pub(crate) fn protocol(reason: &str, message: impl Into<String>) -> Failure {
    Failure::new(FailureKind::Protocol, reason, message)
}

/// Shortens a text from a server for a message, and removes control characters.
pub(crate) fn short(text: &str) -> String {
    const LIMIT: usize = 200;
    text.chars()
        .filter(|c| !c.is_control())
        .take(LIMIT)
        .collect()
}

/// Makes a path printable. Keys of maps come from the object, so a path may be long or contain
/// control characters.
pub(crate) fn presentable(path: &str) -> String {
    const LIMIT: usize = 256;
    let safe = |c: char| if c.is_control() { '?' } else { c };
    match path {
        "" | "." => "?".to_owned(),
        path => path.chars().take(LIMIT).map(safe).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_not_utf8_is_refused_with_its_first_bad_byte() {
        for good in [&b""[..], b"{}", "\u{e9}".repeat(100).as_bytes()] {
            assert_eq!(text(good).map(str::as_bytes), Ok(good));
        }
        for at in [0, 1, 63, 64, 100, 199] {
            let mut bad = [b'a'; 200];
            bad[at] = 0xc3;
            let error = text(&bad).expect_err("half of a character");
            assert_eq!(
                error.message,
                format!("the answer is not UTF-8 at byte {at}")
            );
        }
    }

    #[test]
    fn a_form_feed_is_not_blank() {
        assert_eq!(trim_end("{} \t\r\n"), "{}");
        assert_eq!(trim_end("{}\u{c} "), "{}\u{c}");
        assert_eq!(trim_start(b" \t\r\n{} "), b"{} ");
        assert_eq!(trim_start(b" \x0c{}"), b"\x0c{}");
        assert_eq!((trim_end(" "), trim_start(b"\n")), ("", &b""[..]));
    }
}
