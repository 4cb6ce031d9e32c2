//! Where this checkout is.

use std::path::{Path, PathBuf};

/// The folder with the workspace's `Cargo.toml`.
///
/// Cargo tells a program it runs where its package is; what was true when the program was compiled
/// is only the second choice, since several checkouts may share one target folder.
pub(crate) fn root() -> PathBuf {
    let package = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    package
        .parent()
        .map_or_else(|| package.clone(), Path::to_path_buf)
}

/// The folder that builds go into: `CARGO_TARGET_DIR`, or `target` in the checkout.
pub(crate) fn target() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    target.unwrap_or_else(|| root().join("target"))
}
