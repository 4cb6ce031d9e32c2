//! A watch as a body: lines of JSON or frames of protobuf, all that are ready in one chunk.

use std::io;

use bytes::Bytes;
use futures::stream;

use super::answer::{ApiBody, broken};
use crate::{feed::Feed, wire::Frame};

/// The lines of a feed. Chunks share nothing with the history but its bytes' content: one copy
/// puts the lines of a batch together.
pub(super) fn body(feed: Feed) -> ApiBody {
    let chunks = stream::unfold(Lines::Open(Box::new(feed)), |lines| async move {
        match lines {
            Lines::Open(mut feed) => {
                let frames = feed.next().await?;
                let is_cut = matches!(frames.last(), Some(Frame::Cut(_)));
                let chunk = write(&frames, &feed);
                let lines = if is_cut {
                    Lines::Cut
                } else {
                    Lines::Open(feed)
                };
                Some((Ok(chunk), lines))
            }
            Lines::Cut => Some((Err(broken()), Lines::Over)),
            Lines::Over => None::<(io::Result<Bytes>, Lines)>,
        }
    });
    ApiBody::stream(chunks)
}

enum Lines {
    Open(Box<Feed>),
    Cut,
    Over,
}

fn write(frames: &[Frame], feed: &Feed) -> Bytes {
    let mut out = Vec::with_capacity(frames.len() * 512);
    for frame in frames {
        frame.write(&mut out, &feed.resource, feed.format);
    }
    Bytes::from(out)
}
