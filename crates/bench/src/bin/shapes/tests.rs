//! The objects are those of their types, have the stated sizes, and depend on the seed only.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::{ConfigMap, Event, Pod};
use serde::de::DeserializeOwned;

use super::packing::Packing;
use super::{Item, Request, Shape};
use informer_bench::pod;

fn request(objects: usize) -> Request {
    Request {
        objects,
        seed: 1,
        revision: 0,
    }
}

fn mean(items: &[Item]) -> usize {
    items.iter().map(|item| item.json.len()).sum::<usize>() / items.len()
}

/// Fails if an object is not a `K`, with nothing that `K` does not have.
fn assert_lossless<K>(items: &[Item])
where
    K: DeserializeOwned + serde::Serialize,
{
    for item in items {
        let sent: serde_json::Value = serde_json::from_str(&item.json).expect("it is JSON");
        let typed: K = serde_json::from_str(&item.json).expect("it is an object of its type");
        let typed = serde_json::to_value(typed).expect("it is JSON");
        assert_covers(&typed, &sent, &item.key);
    }
}

/// Fails if something of `sent` is not in `typed`. A null is the same as nothing.
fn assert_covers(typed: &serde_json::Value, sent: &serde_json::Value, path: &str) {
    use serde_json::Value;
    match (typed, sent) {
        (_, Value::Null) => {}
        (Value::Object(typed), Value::Object(sent)) => {
            for (name, value) in sent {
                let typed = typed.get(name).unwrap_or(&Value::Null);
                assert_covers(typed, value, &format!("{path}.{name}"));
            }
        }
        (Value::Array(typed), Value::Array(sent)) => {
            assert_eq!(typed.len(), sent.len(), "{path}");
            for (typed, sent) in typed.iter().zip(sent) {
                assert_covers(typed, sent, path);
            }
        }
        (_, Value::Object(sent)) if sent.is_empty() => {}
        (_, Value::Array(sent)) if sent.is_empty() => {}
        _ => assert_eq!(typed, sent, "{path}"),
    }
}

#[test]
fn objects_depend_on_seed_and_revision_only() {
    for shape in Shape::ALL {
        let items = shape.items(request(60));
        assert_eq!(items.len(), 60);
        assert_eq!(items, shape.items(request(60)), "{shape:?}");
        let other = Request {
            seed: 2,
            ..request(60)
        };
        assert_ne!(items, shape.items(other), "{shape:?}");
    }
}

#[test]
fn keys_are_those_of_the_objects_unique_and_in_order() {
    for shape in Shape::ALL {
        let items = shape.items(request(400));
        assert!(items.is_sorted_by(|a, b| a.key < b.key), "{shape:?}");
        for item in &items {
            let object: serde_json::Value = serde_json::from_str(&item.json).expect("it is JSON");
            let text = |field: &str| object["metadata"][field].as_str().expect("text").to_owned();
            assert_eq!(item.key, format!("{}/{}", text("namespace"), text("name")));
            assert!(text("uid").len() == 36 && !text("resourceVersion").is_empty());
        }
    }
}

#[test]
fn objects_are_of_their_types() {
    let items = |shape: Shape| shape.items(request(400));
    assert_lossless::<Pod>(&items(Shape::MixedPods));
    assert_lossless::<Event>(&items(Shape::Events));
    assert_lossless::<ConfigMap>(&items(Shape::ConfigMaps));
    assert_lossless::<informer_factory::DynamicObject>(&items(Shape::Applications));
}

#[test]
fn sizes_are_as_stated() {
    let sizes =
        |shape: Shape, least: usize, most: usize, means: std::ops::RangeInclusive<usize>| {
            let items = shape.items(request(350));
            for item in &items {
                let len = item.json.len();
                assert!(
                    (least..=most).contains(&len),
                    "{} has {len} bytes",
                    item.key
                );
            }
            let mean = mean(&items);
            assert!(means.contains(&mean), "{shape:?}: {mean} bytes");
        };
    sizes(Shape::BenchPods, 3_800, 4_200, 3_900..=4_100);
    sizes(Shape::MixedPods, 5_000, 25_000, 13_000..=17_000);
    sizes(Shape::Applications, 18_000, 22_000, 19_000..=21_000);
    sizes(Shape::Events, 700, 2_000, 900..=1_600);
    sizes(Shape::ConfigMaps, 600, 1_500, 900..=1_150);
}

/// Two templates differ in images, names of containers, variables or instances.
#[test]
fn templates_differ_and_all_are_there() {
    let items = Shape::MixedPods.items(request(600));
    let names = Shape::MixedPods.templates();
    let mut images: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
    for item in &items {
        let pod: Pod = serde_json::from_str(&item.json).expect("it is a pod");
        let spec = pod.spec.expect("a specification");
        let repositories = spec.containers.iter().filter_map(|container| {
            let image = container.image.as_deref()?;
            let name = container.name.trim_end_matches(char::is_numeric);
            let variables = container
                .env
                .iter()
                .flatten()
                .map(|variable| &*variable.name);
            let variables: Vec<&str> = variables.collect();
            Some(format!(
                "{name} {:?} {variables:?}",
                image.rsplit_once(':')?.0
            ))
        });
        let shape: Vec<String> = repositories.collect();
        let owner = pod.metadata.labels.unwrap_or_default();
        let instance = owner.get("app.kubernetes.io/instance").cloned();
        let shape = format!("{shape:?} {instance:?}");
        images.entry(item.template).or_default().insert(shape);
    }
    assert_eq!(images.len(), names.len());
    assert!(
        images.values().all(|shapes| shapes.len() == 1),
        "{images:?}"
    );
    let shapes: BTreeSet<_> = images.values().flatten().collect();
    assert_eq!(shapes.len(), names.len(), "two templates are the same");
}

