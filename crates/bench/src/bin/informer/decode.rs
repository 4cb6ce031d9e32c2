//! The bare loop that decoding is compared with: the same bytes, the same parser, one thread, the
//! objects kept. Reading the body is not in it.

use std::hint::black_box;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use informer_bench::command_line::CommandLine;
use informer_bench::measure::{self, Mark, Report};
use k8s_openapi::api::core::v1::Pod;
use serde_json::StreamDeserializer;
use serde_json::de::SliceRead;

/// Decodes all pods once.
pub(crate) fn run(command_line: &CommandLine) -> Result<()> {
    let body = body(&command_line.server)?;
    let mut report = Report::new("decode");
    let items = b"\"items\":[";
    let begins = body.windows(items.len()).position(|window| window == items);
    let mut rest = &body[begins.context("a list has items")? + items.len()..];
    let mut pods: Vec<Arc<Pod>> = Vec::with_capacity(rest.len() / 4_000);
    let before = measure::resident();
    let begin = Mark::now(0.0);
    while rest.first() == Some(&b'{') {
        let mut stream = StreamDeserializer::new(SliceRead::new(rest));
        let pod: Pod = stream.next().context("an item follows")??;
        pods.push(Arc::new(pod));
        // A comma, or the end of the items.
        rest = &rest[stream.byte_offset() + 1..];
    }
    report.spent("sync", begin, Mark::now(0.0));
    report.set("objects_rss", measure::resident() - before);
    if pods.len() as u64 != command_line.objects {
        bail!("{} pods decoded", pods.len());
    }
    black_box(&pods);
    report.print();
    Ok(())
}

/// HTTP/1.0, so that the body is everything after the head.
pub(crate) fn body(server: &str) -> Result<Vec<u8>> {
    let mut socket = TcpStream::connect(server)?;
    write!(
        socket,
        "GET /api/v1/pods HTTP/1.0\r\nhost: {server}\r\n\r\n"
    )?;
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer)?;
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n");
    Ok(answer.split_off(end.context("no answer")? + 4))
}
