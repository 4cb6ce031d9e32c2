//! Deserializes JSON that is known to be well formed, and reads only what the type has.
//!
//! The text of a packed object was checked when the object arrived, so it need not be checked each
//! time it is read. This deserializer goes through the text once, without a tape, and skips a value
//! that the type ignores 64 bytes at a time. Other text never makes it panic, but it may accept
//! text that is not JSON.
//!
//! As for the tape, doubtful input is a [`Misfit`], and serde_json decides: a value that the type
//! rejects, and bytes with escapes. `tests/parsers.rs` checks that both give the same result.

mod deserializer;
mod escapes;

use serde::de::Visitor;
use serde_json::{Deserializer as Json, de::StrRead};
use wide::u8x16;

use crate::decode::{separator::SeparatorFinder, tape::Misfit};

/// The same bound on nesting as serde_json's.
const DEEPEST: usize = 127;

/// The number of bytes that are compared by one instruction.
const VECTOR: usize = 16;

/// An integer with at most this many digits fits into 64 bits.
const SHORT: usize = 18;

/// The rest of a text.
pub(crate) struct OnDemand<'de> {
    text: &'de str,
    /// The position that is read next.
    at: usize,
    /// The number of lists and objects around it.
    depth: usize,
}

/// A string between its quotes.
struct Quoted<'de> {
    /// As it is written, without the quotes.
    written: &'de str,
    has_escapes: bool,
}

impl Quoted<'_> {
    /// The text of a string with escapes.
    fn unescaped(&self) -> Result<String, Misfit> {
        escapes::unescaped(self.written).ok_or(Misfit)
    }
}

impl<'de> OnDemand<'de> {
    pub(crate) fn new(text: &'de str) -> Self {
        let (at, depth) = (0, 0);
        Self { text, at, depth }
    }

    /// Checks that nothing but white space is left.
    pub(crate) fn end(&mut self) -> Result<(), Misfit> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(Misfit),
        }
    }

    /// Returns the bytes that were not read yet; none behind a backslash that ends the text.
    #[inline]
    fn rest(&self) -> &'de [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    /// The first byte of the next token.
    #[inline]
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(self.at) {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.at += 1,
                byte => return byte.copied(),
            }
        }
    }

    /// Takes a byte that must be next.
    #[inline]
    fn take(&mut self, expected: u8) -> Result<(), Misfit> {
        match self.peek() == Some(expected) {
            true => {
                self.at += 1;
                Ok(())
            }
            false => Err(Misfit),
        }
    }

    /// Takes a word, such as `null`, if it is next.
    #[inline]
    fn has_word(&mut self, word: &str) -> bool {
        let has = self.rest().starts_with(word.as_bytes());
        self.at += if has { word.len() } else { 0 };
        has
    }

    /// Takes a string.
    #[inline]
    fn quoted(&mut self) -> Result<Quoted<'de>, Misfit> {
        self.take(b'"')?;
        let start = self.at;
        let mut has_escapes = false;
        loop {
            self.at = end_of_run(self.text.as_bytes(), self.at).ok_or(Misfit)?;
            if self.text.as_bytes()[self.at] == b'"' {
                break;
            }
            has_escapes = true;
            // The backslash, and the byte behind it.
            self.at += 2;
        }
        let written = self.text.get(start..self.at).ok_or(Misfit)?;
        self.at += 1;
        Ok(Quoted {
            written,
            has_escapes,
        })
    }

    /// Takes a number, a bool or `null`, as it is written.
    #[inline]
    fn word(&mut self) -> Result<&'de str, Misfit> {
        self.peek();
        let start = self.at;
        let is_part =
            |byte: &u8| !matches!(byte, b',' | b']' | b'}' | b' ' | b'\n' | b'\r' | b'\t');
        self.at += self.rest().iter().take_while(|byte| is_part(byte)).count();
        self.text.get(start..self.at).ok_or(Misfit)
    }

    /// Skips a value with all its contents.
    #[inline]
    fn skip(&mut self) -> Result<(), Misfit> {
        match self.peek() {
            Some(b'"') => self.quoted().map(drop),
            Some(b'{' | b'[') => {
                let rest = self.rest();
                let length = SeparatorFinder::default().find(rest);
                self.at += length.unwrap_or(rest.len());
                Ok(())
            }
            _ => self.word().map(drop),
        }
    }

    /// Visits a list or an object up to the bracket that closes it. A visitor that leaves some of
    /// it unread has rejected it.
    #[inline]
    fn within<R>(
        &mut self,
        (open, close): (u8, u8),
        visit: impl FnOnce(Contents<'_, 'de>) -> Result<R, Misfit>,
    ) -> Result<R, Misfit> {
        self.take(open)?;
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Misfit);
        }
        let value = visit(Contents {
            rest: &mut *self,
            is_first: true,
        })?;
        self.depth -= 1;
        self.take(close)?;
        Ok(value)
    }

    #[inline]
    fn list<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Misfit> {
        self.within((b'[', b']'), |elements| visitor.visit_seq(elements))
    }

    #[inline]
    fn object<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Misfit> {
        self.within((b'{', b'}'), |members| visitor.visit_map(members))
    }

    #[inline]
    fn text<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Misfit> {
        let quoted = self.quoted()?;
        match quoted.has_escapes {
            false => visitor.visit_borrowed_str(quoted.written),
            true => visitor.visit_string(quoted.unescaped()?),
        }
    }

    /// Visits a number. `read` reads those that are no short integers, as serde_json does.
    #[inline]
    fn number<V: Visitor<'de>>(
        &mut self,
        visitor: V,
        read: impl FnOnce(&mut Json<StrRead<'de>>, V) -> serde_json::Result<V::Value>,
    ) -> Result<V::Value, Misfit> {
        let word = self.word()?;
        match short_integer(word) {
            Some((false, number)) => visitor.visit_u64(number),
            Some((true, number)) => visitor.visit_i64(-number.cast_signed()),
            None => {
                let mut json = Json::from_str(word);
                let value = read(&mut json, visitor).map_err(|_| Misfit)?;
                json.end().map_err(|_| Misfit)?;
                Ok(value)
            }
        }
    }

    fn boolean(&mut self) -> Result<bool, Misfit> {
        self.peek();
        if self.has_word("true") {
            return Ok(true);
        }
        match self.has_word("false") {
            true => Ok(false),
            false => Err(Misfit),
        }
    }

    fn null(&mut self) -> Result<(), Misfit> {
        self.peek();
        match self.has_word("null") {
            true => Ok(()),
            false => Err(Misfit),
        }
    }
}

