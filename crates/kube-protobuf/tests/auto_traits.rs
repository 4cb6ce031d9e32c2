//! `Send` and `Sync` of the public types that borrow.

use informer_kube_protobuf::{Deserializer, Dropped, Envelope, Identity, ListParts, WatchEvent};

const fn assert_send_and_sync<T: Send + Sync + ?Sized>() {}

const _: () = {
    assert_send_and_sync::<Deserializer<'_>>();
    assert_send_and_sync::<&dyn Dropped>();
    assert_send_and_sync::<Envelope<'_>>();
    assert_send_and_sync::<Identity<'_>>();
    assert_send_and_sync::<ListParts<'_>>();
    assert_send_and_sync::<WatchEvent<'_>>();
};
