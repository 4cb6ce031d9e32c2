//! Objects: deep, large, amplifying, transformed or partial; errors do not quote content.

mod decoder;

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use informer_reflector::{Body, DecodeError, DecodeErrorCategory};
use k8s_openapi::api::core::v1::{Pod, Secret};
use kube_core::DynamicObject;
use serde::de::DeserializeOwned;

use super::{requests::decode, scripted};
use crate::{
    KubeSource, PartialObjectMetadata, Projection, Representation, SerdeDecoder, Transform,
};

fn decode_with<T: DeserializeOwned + 'static>(
    json: &str,
    adjust: impl FnOnce(&mut KubeSource<T>),
) -> Body<T> {
    let mut source = scripted::source();
    adjust(&mut source);
    decode(&source, json, false)
}

fn lean() -> Arc<SerdeDecoder> {
    Arc::new(SerdeDecoder::new(Projection::lean()))
}

fn error<T>(body: &Body<T>) -> &DecodeError {
    match body {
        Body::Undecodable(error) => error,
        body => panic!("{body:?}"),
    }
}

/// FM-55, SEC-19: within the parser's 128 levels it decodes, beyond it is refused, and no depth
/// overflows the stack.
#[test]
fn depth_is_bounded() {
    for (depth, is_ok) in [
        (100, true),
        (126, true),
        (127, false),
        (128, false),
        (100_000, false),
    ] {
        let nested = "[".repeat(depth) + &"]".repeat(depth);
        let json = format!(r#"{{"metadata":{{"name":"a"}},"spec":{nested}}}"#);
        let projections = [Projection::new(), Projection::lean()];
        for projection in projections {
            let body = decode_with::<DynamicObject>(&json, |source| {
                source.decoder = Arc::new(SerdeDecoder::new(projection));
            });
            if is_ok {
                assert!(body.object().is_some(), "{depth}: {body:?}");
            } else {
                assert_eq!(error(&body).category, DecodeErrorCategory::Depth, "{depth}");
            }
        }
    }
}

/// FM-56, SEC-18: size as JSON and size in memory are bounded, strings cost what they hold.
#[test]
fn size_is_bounded() {
    let padded = |fill: &str| format!(r#"{{"metadata":{{"name":"a"}},"spec":[{fill}0]}}"#);
    let large = padded(&" ".repeat(1000));
    let body = decode_with::<DynamicObject>(&large, |source| source.limits.object_bytes = 1000);
    assert_eq!(error(&body).category, DecodeErrorCategory::Size);
    let many = padded(&r#"{"a":0},"#.repeat(180_000));
    let body = decode_with::<DynamicObject>(&many, |_| {});
    assert_eq!(error(&body).category, DecodeErrorCategory::Size);
    let text = padded(&format!("\"{}\\\"\",", "{[,".repeat(480_000)));
    assert!(
        decode_with::<DynamicObject>(&text, |_| {})
            .object()
            .is_some()
    );
}

/// RFX-2, FM-53: an object that says twice who it is is not decoded, whichever of the two its
/// identity was read from.
#[test]
fn an_identity_is_said_once() {
    let json = r#"{"metadata":{"namespace":"x","name":"a","uid":"ua","resourceVersion":"1",
        "uid":"ubb"}}"#;
    let body = decode_with::<DynamicObject>(json, |_| {});
    assert_eq!(error(&body).category, DecodeErrorCategory::Data);
    assert_eq!(&*error(&body).path, "metadata");
    let body = decode_with::<Pod>(json, |source| source.decoder = lean());
    assert_eq!(&*error(&body).path, "metadata");
}

/// FM-57: once for each object; refusal and panic cost this object only.
#[test]
fn a_transform_runs_once() {
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&runs);
    let body = decode_with::<Pod>(r#"{"metadata":{"name":"a"}}"#, |source| {
        source.transform = Some(Transform::new(move |mut pod: Pod| {
            counted.fetch_add(1, Ordering::Relaxed);
            pod.metadata.name = None;
            Ok(pod)
        }));
    });
    assert_eq!(body.object().expect("decoded").metadata.name, None);
    assert_eq!(runs.load(Ordering::Relaxed), 1);
    let refused = decode_with::<Pod>("{}", |source| {
        source.transform = Some(Transform::new(|_| Err("CANARY".into())));
    });
    assert_eq!(error(&refused).category, DecodeErrorCategory::Transform);
    assert!(!format!("{refused:?}").contains("CANARY"));
    let panicked = decode_with::<Pod>("{}", |source| {
        source.transform = Some(Transform::new(|_| panic!("on purpose")));
    });
    assert_eq!(error(&panicked).category, DecodeErrorCategory::Transform);
}

/// SEC-7: an error says where and what kind, and quotes nothing.
#[test]
fn errors_quote_nothing() {
    let json = r#"{"metadata":{"name":"a"},
        "data":{"token":"CANARY!"},"immutable":"CANARY"}"#;
    let body = decode_with::<Secret>(json, |source| source.kind = "Secret".into());
    let found = error(&body);
    assert_eq!(found.category, DecodeErrorCategory::Data);
    assert_eq!((found.line, &*found.path), (2, "data.token"));
    assert!(found.column > 0);
    let shown = format!("{found} {found:?} {body:?}");
    assert!(!shown.contains("CANARY"), "{shown}");
    let odd = format!(r#"{{"data":{{"{}\n":5}}}}"#, "k".repeat(1000));
    let body = decode_with::<Secret>(&odd, |source| source.kind = "Secret".into());
    let path = &error(&body).path;
    assert!(path.len() <= 256 && !path.contains('\n'), "{path}");
}

/// Metadata only, decoded directly, from either form of answer.
#[test]
fn metadata_only_is_decoded() {
    let adjust = |source: &mut KubeSource<PartialObjectMetadata>| {
        source.representation = Representation::MetadataOnly;
        source.decoder = lean();
    };
    let json = r#"{"metadata":{"name":"a","managedFields":[{"manager":"m"}]},"spec":{"x":1}}"#;
    let body = decode_with(json, adjust);
    let object = body.object().expect("decoded");
    assert_eq!(object.kind, "PartialObjectMetadata");
    assert_eq!(object.metadata.name.as_deref(), Some("a"));
    assert_eq!(object.metadata.managed_fields, None);
}
