//! Hears Ctrl-C and SIGTERM, so that nothing which xtask started outlives it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

/// The exit status of a program that was interrupted, as shells have it.
const INTERRUPTED: i32 = 130;

/// Tells whether somebody asked xtask to stop.
#[derive(Clone, Debug, Default)]
pub(crate) struct StopSignal(Arc<AtomicBool>);

impl StopSignal {
    /// Takes over SIGINT, SIGTERM and SIGHUP. The first one is noted, a second one ends xtask at
    /// once; the servers then go because their lifeline is cut.
    pub(crate) fn install() -> Result<Self> {
        let stop = Self::default();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // The order matters: the conditional exit has to see the flag of an earlier signal.
            flag::register_conditional_shutdown(signal, INTERRUPTED, Arc::clone(&stop.0))
                .and_then(|_| flag::register(signal, Arc::clone(&stop.0)))
                .with_context(|| format!("cannot listen to signal {signal}"))?;
        }
        Ok(stop)
    }

    /// Asks to stop, as a signal would.
    pub(crate) fn raise(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether somebody asked to stop.
    pub(crate) fn is_raised(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
