//! Which waiting keys a relist ties together.
//!
//! A relist is one group: a lease that takes one of its keys takes all of them, so
//! that the store can show the relist in one step. Every key that waits when a relist comes
//! belongs to it, and ties it to the earlier relists it belongs to. This module keeps, per relist,
//! the number of waiting keys tied to it; each waiting key carries the number of its group.
//!
//! A union-find over the few relists that wait. Relists have numbers of their own: a relist that
//! brings no change has no number among the calls, and may yet tie keys that wait.

use std::collections::BTreeMap;
use std::num::NonZeroU64;

/// The number of a relist.
pub(crate) type GroupId = NonZeroU64;

/// The groups that have waiting keys.
#[derive(Clone, Default)]
pub(crate) struct Groups {
    groups: BTreeMap<GroupId, Group>,
    /// How many relists there were.
    relists: u64,
}

#[derive(Clone)]
enum Group {
    /// Stands for itself: how many waiting keys are tied to it, directly or through others.
    Root { members: usize },
    /// Tied to another one.
    Tied { to: GroupId },
}

impl Groups {
    /// A new group, for a relist that begins.
    pub(crate) fn begin(&mut self) -> GroupId {
        self.relists += 1;
        GroupId::new(self.relists).expect("it was counted")
    }

    /// Ties a key to `group`; `mark` is the key's mark, `None` if it is in no group yet.
    pub(crate) fn join(&mut self, mark: &mut Option<GroupId>, group: GroupId) {
        planted!(TornGroup => return);
        if *mark == Some(group) {
            return;
        }
        self.groups
            .entry(group)
            .or_insert(Group::Root { members: 0 });
        let to = self.root(group);
        let moved = match *mark {
            None => 1,
            Some(mark) => match self.root(mark) {
                from if from == to => 0,
                from => match self.groups.insert(from, Group::Tied { to }) {
                    Some(Group::Root { members }) => members,
                    Some(Group::Tied { .. }) | None => unreachable!("a root is a root"),
                },
            },
        };
        match self.groups.get_mut(&to) {
            Some(Group::Root { members }) => *members += moved,
            Some(Group::Tied { .. }) | None => unreachable!("a root is a root"),
        }
        *mark = Some(to);
    }

    /// The group that stands for all that is tied to `group`.
    pub(crate) fn root(&self, group: GroupId) -> GroupId {
        let mut at = group;
        while let Some(Group::Tied { to }) = self.groups.get(&at) {
            at = *to;
        }
        at
    }

    /// How many waiting keys are tied to `root`.
    pub(crate) fn members(&self, root: GroupId) -> usize {
        match self.groups.get(&root) {
            Some(Group::Root { members }) => *members,
            Some(Group::Tied { .. }) | None => unreachable!("a waiting key names its group"),
        }
    }

    /// Forgets the group of `root` and all tied to it: its keys are taken.
    pub(crate) fn dissolve(&mut self, root: GroupId) {
        let tied = |&group: &GroupId| self.root(group) == root;
        for group in self.groups.keys().copied().filter(tied).collect::<Vec<_>>() {
            self.groups.remove(&group);
        }
    }
}
