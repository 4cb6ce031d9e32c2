//! A source that answers from a script, a sink and an observer that remember, on a paused clock.

use std::{
    collections::VecDeque,
    future::pending,
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use futures::{Stream, StreamExt, stream};
use informer_reflector::{
    Emission, Failure, Input, ListRequest, ListWatch, Observe, Page, Refused, Report, Reuse, Sink,
    WatchEvent, WatchRequest,
};
use tokio::time::{Instant, sleep};

/// How one request is answered.
pub(crate) enum Answer {
    /// With this page, or stream, or failure.
    Now(Input<()>),
    /// The same, but later.
    Later(Duration, Input<()>),
    Never,
    Panic,
    /// With a stream that takes these steps, and then stays open.
    Events(Vec<Step>),
}

pub(crate) enum Step {
    Event(WatchEvent<()>),
    Pause(Duration),
    Break(Failure),
    Close,
    Panic,
}

/// Answers requests in order; when the script is over, never.
#[derive(Default)]
pub(crate) struct Scripted {
    answers: Mutex<VecDeque<Answer>>,
    pub(crate) requests: Mutex<Vec<(Duration, Asked)>>,
    started: Mutex<Option<Instant>>,
    /// Requests and streams that are alive.
    pub(crate) alive: Arc<AtomicUsize>,
    /// Events that were taken from streams.
    pub(crate) polled: Arc<AtomicUsize>,
    pub(crate) no_streaming: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Asked {
    List(ListRequest),
    Watch(WatchRequest),
}

impl Scripted {
    pub(crate) fn new(answers: Vec<Answer>) -> Self {
        Self {
            answers: Mutex::new(answers.into()),
            ..Self::default()
        }
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        let requests = self.requests.lock().expect("no panic while held");
        requests.iter().map(|(_, asked)| asked.clone()).collect()
    }

    pub(crate) fn watches(&self) -> Vec<WatchRequest> {
        let asked = self.asked().into_iter();
        let watches = asked.filter_map(|asked| match asked {
            Asked::Watch(watch) => Some(watch),
            Asked::List(_) => None,
        });
        watches.collect()
    }

    /// When each request came, from the first on.
    pub(crate) fn times(&self) -> Vec<Duration> {
        let requests = self.requests.lock().expect("no panic while held");
        requests.iter().map(|(time, _)| *time).collect()
    }

    pub(crate) fn alive(&self) -> usize {
        self.alive.load(Ordering::SeqCst)
    }

    fn next(&self, asked: Asked) -> (Alive, Answer) {
        let alive = Alive::new(&self.alive);
        let started = *self
            .started
            .lock()
            .expect("no panic while held")
            .get_or_insert_with(Instant::now);
        let mut requests = self.requests.lock().expect("no panic while held");
        requests.push((started.elapsed(), asked));
        let answer = self
            .answers
            .lock()
            .expect("no panic while held")
            .pop_front();
        (alive, answer.unwrap_or(Answer::Never))
    }
}

/// Counts itself as long as it lives.
struct Alive(Arc<AtomicUsize>);

impl Alive {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(count))
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

type Taken = Result<WatchEvent<()>, Failure>;

/// The events of one watch.
pub(crate) struct Events {
    events: Pin<Box<dyn Stream<Item = Taken> + Send>>,
    polled: Arc<AtomicUsize>,
    _alive: Alive,
}

impl Stream for Events {
    type Item = Taken;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Taken>> {
        let event = self.events.poll_next_unpin(cx);
        if matches!(event, Poll::Ready(Some(Ok(_)))) {
            self.polled.fetch_add(1, Ordering::SeqCst);
        }
        event
    }
}

impl ListWatch for Scripted {
    type Object = ();
    type Events = Events;

    async fn list(&self, request: ListRequest, _: Arc<dyn Reuse<()>>) -> Result<Page<()>, Failure> {
        let (_alive, answer) = self.next(Asked::List(request));
        match answer {
            Answer::Now(Input::Page(page)) => page,
            Answer::Later(delay, Input::Page(page)) => {
                sleep(delay).await;
                page
            }
            Answer::Never => pending().await,
            Answer::Panic => panic!("scripted"),
            _ => panic!("the script has no page for this list"),
        }
    }

    async fn watch(&self, request: WatchRequest, _: Arc<dyn Reuse<()>>) -> Result<Events, Failure> {
        let (alive, answer) = self.next(Asked::Watch(request));
        let steps = match answer {
            Answer::Events(steps) => steps,
            Answer::Now(Input::WatchOpened(Err(failure))) => return Err(failure),
            Answer::Never => pending().await,
            Answer::Panic => panic!("scripted"),
            _ => panic!("the script has no stream for this watch"),
        };
        let events = stream::unfold(steps.into_iter(), |mut steps| async {
            loop {
                match steps.next() {
                    Some(Step::Event(event)) => return Some((Ok(event), steps)),
                    Some(Step::Break(failure)) => return Some((Err(failure), steps)),
                    Some(Step::Pause(pause)) => sleep(pause).await,
                    Some(Step::Close) => return None,
                    Some(Step::Panic) => panic!("scripted"),
                    None => pending().await,
                }
            }
        });
        Ok(Events {
            events: Box::pin(events),
            polled: Arc::clone(&self.polled),
            _alive: alive,
        })
    }

    fn streaming_lists(&self) -> bool {
        !self.no_streaming
    }

    fn describe(&self) -> &str {
        "/scripted"
    }
}

/// Remembers what it was given.
#[derive(Clone, Default)]
pub(crate) struct Taker {
    pub(crate) taken: Arc<Mutex<Vec<String>>>,
    /// Taking one emission takes this long.
    pub(crate) pause: Duration,
    /// Refuses once it holds as many.
    pub(crate) room: Option<usize>,
}

impl Taker {
    pub(crate) fn taken(&self) -> Vec<String> {
        self.taken.lock().expect("no panic while held").clone()
    }
}

impl Sink<()> for Taker {
    async fn accept(&mut self, emission: Emission<()>) -> Result<(), Refused> {
        if self.room == Some(self.taken().len()) {
            return Err(Refused);
        }
        if !self.pause.is_zero() {
            sleep(self.pause).await;
        }
        let shown = match &emission {
            Emission::Replace { items, .. } => format!("{} items", items.len()),
            Emission::Change { change, item, .. } => {
                format!("{change:?} {}", item.identity.key.name())
            }
            Emission::Bookmark { .. } => "bookmark".into(),
        };
        let shown = format!("{shown} -> {}", emission.received());
        self.taken.lock().expect("no panic while held").push(shown);
        Ok(())
    }
}

/// Remembers what it was told.
#[derive(Clone, Default)]
pub(crate) struct Notes(pub(crate) Arc<Mutex<Vec<Report>>>);

impl Observe for Notes {
    fn observe(&mut self, report: Report) {
        self.0.lock().expect("no panic while held").push(report);
    }
}

impl Notes {
    pub(crate) fn failures(&self) -> Vec<Failure> {
        let reports = self.0.lock().expect("no panic while held");
        let failures = reports.iter().filter_map(|report| match report {
            Report::Failed { failure, .. } => Some(failure.clone()),
            _ => None,
        });
        failures.collect()
    }
}
