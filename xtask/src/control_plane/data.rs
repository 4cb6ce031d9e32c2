//! Copies a server's data from folder to folder.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// Makes `target` what `source` is, and nothing else.
pub(super) fn replace(source: &Path, target: &Path) -> Result<()> {
    if target.exists() {
        fs::remove_dir_all(target)
            .with_context(|| format!("cannot remove {}", target.display()))?;
    }
    copy(source, target)
        .with_context(|| format!("cannot copy {} to {}", source.display(), target.display()))
}

fn copy(source: &Path, target: &Path) -> Result<()> {
    fs::create_dir(target)?;
    // etcd refuses a folder that others may read.
    fs::set_permissions(target, fs::metadata(source)?.permissions())?;
    for entry in fs::read_dir(source)? {
        let entry = entry?;
        let (from, to) = (entry.path(), target.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            copy(&from, &to)?;
        } else {
            fs::copy(&from, &to)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_in_the_target_is_gone() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let (source, target) = (folder.path().join("a"), folder.path().join("b"));
        fs::create_dir_all(source.join("member")).expect("the folder is writable");
        fs::write(source.join("member/db"), "one").expect("the folder is writable");
        fs::create_dir(&target).expect("the folder is writable");
        fs::write(target.join("left"), "over").expect("the folder is writable");
        replace(&source, &target).expect("both are there");
        assert!(!target.join("left").exists());
        let copied = fs::read_to_string(target.join("member/db"));
        assert_eq!(copied.expect("it was copied"), "one");
    }
}
