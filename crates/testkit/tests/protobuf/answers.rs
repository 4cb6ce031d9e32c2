//! Answers in protobuf: the same objects as in JSON, and what is not served.

use crate::asking::{Answer, METADATA, PROTOBUF, ask, events_of, json_of, send};
use http::Method;
use informer_kube_protobuf::{Envelope, Identity, ListPart, ListParts, from_slice};
use informer_testkit::{ApiServer, Interjection, ProtobufSupport, Rejection, Resource};
use k8s_openapi::{
    List,
    api::core::v1::{ConfigMap, Pod},
};
use serde_json::{Value, json};

const MAPS: &str = "/api/v1/configmaps";
const WIDGETS: &str = "/apis/example.org/v1/widgets";

fn widgets() -> Resource {
    Resource::custom("example.org", "v1", "Widget", "widgets", true)
}

/// Six config maps `m0` to `m5` at the versions 2 to 7, the even ones with the label `on=yes`.
fn server() -> ApiServer {
    let server = ApiServer::builder().resource(widgets()).build();
    for number in 0..6 {
        let on = if number % 2 == 0 { "yes" } else { "no" };
        let metadata = json!({"name": format!("m{number}"), "labels": {"on": on}});
        let data = json!({"number": number.to_string(), "text": "ä\u{1f600}\n"});
        put(&server, json!({"metadata": metadata, "data": data}));
    }
    server
}

fn put(server: &ApiServer, object: Value) {
    server.create(&Resource::config_maps(), object).unwrap();
}

/// The value without null and empty arrays, which protobuf does not tell apart.
fn comparable(mut value: Value) -> Value {
    match &mut value {
        Value::Object(members) => {
            members.retain(|_, member| !member.is_null() && *member != json!([]));
            let changed = |member: &mut Value| *member = comparable(member.take());
            members.values_mut().for_each(changed);
        }
        Value::Array(elements) => {
            let changed = |element: &mut Value| *element = comparable(element.take());
            elements.iter_mut().for_each(changed);
        }
        _ => {}
    }
    value
}

/// Asserts that the answers in both encodings have the same status and value; returns the value.
async fn same_value(server: &ApiServer, path: &str, accept: &str) -> Value {
    let protobuf = ask(server, path, accept).await;
    assert_eq!(protobuf.media_type, PROTOBUF, "{path}");
    let json = ask(server, path, &accept.replace(PROTOBUF, "application/json")).await;
    assert_eq!(
        (json.code, &*json.media_type),
        (protobuf.code, "application/json")
    );
    let json: Value = serde_json::from_slice(&json.body).unwrap();
    let (value, mut json) = (comparable(json_of(&protobuf.body)), comparable(json));
    // In protobuf no item of a list has its type.
    let items = json.get_mut("items").and_then(Value::as_array_mut);
    for item in items.into_iter().flatten() {
        item.as_object_mut().unwrap().remove("apiVersion");
        item.as_object_mut().unwrap().remove("kind");
    }
    assert_eq!(value, json, "{path}");
    value
}

#[tokio::test]
async fn a_list_has_the_objects_of_the_list_in_json() {
    let server = server();
    let all = same_value(&server, MAPS, PROTOBUF).await;
    assert_eq!(
        (all["items"].as_array().unwrap().len(), &all["kind"]),
        (6, &json!("ConfigMapList"))
    );
    assert_eq!(all["metadata"], json!({"resourceVersion": "7"}));
    for (query, items) in [
        ("labelSelector=on%3Dyes", 3),
        ("fieldSelector=metadata.name%3Dm1", 1),
        ("resourceVersion=4&resourceVersionMatch=Exact", 3),
        ("labelSelector=on%3Dnever", 0),
    ] {
        let list = same_value(&server, &format!("{MAPS}?{query}"), PROTOBUF).await;
        let found = list["items"].as_array().map_or(0, Vec::len);
        assert_eq!(found, items, "{query}");
    }
    let page = same_value(&server, &format!("{MAPS}?limit=4"), PROTOBUF).await;
    assert_eq!(page["metadata"]["remainingItemCount"], 2);
    let token = page["metadata"]["continue"].as_str().unwrap();
    let rest = same_value(
        &server,
        &format!("{MAPS}?limit=4&continue={token}"),
        PROTOBUF,
    )
    .await;
    assert_eq!(rest["items"][1]["data"]["text"], "ä\u{1f600}\n");
    same_value(
        &server,
        "/api/v1/namespaces/default/configmaps/m3",
        PROTOBUF,
    )
    .await;
}

