//! Work done off the task, its results taken in the order in which it was given.
//!
//! Decoding is nearly all of what a client costs, so it goes to the runtime's blocking threads, of
//! which every flavour of runtime has some; a paused clock waits for them. A thread goes on with
//! what waits, and for a moment with what comes then. A runtime that is given piece by piece makes
//! more and more threads instead, each of which has a heap of its own: what one has freed another
//! cannot use, and memory grows without an object more. How many pieces there may be is data, and
//! counts those whose result nobody has taken yet: it is what bounds memory. A machine with one
//! core does everything at once, in place.

use std::{
    collections::VecDeque,
    fmt,
    future::Future,
    hint::black_box,
    panic::resume_unwind,
    pin::Pin,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    sync::oneshot,
    task::{JoinError, JoinSet},
};

/// More than a batch needs: objects are about eight times larger than their JSON.
const ROOM: usize = 1024 * 1024;

/// One piece for each thread, and one that it can go on with.
const EACH: usize = 2;

/// For how long a thread waits for more: longer than pieces of one burst are apart, also where a
/// scheduler gives others their turn in between; and short enough that it keeps nobody waiting.
const LINGER: Duration = Duration::from_millis(10);

/// So many pieces as there are processors to work on them.
pub(crate) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Pieces of work under way. Dropping it abandons them.
#[derive(Debug)]
pub(crate) struct Decoding<R> {
    most: usize,
    pieces: VecDeque<Piece<R>>,
    line: Arc<Line>,
    threads: JoinSet<()>,
}

#[derive(Debug)]
enum Piece<R> {
    Done(R),
    UnderWay(oneshot::Receiver<R>),
    /// The thread that was to do it has ended.
    Lost,
}

impl<R> Piece<R> {
    fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if let Self::UnderWay(receive) = self {
            let received = ready!(Pin::new(receive).poll(context));
            *self = received.map_or(Self::Lost, Self::Done);
        }
        Poll::Ready(())
    }
}

/// Whether anybody still waits for the results; work should look now and then.
#[derive(Debug, Default)]
pub(crate) struct Abandoned(AtomicBool);

impl Abandoned {
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl<R: Send + 'static> Decoding<R> {
    /// Works on at most `most` pieces at a time; with 1 (or 0) all work is done by
    /// [`Decoding::push`].
    pub(crate) fn new(most: usize) -> Self {
        Self {
            most: most.max(1),
            pieces: VecDeque::new(),
            line: Arc::default(),
            threads: JoinSet::new(),
        }
    }

    /// Nothing is under way and every result was taken.
    pub(crate) fn is_idle(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Whether one more piece may be pushed.
    pub(crate) fn has_room(&self) -> bool {
        match self.most {
            1 => self.pieces.is_empty(),
            most => self.pieces.len() < most * EACH,
        }
    }

    /// Begins a piece of work. Must be called within a tokio runtime.
    ///
    /// # Panics
    ///
    /// With what earlier work panicked with (FM-82).
    pub(crate) fn push(&mut self, work: impl FnOnce(&Abandoned) -> R + Send + 'static) {
        if self.most == 1 {
            let done = work(&self.line.abandoned);
            self.pieces.push_back(Piece::Done(done));
            return;
        }
        let (send, receive) = oneshot::channel();
        let work = Box::new(move |abandoned: &Abandoned| {
            // Ignored: nobody waits for what was abandoned.
            drop(send.send(work(abandoned)));
        });
        self.pieces.push_back(Piece::UnderWay(receive));
        if self.line.join(work, self.most) {
            while let Some(ended) = self.threads.try_join_next() {
                pass_on(ended);
            }
            let line = Arc::clone(&self.line);
            self.threads.spawn_blocking(move || line.work_off(LINGER));
        }
    }

    /// The result of the oldest piece; `None` if there is none.
    ///
    /// # Panics
    ///
    /// With what the work panicked with (FM-82).
    pub(crate) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<R>> {
        match self.pieces.front_mut() {
            None => return Poll::Ready(None),
            Some(piece) => ready!(piece.poll_end(context)),
        }
        if let Some(Piece::Lost) = self.pieces.front() {
            while let Some(ended) = ready!(self.threads.poll_join_next(context)) {
                pass_on(ended);
            }
            // The runtime is shutting down, and we with it.
            return Poll::Pending;
        }
        match self.pieces.pop_front() {
            Some(Piece::Done(result)) => Poll::Ready(Some(result)),
            _ => Poll::Ready(None),
        }
    }

    /// [`Decoding::poll_next`] as a future. Cancel safe: a result not taken stays the oldest.
    pub(crate) async fn next(&mut self) -> Option<R> {
        std::future::poll_fn(|context| self.poll_next(context)).await
    }
}

impl<R> Drop for Decoding<R> {
    fn drop(&mut self) {
        self.line.abandoned.0.store(true, Ordering::Relaxed);
        self.line.lock().work.clear();
        self.line.more.notify_all();
    }
}

type Work = Box<dyn FnOnce(&Abandoned) + Send>;

/// A panic is the taker's.
fn pass_on(ended: Result<(), JoinError>) {
    if let Err(error) = ended
        && let Ok(panic) = error.try_into_panic()
    {
        resume_unwind(panic);
    }
}

/// What the threads share.
#[derive(Default)]
struct Line {
    waiting: Mutex<Waiting>,
    /// There is work for a thread that lingers, or nobody will bring any.
    more: Condvar,
    abandoned: Abandoned,
}

#[derive(Default)]
struct Waiting {
    work: VecDeque<Work>,
    threads: usize,
    /// Of these, how many linger.
    idle: usize,
}

impl Line {
    /// Puts work at the end. Whether one more thread is to work it off, of at most `most`.
    fn join(&self, work: Work, most: usize) -> bool {
        let mut waiting = self.lock();
        waiting.work.push_back(work);
        if waiting.work.len() <= waiting.idle {
            self.more.notify_one();
            return false;
        }
        let has_room = waiting.threads < most;
        waiting.threads += usize::from(has_room);
        has_room
    }

