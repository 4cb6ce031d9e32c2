//! `cargo xtask bench --shapes`: what packed informers make of collections of different shapes.

use anyhow::{Context, Result, ensure};

use super::programs::Programs;
use super::{Allocator, machine};
use crate::checkout;
use crate::shell::{program, words};

/// The number of objects of a shape.
const OBJECTS: u64 = 10_000;

/// Builds the program, and runs it with its tables on standard output.
pub(super) fn run(allocator: Allocator, objects: Option<u64>) -> Result<()> {
    Programs::build_ours(allocator, &["--bin", "bench-shapes"])?;
    let objects = objects.unwrap_or(OBJECTS);
    println!("{objects} objects of each shape, on one processor\n");
    for (name, value) in machine::describe_ours(allocator) {
        println!("- {name}: {value}");
    }
    println!();
    let mut shapes = program(checkout::target().join("release/bench-shapes"));
    shapes.args(["--objects", &objects.to_string()]);
    let shown = words(&shapes);
    let status = shapes.status().with_context(|| shown.clone())?;
    ensure!(status.success(), "`{shown}` failed ({status})");
    Ok(())
}
