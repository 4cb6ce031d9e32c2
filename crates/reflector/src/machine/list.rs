//! The paged list.
//!
//! - RFX-5 (RL-10, RL-12, RL-19): the first list is as configured, later ones are not older than
//!   what we have; after a refusal they are consistent until one is accepted.
//! - RFX-6 (FM-06, FM-10): a list is handed on when its last page is here, and all its pages are of
//!   one version. What was collected before a failure is dropped.
//! - FM-07: a key that comes twice is taken once. FM-08: a list without a version is refused.
//! - FM-39: a list older than asked for means that the server is behind. It is asked once more,
//!   consistently; if it still is, its history was rewound.

use std::time::Duration;

use super::{
    Effect, Input, Machine, Pass, State,
    backoff::{Next, Pace, once},
    replace::Collection,
};
use crate::{
    Failure, FailureKind, InitialState, Item, ListRequest, ListVersion, Page, RelistCause,
    ResourceVersion,
};

/// Whether pages are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// As the rules for limits say.
    Paged,
    /// Everything at once, since a continue token was refused (PG-04).
    Whole,
}

/// Fetching pages.
pub(super) struct Listing<T> {
    pub(super) pass: Pass,
    extent: Extent,
    /// The request in flight.
    request: ListRequest,
    /// Items of the pages before it.
    items: Vec<Item<T>>,
    /// Version of the pages before it; `None` before the first.
    version: Option<ResourceVersion>,
    pub(super) deadline: Duration,
}

impl<T> Machine<T> {
    pub(super) fn begin_list(&mut self, pass: Pass, extent: Extent, out: &mut Vec<Effect<T>>) {
        let mut version = self.list_version(pass);
        planted!(RefusalIsForgotten => self.lessons.unusable = false);
        if self.lessons.page_limit.is_some() && version == ListVersion::Any {
            // The watch cache ignores limits, and without one the list was too big.
            version = ListVersion::Consistent;
        }
        let limit = match extent {
            Extent::Whole => None,
            Extent::Paged => self.limit(&version),
        };
        let request = ListRequest {
            version,
            limit,
            continue_token: None,
            resume: self.resume_version().cloned(),
            reuse: self.config.reuse && !pass.repair,
        };
        let listing = Listing {
            pass,
            extent,
            request,
            items: Vec::new(),
            version: None,
            deadline: Duration::ZERO,
        };
        self.request_page(listing, out);
    }

    /// RL-10.
    fn list_version(&self, pass: Pass) -> ListVersion {
        if pass.repair || self.lessons.unusable {
            ListVersion::Consistent
        } else if self.resume.is_exact() && !planted!(LaterListIsOfAnyAge) {
            ListVersion::NotOlderThan(self.resume.clone())
        } else {
            match self.config.initial {
                InitialState::Any => ListVersion::Any,
                InitialState::Consistent => ListVersion::Consistent,
            }
        }
    }

    /// RL-17: a limit makes the API server read etcd instead of its cache for an exact version, so
    /// there is none unless it was asked for or pages are how this server answers anyway.
    fn limit(&self, version: &ListVersion) -> Option<u32> {
        let usual = self.config.usual_page_size;
        let chosen = match (self.config.page_size, version) {
            (Some(size), _) => Some(size),
            (None, _) if self.lessons.paginated => Some(usual),
            (None, ListVersion::NotOlderThan(_) | ListVersion::Exact(_)) => None,
            (None, ListVersion::Any | ListVersion::Consistent) => Some(usual),
        };
        match (
            chosen.map(std::num::NonZeroU32::get),
            self.lessons.page_limit,
        ) {
            (Some(size), Some(small)) => Some(size.min(small)),
            (size, small) => size.or(small),
        }
    }

    fn request_page(&mut self, mut listing: Listing<T>, out: &mut Vec<Effect<T>>) {
        listing.deadline = self.now.saturating_add(self.config.list_timeout);
        let request = listing.request.clone();
        self.enter(State::Listing(listing), out);
        out.push(Effect::List(request));
    }

    pub(super) fn listing(
        &mut self,
        listing: Listing<T>,
        input: Input<T>,
        out: &mut Vec<Effect<T>>,
    ) {
        match input {
            Input::Page(Ok(page)) => self.page(listing, page, out),
            Input::Page(Err(failure)) => self.list_failed(&listing, failure, out),
            Input::Panicked => self.list_failed(&listing, super::watch::panicked(), out),
            Input::Timer if self.now >= listing.deadline => {
                out.push(Effect::Abandon);
                let message = "the page did not arrive in time";
                let failure = Failure::new(FailureKind::TimedOut, "ListTimeout", message);
                self.list_failed(&listing, failure, out);
            }
            _ => self.state = State::Listing(listing),
        }
    }

