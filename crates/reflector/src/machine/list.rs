//! The paged list.

// - RFX-5 (RL-10, RL-12, RL-19): the first list is as configured, later ones are not older than
//   the resume version; after a refusal they are consistent until one is accepted.
// - RFX-6 (FM-06, FM-10): a list is emitted after its last page has arrived, and all its pages are
//   of one version. Pages that arrived before a failure are dropped.
// - FM-07: a key that occurs twice is taken once. FM-08: a list without a version is refused.
// - FM-39: a list older than requested means that the server is behind. One more list is
//   consistent; if that one is older too, the server's history was rewound.

use std::{mem, num::NonZeroU32, time::Duration};

use super::{
    context::Context,
    failures::{
        endless_list, inconsistent_pages, list_overdue, no_version, panicked, server_behind,
    },
    input::{Effect, Input},
    next::{Attempt, Collection, Extent, Next, Pace, Pass},
};
use crate::{
    Failure, FailureKind, InitialState, Item, ListRequest, ListVersion, Page, ResourceVersion,
};

/// The phase in which pages are fetched.
pub(super) struct Listing<T> {
    pass: Pass,
    extent: Extent,
    /// The request in flight.
    request: ListRequest,
    /// Items of the pages before it.
    items: Vec<Item<T>>,
    /// Version of the pages before it; `None` before the first.
    version: Option<ResourceVersion>,
    pub(super) deadline: Duration,
}

impl<T> Listing<T> {
    pub(super) fn begin(context: &mut Context<T>, pass: Pass, extent: Extent) -> (Self, Effect<T>) {
        let mut version = list_version(context, pass);
        planted!(RefusalIsForgotten => context.retry.version_refused = false);
        if context.retry.page_limit.is_some() && version == ListVersion::Any {
            // The watch cache ignores limits, and the list was too big without one.
            version = ListVersion::Consistent;
        }
        let limit = match extent {
            Extent::Whole => None,
            Extent::Paged => limit(context, &version),
        };
        let request = ListRequest {
            version,
            limit,
            continue_token: None,
            resume: context.resume.is_exact().then(|| context.resume.clone()),
            reuse: context.config.reuse && !pass.repair,
        };
        let mut listing = Self {
            pass,
            extent,
            request,
            items: Vec::new(),
            version: None,
            deadline: Duration::ZERO,
        };
        let effect = listing.request(context);
        (listing, effect)
    }

    fn request(&mut self, context: &Context<T>) -> Effect<T> {
        self.deadline = context.now.saturating_add(context.config.list_timeout);
        Effect::List(self.request.clone())
    }

    pub(super) fn step(&mut self, context: &mut Context<T>, input: Input<T>) -> Next<T> {
        let failure = match input {
            Input::Page(Ok(page)) => return self.page(context, page),
            Input::Page(Err(failure)) => failure,
            Input::Panicked => panicked(),
            Input::Timer if context.now >= self.deadline => {
                context.abandon();
                list_overdue()
            }
            Input::Demand(demand) => return context.interrupt(demand, Some(self.pass)),
            _ => return Next::Stay,
        };
        self.failed(context, failure)
    }

    fn page(&mut self, context: &mut Context<T>, page: Page<T>) -> Next<T> {
        if let Some(failure) = self.fault(&page) {
            return self.failed(context, failure);
        }
        let more = page.continue_token.is_some();
        context.retry.paginated |= more && self.request.version == ListVersion::Any;
        match self.items.is_empty() {
            true => self.items = page.items,
            false => self.items.extend(page.items),
        }
        let version = self.version.insert(page.version).clone();
        if more && !planted!(ReplaceAfterFirstPage) {
            self.request.continue_token = page.continue_token;
            context.effects.push(self.request(context));
            return Next::Stay;
        }
        let requested = &self.request.version;
        let behind =
            matches!(requested, ListVersion::NotOlderThan(at) if version.is_older_than(at));
        if behind && !planted!(OlderListIsBelieved) {
            return self.failed(context, server_behind());
        }
        let collection = Collection {
            cause: self.pass.cause,
            items: without_duplicates(mem::take(&mut self.items)),
            version,
            consistent: self.request.version == ListVersion::Consistent,
        };
        Next::Replace(collection, None)
    }

    /// Why this page cannot be part of the list, if so.
    fn fault(&self, page: &Page<T>) -> Option<Failure> {
        let Some(version) = &self.version else {
            let unversioned = !page.version.is_exact();
            return unversioned.then(|| no_version("the list has no resource version"));
        };
        if page.version != *version {
            return Some(inconsistent_pages());
        }
        let token = &page.continue_token;
        (token.is_some() && *token == self.request.continue_token).then(endless_list)
    }

