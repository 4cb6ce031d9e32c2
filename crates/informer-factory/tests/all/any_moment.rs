//! D1, IN-5, IN-6: the end, at every moment of a run. A run is told in turns of the runtime, in
//! each of which every task goes on to its next await; it is ended after each number of turns,
//! with one queue and the other in turn.

use std::future::{Future, poll_fn};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use futures::FutureExt;

use crate::cluster::{QUEUES, Recorder, factory, pod, pods, tell_event};
use informer_factory::{
    Event, Grace, InformerOptions, InformerState, ListenerConfig, Overflow, QueueKind,
    SharedInformer, SharedInformerFactory, async_fn,
};
use informer_testkit::{ApiServer, Fault, Match, Times, Verb};
use k8s_openapi::api::core::v1::Pod;
use tokio::runtime::{Builder, Runtime};
use tokio::time::{Instant, advance};

/// When the run is over: list, watch, changes, a cut watch, a history that is gone, a server that
/// is out, and one that says nothing at all.
const MOMENTS: usize = 360;

/// Of each four turns one moves the clock.
const TICK: Duration = Duration::from_secs(1);

const HOUR: Duration = Duration::from_secs(3_600);

struct Stage {
    server: ApiServer,
    factory: SharedInformerFactory,
    informer: SharedInformer<Pod>,
    recorder: Recorder,
}

impl Stage {
    fn new(queue: QueueKind) -> Self {
        let server = ApiServer::new();
        server.create(&pods(), pod("a", "n1")).expect("created");
        let factory = factory(&server, queue);
        let options = InformerOptions::<Pod>::new().default_resync(10 * TICK);
        let informer = factory.informer_with(options).expect("legal");
        Self {
            server,
            factory,
            informer,
            recorder: Recorder::default(),
        }
    }

    fn start(&self) {
        let added = self.informer.add_handler(self.recorder.clone());
        drop(added.expect("running"));
        self.factory.start().expect("a runtime");
    }

    /// What happens in a turn of the run.
    fn happen(&self, turn: usize) {
        let outage = || Fault::status(503, "ServiceUnavailable", "out");
        let created = |name| drop(self.server.create(&pods(), pod(name, "n1")));
        match turn {
            30 => created("b"),
            60 => self.server.cut_watches(),
            90 => created("c"),
            100 => drop(self.server.delete(&pods(), "default", "a")),
            110 => {
                self.server.close_watches();
                created("d");
                self.server.compact_and_forget();
            }
            160 => {
                let thrice = Times::Times(3);
                self.server.fault(Match::any(), outage(), thrice);
                self.server.cut_watches();
            }
            300 => self.server.silence_watches(),
            _ => {}
        }
    }

    async fn play(&self, turns: usize) {
        for turn in 0..turns {
            self.happen(turn);
            match turn % 4 {
                3 => advance(TICK).await,
                _ => tokio::task::yield_now().await,
            }
        }
    }

    /// IN-5: no task is left but those of the client, and no connection.
    fn check_nothing_is_left(&self, runtime: &Runtime, before: usize, moment: usize) {
        let left = runtime.metrics().num_alive_tasks();
        assert_eq!(left, before, "IN-5: tasks are left at moment {moment}");
        let open = self.server.open_watches(&pods());
        assert_eq!(open, 0, "IN-5: watches are left at moment {moment}");
    }
}

fn paused() -> Runtime {
    let mut builder = Builder::new_current_thread();
    let builder = builder.enable_time().start_paused(true);
    builder.build().expect("a runtime")
}

/// Plays a run up to each moment, and ends it with `end`; what is left then is counted.
fn at_every_moment(end: impl Fn(&Runtime, &mut Option<Stage>, usize)) {
    for moment in 0..=MOMENTS {
        let runtime = paused();
        let queue = QUEUES[moment % QUEUES.len()];
        let mut stage = Some(runtime.block_on(async { Stage::new(queue) }));
        end(&runtime, &mut stage, moment);
        drop(stage);
        runtime.block_on(async { tokio::time::sleep(TICK).await });
        let left = runtime.metrics().num_alive_tasks();
        assert_eq!(left, 0, "tasks are left of all, at moment {moment}");
    }
}

/// Starts, and plays; the number of tasks before.
fn play(runtime: &Runtime, stage: &Stage, moment: usize) -> usize {
    let before = runtime.metrics().num_alive_tasks();
    runtime.block_on(async {
        stage.start();
        stage.play(moment).await;
    });
    before
}

