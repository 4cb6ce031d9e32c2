//! An object as a tape: the flat list of its tokens, every string in place.
//!
//! A tape knows how long each list is, so that vectors are made as large as they need to be, and
//! how many tokens each value has, so that what nobody wants is skipped in one step. Whatever is
//! doubtful is a [`Misfit`], and the text is read again by serde_json, whose answer counts.

use std::fmt;

use serde::de::Error;
use simd_json::{Buffers, Node as Token, Tape};

mod members;
pub(crate) mod taped;

/// serde_json's bound on nesting.
const DEEPEST: usize = 127;
/// What one large object needed is given back after it.
const KEPT: usize = 256 * 1024;

/// Memory that one object after another is read in.
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
    /// Hands the tokens of one object to `read`; `None` if it is no JSON, or doubtful.
    pub(crate) fn read<R>(
        &mut self,
        json: &str,
        read: impl FnOnce(Tokens<'_, '_>) -> Result<R, Misfit>,
    ) -> Option<R> {
        self.text.clear();
        self.text.extend_from_slice(json.as_bytes());
        self.text.resize(json.len() + simd_json::INPUT_PADDING, 0);
        let mut tape = std::mem::replace(&mut self.tape, Tape(Vec::new())).reset();
        let filled =
            simd_json::fill_tape_padded(&mut self.text, json.len(), &mut self.buffers, &mut tape);
        let result = filled.is_ok().then(|| read(Tokens(&tape.0)).ok()).flatten();
        self.tape = tape.reset();
        if self.text.capacity() > KEPT {
            *self = Self::default();
        }
        result
    }
}

/// Says that serde_json has to decide; why, it says better.
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

/// The tokens not yet read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tokens<'t, 'de>(&'t [Token<'de>]);

impl<'t, 'de> Tokens<'t, 'de> {
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Token<'de>, Misfit> {
        let (token, rest) = self.0.split_first().ok_or(Misfit)?;
        self.0 = rest;
        Ok(*token)
    }

    #[inline]
    pub(crate) fn peek(&self) -> Result<Token<'de>, Misfit> {
        self.0.first().copied().ok_or(Misfit)
    }

    /// Skips a value with everything in it.
    #[inline]
    pub(crate) fn skip(&mut self) -> Result<(), Misfit> {
        let inside = match self.next()? {
            Token::Object { count, .. } | Token::Array { count, .. } => count,
            Token::String(_) | Token::Static(_) => 0,
        };
        self.0 = self.0.get(inside..).ok_or(Misfit)?;
        Ok(())
    }

    /// The next token, which is a key.
    pub(crate) fn key(&mut self) -> Result<&'de str, Misfit> {
        match self.next()? {
            Token::String(key) => Ok(key),
            _ => Err(Misfit),
        }
    }
}

impl Tokens<'_, '_> {
    /// Where a value of so many tokens ends, for [`Tokens::must_be_at`].
    pub(crate) fn end_of(&self, count: usize) -> Result<usize, Misfit> {
        self.0.len().checked_sub(count).ok_or(Misfit)
    }

    /// A visitor that left something unread has not accepted it.
    pub(crate) fn must_be_at(&self, left: usize) -> Result<(), Misfit> {
        match self.0.len() == left {
            true => Ok(()),
            false => Err(Misfit),
        }
    }
}
