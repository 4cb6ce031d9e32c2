//! The way from the informers to the server: a TCP proxy that cuts, stalls, trickles, and lets
//! connections go dead without a word.
//!
//! TLS passes through: the certificate is for 127.0.0.1, whatever the port.

use std::io;
use std::time::Duration;

use anyhow::Result;
use socket2::{SockFilter, SockRef};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

/// How bytes pass, for connections there are and those to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// As they come.
    Free,
    /// Not at all; what came is kept, and connections are accepted.
    Stalled,
    /// [`DROP`] bytes every [`TRICKLE_PAUSE`].
    Trickling,
    /// New connections are reset at once.
    Refused,
}

/// What becomes of the connections there are; those to come are not touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// RST.
    Reset,
    /// FIN.
    Finish,
    /// A middle-box that acknowledges whatever comes, and passes nothing on.
    Swallow,
    /// Half-open: the peer is gone, and nothing is acknowledged either.
    Vanish,
}

const DROP: usize = 64;
const TRICKLE_PAUSE: Duration = Duration::from_millis(20);
const BUFFER: usize = 16 * 1024;
/// Longer than anybody may take to find out that a connection is half-open.
const FORGOTTEN: Duration = Duration::from_secs(120);

/// Forwards connections until it is dropped.
pub(crate) struct Proxy {
    port: u16,
    flow: watch::Sender<Flow>,
    /// The last one that was decided; a connection hears of those after its beginning.
    fate: watch::Sender<Option<Fate>>,
    task: JoinHandle<()>,
}

impl Proxy {
    pub(crate) async fn to(target: String) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let port = listener.local_addr()?.port();
        let (flow, fate) = (watch::channel(Flow::Free).0, watch::channel(None).0);
        let task = tokio::spawn(accept(listener, target, flow.clone(), fate.clone()));
        Ok(Self {
            port,
            flow,
            fate,
            task,
        })
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn set_flow(&self, flow: Flow) {
        self.flow.send_replace(flow);
        if flow == Flow::Refused {
            self.decide(Fate::Reset);
        }
    }

    pub(crate) fn decide(&self, fate: Fate) {
        self.fate.send_replace(Some(fate));
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(
    listener: TcpListener,
    target: String,
    flow: watch::Sender<Flow>,
    fate: watch::Sender<Option<Fate>>,
) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        if *flow.borrow() == Flow::Refused {
            reset(stream);
        } else {
            let (flow, fate) = (flow.subscribe(), fate.subscribe());
            connections.spawn(serve(stream, target.clone(), flow, fate));
        }
        while connections.try_join_next().is_some() {}
    }
}

async fn serve(
    mut near: TcpStream,
    target: String,
    flow: watch::Receiver<Flow>,
    mut fate: watch::Receiver<Option<Fate>>,
) {
    let mut server = None;
    let decided = tokio::select! {
        () = forward(&mut near, &mut server, target, flow) => None,
        // An error is the end of the proxy, and so of everything.
        Ok(()) = fate.changed() => *fate.borrow_and_update(),
    };
    // The server's side ends whatever the near one is to believe.
    drop(server);
    match decided {
        None => {}
        Some(Fate::Reset) => reset(near),
        // A connection that is broken already has ended as well.
        Some(Fate::Finish) => drop(near.shutdown().await),
        Some(Fate::Swallow) => swallow(near).await,
        Some(Fate::Vanish) => {
            if let Err(error) = vanish(&near) {
                eprintln!("a connection cannot be made half-open here: {error}");
            }
            hold(near).await;
        }
    }
}

/// Passes bytes both ways until either side ends.
async fn forward(
    near: &mut TcpStream,
    server: &mut Option<TcpStream>,
    target: String,
    flow: watch::Receiver<Flow>,
) {
    let Ok(far) = TcpStream::connect(target).await else {
        return;
    };
    let far = server.insert(far);
    let ((near_read, near_write), (far_read, far_write)) = (near.split(), far.split());
    tokio::select! {
        () = pump(near_read, far_write, flow.clone()) => {}
        () = pump(far_read, near_write, flow) => {}
    }
}

async fn pump(mut from: ReadHalf<'_>, mut to: WriteHalf<'_>, mut flow: watch::Receiver<Flow>) {
    let mut buffer = vec![0; BUFFER];
    loop {
        let trickles = *flow.borrow() == Flow::Trickling;
        let size = if trickles { DROP } else { BUFFER };
        let read = match from.read(&mut buffer[..size]).await {
            Ok(read) if read > 0 => read,
            // An end while nothing passes cannot be heard of either.
            Ok(_) | Err(_) => 0,
        };
        if flow.wait_for(|flow| *flow != Flow::Stalled).await.is_err() || read == 0 {
            return;
        }
        if trickles {
            tokio::time::sleep(TRICKLE_PAUSE).await;
        }
        if to.write_all(&buffer[..read]).await.is_err() {
            return;
        }
    }
}

/// Closes without a goodbye.
fn reset(stream: TcpStream) {
    if let Err(error) = SockRef::from(&stream).set_linger(Some(Duration::ZERO)) {
        eprintln!("a connection ends in order instead of being reset: {error}");
    }
    drop(stream);
}

/// Reads on, so that it is acknowledged, until the near side gives up.
async fn swallow(mut near: TcpStream) {
    let mut buffer = vec![0; BUFFER];
    while near.read(&mut buffer).await.is_ok_and(|read| read > 0) {}
}

