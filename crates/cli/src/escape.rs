//! Makes strings from a cluster harmless for a terminal (SEC-13).
//!
//! Whoever may write an object may write escape sequences into it: to hide lines, to forge lines,
//! to make the terminal answer. Every string that came over the network goes through here before it
//! is printed. Does not escape backslashes or quotes: those harm nobody.
//!
//! - SEC-13: no C0, DEL, C1, line separator, direction control or invisible tag is printed as it
//!   is. Tests below.

use std::borrow::Cow;
use std::fmt::Write;

/// Characters that act on a terminal, or change what a reader believes to see.
fn is_harmful(c: char) -> bool {
    matches!(c,
        '\0'..='\x1f' | '\x7f'..='\u{9f}'
        // Direction: LRM, RLM, ALM, embeddings and overrides, isolates.
        | '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        // Lines and paragraphs.
        | '\u{2028}' | '\u{2029}'
        // Invisible: zero-width space, word joiner and operators, shaping controls, byte order
        // mark, annotations, tags.
        | '\u{200b}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
    )
}

/// The text with harmful characters written as `\n`, `\r`, `\t`, `\u001b` or `\u{e0041}`.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    if !text.contains(is_harmful) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if is_harmful(c) => match u16::try_from(u32::from(c)) {
                Ok(unit) => push_unit(&mut out, unit),
                Err(_) => {
                    out.push_str("\\u{");
                    push_hex(&mut out, u32::from(c), 0);
                    out.push('}');
                }
            },
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// JSON that was written by a serializer, with what it leaves as it is escaped too.
///
/// Such characters can only stand inside strings, where JSON's own escape means the same.
pub(crate) fn json(json: &str) -> Cow<'_, str> {
    if !json.contains(is_harmful) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 8);
    for c in json.chars() {
        if is_harmful(c) {
            c.encode_utf16(&mut [0; 2])
                .iter()
                .for_each(|unit| push_unit(&mut out, *unit));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

fn push_unit(out: &mut String, unit: u16) {
    out.push_str("\\u");
    push_hex(out, u32::from(unit), 4);
}

fn push_hex(out: &mut String, value: u32, width: usize) {
    write!(out, "{value:0width$x}").expect("a String takes everything");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SEC-13: CVE-2021-25743 is the first line.
    #[test]
    fn what_acts_on_a_terminal_is_written_out() {
        let cases = [
            ("a\x1b[2Jb", "a\\u001b[2Jb"),
            ("a\rb\nc\td", "a\\rb\\nc\\td"),
            ("a\0b\x07\x08\x7f", "a\\u0000b\\u0007\\u0008\\u007f"),
            ("\u{9b}31m", "\\u009b31m"),
            ("admin\u{202e}txt", "admin\\u202etxt"),
            (
                "\u{2066}x\u{2069}\u{200f}\u{61c}",
                "\\u2066x\\u2069\\u200f\\u061c",
            ),
            ("a\u{2028}b\u{feff}c", "a\\u2028b\\ufeffc"),
            ("\u{e0041}", "\\u{e0041}"),
        ];
        for (raw, escaped) in cases {
            assert_eq!(text(raw), escaped, "{raw:?}");
        }
    }

    #[test]
    fn what_harms_nobody_stays_and_costs_nothing() {
        for harmless in [
            "default/nginx",
            "grüße 世界 🦀",
            r"C:\x \u001b",
            "👩\u{200d}💻",
        ] {
            assert!(matches!(text(harmless), Cow::Borrowed(same) if same == harmless));
            assert!(matches!(json(harmless), Cow::Borrowed(_)));
        }
    }

    #[test]
    fn every_control_character_is_escaped_in_both_forms() {
        for c in (0..=0x10_ffff)
            .filter_map(char::from_u32)
            .filter(|c| c.is_control())
        {
            assert!(!text(&c.to_string()).contains(c), "{c:?}");
            let written = serde_json::to_string(&c).expect("a character is JSON");
            let escaped = json(&written).into_owned();
            assert!(!escaped.contains(c), "{c:?}");
            let read: char = serde_json::from_str(&escaped).expect("still JSON");
            assert_eq!(read, c);
        }
    }

    #[test]
    fn escaped_json_means_the_same() {
        let value = serde_json::json!({"a\u{202e}": "\u{9b}\u{e0041}\x1b\u{feff} 🦀 \" \\"});
        let escaped = json(&value.to_string()).into_owned();
        assert!(escaped.is_ascii() || !escaped.contains(is_harmful));
        let read: serde_json::Value = serde_json::from_str(&escaped).expect("still JSON");
        assert_eq!(read, value);
    }
}
