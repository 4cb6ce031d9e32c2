//! The primitives on which the threads of a processor meet, and the thread and the wait they use.
//!
//! In a test under `cfg(shuttle)` they are shuttle's: each use of one is a point at which the
//! schedule may let another thread go on (`schedules`). What is tokio's (`watch`) and what is set
//! before anybody else can look stays as it is: it is taken as one step.

use std::time::Instant;

/// The current time by tokio's clock, which tests can pause.
pub(crate) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

#[cfg(not(all(test, shuttle)))]
mod real {
    pub(crate) use std::sync::{Mutex, MutexGuard, atomic};
    pub(crate) use std::{thread, thread_local};

    pub(crate) use futures::executor::block_on;
    pub(crate) use tokio::time::timeout;
}

#[cfg(not(all(test, shuttle)))]
pub(crate) use real::*;

#[cfg(all(test, shuttle))]
mod scheduled {
    use std::future::{Future, poll_fn};
    use std::pin::pin;
    use std::task::Poll;
    use std::time::Duration;

    pub(crate) use shuttle::future::block_on;
    pub(crate) use shuttle::sync::{Mutex, MutexGuard, atomic};
    pub(crate) use shuttle::{thread, thread_local};

    /// The time ran out.
    pub(crate) struct Elapsed;

    /// No clock runs here: the time is over after so many looks as the duration has nanoseconds,
    /// and each look is a chance for the others.
    pub(crate) async fn timeout<F: Future>(within: Duration, f: F) -> Result<F::Output, Elapsed> {
        let (mut f, mut looks) = (pin!(f), within.as_nanos());
        let patient = within == Duration::MAX;
        poll_fn(|cx| {
            if let Poll::Ready(output) = f.as_mut().poll(cx) {
                return Poll::Ready(Ok(output));
            }
            if patient {
                return Poll::Pending;
            }
            if looks == 0 {
                return Poll::Ready(Err(Elapsed));
            }
            looks -= 1;
            cx.waker().wake_by_ref();
            Poll::Pending
        })
        .await
    }
}

#[cfg(all(test, shuttle))]
pub(crate) use scheduled::*;