    /// Does what waits, until nothing does and nothing comes.
    fn work_off(&self, linger: Duration) {
        while let Some(work) = self.next(linger) {
            make_room();
            work(&self.abandoned);
        }
    }

    fn next(&self, linger: Duration) -> Option<Work> {
        let has_none = |waiting: &mut Waiting| waiting.work.is_empty() && !self.abandoned.is_set();
        let mut waiting = self.lock();
        // Nobody sees it unless it waits.
        waiting.idle += 1;
        let lingered = self.more.wait_timeout_while(waiting, linger, has_none);
        let mut waiting = lingered.unwrap_or_else(PoisonError::into_inner).0;
        waiting.idle -= 1;
        let work = waiting.work.pop_front();
        waiting.threads -= usize::from(work.is_none());
        work
    }

    /// No work is done while it is held.
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Shows no work, which holds objects.
impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Line")
            .field("abandoned", &self.abandoned)
            .finish_non_exhaustive()
    }
}

/// Makes the allocator grow this thread's heap once for all that follows. glibc's grows by single
/// pages otherwise, each with a system call under a lock of the whole process, for which all
/// threads that decode then wait. Nothing is touched, so no memory is spent.
fn make_room() {
    drop(black_box(Vec::<u8>::with_capacity(ROOM)));
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// Results come in order, whatever is done first; so many and no more are under way.
    #[tokio::test(start_paused = true)]
    async fn results_come_in_order() {
        for (most, pieces) in [(1, 1), (2, 4), (7, 14)] {
            let mut decoding = Decoding::new(most);
            let mut taken = Vec::new();
            for number in 0..20 {
                while !decoding.has_room() {
                    taken.extend(decoding.next().await);
                }
                decoding.push(move |_| number);
            }
            assert_eq!(taken.len(), 20 - pieces);
            while let Some(number) = decoding.next().await {
                taken.push(number);
            }
            assert!(decoding.is_idle());
            assert_eq!(taken, (0..20).collect::<Vec<_>>());
        }
    }

    /// FM-81: whoever works for nobody is told so.
    #[tokio::test]
    async fn dropping_abandons() {
        let (tell, hear) = mpsc::channel();
        let mut decoding = Decoding::new(2);
        decoding.push(move |abandoned| {
            tell.send("begun").expect("the test listens");
            while !abandoned.is_set() {
                std::thread::yield_now();
            }
            tell.send("abandoned").expect("the test listens");
        });
        assert_eq!(hear.recv(), Ok("begun"));
        drop(decoding);
        assert_eq!(hear.recv(), Ok("abandoned"));
    }

    /// What comes while a thread lingers is that thread's; and it ends when nothing will come.
    #[test]
    fn a_thread_that_lingers_goes_on() {
        let hour = Duration::from_secs(3_600);
        let decoding = Decoding::<()>::new(2);
        let line = Arc::clone(&decoding.line);
        let (tell, hear) = mpsc::channel();
        let work = move |tell: mpsc::Sender<u32>, number| -> Work {
            Box::new(move |_| tell.send(number).expect("the test listens"))
        };
        assert!(line.join(work(tell.clone(), 1), 2));
        let thread = std::thread::spawn({
            let line = Arc::clone(&line);
            move || line.work_off(hour)
        });
        assert_eq!(hear.recv(), Ok(1));
        while line.lock().idle == 0 {
            std::thread::yield_now();
        }
        assert!(!line.join(work(tell, 2), 2));
        assert_eq!(hear.recv(), Ok(2));
        drop(decoding);
        thread.join().expect("nothing panics");
    }

    /// FM-82: a panic is the taker's.
    #[tokio::test]
    #[should_panic(expected = "on purpose")]
    async fn a_panic_is_passed_on() {
        for most in [2, 1] {
            let mut decoding = Decoding::<()>::new(most);
            decoding.push(|_| panic!("on purpose"));
            decoding.next().await;
        }
    }
}
