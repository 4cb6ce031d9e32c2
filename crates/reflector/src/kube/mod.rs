//! A [`crate::ListWatch`] over `kube_client::Client`, from the request to the decoded item.
//!
//! It stands on `Client::send` and frames and decodes itself, because what goes wrong below
//! `Api::watch` cannot be repaired above it (FM-29, FM-30, FM-31, FM-54, FM-56). What it does not
//! do: retry, pace, remember versions, or judge what a failure means for the next step.
//!
//! | file | concept |
//! | --- | --- |
//! | `source` | what to list, within which bounds |
//! | `request`, `answer`, `status` | HTTP: asking, and judging what comes back |
//! | `frame`, `event`, `stream` | a watch: lines, events, the stream of them |
//! | `decoding` | work off the task, in order |
//! | `arriving`, `cut`, `separator`, `page` | a list: cut as it arrives, into frame and items |
//! | `wire`, `object`, `partial` | an object: identity, and the rest or why not |
//! | `tape`, `taped`, `members` | an object as tokens, and out of them |
//! | `shape`, `key`, `projection`, `selection` | what of an object is skipped |

mod answer;
mod arriving;
mod blank;
mod cut;
mod decoding;
mod event;
mod frame;
#[cfg(fuzzing)]
pub(crate) mod fuzzed;
#[cfg(any(test, fuzzing))]
mod judge;
mod key;
mod list_watch;
mod members;
mod object;
mod page;
mod partial;
mod projection;
mod repeated;
mod request;
mod selection;
mod separator;
mod shape;
mod source;
mod status;
mod stream;
mod tape;
mod taped;
mod wire;

#[cfg(test)]
mod scripted;
#[cfg(test)]
mod tests;

pub use list_watch::KubeListWatch;
pub use partial::PartialObjectMetadata;
pub use projection::Projection;
pub use source::{Deadlines, KubeSource, Limits, Representation, Transform};
pub use stream::KubeEvents;