    fn failed(&mut self, context: &mut Context<T>, failure: Failure) -> Next<T> {
        let pass = self.pass;
        let again = Attempt::Populate(pass);
        planted!(FailureIsHidden => return Next::Attempt(again));
        let later = self.version.is_some();
        planted!(InterruptedListIsComplete => if later {
            return self.replace_interrupted();
        });
        let quick = &mut context.retry.quick;
        let (attempt, pace) = match failure.kind {
            FailureKind::Expired if later && self.extent == Extent::Paged => {
                let pace = Pace::immediate_once(&mut quick.unpaged, Pace::DELAYED);
                (Attempt::List(pass, Extent::Whole), pace)
            }
            FailureKind::Expired | FailureKind::TooLarge
                if self.request.version != ListVersion::Consistent =>
            {
                context.retry.version_refused = true;
                let pass = pass.after_refusal(failure.kind);
                let pace = Pace::immediate_once(&mut quick.consistent, Pace::DELAYED);
                (Attempt::List(pass, Extent::Paged), pace)
            }
            FailureKind::TooBig => {
                let usual = context.config.usual_page_size.get();
                let limit = self.request.limit.unwrap_or(usual);
                context.retry.page_limit = Some((limit / 2).max(1));
                (again, Pace::DELAYED)
            }
            _ => (again, Pace::DELAYED),
        };
        context.failed(failure, attempt, pace)
    }

    #[cfg(any(test, sim))]
    fn replace_interrupted(&mut self) -> Next<T> {
        let collection = Collection {
            cause: self.pass.cause,
            items: mem::take(&mut self.items),
            version: self.version.clone().expect("a later page failed"),
            consistent: false,
        };
        Next::Replace(collection, None)
    }
}

/// The version that the next list asks for.
// RL-10
fn list_version<T>(context: &Context<T>, pass: Pass) -> ListVersion {
    if pass.repair || context.retry.version_refused {
        ListVersion::Consistent
    } else if context.resume.is_exact() && !planted!(LaterListIsOfAnyAge) {
        ListVersion::NotOlderThan(context.resume.clone())
    } else {
        match context.config.initial {
            InitialState::Any => ListVersion::Any,
            InitialState::Consistent => ListVersion::Consistent,
        }
    }
}

/// A limit makes the API server read etcd instead of its cache for an exact version.
/// Therefore a list has none, unless one is configured or the server answers in pages anyway.
// RL-17
fn limit<T>(context: &Context<T>, version: &ListVersion) -> Option<u32> {
    let usual = context.config.usual_page_size;
    let chosen = match (context.config.page_size, version) {
        (Some(size), _) => Some(size),
        (None, _) if context.retry.paginated => Some(usual),
        (None, ListVersion::NotOlderThan(_) | ListVersion::Exact(_)) => None,
        (None, ListVersion::Any | ListVersion::Consistent) => Some(usual),
    };
    let limits = [chosen.map(NonZeroU32::get), context.retry.page_limit];
    limits.into_iter().flatten().min()
}

/// Keeps one item for each key, in the order of the list: the newest, or the last where
/// versions cannot be compared.
// FM-07
fn without_duplicates<T>(mut items: Vec<Item<T>>) -> Vec<Item<T>> {
    // The usual case. Each key then occurs once.
    if items.is_sorted_by(|a, b| a.identity.key < b.identity.key) {
        return items;
    }
    let mut order: Vec<usize> = (0..items.len()).collect();
    let key = |index: usize| &items[index].identity.key;
    // Stable, and fast for a list that is nearly sorted.
    order.sort_by(|&a, &b| key(a).cmp(key(b)));
    let newer = |earlier: usize, later: usize| {
        let (version, before) = (
            &items[later].identity.version,
            &items[earlier].identity.version,
        );
        let replayed = version.is_older_than(before) && !planted!(LastDuplicateWins);
        match replayed || planted!(FirstDuplicateWins) {
            true => earlier,
            false => later,
        }
    };
    let mut kept = vec![false; items.len()];
    for same in order.chunk_by(|&a, &b| key(a) == key(b)) {
        let newest = same.iter().copied().reduce(newer);
        kept[newest.expect("a chunk is not empty")] = true;
    }
    let mut kept = kept.into_iter();
    items.retain(|_| kept.next() == Some(true));
    items
}
