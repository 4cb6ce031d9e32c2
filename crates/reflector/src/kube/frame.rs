//! Cuts the body of a watch into lines.
//!
//! Pure: bytes in, lines out, no I/O. Whatever the chunks, the lines are the same; what is held
//! never exceeds the limit by more than one chunk (SEC-16, RFX-17). A last line without its newline
//! is never handed out: it may be a torn frame (FM-30). Proven in the tests below and by the fuzz
//! property `frame_chunks`.

/// A large line must not leave a large buffer behind for the life of a watch.
const KEPT_CAPACITY: usize = 64 * 1024;

/// Collects bytes and hands out complete lines.
#[derive(Debug)]
pub(crate) struct Framer {
    buffer: Vec<u8>,
    /// Where the first line not handed out yet begins.
    start: usize,
    /// Up to where there is no newline after `start`; keeps a slow drip linear.
    searched: usize,
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
            searched: 0,
            limit,
        }
    }

    /// Takes the next chunk. Call [`Framer::next_line`] until it has no more before the next push.
    pub(crate) fn push(&mut self, chunk: &[u8]) {
        self.discard_handed_out();
        self.buffer.extend_from_slice(chunk);
    }

    /// The next complete line that is not blank, without its newline.
    pub(crate) fn next_line(&mut self) -> Result<Option<&[u8]>, LineTooLong> {
        loop {
            let rest = &self.buffer[self.searched..];
            let Some(offset) = rest.iter().position(|byte| *byte == b'\n') else {
                self.searched = self.buffer.len();
                let too_long = self.buffer.len() - self.start > self.limit;
                return if too_long { Err(LineTooLong) } else { Ok(None) };
            };
            let (from, to) = (self.start, self.searched + offset);
            if to - from > self.limit {
                return Err(LineTooLong);
            }
            self.start = to + 1;
            self.searched = self.start;
            if !self.buffer[from..to].trim_ascii().is_empty() {
                return Ok(Some(&self.buffer[from..to]));
            }
        }
    }

    fn discard_handed_out(&mut self) {
        self.buffer.drain(..self.start);
        self.searched -= self.start;
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
            loop {
                match framer.next_line() {
                    Ok(Some(line)) => lines.push(line.to_vec()),
                    Ok(None) => break,
                    Err(LineTooLong) => return (lines, true),
                }
            }
        }
        (lines, false)
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
        assert!(framer.buffer.capacity() <= KEPT_CAPACITY);
    }
}
