//! What faults look like to a client that reads bytes: status, headers, body, and how it ends.
#![allow(
    clippy::unwrap_used,
    reason = "a helper of tests that cannot go on has failed"
)]

use std::time::Duration;

use bytes::Bytes;
use http::{Request, header::CONTENT_TYPE};
use http_body_util::{BodyExt, Empty};
use informer_testkit::{ApiServer, Fault, Match, Rejection, Resource, Times};
use serde_json::{Value, json};
use tokio::time::timeout;
use tower::ServiceExt;

const LIST: &str = "/api/v1/nodes";
const WATCH: &str = "/api/v1/nodes?watch=1&resourceVersion=1&timeoutSeconds=30";

struct Answer {
    code: u16,
    media_type: String,
    retry_after: Option<String>,
    body: String,
    is_whole: bool,
}

async fn ask(path: &str, fault: Option<Fault>) -> Result<Answer, std::io::Error> {
    let server = ApiServer::new();
    for name in ["a", "b"] {
        server
            .create(&Resource::nodes(), json!({"metadata": {"name": name}}))
            .unwrap();
    }
    if let Some(fault) = fault {
        server.fault(Match::any(), fault, Times::Once);
    }
    let request = Request::get(path).body(Empty::<Bytes>::new()).unwrap();
    let response = server.service().oneshot(request).await?;
    let header = |name: &str| {
        response
            .headers()
            .get(name)?
            .to_str()
            .ok()
            .map(str::to_owned)
    };
    let (code, retry_after) = (response.status().as_u16(), header("retry-after"));
    let media_type = header(CONTENT_TYPE.as_str()).unwrap();
    let (mut body, mut bytes, mut is_whole) = (response.into_body(), Vec::new(), true);
    while let Some(frame) = body.frame().await {
        match frame {
            Ok(frame) => bytes.extend_from_slice(&frame.into_data().unwrap()),
            Err(_) => is_whole = false,
        }
    }
    let body = String::from_utf8(bytes).unwrap();
    Ok(Answer {
        code,
        media_type,
        retry_after,
        body,
        is_whole,
    })
}

#[tokio::test(start_paused = true)]
async fn a_list_and_a_watch_as_they_should_be() {
    let list = ask(LIST, None).await.unwrap();
    assert_eq!(
        (list.code, &*list.media_type, list.is_whole),
        (200, "application/json", true)
    );
    let value: Value = serde_json::from_str(&list.body).unwrap();
    assert_eq!(
        (&value["kind"], &value["items"][0]["kind"]),
        (&json!("NodeList"), &Value::Null)
    );
    let watch = ask(WATCH, None).await.unwrap();
    let lines: Vec<Value> = watch
        .body
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(
        (&lines[1]["type"], &lines[1]["object"]["kind"]),
        (&json!("ADDED"), &json!("Node"))
    );
}

/// FM-10, FM-30: the bytes before the cut, exactly, and then an error instead of an end.
#[tokio::test(start_paused = true)]
async fn cut_at_every_byte() {
    for path in [LIST, WATCH] {
        let whole = ask(path, None).await.unwrap().body;
        for bytes in 0..whole.len() {
            let cut = ask(path, Some(Fault::CutAfterBytes(bytes as u64)))
                .await
                .unwrap();
            assert_eq!((&*cut.body, cut.is_whole), (&whole[..bytes], false));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn refuse_answers_nothing() {
    assert!(ask(LIST, Some(Fault::Refuse)).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn hangs_are_for_ever() {
    let day = Duration::from_secs(86_400);
    for path in [LIST, WATCH] {
        for fault in [Fault::Hang, Fault::HangHeaders] {
            assert!(timeout(day, ask(path, Some(fault))).await.is_err());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_status_has_code_and_retry_after() {
    let status = Rejection::new(503, "ServiceUnavailable", "later");
    let status = Fault::Status(status.with_retry_after(Duration::from_secs(3)));
    let answer = ask(WATCH, Some(status)).await.unwrap();
    assert_eq!(
        (answer.code, answer.retry_after.as_deref()),
        (503, Some("3"))
    );
    let body: Value = serde_json::from_str(&answer.body).unwrap();
    assert_eq!(body["details"]["retryAfterSeconds"], 3);
}

#[tokio::test(start_paused = true)]
async fn html_is_a_page_with_200() {
    for path in [LIST, WATCH, "/api"] {
        let answer = ask(path, Some(Fault::Html)).await.unwrap();
        assert_eq!((answer.code, &*answer.media_type), (200, "text/html"));
        assert!(answer.body.starts_with("<html>"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_truncated_line_is_ended_and_the_next_is_whole() {
    let answer = ask(WATCH, Some(Fault::TruncatedLine)).await.unwrap();
    let lines: Vec<_> = answer
        .body
        .lines()
        .map(serde_json::from_str::<Value>)
        .collect();
    assert_eq!(
        lines.iter().map(Result::is_ok).collect::<Vec<_>>(),
        [false, true]
    );
}

/// What kube-apiserver says of what is not there, not allowed, or not understood.
#[tokio::test(start_paused = true)]
async fn what_cannot_be_answered_is_a_status() {
    let cases = [
        ("/", 404),
        ("/apis/none/v1", 404),
        ("/api/v1/nodes/c", 404),
        ("/api/v1/nodes?limit=x", 400),
        ("/api/v1/nodes?fieldSelector=status.phase%3Dx", 400),
        ("/api/v1/nodes?labelSelector=a%20b", 400),
        ("/api/v1/nodes?resourceVersion=x", 400),
        ("/api/v1/nodes?resourceVersion=9", 504),
        ("/api/v1/nodes?resourceVersionMatch=Exact", 422),
        ("/api/v1/nodes?continue=zz", 400),
        ("/api/v1/nodes?watch=1&sendInitialEvents=true", 422),
        ("/api/v1/nodes?watch=1&resourceVersionMatch=Exact", 422),
    ];
    for (path, code) in cases {
        let answer = ask(path, None).await.unwrap();
        let status: Value = serde_json::from_str(&answer.body).unwrap();
        assert_eq!(
            (answer.code, &status["kind"]),
            (code, &json!("Status")),
            "{path}"
        );
        assert_eq!(status["code"], code, "{path}");
    }
}
