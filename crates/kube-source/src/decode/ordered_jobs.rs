//! Jobs that run off the task. Their results are taken in the order in which the jobs were pushed.
//!
//! Decoding is most of the processor time of a client. It runs on the runtime's blocking threads,
//! which every flavour of runtime has and for which a paused clock waits. A thread runs pending
//! jobs, then waits a moment for the next. One `spawn_blocking` for each job would start more and
//! more threads instead. Each thread has a heap of its own and cannot use memory that another has
//! freed, so memory would grow without more objects. The number of jobs, including those whose
//! result was not taken yet, is bounded, which bounds memory. With one core all jobs run in place.

use std::{
    collections::VecDeque,
    hint::black_box,
    panic::resume_unwind,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use futures::{FutureExt, channel::oneshot};
use tokio::task::{JoinError, JoinSet};

use crate::decode::decoder::Decode;

/// More than a batch needs: decoded objects are about eight times larger than their JSON.
const ROOM: usize = 1024 * 1024;

/// Smaller objects take few pages of memory: packed ones, and types with few fields.
const SMALL: usize = 4 * 1024;

/// Jobs for each thread: one that runs, and one that follows without a pause.
const EACH: usize = 2;

/// How long an idle thread waits for the next job. Longer than the gaps within one burst, also on
/// a busy machine; short enough that a shutdown of the runtime is not delayed noticeably.
const LINGER: Duration = Duration::from_millis(10);

/// The number of processors available for jobs. One in the simulator, of which no seed decides when
/// a thread ends.
pub(crate) fn processors() -> usize {
    if cfg!(sim) {
        return 1;
    }
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The number of threads for a list. Learning from it takes long, so that does not run on the task
/// even with one processor.
pub(crate) fn threads_for_list(threads: usize, is_learning: bool) -> usize {
    match is_learning && !cfg!(sim) {
        true => threads.max(2),
        false => threads,
    }
}

/// Jobs that were pushed and whose results were not taken. Dropping it abandons them.
pub(crate) struct OrderedJobs<R> {
    most: usize,
    /// Where each result arrives. Unlike tokio's receivers, these can be polled again after their
    /// sender is gone.
    results: VecDeque<oneshot::Receiver<R>>,
    shared: Arc<Shared>,
    threads: JoinSet<()>,
}

/// Whether the results are no longer wanted. Long jobs check it from time to time.
#[derive(Default)]
pub(crate) struct Abandoned(AtomicBool);

impl Abandoned {
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl<R: Send + 'static> OrderedJobs<R> {
    /// Runs at most `most` jobs at a time; with 1 (or 0), [`OrderedJobs::push`] runs each in place.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            most: most.max(1),
            results: VecDeque::new(),
            shared: Arc::default(),
            threads: JoinSet::new(),
        }
    }

    /// True if no job runs and every result was taken.
    pub(crate) fn is_idle(&self) -> bool {
        self.results.is_empty()
    }

    /// The number of jobs whose results were not taken.
    pub(crate) fn len(&self) -> usize {
        self.results.len()
    }

    /// Whether one more job may be pushed.
    pub(crate) fn has_room(&self) -> bool {
        match self.most {
            1 => self.results.is_empty(),
            most => self.results.len() < most * EACH,
        }
    }

    /// Starts a job, with `room` for what it allocates. Must be called within a tokio runtime.
    ///
    /// # Panics
    ///
    /// With the panic of an earlier job.
    // FM-82
    pub(crate) fn push(&mut self, room: Room, work: impl FnOnce(&Abandoned) -> R + Send + 'static) {
        let (send, receive) = oneshot::channel();
        let is_threaded = self.most > 1;
        let job = move |abandoned: &Abandoned| {
            if is_threaded {
                room.make();
            }
            // Ignored: the receiver is gone if the jobs were abandoned.
            drop(send.send(work(abandoned)));
        };
        if !is_threaded {
            job(&self.shared.abandoned);
        } else if self.shared.add(Box::new(job), self.most) {
            while let Some(ended) = self.threads.try_join_next() {
                propagate(ended);
            }
            let shared = Arc::clone(&self.shared);
            self.threads.spawn_blocking(move || shared.run_jobs(LINGER));
        }
        self.results.push_back(receive);
    }

    /// The result of the oldest job; `None` if there is no job.
    ///
    /// # Panics
    ///
    /// With the panic of the job.
    // FM-82
    pub(crate) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<R>> {
        let Some(oldest) = self.results.front_mut() else {
            return Poll::Ready(None);
        };
        if let Ok(result) = ready!(oldest.poll_unpin(context)) {
            self.results.pop_front();
            return Poll::Ready(Some(result));
        }
        // The thread that had the job has ended without a result.
        while let Some(ended) = ready!(self.threads.poll_join_next(context)) {
            propagate(ended);
        }
        // The runtime is shutting down, and this task with it.
        Poll::Pending
    }

    /// [`OrderedJobs::poll_next`] as a future. Cancel safe: a result that was not taken stays the
    /// oldest.
    pub(crate) async fn next(&mut self) -> Option<R> {
        std::future::poll_fn(|context| self.poll_next(context)).await
    }
}

impl<R> Drop for OrderedJobs<R> {
    fn drop(&mut self) {
        self.shared.abandoned.0.store(true, Ordering::Relaxed);
        self.shared.lock().jobs.clear();
        self.shared.more.notify_all();
    }
}

type Job = Box<dyn FnOnce(&Abandoned) + Send>;