#[tokio::test]
async fn typed_objects_are_equal_in_both_encodings() {
    let server = ApiServer::new();
    let spec = json!({
        "nodeName": "n1", "priority": 0, "terminationGracePeriodSeconds": 30,
        "containers": [{
            "name": "c", "image": "i", "ports": [{"containerPort": 80}],
            "resources": {"requests": {"cpu": "100m", "memory": "1Gi"}},
            "livenessProbe": {"httpGet": {"path": "/", "port": "web"}},
        }],
        "volumes": [{"name": "v", "secret": {"secretName": "s", "defaultMode": 420}}],
    });
    let status = json!({"phase": "Running", "startTime": "2026-01-02T03:04:05Z"});
    let pod = json!({"metadata": {"name": "a"}, "spec": spec, "status": status});
    server.create(&Resource::pods(), pod).unwrap();
    let path = "/api/v1/pods?fieldSelector=spec.nodeName%3Dn1";
    let json = ask(&server, path, "application/json").await;
    let expected: List<Pod> = serde_json::from_slice(&json.body).unwrap();
    let protobuf = ask(&server, path, PROTOBUF).await;
    let list: List<Pod> = Envelope::parse(&protobuf.body).unwrap().decode().unwrap();
    assert_eq!(list, expected);
}

/// The events of a watch in both encodings, which have to be equal.
async fn same_events(server: &ApiServer, path: &str, accept: &str) -> Vec<Value> {
    let protobuf = ask(server, path, accept).await;
    assert_eq!(protobuf.media_type, format!("{PROTOBUF};stream=watch"));
    let json = ask(server, path, &accept.replace(PROTOBUF, "application/json")).await;
    let lines = json
        .body
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty());
    let lines: Vec<Value> = lines
        .map(|line| comparable(serde_json::from_slice(line).unwrap()))
        .collect();
    assert_eq!(events_of(&protobuf.body), lines, "{path}");
    lines
}

fn short(events: &[Value]) -> Vec<String> {
    let one = |event: &Value| {
        let (kind, metadata) = (
            event["type"].as_str().unwrap(),
            &event["object"]["metadata"],
        );
        let (name, version) = (&metadata["name"], &metadata["resourceVersion"]);
        let ends = metadata["annotations"]["k8s.io/initial-events-end"] == "true";
        let end = if ends { " end" } else { "" };
        format!(
            "{kind} {}@{}{end}",
            name.as_str().unwrap_or_default(),
            version.as_str().unwrap_or_default()
        )
    };
    events.iter().map(one).collect()
}

#[tokio::test(start_paused = true)]
async fn a_watch_has_the_events_of_the_watch_in_json() {
    let server = server();
    let maps = Resource::config_maps();
    let patch = json!({"metadata": {"labels": {"on": "no"}}});
    server.patch(&maps, "default", "m2", patch).unwrap();
    server.delete(&maps, "default", "m4").unwrap();
    let query = "watch=1&timeoutSeconds=100&allowWatchBookmarks=true";
    let path = format!("{MAPS}?{query}&resourceVersion=5&labelSelector=on%3Dyes");
    let events = same_events(&server, &path, PROTOBUF).await;
    let expected = [
        "ADDED m4@6",
        "DELETED m2@8",
        "DELETED m4@9",
        "BOOKMARK @9",
        "BOOKMARK @9",
    ];
    assert_eq!(short(&events), expected);

    let path = format!(
        "{MAPS}?{query}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan\
         &labelSelector=on%3Dyes"
    );
    let events = same_events(&server, &path, PROTOBUF).await;
    let expected = [
        "ADDED m0@2",
        "BOOKMARK @9 end",
        "BOOKMARK @9",
        "BOOKMARK @9",
    ];
    assert_eq!(short(&events), expected);
}

