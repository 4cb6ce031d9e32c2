//! The objects of the level `queue`, and how what a queue hands out is written down.

use informer_deltafifo::{Delta, Final, Item, TransformError};

/// An object without its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Object {
    /// Its version.
    pub(super) version: String,
    /// Whether a transform fails for it.
    pub(super) bad: bool,
    /// How often it was transformed.
    transformed: usize,
}

impl Object {
    /// Reads `key@version` or `key@version!`.
    pub(super) fn parse(word: &str) -> Option<(String, Self)> {
        let (key, version) = word.split_once('@').filter(|(key, _)| !key.is_empty())?;
        let bad = version.ends_with('!');
        let object = Self {
            version: version.strip_suffix('!').unwrap_or(version).to_owned(),
            bad,
            transformed: 0,
        };
        Some((key.to_owned(), object))
    }

    /// The transform `mark`.
    pub(super) fn mark(mut self) -> Result<Self, TransformError> {
        if self.bad {
            return Err(TransformError::new("a bad object"));
        }
        self.transformed += 1;
        Ok(self)
    }

    fn word(&self, head: &str) -> String {
        let bad = if self.bad { "!" } else { "" };
        format!(
            "{head}@{}{bad}{}",
            self.version,
            "t".repeat(self.transformed)
        )
    }
}

/// One change, without its key.
fn delta_word(delta: &Delta<Object>) -> String {
    match delta {
        Delta::Added(object) => object.word("Added"),
        Delta::Updated(object) => object.word("Updated"),
        Delta::Replaced(object) => object.word("Replaced"),
        Delta::Sync(object) => object.word("Sync"),
        Delta::Deleted(Final::Observed(object)) => object.word("Deleted"),
        Delta::Deleted(Final::Unknown(Some(object))) => object.word("Gone"),
        Delta::Deleted(Final::Unknown(None)) => "Gone".to_owned(),
    }
}

/// One work; `list` stands before a relist with its version.
pub(super) fn work_line(work: &Item<String, Object>, version: &str) -> String {
    let mut words = Vec::new();
    match work {
        Item::Key { key, deltas } => {
            words.push(key.clone());
            words.extend(deltas.iter().map(delta_word));
        }
        Item::Replace { items } => {
            words.extend(["list".to_owned(), version.to_owned()]);
            words.extend(items.iter().map(|(key, object)| object.word(key)));
        }
        Item::Resync => words.push("resync".to_owned()),
    }
    words.join(" ")
}

/// What a work is about, in one word.
pub(super) fn subject(work: &Item<String, Object>) -> &str {
    match work {
        Item::Key { key, .. } => key,
        Item::Replace { .. } => "list",
        Item::Resync => "resync",
    }
}