/// Passes the panic of a thread on to the caller.
fn propagate(ended: Result<(), JoinError>) {
    if let Err(error) = ended
        && let Ok(panic) = error.try_into_panic()
    {
        resume_unwind(panic);
    }
}

/// The state that the threads share.
#[derive(Default)]
struct Shared {
    pending: Mutex<Pending>,
    /// Signals a new job to an idle thread, or that no further job will come.
    more: Condvar,
    abandoned: Abandoned,
}

#[derive(Default)]
struct Pending {
    jobs: VecDeque<Job>,
    threads: usize,
    /// The number of these that wait for a job.
    idle: usize,
}

impl Shared {
    /// Appends a job. Returns true if the caller must start one more thread, of at most `most`.
    fn add(&self, job: Job, most: usize) -> bool {
        let mut pending = self.lock();
        pending.jobs.push_back(job);
        if pending.jobs.len() <= pending.idle {
            self.more.notify_one();
            return false;
        }
        let has_room = pending.threads < most;
        pending.threads += usize::from(has_room);
        has_room
    }

    /// Runs pending jobs until none is left and none comes within `linger`.
    fn run_jobs(&self, linger: Duration) {
        while let Some(job) = self.next(linger) {
            job(&self.abandoned);
        }
    }

    fn next(&self, linger: Duration) -> Option<Job> {
        let has_none = |pending: &mut Pending| pending.jobs.is_empty() && !self.abandoned.is_set();
        let mut pending = self.lock();
        // Visible to others only while this thread waits: the wait releases the lock.
        pending.idle += 1;
        let lingered = self.more.wait_timeout_while(pending, linger, has_none);
        let mut pending = lingered.unwrap_or_else(PoisonError::into_inner).0;
        pending.idle -= 1;
        let job = pending.jobs.pop_front();
        pending.threads -= usize::from(job.is_none());
        job
    }

    // No job runs while the lock is held.
    fn lock(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The memory that a job will need.
#[derive(Clone, Copy)]
pub(crate) struct Room(usize);

impl Room {
    /// The room for a job that allocates little.
    pub(crate) const NONE: Self = Self(0);

    /// The room for a job that decodes objects. Until the decoder has measured one, their size is
    /// that of `T`.
    pub(crate) fn of_objects<T: 'static>(decoder: &dyn Decode<T>) -> Self {
        match decoder.object_bytes().unwrap_or(size_of::<T>()) < SMALL {
            true => Self::NONE,
            false => Self(ROOM),
        }
    }

    /// Makes the allocator grow this thread's heap once. Otherwise glibc grows it page by page,
    /// each time with a system call under a lock of the process that all decoding threads share.
    ///
    /// Glibc does not touch the memory. Because mimalloc does, small objects get no room.
    fn make(self) {
        drop(black_box(Vec::<u8>::with_capacity(self.0)));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// Results come in the order of the jobs, and no more jobs run than allowed.
    #[tokio::test(start_paused = true)]
    async fn results_come_in_order() {
        for (most, pieces) in [(1, 1), (2, 4), (7, 14)] {
            let mut jobs = OrderedJobs::new(most);
            let mut taken = Vec::new();
            for number in 0..20 {
                while !jobs.has_room() {
                    taken.extend(jobs.next().await);
                }
                jobs.push(Room::NONE, move |_| number);
            }
            assert_eq!(taken.len(), 20 - pieces);
            while let Some(number) = jobs.next().await {
                taken.push(number);
            }
            assert!(jobs.is_idle());
            assert_eq!(taken, (0..20).collect::<Vec<_>>());
        }
    }

    /// FM-81: a running job learns that it was abandoned.
    #[tokio::test]
    async fn dropping_abandons() {
        let (tell, hear) = mpsc::channel();
        let mut jobs = OrderedJobs::new(2);
        jobs.push(Room(ROOM), move |abandoned| {
            tell.send("begun").expect("the test receives");
            while !abandoned.is_set() {
                std::thread::yield_now();
            }
            tell.send("abandoned").expect("the test receives");
        });
        assert_eq!(hear.recv(), Ok("begun"));
        drop(jobs);
        assert_eq!(hear.recv(), Ok("abandoned"));
    }

    /// An idle thread takes the next job, and ends when the jobs are dropped.
    #[test]
    fn a_thread_that_lingers_goes_on() {
        let hour = Duration::from_secs(3_600);
        let jobs = OrderedJobs::<()>::new(2);
        let shared = Arc::clone(&jobs.shared);
        let (tell, hear) = mpsc::channel();
        let job = move |tell: mpsc::Sender<u32>, number| -> Job {
            Box::new(move |_| tell.send(number).expect("the test receives"))
        };
        assert!(shared.add(job(tell.clone(), 1), 2));
        let thread = std::thread::spawn({
            let shared = Arc::clone(&shared);
            move || shared.run_jobs(hour)
        });
        assert_eq!(hear.recv(), Ok(1));
        while shared.lock().idle == 0 {
            std::thread::yield_now();
        }
        assert!(!shared.add(job(tell, 2), 2));
        assert_eq!(hear.recv(), Ok(2));
        drop(jobs);
        thread.join().expect("nothing panics");
    }

    /// FM-82: the caller receives the panic of a job.
    #[tokio::test]
    #[should_panic(expected = "on purpose")]
    async fn a_panic_is_passed_on() {
        for most in [2, 1] {
            let mut jobs = OrderedJobs::<()>::new(most);
            jobs.push(Room::NONE, |_| panic!("on purpose"));
            jobs.next().await;
        }
    }
}
