//! Every handle can go where tokio programs need it.

use informer_factory::{
    ChangeConsumer, ChangeConsumerHandle, FactoryBuilder, FromOwnCallback, Grace, Index,
    InformerError, InformerOptions, InformerStatus, Lister, NotSynced, Registration,
    SharedInformer, SharedInformerFactory, ShutdownReport, StartError, StoreReader, Transform,
    WaitForVersionError,
};
use k8s_openapi::api::core::v1::Pod;

const fn send_sync<T: Send + Sync>() {}
const fn send<T: Send>() {}
const fn cloneable<T: Clone>() {}

const _: () = {
    send_sync::<SharedInformerFactory>();
    cloneable::<SharedInformerFactory>();
    send_sync::<SharedInformer<Pod>>();
    cloneable::<SharedInformer<Pod>>();
    send_sync::<StoreReader<Pod>>();
    send_sync::<Lister<Pod>>();
    send_sync::<Index<Pod>>();
    send_sync::<Registration>();
    send_sync::<ChangeConsumer<Pod>>();
    send_sync::<ChangeConsumerHandle<Pod>>();
    send::<FactoryBuilder>();
    send_sync::<InformerOptions<Pod>>();
    send_sync::<Transform<Pod>>();
    send_sync::<InformerStatus>();
    send_sync::<ShutdownReport>();
    send_sync::<Grace>();
    send_sync::<NotSynced>();
    send_sync::<InformerError>();
    send_sync::<StartError>();
    send_sync::<FromOwnCallback>();
    send_sync::<WaitForVersionError>();
};

/// A writer in two places would be two truths: the reading half is all the facade gives away, and
/// what waits can be spawned.
#[test]
fn futures_of_the_facade_can_be_spawned() {
    fn spawnable(_: impl Future + Send) {}
    fn check(factory: &SharedInformerFactory, pods: &SharedInformer<Pod>) {
        spawnable(factory.wait_synced(std::time::Duration::ZERO));
        spawnable(factory.shutdown(Grace::none()));
        spawnable(factory.release(pods, Grace::none()));
        spawnable(pods.wait_synced(std::time::Duration::ZERO));
        spawnable(pods.shutdown(Grace::none()));
        spawnable(pods.remove_namespace("x"));
    }
    let _ = check;
}
