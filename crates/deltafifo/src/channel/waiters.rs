//! Who waits for a state change, and a future that looks until it sees what it waits for.
//!
//! A waiter has a ticket; when its future is dropped the ticket goes with it, so waiting in a
//! `select` over and over on a silent queue needs no memory.

use std::future::{Future, poll_fn};
use std::task::{Context, Poll, Waker};

use super::shared::{Shared, State, turned};

/// The wakers of all who wait, each with its ticket.
#[derive(Default)]
pub(super) struct Waiters {
    wakers: Vec<(u64, Waker)>,
    tickets: u64,
}

impl Waiters {
    /// All who wait; they take a new place when they look and still have to wait.
    #[inline]
    pub(super) fn take(&mut self) -> Vec<Waker> {
        if self.wakers.is_empty() {
            return Vec::new();
        }
        self.wakers.drain(..).map(|(_, waker)| waker).collect()
    }

    fn wait(&mut self, ticket: &mut Option<u64>, waker: &Waker) {
        let tickets = &mut self.tickets;
        let ticket = *ticket.get_or_insert_with(|| {
            *tickets += 1;
            *tickets
        });
        match self.wakers.iter_mut().find(|(other, _)| *other == ticket) {
            Some((_, old)) => old.clone_from(waker),
            None => self.wakers.push((ticket, waker.clone())),
        }
    }

    fn leave(&mut self, ticket: u64) {
        self.wakers.retain(|(other, _)| *other != ticket);
    }
}

/// What a look at the state found.
pub(super) enum Look<R> {
    /// Done; the state is as it was.
    Seen(R),
    /// Done, and the state changed: the others are woken.
    Changed(R),
    /// Not yet.
    Wait,
}

/// Looks at the state until `look` is done; `look` runs under the lock.
pub(super) fn until<K, V, P, R>(
    shared: &Shared<K, V, P>,
    mut look: impl FnMut(&mut State<K, V, P>) -> Look<R>,
) -> impl Future<Output = R> {
    let mut waiting = Waiting {
        shared,
        ticket: None,
    };
    poll_fn(move |cx| waiting.poll(cx, &mut look))
}

/// The place of one future among the waiters.
struct Waiting<'a, K, V, P> {
    shared: &'a Shared<K, V, P>,
    ticket: Option<u64>,
}

impl<K, V, P> Waiting<'_, K, V, P> {
    #[inline]
    fn poll<R>(
        &mut self,
        cx: &Context<'_>,
        look: impl FnOnce(&mut State<K, V, P>) -> Look<R>,
    ) -> Poll<R> {
        let mut state = self.shared.lock();
        let (result, wakers) = match look(&mut state) {
            Look::Seen(result) => (result, Vec::new()),
            Look::Changed(result) => (result, turned(&mut state)),
            Look::Wait => {
                if planted!(PlaceTakenTooLate) {
                    drop(state);
                    state = self.shared.lock();
                }
                state.waiters.wait(&mut self.ticket, cx.waker());
                return Poll::Pending;
            }
        };
        if let Some(ticket) = self.ticket.take() {
            state.waiters.leave(ticket);
        }
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
        Poll::Ready(result)
    }
}

impl<K, V, P> Drop for Waiting<'_, K, V, P> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            self.shared.lock().waiters.leave(ticket);
        }
    }
}
