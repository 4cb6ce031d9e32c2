//! Stub.
use crate::failure::Failure;
/// Stub
#[derive(Debug, clap::Args)]
pub(crate) struct WatchArguments {}
pub(crate) async fn run(_a: &WatchArguments) -> Result<(), Failure> {
    Ok(())
}
