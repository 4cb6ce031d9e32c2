//! The names of all metrics, which are recorded through the [`metrics`] facade.
//!
//! The label `informer` is [`InformerStatus::label`](crate::InformerStatus::label), with which the
//! informer's name in status and logs begins: `pods`, or `pods#1c9d03f7` for an informer that is
//! restricted to namespaces, selectors, metadata or a projection. The label `handler` is the name
//! given in [`ListenerConfig`](crate::ListenerConfig). No label names an object or a namespace.
//!
//! Gauges of an informer exist, at zero, as soon as it has been started, those of a handler as soon
//! as it has been added to a started informer.

// SEC-10: no label shows what a selector or an object holds.

/// Objects in the store. Gauge; label `informer`.
pub const STORE_OBJECTS: &str = "informer_store_objects";
/// Keys waiting in the queue, a relist counted as one. Gauge; labels `informer`.
pub const QUEUE_DEPTH: &str = "informer_queue_depth";
/// Events applied to the store. Counter; label `informer`.
pub const EVENTS_APPLIED: &str = "informer_events_applied_total";
/// Events that were dropped as old or as the deletion of an unknown object. Counter; `informer`.
pub const EVENTS_DROPPED: &str = "informer_events_dropped_total";
/// Whole collections fetched. Counter; labels `informer`, `cause`.
pub const LISTS: &str = "informer_lists_total";
/// Watches opened. Counter; label `informer`.
pub const WATCHES: &str = "informer_watches_total";
/// Failed attempts. Counter; labels `informer`, `kind`.
pub const FAILURES: &str = "informer_failures_total";
/// Keys whose last version could not be decoded. Gauge; label `informer`.
pub const QUARANTINED: &str = "informer_quarantined_keys";
/// Consistency checks. Counter; labels `informer`, `outcome`.
pub const CHECKS: &str = "informer_consistency_checks_total";
/// Notifications pending for a handler, with the one being handled and the rest of a replay. Gauge;
/// labels `informer`, `handler`.
pub const HANDLER_BACKLOG: &str = "informer_handler_backlog";
/// How long the oldest of them has waited, in seconds. Gauge; labels `informer`, `handler`.
pub const HANDLER_OLDEST: &str = "informer_handler_oldest_seconds";
/// Notifications that became part of another one for the same key. Counter; labels `informer`,
/// `handler`.
pub const HANDLER_COALESCED: &str = "informer_handler_coalesced_total";
/// Callbacks that panicked. Counter; labels `informer`, `handler`.
pub const HANDLER_PANICS: &str = "informer_handler_panics_total";
/// Panics of the informer's own tasks. Counter; label `informer`.
pub const TASK_PANICS: &str = "informer_task_panics_total";
