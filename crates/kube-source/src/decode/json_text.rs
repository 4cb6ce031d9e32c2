//! White space as JSON has it. What ASCII counts as such has the form feed besides, and text with
//! one is not JSON (FM-10, FM-30).

use informer_reflector::{Failure, FailureKind};

use crate::decode::envelope::Text;

const BLANK: [u8; 4] = *b" \t\n\r";

/// Text without what stands behind it.
pub(crate) fn trim_end(text: &str) -> &str {
    text.trim_end_matches(BLANK.map(char::from))
}

/// Bytes without what stands before them.
pub(crate) fn trim_start(bytes: &[u8]) -> &[u8] {
    let blank = bytes.iter().take_while(|byte| BLANK.contains(byte));
    &bytes[blank.count()..]
}

/// JSON is UTF-8 throughout, in what we skip as well; one look at all of it is the quickest way.
pub(crate) fn text(bytes: &[u8]) -> Result<&str, Failure> {
    std::str::from_utf8(bytes).map_err(|error| {
        let message = format!("the answer is not UTF-8 at byte {}", error.valid_up_to());
        Failure::new(FailureKind::Protocol, "Malformed", message)
    })
}

/// Not JSON, or not of this shape. Says where, never what (SEC-7).
pub(crate) fn not_json(error: &serde_json::Error) -> Failure {
    let what = match error.classify() {
        serde_json::error::Category::Eof => "ends early",
        serde_json::error::Category::Data => "has an unexpected shape",
        _ => "is not well-formed JSON",
    };
    let (line, column) = (error.line(), error.column());
    let message = format!("the answer {what} at line {line}, column {column}");
    Failure::new(FailureKind::Protocol, "Malformed", message)
}

pub(crate) fn wrong_kind(api_version: &Text<'_>, kind: &Text<'_>) -> Failure {
    let (api_version, kind) = (short(api_version.as_str()), short(kind.as_str()));
    let message = format!("unexpected type {api_version:?}, {kind:?}");
    Failure::new(FailureKind::Protocol, "WrongKind", message)
}

/// Words of a server that go into a message: short, and without control characters.
pub(crate) fn short(text: &str) -> String {
    const LIMIT: usize = 200;
    text.chars()
        .filter(|c| !c.is_control())
        .take(LIMIT)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_feed_is_not_blank() {
        assert_eq!(trim_end("{} \t\r\n"), "{}");
        assert_eq!(trim_end("{}\u{c} "), "{}\u{c}");
        assert_eq!(trim_start(b" \t\r\n{} "), b"{} ");
        assert_eq!(trim_start(b" \x0c{}"), b"\x0c{}");
        assert_eq!((trim_end(" "), trim_start(b"\n")), ("", &b""[..]));
    }
}
