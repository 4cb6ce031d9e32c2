//! The driver on a paused clock: deadlines, panics, back-pressure, and the end at every await.

mod client_go;
mod scripted;
#[path = "../wire/mod.rs"]
mod wire;

use std::{
    future::{Future, pending, poll_fn},
    pin::pin,
    sync::{Arc, atomic::Ordering},
    task::Poll,
    time::Duration,
};

use informer_reflector::{
    Config, FailureKind, Input, ListVersion, Outcome, Reflector, Report, WatchEvent,
};
use scripted::{Answer, Asked, Notes, Scripted, Step, Taker};
use tokio::{
    sync::oneshot,
    time::{Instant, sleep, timeout},
};
use wire::{failure, item, listing, page};

const SECOND: Duration = Duration::from_secs(1);

fn list(text: &str) -> Answer {
    Answer::Now(Input::Page(Ok(page(text))))
}

fn added(text: &str) -> Step {
    Step::Event(WatchEvent::Added(item(text)))
}

fn bookmark(version: &str, initial_events_end: bool) -> Step {
    Step::Event(WatchEvent::Bookmark {
        version: version.into(),
        initial_events_end,
    })
}

struct Stage {
    source: Arc<Scripted>,
    sink: Taker,
    notes: Notes,
    config: Config,
}

impl Stage {
    fn new(answers: Vec<Answer>) -> Self {
        Self {
            source: Arc::new(Scripted::new(answers)),
            sink: Taker::default(),
            notes: Notes::default(),
            config: listing(),
        }
    }

    fn reflector(&self) -> Reflector<Scripted, Taker, Notes> {
        Reflector::new(
            Arc::clone(&self.source),
            self.sink.clone(),
            Arc::new(()),
            self.notes.clone(),
            self.config.clone(),
            7,
        )
    }

    /// Runs for so long, then stops.
    async fn run(&self, time: Duration) -> Outcome {
        self.reflector().run(sleep(time)).await
    }

    fn kinds(&self) -> Vec<FailureKind> {
        self.notes
            .failures()
            .iter()
            .map(|failure| failure.kind)
            .collect()
    }
}

/// A list, a watch, its events, and a stop that leaves nothing behind.
#[tokio::test(start_paused = true)]
async fn carries_out_a_plain_run() {
    let events = vec![added("b@6"), Step::Pause(SECOND), bookmark("9", false)];
    let stage = Stage::new(vec![list("5 a@1"), Answer::Events(events)]);
    assert_eq!(stage.run(10 * SECOND).await, Outcome::Stopped);
    let taken = ["1 items -> 5", "Added b -> 6", "bookmark -> 9"];
    assert_eq!(stage.sink.taken(), taken);
    let asked = stage.source.asked();
    assert!(matches!(&asked[0], Asked::List(list) if list.version == ListVersion::Any));
    assert!(matches!(&asked[1], Asked::Watch(watch) if watch.version == "5"));
    assert_eq!((asked.len(), stage.source.alive()), (2, 0));
    assert_eq!(stage.kinds(), []);
}

/// LW-05 and RL-28: a source that can is asked for a stream, which goes on as the watch.
#[tokio::test(start_paused = true)]
async fn streams_the_initial_state_where_the_source_can() {
    let events = vec![added("a@1"), bookmark("5", true), added("b@6")];
    let mut stage = Stage::new(Vec::new());
    stage.config = listing().streaming(true);
    stage.source = Arc::new(Scripted::new(vec![Answer::Events(events)]));
    stage.run(SECOND).await;
    assert_eq!(stage.sink.taken(), ["1 items -> 5", "Added b -> 6"]);
    assert_eq!(stage.source.asked().len(), 1);

    let mut source = Scripted::new(vec![list("5 a@1")]);
    source.no_streaming = true;
    stage.source = Arc::new(source);
    stage.run(SECOND).await;
    assert!(matches!(stage.source.asked()[0], Asked::List(_)));
}

/// ADR 16.
#[tokio::test(start_paused = true)]
async fn lists_by_default_even_if_the_source_can_stream() {
    let mut stage = Stage::new(vec![list("5 a@1"), Answer::Never]);
    stage.config = Config::default();
    stage.run(SECOND).await;
    assert!(matches!(stage.source.asked()[0], Asked::List(_)));
    assert_eq!(stage.sink.taken(), ["1 items -> 5"]);
}

/// FM-09, FM-17, RFX-11: what is never answered is asked again, on the machine's deadlines.
#[tokio::test(start_paused = true)]
async fn gives_up_what_is_never_answered() {
    let stage = Stage::new(vec![Answer::Never, list("5"), Answer::Never, Answer::Never]);
    stage.run(1100 * SECOND).await;
    assert_eq!(
        stage.kinds(),
        [FailureKind::TimedOut, FailureKind::TimedOut]
    );
    let times = stage.source.times();
    assert!(
        times[1] >= 600 * SECOND && times[1] < 601 * SECOND,
        "{times:?}"
    );
    let watch = times[3] - times[2];
    assert!(watch >= 245 * SECOND && watch < 307 * SECOND, "{times:?}");
    assert_eq!(stage.source.alive(), 0);
}

