//! PR-7, FM-69: joining a running processor, at every point of a short history and in every order
//! of its steps, by a task and by a stream, with either overflow.

mod recorder;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use informer_processor::{ListenerConfig, Overflow, Processor, Replay, handler_fn};
use recorder::{Heard, News, Recorder, added, deleted, initial, plain, updated};

type State = BTreeMap<&'static str, u32>;

/// What is committed, one after the other; the first two are there before anybody joins.
fn commits() -> Vec<News> {
    vec![
        added("a", 1),
        added("b", 2),
        updated("a", 1, 3),
        deleted("b", 4),
        added("b", 5),
        added("c", 6),
    ]
}

fn apply(state: &mut State, news: &Heard) {
    match *news {
        Heard::Add(key, object, _) => {
            assert_eq!(state.insert(key, object), None, "PR-2: {key} added twice");
        }
        Heard::Update(key, old, new, _) => {
            assert_eq!(
                state.insert(key, new),
                Some(old),
                "PR-3: {key} from {old} to {new}"
            );
        }
        Heard::Delete(key, ..) | Heard::Move(key, _) => {
            assert!(state.remove(key).is_some(), "PR-2: {key} was not there");
        }
    }
}

/// Each order of `writer` steps (true) and `joiner` steps (false).
fn orders(writer: usize, joiner: usize) -> Vec<Vec<bool>> {
    let length = writer + joiner;
    (0..1_u32 << length)
        .filter(|bits| bits.count_ones() as usize == writer)
        .map(|bits| (0..length).map(|at| bits >> at & 1 == 1).collect())
        .collect()
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Task,
    Stream,
}

/// Commits and distributions on one side; register, snapshot, begin on the other.
async fn join(order: &[bool], overflow: Overflow, kind: Kind, eager: bool) {
    let processor: Processor<&'static str, u32> = Processor::default();
    let commits = commits();
    let mut state = State::new();
    let mut sequence = 0;
    for news in &commits[..2] {
        sequence += 1;
        apply(&mut state, &plain(news));
        processor.distribute(sequence, &[Arc::new(news.clone())]);
    }
    let recorder = Recorder::new();
    let (mut joining, mut stream, mut snapshot) = (None, None, None);
    let mut registration = None;
    let mut writer = commits[2..]
        .iter()
        .flat_map(|news| [(true, news), (false, news)]);
    for turn in order {
        if *turn {
            match writer.next().expect("two steps a commit") {
                (true, news) => {
                    sequence += 1;
                    apply(&mut state, &plain(news));
                }
                (false, news) => processor.distribute(sequence, &[Arc::new(news.clone())]),
            }
        } else if joining.is_none() && snapshot.is_none() {
            let config = ListenerConfig::named("late").overflow(overflow);
            joining = Some(match kind {
                Kind::Task => {
                    let mut to = recorder.clone();
                    processor
                        .add(handler_fn(move |n: &News| to.hear(n)), config)
                        .expect("running")
                }
                Kind::Stream => {
                    let (joining, events) = processor.add_stream(config).expect("running");
                    stream = Some(events);
                    joining
                }
            });
        } else if let Some((state, sequence)) = &snapshot {
            let state: State = State::clone(state);
            let replay = Replay::new(state.into_iter().map(|(key, object)| initial(key, object)));
            let joining = joining.take().expect("registered");
            registration = Some(joining.begin(*sequence, replay));
        } else {
            snapshot = Some((state.clone(), sequence));
        }
        if eager {
            tokio::task::yield_now().await;
        }
    }
    processor.upstream_synced();
    if let Some(stream) = stream {
        let mut to = recorder.clone();
        let all = stream.for_each(|news| {
            to.hear(&news);
            std::future::ready(())
        });
        let (report, ()) = tokio::join!(processor.stop(Duration::from_secs(1)), all);
        assert!(report.is_clean(), "{report:?}");
    } else {
        assert!(processor.stop(Duration::from_secs(1)).await.is_clean());
    }
    assert!(registration.expect("begun").is_synced());
    let (snapshot, sequence) = snapshot.expect("taken");
    let each = matches!(overflow, Overflow::Grow { .. });
    let later = &commits[usize::try_from(sequence).expect("small")..];
    check(&recorder.heard(), &snapshot, each.then_some(later), &state);
}

/// The objects of the snapshot, then each of the later changes if they are given; in the end the
/// state.
fn check(heard: &[Heard], snapshot: &State, later: Option<&[News]>, state: &State) {
    let mut told = State::new();
    heard.iter().for_each(|news| apply(&mut told, news));
    assert_eq!(told, *state, "PR-6");
    let first: State = heard[..snapshot.len()]
        .iter()
        .map(|news| match *news {
            Heard::Add(key, object, true) => (key, object),
            ref other => panic!("PR-8: {other:?} among the initial ones"),
        })
        .collect();
    assert_eq!(first, *snapshot, "PR-7: what was there");
    if let Some(later) = later {
        let later: Vec<_> = later.iter().map(plain).collect();
        assert_eq!(heard[snapshot.len()..], later, "PR-7: each later change");
    }
}

#[tokio::test(start_paused = true)]
async fn joining_has_no_gap_and_no_repeat_in_any_order() {
    for order in orders(8, 3) {
        for overflow in [Overflow::default(), Overflow::Coalesce] {
            for kind in [Kind::Task, Kind::Stream] {
                for eager in [false, true] {
                    join(&order, overflow, kind, eager).await;
                }
            }
        }
    }
}

/// The same with a writer that really runs beside the joiners. Whatever the order turns out to be,
/// each of them ends with the same state and heard each key's life without a gap.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn joining_beside_a_busy_writer_ends_with_its_state() {
    let processor: Processor<&'static str, u32> = Processor::default();
    let shared = Arc::new(std::sync::Mutex::new((State::new(), 0_u64)));
    let (writer, store) = (processor.clone(), Arc::clone(&shared));
    let writing = std::thread::spawn(move || {
        for round in 0..2_000_u32 {
            let key = ["a", "b", "c"][(round % 3) as usize];
            let news;
            let sequence;
            {
                let mut store = store.lock().expect("no test panics here");
                news = match (store.0.get(key).copied(), round % 5) {
                    (None, _) => added(key, round),
                    (Some(_), 0) => deleted(key, round),
                    (Some(old), _) => updated(key, old, round),
                };
                apply(&mut store.0, &plain(&news));
                store.1 += 1;
                sequence = store.1;
            }
            writer.distribute(sequence, &[Arc::new(news)]);
        }
    });
    let mut recorders = Vec::new();
    for round in 0..100 {
        let overflow = if round % 2 == 0 {
            Overflow::default()
        } else {
            Overflow::Coalesce
        };
        let recorder = Recorder::new();
        let mut to = recorder.clone();
        let config = ListenerConfig::named("late").overflow(overflow);
        let joining = processor.add(handler_fn(move |n: &News| to.hear(n)), config);
        let (state, sequence) = shared.lock().expect("no test panics here").clone();
        let replay = Replay::new(state.into_iter().map(|(key, object)| initial(key, object)));
        drop(joining.expect("running").begin(sequence, replay));
        recorders.push(recorder);
        tokio::task::yield_now().await;
    }
    writing.join().expect("the writer ends");
    assert!(processor.stop(Duration::from_secs(3600)).await.is_clean());
    let state = shared.lock().expect("no test panics here").0.clone();
    for recorder in recorders {
        let mut told = State::new();
        recorder
            .heard()
            .iter()
            .for_each(|news| apply(&mut told, news));
        assert_eq!(told, state, "PR-6");
    }
}
