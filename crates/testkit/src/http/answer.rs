//! Bodies and responses.

use std::{
    fmt, io,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use futures::{Stream, StreamExt};
use http::{HeaderValue, Response, StatusCode, header};
use http_body::{Body, Frame as BodyFrame, SizeHint};
use http_body_util::BodyDataStream;
use serde_json::Value;

use crate::{
    Object, Rejection, Resource, protobuf,
    wire::{Encoding, Format},
};

/// The body of an answer: bytes, or a stream of them that may break.
pub struct ApiBody(Content);

enum Content {
    Bytes(Option<Bytes>),
    Stream(Pin<Box<dyn Stream<Item = io::Result<Bytes>> + Send>>),
}

impl ApiBody {
    pub(super) fn stream(stream: impl Stream<Item = io::Result<Bytes>> + Send + 'static) -> Self {
        Self(Content::Stream(Box::pin(stream)))
    }

    /// The same, after a pause.
    pub(super) fn stalled(self, time: Duration) -> Self {
        let rest = async move {
            tokio::time::sleep(time).await;
            BodyDataStream::new(self)
        };
        Self::stream(futures::stream::once(rest).flatten())
    }
}

impl From<Bytes> for ApiBody {
    fn from(bytes: Bytes) -> Self {
        Self(Content::Bytes(Some(bytes)))
    }
}

impl Body for ApiBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<BodyFrame<Bytes>>>> {
        match &mut self.0 {
            Content::Bytes(bytes) => Poll::Ready(bytes.take().map(BodyFrame::data).map(Ok)),
            Content::Stream(stream) => {
                let next = stream.as_mut().poll_next(cx);
                next.map(|next| next.map(|chunk| chunk.map(BodyFrame::data)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.0, Content::Bytes(None))
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Content::Bytes(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Content::Stream(_) => SizeHint::default(),
        }
    }
}

impl fmt::Debug for ApiBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiBody").finish_non_exhaustive()
    }
}

/// The error of a body or a connection that a fault has broken.
pub(super) fn broken() -> io::Error {
    io::Error::new(
        io::ErrorKind::ConnectionReset,
        "the connection was broken by a fault",
    )
}

/// The error of a connection that was never made.
pub(super) fn unreachable() -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionRefused, "nobody listens: a fault")
}

/// The error of a connection whose other end was not trusted.
pub(super) fn refused_handshake() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "the certificate is not accepted: a fault",
    )
}

/// An answer of somebody else's.
pub(super) fn foreign(
    code: u16,
    retry_after: Option<&str>,
    media_type: &'static str,
    body: ApiBody,
) -> Response<ApiBody> {
    let status = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = answer(status, media_type, body);
    if let Some(value) = retry_after.and_then(|text| HeaderValue::from_str(text).ok()) {
        response.headers_mut().insert(header::RETRY_AFTER, value);
    }
    response
}

/// An answer with this body.
pub(super) fn answer(
    status: StatusCode,
    media_type: &'static str,
    body: ApiBody,
) -> Response<ApiBody> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let media_type = HeaderValue::from_static(media_type);
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, media_type);
    response
}

/// The media type of an answer that is no watch.
pub(super) fn media_type(encoding: Encoding) -> &'static str {
    match encoding {
        Encoding::Json => "application/json",
        Encoding::Protobuf => "application/vnd.kubernetes.protobuf",
    }
}

/// An answer of bytes that are encoded already.
pub(super) fn encoded(
    status: StatusCode,
    encoding: Encoding,
    bytes: impl Into<Bytes>,
) -> Response<ApiBody> {
    answer(status, media_type(encoding), ApiBody::from(bytes.into()))
}

/// An answer of a value with `apiVersion` and `kind`.
pub(super) fn value_answer(
    status: StatusCode,
    encoding: Encoding,
    value: &Value,
) -> Response<ApiBody> {
    match encoding {
        Encoding::Json => encoded(status, encoding, value.to_string()),
        Encoding::Protobuf => encoded(status, encoding, protobuf::body(value, None)),
    }
}

/// An answer of one object.
pub(super) fn object_answer(
    status: StatusCode,
    format: Format,
    object: &Object,
    resource: &Resource,
) -> Response<ApiBody> {
    let bytes = match (format.encoding, format.form) {
        (Encoding::Json, form) => object.bytes_in(form),
        (Encoding::Protobuf, form) => protobuf::object_body(object, resource, form).into(),
    };
    encoded(status, format.encoding, bytes)
}

/// The answer to a request that was refused.
pub(super) fn refusal(rejection: &Rejection, encoding: Encoding) -> Response<ApiBody> {
    let status = StatusCode::from_u16(rejection.code);
    let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = value_answer(status, encoding, &rejection.to_json());
    if let Some(delay) = rejection.details.retry_after {
        response
            .headers_mut()
            .insert(header::RETRY_AFTER, HeaderValue::from(delay.as_secs()));
    }
    response
}
