//! Which waiting keys a relist ties together.
//!
//! A relist is one group (design 6.4): whoever takes one of its keys takes all, so that the
//! store can show it in one step. A key that waits with changes of two relists ties their
//! groups together. Here is kept, per relist, how many waiting keys are tied to it; which
//! keys those are says the mark that each of them carries.
//!
//! A union-find over the few relists that wait; the numbers of the relists name the groups.

use std::collections::BTreeMap;

/// Number of the call of a relist.
pub(crate) type GroupId = u64;

/// The groups that have waiting keys.
#[derive(Clone, Default)]
pub(crate) struct Groups {
    groups: BTreeMap<GroupId, Group>,
    #[cfg(any(test, fuzzing))]
    pub(crate) planted: Option<crate::proof::Planted>,
}

#[derive(Clone)]
enum Group {
    /// Stands for itself: how many waiting keys are tied to it, directly or through others.
    Root { members: usize },
    /// Tied to another one.
    Tied { to: GroupId },
}

impl Groups {
    /// Ties a key to `group`; `mark` is the key's mark, `None` if it is in no group yet.
    pub(crate) fn join(&mut self, mark: &mut Option<GroupId>, group: GroupId) {
        planted!(self, TornGroup => return);
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
