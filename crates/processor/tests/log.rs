//! What is logged: a backlog at its depth and each doubling; panics with handler and key, one line
//! a second, and never an object (FM-63, FM-66, SEC-6).

mod recorder;

use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use informer_processor::{ListenerConfig, Overflow, Processor, Replay, handler_fn};
use recorder::{News, added};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

type Numbers = Processor<&'static str, u32>;

/// Keeps each event as one line.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        write!(self.0, "{}={value:?} ", field.name()).expect("a string takes everything");
    }
}

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("informer_processor")
    }

    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(format!("{} ", event.metadata().level()));
        event.record(&mut line);
        self.0.lock().expect("no panic").push(line.0);
    }

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}

impl Lines {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().expect("no panic"))
    }
}

#[tokio::test]
async fn a_backlog_is_warned_of_at_its_depth_and_at_each_doubling() {
    let lines = Lines::default();
    let _logged = tracing::subscriber::set_default(lines.clone());
    let processor = Numbers::default();
    let warn_at = NonZeroUsize::new(100).expect("a hundred");
    let config = ListenerConfig::named("slow").overflow(Overflow::Grow { warn_at });
    let joining = processor
        .add(handler_fn(|_: &News| {}), config)
        .expect("running");
    drop(joining.begin(0, Replay::empty()));
    for round in 0..2 {
        for sequence in 0..450 {
            processor.distribute(round * 1_000 + sequence + 1, &[Arc::new(added("a", 1))]);
        }
        let logged = lines.take();
        assert_eq!(logged.len(), 3, "{logged:?}");
        for (line, depth) in logged
            .iter()
            .zip(["pending=100 ", "pending=200 ", "pending=400 "])
        {
            assert!(line.starts_with("WARN") && line.contains(depth), "{line}");
            assert!(line.contains("listener=slow"), "{line}");
        }
        while processor.listeners()[0].depth > 0 {
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn panics_are_logged_with_their_key_once_a_second() {
    let lines = Lines::default();
    let _logged = tracing::subscriber::set_default(lines.clone());
    let processor = Numbers::default();
    let handler = handler_fn(|_: &News| panic!("planned"));
    let joining = processor
        .add(handler, ListenerConfig::named("panics"))
        .expect("running");
    let handle = joining.begin(0, Replay::empty());
    for (sequence, key) in ["first", "second", "third"].into_iter().enumerate() {
        let batch = [Arc::new(added(key, 4711)), Arc::new(added(key, 4711))];
        processor.distribute(sequence as u64 + 1, &batch);
        while handle.status().depth > 0 {
            tokio::task::yield_now().await;
        }
        // The second one comes within the second of the first.
        tokio::time::advance(Duration::from_millis(600)).await;
    }
    let logged = lines.take();
    assert_eq!(logged.len(), 2, "{logged:?}");
    assert!(
        logged[0].contains("key=\"first\"") && logged[0].contains("suppressed=0"),
        "{logged:?}"
    );
    assert!(
        logged[1].contains("key=\"third\"") && logged[1].contains("suppressed=3"),
        "{logged:?}"
    );
    assert!(logged[0].contains("listener=panics") && logged[0].contains("panic=planned"));
    assert!(!logged.concat().contains("4711"), "SEC-6: {logged:?}");
    assert_eq!(handle.status().panics, 6);
}
