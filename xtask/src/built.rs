//! The artifacts of one build, as cargo reports them.

use std::io::BufReader;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use cargo_metadata::{Artifact, Message};

use crate::shell::{program, words};

/// What one build has made that can be run.
#[derive(Debug)]
pub(crate) struct Built(Vec<Artifact>);

impl Built {
    /// Prints the command and builds.
    pub(crate) fn by(command: &mut Command) -> Result<Self> {
        println!("$ {}", words(command));
        let mut child = command
            .args(["--message-format", "json-render-diagnostics"])
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot run cargo")?;
        let messages = child.stdout.take().context("the output was asked for")?;
        let mut artifacts = Vec::new();
        for message in Message::parse_stream(BufReader::new(messages)) {
            match message.context("cannot read cargo's messages")? {
                Message::CompilerArtifact(one) if one.executable.is_some() => artifacts.push(one),
                _ => {}
            }
        }
        let status = child.wait().context("cannot wait for cargo")?;
        ensure!(status.success(), "the build failed ({status})");
        Ok(Self(artifacts))
    }

    /// The program of this name.
    pub(crate) fn program(&self, name: &str) -> Result<Command> {
        let is_it = |one: &&Artifact| one.target.name == name && !one.profile.test;
        let path = self.0.iter().find(is_it).and_then(executable);
        Ok(program(path.with_context(|| {
            format!("cargo did not say where {name} is")
        })?))
    }

    /// The tests `target` of a package, in the folder in which cargo would run them.
    pub(crate) fn tests(&self, package: &str, target: &str) -> Result<Command> {
        let is_it = |one: &&Artifact| {
            one.target.name == target && one.profile.test && is_of(&one.package_id.repr, package)
        };
        let tests = self.0.iter().find(is_it);
        let found =
            tests.and_then(|tests| Some((executable(tests)?, tests.manifest_path.parent()?)));
        let missing = || format!("cargo did not say where {target} of {package} is");
        let (path, folder) = found.with_context(missing)?;
        let mut command = program(path);
        command.current_dir(folder);
        Ok(command)
    }

    /// The unit tests of the library of a package.
    pub(crate) fn unit_tests(&self, package: &str) -> Result<Command> {
        self.tests(package, &package.replace('-', "_"))
    }
}

fn executable(artifact: &Artifact) -> Option<PathBuf> {
    artifact.executable.clone().map(PathBuf::from)
}

/// Whether the id is that of a package of this name: without one, it is that of its folder.
fn is_of(id: &str, package: &str) -> bool {
    let Some((place, fragment)) = id.rsplit_once('#') else {
        return false;
    };
    match fragment.split_once('@') {
        Some((name, _)) => name == package,
        None => place.rsplit('/').next() == Some(package),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_known_by_its_id() {
        let store = "path+file:///w/crates/store#informer-store@0.1.0";
        assert!(is_of(store, "informer-store"));
        assert!(!is_of(store, "store"));
        let factory = "path+file:///w/crates/informer-factory#0.1.0";
        assert!(is_of(factory, "informer-factory"));
        assert!(!is_of(factory, "factory"));
    }

    #[test]
    fn tests_and_programs_of_one_name_are_kept_apart() {
        let message = |test: bool| {
            let text = format!(
                r#"{{"package_id":"path+file:///w/crates/x#0.1.0",
                "manifest_path":"/w/crates/x/Cargo.toml",
                "target":{{"name":"x","kind":["bin"],"crate_types":["bin"],"src_path":"/w/x.rs",
                "edition":"2024","doctest":false,"test":true}},
                "profile":{{"opt_level":"3","debuginfo":0,"debug_assertions":false,
                "overflow_checks":false,"test":{test}}},
                "features":[],"filenames":[],"executable":"/t/x-{test}","fresh":true}}"#
            );
            serde_json::from_str(&text).expect("a message of cargo")
        };
        let built = Built(vec![message(true), message(false)]);
        let program = built.program("x").expect("it was built");
        assert_eq!(program.get_program(), "/t/x-false");
        let tests = built.tests("x", "x").expect("they were built");
        assert_eq!(tests.get_program(), "/t/x-true");
        assert_eq!(tests.get_current_dir(), Some("/w/crates/x".as_ref()));
        assert!(built.unit_tests("y").is_err());
    }
}
