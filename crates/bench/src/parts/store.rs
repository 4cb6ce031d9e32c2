//! Operations of the store (P10).

use std::hint::black_box;
use std::sync::Arc;

use informer_factory::store::{Entries, Scope, StoreWriter, store};
use informer_factory::{StoreReader, index};
use k8s_openapi::api::core::v1::Pod;

use super::pods::{Decoded, Pods, visit};
use super::{Operation, Part};
use crate::pod;

/// A look-up starts where a hash would be if all were spread evenly, and walks from there.
const SEEDS: u64 = 128;

/// All of them.
pub const PARTS: [Part; 10] = [
    part("store/get", 800 * SEEDS, get),
    part("store/get_borrowed", 800 * SEEDS, get_borrowed),
    part("store/by_index", 200 * SEEDS, by_index),
    part("store/by_index_borrowed", 200 * SEEDS, by_index_borrowed),
    part("store/by_index_collect", 200 * SEEDS, by_index_collect),
    part("store/snapshot", 800 * SEEDS, snapshot),
    part("store/iterate", 8 * SEEDS, iterate),
    part("store/iterate_borrowed", 8 * SEEDS, iterate_borrowed),
    part("store/list", 8 * SEEDS, list),
    part("store/update", 80 * SEEDS, update),
];

const fn part(name: &'static str, counted: u64, prepare: fn(&Pods) -> Operation) -> Part {
    Part {
        name,
        batch: 1,
        counted,
        seeds: SEEDS,
        prepare,
    }
}

fn filled(pods: &Pods) -> (StoreWriter<Pod>, StoreReader<Pod>) {
    let (mut writer, reader) = store();
    let entries = pods.all.iter().map(|pod| (pod.key(), pod.entry()));
    writer.replace(Scope::All, entries.collect(), "1".into());
    (writer, reader)
}

fn by_node(pods: &Pods) -> (StoreReader<Pod>, Vec<String>) {
    let (mut writer, reader) = filled(pods);
    let index = writer.add_index("node", index::node);
    index.expect("the only index");
    (reader, (0..pod::NODES).map(pod::node).collect())
}

/// Each in turn, and then again.
fn turn<'a, A>(all: &'a [A], next: &mut usize) -> &'a A {
    *next = if *next + 1 < all.len() { *next + 1 } else { 0 };
    &all[*next]
}

fn keys(pods: &Pods) -> Vec<String> {
    let keys = (0..pods.all.len() as u64).map(|turn| pods.scattered(turn).key());
    keys.map(|key| key.to_string()).collect()
}

/// To keep, so the object's count is touched, as by kube-runtime.
fn get(pods: &Pods) -> Operation {
    let ((_, reader), keys) = (filled(pods), keys(pods));
    let mut next = 0;
    Box::new(move |times| {
        for _ in 0..times {
            black_box(
                reader
                    .get(turn::<String>(&keys, &mut next))
                    .expect("it is stored"),
            );
        }
    })
}

/// To look at, so only its address is asked for, as by client-go.
fn get_borrowed(pods: &Pods) -> Operation {
    let ((_, reader), keys) = (filled(pods), keys(pods));
    let (snapshot, mut next) = (reader.snapshot(), 0);
    Box::new(move |times| {
        for _ in 0..times {
            let entry = snapshot.get(turn::<String>(&keys, &mut next));
            black_box(Arc::as_ptr(&entry.expect("it is stored").object));
        }
    })
}

/// And something of each object is read.
fn by_index(pods: &Pods) -> Operation {
    let (reader, nodes) = by_node(pods);
    let mut next = 0;
    Box::new(move |times| {
        for _ in 0..times {
            let snapshot = reader.snapshot();
            let entries = snapshot.by_index("node", turn::<String>(&nodes, &mut next));
            let entries = entries.expect("the index is there");
            let read: usize = entries.map(|(_, entry)| visit(&entry.object)).sum();
            black_box(read);
        }
    })
}

/// Only the addresses of the objects are asked for, as by client-go.
fn by_index_borrowed(pods: &Pods) -> Operation {
    let (reader, nodes) = by_node(pods);
    let mut next = 0;
    Box::new(move |times| {
        for _ in 0..times {
            let snapshot = reader.snapshot();
            let entries = snapshot.by_index("node", turn::<String>(&nodes, &mut next));
            look_at_none(entries.expect("the index is there"));
        }
    })
}

fn look_at_none(entries: Entries<'_, Pod>) {
    entries.for_each(|(_, entry)| {
        black_box(Arc::as_ptr(&entry.object));
    });
}

fn by_index_collect(pods: &Pods) -> Operation {
    let (reader, nodes) = by_node(pods);
    let mut next = 0;
    Box::new(move |times| {
        for _ in 0..times {
            black_box(reader.by_index("node", turn::<String>(&nodes, &mut next)))
                .expect("it is there");
        }
    })
}

fn snapshot(pods: &Pods) -> Operation {
    let (_, reader) = filled(pods);
    Box::new(move |times| {
        for _ in 0..times {
            black_box(reader.snapshot());
        }
    })
}

/// And something of each object is read.
fn iterate(pods: &Pods) -> Operation {
    let (_, reader) = filled(pods);
    Box::new(move |times| {
        for _ in 0..times {
            let snapshot = reader.snapshot();
            let read: usize = snapshot.iter().map(|(_, entry)| visit(&entry.object)).sum();
            black_box(read);
        }
    })
}

/// Only the addresses of the objects are asked for, as by client-go.
fn iterate_borrowed(pods: &Pods) -> Operation {
    let (_, reader) = filled(pods);
    Box::new(move |times| {
        for _ in 0..times {
            look_at_none(reader.snapshot().iter());
        }
    })
}

fn list(pods: &Pods) -> Operation {
    let (_, reader) = filled(pods);
    Box::new(move |times| {
        for _ in 0..times {
            black_box(reader.list());
        }
    })
}

fn update(pods: &Pods) -> Operation {
    let (mut writer, _) = filled(pods);
    let index = writer.add_index("namespace", |pod: &Pod| pod.metadata.namespace.clone());
    index.expect("the only index");
    let stored = (0..pods.copies.len() as u64).map(|turn| pods.scattered(turn));
    let versions: Vec<Decoded> = pods.copies.iter().chain(stored).cloned().collect();
    let mut next = 0;
    Box::new(move |times| {
        for _ in 0..times {
            let pod = turn(&versions, &mut next);
            black_box(writer.upsert(pod.key(), pod.entry()));
        }
    })
}
