//! Which values may cross threads.

use informer_object::{Identity, KeyError, ObjectKey, ResourceVersion, Uid};

const fn value<T: Clone + Send + Sync + Unpin + 'static>() {}

const _: () = {
    value::<(ObjectKey, Uid, ResourceVersion)>();
    value::<(Identity, KeyError)>();
};
