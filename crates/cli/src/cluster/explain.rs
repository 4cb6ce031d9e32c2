//! Failures of a cluster in words: what could not be done, why, and what helps.

use std::error::Error as _;

use informer_factory::{Failure as Cause, FailureKind, NotSynced, SourceStatus};
use kube_client::Error;
use kube_client::client::AuthError;

use super::discovery::DiscoveryError;
use crate::escape;
use crate::failure::Failure;

/// What is followed, as it is named in messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject<'a> {
    /// `pods`, `widgets.example.com`
    pub(crate) resource: &'a str,
    /// `in namespace "x"`, `in all namespaces`, or empty
    pub(crate) scope: &'a str,
}

/// Why the resources of the cluster could not be discovered, and what helps.
pub(crate) fn discovery(error: &DiscoveryError) -> Failure {
    let failure = Failure::failed(error.to_string());
    let cause = match error {
        DiscoveryError::Failed { cause, .. } => cause,
        DiscoveryError::NoAnswer { .. } => return failure.advise(NO_ANSWER),
    };
    match cause {
        Error::Api(status) if status.code == 401 => failure.advise(LOG_IN),
        Error::Api(status) if status.code == 403 => failure
            .advise("This user may not even ask what there is; see ClusterRole system:discovery."),
        Error::Api(_) | Error::SerdeError(_) => {
            failure.advise("Is there a Kubernetes API server at this address, and not a proxy?")
        }
        Error::Auth(_) => failure.advise(LOG_IN),
        _ => failure.advise(REACH),
    }
}

const LOG_IN: &str = "The server does not accept the credentials of the kubeconfig; log in again.";
const REACH: &str =
    "Is the cluster up, and its address in the kubeconfig right? Try: kubectl cluster-info";
const NO_ANSWER: &str = "Is the server overloaded, or a proxy in front of it without a server? \
    Try: kubectl get --raw /readyz; for a slow server, raise --discovery-timeout and --for";

/// An error of the client, without anything that may be secret (SEC-7, SEC-8).
pub(crate) fn client_error(error: &Error) -> String {
    if let Some(auth) = find_auth(error) {
        return auth_error(auth);
    }
    let text = match error {
        Error::Api(status) => format!("{} ({}): {}", status.reason, status.code, status.message),
        Error::SerdeError(error) => {
            format!(
                "the answer is not what a Kubernetes API server says ({:?})",
                error.classify()
            )
        }
        Error::InferKubeconfig(_) | Error::InferConfig(_) => "the kubeconfig is wrong".to_owned(),
        error => innermost(error),
    };
    escape::text(&text).into_owned()
}

/// Authentication fails inside the service, several boxes deep.
fn find_auth(error: &Error) -> Option<&AuthError> {
    let mut next: Option<&(dyn std::error::Error + 'static)> = match error {
        Error::Auth(auth) => return Some(auth),
        error => error.source(),
    };
    while let Some(error) = next {
        if let Some(auth) = error.downcast_ref::<AuthError>() {
            return Some(auth);
        }
        if let Some(Error::Auth(auth)) = error.downcast_ref::<Error>() {
            return Some(auth);
        }
        next = error.source();
    }
    None
}

/// Neither the output of a credential plugin is quoted, which is where tokens come from, nor its
/// command, which begins with the environment that the kubeconfig gives it.
fn auth_error(error: &AuthError) -> String {
    match error {
        AuthError::AuthExecRun { out, .. } => {
            format!("the credential plugin failed: {}", out.status)
        }
        AuthError::AuthExecStart(error) => format!("the credential plugin cannot be run: {error}"),
        AuthError::AuthExecParse(_) => {
            "the credential plugin's answer is not understood".to_owned()
        }
        AuthError::ReadTokenFile(error, path) => {
            let path = path.display().to_string();
            format!(
                "the token file {} cannot be read: {error}",
                escape::text(&path)
            )
        }
        AuthError::NoValidNativeRootCA(error) => error.to_string(),
        _ => "the credentials cannot be used".to_owned(),
    }
}

/// The last in the chain of causes, which names the errno.
fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

