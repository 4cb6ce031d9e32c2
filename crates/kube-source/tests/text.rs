//! `SerdeDecoder::decode_with_text`: the text is what the decoder decodes, and is checked.

use informer_kube_source::{Buffers, Decode, Encoded, Projection, SerdeDecoder, TypeNames, Wire};
use informer_object::{Identity, ObjectKey};
use informer_reflector::{DecodeError, DecodeErrorCategory};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Debug, Deserialize)]
struct Named {
    metadata: Metadata,
}

#[derive(Debug, Deserialize)]
struct Metadata {
    name: Box<str>,
}

fn encoded<'a>(json: &'a str, is_typed: bool, identity: &'a Identity) -> Encoded<'a> {
    let mut object = Encoded::new(Wire::Json(json), identity);
    object.type_names = (!is_typed).then(|| TypeNames::new("v1", "Pod"));
    object
}

fn identity() -> Identity {
    Identity::new(ObjectKey::new(None, "a").expect("valid"), "u", "1")
}

/// The text of an object, read with the same buffers as another one before.
fn text(json: &str, is_typed: bool, drop: &Projection) -> Result<Vec<u8>, DecodeError> {
    let (identity, decoder) = (identity(), SerdeDecoder::new(drop.clone()));
    let (mut buffers, mut text) = (Buffers::new(), b"left over".to_vec());
    let object = encoded(json, is_typed, &identity);
    let named: Named = decoder.decode_with_message(object, &mut buffers, &mut text)?;
    assert_eq!(&*named.metadata.name, "a");
    Ok(text)
}

#[test]
fn text_decodes_to_what_the_decoder_decodes() {
    let pod = json!({
        "metadata": {"name": "a", "managedFields": [{"manager": "m"}], "annotations": {"k": "\u{e9}\n"}},
        "spec": {"containers": [{"name": "c", "env": [1, 2.5, -3]}], "nodeName": null},
    });
    let typed = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "x": [{}]});
    for (object, is_typed) in [(&pod, false), (&typed, true)] {
        for drop in [
            Projection::new(),
            Projection::lean(),
            Projection::lean()
                .drop_path("spec.containers.env")
                .drop_path("x"),
        ] {
            for json in [
                object.to_string(),
                serde_json::to_string_pretty(object).expect("JSON"),
            ] {
                let identity = identity();
                let object = encoded(&json, is_typed, &identity);
                let decoder = SerdeDecoder::new(drop.clone());
                let expected: Value = decoder
                    .decode(object, &mut Buffers::new())
                    .expect("it decodes");
                let text = text(&json, is_typed, &drop).expect("it decodes");
                let read: Value = serde_json::from_slice(&text).expect("JSON");
                assert_eq!(read, expected, "{drop:?}");
                let text = String::from_utf8(text).expect("text");
                let again: Value = SerdeDecoder::default()
                    .decode_text(&text, &mut Buffers::new())
                    .expect("it decodes");
                assert_eq!(again, expected, "{drop:?}");
            }
        }
    }
}

/// FM-53, FM-55, SEC-19: what a reader of the whole object would refuse is refused, also in a field
/// that the decoded type does not have.
#[test]
fn text_that_no_reader_accepts_is_refused() {
    let with = |field: &str| format!(r#"{{"metadata":{{"name":"a"}},"spec":{field}}}"#);
    let nested = |depth: usize| with(&format!("{}{}", "[".repeat(depth), "]".repeat(depth)));
    assert!(text(&nested(126), true, &Projection::new()).is_ok());
    for (json, category) in [
        (nested(127), DecodeErrorCategory::Depth),
        (nested(100_000), DecodeErrorCategory::Depth),
        (with(r#""\ud800""#), DecodeErrorCategory::Syntax),
        (with("1e999"), DecodeErrorCategory::Syntax),
        (with("01"), DecodeErrorCategory::Syntax),
        (with("1} {"), DecodeErrorCategory::Syntax),
        (with("[1,]"), DecodeErrorCategory::Syntax),
        (
            r#"{"metadata":{"name":"a","uid":"u","uid":"v"}}"#.to_owned(),
            DecodeErrorCategory::Data,
        ),
        (
            r#"{"metadata":{"name":1}}"#.to_owned(),
            DecodeErrorCategory::Data,
        ),
    ] {
        let shown: String = json.chars().take(60).collect();
        let error = text(&json, true, &Projection::new()).expect_err(&shown);
        assert_eq!(error.category, category, "{shown}");
    }
}