/// FM-20: a watch that pours out events without a pause is still given up when it is overdue.
#[tokio::test(start_paused = true)]
async fn gives_up_a_watch_that_outlives_its_deadline() {
    let endless = (6..2000).flat_map(|n| [added(&format!("a@{n}")), Step::Pause(SECOND)]);
    let stage = Stage::new(vec![
        list("5"),
        Answer::Events(endless.collect()),
        Answer::Never,
    ]);
    stage.run(450 * SECOND).await;
    assert_eq!(stage.kinds(), [FailureKind::TimedOut]);
    assert_eq!(stage.source.asked().len(), 3);
}

/// FM-82: a panic in the list, in the opening or in the stream is reported, and survived.
#[tokio::test(start_paused = true)]
async fn survives_panics_of_the_source() {
    let stage = Stage::new(vec![
        Answer::Panic,
        list("5 a@1"),
        Answer::Panic,
        list("6 a@1"),
        Answer::Events(vec![added("b@7"), Step::Panic]),
        list("8 a@1 b@7"),
    ]);
    assert_eq!(stage.run(60 * SECOND).await, Outcome::Stopped);
    assert_eq!(stage.kinds(), [FailureKind::Panicked; 3]);
    let taken = [
        "1 items -> 5",
        "1 items -> 6",
        "Added b -> 7",
        "2 items -> 8",
    ];
    assert_eq!(stage.sink.taken(), taken);
}

/// The end of a stream, in its three ways, reaches the machine.
#[tokio::test(start_paused = true)]
async fn hears_of_every_end() {
    let stage = Stage::new(vec![
        list("5"),
        Answer::Events(vec![Step::Close]),
        Answer::Events(vec![Step::Break(failure("Cut"))]),
        Answer::Events(vec![Step::Event(WatchEvent::Error(failure("Expired")))]),
        Answer::Later(SECOND, Input::Page(Err(failure("Connect")))),
        list("6"),
        Answer::Now(Input::WatchOpened(Err(failure("Throttled")))),
    ]);
    stage.run(120 * SECOND).await;
    let kinds = [
        FailureKind::ShortWatch,
        FailureKind::Cut,
        FailureKind::Expired,
        FailureKind::Connect,
        FailureKind::Throttled,
    ];
    assert_eq!(stage.kinds(), kinds);
    assert_eq!(stage.source.asked().len(), 8);
}

/// A sink that refuses ends the run, and the watch with it.
#[tokio::test(start_paused = true)]
async fn ends_when_the_sink_refuses() {
    let mut stage = Stage::new(vec![list("5"), Answer::Events(vec![added("a@6")])]);
    stage.sink.room = Some(1);
    assert_eq!(stage.reflector().run(pending()).await, Outcome::Refused);
    assert_eq!(stage.source.alive(), 0);
    assert_eq!(stage.sink.taken(), ["0 items -> 5"]);
}

/// RFX-17, FQ-13: while the sink takes the events of one message, one waits, and no more are read.
#[tokio::test(start_paused = true)]
async fn a_slow_sink_holds_the_watch_back() {
    let events = (6..1000).map(|n| added(&format!("a@{n}"))).collect();
    let mut stage = Stage::new(vec![list("5"), Answer::Events(events)]);
    stage.sink.pause = 10 * SECOND;
    // The list is taken after 10 s, the first two events after 20 and 30, the third is in hand.
    stage.run(35 * SECOND).await;
    assert_eq!(stage.sink.taken().len(), 3);
    assert_eq!(stage.source.polled.load(Ordering::SeqCst), 2 * 64);
}

/// FM-81: a stop does not wait for the end of a back-off.
#[tokio::test(start_paused = true)]
async fn stops_in_the_middle_of_a_delay() {
    let fails = || Answer::Now(Input::Page(Err(failure("Connect"))));
    let stage = Stage::new((0..20).map(|_| fails()).collect());
    let (stop, stopped) = oneshot::channel::<()>();
    let run = tokio::spawn(stage.reflector().run(async {
        // Ignored: a dropped sender stops as well.
        drop(stopped.await);
    }));
    sleep(70 * SECOND).await;
    let before = Instant::now();
    stop.send(()).expect("the run waits for it");
    assert_eq!(run.await.expect("no panic"), Outcome::Stopped);
    assert_eq!(before.elapsed(), Duration::ZERO);
}

