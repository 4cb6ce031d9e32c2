//! What can go wrong with a list or a watch, and what helps.
//!
//! One total table: every kind has exactly one recovery, none is fatal, and what is not
//! known is answered with a relist. The classification of the server's `Status` lives here too, so
//! that HTTP answers and `ERROR` events cannot be judged differently.

// RFX-7, FM-05

use std::{fmt, time::Duration};

/// One failed attempt.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure {
    /// What kind of failure.
    pub kind: FailureKind,
    /// The HTTP status or the `code` of a `Status`; `None` if no server said one.
    pub code: Option<u16>,
    /// The `reason` of a `Status`, or a short word of our own. Never empty.
    pub reason: String,
    /// What the server or the library said, shortened. Never the content of an object.
    // SEC-7
    pub message: String,
    /// How long the server asks us to wait.
    pub retry_after: Option<Duration>,
}

/// The kinds of [`Failure`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FailureKind {
    /// The version or the continue token is gone (410, `Expired`, `Gone`).
    // RL-48
    Expired,
    /// The version is ahead of what the server has (all three encodings).
    // FM-03
    TooLarge,
    /// Too many requests (429).
    Throttled,
    /// The server cannot answer now (502, 503, 504).
    Unavailable,
    /// Any other 5xx.
    Internal,
    /// Credentials are missing or were not accepted (401).
    Unauthorized,
    /// Permission is missing (403).
    Forbidden,
    /// The resource does not exist (404).
    NotFound,
    /// The request was not understood or not accepted (400, 405, 406, 415, 422).
    Invalid,
    /// No connection could be made.
    Connect,
    /// The connection broke before the answer was complete.
    Cut,
    /// Nothing came within the deadline.
    // FM-09, FM-16, FM-17
    TimedOut,
    /// What came is not the protocol: truncated, unknown type, wrong kind, no name, not JSON.
    Protocol,
    /// What came is larger than the caller allows.
    // SEC-16, SEC-17
    TooBig,
    /// A watch closed so early that reopening at once would be a hot loop.
    // RL-43, FM-21
    ShortWatch,
    /// The initial events of a streaming list were never completed.
    // FM-25
    Incomplete,
    /// The source panicked; the machine goes on.
    // FM-82
    Panicked,
    /// Anything else.
    Other,
}

/// What helps against a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Recovery {
    /// Watch again from the same version, after a delay.
    Rewatch,
    /// List again, not older than what we have.
    Relist,
    /// List again, consistently: our version is of no use.
    RelistConsistent,
}

impl FailureKind {
    /// What helps against this kind when it ends a watch. Total, and none is fatal.
    // RFX-7
    pub fn recovery(self) -> Recovery {
        match self {
            Self::Throttled
            | Self::Unavailable
            | Self::Connect
            | Self::Cut
            | Self::TimedOut
            | Self::Unauthorized
            | Self::ShortWatch
            | Self::Internal => Recovery::Rewatch,
            Self::TooLarge => Recovery::RelistConsistent,
            Self::Expired
            | Self::Forbidden
            | Self::NotFound
            | Self::Invalid
            | Self::Protocol
            | Self::TooBig
            | Self::Incomplete
            | Self::Panicked
            | Self::Other => Recovery::Relist,
        }
    }
}

/// The parts of a `Status` that decide how it is judged.
///
/// ```
/// use informer_reflector::{Failure, FailureKind, StatusParts};
///
/// let gone = StatusParts::new(410, "Expired", "too old resource version");
/// assert_eq!(Failure::from_status(gone).kind, FailureKind::Expired);
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct StatusParts<'a> {
    /// The HTTP status, or the `code` of the body where there is no HTTP status; 0 if neither.
    pub code: u16,
    /// `reason`
    pub reason: &'a str,
    /// `message`
    pub message: &'a str,
    /// The `reason` and `message` of each of `details.causes`.
    pub causes: &'a [(&'a str, &'a str)],
    /// `details.retryAfterSeconds`, or the header.
    pub retry_after: Option<Duration>,
}

impl<'a> StatusParts<'a> {
    /// A status without causes.
    pub fn new(code: u16, reason: &'a str, message: &'a str) -> Self {
        Self {
            code,
            reason,
            message,
            causes: &[],
            retry_after: None,
        }
    }

    /// Sets the causes, each a reason and a message.
    #[must_use]
    pub fn causes(mut self, causes: &'a [(&'a str, &'a str)]) -> Self {
        self.causes = causes;
        self
    }

    /// Sets the delay that the server asks for, if it does.
    #[must_use]
    pub fn retry_after(mut self, delay: Option<Duration>) -> Self {
        self.retry_after = delay;
        self
    }
}

