//! Cuts the body of a watch into frames: lines of JSON, or protobuf behind its length.
//!
//! Pure: bytes in, frames out, no I/O. The frames do not depend on how the bytes are chunked. The
//! buffer exceeds the limit by at most one chunk. A last frame that is not complete, such as a line
//! without its newline, is never returned: it may be torn. Tested below and by the fuzz property
//! `frame_chunks`.

// SEC-16, RFX-17, FM-30

use memchr::{memchr, memrchr};

use crate::ReceivedWire;

/// The bytes of a length, big-endian.
const LENGTH: usize = size_of::<u32>();
/// The least length whose bytes may begin a text: 144 MiB, because the first byte is a tab. No API
/// server has an object of this length.
const LEAST_TEXT: usize = 0x0900_0000;
/// The capacity kept after a large frame; otherwise it would be held for the life of the watch.
const KEPT_CAPACITY: usize = 64 * 1024;

/// Collects bytes and returns complete frames.
#[derive(Debug)]
pub(crate) struct Framer {
    format: ReceivedWire,
    buffer: Vec<u8>,
    /// The start of the first frame that was not returned yet.
    start: usize,
    /// The end of the last complete frame, or `start` if there is none. Without it, a line that
    /// arrives byte by byte would be searched again for each byte.
    complete: usize,
    limit: usize,
}

/// The reason why there is no next frame, and never will be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameError {
    /// A frame, complete or not, is longer than the limit.
    TooLong,
    /// The length of a message is above the limit, and its bytes are rather those of a text: the
    /// body is not what its content type says.
    NotALength,
}

impl Framer {
    /// Frames of up to `limit` bytes, without newline and length.
    pub(crate) fn new(format: ReceivedWire, limit: usize) -> Self {
        Self {
            format,
            buffer: Vec::new(),
            start: 0,
            complete: 0,
            limit,
        }
    }

    /// Takes the next chunk. Call [`Framer::next_frame`] until it has no more before the next push.
    pub(crate) fn push(&mut self, chunk: &[u8]) {
        self.discard_handed_out();
        let before = self.buffer.len();
        self.buffer.extend_from_slice(chunk);
        match self.format {
            ReceivedWire::Json => {
                if let Some(newline) = memrchr(b'\n', chunk) {
                    self.complete = before + newline + 1;
                }
            }
            ReceivedWire::Protobuf => {
                while let Ok(Some(length)) = self.framed(self.complete) {
                    self.complete += LENGTH + length;
                }
            }
        }
    }

    /// The length of the frame at this position; `None` if it is not complete. A length is checked
    /// before its frame arrives.
    fn framed(&self, from: usize) -> Result<Option<usize>, FrameError> {
        let Some((length, rest)) = self.buffer[from..].split_first_chunk::<LENGTH>() else {
            return Ok(None);
        };
        let length = usize::try_from(u32::from_be_bytes(*length));
        match length {
            Ok(length) if length <= self.limit => Ok((length <= rest.len()).then_some(length)),
            Ok(length) if length < LEAST_TEXT => Err(FrameError::TooLong),
            _ => Err(FrameError::NotALength),
        }
    }

    /// The bytes of complete frames that were not returned yet.
    pub(crate) fn complete_bytes(&self) -> usize {
        self.complete - self.start
    }

    /// Whether [`Framer::next_frame`] returns a frame or an error.
    pub(crate) fn has_answer(&self) -> bool {
        self.complete_bytes() > 0 || self.is_too_long()
    }

    /// Whether the frame that is not complete is longer than the limit.
    pub(crate) fn is_too_long(&self) -> bool {
        match self.format {
            ReceivedWire::Json => self.buffer.len() - self.complete > self.limit,
            ReceivedWire::Protobuf => self.framed(self.complete).is_err(),
        }
    }

    /// Splits off whole frames of at least `least` bytes together, or all, as a framer of their own
    /// that returns what this one would have returned.
    pub(crate) fn split_off(&mut self, least: usize) -> Self {
        let ready = &self.buffer[self.start..self.complete];
        let length = match (ready.get(least.saturating_sub(1)..), self.format) {
            (Some(rest), ReceivedWire::Json) => {
                memchr(b'\n', rest).map_or(ready.len(), |at| ready.len() - rest.len() + at + 1)
            }
            (Some(_), ReceivedWire::Protobuf) => self.framed_bytes(least),
            (None, _) => ready.len(),
        };
        let frames = Self {
            format: self.format,
            buffer: ready[..length].to_vec(),
            start: 0,
            complete: length,
            limit: self.limit,
        };
        self.start += length;
        frames
    }

    /// The bytes of the first frames behind their lengths, at least `least` of them.
    fn framed_bytes(&self, least: usize) -> usize {
        let mut end = self.start;
        while end < self.complete
            && end - self.start < least.max(1)
            && let Ok(Some(length)) = self.framed(end)
        {
            end += LENGTH + length;
        }
        end - self.start
    }