/// A retry is made now, a relist whatever the phase, a repair without reuse.
#[tokio::test(start_paused = true)]
async fn listens_to_demands() {
    let stage = Stage::new(vec![
        Answer::Now(Input::Page(Err(failure("Connect")))),
        list("5"),
        Answer::Events(Vec::new()),
        list("6"),
        Answer::Events(Vec::new()),
        list("7"),
        Answer::Events(Vec::new()),
    ]);
    let reflector = stage.reflector();
    let control = reflector.control();
    let run = tokio::spawn(reflector.run(sleep(100 * SECOND)));
    let ticks = async {
        for demand in 0..3 {
            sleep(Duration::from_millis(10)).await;
            match demand {
                0 => control.retry_now(),
                1 => control.relist_now(),
                _ => control.repair_now(),
            }
        }
    };
    ticks.await;
    run.await.expect("no panic");
    let times = stage.source.times();
    assert!(times.iter().all(|&time| time < SECOND), "{times:?}");
    let asked = stage.source.asked();
    let lists: Vec<_> = asked
        .iter()
        .filter_map(|asked| match asked {
            Asked::List(list) => Some((list.version.clone(), list.reuse)),
            Asked::Watch(_) => None,
        })
        .collect();
    let expected = [
        (ListVersion::Any, true),
        (ListVersion::Any, true),
        (ListVersion::NotOlderThan("5".into()), true),
        (ListVersion::Consistent, false),
    ];
    assert_eq!(lists, expected);
    assert_eq!(stage.source.alive(), 0);
    // Nobody listens any more, and that is all right.
    control.relist_now();
}

fn eventful() -> Vec<Answer> {
    vec![
        Answer::Later(SECOND, Input::Page(Err(failure("Connect")))),
        list("5 a@1 more=x"),
        Answer::Later(SECOND, Input::Page(Ok(page("5 b@2")))),
        Answer::Now(Input::WatchOpened(Err(failure("Unavailable")))),
        Answer::Events(vec![
            added("c@6"),
            Step::Pause(SECOND),
            bookmark("7", false),
            Step::Event(WatchEvent::Error(failure("Expired"))),
        ]),
        list("9 a@1"),
        Answer::Events(vec![Step::Pause(SECOND), Step::Close]),
        Answer::Events(Vec::new()),
    ]
}

/// Is ready when it is polled for the n-th time. It wakes nobody: the run polls it at each await.
async fn at_poll(mut n: usize) {
    poll_fn(|_| {
        let ready = n == 0;
        n = n.saturating_sub(1);
        if ready {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
}

/// RFX-14, FM-81: a stop at any poll ends the run there, and no request starts after it.
#[tokio::test(start_paused = true)]
async fn stops_at_every_await() {
    for n in 0.. {
        let mut stage = Stage::new(eventful());
        stage.sink.pause = Duration::from_millis(10);
        let outcome = timeout(30 * SECOND, stage.reflector().run(at_poll(n))).await;
        let asked = stage.source.asked().len();
        if outcome.is_err() {
            assert!(
                n > 30 && asked == 8,
                "the whole script was played: {n}, {asked}"
            );
            break;
        }
        assert_eq!(outcome, Ok(Outcome::Stopped), "{n}");
        assert_eq!(stage.source.alive(), 0, "{n}: nothing is left behind");
        sleep(60 * SECOND).await;
        assert_eq!(
            stage.source.asked().len(),
            asked,
            "{n}: no request after the stop"
        );
    }
}

/// The same when the future is dropped instead.
#[tokio::test(start_paused = true)]
async fn may_be_dropped_at_every_await() {
    for n in 0..400_u32 {
        let mut stage = Stage::new(eventful());
        stage.sink.pause = Duration::from_millis(10);
        let mut run = Box::pin(stage.reflector().run(pending()));
        let for_a_while = timeout(Duration::from_millis(30) * n, run.as_mut()).await;
        assert!(for_a_while.is_err(), "nothing ends this run");
        drop(run);
        let asked = stage.source.asked().len();
        sleep(60 * SECOND).await;
        assert_eq!(stage.source.alive(), 0, "{n}: nothing is left behind");
        assert_eq!(
            stage.source.asked().len(),
            asked,
            "{n}: no request after the drop"
        );
    }
}

/// A stop that is ready at once wins over everything, the first list included.
#[tokio::test(start_paused = true)]
async fn a_stop_before_the_first_poll_asks_for_nothing_more() {
    let stage = Stage::new(eventful());
    let mut run = pin!(stage.reflector().run(std::future::ready(())));
    let outcome = poll_fn(|cx| run.as_mut().poll(cx)).await;
    assert_eq!(outcome, Outcome::Stopped);
    assert_eq!(stage.source.alive(), 0);
    assert_eq!(stage.source.asked(), []);
    let reports = stage.notes.0.lock().expect("no panic while held");
    assert!(matches!(
        reports.last(),
        Some(Report::Phase(informer_reflector::Phase::Stopped))
    ));
}
