//! M4 and M5: a server that answers what no server should.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use informer_factory::{InformerOptions, SharedInformer, SharedInformerFactory, WireFormat};
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
    /// A watch that is one event: a line of JSON, or a frame.
    Event,
}

/// M4.
pub(crate) async fn object(wire: WireFormat) -> Result<()> {
    let (informer, _factory) = follow(Answer::Object, wire).await?;
    let before = resident()?;
    informer.start()?;
    let most = peak(before, || {
        informer.status().quarantined > 0 || informer.is_synced()
    })
    .await?;
    let quarantined = informer.status().quarantined;
    println!(
        "M4, {wire:?}: one object of 1.5 MiB: {quarantined} quarantined, {} stored, {most:+.1} MiB at most, \
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
pub(crate) async fn event(wire: WireFormat) -> Result<()> {
    let (informer, _factory) = follow(Answer::Event, wire).await?;
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
    println!("M5, {wire:?}: an event of 1 GiB: {most:+.1} MiB at most, of 24; the watch failed");
    ensure!(most <= 24.0, "the event is kept");
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

async fn follow(
    answer: Answer,
    wire: WireFormat,
) -> Result<(SharedInformer<Pod>, SharedInformerFactory)> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            // The client may close the connection at any time.
            tokio::spawn(serve(stream, answer, wire));
        }
    });
    let client = informer_factory::client(Config::new(url.parse()?))?;
    let factory = SharedInformerFactory::new(client);
    let informer = factory.informer_with::<Pod>(InformerOptions::new().wire(wire))?;
    Ok((informer, factory))
}

async fn serve(mut stream: TcpStream, answer: Answer, wire: WireFormat) -> Result<()> {
    let mut request = [0; 8 * 1024];
    let read = stream.read(&mut request).await?;
    let request = String::from_utf8_lossy(&request[..read]).into_owned();
    let path = request
        .split_whitespace()
        .nth(1)
        .context("a request has a path")?;
    if path.contains("sendInitialEvents") {
        stream
            .write_all(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
            .await?;
        return Ok(());
    }
    let media_type = match wire {
        WireFormat::Protobuf => "application/vnd.kubernetes.protobuf",
        _ => "application/json",
    };
    let head =
        format!("HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await?;
    if !path.contains("watch=") {
        stream.write_all(&list(answer, wire)).await?;
        return Ok(());
    }
    if matches!(answer, Answer::Event) {
        match wire {
            WireFormat::Protobuf => stream.write_u32(1024 * 1024 * 1024).await?,
            _ => {
                let start = br#"{"type":"ADDED","object":{"metadata":{"name":""#;
                stream.write_all(start).await?;
            }
        }
        let piece = vec![b'x'; MIB];
        for _ in 0..1024 {
            stream.write_all(&piece).await?;
        }
    }
    // A watch without events.
    std::future::pending().await
}

fn list(answer: Answer, wire: WireFormat) -> Vec<u8> {
    let has_object = matches!(answer, Answer::Object);
    if wire == WireFormat::Protobuf {
        let mut list = field(1, &field(2, b"5"));
        if has_object {
            list.extend(field(2, &hostile_message()));
        }
        let names = [field(1, b"v1"), field(2, b"PodList")].concat();
        return [&b"k8s\0"[..], &field(1, &names), &field(2, &list)].concat();
    }
    let items = if has_object {
        hostile_pod()
    } else {
        String::new()
    };
    let list = format!(
        r#"{{"kind":"PodList","apiVersion":"v1","metadata":{{"resourceVersion":"5"}},"items":[{items}]}}"#
    );
    list.into_bytes()
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

/// The message of such a pod, whose empty containers have two bytes.
fn hostile_message() -> Vec<u8> {
    let metadata = [
        field(1, b"hostile"),
        field(3, b"default"),
        field(5, b"1"),
        field(6, b"4"),
    ];
    let container = field(2, b"");
    let containers = container.repeat(3 * MIB / 2 / container.len());
    [field(1, &metadata.concat()), field(2, &containers)].concat()
}

/// A field of a protobuf message: tag, length and bytes.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![number << 3 | 2];
    let mut length = bytes.len();
    while length >= 0x80 {
        out.push(length as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
    out.extend(bytes);
    out
}
