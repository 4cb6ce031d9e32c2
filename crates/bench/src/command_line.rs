//! The command line of a driver: the same for every peer.
//!
//! The driver of kube-runtime includes this file; that of client-go has the same flags.

#![allow(dead_code, reason = "each program uses a part of it")]

use clap::{Parser, ValueEnum};

/// Follows the pods of a fixture server, and reports what that took.
#[derive(Clone, Debug, Parser)]
pub struct CommandLine {
    /// Where the server is, as host and port.
    #[arg(long)]
    pub server: String,
    /// Which objects, in the peer's own words.
    #[arg(long, default_value = "full")]
    pub variant: String,
    /// How the initial state is asked for.
    #[arg(long, default_value = "list")]
    pub list: Listing,
    /// How many pods the server has.
    #[arg(long)]
    pub objects: u64,
    /// How many changes are sent as fast as they are taken; 0 skips that.
    #[arg(long, default_value_t = 0)]
    pub events: u64,
    /// How many handlers.
    #[arg(long, default_value_t = 1)]
    pub handlers: usize,
    /// How many objects a relist finds changed; 0 skips it.
    #[arg(long, default_value_t = 0)]
    pub changed: u64,
    /// Changes a second, to measure latency; 0 skips that.
    #[arg(long, default_value_t = 0)]
    pub rate: u64,
    /// How many readers there are beside the writer of a store, where stores are measured alone.
    #[arg(long, default_value_t = 1)]
    pub readers: u64,
    /// For how many seconds changes come at the rate, or the writer of a store writes, with readers
    /// and without.
    #[arg(long, default_value_t = 1)]
    pub seconds: u64,
    /// How many handlers join late, one after the other, while changes come at the rate; 0 skips
    /// everything but that.
    #[arg(long, default_value_t = 0)]
    pub joins: u64,
    /// How many informers there are where they are idle.
    #[arg(long, default_value_t = 1)]
    pub informers: usize,
}

/// How the initial state is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Listing {
    /// By a list, in the pages the peer asks for by default.
    List,
    /// By a watch that begins with everything.
    WatchList,
}
