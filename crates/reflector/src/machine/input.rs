//! The inputs and effects of the machine. Both are data.

use crate::{Emission, Failure, ListRequest, Page, Report, WatchEvent, WatchRequest};

/// An event that the machine reacts to.
///
/// An input that does not fit the phase is a late answer to an abandoned request, and is ignored.
/// Exhaustive on purpose: a driver gives all of them.
#[derive(Debug)]
pub enum Input<T> {
    /// Begin. Ignored after the first.
    Start,
    /// The requested page has arrived, or the request has failed.
    Page(Result<Page<T>, Failure>),
    /// The server has accepted the requested watch, or has not.
    WatchOpened(Result<(), Failure>),
    /// The watch has delivered an event, or has broken.
    Event(Result<WatchEvent<T>, Failure>),
    /// The server has closed the watch.
    StreamEnded,
    // FM-82
    /// The task of the request in flight has panicked.
    Panicked,
    // RFX-2
    /// The sink has taken the emission.
    Accepted,
    /// The sink takes no more emissions.
    Refused,
    /// The deadline has passed. Ignored before the deadline.
    Timer,
    /// A user demands a retry or a list.
    Demand(Demand),
    /// End.
    Stop,
}

/// A demand on a running reflector. Later ones include the earlier. Exhaustive on purpose, as
/// [`Input`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Demand {
    /// Make the next attempt now. Has no effect unless the machine waits before an attempt.
    Retry,
    /// List again, whatever the phase.
    Relist,
    // FM-40
    /// List again, consistently and without reuse, because the held state is not trusted.
    Repair,
}

/// An action that the driver carries out. Effects are carried out in their order. Exhaustive on
/// purpose: a driver must carry out all of them.
#[derive(Debug)]
pub enum Effect<T> {
    /// Fetch a page, and answer with [`Input::Page`].
    List(ListRequest),
    /// Open a watch; answer with [`Input::WatchOpened`], then with its events.
    Watch(WatchRequest),
    /// Drop the request or the watch in flight. It must give no further input.
    Abandon,
    /// Pass this to the sink, then answer [`Input::Accepted`] or [`Input::Refused`]. Always the
    /// last effect of a step. Until the answer, only [`Input::Stop`] and [`Input::Demand`] have an
    /// effect.
    Emit(Emission<T>),
    /// Pass this to the observer.
    Report(Report),
}
