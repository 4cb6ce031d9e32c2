//! When informers noticed that something is wrong.

use std::time::Duration;

use informer_factory::SharedInformer;
use informer_factory::reflector::Phase;
use kube_core::DynamicObject;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::Instant;

/// Between two looks at the status.
const LOOK: Duration = Duration::from_millis(10);

/// Looks at sources that watch at present, until the last of them has left that watch.
pub(crate) struct Notice {
    task: JoinHandle<Duration>,
}

impl Notice {
    pub(crate) fn of(informers: impl IntoIterator<Item = SharedInformer<DynamicObject>>) -> Self {
        let start = Instant::now();
        let mut looks = JoinSet::new();
        for informer in informers {
            for number in 0..informer.status().sources.len() {
                looks.spawn(left(informer.clone(), number));
            }
        }
        Self {
            task: tokio::spawn(async move {
                looks.join_all().await;
                start.elapsed()
            }),
        }
    }

    /// How long it took, if it has happened.
    pub(crate) async fn taken(self) -> Option<Duration> {
        let taken = self.task.is_finished();
        let Self { task } = self;
        if !taken {
            task.abort();
        }
        task.await.ok()
    }
}

async fn left(informer: SharedInformer<DynamicObject>, number: usize) {
    let mut before = None;
    loop {
        let status = informer.status();
        let Some(source) = status.sources.get(number) else {
            return;
        };
        let watch = (source.lists, source.watches);
        if source.phase != Phase::Watching || *before.get_or_insert(watch) != watch {
            return;
        }
        tokio::time::sleep(LOOK).await;
    }
}
