//! Watches: frames with a length, and an event in each.

use crate::error::{Error, ErrorKind, Result};
use crate::wire;

/// Splits the first frame off the bytes of a watch: the frame, and the bytes behind it.
///
/// A frame is a length of four bytes, big-endian, and that many bytes. The result is `None` if the
/// frame is not complete yet.
///
/// # Errors
///
/// The frame is empty or longer than `max` bytes. The length is checked as soon as its four bytes
/// are there, so a caller never buffers more than `max + 4` bytes for one frame.
///
/// ```
/// use informer_kube_protobuf::split_frame;
///
/// let bytes = [0, 0, 0, 2, 10, 0, 0, 0];
/// let (frame, rest) = split_frame(&bytes, 1024)?.expect("a complete frame");
/// assert_eq!((frame, rest), (&[10, 0][..], &[0, 0][..]));
/// assert!(split_frame(rest, 1024)?.is_none());
/// assert!(split_frame(&[255, 255, 255, 255], 1024).is_err());
/// # Ok::<(), informer_kube_protobuf::Error>(())
/// ```
pub fn split_frame(bytes: &[u8], max: usize) -> Result<Option<(&[u8], &[u8])>> {
    let Some((length, rest)) = bytes.split_first_chunk() else {
        return Ok(None);
    };
    let length = u32::from_be_bytes(*length);
    match usize::try_from(length) {
        Ok(length) if (1..=max).contains(&length) => Ok(rest.split_at_checked(length)),
        _ => Err(Error::at(ErrorKind::Frame(length), bytes).in_input(bytes)),
    }
}

/// An event of a watch.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct WatchEvent<'a> {
    /// `ADDED`, `MODIFIED`, `DELETED`, `BOOKMARK` or `ERROR`.
    pub event_type: &'a str,
    /// The object: a complete body for [`Envelope::parse`](crate::Envelope::parse).
    pub object: &'a [u8],
}

impl<'a> WatchEvent<'a> {
    /// Reads the event of a frame.
    ///
    /// # Errors
    ///
    /// The message is damaged, or contains two types or two objects.
    pub fn parse(frame: &'a [u8]) -> Result<Self> {
        Self::read(frame).map_err(|error| error.in_input(frame))
    }

    fn read(mut rest: &'a [u8]) -> Result<Self> {
        let (mut event_type, mut extension) = (None, None);
        while !rest.is_empty() {
            let start = rest;
            let is_repeated = match wire::tag(&mut rest)? {
                (1, wire::BYTES) => event_type.replace(wire::text(&mut rest)?).is_some(),
                (2, wire::BYTES) => extension.replace(wire::bytes(&mut rest)?).is_some(),
                (1 | 2, found) => {
                    return Err(Error::wire_type(wire::BYTES, found, start));
                }
                (_, wire) => {
                    wire::skip(&mut rest, wire)?;
                    false
                }
            };
            if is_repeated {
                return Err(Error::at(ErrorKind::Repeated, start));
            }
        }
        Ok(Self {
            event_type: event_type.unwrap_or_default(),
            object: wire::only_field(extension.unwrap_or_default())?,
        })
    }
}

impl std::fmt::Debug for WatchEvent<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WatchEvent")
            .field("event_type", &self.event_type)
            .field("object", &format_args!("{} bytes", self.object.len()))
            .finish()
    }
}
