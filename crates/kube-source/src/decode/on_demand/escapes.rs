//! Strings that are written with escapes.

use memchr::memchr;

/// Returns the text of a string, of which `written` stands between the quotes. `None` if an escape
/// is not one of JSON's, or encodes half of a surrogate pair.
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

/// Returns the character of the escape at the start of the text, and the text behind it.
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

/// Returns the character of one escape of four digits, or of two that are a surrogate pair.
#[cold]
fn coded(escape: &str) -> Option<(char, &str)> {
    let (first, after) = unit(escape)?;
    if let Some(character) = char::from_u32(first.into()) {
        return Some((character, after));
    }
    let (second, after) = unit(after)?;
    let character = char::decode_utf16([first, second]).next()?.ok()?;
    Some((character, after))
}

/// Returns the unit of UTF-16 that an escape of four digits encodes.
fn unit(escape: &str) -> Option<(u16, &str)> {
    let digits = escape.strip_prefix("\\u")?;
    let (digits, after) = digits.split_at_checked(4)?;
    // Because `from_str_radix` accepts a sign, the digits are checked first.
    let is_hexadecimal = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let unit = u16::from_str_radix(digits, 16).ok()?;
    is_hexadecimal.then_some((unit, after))
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
