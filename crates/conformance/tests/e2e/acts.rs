//! One workload in seven acts, and what is asked of both sides after each.

use std::time::Duration;

use futures::future::join_all;
use tokio::time::Instant;

use crate::ledger::Listener;
use crate::stage::{Stage, Versions};
use crate::verdict::{UNDER_LOAD, Verdict, Weather};
use crate::watched::{REMINDED, RESYNC, SIDE};
use crate::writer::{Writer, for_each};

/// Objects of each writer: config maps, pods and gadgets, each in two namespaces.
const COUNTS: [usize; 6] = [900, 300, 450, 200, 400, 200];
/// How many changes there must have been.
const CHANGES: usize = 20_000;
/// Writes in flight, per writer.
const AT_ONCE: usize = 8;
/// How long the server stays away after it was killed.
const OUTAGE: Duration = Duration::from_secs(1);
/// How often everything is to be reminded of, and within how many periods.
const REMINDERS: (usize, u32) = (2, 6);

pub(crate) async fn play() {
    let start = Instant::now();
    let mut stage = Stage::set().await;
    let mut verdict = Verdict::default();
    let beginning = stage.touch().await;
    let mut known = open(&mut stage, &mut verdict).await;
    known = load(&mut stage, &mut verdict, known).await;
    known = quiet(&mut stage, &mut verdict, known).await;
    known = second_load(&mut stage, &mut verdict, known).await;
    known = gap(&mut stage, &mut verdict, known).await;
    known = fault(&mut stage, &mut verdict, known).await;
    end(&mut stage, &mut verdict, known).await;
    let annals = stage.annals.iter();
    let changes: usize = annals
        .map(|(plural, annals)| annals.changes_after(beginning[plural]))
        .sum();
    println!("{verdict}{changes} changes in {:.1?}", start.elapsed());
    verdict.check_rules(&stage);
    assert!(changes >= CHANGES, "{changes} changes are not enough");
    for (_, ours) in &stage.ours {
        ours.shut_down().await;
    }
}

/// A fifth of the objects is there before anybody looks.
async fn open(stage: &mut Stage, verdict: &mut Verdict) -> Versions {
    each(stage, |writer, count| {
        for_each(0..count / 5, AT_ONCE, async |i| create(writer, i).await)
    })
    .await;
    let before = stage.touch().await;
    stage.follow().await;
    let known = stage.converge("at first").await;
    for (name, theirs) in &mut stage.theirs {
        let asked = theirs.asked().await;
        println!("{name}: {asked:?}");
        let streaming = name.contains("streaming");
        assert_eq!(streaming, asked.streaming > 0, "{name}: {asked:?}");
        assert_eq!(streaming, asked.lists == 0, "{name}: {asked:?}");
    }
    verdict.judge(stage, "at first", &known, &Weather::Peace(before));
    known
}

/// The first load, and a handler that joins in the middle of it.
async fn load(stage: &mut Stage, verdict: &mut Verdict, known: Versions) -> Versions {
    let start = Instant::now();
    // The stage cannot be lent to the writers and change.
    let writers = std::mem::take(&mut stage.writers);
    let live = join_all(writers.iter().zip(COUNTS).map(|(writer, count)| {
        for_each(0..count, AT_ONCE, move |i| live(writer, i, i < count / 5))
    }));
    let join = async {
        writers[0].wait_for_more(1_000).await;
        stage.join(UNDER_LOAD).await;
    };
    tokio::join!(live, join);
    stage.writers = writers;
    println!("load: {:.1?}", start.elapsed());
    let now = stage.converge("after a load").await;
    verdict.judge(stage, "after a load", &known, &Weather::Calm);
    now
}

/// A handler joins while nothing happens, and those that asked for it are reminded.
async fn quiet(stage: &mut Stage, verdict: &mut Verdict, known: Versions) -> Versions {
    stage.join("late").await;
    let (times, periods) = REMINDERS;
    let deadline = Instant::now() + RESYNC * periods;
    for watched in stage.watched.iter().filter(|watched| watched.reminded) {
        let plural = &watched.resource.plural;
        let all = stage.annals[plural]
            .list_at(&watched.scope, known[plural])
            .await;
        let listener = Listener {
            watched: watched.name.to_owned(),
            handler: REMINDED.to_owned(),
        };
        for (name, _, ledger) in stage.ledgers() {
            let reminded = ledger.reminded(&listener, &all, times, deadline).await;
            reminded.unwrap_or_else(|text| panic!("{name}: {text}"));
        }
    }
    let now = stage.converge("in peace").await;
    verdict.judge(stage, "in peace", &known, &Weather::Peace(known.clone()));
    now
}

/// More changes, with all handlers there.
async fn second_load(stage: &mut Stage, verdict: &mut Verdict, known: Versions) -> Versions {
    each(stage, |writer, count| {
        for_each(survivors(count), AT_ONCE, async |i| {
            writer.label(&name(i), SIDE.0, "out").await;
            writer.label(&name(i), "change", "third").await;
            writer.label(&name(i), SIDE.0, SIDE.1).await;
        })
    })
    .await;
    let now = stage.converge("after a second load").await;
    verdict.judge(stage, "after a second load", &known, &Weather::Calm);
    now
}

