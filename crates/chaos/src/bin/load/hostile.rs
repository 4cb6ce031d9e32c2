//! M4 and M5: a server that answers what no server should.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use informer_factory::{SharedInformer, SharedInformerFactory};
use k8s_openapi::api::core::v1::Pod;
use kube_client::Config;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, sleep};

use crate::resident::resident;

const MIB: usize = 1024 * 1024;
const SOON: Duration = Duration::from_secs(60);

/// What is sent instead of an event.
#[derive(Clone, Copy)]
enum Answer {
    /// One object, in a list of an otherwise good server.
    Object,
    /// A watch that is one line.
    Line,
}

/// M4.
pub(crate) async fn object() -> Result<()> {
    let (informer, _factory) = follow(Answer::Object).await?;
    let before = resident()?;
    informer.start()?;
    let most = peak(before, || {
        informer.status().quarantined > 0 || informer.is_synced()
    })
    .await?;
    let quarantined = informer.status().quarantined;
    println!(
        "M4: one object of 1.5 MiB: {quarantined} quarantined, {} stored, {most:+.1} MiB at most, \
         of 32",
        informer.reader().len()
    );
    ensure!(
        most <= 32.0 || quarantined == 1,
        "it is neither bounded nor in quarantine"
    );
    Ok(())
}

/// M5.
pub(crate) async fn line() -> Result<()> {
    let (informer, _factory) = follow(Answer::Line).await?;
    informer.start()?;
    informer.wait_synced(SOON).await?;
    let before = resident()?;
    let failed = || {
        informer
            .status()
            .sources
            .iter()
            .any(|source| source.failure.is_some())
    };
    let most = peak(before, failed).await?;
    println!("M5: a line of 1 GiB: {most:+.1} MiB at most, of 24; the watch failed");
    ensure!(most <= 24.0, "the line is kept");
    Ok(())
}

/// The most that memory grew until `done`, and a moment more.
async fn peak(before: f64, done: impl Fn() -> bool) -> Result<f64> {
    let (start, mut most, mut after) = (Instant::now(), 0.0_f64, 0);
    while after < 100 {
        ensure!(start.elapsed() < SOON, "nothing came of it");
        most = most.max(resident()? - before);
        after += u32::from(done());
        sleep(Duration::from_millis(5)).await;
    }
    Ok(most)
}

async fn follow(answer: Answer) -> Result<(SharedInformer<Pod>, SharedInformerFactory)> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            // Whoever hangs up has had enough.
            tokio::spawn(serve(stream, answer));
        }
    });
    let client = informer_factory::client(Config::new(url.parse()?))?;
    let factory = SharedInformerFactory::new(client);
    Ok((factory.informer::<Pod>(), factory))
}

async fn serve(mut stream: TcpStream, answer: Answer) -> Result<()> {
    let mut request = [0; 8 * 1024];
    let read = stream.read(&mut request).await?;
    let request = String::from_utf8_lossy(&request[..read]).into_owned();
    let path = request
        .split_whitespace()
        .nth(1)
        .context("a request has a path")?;
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n";
    if path.contains("sendInitialEvents") {
        stream
            .write_all(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
            .await?;
        return Ok(());
    }
    stream.write_all(head.as_bytes()).await?;
    if !path.contains("watch=") {
        let items = match answer {
            Answer::Object => hostile_pod(),
            Answer::Line => String::new(),
        };
        let list = format!(
            r#"{{"kind":"PodList","apiVersion":"v1","metadata":{{"resourceVersion":"5"}},"items":[{items}]}}"#
        );
        stream.write_all(list.as_bytes()).await?;
        return Ok(());
    }
    if matches!(answer, Answer::Line) {
        stream
            .write_all(br#"{"type":"ADDED","object":{"metadata":{"name":""#)
            .await?;
        let piece = vec![b'x'; MIB];
        for _ in 0..1024 {
            stream.write_all(&piece).await?;
        }
    }
    // A watch without events.
    std::future::pending().await
}

/// Few bytes each, and a kilobyte when decoded.
fn hostile_pod() -> String {
    let container = r#"{"name":""},"#;
    let containers = container.repeat(3 * MIB / 2 / container.len());
    let containers = containers.trim_end_matches(',');
    format!(
        r#"{{"metadata":{{"namespace":"default","name":"hostile","uid":"1","resourceVersion":"4"}},"spec":{{"containers":[{containers}]}}}}"#
    )
}
