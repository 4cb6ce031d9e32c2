//! What a server could have sent, written short: `a@1` is object `a` at version 1.

use std::sync::Arc;

use informer_reflector::{Body, Config, Failure, FailureKind, Identity, Item, ObjectKey, Page};

/// A script begins with a plain list.
pub(crate) fn listing() -> Config {
    Config::default().streaming(false)
}

pub(crate) fn item(text: &str) -> Item<()> {
    let (name, version) = text.split_once('@').expect("name@version");
    let key = ObjectKey::new(None, name).expect("a name");
    Item::new(
        Identity::new(key, "u", version),
        Body::Decoded(Arc::new(())),
    )
}

pub(crate) fn page(words: &str) -> Page<()> {
    let mut words = words.split(' ').filter(|word| !word.is_empty()).peekable();
    let version = words.next_if(|word| !word.contains(['@', '=']));
    let (more, items): (Vec<_>, Vec<_>) = words.partition(|word| word.starts_with("more="));
    let items = items.into_iter().map(item).collect();
    Page::new(items, version.unwrap_or_default())
        .continued(more.first().map(|word| word["more=".len()..].into()))
}

pub(crate) fn failure(kind: &str) -> Failure {
    let kinds = [
        ("Expired", FailureKind::Expired),
        ("TooLarge", FailureKind::TooLarge),
        ("Throttled", FailureKind::Throttled),
        ("Unavailable", FailureKind::Unavailable),
        ("Internal", FailureKind::Internal),
        ("Unauthorized", FailureKind::Unauthorized),
        ("Forbidden", FailureKind::Forbidden),
        ("Invalid", FailureKind::Invalid),
        ("Connect", FailureKind::Connect),
        ("Cut", FailureKind::Cut),
        ("Protocol", FailureKind::Protocol),
        ("TooBig", FailureKind::TooBig),
        ("Other", FailureKind::Other),
    ];
    let found = kinds.iter().find(|(name, _)| *name == kind);
    let (_, kind) = found.unwrap_or_else(|| panic!("no kind {kind}"));
    Failure::new(*kind, "Scripted", "")
}
