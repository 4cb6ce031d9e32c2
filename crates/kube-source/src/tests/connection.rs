//! Failures to connect, and connections that break before an answer, over real sockets.

use informer_reflector::FailureKind;
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;

use super::requests::{list, pods};

/// A client of kube-client's own for an address of the loopback.
fn client(listener: &TcpListener) -> kube_client::Client {
    let addr = listener.local_addr().expect("bound");
    let url = format!("http://{addr}").parse().expect("a URL");
    let mut config = kube_client::Config::new(url);
    config.default_retry = false;
    kube_client::Client::try_from(config).expect("plain HTTP")
}

/// RFX-7, FM-29: that no connection could be made may be waited out for ever; that one broke may
/// not, since it may be the request that breaks it.
#[tokio::test]
async fn a_broken_connection_is_not_a_refused_one() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback");
    let pods = pods(client(&listener));
    let server = async {
        let (mut socket, _) = listener.accept().await.expect("a client comes");
        let mut request = [0; 64];
        socket.read_exact(&mut request).await.expect("it asks");
        drop(socket);
    };
    let (failure, ()) = tokio::join!(list(&pods), server);
    let failure = failure.expect_err("no answer");
    assert_eq!(failure.kind, FailureKind::Cut, "{failure}");

    drop(listener);
    let failure = list(&pods).await.expect_err("nobody there");
    assert_eq!(failure.kind, FailureKind::Connect, "{failure}");
}