#[test]
fn a_shutdown_at_any_moment_is_prompt_and_leaves_nothing() {
    at_every_moment(|runtime, stage, moment| {
        let stage = stage.as_ref().expect("it has just begun");
        let before = play(runtime, stage, moment);
        let (took, report) = runtime.block_on(async {
            let start = Instant::now();
            let report = stage.factory.shutdown(Grace::default()).await;
            (start.elapsed(), report.expect("not in a callback"))
        });
        assert!(took <= Duration::from_secs(1), "D1: {took:?} at {moment}");
        assert!(report.is_complete(), "D1: at {moment}: {report:?}");
        stage.check_nothing_is_left(runtime, before, moment);
        assert_eq!(stage.informer.status().state, InformerState::Stopped);
    });
}

/// Cancel safety of the end itself: given up after each number of polls, and asked for again.
#[test]
fn a_shutdown_that_is_given_up_goes_on() {
    const POLLS: usize = 8;
    at_every_moment(|runtime, stage, moment| {
        let stage = stage.as_ref().expect("it has just begun");
        let before = play(runtime, stage, moment);
        let took = runtime.block_on(async {
            let start = Instant::now();
            {
                let ending = stage.factory.shutdown(Grace::default());
                let mut ending = std::pin::pin!(ending);
                for _ in 0..moment % POLLS {
                    poll_fn(|cx| {
                        drop(ending.as_mut().poll(cx));
                        Poll::Ready(())
                    })
                    .await;
                    tokio::task::yield_now().await;
                    if stage.informer.status().state == InformerState::Stopped {
                        break;
                    }
                }
            }
            let again = stage.factory.shutdown(Grace::default()).await;
            assert!(again.expect("not in a callback").is_complete());
            start.elapsed()
        });
        assert!(took <= Duration::from_secs(1), "D1: {took:?} at {moment}");
        stage.check_nothing_is_left(runtime, before, moment);
    });
}

/// As long as it takes is no longer than it takes.
#[test]
fn shutdown_with_an_endless_grace_at_any_moment_is_prompt_and_leaves_nothing() {
    at_every_moment(|runtime, stage, moment| {
        let stage = stage.as_ref().expect("it has just begun");
        let before = play(runtime, stage, moment);
        let report = runtime.block_on(async {
            let ending = stage.factory.shutdown(Grace(Duration::MAX));
            tokio::time::timeout(Duration::from_secs(1), ending).await
        });
        let report = report.expect("D1").expect("not in a callback");
        assert!(report.is_complete(), "D1: at {moment}: {report:?}");
        stage.check_nothing_is_left(runtime, before, moment);
    });
}

/// IN-9: a version that a handler has handled, whenever it is awaited, was received with everything
/// before it, by a slow handler and by one that coalesces.
#[test]
fn version_handled_at_any_moment_was_received() {
    at_every_moment(|runtime, stage, moment| {
        let stage = stage.as_ref().expect("it has just begun");
        runtime.block_on(async {
            let (seen, received) = (Arc::<Mutex<Vec<String>>>::default(), Recorder::default());
            let lines = Arc::clone(&seen);
            let slow = async_fn(move |event: Event<Pod>| {
                let lines = Arc::clone(&lines);
                async move {
                    tokio::task::yield_now().await;
                    tokio::time::sleep(TICK / 8).await;
                    lines.lock().expect("whole").push(tell_event(&event));
                }
            });
            let config = ListenerConfig::named("slow").overflow(match moment % 3 {
                0 => Overflow::Coalesce,
                _ => Overflow::default(),
            });
            let registration = stage.informer.add_async_handler(slow, config);
            let registration = registration.expect("running");
            let beside = stage.informer.add_handler(received.clone());
            let beside = beside.expect("running");
            stage.start();
            stage.play(moment).await;
            let created = stage.server.create(&pods(), pod("late", "n1"));
            let version = created.expect("a new name").version();
            let expected = format!("add late@{version}");
            let version = version.into();
            let handled = registration.wait_for_version(&version, HOUR).await;
            handled.unwrap_or_else(|error| panic!("at {moment}: {error}"));
            let seen = seen.lock().expect("whole").clone();
            let is_seen = seen.iter().any(|line| line.starts_with(&expected));
            assert!(is_seen, "IN-9: at {moment}: {seen:#?}");
            // The other handler may be ahead or behind, and has its own answer.
            let handled = beside.wait_for_version(&version, HOUR).await;
            handled.unwrap_or_else(|error| panic!("at {moment}: {error}"));
            let seen = received.lines();
            assert!(seen.iter().any(|line| line.starts_with(&expected)), "IN-9");
        });
    });
}

