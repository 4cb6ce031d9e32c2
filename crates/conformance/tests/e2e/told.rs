//! What a handler is told, by identity alone: which version of which object.

use std::collections::BTreeMap;
use std::fmt;

use kube_core::ObjectMeta;
use kube_core::Resource;

/// The objects of one collection, by key.
pub(crate) type Objects = BTreeMap<String, Identity>;

/// Everything one handler was told in one act, by key and in order.
pub(crate) type Tale = BTreeMap<String, Vec<Told>>;

/// Which version of which object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) uid: String,
    pub(crate) version: u64,
}

impl Identity {
    pub(crate) fn of(object: &impl Resource) -> Self {
        Self::of_meta(object.meta())
    }

    pub(crate) fn of_meta(meta: &ObjectMeta) -> Self {
        let version = meta.resource_version.as_deref().unwrap_or_default();
        Self::from_parts(meta.uid.as_deref().unwrap_or_default(), version)
    }

    pub(crate) fn from_parts(uid: &str, version: &str) -> Self {
        Self {
            uid: uid.to_owned(),
            version: version.parse().expect("this server's versions are numbers"),
        }
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let uid = self.uid.get(..8).unwrap_or(&self.uid);
        write!(f, "{uid}@{}", self.version)
    }
}

/// One notification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    Added {
        new: Identity,
        initial: bool,
    },
    Updated {
        old: Identity,
        new: Identity,
    },
    Deleted {
        last: Identity,
    },
    /// The end was not seen: a tombstone.
    Missed {
        last: Identity,
    },
}

impl Told {
    /// The newest version it speaks of.
    pub(crate) fn identity(&self) -> &Identity {
        match self {
            Self::Added { new, .. } | Self::Updated { new, .. } => new,
            Self::Deleted { last } | Self::Missed { last } => last,
        }
    }

    /// It says again what was said before: a resync, or client-go's answer to a relist (D-04).
    pub(crate) fn is_reminder(&self) -> bool {
        matches!(self, Self::Updated { old, new } if old == new)
    }
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Added { new, initial: true } => write!(f, "added {new} (initial)"),
            Self::Added { new, .. } => write!(f, "added {new}"),
            Self::Updated { old, new } => write!(f, "updated {old} -> {new}"),
            Self::Deleted { last } => write!(f, "deleted {last}"),
            Self::Missed { last } => write!(f, "missed the end of {last}"),
        }
    }
}

/// A key's notifications, for messages.
pub(crate) fn line(told: &[Told]) -> String {
    let words: Vec<_> = told.iter().map(ToString::to_string).collect();
    words.join(", ")
}

/// The first differences between what the server holds and what somebody else does.
pub(crate) fn difference(truth: &Objects, other: &Objects) -> Option<String> {
    if truth == other {
        return None;
    }
    let mut lines = Vec::new();
    for (key, should) in truth {
        match other.get(key) {
            None => lines.push(format!("{key}: missing, should be {should}")),
            Some(is) if is != should => lines.push(format!("{key}: is {is}, should be {should}")),
            Some(_) => {}
        }
    }
    let extra = other.iter().filter(|(key, _)| !truth.contains_key(*key));
    lines.extend(extra.map(|(key, is)| format!("{key}: is {is}, should not be")));
    let count = lines.len();
    lines.truncate(8);
    Some(format!("{count} differences, among them {lines:#?}"))
}