/// Why a source does not follow its resource, and what helps.
pub(crate) fn trouble(subject: Subject<'_>, cause: &Cause) -> String {
    let Subject { resource, scope } = subject;
    let verb = denied_verb(cause).unwrap_or("list and watch");
    let text = cause.to_string();
    let mut line = format!(
        "cannot {verb} {resource}{}{scope}: {}",
        space(scope),
        escape::text(&text)
    );
    if let Some(advice) = advice(cause.kind, resource) {
        line.push_str("\n  ");
        line.push_str(&advice);
    }
    line
}

fn space(scope: &str) -> &'static str {
    if scope.is_empty() { "" } else { " " }
}

fn advice(kind: FailureKind, resource: &str) -> Option<String> {
    Some(match kind {
        FailureKind::Forbidden => format!(
            "An informer needs a Role that allows `list` and `watch` on {resource}. \
             Try: kubectl auth can-i watch {resource}"
        ),
        FailureKind::Unauthorized => LOG_IN.to_owned(),
        FailureKind::NotFound => format!("Does the server still know {resource}?"),
        FailureKind::Invalid => "Does the resource know these selectors?".to_owned(),
        FailureKind::Connect => REACH.to_owned(),
        _ => return None,
    })
}

/// The verb in `User "x" cannot watch resource "pods" ...`.
fn denied_verb(cause: &Cause) -> Option<&'static str> {
    if cause.kind != FailureKind::Forbidden {
        return None;
    }
    ["list", "watch"]
        .into_iter()
        .find(|verb| cause.message.contains(&format!(" cannot {verb} resource ")))
}

/// Whether waiting does not help: somebody has to change something first.
pub(crate) fn is_lasting(kind: FailureKind) -> bool {
    matches!(
        kind,
        FailureKind::Forbidden
            | FailureKind::Unauthorized
            | FailureKind::NotFound
            | FailureKind::Invalid
    )
}

/// Who is not synced, and why.
pub(crate) fn not_synced(subject: Subject<'_>, error: &NotSynced) -> String {
    let culprits = error.culprits.iter().map(|culprit| match &culprit.failure {
        Some(cause) => trouble(subject, cause),
        None => format!("{} is {:?}", escape::text(&culprit.source), culprit.phase),
    });
    let mut lines: Vec<_> = culprits.collect();
    lines.dedup();
    let waited = crate::status::brief(error.waited);
    format!("not synced after {waited}: {}", lines.join("\n"))
}

/// The first source that fails in a way that lasts.
pub(crate) fn lasting_failure(sources: &[SourceStatus]) -> Option<&Cause> {
    let failures = sources.iter().filter_map(|source| source.failure.as_ref());
    failures.into_iter().find(|cause| is_lasting(cause.kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PODS: Subject<'_> = Subject {
        resource: "pods",
        scope: "in namespace \"x\"",
    };

    #[test]
    fn a_missing_permission_names_verb_and_resource() {
        let message = "pods is forbidden: User \"u\" cannot watch resource \"pods\" in API group";
        let mut cause = Cause::new(FailureKind::Forbidden, "Forbidden", message);
        cause.code = Some(403);
        let text = trouble(PODS, &cause);
        assert!(
            text.starts_with("cannot watch pods in namespace \"x\": Forbidden (403)"),
            "{text}"
        );
        assert!(text.contains("`list` and `watch` on pods"), "{text}");
        let cause = Cause::new(FailureKind::Forbidden, "Forbidden", "no");
        assert!(trouble(PODS, &cause).starts_with("cannot list and watch pods"));
    }

    /// SEC-13: a server's message is a string from the cluster.
    #[test]
    fn messages_are_escaped() {
        let cause = Cause::new(FailureKind::Internal, "Bad\x1b[2J", "a\rb");
        let text = trouble(PODS, &cause);
        assert!(!text.contains(['\x1b', '\r']), "{text}");
    }

    /// SEC-7: serde's messages quote values.
    #[test]
    fn what_cannot_be_read_is_not_quoted() {
        let error = serde_json::from_str::<u8>("\"s3cret\"").expect_err("a string is no number");
        assert!(!client_error(&Error::SerdeError(error)).contains("s3cret"));
    }
}
