//! The queue between reflector and store, as an option of the command line.

use clap::ValueEnum;
use informer_factory::QueueKind;

/// Which queue stands between the watch and the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Queue {
    /// Changes wait per object; the cache takes fewer steps.
    #[default]
    DeltaFifo,
    /// Changes wait in the server's order, across objects.
    InOrder,
}

impl Queue {
    /// The facade's word for it.
    pub(crate) fn kind(self) -> QueueKind {
        match self {
            Self::DeltaFifo => QueueKind::DeltaFifo,
            Self::InOrder => QueueKind::InOrder,
        }
    }

    /// As it is written on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::DeltaFifo => "delta-fifo",
            Self::InOrder => "in-order",
        }
    }
}
