//! The skin over HTTP: the paths, queries, headers and bodies of kube-apiserver.
//!
//! [`ApiService`] answers requests without sockets, [`ServerHandle`] serves it on loopback.

mod accept;
mod answer;
mod discovery;
mod dry_run;
mod objects;
mod query;
mod route;
mod serve;
mod service;
mod watch;

pub use answer::ApiBody;
pub use serve::ServerHandle;
pub use service::ApiService;
