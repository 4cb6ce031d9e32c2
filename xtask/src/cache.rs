//! The folder that builds are kept in, outside the checkout.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context, Result};

/// Names the folder.
const VARIABLE: &str = "INFORMER_CACHE_DIR";

/// Returns the folder of `INFORMER_CACHE_DIR`, or one where the system keeps caches.
pub(crate) fn folder() -> Result<PathBuf> {
    find(|name| std::env::var_os(name))
}

fn find(variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf> {
    let set = |name| {
        variable(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    set(VARIABLE)
        .or_else(|| set("XDG_CACHE_HOME").map(|folder| folder.join("informer")))
        .or_else(|| set("HOME").map(|folder| folder.join(".cache/informer")))
        .with_context(|| format!("no folder for the cache: set {VARIABLE}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pairs: &[(&str, &str)]) -> Option<PathBuf> {
        let lookup = |name: &str| {
            let found = pairs.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| OsString::from(value))
        };
        find(lookup).ok()
    }

    #[test]
    fn the_cache_is_the_first_folder_that_is_set() {
        let all = [(VARIABLE, "/a"), ("XDG_CACHE_HOME", "/b"), ("HOME", "/c")];
        assert_eq!(found(&all), Some(PathBuf::from("/a")));
        assert_eq!(found(&all[1..]), Some(PathBuf::from("/b/informer")));
        assert_eq!(found(&all[2..]), Some(PathBuf::from("/c/.cache/informer")));
        assert_eq!(found(&[("HOME", "")]), None);
    }
}
