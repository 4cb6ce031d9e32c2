//! `Send`, `Sync` and `Unpin` of the public types and futures.

use informer_kube_source::{
    Deadlines, KubeEvents, KubeListWatch, KubeSource, Limits, PartialObjectMetadata, Projection,
    Representation, Transform,
};
use informer_reflector::{ListRequest, ListVersion, ListWatch, WatchRequest};
use k8s_openapi::api::core::v1::Pod;
use static_assertions::assert_impl_all;

assert_impl_all!(Deadlines: Send, Sync, Unpin, Copy);
assert_impl_all!(KubeEvents<Pod>: Send, Unpin, futures::Stream);
assert_impl_all!(KubeListWatch<Pod>: Send, Sync, Unpin, ListWatch);
assert_impl_all!(KubeSource<Pod>: Send, Sync, Unpin, Clone);
assert_impl_all!(Limits: Send, Sync, Unpin, Copy);
assert_impl_all!(PartialObjectMetadata: Send, Sync, Unpin, Clone);
assert_impl_all!(Projection: Send, Sync, Unpin, Clone);
assert_impl_all!(Representation: Send, Sync, Unpin, Copy);
assert_impl_all!(Transform<Pod>: Send, Sync, Unpin, Clone);

#[test]
fn futures_are_send() {
    fn assert_send<F: Future + Send>(_: fn(&'static KubeListWatch<Pod>) -> F) {}
    assert_send(|source| {
        let request = ListRequest::new(ListVersion::Any);
        source.list(request, std::sync::Arc::new(()))
    });
    assert_send(|source| {
        let request = WatchRequest::new("1", std::time::Duration::from_secs(300));
        source.watch(request, std::sync::Arc::new(()))
    });
}