    /// The bytes that were not returned yet.
    pub(crate) fn rest(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    /// The next complete frame: a line that is not blank, without its newline, or a message without
    /// its length.
    pub(crate) fn next_frame(&mut self) -> Result<Option<&[u8]>, FrameError> {
        match self.format {
            ReceivedWire::Json => self.next_line(),
            ReceivedWire::Protobuf => self.next_message(),
        }
    }

    fn next_message(&mut self) -> Result<Option<&[u8]>, FrameError> {
        let Some(length) = self.framed(self.start)? else {
            return Ok(None);
        };
        let from = self.start + LENGTH;
        self.start = from + length;
        Ok(Some(&self.buffer[from..self.start]))
    }

    fn next_line(&mut self) -> Result<Option<&[u8]>, FrameError> {
        loop {
            let from = self.start;
            let Some(length) = memchr(b'\n', &self.buffer[from..self.complete]) else {
                let too_long = self.buffer.len() - from > self.limit;
                return if too_long {
                    Err(FrameError::TooLong)
                } else {
                    Ok(None)
                };
            };
            if length > self.limit {
                return Err(FrameError::TooLong);
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

    type Frames = (Vec<Vec<u8>>, bool);

    fn lines_of(chunks: &[&[u8]], limit: usize) -> Frames {
        frames_of(ReceivedWire::Json, chunks, limit)
    }

    fn frames_of(format: ReceivedWire, chunks: &[&[u8]], limit: usize) -> Frames {
        let mut framer = Framer::new(format, limit);
        let mut frames = Vec::new();
        for chunk in chunks {
            framer.push(chunk);
            if hand_out(&mut framer, &mut frames) {
                return (frames, true);
            }
        }
        (frames, false)
    }

    fn format() -> impl Strategy<Value = ReceivedWire> {
        prop::sample::select(vec![ReceivedWire::Json, ReceivedWire::Protobuf])
    }

    /// Bytes that are often lines, and often lengths.
    fn byte() -> impl Strategy<Value = u8> {
        prop_oneof![Just(b'\n'), Just(b' '), Just(0), 0_u8..4, any::<u8>()]
    }

    /// Whether one was too long.
    fn hand_out(framer: &mut Framer, lines: &mut Vec<Vec<u8>>) -> bool {
        loop {
            match framer.next_frame() {
                Ok(Some(line)) => lines.push(line.to_vec()),
                Ok(None) => return false,
                Err(_) => return true,
            }
        }
    }

    proptest! {
        /// Fuzz property 1, `frame_chunks`: any chunking gives the same frames and the same end.
        #[test]
        fn any_chunking_gives_the_same_frames(
            format in format(),
            bytes in prop::collection::vec(byte(), 0..200),
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
            prop_assert_eq!(
                frames_of(format, &chunks, limit),
                frames_of(format, &[&bytes], limit)
            );
        }
    }

    proptest! {
        /// Any batching gives the same frames and the same end.
        #[test]
        fn any_batching_gives_the_same_frames(
            format in format(),
            pieces in prop::collection::vec(prop::collection::vec(byte(), 0..40), 0..6),
            batches in prop::collection::vec(0_usize..30, 0..6),
            limit in 0_usize..20,
        ) {
            let mut framer = Framer::new(format, limit);
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
            prop_assert_eq!((lines, too_long), frames_of(format, &pieces, limit));
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

    /// SEC-16: a length is an error as soon as it is there, and nothing is awaited.
    #[test]
    fn a_long_message_is_an_error_before_it_arrives() {
        let frames = |bytes| frames_of(ReceivedWire::Protobuf, &[bytes], 3);
        assert_eq!(
            frames(b"\0\0\0\x03abc\0\0\0\0\0\0\0\x01"),
            (vec![b"abc".to_vec(), vec![]], false)
        );
        assert_eq!(
            frames(b"\0\0\0\x01a\0\0\0\x04"),
            (vec![b"a".to_vec()], true)
        );
        assert_eq!(frames(b"\xff\xff\xff\xff"), (vec![], true));
        assert_eq!(frames(b"\xff\xff\xff"), (vec![], false));
    }

    /// FM-35: a length of 144 MiB and more may be the beginning of a text, unless it is allowed.
    #[test]
    fn the_beginning_of_a_text_is_not_a_length() {
        let error = |limit, bytes: &[u8]| {
            let mut framer = Framer::new(ReceivedWire::Protobuf, limit);
            framer.push(bytes);
            framer.next_frame().map(|frame| frame.map(<[u8]>::to_vec))
        };
        assert_eq!(error(9, b"\x08\xff\xff\xff"), Err(FrameError::TooLong));
        assert_eq!(error(9, b"\x09\0\0\0"), Err(FrameError::NotALength));
        assert_eq!(error(9, b"<html>"), Err(FrameError::NotALength));
        assert_eq!(error(LEAST_TEXT, b"\x09\0\0\0"), Ok(None));
    }

    /// RFX-17: one large line does not leave a large buffer behind.
    #[test]
    fn a_large_buffer_is_given_back() {
        let mut framer = Framer::new(ReceivedWire::Json, 1 << 20);
        framer.push(&vec![b'x'; 500_000]);
        framer.push(b"\n");
        assert!(matches!(framer.next_frame(), Ok(Some(_))));
        framer.push(b"y");
        assert!(framer.room() <= KEPT_CAPACITY);
        framer.give_back();
        assert_eq!((framer.rest(), framer.room()), (&b"y"[..], 1));
    }
}
