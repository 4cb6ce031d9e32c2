//! Shuttle's versions of the primitives in `sync`.

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
