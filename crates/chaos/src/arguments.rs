//! What chaos is told on the command line.
//!
//! `cargo xtask chaos` compiles this file too, so that it checks and describes these options before
//! it builds the program and starts the servers. So nothing else of the program may be named here.

use std::time::Duration;

use clap::ValueEnum;

/// Informers under load while a real API server fails in every way.
#[derive(Clone, Debug, clap::Parser)]
#[command(name = "cargo xtask chaos")]
pub(crate) struct Arguments {
    /// For how long outages begin, such as 90s, 10m or 1h.
    #[arg(long = "for", value_name = "TIME", default_value = "10m", value_parser = time)]
    pub(crate) length: Duration,
    /// Decides the order of the outages, their lengths, and what is written.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Only these, again and again.
    #[arg(long, value_delimiter = ',')]
    pub(crate) only: Vec<Kind>,
    /// How long all is well between two outages. Informers forget earlier failures after as long
    /// (120 s unless told), so that each outage is the first to them.
    #[arg(long, value_name = "TIME", default_value = "8s", value_parser = time)]
    pub(crate) calm: Duration,
    /// Prints whatever the informers' sources go through.
    #[arg(long)]
    pub(crate) story: bool,
}

/// What may happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Kind {
    /// SIGKILL to the API server, and a start.
    Kill,
    /// SIGTERM to the API server, and a start.
    Restart,
    /// SIGSTOP and SIGCONT.
    Pause,
    /// The way is cut; who connects is reset.
    Cut,
    /// RST to every connection; new ones pass.
    Reset,
    /// FIN to every connection; new ones pass.
    Finish,
    /// Nothing passes for a while, and then everything.
    Stall,
    /// Everything passes, but slowly.
    Trickle,
    /// Connections die, and not even their packets are acknowledged; new ones pass.
    HalfOpen,
    /// Connections die, but somebody acknowledges; new ones pass.
    Blackhole,
    /// The way is cut, etcd forgets its history, the API server is started anew.
    Compact,
    /// etcd comes back from a copy: the history is rewound.
    Restore,
    /// A custom resource definition is deleted, with all its objects, and created again.
    DeleteDefinition,
    /// A namespace is deleted, with all that is in it, and created again.
    DeleteNamespace,
    /// The informers may do nothing, and then again what they need.
    RevokePermission,
    /// The token is refused, and the next one comes late.
    RotateToken,
}

fn time(text: &str) -> Result<Duration, String> {
    let (number, unit) = text.split_at(text.trim_end_matches(char::is_alphabetic).len());
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        _ => return Err("a number and s, m or h".to_owned()),
    };
    let number: u64 = number.parse().map_err(|_| "no number".to_owned())?;
    Ok(Duration::from_secs(number.saturating_mul(seconds)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit() {
        assert_eq!(time("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(time("10m"), Ok(Duration::from_secs(600)));
        assert_eq!(time("2h"), Ok(Duration::from_secs(7_200)));
        assert!(time("10").is_err() && time("m").is_err() && time("5d").is_err());
    }
}
