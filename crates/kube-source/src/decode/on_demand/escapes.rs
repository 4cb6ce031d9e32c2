//! Strings that are written with escapes.

use wide::u8x16;

use super::VECTOR;

/// Returns the text of a string, of which `written` stands between the quotes. `None` if an escape
/// is not one of JSON's, or encodes half of a surrogate pair.
pub(super) fn unescaped(written: &str) -> Option<String> {
    let bytes = written.as_bytes();
    // An escape is longer than its character, so this is never exceeded.
    let mut text = Vec::with_capacity(bytes.len());
    let mut at = 0;
    loop {
        let rest = &bytes[at..];
        if let Some(vector) = rest.first_chunk::<VECTOR>() {
            // Texts with escapes have one every few bytes. Copying a vector and taking some of it
            // back is quicker than a call for each piece.
            let plain = plain_bytes(vector);
            text.extend_from_slice(vector);
            text.truncate(text.len() - (VECTOR - plain));
            at += plain;
            if plain == VECTOR {
                continue;
            }
        } else {
            let plain = rest.iter().take_while(|byte| **byte != b'\\').count();
            text.extend_from_slice(&rest[..plain]);
            at += plain;
            if at == bytes.len() {
                return String::from_utf8(text).ok();
            }
        }
        let (character, after) = character(&written[at..])?;
        match u8::try_from(character) {
            Ok(byte) if byte.is_ascii() => text.push(byte),
            _ => text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
        at = bytes.len() - after.len();
    }
}

/// The number of bytes before the first backslash.
#[inline]
fn plain_bytes(vector: &[u8; VECTOR]) -> usize {
    let backslashes = u8x16::new(*vector).cmp_eq(u8x16::splat(b'\\'));
    // The bit above those of the bytes marks the end of the vector.
    let ends = u32::from(backslashes.move_mask() as u16) | 1 << VECTOR;
    ends.trailing_zeros() as usize
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
