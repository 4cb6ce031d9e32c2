//! Strings that are written with escapes.

use memchr::memchr;

/// The text of a string that is written so between its quotes. `None` if it has an escape that is
/// none of JSON's, or one for half a character.
pub(super) fn unescaped(written: &str) -> Option<String> {
    let mut text = String::with_capacity(written.len());
    let mut rest = written;
    while let Some(at) = memchr(b'\\', rest.as_bytes()) {
        let (plain, escape) = rest.split_at(at);
        text.push_str(plain);
        let (character, after) = character(escape)?;
        text.push(character);
        rest = after;
    }
    text.push_str(rest);
    Some(text)
}

/// The character of the escape that a text begins with, and what follows it.
#[inline]
fn character(escape: &str) -> Option<(char, &str)> {
    let character = match escape.as_bytes().get(1)? {
        b'"' => '"',
        b'\\' => '\\',
        b'n' => '\n',
        b't' => '\t',
        b'r' => '\r',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'u' => return coded(escape),
        _ => return None,
    };
    Some((character, &escape[2..]))
}

/// The character of one escape of four digits, or of two that are a surrogate pair.
#[cold]
fn coded(escape: &str) -> Option<(char, &str)> {
    let (first, after) = code(escape)?;
    if !(0xD800..0xDC00).contains(&first) {
        // `None` for the second half of a pair.
        return Some((char::from_u32(first)?, after));
    }
    let (second, after) = code(after)?;
    let is_second = (0xDC00..0xE000).contains(&second);
    let pair = 0x1_0000 + ((first & 0x3FF) << 10) + (second & 0x3FF);
    Some((char::from_u32(pair).filter(|_| is_second)?, after))
}

fn code(escape: &str) -> Option<(u32, &str)> {
    let digits = escape.strip_prefix("\\u")?;
    let (digits, after) = digits.split_at_checked(4)?;
    let is_hexadecimal = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let code = u32::from_str_radix(digits, 16).ok()?;
    is_hexadecimal.then_some((code, after))
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// What serde_json makes of the same string.
    fn by_serde_json(written: &str) -> Option<String> {
        serde_json::from_str(&format!("\"{written}\"")).ok()
    }

    #[test]
    fn escapes_are_those_of_json() {
        for written in [
            "",
            "plain",
            r#"\"\\\/\b\f\n\r\t"#,
            r"\u0041\u00e9\u20AC\ud83d\ude00 after",
            r"\u0000",
            // None of them is JSON.
            r"\",
            r"\x",
            r"\é",
            r"\u",
            r"\u12",
            r"\u+123",
            r"\u12é4",
            r"\ud83d",
            r"\ud83dx",
            r"\ud83d\u0041",
            r"\ud83d\ud83d",
            r"\ude00",
        ] {
            assert_eq!(unescaped(written), by_serde_json(written), "{written}");
        }
    }

    /// A character, an escape, half an escape, or a code that may be half of a pair.
    const PART: &str =
        r#"[a-e/é]|\\["\\/bfnrtuxd]|\\u[0-9a-fA-Fg]{3,5}|\\u[dD][89a-fA-F][0-9a-f]{2}"#;

    proptest! {
        #[test]
        fn every_text_comes_back(text in any::<String>(), coded in any::<bool>()) {
            let written = match coded {
                true => text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect(),
                false => {
                    let quoted = serde_json::to_string(&text).expect("a string");
                    quoted[1..quoted.len() - 1].to_owned()
                }
            };
            prop_assert_eq!(unescaped(&written), Some(text));
        }

        #[test]
        fn any_string_is_what_it_is_to_serde_json(
            parts in vec(PART, 0..8),
        ) {
            let written = parts.concat();
            prop_assert_eq!(unescaped(&written), by_serde_json(&written));
        }
    }
}
