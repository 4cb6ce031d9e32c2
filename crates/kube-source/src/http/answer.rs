//! Checks an answer before its body is read, and reads bodies within bounds.
//!
//! The HTTP status is checked first, then the content type, and only then the body.

// FM-28, FM-35

use std::{error::Error as StdError, io, time::Duration};

use bytes::Bytes;
use futures::{Stream, StreamExt, TryStreamExt, stream::try_unfold};
use http::{HeaderMap, Response, header};
use http_body_util::BodyExt;
use hyper_util::client::legacy::Error as ClientError;
use informer_reflector::{Failure, FailureKind};
use kube_client::client::Body;
use tokio::time::timeout;

use crate::{
    ReceivedWire,
    decode::json_text::{protocol, short},
    http::{
        negotiation::Accepted,
        request::PROTOBUF,
        status::{self, HttpParts, WireStatus},
    },
};

/// The longest error body that is read. A `Status` is shorter.
const ERROR_BODY_LIMIT: usize = 64 * 1024;

/// Returns the format and the body of an answer that can be a list or a watch.
pub(crate) async fn accepted(
    answer: Response<Body>,
    patience: Duration,
    accepted: Accepted,
) -> Result<(ReceivedWire, Body), Failure> {
    if !answer.status().is_success() {
        return Err(refused(answer, patience).await);
    }
    let format = check_headers(answer.headers(), accepted)?;
    Ok((format, answer.into_body()))
}

/// Requires an accepted format without compression. An answer without a content type is JSON.
fn check_headers(headers: &HeaderMap, accepted: Accepted) -> Result<ReceivedWire, Failure> {
    let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let format = text(header::CONTENT_TYPE).map_or(Some(ReceivedWire::Json), format_of);
    // JSON is always understood.
    let format = format.filter(|format| *format == ReceivedWire::Json || accepted.has(*format));
    let Some(format) = format else {
        let essence = short(essence_of(text(header::CONTENT_TYPE).unwrap_or_default()));
        let message = format!("the answer is {essence}, which was not requested");
        return Err(protocol("ContentType", message));
    };
    match text(header::CONTENT_ENCODING) {
        None | Some("identity") => Ok(format),
        Some(encoding) => {
            let message = format!("the answer is encoded as {}", short(encoding));
            Err(protocol("ContentEncoding", message))
        }
    }
}

/// The format of this content type, if it is one of ours.
fn format_of(content_type: &str) -> Option<ReceivedWire> {
    let essence = essence_of(content_type).to_ascii_lowercase();
    if essence == PROTOBUF {
        return Some(ReceivedWire::Protobuf);
    }
    let is_json = essence == "application/json" || essence.ends_with("+json");
    is_json.then_some(ReceivedWire::Json)
}

fn essence_of(content_type: &str) -> &str {
    content_type.split(';').next().unwrap_or_default().trim()
}

/// Turns a refusal into one typed failure, whatever its body.
// FM-28, FM-29
async fn refused(answer: Response<Body>, patience: Duration) -> Failure {
    let code = answer.status();
    let retry_after = retry_after(answer.headers());
    let is_text = is_plain_text(answer.headers());
    // The status line counts even if the body does not arrive.
    let pieces = bounded(answer.into_body(), ERROR_BODY_LIMIT, patience);
    let body = pieces.try_collect::<Vec<_>>().await;
    let body = body.unwrap_or_default().concat();
    let http = HttpParts {
        code: code.as_u16(),
        reason: code.canonical_reason().unwrap_or("HTTP"),
        retry_after,
    };
    if let Some(status) = WireStatus::read(&body) {
        return status.judge(http);
    }
    let mut failure = WireStatus::default().judge(http);
    failure.message = match std::str::from_utf8(&body) {
        Ok(text) if is_text => short(text.lines().next().unwrap_or_default()),
        _ => "the answer holds no Status".to_owned(),
    };
    failure
}

fn is_plain_text(headers: &HeaderMap) -> bool {
    let value = headers.get(header::CONTENT_TYPE);
    value.is_some_and(|value| value.as_bytes().starts_with(b"text/plain"))
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(header::RETRY_AFTER)?.to_str().ok()?;
    // The server's clock is preferred, since the local one may be wrong.
    let date = headers
        .get(header::DATE)
        .and_then(|date| date.to_str().ok());
    let server_now = date.and_then(|date| jiff::fmt::rfc2822::parse(date).ok());
    let now = server_now.map_or_else(jiff::Timestamp::now, |date| date.timestamp());
    status::retry_after(text, now)
}

