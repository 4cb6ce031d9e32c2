//! The identity of one version of one object: its key, its uid and its resource version.
//!
//! A source reads the three from the wire once; the queue, the store and the handlers carry the
//! same values on. Usual identities need no allocation: a key of up to 48 bytes and a uid that is a
//! UUID lie inline, and so does a decimal version.
//!
//! ```
//! use informer_object::{Identity, ObjectKey};
//!
//! let key = ObjectKey::new(Some("default"), "nginx")?;
//! let uid = "0b2c1f4e-3d67-4f0a-9d53-7f1f0a6f2f11";
//! let held = Identity::new(key.clone(), uid, "41");
//! let received = Identity::new(key, uid, "42");
//!
//! assert_eq!(held.uid, received.uid);
//! assert!(held.version.is_older_than(&received.version));
//! assert_eq!(received.version, "42");
//! # Ok::<(), informer_object::KeyError>(())
//! ```
//!
//! This crate does not depend on Kubernetes types, serde or an async runtime. The feature `kube`,
//! off by default, adds `ObjectKey::of` for every type of kube-core.
#![forbid(unsafe_code)]
#![doc(test(attr(deny(warnings))))]

mod identity;
mod key;
#[macro_use]
mod text;
mod uid;
mod version;

pub use identity::Identity;
pub use key::{KeyError, ObjectKey};
pub use uid::Uid;
pub use version::ResourceVersion;
