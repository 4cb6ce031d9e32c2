//! The planted bugs the simulator has to find (T5), each for an entry of the catalogue.
//!
//! The bugs are in the crates, each at the place where it would really be made; this is the list of
//! those whose effects a user can see. Only a build with `cfg(sim)` has them, and only the thread
//! that asks for one.

use std::fmt;

use informer_factory as facade;
use informer_factory::{deltafifo, kube_source, processor, reflector, store};

use crate::Packing;

macro_rules! mutants {
    ($( $layer:ident $name:ident $entry:literal, )*) => {
        /// One planted bug.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Mutant {
            $( #[doc = $entry] $name, )*
        }

        impl Mutant {
            /// All of them, in the order of the catalogue.
            pub const ALL: &'static [Self] = &[$( Self::$name, )*];

            /// The entry of the catalogue that it is an example of.
            pub fn entry(self) -> &'static str {
                match self { $( Self::$name => $entry, )* }
            }

            /// Whether informers are packed where it is looked for: others do not have it.
            pub fn packing(self) -> Packing {
                match self.entry().starts_with("PO-") {
                    true => Packing::Always,
                    false => Packing::Drawn,
                }
            }

            /// The crate it is in.
            pub fn layer(self) -> &'static str {
                match self { $( Self::$name => stringify!($layer), )* }
            }

            /// Runs `f` with this bug switched on for the thread.
            pub fn with<R>(self, f: impl FnOnce() -> R) -> R {
                match self {
                    $( Self::$name => $layer::with_planted($layer::Planted::$name, f), )*
                }
            }
        }
    };
}

mutants! {
    reflector OlderListIsBelieved "FM-01",
    reflector LaterListIsOfAnyAge "FM-01",
    reflector RefusalIsForgotten "FM-03",
    reflector ListResetsBackoff "FM-04",
    reflector ExpiredWatchIsReopened "FM-05",
    reflector InterruptedListIsComplete "FM-06",
    reflector ReplaceAfterFirstPage "FM-06",
    reflector FirstDuplicateWins "FM-07",
    kube_source CutListIsComplete "FM-10",
    store BatchIsTorn "FM-13",
    facade ReplaceIgnoresScope "FM-14",
    reflector WatchSkipsAVersion "FM-15",
    reflector WatchHasNoDeadline "FM-16",
    reflector BrokenEventIsReceived "FM-30",
    kube_source UnknownTypeIsSkipped "FM-31",
    kube_source WrongKindIsSkipped "FM-33",
    reflector ResumeGoesBack "FM-36",
    facade OlderApplied "FM-37",
    facade UnchangedAnnounced "FM-37",
    reflector InitialEventIsResumePoint "FM-38",
    reflector RewindIsNotTold "FM-39",
    facade EpochIgnored "FM-39",
    reflector DeletionIsAChange "FM-42",
    facade RebornAsUpdate "FM-45",
    processor RecreatedAsUpdate "FM-45",
    facade TombstoneIsEmpty "FM-46",
    processor UnknownSkipsTheUpdate "FM-46",
    facade StrangerAnnounced "FM-47",
    deltafifo NoTombstoneForQueued "FM-48",
    deltafifo RelistForgetsLeased "FM-48",
    facade ReplaceForgetsDeletes "FM-48",
    processor ResyncIgnoresPending "FM-50",
    store DeleteForgetsIndex "FM-51",
    facade UnusableIsForgotten "FM-54",
    kube_source TransformsTwice "FM-57",
    store UpdateKeepsOldValues "FM-58",
    store IndexNotFilled "FM-60",
    processor NewestIsLost "FM-65",
    processor UpdateLosesFirstOld "FM-65",
    facade JoinMissesPresent "FM-69",
    processor SyncForgetsStart "FM-72",
    facade InitialFlagLost "FM-72",
    facade ReceivedIsApplied "FM-74",
    reflector ForbiddenIsFatal "FM-82",
    facade OldViewKept "PO-1",
    facade OldBytesPacked "PO-2",
    facade RepackNotifies "PO-4",
    facade RepackRevives "PO-4",
}

impl fmt::Display for Mutant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}
