//! Which values may cross threads.

use informer_packed::{Dictionary, DictionaryError, Packed, Packer, TrainError, UnpackError};

const fn value<T: Send + Sync + Unpin + 'static>() {}

const fn copied<T: Copy + Send + Sync + Unpin + 'static>() {}

const _: () = {
    value::<(Dictionary, Packer, Packed)>();
    copied::<(DictionaryError, TrainError, UnpackError)>();
};
