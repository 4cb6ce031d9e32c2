//! A real Kubernetes control plane on this machine: etcd and kube-apiserver, and nothing else.
//!
//! There is no kubelet, no scheduler and no controller, so objects stay as a test wrote them, and
//! every change in the history of the server is one the test asked for.
//!
//! `build` finds or makes the two programs, `server` owns one running process, `start` wires two of
//! them up, `control` lets a test ask for faults, and `command` is what a person calls.

mod build;
mod command;
mod control;
mod data;
mod etcd;
mod kubeconfig;
mod probe;
mod server;
mod start;

pub(crate) use build::{Availability, Binaries, Wanted, find_or_build};
pub(crate) use command::{ControlPlaneCommand, run};
pub(crate) use control::Control;
pub(crate) use start::ControlPlane;

/// Tells a test where the kubeconfig is.
pub(crate) const KUBECONFIG_VARIABLE: &str = "INFORMER_E2E_KUBECONFIG";

/// Tells a test where the control socket is.
pub(crate) const CONTROL_VARIABLE: &str = "INFORMER_E2E_CONTROL";
