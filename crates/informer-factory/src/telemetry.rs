//! Every metric name in one place (style H7). Labels are resource, informer and handler only, never
//! an object or a namespace (SEC-10). An informer that is restricted is told from others of its
//! resource by a short hash: `pods#1c9d03f7`.

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
/// Panics of the informer's own tasks. Counter; label `informer`.
pub const TASK_PANICS: &str = "informer_task_panics_total";
