//! Reads a `Status` from an answer or from an `ERROR` event.
//!
//! It may be pretty-printed, lack its type, or have fields that are missing or null.
//! [`Failure::from_status`] classifies the fields that are there, the same for both sources.

// FM-27, FM-28

use std::time::Duration;

use informer_kube_protobuf::Envelope;
use informer_reflector::{Failure, StatusParts};
use serde::Deserialize;

use crate::decode::envelope::Text;

/// The fields of a `Status` that matter.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct WireStatus<'a> {
    code: Option<f64>,
    #[serde(borrow)]
    reason: Text<'a>,
    #[serde(borrow)]
    message: Text<'a>,
    #[serde(borrow)]
    details: Option<Details<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Details<'a> {
    retry_after_seconds: Option<f64>,
    #[serde(borrow)]
    causes: Option<Vec<Cause<'a>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Cause<'a> {
    #[serde(borrow)]
    reason: Text<'a>,
    #[serde(borrow)]
    message: Text<'a>,
}

/// The parts of an HTTP answer beside its body.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HttpParts<'a> {
    /// The HTTP status; 0 for an event of a watch.
    pub(crate) code: u16,
    /// The usual name of the code, used if the body has no reason.
    pub(crate) reason: &'a str,
    /// The `Retry-After` header. Takes precedence over the body.
    pub(crate) retry_after: Option<Duration>,
}

impl<'a> WireStatus<'a> {
    /// Reads a body that may be a `Status`. Protobuf has a prefix that no JSON begins with.
    pub(crate) fn read(body: &'a [u8]) -> Option<Self> {
        match Envelope::parse(body) {
            Ok(envelope) => envelope.decode().ok(),
            Err(_) => serde_json::from_slice(body).ok(),
        }
    }

    /// Classifies the status. The HTTP status takes precedence over the body's `code`.
    pub(crate) fn judge(&self, http: HttpParts<'_>) -> Failure {
        let causes = self.details.iter().flat_map(|details| &details.causes);
        let causes = causes.flatten();
        let causes = causes.map(|cause| (cause.reason.as_str(), cause.message.as_str()));
        let in_body = self.details.as_ref().and_then(|d| d.retry_after_seconds);
        let code = match http.code {
            // The cast saturates, and JSON has no NaN.
            0 => self.code.unwrap_or_default() as u16,
            code => code,
        };
        let reason = match self.reason.as_str() {
            "" => http.reason,
            reason => reason,
        };
        Failure::from_status(
            StatusParts::new(code, reason, self.message.as_str())
                .causes(&causes.collect::<Vec<_>>())
                .retry_after(http.retry_after.or_else(|| in_body.and_then(seconds))),
        )
    }
}

/// The longest delay that a server can request. The cap keeps sums of times from overflowing.
// SEC-27
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

fn seconds(wish: f64) -> Option<Duration> {
    (wish > 0.0).then(|| Duration::from_secs_f64(wish.min(LONGEST.as_secs_f64())))
}

/// Reads a `Retry-After` header, seconds or an HTTP date. The result is at most a day.
// FM-12
pub(crate) fn retry_after(header: &str, now: jiff::Timestamp) -> Option<Duration> {
    let header = header.trim();
    if !header.is_empty() && header.bytes().all(|byte| byte.is_ascii_digit()) {
        // A number that does not fit is more than a day too.
        let wish = header.parse().map_or(LONGEST, Duration::from_secs);
        return (!wish.is_zero()).then(|| wish.min(LONGEST));
    }
    let date = jiff::fmt::rfc2822::parse(header).ok()?;
    let wish = now.duration_until(date.timestamp());
    (wish.is_positive()).then(|| wish.unsigned_abs().min(LONGEST))
}

#[cfg(test)]
mod tests {
    use super::*;
    use informer_reflector::FailureKind;

    fn judge(json: &str, code: u16) -> Failure {
        let status: WireStatus<'_> = serde_json::from_str(json).expect("a status");
        status.judge(HttpParts {
            code,
            reason: "Name",
            retry_after: None,
        })
    }

    /// FM-27, FM-28: a corpus of what servers and proxies write.
    #[test]
    fn statuses_are_read_however_they_are_written() {
        let pretty = r#"{
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": "pods is forbidden",
            "reason": "Forbidden", "details": {"kind": "pods"}, "code": 403
        }"#;
        let cases = [
            (
                pretty,
                403,
                FailureKind::Forbidden,
                "Forbidden (403): pods is forbidden",
            ),
            (
                r#"{"code":410,"reason":"Expired"}"#,
                0,
                FailureKind::Expired,
                "Expired (410)",
            ),
            (
                r#"{"kind":"","apiVersion":"","code":410}"#,
                0,
                FailureKind::Expired,
                "Name (410)",
            ),
            (
                r#"{"reason":null,"details":null}"#,
                500,
                FailureKind::Internal,
                "Name (500)",
            ),
            (
                r#"{"details":{"causes":null},"code":null}"#,
                0,
                FailureKind::Other,
                "Name",
            ),
            (r#"{}"#, 429, FailureKind::Throttled, "Name (429)"),
            (r#"{"code":-1e300}"#, 0, FailureKind::Other, "Name"),
            (
                r#"{"details":{"causes":[{"reason":"ResourceVersionTooLarge"}]},"code":504}"#,
                0,
                FailureKind::TooLarge,
                "Name (504)",
            ),
        ];
        for (json, code, kind, text) in cases {
            let failure = judge(json, code);
            assert_eq!(
                (failure.kind, &*failure.to_string()),
                (kind, text),
                "{json}"
            );
        }
    }

    /// FM-12: the body may ask for patience as well.
    #[test]
    fn the_body_may_ask_to_wait() {
        let wait = |json| judge(json, 429).retry_after;
        let body = r#"{"details":{"retryAfterSeconds":7}}"#;
        assert_eq!(wait(body), Some(Duration::from_secs(7)));
        assert_eq!(wait(r#"{"details":{"retryAfterSeconds":-7}}"#), None);
        assert_eq!(
            wait(r#"{"details":{"retryAfterSeconds":1e300}}"#),
            Some(LONGEST)
        );
    }

    /// FM-12, SEC-27, fuzz property 5: seconds, dates, nonsense, and never more than the cap.
    #[test]
    fn retry_after_is_read_and_bounded() {
        let now = "2015-10-21T07:27:00Z".parse().expect("a time");
        let cases = [
            ("1", Some(1)),
            (" 120 ", Some(120)),
            ("0", None),
            ("", None),
            ("-5", None),
            ("soon", None),
            ("1.5", None),
            ("99999999999999999999999999", Some(LONGEST.as_secs())),
            ("Wed, 21 Oct 2015 07:28:00 GMT", Some(60)),
            ("Wed, 21 Oct 2015 07:26:00 GMT", None),
            ("Wed, 21 Oct 2099 07:26:00 GMT", Some(LONGEST.as_secs())),
        ];
        for (header, expected) in cases {
            let expected = expected.map(Duration::from_secs);
            assert_eq!(retry_after(header, now), expected, "{header:?}");
        }
    }
}
