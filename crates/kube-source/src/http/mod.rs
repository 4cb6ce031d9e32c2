//! Requests to an API server, their answers, and the client that carries them.

pub(crate) mod answer;
pub(crate) mod client;
pub(crate) mod credentials;
pub(crate) mod negotiation;
pub(crate) mod request;
pub(crate) mod status;
pub(crate) mod tls;
