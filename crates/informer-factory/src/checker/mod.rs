//! The consistency checker: compares the store with the server at one exact version.
//!
//! `ledger.rs` compares, `plan.rs` decides, `run.rs` connects both to one source. A check reads
//! what the informer has, and acts on it only by requesting a repair: no error of a check touches
//! sync, health or versions.

// FM-40

pub(crate) mod consistency;
mod ledger;
mod plan;
mod run;
#[cfg(test)]
mod tests;

use informer_kube_source::KubeListWatch;
use informer_store::Scope;
use serde::de::IgnoredAny;

use crate::checker::consistency::Consistency;

pub(crate) use run::run;

/// The means of an informer to check itself.
pub(crate) struct Checking {
    pub(crate) consistency: Consistency,
    /// Items in one page.
    pub(crate) page_size: u32,
    pub(crate) census: Census,
}

/// Lists the metadata of what a scope holds, and decodes nothing of it.
pub(crate) type Census = Box<dyn Fn(&Scope) -> KubeListWatch<IgnoredAny> + Send + Sync>;
