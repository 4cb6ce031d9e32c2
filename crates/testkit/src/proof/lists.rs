//! Every state of random histories, listed whole and in pages, and rewound.

use proptest::prelude::*;

use super::history::{Record, State, write, writes};
use crate::{ApiServer, ListOptions, Listing, Resource};

const START: u64 = 40;

fn played(history: &[super::history::Write]) -> (ApiServer, Record) {
    let server = ApiServer::builder().starting_version(START).build();
    let mut record = Record::new(START);
    history
        .iter()
        .for_each(|one| write(&server, &mut record, one));
    (server, record)
}

fn exactly(version: u64) -> ListOptions {
    ListOptions {
        version: version.to_string(),
        version_match: Some("Exact".to_owned()),
        ..ListOptions::default()
    }
}

fn says_the_same(listing: &Listing, state: &State) -> bool {
    let said = listing.items.iter();
    let said = said.map(|item| (item.name(), item.uid(), item.version()));
    let known = state.iter();
    said.eq(known.map(|(name, known)| (name.as_str(), known.uid.as_str(), known.version)))
}

proptest! {
    /// COL-2: the log leads back to every state.
    #[test]
    fn every_state_can_be_listed(history in writes(40)) {
        let (server, record) = played(&history);
        for version in START..=server.version() {
            let listing = server.list(&Resource::pods(), &exactly(version)).unwrap();
            prop_assert_eq!(listing.version, version);
            prop_assert!(says_the_same(&listing, record.at(version)), "at {}", version);
        }
        let ahead = server.list(&Resource::pods(), &exactly(server.version() + 1));
        prop_assert_eq!(ahead.unwrap_err().code, 504);
    }

    /// FM-06: however many writes fall between the pages, together they are one state.
    #[test]
    fn pages_are_one_state(before in writes(16), between in writes(12), limit in 1..4_usize) {
        let (server, mut record) = played(&before);
        let version = server.version();
        let mut options = ListOptions { limit: Some(limit), ..ListOptions::default() };
        let mut whole = server.list(&Resource::pods(), &options).unwrap();
        let mut meanwhile = between.iter();
        while let Some(token) = whole.continue_token.take() {
            prop_assert!(whole.remaining.is_some_and(|remaining| remaining > 0));
            meanwhile.by_ref().take(3).for_each(|one| write(&server, &mut record, one));
            options.continue_token = Some(token);
            let page = server.list(&Resource::pods(), &options).unwrap();
            prop_assert!(page.items.len() <= limit);
            whole.items.extend(page.items);
            whole.continue_token = page.continue_token;
            whole.remaining = page.remaining;
        }
        prop_assert!(says_the_same(&whole, record.at(version)));
    }

    /// FM-39: after a restore the state is what it was, and later versions are given out again.
    #[test]
    fn a_restore_is_the_state_of_then(history in writes(24), back in 0..24_u64) {
        let (server, record) = played(&history);
        let version = (START + back).min(server.version());
        server.restore(version).unwrap();
        prop_assert_eq!(server.version(), version);
        let listing = server.list(&Resource::pods(), &ListOptions::default()).unwrap();
        prop_assert!(says_the_same(&listing, record.at(version)));
        let object = server.create(&Resource::nodes(), serde_json::json!({
            "metadata": {"name": "after"},
        }));
        prop_assert_eq!(object.unwrap().version(), version + 1);
    }

    /// CLU-2: below a compaction there is nothing to be had, above it everything.
    #[test]
    fn below_the_compaction_is_410(before in writes(12), behind in writes(12)) {
        let (server, mut record) = played(&before);
        let compacted = server.version();
        server.compact();
        behind.iter().for_each(|one| write(&server, &mut record, one));
        for version in START..=server.version() {
            let listing = server.list(&Resource::pods(), &exactly(version));
            match listing {
                Ok(listing) => {
                    prop_assert!(version >= compacted);
                    prop_assert!(says_the_same(&listing, record.at(version)));
                }
                Err(rejection) => {
                    prop_assert!(version < compacted);
                    prop_assert_eq!(rejection.code, 410);
                }
            }
        }
    }
}
