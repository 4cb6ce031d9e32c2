//! How the server says no: the `Status` of kube-apiserver, with the same codes, reasons and causes.
//!
//! One type for every operation, since this is what goes over the wire, in an HTTP answer or in an
//! `ERROR` event, and what clients judge.

use std::time::Duration;

use informer_reflector::{Failure, StatusParts};
use serde_json::{Value, json};

use crate::Resource;

/// A request that was refused, as a `Status`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} ({code} {reason})")]
#[non_exhaustive]
pub struct Rejection {
    /// The HTTP status.
    pub code: u16,
    /// The machine-readable reason, such as `NotFound`.
    pub reason: String,
    /// For people.
    pub message: String,
    /// The rest, which is seldom there.
    pub details: Box<RejectionDetails>,
}

/// What a [`Rejection`] may say beyond code, reason and message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RejectionDetails {
    /// `details.causes`: a reason and a message each.
    pub causes: Vec<(String, String)>,
    /// `details.retryAfterSeconds` and the header `Retry-After`.
    pub retry_after: Option<Duration>,
    /// A continue token that lists on inconsistently, beside an expired one.
    pub continue_token: Option<String>,
    /// `details.name` and `details.kind`, where one object is meant.
    pub object: Option<(String, String)>,
}

impl Rejection {
    /// Any status at all.
    pub fn new(code: u16, reason: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            code,
            reason: reason.into(),
            message: message.into(),
            details: Box::default(),
        }
    }

    /// Adds a wish for a delay; sent as whole seconds.
    #[must_use]
    pub fn with_retry_after(mut self, delay: Duration) -> Self {
        self.details.retry_after = Some(delay);
        self
    }

    /// Adds a cause.
    #[must_use]
    pub fn with_cause(mut self, reason: &str, message: &str) -> Self {
        self.details
            .causes
            .push((reason.to_owned(), message.to_owned()));
        self
    }

    fn about(mut self, resource: &Resource, name: &str) -> Self {
        self.details.object = Some((name.to_owned(), resource.plural.clone()));
        self
    }

    /// 400
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    /// 404 of one object.
    pub fn not_found(resource: &Resource, name: &str) -> Self {
        let message = format!("{} \"{name}\" not found", resource.qualified());
        Self::new(404, "NotFound", message).about(resource, name)
    }

    /// 404 of a path or a resource.
    pub fn no_such_path() -> Self {
        let message = "the server could not find the requested resource";
        Self::new(404, "NotFound", message)
    }

    /// 409 on create.
    pub fn already_exists(resource: &Resource, name: &str) -> Self {
        let message = format!("{} \"{name}\" already exists", resource.qualified());
        Self::new(409, "AlreadyExists", message).about(resource, name)
    }

    /// 409 on a write with a version, or an unmet precondition.
    pub fn conflict(resource: &Resource, name: &str, why: &str) -> Self {
        let what = resource.qualified();
        let message = format!("Operation cannot be fulfilled on {what} \"{name}\": {why}");
        Self::new(409, "Conflict", message).about(resource, name)
    }

    /// 422 about one field of an object.
    pub fn invalid(resource: &Resource, name: &str, field: &str, why: &str) -> Self {
        let kind = &resource.kind;
        let message = format!("{kind} \"{name}\" is invalid: {field}: {why}");
        Self::new(422, "Invalid", message)
            .with_cause("FieldValueInvalid", &format!("{field}: {why}"))
            .about(resource, name)
    }

    /// 422 about a parameter of a list or a watch.
    pub(crate) fn invalid_option(field: &str, why: &str) -> Self {
        let message = format!("ListOptions.meta.k8s.io \"\" is invalid: {field}: Forbidden: {why}");
        Self::new(422, "Invalid", message)
            .with_cause("FieldValueForbidden", &format!("Forbidden: {why}"))
    }

    /// 422 about `dryRun`; `options` is the kind that has it, such as `PatchOptions`.
    pub(crate) fn invalid_dry_run(options: &str, values: &[String]) -> Self {
        // As Go prints a list, which is how kube-apiserver quotes it.
        let values: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
        let values = values.join(", ");
        let why = format!("Unsupported value: []string{{{values}}}: supported values: \"All\"");
        let message = format!("{options}.meta.k8s.io \"\" is invalid: dryRun: {why}");
        Self::new(422, "Invalid", message).with_cause("FieldValueNotSupported", &why)
    }

    /// 410: the version of a watch or of a list is no longer in the history.
    // RL-48
    pub fn expired(version: u64, oldest: u64) -> Self {
        let message = format!("too old resource version: {version} ({oldest})");
        Self::new(410, "Expired", message)
    }

    /// 410 of a continue token, with a token that goes on inconsistently.
    // FM-06
    pub fn continue_expired(token: String) -> Self {
        let message = "The provided continue parameter is too old to display a consistent list \
                       result. You can start a new list without the continue parameter, or use \
                       the continue token in this response to retrieve the remainder of the \
                       results, which is then inconsistent.";
        let mut rejection = Self::new(410, "Expired", message);
        rejection.details.continue_token = Some(token);
        rejection
    }

    /// 504: the version is ahead of the server's.
    // FM-03
    pub fn too_large(version: u64, current: u64) -> Self {
        let message = format!("Too large resource version: {version}, current: {current}");
        Self::new(504, "Timeout", message)
            .with_cause("ResourceVersionTooLarge", "Too large resource version")
            .with_retry_after(Duration::from_secs(1))
    }

    /// The `Status` object.
    pub fn to_json(&self) -> Value {
        let mut details = serde_json::Map::new();
        if let Some((name, kind)) = &self.details.object {
            details.insert("name".into(), json!(name));
            details.insert("kind".into(), json!(kind));
        }
        if !self.details.causes.is_empty() {
            let causes = self.details.causes.iter();
            let causes =
                causes.map(|(reason, message)| json!({"reason": reason, "message": message}));
            details.insert("causes".into(), causes.collect());
        }
        if let Some(delay) = self.details.retry_after {
            details.insert("retryAfterSeconds".into(), json!(delay.as_secs()));
        }
        let mut metadata = serde_json::Map::new();
        if let Some(token) = &self.details.continue_token {
            metadata.insert("continue".into(), json!(token));
        }
        let mut status = json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": metadata,
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
            "code": self.code,
        });
        if !details.is_empty() {
            status["details"] = Value::Object(details);
        }
        status
    }

    /// The same, as the reflector's port speaks of it.
    pub fn to_failure(&self) -> Failure {
        let causes = self.details.causes.iter();
        let causes = causes.map(|(reason, message)| (&**reason, &**message));
        Failure::from_status(
            StatusParts::new(self.code, &self.reason, &self.message)
                .causes(&causes.collect::<Vec<_>>())
                .retry_after(self.details.retry_after),
        )
    }
}

#[cfg(test)]
mod tests {
    use informer_reflector::FailureKind;

    use super::*;

    /// FM-03, FM-05: what we send is judged by the reflector as what it stands for.
    #[test]
    fn the_reflector_understands_every_status() {
        let pods = Resource::pods();
        let cases = [
            (Rejection::expired(1, 2), FailureKind::Expired),
            (
                Rejection::continue_expired("t".into()),
                FailureKind::Expired,
            ),
            (Rejection::too_large(2, 1), FailureKind::TooLarge),
            (Rejection::not_found(&pods, "a"), FailureKind::NotFound),
            (Rejection::no_such_path(), FailureKind::NotFound),
            (Rejection::bad_request("x"), FailureKind::Invalid),
            (Rejection::invalid_option("a", "b"), FailureKind::Invalid),
        ];
        for (rejection, kind) in cases {
            assert_eq!(rejection.to_failure().kind, kind, "{rejection}");
        }
    }
}