/// The runtime ends at any moment of the run, and of a shutdown: the state tells, the watches are
/// closed, no handler is called any more, and no end is called complete.
#[test]
fn end_of_the_runtime_at_any_moment_is_told() {
    const POLLS: usize = 4;
    for moment in 0..=MOMENTS {
        let runtime = paused();
        let stage = runtime.block_on(async { Stage::new(QUEUES[moment % QUEUES.len()]) });
        play(&runtime, &stage, moment);
        let polls = moment % POLLS;
        runtime.block_on(async {
            let ending = stage.factory.shutdown(Grace::default());
            let mut ending = std::pin::pin!(ending.fuse());
            for _ in 0..polls {
                poll_fn(|cx| {
                    drop(ending.as_mut().poll(cx));
                    Poll::Ready(())
                })
                .await;
                tokio::task::yield_now().await;
            }
        });
        let is_done = stage.informer.status().state == InformerState::Stopped;
        drop(runtime);
        let (state, told) = (stage.informer.status().state, stage.recorder.lines().len());
        let expected = match polls {
            0 => InformerState::RuntimeGone,
            _ => InformerState::Stopped,
        };
        assert_eq!(state, expected, "at {moment}");
        let other = paused();
        let report = other.block_on(async {
            drop(stage.server.create(&pods(), pod("late", "n1")));
            let waited = stage.informer.wait_synced(TICK).await;
            assert!(polls > 0 || waited.is_err(), "at {moment}");
            stage.factory.shutdown(Grace::default()).await
        });
        let report = report.expect("not in a callback");
        let is_cut_off = report.informers.iter().all(|informer| informer.cut_off);
        assert_eq!(is_cut_off, !is_done, "at {moment}: {report:?}");
        assert_eq!(report.is_complete(), is_done, "at {moment}: {report:?}");
        assert_eq!(stage.informer.status().state, InformerState::Stopped);
        assert_eq!(stage.recorder.lines().len(), told, "called at {moment}");
        assert_eq!(stage.server.open_watches(&pods()), 0, "at {moment}");
    }
}

#[test]
fn a_drop_at_any_moment_ends_all_and_calls_nobody() {
    at_every_moment(|runtime, stage, moment| {
        let Stage {
            server,
            factory,
            informer,
            recorder,
        } = stage.take().expect("it has just begun");
        let stage = Stage {
            server: server.clone(),
            factory,
            informer,
            recorder: recorder.clone(),
        };
        play(runtime, &stage, moment);
        drop(stage);
        let told = recorder.lines().len();
        runtime.block_on(async {
            drop(server.create(&pods(), pod("late", "n1")));
            tokio::time::sleep(Duration::from_secs(60)).await;
        });
        assert_eq!(recorder.lines().len(), told, "IN-6: called at {moment}");
        assert_eq!(server.open_watches(&pods()), 0, "IN-6: at {moment}");
    });
}

/// The run does what the moments are for.
#[test]
fn the_run_comes_to_all_it_is_about() {
    let runtime = paused();
    let stage = runtime.block_on(async { Stage::new(QUEUES[0]) });
    play(&runtime, &stage, MOMENTS);
    let requests = stage.server.requests();
    let why: Vec<_> = requests.iter().map(|one| (one.at, &one.why)).collect();
    let lists = requests.iter().filter(|one| one.line.verb == Verb::List);
    assert!(lists.count() >= 2, "a history that was gone: {why:#?}");
    assert!(requests.len() >= 7, "watches that were cut: {why:#?}");
    let out = requests.iter().filter(|one| one.code == Some(503)).count();
    assert_eq!(out, 3, "an outage was met: {why:#?}");
    let lines = stage.recorder.lines();
    assert!(
        lines.iter().any(|line| line.starts_with("delete a")),
        "{lines:?}"
    );
    assert!(
        lines.iter().any(|line| line.ends_with("Resync")),
        "{lines:?}"
    );
    assert_eq!(stage.informer.lister().all().len(), 3, "b, c and d");
}
