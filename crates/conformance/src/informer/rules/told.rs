//! One line of a trace that says what a handler was told, taken apart.

/// What a handler was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Told<'a> {
    pub(super) handler: &'a str,
    pub(super) what: What<'a>,
}

/// Each with the objects as the trace writes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What<'a> {
    Add { object: &'a str, initial: bool },
    Update { old: &'a str, new: &'a str },
    Delete(&'a str),
    Gone(&'a str),
    Panic(&'a str),
}

impl<'a> Told<'a> {
    pub(super) fn parse(line: &'a str) -> Option<Self> {
        let words: Vec<&str> = line.split(' ').collect();
        let (handler, what) = match words[..] {
            [handler, "add", object] => (handler, What::add(object, false)),
            [handler, "add", object, "initial"] => (handler, What::add(object, true)),
            [handler, "update", old, "->", new] => (handler, What::Update { old, new }),
            [handler, "delete", object] => (handler, What::Delete(object)),
            [handler, "gone", object] => (handler, What::Gone(object)),
            [handler, "panic", object] => (handler, What::Panic(object)),
            _ => return None,
        };
        Some(Self { handler, what })
    }

    /// The object it is about, in its newest state.
    pub(super) fn object(&self) -> &'a str {
        match self.what {
            What::Add { object, .. } => object,
            What::Update { new, .. } => new,
            What::Delete(object) | What::Gone(object) | What::Panic(object) => object,
        }
    }

    pub(super) fn key(&self) -> &'a str {
        key(self.object())
    }

    /// An update that changes nothing, as far as the trace tells.
    pub(super) fn is_repetition(&self) -> bool {
        matches!(self.what, What::Update { old, new } if old == new && version(new).is_some())
    }

    pub(super) fn is_initial(&self) -> bool {
        matches!(self.what, What::Add { initial: true, .. })
    }
}

impl<'a> What<'a> {
    fn add(object: &'a str, initial: bool) -> Self {
        Self::Add { object, initial }
    }
}

/// The key and the life of `key@version` or `key.life@version`.
pub(super) fn key_and_life(object: &str) -> (&str, &str) {
    let named = object.split_once('@').map_or(object, |(named, _)| named);
    named.split_once('.').unwrap_or((named, "1"))
}

pub(super) fn key(object: &str) -> &str {
    key_and_life(object).0
}

/// The version, if there is one.
pub(super) fn version(object: &str) -> Option<u64> {
    object.split_once('@')?.1.parse().ok()
}

/// Whether both are of one life, and the second is the older.
pub(super) fn goes_back(from: &str, to: &str) -> bool {
    key_and_life(from) == key_and_life(to) && version(to) < version(from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_taken_apart() {
        let told = Told::parse("h update ns/a.2@3 -> ns/a.2@4").expect("a line of a handler");
        assert_eq!((told.handler, told.key()), ("h", "ns/a"));
        assert!(!told.is_repetition());
        assert!(Told::parse("h update a@3 -> a@3").is_some_and(|told| told.is_repetition()));
        assert!(Told::parse("h update a@- -> a@-").is_some_and(|told| !told.is_repetition()));
        assert_eq!(Told::parse("store a@3"), None);
        assert!(goes_back("a@4", "a@2") && !goes_back("a@4", "a.2@2"));
    }
}