#[tokio::test(start_paused = true)]
async fn interjections_are_events_in_both_encodings() {
    let server = ApiServer::new();
    let maps = Resource::config_maps();
    let path = format!("{MAPS}?watch=1&resourceVersion=1&timeoutSeconds=100");
    let lines = [
        json!({"type": "BOOKMARK", "object": {
            "kind": "ConfigMap", "apiVersion": "v1", "metadata": {"resourceVersion": "1"},
        }}),
        json!({"type": "MODIFIED", "object": {
            "kind": "ConfigMap", "apiVersion": "v1", "data": {"a": "b"},
            "metadata": {"name": "x", "namespace": "n", "uid": "u", "resourceVersion": "5"},
        }}),
    ];
    let protobuf = ask(&server, &path, PROTOBUF);
    let said = async {
        server.wait_for_watches(&maps, 1).await;
        for line in &lines {
            server
                .interject(&maps, Interjection::Line(line.clone()))
                .unwrap();
        }
        let error = Interjection::Error(Rejection::expired(1, 2));
        server.interject(&maps, error).unwrap();
    };
    let (protobuf, ()) = tokio::join!(protobuf, said);
    let events = events_of(&protobuf.body);
    assert_eq!(events[..2], lines);
    assert_eq!(
        (&events[2]["type"], &events[2]["object"]["code"]),
        (&json!("ERROR"), &json!(410))
    );
}

#[tokio::test]
async fn refusals_are_statuses_in_the_encoding_that_was_asked_for() {
    let server = server();
    server.compact();
    for (path, code) in [
        (
            format!("{MAPS}?resourceVersion=3&resourceVersionMatch=Exact"),
            410,
        ),
        (format!("{MAPS}?resourceVersion=99"), 504),
        (format!("{MAPS}?resourceVersion=x"), 400),
        ("/api/v1/namespaces/default/configmaps/none".to_owned(), 404),
        ("/api/v1/nothing".to_owned(), 404),
    ] {
        let status = same_value(&server, &path, PROTOBUF).await;
        assert_eq!(
            (&status["kind"], &status["code"]),
            (&json!("Status"), &json!(code)),
            "{path}"
        );
    }
    let path = format!("{MAPS}?watch=1&resourceVersion=3");
    let events = same_events(&server, &path, PROTOBUF).await;
    assert_eq!(events[0]["object"]["reason"], "Expired");
}

#[tokio::test(start_paused = true)]
async fn metadata_of_custom_resources_is_served() {
    let server = server();
    for name in ["a", "b"] {
        let widget = json!({"metadata": {"name": name, "labels": {"l": name}}, "spec": {"x": 1}});
        server.create(&widgets(), widget).unwrap();
    }
    let list = same_value(&server, WIDGETS, METADATA).await;
    assert_eq!(list["kind"], "PartialObjectMetadataList");
    assert_eq!(list["apiVersion"], "meta.k8s.io/v1");
    let path = format!("{WIDGETS}?watch=1&resourceVersion=8&timeoutSeconds=100");
    let events = same_events(&server, &path, METADATA).await;
    assert_eq!(short(&events), ["ADDED b@9"]);
    assert_eq!(events[0]["object"]["kind"], "PartialObjectMetadata");
    same_value(&server, MAPS, METADATA).await;
}

#[tokio::test]
async fn a_custom_resource_in_full_is_json_or_406() {
    let server = server();
    let refused = ask(&server, WIDGETS, PROTOBUF).await;
    assert_eq!((refused.code, &*refused.media_type), (406, PROTOBUF));
    assert_eq!(json_of(&refused.body)["reason"], "NotAcceptable");
    let both = format!("{PROTOBUF},application/json");
    let served = ask(&server, WIDGETS, &both).await;
    assert_eq!(
        (served.code, &*served.media_type),
        (200, "application/json")
    );
}

