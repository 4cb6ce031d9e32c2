//! The server on loopback: plain HTTP/1.1, one task per connection.
//!
//! Never listens anywhere but on the address it is given, and that is loopback unless asked.

use std::{fmt, io, net::SocketAddr};

use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::{
    net::TcpListener,
    sync::oneshot,
    task::{JoinHandle, JoinSet},
};
use tower::ServiceExt;

use super::ApiService;
use crate::ApiServer;

/// A server that is listening. Dropping it stops it too, without waiting.
#[must_use = "dropping the handle stops serving"]
#[non_exhaustive]
pub struct ServerHandle {
    /// Where it listens, such as `http://127.0.0.1:40123`.
    pub url: String,
    /// The same as an address.
    pub addr: SocketAddr,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl ApiServer {
    /// Serves on a free port of 127.0.0.1. Must be called within a tokio runtime.
    ///
    /// # Errors
    ///
    /// That of binding the port.
    pub async fn serve(&self) -> io::Result<ServerHandle> {
        self.serve_at(SocketAddr::from(([127, 0, 0, 1], 0))).await
    }

    /// Serves at this address, as a server does that comes back after a restart. There is no
    /// authentication: whoever reaches the address may do everything.
    ///
    /// # Errors
    ///
    /// That of binding the port.
    pub async fn serve_at(&self, addr: SocketAddr) -> io::Result<ServerHandle> {
        let listener = TcpListener::bind(addr).await?;
        let addr = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(accept(listener, self.service(), stopped));
        Ok(ServerHandle {
            url: format!("http://{addr}"),
            addr,
            stop,
            task,
        })
    }
}

impl ServerHandle {
    /// Stops listening and breaks all connections, as a crash would; the state stays with the
    /// [`ApiServer`], which can be served again at the same address.
    ///
    /// # Cancel safety
    ///
    /// Safe: the server stops even if nobody waits for it.
    pub async fn shutdown(self) {
        drop(self.stop);
        // An error would be a panic of the accepting task, and it has ended either way.
        drop(self.task.await);
    }
}

impl fmt::Debug for ServerHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerHandle")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

async fn accept(listener: TcpListener, service: ApiService, mut stopped: oneshot::Receiver<()>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            // Nothing is ever sent: the handle being gone is the signal.
            _ = &mut stopped => break,
            Some(_) = connections.join_next() => {}
            accepted = listener.accept() => {
                // A connection that was given up before it was accepted is not our error.
                let Ok((stream, _)) = accepted else { continue };
                // Small writes must not wait for an acknowledgement; failing is only slower.
                drop(stream.set_nodelay(true));
                let service = service.clone();
                let service = hyper::service::service_fn(move |request| {
                    service.clone().oneshot(request)
                });
                let stream = TokioIo::new(stream);
                connections.spawn(http1::Builder::new().serve_connection(stream, service));
            }
        }
    }
    connections.shutdown().await;
}
