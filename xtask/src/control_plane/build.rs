//! Finds the programs of the control plane, or builds them from their pinned Go modules.
//!
//! The pins are `xtask/control-plane/go.mod` and `go.sum`. What was built is kept outside the
//! checkout, under a name made from everything that goes into it, so a second call finds it and a
//! changed pin cannot meet an old program. Programs that no test starts are built on request only.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::cache;
use crate::checkout;
use crate::clock;
use crate::shell::{go_build, has_go};

/// Names a folder of the user's with the servers in it, as kubebuilder's tools do.
const ASSETS_VARIABLE: &str = "KUBEBUILDER_ASSETS";

/// The files that decide what is built, beside the flags.
const SOURCES: [&str; 7] = [
    "go.mod",
    "go.sum",
    "cmd/etcd/main.go",
    "cmd/kube-apiserver/main.go",
    "cmd/kube-controller-manager/main.go",
    "cmd/kubectl/main.go",
    "lifeline/lifeline.go",
];

/// The servers, and then the programs that no test starts.
static PROGRAMS: [&str; 4] = [
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kubectl",
];

/// The number of servers among them.
const SERVERS: usize = 2;

/// The programs that are wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wanted {
    /// etcd and kube-apiserver.
    Servers,
    /// The servers, kube-controller-manager and kubectl.
    All,
}

impl Wanted {
    fn names(self) -> &'static [&'static str] {
        match self {
            Self::Servers => &PROGRAMS[..SERVERS],
            Self::All => &PROGRAMS,
        }
    }
}

/// The programs of a control plane.
#[derive(Clone, Debug)]
pub(crate) struct Binaries {
    /// The etcd server.
    pub(crate) etcd: PathBuf,
    /// The Kubernetes API server.
    pub(crate) kube_apiserver: PathBuf,
    /// The controller manager, if it was found. No test starts it, and kubebuilder's tools lack it.
    pub(crate) kube_controller_manager: Option<PathBuf>,
    /// The command line client, if it was found.
    pub(crate) kubectl: Option<PathBuf>,
    /// Where they come from, for people to read.
    pub(crate) origin: String,
}

/// Whether this machine can have a control plane.
#[derive(Debug)]
pub(crate) enum Availability {
    /// It can.
    Ready(Binaries),
    /// It cannot, and the text says why. This is no error: everything else works without.
    Missing(String),
}

/// Finds the programs in `KUBEBUILDER_ASSETS` or in the cache, or builds them there.
///
/// `KUBEBUILDER_ASSETS` has to contain the servers; other programs that it lacks are not built.
pub(crate) fn find_or_build(wanted: Wanted) -> Result<Availability> {
    if let Some(folder) = std::env::var_os(ASSETS_VARIABLE) {
        return from_assets(Path::new(&folder)).map(Availability::Ready);
    }
    let module = checkout::root().join("xtask/control-plane");
    let pins = Pins::read(&module)?;
    let cache = cache::folder()?;
    let folder = cache.join(pins.folder_name());
    let missing = missing(&folder, wanted);
    let origin = match missing.is_empty() {
        true => "from the cache",
        false if has_go() => {
            build(&module, &pins, &missing, &folder)?;
            "just built"
        }
        false => {
            return Ok(Availability::Missing(format!(
                "Go is not installed, {ASSETS_VARIABLE} is not set, and {} lacks {}",
                cache.display(),
                missing.join(", ")
            )));
        }
    };
    in_folder(&folder, format!("{}, {origin}", pins.title()))
        .map(Availability::Ready)
        .with_context(|| format!("there are no programs in {}", folder.display()))
}

fn from_assets(folder: &Path) -> Result<Binaries> {
    in_folder(folder, format!("{ASSETS_VARIABLE} = {}", folder.display())).with_context(|| {
        format!(
            "{ASSETS_VARIABLE} names {}, which does not hold both `etcd` and `kube-apiserver`",
            folder.display()
        )
    })
}