/// The connections are cut, the world changes, and its history is forgotten.
async fn gap(stage: &mut Stage, verdict: &mut Verdict, known: Versions) -> Versions {
    let mut before = Vec::new();
    for (_, theirs) in &mut stage.theirs {
        before.push(theirs.asked().await.expired);
    }
    let lists: Vec<_> = stage.ours.iter().map(|(_, ours)| ours.lists()).collect();
    stage.relay.cut().await;
    each(stage, |writer, count| {
        for_each(survivors(count), AT_ONCE, move |i| unseen(writer, i))
    })
    .await;
    let behind = stage.touch().await;
    stage.cluster.ask("compact").await;
    // Its cache remembers what etcd has forgotten. Our own watch would keep it from an orderly end.
    stage.cluster.ask("kill-apiserver").await;
    stage.cluster.ask("start-apiserver").await;
    stage.relay.mend().await;
    let now = stage.converge("after a gap").await;
    for ((name, theirs), before) in stage.theirs.iter_mut().zip(before) {
        let asked = theirs.asked().await;
        println!("{name}: {asked:?}");
        let expired = asked.expired - before;
        assert_eq!(
            expired,
            stage.watched.len(),
            "{name}: each watch expires once: {asked:?}"
        );
    }
    for ((name, ours), before) in stage.ours.iter().zip(lists) {
        let lists = ours.lists();
        println!("{name}: lists {lists:?}");
        let again = before.iter().zip(&lists).all(|(before, now)| now > before);
        assert!(again, "{name} has not listed again: {lists:?}");
    }
    verdict.judge(stage, "after a gap", &known, &Weather::Gap(behind));
    now
}

/// The server is killed while it is busy, and comes back.
async fn fault(stage: &mut Stage, verdict: &mut Verdict, known: Versions) -> Versions {
    let kill = async {
        stage.writers[0].wait_for_more(200).await;
        stage.cluster.ask("kill-apiserver").await;
        tokio::time::sleep(OUTAGE).await;
        stage.cluster.ask("start-apiserver").await;
    };
    let changes = each(stage, |writer, count| {
        for_each(known_survivors(count), AT_ONCE, async |i| {
            for text in ["fourth", "fifth"] {
                writer.label(&name(i), "change", text).await;
            }
            if i % 5 == 1 {
                writer.delete(&name(i)).await;
            }
        })
    });
    tokio::join!(kill, changes);
    let now = stage.converge("after the server was killed").await;
    verdict.judge(
        stage,
        "after the server was killed",
        &known,
        &Weather::Fault,
    );
    now
}

/// Everything is deleted.
async fn end(stage: &mut Stage, verdict: &mut Verdict, known: Versions) {
    join_all(stage.writers.iter().map(Writer::delete_all)).await;
    stage.converge("after everything was deleted").await;
    verdict.judge(
        stage,
        "after everything was deleted",
        &known,
        &Weather::Calm,
    );
    stage.ours.iter().for_each(|(_, ours)| ours.check_health());
}

/// Lets every writer do something to its objects, all at once.
async fn each<'a, F: Future<Output = ()>>(stage: &'a Stage, act: impl Fn(&'a Writer, usize) -> F) {
    join_all(
        stage
            .writers
            .iter()
            .zip(COUNTS)
            .map(|(writer, count)| act(writer, count)),
    )
    .await;
}

/// Made and changed; some move in and out of the selection, some are deleted, some come back.
async fn live(writer: &Writer, i: usize, exists: bool) {
    if !exists {
        create(writer, i).await;
    }
    let name = name(i);
    for change in ["first", "second"] {
        writer.label(&name, "change", change).await;
    }
    for step in 1..=1 + i % 3 {
        writer.label(&name, SIDE.0, side(i + step)).await;
    }
    if i.is_multiple_of(4) {
        writer.delete(&name).await;
    }
    if i.is_multiple_of(8) {
        create(writer, i).await;
        writer.label(&name, "life", "second").await;
    }
}

/// Behind everybody's back: changed, deleted, replaced, moved, or left alone.
async fn unseen(writer: &Writer, i: usize) {
    let name = name(i);
    match i % 7 {
        0 => writer.label(&name, "change", "unseen").await,
        1 => writer.delete(&name).await,
        2 => {
            writer.delete(&name).await;
            create(writer, i).await;
        }
        3 => writer.label(&name, SIDE.0, "out").await,
        4 => {
            writer.label(&name, SIDE.0, "out").await;
            writer.label(&name, SIDE.0, SIDE.1).await;
        }
        _ => {}
    }
    if i % 7 == 1 && i.is_multiple_of(2) {
        create(writer, i).await;
        writer.label(&name, "life", "third").await;
    }
}

async fn create(writer: &Writer, i: usize) {
    writer.create(&name(i), &[(SIDE.0, side(i))]).await;
}

/// Those that [`unseen`] leaves.
fn known_survivors(count: usize) -> impl Iterator<Item = usize> {
    survivors(count).filter(|i| i % 7 != 1 || i.is_multiple_of(2))
}

/// Those that [`live`] leaves.
fn survivors(count: usize) -> impl Iterator<Item = usize> {
    (0..count).filter(|i| i % 4 != 0 || i % 8 == 0)
}

fn side(i: usize) -> &'static str {
    if i.is_multiple_of(2) { SIDE.1 } else { "out" }
}

fn name(i: usize) -> String {
    format!("object-{i:05}")
}
