//! The names of all metrics, which are recorded through the [`metrics`] facade.
//!
//! A program exports them by installing a recorder of that facade, for example an exporter for
//! Prometheus, before it starts an informer. [`describe`] tells the recorder what each metric
//! means:
//!
//! ```
//! # use metrics::NoopRecorder;
//! # let exporter = NoopRecorder;
//! metrics::set_global_recorder(exporter)?;
//! informer_factory::telemetry::describe();
//! # Ok::<(), metrics::SetRecorderError<NoopRecorder>>(())
//! ```
//!
//! The label `informer` is [`InformerStatus::label`](crate::InformerStatus::label), with which the
//! informer's name in status and logs begins: `pods`, or `pods#1c9d03f7` for an informer with
//! namespaces, selectors, metadata alone, a projection, packed objects or a chosen wire format.
//! Where [`InformerOptions::name`](crate::InformerOptions::name) is set, it is that name. The label
//! `handler` is the name given in [`ListenerConfig`](crate::ListenerConfig). Names that this crate
//! makes contain no object and no namespace.
//!
//! Gauges of an informer exist, at zero, as soon as it has been started, those of a handler as soon
//! as it has been added to a started informer. Gauges of handlers, memory and progress are sampled
//! at most once a second, and only after a change.
//!
//! Where client-go or its KEP-4346 and KEP-5647 have a metric, it has the same name here.

// SEC-10: no label shows what a selector or an object holds.

use metrics::{Unit, describe_counter, describe_gauge};

/// Writes the constants, and [`describe`] with their documentation.
macro_rules! metrics {
    ($($(#[doc = $line:literal])+ $describe:ident $unit:ident $name:ident = $text:literal;)*) => {
        $($(#[doc = $line])+ pub const $name: &str = $text;)*

        /// Describes every metric to the recorder that is installed, with its unit.
        ///
        /// Call it once, after the recorder has been installed. Metrics are recorded without it
        /// too.
        pub fn describe() {
            $($describe!($name, Unit::$unit, concat!($($line),+).trim_start());)*
        }
    };
}

metrics! {
    /// Objects in the store. Gauge; label `informer`.
    describe_gauge Count STORE_OBJECTS = "informer_store_objects";
    /// The 15 least significant digits of the version up to which the store is complete; with
    /// several namespaces, of the one that is furthest behind; 0 if the version is not a number.
    /// Gauge; label `informer`.
    describe_gauge Count STORE_VERSION = "informer_store_resource_version";
    /// 1 once the first list of every source has been applied, before that 0. Gauge; label
    /// `informer`.
    describe_gauge Count SYNCED = "informer_synced";
    /// Seconds from the start of the informer until it was synced; 0 before that. Gauge; label
    /// `informer`.
    describe_gauge Seconds SYNC_SECONDS = "informer_sync_seconds";
    /// When something was received last from the server, in seconds since 1970; subtract it from
    /// the current time for its age. With several namespaces, of the one that is furthest behind.
    /// 0 before that. Gauge; label `informer`.
    describe_gauge Seconds LAST_PROGRESS = "informer_last_progress_timestamp_seconds";
    /// Estimated memory in bytes. Gauge; labels `informer`, `part`: `objects`, `keys`, `indexes`,
    /// `queue`, `handlers`.
    describe_gauge Bytes MEMORY = "informer_memory_bytes";
    /// Changes waiting in the queue, a relist counted as one. Gauge; label `informer`.
    describe_gauge Count QUEUED_ITEMS = "informer_queued_items";
    /// Events applied to the store. Counter; label `informer`.
    describe_counter Count EVENTS_APPLIED = "informer_events_applied_total";
    /// Events that were dropped as old or as the deletion of an unknown object. Counter; label
    /// `informer`.
    describe_counter Count EVENTS_DROPPED = "informer_events_dropped_total";
    /// Whole collections fetched. Counter; labels `informer`, `cause`: a variant of `RelistCause`.
    describe_counter Count LISTS = "informer_lists_total";
    /// Watches opened. Counter; label `informer`.
    describe_counter Count WATCHES = "informer_watches_total";
    /// Failed attempts. Counter; labels `informer`, `kind`: a variant of
    /// `FailureKind`.
    describe_counter Count FAILURES = "informer_failures_total";
    /// Keys whose last version could not be decoded or applied. Gauge; label `informer`.
    describe_gauge Count QUARANTINED = "informer_quarantined_keys";
    /// Consistency checks. Counter; labels `informer`, `outcome`.
    describe_counter Count CHECKS = "informer_consistency_checks_total";
    /// Notifications pending for a handler, with the one being handled and the rest of a replay.
    /// Gauge; labels `informer`, `handler`.
    describe_gauge Count PENDING_NOTIFICATIONS = "informer_pending_notifications";
    /// How long the oldest pending notification has waited. Gauge; labels `informer`, `handler`.
    describe_gauge Seconds HANDLER_OLDEST = "informer_handler_oldest_seconds";
    /// Notifications that became part of another one for the same key. Counter; labels `informer`,
    /// `handler`.
    describe_counter Count HANDLER_COALESCED = "informer_handler_coalesced_total";
    /// Callbacks that panicked. Counter; labels `informer`, `handler`.
    describe_counter Count HANDLER_PANICS = "informer_handler_panics_total";
    /// Packed objects that could not be read as the type that a program asked for. Counter; label
    /// `type`: the name of the type.
    describe_counter Count READ_ERRORS = "informer_packed_read_errors_total";
    /// Panics of the informer's own tasks. Counter; label `informer`.
    describe_counter Count TASK_PANICS = "informer_task_panics_total";
}
