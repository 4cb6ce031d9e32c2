//! Which pods run on a node, answered from an index while another thread writes.
//!
//! `cargo run -p informer-store --example pods_by_node`

use std::error::Error;

use informer_store::{Batch, Entry, Lister, ObjectKey, Scope, store};

struct Pod {
    node: Option<String>,
    phase: &'static str,
}

fn pod(node: &str) -> Entry<Pod> {
    Entry::anonymous(Pod {
        node: Some(node.to_owned()),
        phase: "Running",
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let (mut writer, reader) = store::<Pod>();

    // A pod that is not scheduled yet has no node, and so no value.
    let by_node = writer.add_index("node", |pod: &Pod| pod.node.clone())?;

    // What a list brought becomes visible in one step, with the version of the list.
    let listed = vec![
        (ObjectKey::new(Some("shop"), "cart")?, pod("node-1")),
        (ObjectKey::new(Some("shop"), "till")?, pod("node-2")),
        (ObjectKey::new(Some("mail"), "inbox")?, pod("node-1")),
        (
            ObjectKey::new(Some("mail"), "spam")?,
            Entry::anonymous(Pod {
                node: None,
                phase: "Pending",
            }),
        ),
    ];
    writer.replace(Scope::All, listed, "100".into());

    let before = reader.snapshot();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // Several changes at once: readers see both or neither.
            let mut batch = Batch::new();
            batch.upsert("mail/spam".parse().expect("well formed"), pod("node-2"));
            batch.remove("shop/cart".parse().expect("well formed"));
            batch.set_version(Scope::All, "101".into());
            let commit = writer.commit(batch);
            println!(
                "commit {}: {} updated, {} removed",
                commit.sequence, commit.updated, commit.removed
            );
        });
    });

    for node in by_node.values() {
        println!("{node}: {:?}", by_node.keys(&node));
    }
    // A snapshot keeps showing what it showed.
    println!(
        "before: {} on node-1",
        before.with(&by_node, "node-1").len()
    );

    let lister = Lister::new(reader);
    let running = lister
        .namespace("mail")
        .matching(|pod| pod.phase == "Running");
    println!("running in mail: {}", running.len());
    Ok(())
}
