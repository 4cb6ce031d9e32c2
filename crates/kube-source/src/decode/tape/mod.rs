//! An object as a tape: a flat list of tokens, with strings in place.
//!
//! A tape contains the length of each list, so vectors are allocated once, and the number of tokens
//! of each value, so an unwanted value is skipped in one step. Any doubtful input is a [`Misfit`];
//! serde_json then reads the text again, and its result counts.

use std::fmt;

use serde::de::Error;
use simd_json::{Buffers, Node as Token, Tape};

mod deserializer;

/// The same bound on nesting as serde_json's.
const DEEPEST: usize = 127;
/// The capacity that is kept after a large object.
const KEPT: usize = 256 * 1024;

/// Memory for reading, used for one object after another.
pub(crate) struct Scratch {
    text: Vec<u8>,
    buffers: Buffers,
    tape: Tape<'static>,
}

impl Default for Scratch {
    fn default() -> Self {
        Self {
            text: Vec::new(),
            buffers: Buffers::with_max_depth(0, DEEPEST),
            tape: Tape(Vec::new()),
        }
    }
}

impl Scratch {
    /// Calls `read` with the tokens of one object. Returns `None` if it is not JSON, or doubtful.
    pub(crate) fn read<R>(
        &mut self,
        json: &str,
        read: impl FnOnce(Tokens<'_, '_>) -> Result<R, Misfit>,
    ) -> Option<R> {
        self.read_located(json, |tokens, _| read(tokens))
    }

    /// As [`read`](Self::read), with the place that the places of strings are counted from.
    pub(crate) fn read_located<R>(
        &mut self,
        json: &str,
        read: impl FnOnce(Tokens<'_, '_>, TextStart) -> Result<R, Misfit>,
    ) -> Option<R> {
        self.text.clear();
        self.text.extend_from_slice(json.as_bytes());
        self.text.resize(json.len() + simd_json::INPUT_PADDING, 0);
        let start = TextStart(self.text.as_ptr().addr());
        let mut tape = std::mem::replace(&mut self.tape, Tape(Vec::new())).reset();
        let filled =
            simd_json::fill_tape_padded(&mut self.text, json.len(), &mut self.buffers, &mut tape);
        let result = match filled {
            Ok(()) => read(Tokens(&tape.0), start).ok(),
            Err(_) => None,
        };
        self.tape = tape.reset();
        if self.text.capacity() > KEPT {
            *self = Self::default();
        }
        result
    }
}

/// Where the text of a tape begins in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextStart(usize);

impl TextStart {
    /// The place in the text where a string on the tape begins, behind its quote. Strings stay
    /// where they are, also if an escape made them shorter.
    pub(crate) fn offset_of(self, string: &str) -> usize {
        string.as_ptr().addr().wrapping_sub(self.0)
    }
}

/// The tape has no result and serde_json must decide. It also reports the reason.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Misfit;

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not for the tape")
    }
}

impl std::error::Error for Misfit {}

impl Error for Misfit {
    fn custom<M: fmt::Display>(_: M) -> Self {
        Self
    }
}

/// The tokens that were not read yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tokens<'t, 'de>(&'t [Token<'de>]);

impl<'t, 'de> Tokens<'t, 'de> {
    #[inline]
    fn next(&mut self) -> Result<Token<'de>, Misfit> {
        let (token, rest) = self.0.split_first().ok_or(Misfit)?;
        self.0 = rest;
        Ok(*token)
    }

    #[inline]
    fn peek(&self) -> Result<Token<'de>, Misfit> {
        self.0.first().copied().ok_or(Misfit)
    }

    /// Skips a value with all its contents.
    #[inline]
    pub(crate) fn skip(&mut self) -> Result<(), Misfit> {
        let inside = match self.next()? {
            Token::Object { count, .. } | Token::Array { count, .. } => count,
            Token::String(_) | Token::Static(_) => 0,
        };
        self.0 = self.0.get(inside..).ok_or(Misfit)?;
        Ok(())
    }

    /// Steps into an object, and returns the number of its members. `None` for any other value.
    pub(crate) fn members(&mut self) -> Result<Option<usize>, Misfit> {
        match self.next()? {
            Token::Object { len, .. } => Ok(Some(len)),
            _ => Ok(None),
        }
    }

    /// Whether the next value is an object or a list with something in it.
    pub(crate) fn is_nested(&self) -> Result<bool, Misfit> {
        match self.peek()? {
            Token::Object { len, .. } | Token::Array { len, .. } => Ok(len > 0),
            Token::String(_) | Token::Static(_) => Ok(false),
        }
    }

    /// The next token, which is a key.
    pub(crate) fn key(&mut self) -> Result<&'de str, Misfit> {
        match self.next()? {
            Token::String(key) => Ok(key),
            _ => Err(Misfit),
        }
    }
}