#[test]
fn pods_of_one_workload_share_what_their_template_drew() {
    let items = Shape::PodsApart.items(request(300));
    let mut variables: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for item in &items {
        let pod: Pod = serde_json::from_str(&item.json).expect("it is a pod");
        let owner = pod.metadata.owner_references.expect("an owner").remove(0);
        let spec = pod.spec.expect("a specification");
        let drawn = format!("{:?}", spec.containers[0].env);
        variables.entry(owner.uid).or_default().insert(drawn);
    }
    assert!(variables.len() > 25, "there are many workloads");
    assert!(variables.values().all(|drawn| drawn.len() == 1));
}

#[test]
fn tenants_have_the_same_workloads_with_the_same_values() {
    let mut variables: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
    let mut namespaces: BTreeMap<String, usize> = BTreeMap::new();
    for item in Shape::TenantPods.items(request(90)) {
        let pod: Pod = serde_json::from_str(&item.json).expect("it is a pod");
        let spec = pod.spec.expect("a specification");
        let drawn = format!("{:?}", spec.containers[0].env);
        variables.entry(item.template).or_default().insert(drawn);
        let namespace = pod.metadata.namespace.expect("a namespace");
        *namespaces.entry(namespace).or_default() += 1;
    }
    assert_eq!(variables.len(), 30);
    assert!(variables.values().all(|drawn| drawn.len() == 1));
    assert_eq!(namespaces.into_values().collect::<Vec<_>>(), [30; 3]);
}

#[test]
fn namespaces_have_workloads_of_several_templates_or_of_one() {
    let templates = |shape: Shape| {
        let mut templates: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
        for item in shape.items(request(2_000)) {
            let (namespace, _) = item.key.split_once('/').expect("a key has a namespace");
            templates
                .entry(namespace.to_owned())
                .or_default()
                .insert(item.template);
        }
        templates
    };
    let apart = templates(Shape::PodsApart);
    assert_eq!(apart.len(), Shape::PodsApart.templates().len());
    assert!(apart.values().all(|templates| templates.len() == 1));
    let mixed = templates(Shape::MixedPods);
    assert!(
        mixed
            .values()
            .filter(|templates| templates.len() > 3)
            .count()
            * 2
            > mixed.len()
    );
}

#[test]
fn rollout_replaces_pods_of_the_same_templates_and_changes_what_is_drawn() {
    let revisions = [0, 1].map(|revision| {
        Shape::PodsApart.items(Request {
            revision,
            ..request(300)
        })
    });
    let count = |items: &[Item]| {
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        for item in items {
            *counts.entry(item.template).or_default() += 1;
        }
        counts
    };
    assert_eq!(count(&revisions[0]), count(&revisions[1]));
    let value = |items: &[Item], part: &str| -> BTreeSet<String> {
        let pods = items.iter().map(|item| {
            let pod: serde_json::Value = serde_json::from_str(&item.json).expect("it is JSON");
            pod.pointer(part)
                .map(ToString::to_string)
                .unwrap_or_default()
        });
        pods.filter(|value| value.len() > 20).collect()
    };
    for part in [
        "/metadata/uid",
        "/status/containerStatuses/0/imageID",
        "/status/containerStatuses/0/containerID",
    ] {
        let [before, after] = [0, 1].map(|at: usize| value(&revisions[at], part));
        assert!(before.len() > 20 && before.is_disjoint(&after), "{part}");
    }
    let [before, after] = [0, 1].map(|at: usize| value(&revisions[at], "/spec/containers/0/env"));
    assert!(
        after.difference(&before).count() * 2 > after.len(),
        "values of variables change"
    );
}

#[tokio::test]
async fn informer_packs_every_object_of_every_shape() {
    for shape in Shape::ALL {
        let items = shape.items(request(300));
        let packing = Packing::of(shape, items.clone())
            .await
            .expect("it is packed");
        assert_eq!(packing.objects.len(), items.len());
        assert!(packing.dictionary.is_some(), "{shape:?}");
        for ((item, lengths), text) in items.iter().zip(&packing.objects).zip(&packing.texts) {
            assert_eq!(lengths.json, item.json.len());
            assert!(
                lengths.packed < lengths.text && lengths.text < lengths.json,
                "{}",
                item.key
            );
            let text = std::str::from_utf8(text).expect("it is text");
            assert!(!text.contains("managedFields"), "{}", item.key);
        }
        let same = packing
            .packed_with(packing.dictionary.as_ref())
            .expect("it packs");
        let total =
            |all: &[super::packing::Lengths]| all.iter().map(|one| one.packed).sum::<usize>();
        assert_eq!(total(&same), total(&packing.objects));
        assert!(total(&packing.packed_with(None).expect("it packs")) > total(&same));
    }
}

#[test]
fn bench_pods_are_those_of_the_server() {
    let items = Shape::BenchPods.items(request(3));
    assert_eq!(items[2].json, pod::json(1, 2));
}
