//! Tells the compiler which structs and fields the chosen version of k8s-openapi has.

use std::env;

/// The minor versions of Kubernetes that `structs.in` knows.
const MINORS: std::ops::RangeInclusive<u32> = 34..=37;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for minor in MINORS {
        println!("cargo::rustc-check-cfg=cfg(kubernetes_1_{minor})");
    }
    let Some(chosen) = chosen_minor() else {
        return;
    };
    for minor in MINORS.filter(|minor| *minor <= chosen) {
        println!("cargo::rustc-cfg=kubernetes_1_{minor}");
    }
}

/// The minor version of Kubernetes that k8s-openapi was built for: it passes `0x00MMmm00`.
fn chosen_minor() -> Option<u32> {
    let mut variables = env::vars();
    let version = variables.find_map(|(name, value)| {
        let of_k8s = name.starts_with("DEP_K8S_OPENAPI_") && name.ends_with("_VERSION");
        of_k8s.then_some(value)
    });
    let version: u32 = version?.parse().ok()?;
    Some(version >> 8 & 0xff)
}