fn missing(folder: &Path, wanted: Wanted) -> Vec<&'static str> {
    let names = wanted.names().iter().copied();
    names.filter(|name| !folder.join(name).is_file()).collect()
}

fn in_folder(folder: &Path, origin: String) -> Option<Binaries> {
    let etcd = folder.join("etcd");
    let kube_apiserver = folder.join("kube-apiserver");
    let both = etcd.is_file() && kube_apiserver.is_file();
    let optional = |name| Some(folder.join(name)).filter(|path| path.is_file());
    both.then(|| Binaries {
        etcd,
        kube_apiserver,
        kube_controller_manager: optional("kube-controller-manager"),
        kubectl: optional("kubectl"),
        origin,
    })
}

/// What is built, and from what.
#[derive(Debug)]
struct Pins {
    kubernetes: String,
    etcd: String,
    digest: u64,
}

impl Pins {
    fn read(module: &Path) -> Result<Self> {
        let mut digest = Digest::new();
        for name in SOURCES {
            let path = module.join(name);
            let content = fs::read(&path).with_context(|| format!("cannot read {path:?}"))?;
            digest.add(&content);
        }
        digest.add(std::env::consts::ARCH.as_bytes());
        let manifest = fs::read_to_string(module.join("go.mod"))?;
        Ok(Self {
            kubernetes: required_version(&manifest, "k8s.io/kubernetes")?,
            etcd: required_version(&manifest, "go.etcd.io/etcd/server/v3")?,
            digest: digest.0,
        })
    }

    fn title(&self) -> String {
        format!("Kubernetes {}, etcd {}", self.kubernetes, self.etcd)
    }

    fn folder_name(&self) -> String {
        format!(
            "control-plane-{}-etcd-{}-{:016x}",
            self.kubernetes, self.etcd, self.digest
        )
    }

    /// Returns the flags that set the version of all programs; the default is v0.0.0. The API
    /// server reports it to clients, and kubectl compares it with its own.
    fn linker_flags(&self) -> Result<String> {
        let mut parts = self.kubernetes.trim_start_matches('v').split('.');
        let (Some(major), Some(minor)) = (parts.next(), parts.next()) else {
            bail!("{:?} is not a version", self.kubernetes);
        };
        let package = "k8s.io/component-base/version";
        Ok(format!(
            "-s -w -X {package}.gitVersion={} -X {package}.gitMajor={major} \
             -X {package}.gitMinor={minor}",
            self.kubernetes
        ))
    }
}

/// The version of `module` among the lines of a `go.mod` that require something.
fn required_version(manifest: &str, module: &str) -> Result<String> {
    let version = manifest.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        (words.next() == Some(module))
            .then(|| words.next())
            .flatten()
    });
    let version = version.with_context(|| format!("go.mod does not require {module}"))?;
    Ok(version.to_owned())
}