#[tokio::test]
async fn writes_answer_in_protobuf_too() {
    let server = ApiServer::new();
    let path = "/api/v1/namespaces/default/configmaps";
    let at = |name: &str| format!("{path}/{name}");
    let object = |value: &str| json!({"metadata": {"name": "a"}, "data": {"k": value}}).to_string();
    let created = send(&server, Method::POST, path, PROTOBUF, object("1")).await;
    let dry = send(
        &server,
        Method::PUT,
        &at("a?dryRun=All"),
        PROTOBUF,
        object("2"),
    )
    .await;
    let replaced = send(&server, Method::PUT, &at("a"), PROTOBUF, object("2")).await;
    let deleted = send(&server, Method::DELETE, &at("a"), PROTOBUF, String::new()).await;
    let value = |answer: &Answer| {
        assert_eq!(answer.media_type, PROTOBUF);
        (answer.code, json_of(&answer.body)["data"]["k"].clone())
    };
    assert_eq!(value(&created), (201, json!("1")));
    assert_eq!(value(&dry), (200, json!("2")));
    assert_eq!(value(&replaced), (200, json!("2")));
    assert_eq!(json_of(&deleted.body)["status"], "Success");
}

#[tokio::test]
async fn servers_can_lack_protobuf() {
    let both = format!("{PROTOBUF},application/json");
    for (support, both_code, alone_code) in [
        (ProtobufSupport::Served, 200, 200),
        (ProtobufSupport::JsonOnly, 200, 406),
        (ProtobufSupport::NotAcceptable, 406, 406),
        (ProtobufSupport::Broken, 500, 500),
    ] {
        let server = ApiServer::builder().protobuf(support).build();
        let answer = ask(&server, MAPS, &both).await;
        assert_eq!(answer.code, both_code, "{support:?}");
        let is_protobuf = answer.media_type == PROTOBUF;
        assert_eq!(
            is_protobuf,
            support == ProtobufSupport::Served,
            "{support:?}"
        );
        assert_eq!(
            ask(&server, MAPS, PROTOBUF).await.code,
            alone_code,
            "{support:?}"
        );
        assert_eq!(
            ask(&server, MAPS, "application/json").await.code,
            200,
            "{support:?}"
        );
        assert_eq!(
            server.requests()[0].media_type,
            answer.media_type,
            "{support:?}"
        );
    }
}

/// FM-53: nonsense of a test has an identity and does not decode; unknown members are not sent.
#[tokio::test]
async fn nonsense_does_not_decode_in_protobuf_either() {
    let server = ApiServer::new();
    put(&server, json!({"metadata": {"name": "a"}, "data": 42}));
    put(
        &server,
        json!({"metadata": {"name": "b", "labels": 42}, "data": {"k": "v"}}),
    );
    put(
        &server,
        json!({"metadata": {"name": "c"}, "data": {"k": "v"}, "unknown": [1]}),
    );
    let answer = ask(&server, MAPS, PROTOBUF).await;
    let list = Envelope::parse(&answer.body).unwrap();
    let schema = list.schema().unwrap().item().unwrap();
    let items = ListParts::new(list.raw).filter_map(|part| match part.unwrap() {
        ListPart::Item(item) => Some(item),
        _ => None,
    });
    let found = items.map(|item| {
        let identity = Identity::read(item).unwrap();
        let decoded = from_slice::<ConfigMap>(schema, item);
        (
            String::from_utf8(identity.name.to_vec()).unwrap(),
            decoded.is_ok(),
        )
    });
    let expected = [("a", false), ("b", false), ("c", true)];
    let expected = expected.map(|(name, is_good)| (name.to_owned(), is_good));
    assert_eq!(found.collect::<Vec<_>>(), expected);
}
