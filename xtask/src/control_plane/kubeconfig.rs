//! The kubeconfig of the control plane: one cluster, one user who may do everything.

use std::path::Path;

/// The text of a kubeconfig.
///
/// The certificate authority is given by path, since the API server writes its certificate only
/// when it starts.
pub(super) fn text(server: &str, certificate: &Path, token: &str) -> String {
    let certificate = certificate.display();
    format!(
        r#"apiVersion: v1
kind: Config
clusters:
- name: informer
  cluster:
    server: "{server}"
    certificate-authority: "{certificate}"
users:
- name: admin
  user:
    token: "{token}"
contexts:
- name: informer
  context:
    cluster: informer
    user: admin
    namespace: default
current-context: informer
"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_current_context_leads_to_the_server_and_its_certificate() {
        let made = text(
            "https://127.0.0.1:6443",
            Path::new("/tmp/x/apiserver.crt"),
            "t0ken",
        );
        for line in [
            "current-context: informer",
            "    server: \"https://127.0.0.1:6443\"",
            "    certificate-authority: \"/tmp/x/apiserver.crt\"",
            "    token: \"t0ken\"",
        ] {
            assert!(
                made.lines().any(|l| l == line),
                "{line:?} is missing in\n{made}"
            );
        }
    }
}
