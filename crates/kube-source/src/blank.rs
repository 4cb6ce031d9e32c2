//! White space as JSON has it. What ASCII counts as such has the form feed besides, and text with
//! one is not JSON (FM-10, FM-30).

const BLANK: [u8; 4] = *b" \t\n\r";

/// Text without what stands behind it.
pub(super) fn trim_end(text: &str) -> &str {
    text.trim_end_matches(BLANK.map(char::from))
}

/// Bytes without what stands before them.
pub(super) fn trim_start(bytes: &[u8]) -> &[u8] {
    let blank = bytes.iter().take_while(|byte| BLANK.contains(byte));
    &bytes[blank.count()..]
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
