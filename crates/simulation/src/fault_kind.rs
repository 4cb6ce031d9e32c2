//! The alphabet of what can go wrong, each letter with a name.
//!
//! The specification counts 48 and groups some; here each thing that is injected in a way of its
//! own is a letter. What a letter does is in `scripting.rs`. All of them are done but for what
//! their descriptions leave out.

use std::fmt;

macro_rules! kinds {
    (
        $( $kind:ident $name:literal $about:literal, )*;
        $( $wire:ident $wire_name:literal $wire_about:literal, )*
    ) => {
        /// One kind of fault.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum FaultKind {
            $( #[doc = $about] $kind, )*
            $( #[doc = $wire_about] $wire, )*
        }

        impl FaultKind {
            /// All kinds, in the order of the specification.
            pub const ALL: &'static [Self] = &[$( Self::$kind, )* $( Self::$wire, )*];

            /// The kinds that any run can have.
            pub(crate) const OF_ANY_RUN: &'static [Self] = &[$( Self::$kind, )*];

            /// The kinds that only an answer in protobuf can have.
            pub(crate) const IN_PROTOBUF: &'static [Self] = &[$( Self::$wire, )*];

            /// The name, as it stands in stories and totals.
            pub fn name(self) -> &'static str {
                match self {
                    $( Self::$kind => $name, )*
                    $( Self::$wire => $wire_name, )*
                }
            }
        }
    };
}

kinds! {
    Refuse "refuse" "Nobody listens: connections are refused.",
    Reset "reset-at-byte" "The connection is reset after so many bytes of an answer.",
    HalfOpen "half-open" "Open watches go silent for ever, and new requests are never answered.",
    OneWay "one-way-partition" "Open watches go on, and new requests are never answered.",
    Stall "stall" "Headers, then a pause, then the rest.",
    Latency "latency" "Every answer is late.",
    DnsMove "dns-move" "The server moves: open watches are of the old one, which says nothing more.",
    Tls "tls-failure" "The handshake fails.",
    CloseAfterHeaders "close-after-headers" "Reset right after the headers.",
    CloseAtOnce "close-at-0" "A watch is closed cleanly at once.",
    CloseSubsecond "close-below-1s" "A watch is closed cleanly within a second.",
    CloseSeconds "close-2-6s" "A watch is closed cleanly within seconds.",
    CloseAfterEvent "close-after-event" "A watch is closed cleanly after one event.",
    Http400 "http-400" "The request is bad.",
    Http401 "http-401" "The credentials are not accepted.",
    Http403 "http-403" "Permission is missing.",
    Http404 "http-404" "The resource does not exist.",
    Http410 "http-410" "The version is gone, said as an HTTP status.",
    Http429 "http-429" "Too many requests, with every form of `Retry-After`.",
    Http500 "http-500" "The server fails.",
    Http502 "http-502-html" "A proxy fails, with a page for people.",
    Http503 "http-503" "The server cannot answer now.",
    Http504 "http-504-too-large" "The version is ahead of the server's, in three encodings.",
    Html "http-200-html" "A login page instead of the answer.",
    ListHang "list-hang" "Headers of a list, and then nothing.",
    ListCut "list-cut" "A list breaks off in the middle.",
    DuplicateKey "list-duplicate-key" "An item comes twice, first in an older version.",
    EmptyVersion "list-empty-version" "A list without a version.",
    LowerVersion "list-lower-version" "A list says a version below that of its items.",
    StaleReplica "list-stale-replica" "A list of an older state.",
    Page410 "list-page-410" "A continue token has expired.",
    BadItem "list-bad-item" "An item of a list cannot be decoded.",
    HugeItem "list-huge-item" "An item is larger than is allowed.",
    HeaderDelay "watch-header-delay" "The headers of a watch are late, or never come.",
    Truncated "watch-truncated-line" "An event is cut in half.",
    Garbage "watch-garbage-line" "A line that is not JSON.",
    UnknownType "watch-unknown-type" "An event of a type nobody knows.",
    ErrorEvent "watch-error-event" "An `ERROR` event, with each code.",
    BareError "watch-error-bare" "An `ERROR` event whose status has no kind.",
    WrongKind "watch-wrong-kind" "An event carries something else.",
    Nameless "watch-nameless" "An object without a name.",
    Undecodable "watch-undecodable" "An event whose object cannot be decoded.",
    Replay "watch-replay" "The last events are sent again.",
    OlderEvent "watch-older-version" "An event claims an older version.",
    DeletedOlder "watch-deleted-old-version" "A deletion carries the version before it.",
    NoBookmarks "watch-no-bookmarks" "Bookmarks never come.",
    EarlyBookmark "watch-early-bookmark" "A bookmark comes before what it stands for.",
    LowerBookmark "watch-lower-bookmark" "A bookmark with an older version.",
    NoInitialEnd "watch-no-initial-end" "The end of the initial events is never told.",
    Gzip "watch-gzip" "Bytes that are compressed although nobody asked.",
    TimeoutIgnored "watch-timeout-ignored" "`timeoutSeconds` is ignored.",
    Compaction "compaction" "The history is compacted, and what watches have not read is gone.",
    Restore "restore" "The history rewinds, as from a backup.",
    UidChange "uid-change" "An object is deleted and created again while nobody watches.",
    Ephemeral "create-delete" "An object comes and goes while nobody watches.",
    LabelFlip "label-flip" "Objects leave the selection and come back.",
    Wipe "namespace-wipe" "All objects of a namespace are deleted at once.",
    LostEvent "lost-event" "The server's cache loses an event.",
    HandlerSlow "handler-slow" "A handler is slow.",
    HandlerBlocked "handler-blocked" "A handler does not return for minutes.",
    HandlerPanics "handler-panics" "A handler panics.",
    HandlerReenters "handler-reenters" "A handler reads the informer, or removes itself.",
    HandlerAdd "handler-add" "A handler joins while everything runs.",
    HandlerRemove "handler-remove" "A handler is removed while everything runs.",
    HandlerReadd "handler-readd" "A handler is removed, and one like it joins at once.",
    TransformError "transform-error" "The transform refuses some objects.",
    IndexAdd "index-add" "An index is added while everything runs.",
    ClockJump "clock-jump" "The clock jumps forward: timers run late.",
    Cancel "cancel" "A call of ours is dropped after so many polls.",
    SeedExtremes "seed-extremes" "Jitter from the ends of the range of seeds.",
    ;
    WireLength "protobuf-frame-length" "A frame states a length that it cannot have.",
    WireMagic "protobuf-magic" "A body, or the object of an event, does not begin as it must.",
    WireVarint "protobuf-truncated-varint" "An object ends within an integer.",
    WireValue "protobuf-value-not-utf8" "A value of an object is not UTF-8.",
    WireName "protobuf-name-not-utf8" "The name of an object is not UTF-8.",
    WireNesting "protobuf-nesting" "The managed fields of an object are nested 1,000 times.",
    WireTwoNames "protobuf-name-twice" "An object has two names.",
    WireTwoMetadata "protobuf-metadata-twice" "An object has its metadata twice.",
    WireUnknown "protobuf-unknown-field" "An object has a field of a newer server.",
    WireGroup "protobuf-group" "An object has a group, which no server writes.",
}