/// The position of the next quote or backslash.
#[inline]
fn end_of_run(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let rest = bytes.get(at..)?;
        let Some(vector) = rest.first_chunk::<VECTOR>() else {
            let found = rest.iter().position(|byte| matches!(byte, b'"' | b'\\'));
            return found.map(|found| at + found);
        };
        let vector = u8x16::new(*vector);
        let ends = vector.cmp_eq(u8x16::splat(b'"')) | vector.cmp_eq(u8x16::splat(b'\\'));
        match ends.move_mask() {
            0 => at += VECTOR,
            mask => return Some(at + mask.trailing_zeros() as usize),
        }
    }
}

/// An integer of 64 bits as everybody writes it. `None` for any other number, and for `-0`, which
/// is no integer.
#[inline]
fn short_integer(word: &str) -> Option<(bool, u64)> {
    let (is_negative, digits) = match word.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, word),
    };
    let is_plain = match digits.as_bytes() {
        [b'0'] => !is_negative,
        [b'1'..=b'9', ..] => digits.len() <= SHORT,
        _ => false,
    };
    if !is_plain {
        return None;
    }
    let number = digits.bytes().try_fold(0, |number: u64, byte| {
        let is_digit = byte.is_ascii_digit();
        is_digit.then(|| number * 10 + u64::from(byte - b'0'))
    });
    number.map(|number| (is_negative, number))
}

/// The elements of a list, or the members of an object, that are left.
struct Contents<'c, 'de> {
    rest: &'c mut OnDemand<'de>,
    is_first: bool,
}

impl<'de> Contents<'_, 'de> {
    /// Whether one more is left, which is read next.
    #[inline]
    fn advance(&mut self, close: u8) -> Result<bool, Misfit> {
        if self.rest.peek() == Some(close) {
            return Ok(false);
        }
        if !std::mem::take(&mut self.is_first) {
            self.rest.take(b',')?;
        }
        Ok(true)
    }
}
