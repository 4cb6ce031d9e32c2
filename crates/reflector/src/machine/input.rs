//! What the machine is told, and what it asks for. Both are data.

use crate::{Emission, Failure, ListRequest, Page, Report, WatchEvent, WatchRequest};

/// What happened.
///
/// An input that does not fit the phase is a late answer to something abandoned, and is ignored.
#[derive(Debug)]
pub enum Input<T> {
    /// Begin. Taken once.
    Start,
    /// The page asked for arrived, or did not.
    Page(Result<Page<T>, Failure>),
    /// The watch asked for was accepted by the server, or was not.
    WatchOpened(Result<(), Failure>),
    /// The watch brought an event, or broke.
    Event(Result<WatchEvent<T>, Failure>),
    /// The server closed the watch.
    StreamEnded,
    /// Whoever works on the request in flight panicked (FM-82).
    Panicked,
    /// The sink has taken the emission (RFX-2).
    Accepted,
    /// The sink takes nothing more.
    Refused,
    /// The deadline has passed. Early ones are ignored.
    Timer,
    /// Somebody wants something.
    Demand(Demand),
    /// End.
    Stop,
}

/// What a user may ask of a running reflector. Later ones include the earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Demand {
    /// Do not wait for the next attempt, make it now. Nothing happens unless one is waited for.
    Retry,
    /// List again, whatever the phase.
    Relist,
    /// List again, consistently and without reuse: what is held is not trusted (FM-40).
    Repair,
}

/// What has to be done, in this order.
#[derive(Debug)]
pub enum Effect<T> {
    /// Fetch a page, and answer with [`Input::Page`].
    List(ListRequest),
    /// Open a watch; answer with [`Input::WatchOpened`], then with its events.
    Watch(WatchRequest),
    /// Drop the request or the watch in flight; nothing more may come from it.
    Abandon,
    /// Hand this to the sink, then answer [`Input::Accepted`] or [`Input::Refused`]. Always the
    /// last effect of a step. Until it is answered, nothing but [`Input::Stop`] and
    /// [`Input::Demand`] has any effect.
    Emit(Emission<T>),
    /// Tell the observer.
    Report(Report),
}
