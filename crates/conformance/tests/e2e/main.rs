//! client-go's shared informers and ours beside each other on a real API server.
//!
//! One workload is followed by both at the same time, and what their handlers are told is compared:
//! with what really happened, and with each other. `cargo xtask e2e` starts the server, builds the
//! Go program and tells where both are by environment variables (`cluster`).
//!
//! | file | concept |
//! | --- | --- |
//! | `acts` | the workload, in seven acts |
//! | `comparison`, `planted` | the judge, and that it finds what it is to find; need no server |
//! | `verdict` | which questions are asked of whom, and how much was compared |
//! | `history`, `annals` | what really happened, and how it is written down |
//! | `told`, `ledger` | what handlers are told, and how it is taken down |
//! | `theirs`, `ours`, `watched` | the two sides, and what they follow |
//! | `stage` | everything together, and when all agree with the server |
//! | `resources`, `writer` | what is written |
//! | `cluster`, `relay` | the server and the way to it |

mod acts;
mod annals;
mod cluster;
mod comparison;
mod history;
mod ledger;
mod ours;
mod planted;
mod relay;
mod resources;
mod stage;
mod theirs;
mod told;
mod verdict;
mod watched;
mod writer;

use std::time::Duration;

/// However busy the machine is.
const LIMIT: Duration = Duration::from_secs(600);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_sides_are_told_the_same() {
    if tokio::time::timeout(LIMIT, acts::play()).await.is_err() {
        panic!("it did not end within {LIMIT:?}");
    }
}
