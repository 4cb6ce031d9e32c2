//! The two questions we ask etcd itself, through the JSON gateway it serves beside gRPC.
//!
//! kube-apiserver cannot be asked to compact, and its own compaction is off, so that the history
//! of the server is lost exactly when a test says so.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

/// How long etcd may take to answer. Compaction of a large history with `physical` takes longest.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// The revision of the newest write.
pub(super) fn revision(etcd: SocketAddr) -> Result<u64> {
    let answer = post(etcd, "/v3/maintenance/status", &json!({}))?;
    let revision = answer.pointer("/header/revision").and_then(Value::as_str);
    let revision = revision.with_context(|| format!("etcd answered {answer}"))?;
    revision
        .parse()
        .with_context(|| format!("{revision:?} is no revision"))
}

/// Forgets all history up to the newest write, and answers with its revision.
pub(super) fn compact(etcd: SocketAddr) -> Result<u64> {
    let revision = revision(etcd)?;
    // Revisions are 64 bits, which this gateway writes and reads as strings.
    let request = json!({ "revision": revision.to_string(), "physical": true });
    let answer = post(etcd, "/v3/kv/compaction", &request)?;
    // Asking twice without a write between is an error to etcd, but not to us.
    let done = answer.get("header").is_some() || message(&answer).contains("has been compacted");
    if !done {
        bail!("etcd refused to compact revision {revision}: {answer}");
    }
    Ok(revision)
}

fn message(answer: &Value) -> &str {
    answer
        .get("message")
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn post(etcd: SocketAddr, path: &str, body: &Value) -> Result<Value> {
    let body = body.to_string();
    let request = format!(
        "POST {path} HTTP/1.0\r\nHost: {etcd}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(etcd).context("cannot reach etcd")?;
    stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream
        .read_to_string(&mut answer)
        .with_context(|| format!("no answer to {path}"))?;
    parse(&answer).with_context(|| format!("etcd's answer to {path}"))
}

/// The JSON of an answer. HTTP/1.0 keeps it simple: no chunks, and the end is the end.
fn parse(answer: &str) -> Result<Value> {
    let (_, body) = answer
        .split_once("\r\n\r\n")
        .context("the answer has no body")?;
    serde_json::from_str(body).with_context(|| format!("not JSON: {body:?}"))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    /// Serves the given bodies, one per connection, and returns the requests it got.
    fn fake_etcd(bodies: Vec<&'static str>) -> (SocketAddr, thread::JoinHandle<Vec<String>>) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a loopback port is free");
        let address = listener
            .local_addr()
            .expect("a bound socket has an address");
        let serve = move |body: &str| {
            let (mut stream, _) = listener.accept().expect("the test connects");
            let mut buffer = [0; 4096];
            let read = stream.read(&mut buffer).expect("the test writes");
            write!(stream, "HTTP/1.0 200 OK\r\n\r\n{body}").expect("the test reads");
            String::from_utf8_lossy(&buffer[..read]).into_owned()
        };
        (
            address,
            thread::spawn(move || bodies.into_iter().map(serve).collect()),
        )
    }

    #[test]
    fn compaction_asks_for_the_newest_revision() {
        let status = r#"{"header":{"revision":"204"}}"#;
        let (address, server) = fake_etcd(vec![status, r#"{"header":{}}"#]);
        assert_eq!(compact(address).expect("etcd agreed"), 204);
        let requests = server.join().expect("the fake did not panic");
        assert!(
            requests[1].starts_with("POST /v3/kv/compaction "),
            "{}",
            requests[1]
        );
        assert!(
            requests[1].ends_with(r#"{"physical":true,"revision":"204"}"#),
            "{}",
            requests[1]
        );
    }

    #[test]
    fn compacting_what_is_compacted_is_fine_and_other_refusals_are_not() {
        let status = r#"{"header":{"revision":"7"}}"#;
        let again = r#"{"code":11,"message":"mvcc: required revision has been compacted"}"#;
        let (address, server) = fake_etcd(vec![status, again]);
        assert_eq!(compact(address).expect("there was nothing to do"), 7);
        server.join().expect("the fake did not panic");

        let (address, server) = fake_etcd(vec![status, r#"{"code":14,"message":"no leader"}"#]);
        let error = compact(address).expect_err("etcd refused");
        assert!(error.to_string().contains("no leader"), "{error}");
        server.join().expect("the fake did not panic");
    }

    #[test]
    fn an_answer_that_is_not_json_is_shown() {
        let error = parse("HTTP/1.0 404 Not Found\r\n\r\n<html>").expect_err("HTML is not JSON");
        assert!(format!("{error:#}").contains("<html>"));
    }
}
