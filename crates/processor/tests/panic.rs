//! PR-12, FM-66: a callback panics at the nth call, for every n; during and after the initial list.

mod recorder;

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use informer_processor::{
    Added, Callbacks, Filtered, Joining, ListenerConfig, NeverSynced, Notification, Processor,
    Replay, async_fn, handler_fn,
};
use recorder::{News, Recorder, added, initial};

#[derive(Clone, Copy, Debug)]
enum Kind {
    Inline,
    AsyncAtOnce,
    AsyncLater,
    Blocking,
}

const KINDS: [Kind; 4] = [
    Kind::Inline,
    Kind::AsyncAtOnce,
    Kind::AsyncLater,
    Kind::Blocking,
];

/// Two objects that were there, two that come later.
const CALLS: usize = 4;

/// Is pending once and then panics if told so, so that the panic comes out of a later poll.
struct Later {
    polled: bool,
    panics: bool,
}

impl Future for Later {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if !self.polled {
            self.polled = true;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        assert!(!self.panics, "planned");
        Poll::Ready(())
    }
}

fn add(
    processor: &Processor<&'static str, u32>,
    kind: Kind,
    recorder: &Recorder,
    at: usize,
) -> Joining<&'static str, u32> {
    let config = ListenerConfig::named("panics");
    let mut to = recorder.clone();
    let mut hear = move |n: &News| {
        to.hear(n);
        to.heard().len() == at
    };
    let joining = match kind {
        Kind::Inline => processor.add(
            handler_fn(move |n: &News| assert!(!hear(n), "planned")),
            config,
        ),
        Kind::Blocking => processor.add_blocking(
            handler_fn(move |n: &News| assert!(!hear(n), "planned")),
            config,
        ),
        Kind::AsyncAtOnce => {
            let handler = async_fn(move |n: Arc<News>| {
                assert!(!hear(&n), "planned");
                std::future::ready(())
            });
            processor.add_async(handler, config)
        }
        Kind::AsyncLater => {
            let handler = async_fn(move |n: Arc<News>| Later {
                polled: false,
                panics: hear(&n),
            });
            processor.add_async(handler, config)
        }
    };
    joining.expect("running")
}

async fn panics_at(kind: Kind, at: usize) {
    let processor: Processor<&'static str, u32> = Processor::default();
    let (recorder, other) = (Recorder::new(), Recorder::new());
    let replay = || Replay::new([initial("a", 1), initial("b", 2)]);
    let handle = add(&processor, kind, &recorder, at).begin(0, replay());
    let mut to = other.clone();
    let beside = processor.add(
        handler_fn(move |n: &News| to.hear(n)),
        ListenerConfig::named("beside"),
    );
    let beside = beside.expect("running").begin(0, replay());
    processor.distribute(1, &[Arc::new(added("c", 3))]);
    processor.upstream_synced();
    handle
        .wait_synced()
        .await
        .expect("a panic is an end of a callback too");
    processor.distribute(2, &[Arc::new(added("d", 4))]);
    let report = processor.stop(Duration::from_secs(3600)).await;
    assert!(report.is_clean(), "{kind:?} at {at}: {report:?}");
    assert_eq!(
        recorder.heard().len(),
        CALLS,
        "{kind:?} at {at}: the others are delivered"
    );
    assert_eq!(handle.status().panics, u64::from((1..=CALLS).contains(&at)));
    assert_eq!(handle.status().delivered, CALLS as u64);
    assert_eq!(other.heard(), recorder.heard(), "PR-9");
    assert_eq!(beside.status().panics, 0);
}

#[tokio::test]
async fn a_panic_at_any_call_skips_that_call_only() {
    for kind in KINDS {
        for at in 0..=CALLS {
            panics_at(kind, at).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panic_at_any_call_skips_that_call_only_on_two_threads() {
    for kind in KINDS {
        for at in 0..=CALLS {
            panics_at(kind, at).await;
        }
    }
}

/// A snapshot replay that panics loses the rest of its objects and nothing else. The listener never
/// counts as synced, because it did not receive all initial objects.
#[tokio::test]
async fn panic_of_the_iterator_ends_the_replay() {
    let processor: Processor<&'static str, u32> = Processor::default();
    let recorder = Recorder::new();
    let mut to = recorder.clone();
    let joining = processor.add(
        handler_fn(move |n: &News| to.hear(n)),
        ListenerConfig::default(),
    );
    let items = ["a", "b", "c"].into_iter().map(|key| {
        assert_ne!(key, "b", "planned");
        initial(key, 1)
    });
    let handle = joining.expect("running").begin(0, Replay::new(items));
    processor.upstream_synced();
    processor.distribute(1, &[Arc::new(added("d", 4))]);
    assert_eq!(handle.wait_synced().await, Err(NeverSynced::ReplayPanicked));
    let report = processor.stop(Duration::from_secs(1)).await;
    assert!(!report.is_clean() && report.listeners[0].initial_unfinished);
    assert!(!handle.is_synced());
    let keys: Vec<_> = recorder
        .heard()
        .iter()
        .map(|heard| format!("{heard:?}"))
        .collect();
    assert_eq!(keys.len(), 2, "{keys:?}");
    assert_eq!(handle.status().panics, 1);
}

/// SEC-6: `Debug` shows the key and never the object.
#[test]
fn debug_never_shows_a_payload() {
    struct Secret;
    let object = Arc::new(Secret);
    let news: Notification<&str, Secret> = Notification::Added(Added::new("ns/token", object));
    assert_eq!(
        format!("{news:?}"),
        "Added { key: \"ns/token\", initial: false, .. }"
    );
}

/// The same for what holds handlers and what they wait for: nothing here asks the object for it.
#[tokio::test]
async fn debug_of_handles_says_who_and_how_many() {
    struct Secret;
    let processor: Processor<&'static str, Secret> = Processor::default();
    let stream = ListenerConfig::named("stream");
    let (joining, events) = processor.add_stream(stream).expect("running");
    assert_eq!(
        format!("{joining:?}"),
        r#"Joining { name: Some("stream"), .. }"#
    );
    drop(joining.begin(0, Replay::empty()));
    let callbacks = Callbacks::<&str, Secret>::default().on_add(|_| {});
    let shown = [
        format!("{callbacks:?}"),
        format!("{:?}", Filtered::new(|_: &Secret| true, callbacks)),
        format!("{:?}", handler_fn(|_: &Notification<&str, Secret>| {})),
        format!("{events:?}"),
        format!("{:?}", Replay::<&str, Secret>::empty()),
        format!("{processor:?}"),
    ];
    let expected = [
        "Callbacks { on_add: true, on_update: false, on_delete: false }",
        "Filtered { .. }",
        "HandlerFn { .. }",
        r#"EventStream { name: "stream", .. }"#,
        "Replay { left: 0, .. }",
        "Processor { listeners: 1, stopped: false, .. }",
    ];
    assert_eq!(shown, expected);
    let handler = handler_fn(|_: &Notification<&str, Secret>| {});
    let handle = processor
        .add(handler, ListenerConfig::named("handler"))
        .expect("running")
        .begin(0, Replay::empty());
    assert!(
        format!("{handle:?}").contains(r#"name: "handler""#),
        "{handle:?}"
    );
}
