//! A workspace of the published packages with the oldest dependencies that their manifests allow.
//!
//! A user's lock file may contain any version that a manifest allows. `Cargo.lock` of the checkout
//! contains new ones, so a bound that is too low shows only when cargo chooses the lowest versions.

use std::fs;
use std::path::Path;

use anyhow::Result;
use cargo_metadata::Metadata;

use crate::shell::run as shell_run;

use super::published::{cargo_in, folder_name, published, unpack_all};

/// Makes the workspace and its lock file in `folder`, with the packages built into `target`.
pub(super) fn prepare(metadata: &Metadata, folder: &Path, target: &Path) -> Result<()> {
    unpack_all(metadata, target, folder)?;
    let members: Vec<String> = published(metadata).map(folder_name).collect();
    let manifest = format!("[workspace]\nresolver = \"3\"\nmembers = {members:?}\n");
    fs::write(folder.join("Cargo.toml"), manifest)?;
    let lowest = ["generate-lockfile", "-Zdirect-minimal-versions"];
    // Permits the option, which a stable cargo has as well; nothing is compiled with it.
    shell_run(cargo_in(folder, lowest).env("RUSTC_BOOTSTRAP", "1"))
}
