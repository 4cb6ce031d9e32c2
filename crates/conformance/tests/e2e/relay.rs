//! A TCP relay between both sides and the server, which can be cut.
//!
//! While it is cut, nobody listens on its port. A refused connection is what makes client-go try
//! its watch again from where it was, and not list at once; only so does it meet the expired
//! version. TLS passes through: the certificate is for 127.0.0.1, whatever the port.

use std::net::SocketAddr;

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// Forwards connections while it is open; ends when it is dropped.
pub(crate) struct Relay {
    address: SocketAddr,
    target: String,
    /// The task that accepts owns those that forward.
    task: JoinSet<()>,
}

impl Relay {
    pub(crate) async fn to(target: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await;
        let listener = listener.expect("a loopback port is free");
        let address = listener.local_addr();
        let mut relay = Self {
            address: address.expect("a bound socket has an address"),
            target,
            task: JoinSet::new(),
        };
        relay.task.spawn(accept(listener, relay.target.clone()));
        relay
    }

    pub(crate) fn address(&self) -> String {
        format!("https://{}", self.address)
    }

    /// Ends every connection, and refuses every new one.
    pub(crate) async fn cut(&mut self) {
        self.task.shutdown().await;
    }

    /// Lets new connections pass.
    pub(crate) async fn mend(&mut self) {
        let listener = TcpListener::bind(self.address).await;
        let listener = listener.expect("the port is still ours");
        self.task.spawn(accept(listener, self.target.clone()));
    }
}

async fn accept(listener: TcpListener, target: String) {
    let mut connections = JoinSet::new();
    while let Ok((near, _)) = listener.accept().await {
        connections.spawn(forward(near, target.clone()));
        while connections.try_join_next().is_some() {}
    }
}

async fn forward(mut near: TcpStream, target: String) {
    if let Ok(mut far) = TcpStream::connect(target).await {
        // An error of either end is an end of both.
        drop(copy_bidirectional(&mut near, &mut far).await);
    }
}