/// Drops every packet before TCP sees it, so that not even a probe of keep-alive is answered.
fn vanish(near: &TcpStream) -> io::Result<()> {
    // "Return, and keep 0 bytes of the packet", in the kernel's language for filters.
    const RETURN: u16 = 0x06;
    SockRef::from(near).attach_filter(&[SockFilter::new(RETURN, 0, 0, 0)])
}

/// Keeps the socket, since closing it would tell the peer, until the peer has given up for sure.
async fn hold(near: TcpStream) {
    tokio::time::sleep(FORGOTTEN).await;
    drop(near);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Never waited for in a test that passes.
    const SOON: Duration = Duration::from_secs(60);

    /// A server that sends back what it gets.
    async fn echo() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback");
        let address = listener.local_addr().expect("bound").to_string();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let (mut read, mut write) = stream.split();
                    tokio::io::copy(&mut read, &mut write).await
                });
            }
        });
        address
    }

    async fn connected(proxy: &Proxy) -> TcpStream {
        let address = format!("127.0.0.1:{}", proxy.port());
        let mut stream = TcpStream::connect(address).await.expect("it listens");
        assert_eq!(exchange(&mut stream).await.expect("it passes"), *b"ping");
        stream
    }

    async fn exchange(stream: &mut TcpStream) -> io::Result<[u8; 4]> {
        stream.write_all(b"ping").await?;
        let mut answer = [0; 4];
        let read = tokio::time::timeout(SOON, stream.read_exact(&mut answer));
        read.await.expect("there is an answer or an end")?;
        Ok(answer)
    }

    #[tokio::test]
    async fn a_reset_and_an_end_reach_the_connections_there_are_and_no_others() {
        let proxy = Proxy::to(echo().await).await.expect("a port is free");
        let mut first = connected(&proxy).await;
        proxy.decide(Fate::Reset);
        let error = exchange(&mut first).await.expect_err("it was reset");
        assert_ne!(error.kind(), io::ErrorKind::UnexpectedEof);
        let mut second = connected(&proxy).await;
        proxy.decide(Fate::Finish);
        assert_eq!(second.read(&mut [0; 4]).await.expect("in order"), 0);
        connected(&proxy).await;
    }

    #[tokio::test]
    async fn what_is_stalled_or_trickles_arrives_whole() {
        let proxy = Proxy::to(echo().await).await.expect("a port is free");
        let mut stream = connected(&proxy).await;
        proxy.set_flow(Flow::Stalled);
        stream.write_all(b"late").await.expect("it is accepted");
        assert!(stream.try_read(&mut [0; 4]).is_err(), "nothing passes");
        proxy.set_flow(Flow::Trickling);
        let mut late = [0; 4];
        stream.read_exact(&mut late).await.expect("it was kept");
        assert_eq!(late, *b"late");
    }

    #[tokio::test]
    async fn while_refused_nobody_gets_through() {
        let proxy = Proxy::to(echo().await).await.expect("a port is free");
        let mut old = connected(&proxy).await;
        proxy.set_flow(Flow::Refused);
        assert!(exchange(&mut old).await.is_err());
        let address = format!("127.0.0.1:{}", proxy.port());
        let new = TcpStream::connect(address).await;
        // The reset may come before the connection is known to be one.
        if let Ok(mut new) = new {
            assert!(exchange(&mut new).await.is_err());
        }
        proxy.set_flow(Flow::Free);
        connected(&proxy).await;
    }

    /// What the kernel has sent and not seen acknowledged, by local port, from its own table.
    #[cfg(target_os = "linux")]
    fn unacknowledged(stream: &TcpStream) -> u64 {
        let table = std::fs::read_to_string("/proc/self/net/tcp").expect("on Linux");
        let port = stream.local_addr().expect("connected").port();
        let port = format!(":{port:04X}");
        let line = table.lines().find_map(|line| {
            let columns: Vec<_> = line.split_whitespace().collect();
            columns[1].ends_with(&port).then(|| columns[4].to_owned())
        });
        let queues = line.expect("the connection is in the table");
        let (sent, _) = queues.split_once(':').expect("two queues");
        u64::from_str_radix(sent, 16).expect("hexadecimal")
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_swallowed_connection_is_acknowledged_and_a_vanished_one_is_not() {
        let proxy = Proxy::to(echo().await).await.expect("a port is free");
        let mut vanished = connected(&proxy).await;
        proxy.decide(Fate::Vanish);
        // Whoever comes now is served, so the fate has been heard of.
        let mut swallowed = connected(&proxy).await;
        proxy.decide(Fate::Swallow);
        connected(&proxy).await;
        for stream in [&mut vanished, &mut swallowed] {
            stream.write_all(b"ping").await.expect("it is buffered");
        }
        let acknowledged = async {
            while unacknowledged(&swallowed) > 0 {
                tokio::task::yield_now().await;
            }
        };
        let waited = tokio::time::timeout(SOON, acknowledged).await;
        waited.expect("somebody acknowledges");
        assert_eq!(unacknowledged(&vanished), 4, "it was sent before the other");
        for stream in [&vanished, &swallowed] {
            assert!(stream.try_read(&mut [0; 4]).is_err(), "nothing comes");
        }
    }
}
