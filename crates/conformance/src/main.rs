//! `conformance record`, `compare` and `check`; `cargo xtask conformance` builds the judge and
//! calls them.

mod http;
mod live;
mod random;
mod record;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Args, Parser, Subcommand};
use informer_conformance::documents::check_documents;
use informer_conformance::{Level, check_stored};

/// Compares client-go and ours.
#[derive(Debug, Parser)]
#[command(name = "conformance")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Stored scenarios against stored traces, and the documents against both. Needs no Go.
    Check,
    /// Asks client-go anew about all stored scenarios, and stores what it did.
    Record {
        #[command(flatten)]
        selected: Selected,
        /// client-go's folder `tools/cache`: the names of its tests are stored anew, too.
        #[arg(long)]
        upstream: Option<PathBuf>,
    },
    /// Runs both sides live: on the stored scenarios, or on random ones.
    Compare {
        #[command(flatten)]
        selected: Selected,
        /// So many random scenarios instead of the stored ones.
        #[arg(long)]
        random: Option<u64>,
        /// client-go over real HTTP and in real time, against what was recorded.
        #[arg(long, conflicts_with = "random")]
        http: bool,
        /// The seed of all random choices; scenario number i has the seed `seed + i`.
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
}

/// Which scenarios, judged by what.
#[derive(Debug, Args)]
pub(crate) struct Selected {
    /// The judge: the test binary of `crates/conformance/go`.
    #[arg(long)]
    judge: PathBuf,
    /// Only this level.
    #[arg(long)]
    level: Option<Level>,
    /// Only scenarios whose name contains this.
    #[arg(long, default_value = "")]
    only: String,
}

impl Selected {
    fn wants(&self, level: Level, name: &str) -> bool {
        self.level.is_none_or(|wanted| wanted == level) && name.contains(&self.only)
    }
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Check => check(),
        Command::Record { selected, upstream } => {
            record::record(&selected).and_then(|()| record::record_names(upstream.as_deref()))
        }
        Command::Compare {
            selected,
            random: Some(count),
            seed,
            ..
        } => random::compare_random(&selected, count, seed),
        Command::Compare {
            selected,
            http: true,
            ..
        } => http::compare_over_http(&selected),
        Command::Compare { selected, .. } => live::compare_live(&selected),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn check() -> Result<()> {
    let stored = check_stored()?;
    let mut findings = stored.findings.clone();
    findings.extend(check_documents(&stored)?);
    for (level, count) in &stored.scenarios {
        println!("{level}: {count} scenarios");
    }
    for (row, scenarios) in &stored.fired {
        println!("{row}: fired in {} scenarios", scenarios.len());
    }
    for finding in &findings {
        eprintln!("{finding}");
    }
    if !findings.is_empty() {
        bail!("{} findings", findings.len());
    }
    Ok(())
}
