//! Copies the text of an object without dropped fields, by the places that a tape has.
//!
//! A quick way to what [`super::prune`] does: a tape leads from key to key, so that neither a
//! dropped value nor one that is copied is read again. It has no place for what has no key;
//! lists on the way to a dropped field are left to `prune`.

use std::ops::Range;

use super::{
    TypeNames,
    projection::{Node, Projection},
    prune::{is_type_name, supply},
};
use crate::decode::tape::{Misfit, TextStart, Tokens};

/// Appends the text of an object to `copy`, as [`super::prune::copy_pruned`] does.
///
/// # Errors
///
/// [`Misfit`], if the tape does not lead to all dropped fields. Then `copy` has no meaning.
pub(crate) fn copy_by_tape(
    json: &str,
    (tokens, start): (Tokens<'_, '_>, TextStart),
    projection: &Projection,
    names: Option<TypeNames<'_>>,
    copy: &mut Vec<u8>,
) -> Result<(), Misfit> {
    let text = json.as_bytes();
    let mut at = 0;
    let mut cuts = Cuts {
        text,
        start,
        parts: Vec::new(),
    };
    if names.is_some() || !projection.is_empty() {
        let end = cuts.before_space(text.len());
        let has_kept = cuts.object(&mut { tokens }, projection.root(), names, end)?;
        if let Some(names) = names {
            // The comma behind the names needs a member that follows.
            let open = text.iter().position(|byte| *byte == b'{');
            let open = open.filter(|_| has_kept).ok_or(Misfit)?;
            copy.push(b'{');
            supply(names, copy);
            at = open + 1;
        }
    }
    for cut in cuts.parts {
        copy.extend_from_slice(text.get(at..cut.start).ok_or(Misfit)?);
        at = cut.end;
    }
    copy.extend_from_slice(text.get(at..).ok_or(Misfit)?);
    Ok(())
}

/// The parts of a text that are not copied.
struct Cuts<'a> {
    text: &'a [u8],
    start: TextStart,
    /// In the order of the text.
    parts: Vec<Range<usize>>,
}

impl Cuts<'_> {
    /// Finds the parts to cut from an object whose text ends before `end`. Returns whether a member
    /// is left.
    fn object(
        &mut self,
        tokens: &mut Tokens<'_, '_>,
        node: &Node,
        names: Option<TypeNames<'_>>,
        end: usize,
    ) -> Result<bool, Misfit> {
        let mut left = tokens.members()?.ok_or(Misfit)?;
        let mut has_kept = false;
        while left > 0 {
            left -= 1;
            let key = tokens.key()?;
            let is_replaced = is_type_name(key, names);
            let child = node.child(key).filter(|_| !is_replaced);
            let is_dropped = is_replaced || child.is_some_and(Node::is_dropped);
            if child.is_none() && !is_dropped {
                tokens.skip()?;
                has_kept = true;
                continue;
            }
            let begin = self.before_key(key)?;
            let mut value = *tokens;
            tokens.skip()?;
            // Where the value ends, and where the next member begins.
            let (value_end, next) = match left {
                0 => (self.before_space(end.checked_sub(1).ok_or(Misfit)?), None),
                _ => {
                    let next = self.before_key({ *tokens }.key()?)?;
                    (self.before_comma(next)?, Some(next))
                }
            };
            if !is_dropped {
                has_kept = true;
                let child = child.ok_or(Misfit)?;
                if value.is_nested()? {
                    self.object(&mut value, child, None, value_end)?;
                }
                continue;
            }
            let cut = match (has_kept, next) {
                // With the comma before it, or with the one behind it.
                (true, _) => self.comma_before(begin)?..value_end,
                (false, Some(next)) => begin..next,
                (false, None) => begin..value_end,
            };
            self.parts.push(cut);
        }
        Ok(has_kept)
    }

    /// The place of the quote before a key.
    fn before_key(&self, key: &str) -> Result<usize, Misfit> {
        let quote = self.start.offset_of(key).checked_sub(1).ok_or(Misfit)?;
        match self.text.get(quote) {
            Some(b'"') => Ok(quote),
            _ => Err(Misfit),
        }
    }

    /// The place of the comma before a member.
    fn comma_before(&self, member: usize) -> Result<usize, Misfit> {
        let comma = self.before_space(member).checked_sub(1).ok_or(Misfit)?;
        match self.text.get(comma) {
            Some(b',') => Ok(comma),
            _ => Err(Misfit),
        }
    }

    /// The end of the value before the comma before a member.
    fn before_comma(&self, member: usize) -> Result<usize, Misfit> {
        Ok(self.before_space(self.comma_before(member)?))
    }

    /// The end of the text before the white space that ends at `end`.
    fn before_space(&self, end: usize) -> usize {
        let before = self.text.get(..end).unwrap_or_default();
        let is_space = |byte: &u8| matches!(byte, b' ' | b'\n' | b'\r' | b'\t');
        before.len()
            - before
                .iter()
                .rev()
                .take_while(|byte| is_space(byte))
                .count()
    }
}
