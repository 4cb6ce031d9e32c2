//! Work done off the task, its results taken in the order in which it was given.
//!
//! Decoding is nearly all of what a client costs, so it goes to the runtime's blocking threads, of
//! which every flavour of runtime has some; a paused clock waits for them. How many pieces may be
//! under way is data, and counts those whose result nobody has taken yet: it is what bounds memory.
//! A machine with one core does everything at once, in place.

use std::{
    collections::VecDeque,
    future::Future,
    panic::resume_unwind,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
};

use tokio::task::{JoinHandle, spawn_blocking};

/// So many pieces as there are processors to work on them.
pub(super) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Pieces of work under way. Dropping it abandons them.
#[derive(Debug)]
pub(super) struct Decoding<R> {
    most: usize,
    pieces: VecDeque<Piece<R>>,
    abandoned: Abandoned,
}

#[derive(Debug)]
enum Piece<R> {
    Done(R),
    UnderWay(JoinHandle<R>),
}

/// Whether anybody still waits for the results; work should look now and then.
#[derive(Clone, Debug, Default)]
pub(super) struct Abandoned(Arc<AtomicBool>);

impl Abandoned {
    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl<R: Send + 'static> Decoding<R> {
    /// At most `most` pieces at a time; with 1 (or 0) all work is done by [`Decoding::push`].
    pub(super) fn new(most: usize) -> Self {
        Self {
            most: most.max(1),
            pieces: VecDeque::new(),
            abandoned: Abandoned::default(),
        }
    }

    /// Nothing is under way and every result was taken.
    pub(super) fn is_idle(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Whether one more piece may be pushed.
    pub(super) fn has_room(&self) -> bool {
        self.pieces.len() < self.most
    }

    /// Begins a piece of work. Must be called within a tokio runtime.
    pub(super) fn push(&mut self, work: impl FnOnce(&Abandoned) -> R + Send + 'static) {
        let piece = if self.most == 1 {
            Piece::Done(work(&self.abandoned))
        } else {
            let abandoned = self.abandoned.clone();
            Piece::UnderWay(spawn_blocking(move || work(&abandoned)))
        };
        self.pieces.push_back(piece);
    }

    /// The result of the oldest piece; `None` if there is none.
    ///
    /// # Panics
    ///
    /// With what the work panicked with (FM-82).
    pub(super) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<R>> {
        let result = match self.pieces.front_mut() {
            None => return Poll::Ready(None),
            Some(Piece::Done(_)) => None,
            Some(Piece::UnderWay(handle)) => Some(ready!(Pin::new(handle).poll(context))),
        };
        let piece = self.pieces.pop_front();
        match (result, piece) {
            (Some(Ok(result)), _) | (None, Some(Piece::Done(result))) => Poll::Ready(Some(result)),
            (Some(Err(error)), _) if error.is_panic() => resume_unwind(error.into_panic()),
            // The runtime is shutting down, and we with it.
            _ => Poll::Pending,
        }
    }

    /// [`Decoding::poll_next`] as a future. Cancel safe: a result not taken stays the oldest.
    pub(super) async fn next(&mut self) -> Option<R> {
        std::future::poll_fn(|context| self.poll_next(context)).await
    }
}

impl<R> Drop for Decoding<R> {
    fn drop(&mut self) {
        self.abandoned.0.store(true, Ordering::Relaxed);
        for piece in &self.pieces {
            if let Piece::UnderWay(handle) = piece {
                handle.abort();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// Results come in order, whatever is done first; so many and no more are under way.
    #[tokio::test(start_paused = true)]
    async fn results_come_in_order() {
        for most in [1, 2, 7] {
            let mut decoding = Decoding::new(most);
            let mut taken = Vec::new();
            for number in 0..20 {
                while !decoding.has_room() {
                    taken.extend(decoding.next().await);
                }
                decoding.push(move |_| number);
            }
            assert_eq!(taken.len(), 20 - most);
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
