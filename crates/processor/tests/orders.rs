//! FM-68: add, begin, distribute, remove and stop, in every order, always end.

mod recorder;

use std::sync::Arc;
use std::time::Duration;

use informer_processor::{ListenerConfig, Processor, Registration, Replay, async_fn, handler_fn};
use recorder::{News, added, initial};

type Numbers = Processor<&'static str, u32>;

/// Longer than any of this takes: a test that uses it up has failed.
const GRACE: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Debug)]
enum Step {
    AddInline,
    AddAsync,
    AddBlocking,
    AddStream,
    Distribute,
    Synced,
    RemoveFirst,
    Stop,
}

const STEPS: [Step; 8] = [
    Step::AddInline,
    Step::AddAsync,
    Step::AddBlocking,
    Step::AddStream,
    Step::Distribute,
    Step::Synced,
    Step::RemoveFirst,
    Step::Stop,
];

/// Every sequence of `length` different steps.
fn orders(length: usize) -> Vec<Vec<Step>> {
    let mut all = vec![vec![]];
    for _ in 0..length {
        all = all
            .into_iter()
            .flat_map(|order: Vec<usize>| {
                let next = (0..STEPS.len()).filter(|step| !order.contains(step));
                let next: Vec<_> = next.collect();
                next.into_iter()
                    .map(move |step| order.iter().copied().chain([step]).collect())
            })
            .collect();
    }
    let steps = |order: Vec<usize>| order.into_iter().map(|at| STEPS[at]).collect();
    all.into_iter().map(steps).collect()
}

async fn run(order: &[Step]) {
    let processor = Numbers::default();
    let mut handles: Vec<Registration> = Vec::new();
    let mut streams = Vec::new();
    let mut sequence = 0;
    let config = ListenerConfig::default;
    for step in order {
        let joining = match step {
            Step::AddInline => processor.add(handler_fn(|_: &News| {}), config()),
            Step::AddAsync => {
                processor.add_async(async_fn(|_: Arc<News>| tokio::task::yield_now()), config())
            }
            Step::AddBlocking => processor.add_blocking(handler_fn(|_: &News| {}), config()),
            Step::AddStream => processor.add_stream(config()).map(|(joining, stream)| {
                streams.push(stream);
                joining
            }),
            Step::Distribute => {
                sequence += 1;
                processor.distribute(sequence, &[Arc::new(added("a", 1))]);
                continue;
            }
            Step::Synced => {
                processor.upstream_synced();
                continue;
            }
            Step::RemoveFirst => {
                if !handles.is_empty() {
                    handles.remove(0).remove().await.expect("from outside");
                }
                continue;
            }
            Step::Stop => {
                let _report = processor.stop(GRACE).await;
                continue;
            }
        };
        match joining {
            Ok(joining) => handles.push(joining.begin(sequence, Replay::new([initial("b", 1)]))),
            Err(error) => assert!(processor.is_stopped(), "{error}"),
        }
    }
    drop(streams);
    let report = processor.stop(GRACE).await;
    assert!(
        report
            .listeners
            .iter()
            .all(|listener| !listener.still_running),
        "{order:?}"
    );
    for handle in handles {
        handle.remove().await.expect("from outside");
    }
}

fn has(order: &[Step], kind: Step) -> bool {
    let kind = std::mem::discriminant(&kind);
    order
        .iter()
        .any(|step| std::mem::discriminant(step) == kind)
}

/// On a paused clock, since streams that nobody reads use up the grace. Without threads, since a
/// paused clock does not wait for them.
#[tokio::test(start_paused = true)]
async fn every_order_of_steps_ends() {
    for order in orders(4)
        .iter()
        .filter(|order| !has(order, Step::AddBlocking))
    {
        run(order).await;
    }
}

#[tokio::test]
async fn every_order_of_steps_ends_with_threads() {
    for order in orders(4)
        .iter()
        .filter(|order| !has(order, Step::AddStream))
    {
        run(order).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_order_of_steps_ends_on_two_threads() {
    for order in orders(4)
        .iter()
        .filter(|order| !has(order, Step::AddStream))
    {
        run(order).await;
    }
}
