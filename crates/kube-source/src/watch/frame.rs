//! Cuts the body of a watch into lines.
//!
//! Pure: bytes in, lines out, no I/O. The lines do not depend on how the bytes are chunked. The
//! buffer exceeds the limit by at most one chunk. A last line without its newline
//! is never returned: it may be torn. Tested below and by the fuzz property `frame_chunks`.

// SEC-16, RFX-17, FM-30

use memchr::{memchr, memrchr};

/// The capacity kept after a large line; otherwise it would be held for the life of the watch.
const KEPT_CAPACITY: usize = 64 * 1024;

/// Collects bytes and returns complete lines.
#[derive(Debug)]
pub(crate) struct Framer {
    buffer: Vec<u8>,
    /// Where the first line begins that was not returned yet.
    start: usize,
    /// Where the last complete line ends, or `start` if there is none. Without it, a line that
    /// arrives byte by byte would be searched again for each byte.
    complete: usize,
    limit: usize,
}

/// A line, finished or not, is longer than the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LineTooLong;

impl Framer {
    /// Lines of up to `limit` bytes, the newline not counted.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            buffer: Vec::new(),
            start: 0,
            complete: 0,
            limit,
        }
    }

    /// Takes the next chunk. Call [`Framer::next_line`] until it has no more before the next push.
    pub(crate) fn push(&mut self, chunk: &[u8]) {
        self.discard_handed_out();
        if let Some(newline) = memrchr(b'\n', chunk) {
            self.complete = self.buffer.len() + newline + 1;
        }
        self.buffer.extend_from_slice(chunk);
    }

    /// The bytes of complete lines that were not returned yet.
    pub(crate) fn complete_bytes(&self) -> usize {
        self.complete - self.start
    }

    /// Whether [`Framer::next_line`] returns a line or an error.
    pub(crate) fn has_answer(&self) -> bool {
        self.complete_bytes() > 0 || self.buffer.len() - self.start > self.limit
    }

    /// Splits off whole lines of at least `least` bytes together, or all, as a framer of their own
    /// that returns what this one would have returned.
    pub(crate) fn split_off(&mut self, least: usize) -> Self {
        let ready = &self.buffer[self.start..self.complete];
        let length = match ready.get(least.saturating_sub(1)..) {
            Some(rest) => {
                memchr(b'\n', rest).map_or(ready.len(), |at| ready.len() - rest.len() + at + 1)
            }
            None => ready.len(),
        };
        let lines = Self {
            buffer: ready[..length].to_vec(),
            start: 0,
            complete: length,
            limit: self.limit,
        };
        self.start += length;
        lines
    }

    /// The bytes that were not returned yet.
    pub(crate) fn rest(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    /// The next complete line that is not blank, without its newline.
    pub(crate) fn next_line(&mut self) -> Result<Option<&[u8]>, LineTooLong> {
        loop {
            let from = self.start;
            let Some(length) = memchr(b'\n', &self.buffer[from..self.complete]) else {
                let too_long = self.buffer.len() - from > self.limit;
                return if too_long { Err(LineTooLong) } else { Ok(None) };
            };
            if length > self.limit {
                return Err(LineTooLong);
            }
            let to = from + length;
            self.start = to + 1;
            if !self.buffer[from..to].trim_ascii().is_empty() {
                return Ok(Some(&self.buffer[from..to]));
            }
        }
    }

    /// Releases unused capacity.
    pub(crate) fn give_back(&mut self) {
        self.discard_handed_out();
        self.buffer.shrink_to_fit();
    }

    /// The capacity of the buffer.
    #[cfg(test)]
    pub(crate) fn room(&self) -> usize {
        self.buffer.capacity()
    }

    fn discard_handed_out(&mut self) {
        self.buffer.drain(..self.start);
        self.complete -= self.start;
        self.start = 0;
        if self.buffer.len() < KEPT_CAPACITY && self.buffer.capacity() > KEPT_CAPACITY {
            self.buffer.shrink_to(KEPT_CAPACITY);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines_of(chunks: &[&[u8]], limit: usize) -> (Vec<Vec<u8>>, bool) {
        let mut framer = Framer::new(limit);
        let mut lines = Vec::new();
        for chunk in chunks {
            framer.push(chunk);
            if hand_out(&mut framer, &mut lines) {
                return (lines, true);
            }
        }
        (lines, false)
    }

    /// Whether one was too long.
    fn hand_out(framer: &mut Framer, lines: &mut Vec<Vec<u8>>) -> bool {
        loop {
            match framer.next_line() {
                Ok(Some(line)) => lines.push(line.to_vec()),
                Ok(None) => return false,
                Err(LineTooLong) => return true,
            }
        }
    }

    proptest! {
        /// Fuzz property 1, `frame_chunks`: any chunking gives the same frames and the same end.
        #[test]
        fn any_chunking_gives_the_same_lines(
            bytes in prop::collection::vec(
                prop_oneof![Just(b'\n'), Just(b' '), any::<u8>()],
                0..200,
            ),
            cuts in prop::collection::vec(0_usize..200, 0..8),
            limit in 0_usize..40,
        ) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.sort_unstable();
            let mut chunks = Vec::new();
            let mut from = 0;
            for cut in cuts.into_iter().chain([bytes.len()]) {
                chunks.push(&bytes[from..cut]);
                from = cut;
            }
            prop_assert_eq!(lines_of(&chunks, limit), lines_of(&[&bytes], limit));
        }
    }

    proptest! {
        /// Any batching gives the same lines and the same end.
        #[test]
        fn any_batching_gives_the_same_lines(
            pieces in prop::collection::vec(
                prop::collection::vec(prop_oneof![Just(b'\n'), Just(b' '), any::<u8>()], 0..40),
                0..6,
            ),
            batches in prop::collection::vec(0_usize..30, 0..6),
            limit in 0_usize..20,
        ) {
            let mut framer = Framer::new(limit);
            let mut lines = Vec::new();
            let mut too_long = false;
            let mut batches = batches.into_iter().cycle();
            for piece in &pieces {
                framer.push(piece);
                while framer.complete_bytes() > 0 && !too_long {
                    let before = framer.rest().len();
                    let mut batch = framer.split_off(batches.next().unwrap_or(1));
                    prop_assert_eq!(batch.rest().len() + framer.rest().len(), before);
                    too_long = hand_out(&mut batch, &mut lines);
                    prop_assert!(too_long || !batch.has_answer());
                }
                too_long |= framer.has_answer();
                if too_long {
                    break;
                }
            }
            let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
            prop_assert_eq!((lines, too_long), lines_of(&pieces, limit));
        }
    }

    /// FM-30: what has no newline is not a line, and blank lines are nothing.
    #[test]
    fn a_fragment_is_never_handed_out() {
        let lines = |bytes| lines_of(&[bytes], 99).0;
        assert_eq!(lines(b"one\r\n\n  \ntwo\nthr"), [&b"one\r"[..], b"two"]);
    }

    /// SEC-16: the limit counts for finished and unfinished lines alike.
    #[test]
    fn a_long_line_is_an_error_finished_or_not() {
        assert_eq!(
            lines_of(&[b"abc\nabcd\n"], 3),
            (vec![b"abc".to_vec()], true)
        );
        assert_eq!(lines_of(&[b"abcd"], 3), (vec![], true));
    }

    /// RFX-17: one large line does not leave a large buffer behind.
    #[test]
    fn a_large_buffer_is_given_back() {
        let mut framer = Framer::new(1 << 20);
        framer.push(&vec![b'x'; 500_000]);
        framer.push(b"\n");
        assert!(matches!(framer.next_line(), Ok(Some(_))));
        framer.push(b"y");
        assert!(framer.room() <= KEPT_CAPACITY);
        framer.give_back();
        assert_eq!((framer.rest(), framer.room()), (&b"y"[..], 1));
    }
}