/// The data of a body, at most `limit` bytes, with at most `patience` between two pieces.
// FM-09, SEC-17, SEC-21
pub(crate) fn bounded(
    body: Body,
    limit: usize,
    patience: Duration,
) -> impl Stream<Item = Result<Bytes, Failure>> {
    try_unfold((pieces(body), 0), move |(mut pieces, came)| async move {
        let piece = timeout(patience, pieces.next()).await.map_err(|_| {
            let message = format!("{came} bytes came, then none for {patience:?}");
            Failure::new(FailureKind::TimedOut, "Stalled", message)
        })?;
        let Some(piece) = piece.transpose().map_err(|error| broken(&error))? else {
            return Ok(None);
        };
        let came = came + piece.len();
        if came > limit {
            let message = format!("the answer is larger than {limit} bytes");
            return Err(Failure::new(FailureKind::TooBig, "PageTooBig", message));
        }
        Ok(Some((piece, (pieces, came))))
    })
}

/// The data of a body, piece by piece.
pub(crate) type Pieces = http_body_util::BodyDataStream<Body>;

pub(crate) fn pieces(body: Body) -> Pieces {
    body.into_data_stream()
}

/// The failure of a body that broke before its end.
pub(crate) fn broken(error: &kube_client::Error) -> Failure {
    let kind = match is_time_out(error) {
        true => FailureKind::TimedOut,
        false => FailureKind::Cut,
    };
    Failure::new(kind, "BodyBroken", chain(error))
}

/// The failure of a request without an answer.
pub(crate) fn unanswered(error: &kube_client::Error) -> Failure {
    // SEC-8: the error of a credential plugin quotes its output and its environment.
    if causes(error).any(is_of_credentials) {
        return Failure::new(
            FailureKind::Unauthorized,
            "Credentials",
            "credentials could not be obtained",
        );
    }
    let kind = if is_unconnected(error) {
        FailureKind::Connect
    } else if is_time_out(error) {
        FailureKind::TimedOut
    } else if is_cut(error) {
        FailureKind::Cut
    } else {
        FailureKind::Connect
    };
    Failure::new(kind, "NoAnswer", chain(error))
}

/// Whether credentials could not be obtained. They are renewed within the service, whose error is
/// one of the causes.
fn is_of_credentials(cause: &(dyn StdError + 'static)) -> bool {
    use kube_client::{Error, client::AuthError};
    cause.is::<AuthError>() || matches!(cause.downcast_ref(), Some(Error::Auth(_)))
}

/// Whether no connection was made, also within the time for it. This does not depend on the
/// request. A broken connection may be caused by it, so the same request must not be repeated
/// forever.
fn is_unconnected(error: &kube_client::Error) -> bool {
    has_io(error, io::ErrorKind::ConnectionRefused)
        || causes(error)
            .filter_map(|cause| cause.downcast_ref::<ClientError>())
            .any(ClientError::is_connect)
}

/// Whether a connection existed and broke.
fn is_cut(error: &kube_client::Error) -> bool {
    let is_client = |cause: &(dyn StdError + 'static)| cause.is::<ClientError>();
    causes(error).any(is_client) || matches!(error, kube_client::Error::HyperError(_))
}

fn is_time_out(error: &kube_client::Error) -> bool {
    has_io(error, io::ErrorKind::TimedOut)
}

/// Whether an I/O error of this kind is among the causes.
fn has_io(error: &kube_client::Error, kind: io::ErrorKind) -> bool {
    causes(error)
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|io| io.kind() == kind)
}

/// The causes of an error, each mentioned once, outermost first.
// FM-29
fn chain(error: &kube_client::Error) -> String {
    let mut text = String::new();
    for cause in causes(error) {
        let words = short(&cause.to_string());
        if text.is_empty() {
            text = words;
        } else if !text.contains(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
    }
    text
}

fn causes<'e>(error: &'e kube_client::Error) -> impl Iterator<Item = &'e (dyn StdError + 'static)> {
    let outermost: &'e (dyn StdError + 'static) = error;
    std::iter::successors(Some(outermost), |error| (*error).source())
}