impl FaultKind {
    /// Whether the server lies by it: what it then says is not its history, so that only a list
    /// of everything can put it right.
    pub(crate) fn is_lie(self) -> bool {
        use FaultKind as K;
        let versions = matches!(self, K::LowerVersion | K::StaleReplica | K::OlderEvent);
        let unseen = matches!(self, K::EarlyBookmark | K::LostEvent);
        let unusable = matches!(self, K::BadItem | K::HugeItem | K::Undecodable);
        let unusable = unusable || self.spoils_objects();
        versions || unseen || unusable || self == K::DeletedOlder || self == K::Replay
    }

    /// Whether objects in protobuf have an identity and cannot be used, so that they are
    /// quarantined. The other kinds of damage fail the list, end the watch, or do no harm.
    fn spoils_objects(self) -> bool {
        use FaultKind as K;
        let bytes = matches!(self, K::WireVarint | K::WireValue | K::WireGroup);
        let shapes = matches!(self, K::WireNesting | K::WireTwoNames | K::WireTwoMetadata);
        bytes || shapes
    }

    /// Whether nothing but a list can put right what it leaves behind: a lie, or a history that
    /// rewound and then grew beyond the version we had, which nobody can see in a watch (FM-40).
    pub(crate) fn needs_list(self) -> bool {
        self.is_lie() || self.forges_versions() || self == Self::Restore
    }

    /// Whether versions go back by it although no history was rewound.
    pub(crate) fn forges_versions(self) -> bool {
        use FaultKind as K;
        matches!(
            self,
            K::LowerVersion | K::StaleReplica | K::OlderEvent | K::DeletedOlder | K::LowerBookmark
        )
    }

    /// Whether a request may be waiting for an answer that never comes when all is healed.
    pub(crate) fn leaves_silence(self) -> bool {
        use FaultKind as K;
        let hangs = matches!(self, K::HalfOpen | K::OneWay | K::DnsMove | K::ListHang);
        hangs || matches!(self, K::HeaderDelay | K::TimeoutIgnored | K::NoInitialEnd)
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
