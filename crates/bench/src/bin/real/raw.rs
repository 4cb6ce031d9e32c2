//! Requests without an informer: the answer is read to its end and dropped.

use std::io::Write;

use anyhow::{Result, ensure};
use flate2::write::MultiGzDecoder;
use futures::StreamExt;
use http::Request;
use http_body_util::BodyExt;
use kube_client::client::Body;

use crate::access::Access;

/// The annotation of the bookmark that ends the initial events.
const END: &[u8] = b"k8s.io/initial-events-end";

/// A request for an initial state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Raw {
    /// Protobuf, or JSON.
    pub(crate) is_protobuf: bool,
    /// A watch that begins with the objects, or a list.
    pub(crate) is_streaming: bool,
    /// Whether the answer may be compressed.
    pub(crate) is_gzip: bool,
}

/// Reads the initial state; returns the bytes of the answer and how it is encoded.
pub(crate) async fn read(access: &Access, path: &str, raw: Raw) -> Result<(u64, String)> {
    let client = access.client()?;
    let query = match raw.is_streaming {
        true => {
            "watch=true&sendInitialEvents=true&allowWatchBookmarks=true\
             &resourceVersionMatch=NotOlderThan&timeoutSeconds=300"
        }
        false => "resourceVersion=0",
    };
    let accept = match raw.is_protobuf {
        true => "application/vnd.kubernetes.protobuf",
        false => "application/json",
    };
    let mut request = Request::builder()
        .uri(format!("{path}?{query}"))
        .header("accept", accept);
    if raw.is_gzip {
        request = request.header("accept-encoding", "gzip");
    }
    let answer = client.send(request.body(Body::empty())?).await?;
    ensure!(answer.status().is_success(), "{path}: {}", answer.status());
    let encoding = answer.headers().get("content-encoding");
    let encoding = encoding
        .map_or("identity", |value| value.to_str().unwrap_or("?"))
        .to_owned();
    let mut end = End::default();
    let mut unpacked = MultiGzDecoder::new(End::default());
    let mut body = answer.into_body().into_data_stream();
    let mut bytes = 0;
    while let Some(piece) = body.next().await {
        let piece = piece?;
        bytes += piece.len() as u64;
        if !raw.is_streaming {
            continue;
        }
        let is_end = match &*encoding {
            "gzip" => {
                unpacked.write_all(&piece)?;
                unpacked.flush()?;
                unpacked.get_ref().is_found
            }
            _ => {
                end.write_all(&piece)?;
                end.is_found
            }
        };
        if is_end {
            return Ok((bytes, encoding));
        }
    }
    ensure!(!raw.is_streaming, "the watch ended before its bookmark");
    Ok((bytes, encoding))
}

/// Searches for the bookmark, which may be cut by pieces.
#[derive(Debug, Default)]
struct End {
    kept: Vec<u8>,
    is_found: bool,
}

impl Write for End {
    fn write(&mut self, piece: &[u8]) -> std::io::Result<usize> {
        let head = &piece[..piece.len().min(END.len())];
        self.kept.extend_from_slice(head);
        self.is_found |= has_end(&self.kept) || has_end(piece);
        let kept = match piece.len() > END.len() {
            true => piece[piece.len() - END.len()..].to_vec(),
            false => self.kept[self.kept.len().saturating_sub(END.len())..].to_vec(),
        };
        self.kept = kept;
        Ok(piece.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn has_end(bytes: &[u8]) -> bool {
    memchr::memmem::find(bytes, END).is_some()
}
