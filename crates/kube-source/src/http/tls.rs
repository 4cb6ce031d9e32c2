//! TLS over the connections of [`crate::client()`], with the TLS feature of kube-client.
//!
//! Cargo unifies features: kube-client may have TLS because of another crate in the tree. A crate
//! cannot read the features of a dependency, and kube-client's methods exist only with theirs.
//! Therefore [`WithoutRustls`] and [`WithoutOpenssl`] have methods of the same names for
//! `&Config`. A call on a `&Config` resolves to the method of [`ConfigExt`] if it exists, because
//! that method takes the receiver as it is. Otherwise the compiler borrows the receiver once more
//! and finds the method of this module.

use http::Uri;
use http::uri::Scheme;
use hyper_util::client::legacy::connect::{Connect, HttpConnector};
use kube_client::client::ClientBuilder;
#[allow(unused_imports, reason = "used if kube-client is built with TLS")]
use kube_client::client::ConfigExt;
use kube_client::{Config, Error};

/// Wraps the connector in TLS: rustls if kube-client has it, else OpenSSL, as kube-client does.
///
/// # Errors
///
/// [`Error::TlsRequired`] for an https address if kube-client has no TLS, and the errors of
/// kube-client about certificates and keys of the configuration.
pub(crate) fn connector(
    // Two references: the type of the result names the lifetime of the inner borrow.
    config: &&Config,
    http: HttpConnector,
) -> Result<impl Connect + Clone + Send + Sync + 'static, Error> {
    install_crypto_provider()?;
    (*config).rustls_https_connector_with_connector(http)
}

/// Makes kube-client choose among the providers of rustls, which it does for its own clients only.
///
/// rustls panics if both `ring` and `aws-lc-rs` are compiled in and the process has no default.
fn install_crypto_provider() -> Result<(), Error> {
    let mut unused = Config::new(Uri::from_static("http://localhost"));
    // Otherwise the certificates of the system would be read.
    unused.root_cert = Some(Vec::new());
    ClientBuilder::try_from(unused).map(drop)
}

/// Replaces the method of [`ConfigExt`] where kube-client is built without rustls.
#[allow(dead_code, reason = "used if kube-client is built without rustls")]
trait WithoutRustls {
    fn rustls_https_connector_with_connector(
        &self,
        http: HttpConnector,
    ) -> Result<impl Connect + Clone + Send + Sync + 'static, Error>;
}

impl WithoutRustls for &Config {
    fn rustls_https_connector_with_connector(
        &self,
        http: HttpConnector,
    ) -> Result<impl Connect + Clone + Send + Sync + 'static, Error> {
        (*self).openssl_https_connector_with_connector(http)
    }
}

/// Replaces the method of [`ConfigExt`] where kube-client is built without OpenSSL.
#[allow(dead_code, reason = "used if kube-client is built without TLS")]
trait WithoutOpenssl {
    fn openssl_https_connector_with_connector(
        &self,
        http: HttpConnector,
    ) -> Result<impl Connect + Clone + Send + Sync + 'static, Error>;
}

impl WithoutOpenssl for &Config {
    fn openssl_https_connector_with_connector(
        &self,
        http: HttpConnector,
    ) -> Result<impl Connect + Clone + Send + Sync + 'static, Error> {
        if self.cluster_url.scheme() == Some(&Scheme::HTTPS) {
            return Err(Error::TlsRequired);
        }
        Ok(http)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without_tls(url: &'static str) -> Result<(), Error> {
        let config = Config::new(Uri::from_static(url));
        WithoutOpenssl::openssl_https_connector_with_connector(&&config, HttpConnector::new())
            .map(drop)
    }

    #[test]
    fn without_tls_https_is_an_error_and_http_is_not() {
        let refused = without_tls("https://api.test");
        assert!(matches!(refused, Err(Error::TlsRequired)), "{refused:?}");
        without_tls("http://api.test").expect("plain HTTP needs no TLS");
    }
}
