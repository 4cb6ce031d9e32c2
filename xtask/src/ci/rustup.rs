//! Installs, through rustup, the toolchains and targets that single jobs need.
//!
//! What is installed once stays in rustup's folder, outside the checkout. Each function returns an
//! error only if rustup is missing or cannot install, and the error is the reason to skip the job.

use crate::shell::{output_of, program, run};

/// Installs the toolchain `name` with these components, unless it is there.
pub(super) fn toolchain(name: &str, components: &[&str]) -> Result<(), String> {
    if has(&list(&["toolchain", "list"])?, name) {
        let installed = list(&["component", "list", "--installed", "--toolchain", name])?;
        if components.iter().all(|one| has(&installed, one)) {
            return Ok(());
        }
    }
    let mut words = vec!["toolchain", "install", name, "--profile", "minimal"];
    // A task installs a compiler; which rustup a machine has is for its owner to decide.
    words.push("--no-self-update");
    for component in components {
        words.extend(["--component", component]);
    }
    install(&words)
}

/// Installs the standard library for `target`, for the toolchain that runs xtask.
pub(super) fn target(target: &str) -> Result<(), String> {
    if has(&list(&["target", "list", "--installed"])?, target) {
        return Ok(());
    }
    install(&["target", "add", target])
}

fn list(words: &[&str]) -> Result<String, String> {
    // The first line alone: a reason to skip is one line.
    output_of(program("rustup").args(words)).map_err(|error| {
        match error.to_string().lines().next() {
            Some(line) => format!("rustup is not installed or does not answer: {line}"),
            None => "rustup is not installed".to_owned(),
        }
    })
}

fn install(words: &[&str]) -> Result<(), String> {
    run(program("rustup").args(words)).map_err(|error| format!("rustup cannot install: {error}"))
}

/// Whether a line of rustup's list is `name`, or `name` for a platform.
fn has(list: &str, name: &str) -> bool {
    list.lines().any(|line| {
        line.strip_prefix(name)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', ' ']))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_toolchain_is_found_by_its_whole_version() {
        let list = "stable-x86_64-unknown-linux-gnu (active)\n1.89-x86_64-unknown-linux-gnu\n";
        assert!(has(list, "1.89"));
        assert!(!has(list, "1.8"));
        assert!(!has(list, "1.90"));
    }

    #[test]
    fn components_and_targets_are_found_by_their_whole_name() {
        let list = "miri-x86_64-unknown-linux-gnu\nrust-src\nwasm32-unknown-unknown\n";
        assert!(has(list, "miri") && has(list, "rust-src"));
        assert!(has(list, "wasm32-unknown-unknown"));
        assert!(!has(list, "rustfmt"));
    }
}
