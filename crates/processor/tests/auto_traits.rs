//! Which handles may cross and be shared between threads. Keys and objects are `Send + Sync`.

use std::panic::{RefUnwindSafe, UnwindSafe};

use informer_processor::{
    AddError, Callbacks, Cause, Deleted, EventStream, Filtered, Joining, ListenerConfig,
    ListenerId, ListenerPhase, ListenerReport, ListenerStatus, NeverSynced, NotDelivered,
    Notification, Overflow, Processor, ProcessorConfig, Registration, RemoveError, Replay,
    ResyncReason, ResyncTerms, StopReport,
};
use static_assertions::{assert_impl_all, assert_not_impl_any};

type K = String;
type T = u32;

assert_impl_all!(Processor<K, T>: Send, Sync, Unpin, Clone);
assert_impl_all!(Joining<K, T>: Send, Sync, Unpin);
assert_impl_all!(Registration: Send, Sync, Unpin, Clone);
assert_impl_all!(EventStream<K, T>: Send, Unpin, futures::Stream);
assert_impl_all!(Replay<K, T>: Send, Unpin, Iterator);
assert_impl_all!(Callbacks<K, T>: Send, Unpin);
assert_impl_all!(Filtered<Callbacks<K, T>, fn(&T) -> bool>: Send, Unpin);
assert_impl_all!(Notification<K, T>: Send, Sync, Unpin, Clone, UnwindSafe, RefUnwindSafe);
assert_impl_all!(Deleted<K, T>: Send, Sync, Unpin, Clone);
assert_impl_all!(Cause: Send, Sync, Unpin, Copy);
assert_impl_all!(Overflow: Send, Sync, Unpin, Copy);
assert_impl_all!(ListenerConfig: Send, Sync, Unpin, Clone);
assert_impl_all!(ProcessorConfig: Send, Sync, Unpin, Copy);
assert_impl_all!(ListenerStatus: Send, Sync, Unpin, Clone);
assert_impl_all!(ListenerReport: Send, Sync, Unpin, Clone);
assert_impl_all!(StopReport: Send, Sync, Unpin, Clone);
assert_impl_all!(ListenerId: Send, Sync, Unpin, Copy);
assert_impl_all!(ListenerPhase: Send, Sync, Unpin, Copy);
assert_impl_all!(ResyncTerms: Send, Sync, Unpin, Copy);
assert_impl_all!(ResyncReason: Send, Sync, Unpin, Copy);
assert_impl_all!(AddError: Send, Sync, Unpin, std::error::Error);
assert_impl_all!(RemoveError: Send, Sync, Unpin, std::error::Error);
assert_impl_all!(NeverSynced: Send, Sync, Unpin, std::error::Error);
assert_impl_all!(NotDelivered: Send, Sync, Unpin, std::error::Error);

// One begins, one reads: a second handle would be a second listener.
assert_not_impl_any!(Joining<K, T>: Clone);
assert_not_impl_any!(EventStream<K, T>: Clone);
// Pulled by its one consumer, so it need not be shared.
assert_not_impl_any!(Replay<K, T>: Sync, Clone);

fn assert_send<F: Send>(_future: &F) {}

/// The futures may be awaited in tasks that move between threads.
#[test]
fn futures_are_send() {
    let processor: Processor<K, T> = Processor::default();
    assert_send(&processor.stop(std::time::Duration::ZERO));
    let (joining, _stream) = processor
        .add_stream(ListenerConfig::default())
        .expect("running");
    let handle = joining.begin(0, Replay::empty());
    assert_send(&handle.wait_synced());
    assert_send(&handle.wait_delivered());
    assert_send(&handle.remove());
}
