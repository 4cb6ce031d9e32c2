//! A TCP relay between an informer and the server, which can be cut.
//!
//! TLS passes through: the certificate is for 127.0.0.1, whatever the port.

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Forwards connections while it is open; ends when it is dropped.
pub(crate) struct Relay {
    port: u16,
    open: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Relay {
    pub(crate) async fn to(target: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await;
        let listener = listener.expect("a loopback port is free");
        let address = listener.local_addr();
        let (open, _) = watch::channel(true);
        let task = tokio::spawn(accept(listener, target, open.clone()));
        Self {
            port: address.expect("a bound socket has an address").port(),
            open,
            task,
        }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Cuts every connection, and every new one at once.
    pub(crate) fn cut(&self) {
        self.open.send_replace(false);
    }

    /// Lets new connections pass.
    pub(crate) fn mend(&self) {
        self.open.send_replace(true);
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, target: String, open: watch::Sender<bool>) {
    while let Ok((stream, _)) = listener.accept().await {
        // A closed relay drops the connection here, which the client sees as a cut.
        if *open.borrow() {
            tokio::spawn(forward(stream, target.clone(), open.subscribe()));
        }
    }
}

async fn forward(mut near: TcpStream, target: String, mut open: watch::Receiver<bool>) {
    let Ok(mut far) = TcpStream::connect(target).await else {
        return;
    };
    // Both ends are dropped whichever comes first, and an error of either is an end too.
    tokio::select! {
        _ = copy_bidirectional(&mut near, &mut far) => {}
        _ = open.wait_for(|open| !open) => {}
    }
}