const TOO_LARGE_CAUSE: &str = "ResourceVersionTooLarge";
const TOO_LARGE_MESSAGE: &str = "Too large resource version";
/// Longer messages are cut: a proxy's error page is no use in a log.
const MESSAGE_LIMIT: usize = 512;

impl Failure {
    /// A failure of this kind, with a short reason and a message without content.
    pub fn new(kind: FailureKind, reason: impl Into<String>, message: impl Into<String>) -> Self {
        let mut message = message.into();
        if let Some((cut, _)) = message.char_indices().nth(MESSAGE_LIMIT) {
            message.truncate(cut);
            message.push('…');
        }
        Self {
            kind,
            code: None,
            reason: reason.into(),
            message,
            retry_after: None,
        }
    }

    /// Adds the server's wish for a delay.
    #[must_use]
    pub fn with_retry_after(mut self, delay: Option<Duration>) -> Self {
        self.retry_after = delay;
        self
    }

    /// Judges a `Status`, whether it came as an HTTP answer or as an `ERROR` event.
    // RL-48
    pub fn from_status(parts: StatusParts<'_>) -> Self {
        let kind = kind_of_status(&parts);
        let reason = match parts.reason {
            "" => "Unknown",
            reason => reason,
        };
        Self {
            code: (parts.code != 0).then_some(parts.code),
            retry_after: parts.retry_after,
            ..Self::new(kind, reason, parts.message)
        }
    }
}

fn kind_of_status(parts: &StatusParts<'_>) -> FailureKind {
    let own = ("", parts.message);
    let is_too_large = |(reason, message): &(&str, &str)| {
        *reason == TOO_LARGE_CAUSE || message.contains(TOO_LARGE_MESSAGE)
    };
    if parts.causes.iter().chain([&own]).any(is_too_large) {
        return FailureKind::TooLarge;
    }
    // A known reason decides, otherwise the code.
    match (parts.reason, parts.code) {
        ("Expired" | "Gone", _) => FailureKind::Expired,
        ("TooManyRequests", _) => FailureKind::Throttled,
        ("Unauthorized", _) => FailureKind::Unauthorized,
        ("Forbidden", _) => FailureKind::Forbidden,
        ("NotFound", _) => FailureKind::NotFound,
        ("Invalid" | "BadRequest" | "MethodNotAllowed", _)
        | ("NotAcceptable" | "UnsupportedMediaType", _) => FailureKind::Invalid,
        ("ServiceUnavailable" | "Timeout" | "ServerTimeout", _) => FailureKind::Unavailable,
        ("InternalError", _) => FailureKind::Internal,
        (_, 410) => FailureKind::Expired,
        (_, 429) => FailureKind::Throttled,
        (_, 401) => FailureKind::Unauthorized,
        (_, 403) => FailureKind::Forbidden,
        (_, 404) => FailureKind::NotFound,
        (_, 400 | 405 | 406 | 415 | 422) => FailureKind::Invalid,
        (_, 502..=504) => FailureKind::Unavailable,
        (_, 500..=599) => FailureKind::Internal,
        _ => FailureKind::Other,
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)?;
        if let Some(code) = self.code {
            write!(f, " ({code})")?;
        }
        if !self.message.is_empty() {
            write!(f, ": {}", self.message)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Failure({:?}, {self})", self.kind)
    }
}

impl std::error::Error for Failure {}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(code: u16, reason: &str, message: &str) -> FailureKind {
        Failure::from_status(StatusParts {
            code,
            reason,
            message,
            ..Default::default()
        })
        .kind
    }

    /// RL-48, FM-03, FM-05, FM-27: both encodings of 410, all three of a version too large, and
    /// statuses that leave parts out.
    #[test]
    fn statuses_are_judged_alike_however_they_are_written() {
        assert_eq!(kind(410, "Expired", ""), FailureKind::Expired);
        assert_eq!(kind(410, "", ""), FailureKind::Expired);
        assert_eq!(kind(0, "Gone", ""), FailureKind::Expired);
        assert_eq!(
            kind(504, "Timeout", "Too large resource version: 9"),
            FailureKind::TooLarge
        );
        assert_eq!(kind(504, "", ""), FailureKind::Unavailable);
        assert_eq!(kind(500, "", ""), FailureKind::Internal);
        assert_eq!(kind(0, "", ""), FailureKind::Other);
        for cause in [("ResourceVersionTooLarge", ""), ("", TOO_LARGE_MESSAGE)] {
            let parts = StatusParts {
                code: 504,
                reason: "Timeout",
                causes: &[cause],
                ..Default::default()
            };
            assert_eq!(Failure::from_status(parts).kind, FailureKind::TooLarge);
        }
    }

    /// FM-29: the cause is never empty.
    #[test]
    fn an_empty_status_still_says_something() {
        let failure = Failure::from_status(StatusParts::default());
        assert_eq!(failure.to_string(), "Unknown");
    }
}
