//! Watches: frames are events, or the end of the stream. Metadata of any kind.

use super::*;
use crate::{PartialObjectMetadata, Representation, tests::requests::key};

fn told<T>(event: &Result<WatchEvent<T>, Failure>) -> String {
    match event {
        Ok(WatchEvent::Added(item)) => format!("added {}", key(item)),
        Ok(WatchEvent::Modified(item)) => format!("modified {}", key(item)),
        Ok(WatchEvent::Deleted(item)) => format!("deleted {}", key(item)),
        Ok(WatchEvent::Bookmark {
            version,
            initial_events_end,
        }) => format!("bookmark {version} {initial_events_end}"),
        Ok(WatchEvent::Error(failure)) => format!("error {:?}", failure.kind),
        Err(failure) => format!("failure {}", failure.reason),
    }
}

fn frames() -> Vec<Vec<u8>> {
    let bookmark = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {
            "resourceVersion": "9", "annotations": {"k8s.io/initial-events-end": "true"}
        }
    });
    let status = json!({"apiVersion": "v1", "kind": "Status", "code": 410, "reason": "Expired"});
    vec![
        frame_of("ADDED", &pod("a", 6)),
        frame_of("MODIFIED", &pod("a", 7)),
        frame_of("DELETED", &pod("a", 8)),
        frame_of("BOOKMARK", &bookmark),
        frame_of("ERROR", &status),
    ]
}

/// FM-30, RFX-1: cut at every byte. Complete frames are events; a torn one is nothing.
#[tokio::test]
async fn a_stream_cut_anywhere_loses_nothing_silently() {
    let expected = [
        "added x/a@6",
        "modified x/a@7",
        "deleted x/a@8",
        "bookmark 9 true",
        "error Expired",
    ];
    let frames = frames();
    let body = frames.concat();
    for cut in 0..=body.len() {
        let events = watch_as(pods(), body[..cut].to_vec()).await;
        let mut end = 0;
        let complete = frames.iter().take_while(|frame| {
            end += frame.len();
            end <= cut
        });
        let events: Vec<String> = events.iter().map(told).collect();
        assert_eq!(events, expected[..complete.count()], "cut at {cut}");
    }
}

/// FM-31, FM-33, SEC-16: what cannot be believed ends the stream.
#[tokio::test]
async fn a_bad_frame_ends_the_stream() {
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}});
    let nameless = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"uid": "u"}});
    let versionless = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {}});
    let cases: [(Vec<u8>, &str); 7] = [
        (frame_of("ADDED", &node), "failure WrongKind"),
        (frame_of("ADDED", &nameless), "failure NamelessObject"),
        (frame_of("OTHER", &pod("a", 9)), "failure UnknownEvent"),
        (frame_of("BOOKMARK", &versionless), "failure NoVersion"),
        (vec![0, 0, 0, 0], "failure Malformed"),
        (vec![8, 255, 255, 255], "failure EventTooBig"),
        (vec![255, 255, 255, 255], "failure NotProtobuf"),
    ];
    for (frame, expected) in cases {
        let body = [
            frame_of("ADDED", &pod("a", 6)),
            frame,
            frame_of("ADDED", &pod("a", 7)),
        ];
        let events = watch_as(pods(), body.concat()).await;
        let events: Vec<String> = events.iter().map(told).collect();
        assert_eq!(events, ["added x/a@6", expected]);
    }
}

/// Metadata of a kind that is not built in, and whole objects in its place.
#[tokio::test]
async fn metadata_of_any_kind_is_read() {
    let source = || {
        let decoder = Arc::new(SerdeDecoder::default());
        KubeSource::<PartialObjectMetadata>::new("/apis/a.b/v1/cs", "a.b/v1", "C", decoder)
            .representation(Representation::MetadataOnly)
    };
    let metadata = json!({
        "apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata",
        "metadata": {"name": "a", "namespace": "x", "resourceVersion": "6", "labels": {"l": "v"}}
    });
    let list = json!({
        "apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadataList",
        "metadata": {"resourceVersion": "9"}, "items": [metadata]
    });
    let page = list_as(source(), body_of(&list)).await.expect("a page");
    let read = object(&page.items[0]);
    assert_eq!(
        (&*read.kind, key(&page.items[0])),
        ("PartialObjectMetadata", "x/a@6".to_owned())
    );
    let labels = read.metadata.labels.as_ref().expect("labels");
    assert_eq!(labels["l"], "v");
    let whole = seal(
        "a.b/v1",
        "C",
        &message(&[(1, b"a"), (6, b"7")], b"\x12\x02\x08\x01"),
    );
    let frame = to_frame("ADDED", &whole);
    let events = watch_as(source(), frame).await;
    let Ok(WatchEvent::Added(item)) = &events[0] else {
        panic!("{}", told(&events[0]));
    };
    assert_eq!((&*object(item).kind, key(item)), ("C", "-/a@7".to_owned()));
}
