//! What one side did, in one normal form: a line for each thing that can be observed.
//!
//! A line that begins with `> ` repeats the step that what follows belongs to. Where the contract
//! leaves the order open, the side that writes the trace sorts; `SCENARIOS.md` says where.

use std::fmt;

/// The lines of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    lines: Vec<String>,
}

impl Trace {
    /// A trace of these lines.
    pub fn new(lines: Vec<String>) -> Self {
        Self { lines }
    }

    /// The lines.
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    /// Takes the trace apart.
    pub fn into_lines(self) -> Vec<String> {
        self.lines
    }

    /// A step begins.
    pub fn step(&mut self, step: &dyn fmt::Display) {
        self.lines.push(format!("> {step}"));
    }

    /// Something was observed.
    pub fn push(&mut self, line: impl Into<String>) {
        self.lines.push(line.into());
    }

    /// The lines step by step: each begins with its `> ` line, except for what came before all.
    pub fn steps(&self) -> Vec<Vec<String>> {
        let mut steps: Vec<Vec<String>> = Vec::new();
        for line in &self.lines {
            match steps.last_mut() {
                Some(step) if !line.starts_with("> ") => step.push(line.clone()),
                _ => steps.push(vec![line.clone()]),
            }
        }
        steps
    }

    /// A short digest (FNV-1a), so that a stored trace cannot be changed by hand unnoticed.
    pub fn digest(&self) -> String {
        let bytes = self
            .lines
            .iter()
            .flat_map(|line| line.bytes().chain([b'\n']));
        let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        format!("{hash:016x}")
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}
