//! The server judged by what etcd promises of a watch (FM-89): a test double that is wrong proves
//! nothing.
//!
//! - `history`: random writes, and a naive record of what they did, kept beside the server.
//! - `properties`: the nine properties, each a function over a trace and that record.
//! - `watches`: random histories, watched from every position, over both the feed and the port.
//! - `lists`: random histories, every state listed, paged and whole.
//! - `planted`: traces with one defect each, which the same functions must refuse.

mod history;
mod lists;
mod planted;
mod properties;
mod watches;