fn build(module: &Path, pins: &Pins, names: &[&str], folder: &Path) -> Result<()> {
    let start = clock::now();
    // Two builds may run concurrently, and either may be killed: a program gets its real name when
    // it is complete.
    let partial = folder.with_extension(format!("partial-{}", std::process::id()));
    fs::create_dir_all(&partial).with_context(|| format!("cannot create {partial:?}"))?;
    println!(
        "building {} of {} into {} (some minutes)",
        names.join(", "),
        pins.title(),
        folder.display()
    );
    let status = go_build(&["build"])
        .arg("-ldflags")
        .arg(pins.linker_flags()?)
        .arg("-o")
        .arg(&partial)
        .args(names.iter().map(|name| format!("./cmd/{name}")))
        .current_dir(module)
        .env("CGO_ENABLED", "0")
        .status()
        .context("cannot run `go build`")?;
    if !status.success() {
        fs::remove_dir_all(&partial).context("cannot remove a failed build")?;
        bail!("`go build` of the control plane failed ({status})");
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot create {folder:?}"))?;
    for name in names {
        let program = folder.join(name);
        fs::rename(partial.join(name), &program)
            .with_context(|| format!("cannot create {program:?}"))?;
    }
    fs::remove_dir_all(&partial).context("cannot remove the folder of the build")?;
    println!("built in {}", clock::seconds_since(start));
    Ok(())
}

/// FNV-1a, which distinguishes versions of our own files. No attacker chooses its input, and unlike
/// the standard library's hasher it stays the same when the compiler changes.
struct Digest(u64);

impl Digest {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pins_of_this_tree_give_a_version_and_a_stable_name() {
        let module = checkout::root().join("xtask/control-plane");
        let pins = Pins::read(&module).expect("the module is part of the checkout");
        assert!(pins.kubernetes.starts_with("v1."), "{pins:?}");
        assert!(pins.etcd.starts_with("v3."), "{pins:?}");
        let flags = pins.linker_flags().expect("the version has two parts");
        assert!(flags.contains(&format!("gitVersion={}", pins.kubernetes)));
        let again = Pins::read(&module).expect("the module is part of the checkout");
        assert_eq!(pins.folder_name(), again.folder_name());
    }

    #[test]
    fn every_part_of_kubernetes_has_the_same_version() {
        let module = checkout::root().join("xtask/control-plane");
        let manifest = fs::read_to_string(module.join("go.mod")).expect("it is in the checkout");
        let kubernetes = required_version(&manifest, "k8s.io/kubernetes").expect("it is required");
        let staging = kubernetes.replacen("v1.", "v0.", 1);
        let replacements = manifest.lines().filter(|line| line.contains(" => "));
        assert!(replacements.clone().count() > 20);
        for line in replacements {
            assert!(
                line.ends_with(&format!(" {staging}")),
                "{line} is not {staging}"
            );
        }
    }

    #[test]
    fn whatever_is_in_the_module_decides_the_name_of_the_build() {
        fn files_below(folder: &Path) -> usize {
            let entries = fs::read_dir(folder).expect("it is in the checkout");
            let paths = entries.map(|entry| entry.expect("it can be listed").path());
            paths
                .map(|path| if path.is_dir() { files_below(&path) } else { 1 })
                .sum()
        }
        let module = checkout::root().join("xtask/control-plane");
        assert_eq!(
            files_below(&module),
            SOURCES.len(),
            "a file is missing in SOURCES"
        );
    }

    #[test]
    fn a_version_is_found_in_its_line_only() {
        let manifest = "require (\n\tk8s.io/api v0.1.2\n\tk8s.io/apiserver v0.3.4\n)";
        assert_eq!(
            required_version(manifest, "k8s.io/apiserver")
                .ok()
                .as_deref(),
            Some("v0.3.4")
        );
        assert!(required_version(manifest, "k8s.io/kubernetes").is_err());
    }

    #[test]
    fn assets_without_both_programs_are_refused_by_name() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        fs::write(folder.path().join("etcd"), "").expect("the folder is writable");
        let error = from_assets(folder.path()).expect_err("kube-apiserver is missing");
        assert!(error.to_string().contains(ASSETS_VARIABLE), "{error}");
    }

    #[test]
    fn what_nobody_wants_is_not_missing() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let servers = ["etcd", "kube-apiserver"];
        assert_eq!(missing(folder.path(), Wanted::Servers), servers);
        for name in servers {
            fs::write(folder.path().join(name), "").expect("the folder is writable");
        }
        assert!(missing(folder.path(), Wanted::Servers).is_empty());
        let others = ["kube-controller-manager", "kubectl"];
        assert_eq!(missing(folder.path(), Wanted::All), others);
    }

    #[test]
    fn assets_may_lack_the_programs_that_no_test_needs() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        for name in ["etcd", "kube-apiserver", "kubectl"] {
            fs::write(folder.path().join(name), "").expect("the folder is writable");
        }
        let binaries = from_assets(folder.path()).expect("both servers are there");
        assert!(binaries.kubectl.is_some());
        assert!(binaries.kube_controller_manager.is_none());
    }
}