    fn page(&mut self, mut listing: Listing<T>, page: Page<T>, out: &mut Vec<Effect<T>>) {
        if let Some(failure) = fault(&page, &listing) {
            return self.list_failed(&listing, failure, out);
        }
        if page.continue_token.is_some() && listing.request.version == ListVersion::Any {
            self.lessons.paginated = true;
        }
        match listing.items.is_empty() {
            true => listing.items = page.items,
            false => listing.items.extend(page.items),
        }
        let version = listing.version.insert(page.version).clone();
        let more = page.continue_token.is_some();
        if more && !planted!(ReplaceAfterFirstPage) {
            listing.request.continue_token = page.continue_token;
            return self.request_page(listing, out);
        }
        let asked = &listing.request.version;
        let behind =
            matches!(asked, ListVersion::NotOlderThan(asked) if version.is_older_than(asked));
        if behind && !planted!(OlderListIsBelieved) {
            return self.list_failed(&listing, server_behind(), out);
        }
        let items = without_duplicates(listing.items);
        let collection = Collection {
            cause: listing.pass.cause,
            items,
            version,
            consistent: listing.request.version == ListVersion::Consistent,
        };
        self.replace(collection, None, out);
    }

    fn list_failed(&mut self, listing: &Listing<T>, failure: Failure, out: &mut Vec<Effect<T>>) {
        let pass = listing.pass;
        let again = Next::Populate(pass);
        planted!(FailureIsHidden => return self.go(again, out));
        let later = listing.version.is_some();
        planted!(InterruptedListIsComplete => if later {
            return self.replace_interrupted(listing, out);
        });
        let (next, pace) = match failure.kind {
            FailureKind::Expired if later && listing.extent == Extent::Paged => {
                let next = Next::List(pass, Extent::Whole);
                (next, once(&mut self.lessons.spent.unpaged))
            }
            FailureKind::Expired | FailureKind::TooLarge
                if listing.request.version != ListVersion::Consistent =>
            {
                self.lessons.unusable = true;
                let pass = pass.because(cause_of_refusal(failure.kind));
                let next = Next::List(pass, Extent::Paged);
                (next, once(&mut self.lessons.spent.consistent))
            }
            FailureKind::TooBig => {
                let limit = listing.request.limit;
                let usual = self.config.usual_page_size.get();
                self.lessons.page_limit = Some((limit.unwrap_or(usual) / 2).max(1));
                (again, Pace::Delayed { progress: false })
            }
            _ => (again, Pace::Delayed { progress: false }),
        };
        self.answer(failure, next, pace, out);
    }

    #[cfg(any(test, sim))]
    fn replace_interrupted(&mut self, listing: &Listing<T>, out: &mut Vec<Effect<T>>) {
        let version = listing.version.clone().expect("a later page failed");
        let collection = Collection {
            cause: listing.pass.cause,
            items: listing.items.clone(),
            version,
            consistent: false,
        };
        self.replace(collection, None, out);
    }
}

pub(super) fn cause_of_refusal(kind: FailureKind) -> RelistCause {
    match kind {
        FailureKind::TooLarge => RelistCause::TooLarge,
        _ => RelistCause::Expired,
    }
}

/// What a server that is older than what we asked for has done wrong (FM-39).
pub(super) fn server_behind() -> Failure {
    let message = "the server's history ends before the version we have";
    Failure::new(FailureKind::TooLarge, "ServerBehind", message)
}

/// Why this page cannot be part of the list, if so.
fn fault<T>(page: &Page<T>, listing: &Listing<T>) -> Option<Failure> {
    let Some(version) = &listing.version else {
        let message = "the list has no resource version";
        return (!page.version.is_exact())
            .then(|| Failure::new(FailureKind::Protocol, "NoResourceVersion", message));
    };
    if page.version != *version {
        // What the server calls an inconsistent continue: as good as an expired token (FM-06).
        let message = "the pages of the list are of different versions";
        return Some(Failure::new(
            FailureKind::Expired,
            "InconsistentPages",
            message,
        ));
    }
    let token = &page.continue_token;
    (token.is_some() && *token == listing.request.continue_token).then(|| {
        let message = "the list continues where it continued before";
        Failure::new(FailureKind::Protocol, "EndlessList", message)
    })
}

/// FM-07: one item for each key, in the order of the list; of several the newest, or the last
/// where their versions cannot be compared.
fn without_duplicates<T>(items: Vec<Item<T>>) -> Vec<Item<T>> {
    // As nearly every list is; each key then comes once.
    if items.is_sorted_by(|a, b| a.identity.key < b.identity.key) {
        return items;
    }
    let mut order: Vec<usize> = (0..items.len()).collect();
    let key = |index: usize| &items[index].identity.key;
    // Stable, and quick for what is nearly sorted.
    order.sort_by(|&a, &b| key(a).cmp(key(b)));
    let mut dropped = vec![false; items.len()];
    let mut any = false;
    for pair in 1..order.len() {
        let (earlier, later) = (order[pair - 1], order[pair]);
        if key(earlier) != key(later) {
            continue;
        }
        any = true;
        let (version, before) = (
            &items[later].identity.version,
            &items[earlier].identity.version,
        );
        let replayed = version.is_older_than(before) && !planted!(LastDuplicateWins);
        if replayed || planted!(FirstDuplicateWins) {
            // The winner moves on, to be compared with the next of the same key.
            order[pair] = earlier;
            dropped[later] = true;
        } else {
            dropped[earlier] = true;
        }
    }
    if !any {
        return items;
    }
    let kept = items.into_iter().zip(dropped);
    kept.filter_map(|(item, dropped)| (!dropped).then_some(item))
        .collect()
}
