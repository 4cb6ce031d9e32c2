//! Asks the API server for one page over TLS, and says whether the answer was 200.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

/// How long one question may take. A server that starts may accept and then say nothing.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// Succeeds if `GET path` answers 200. The error says what came instead.
///
/// `certificate` is what the server wrote into its certificate folder: its own certificate and the
/// authority that signed it, made for this one server.
pub(super) fn get(server: SocketAddr, certificate: &Path, token: &str, path: &str) -> Result<()> {
    let name = ServerName::IpAddress(server.ip().into());
    let connection = ClientConnection::new(Arc::new(trust(certificate)?), name)?;
    let socket = TcpStream::connect(server)?;
    socket.set_read_timeout(Some(ANSWER_TIMEOUT))?;
    let mut stream = StreamOwned::new(connection, socket);
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: {server}\r\nAuthorization: Bearer {token}\r\n\
         Connection: close\r\n\r\n"
    )?;
    let mut answer = Vec::new();
    // Servers may close without TLS's goodbye; what counts is the first line, and it is there.
    let ended = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer);
    let Some(status) = answer.lines().next() else {
        ended.with_context(|| format!("{path} gave no answer"))?;
        bail!("{path} gave an empty answer");
    };
    if status.split_whitespace().nth(1) != Some("200") {
        bail!("{path} answered {status}");
    }
    Ok(())
}

fn trust(certificate: &Path) -> Result<ClientConfig> {
    let mut roots = RootCertStore::empty();
    let chain = CertificateDer::pem_file_iter(certificate)
        .with_context(|| format!("cannot read {}", certificate.display()))?;
    for one in chain {
        roots.add(one?)?;
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_that_is_not_there_yet_is_named() {
        let address = SocketAddr::from(([127, 0, 0, 1], 1));
        let error = get(
            address,
            Path::new("/nonexistent/apiserver.crt"),
            "t",
            "/readyz",
        )
        .expect_err("there is no such file");
        assert!(format!("{error:#}").contains("apiserver.crt"), "{error:#}");
    }
}
