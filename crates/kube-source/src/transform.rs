//! A change that is applied to each decoded object.

use std::sync::Arc;

use derive_where::derive_where;

type TransformFn<T> = dyn Fn(T) -> Result<T, String> + Send + Sync;

/// Changes an object right after it was decoded, before the store and handlers receive it.
///
/// It runs once for each object received, and not for reused objects, for a deletion that no event
/// reported, or for a resync. Key, uid and version were read before, so it may drop whatever is not
/// needed. An error makes the object undecodable, which puts its key in quarantine; the error's
/// text is discarded, because it may quote the object.
///
/// Clones are the same transform: see [`is_same`](Self::is_same).
///
/// ```
/// use informer_kube_source::Transform;
///
/// let shorten = Transform::new(|mut text: String| {
///     text.truncate(3);
///     Ok(text)
/// });
/// assert_eq!(shorten.apply("abcdef".to_owned()).as_deref(), Ok("abc"));
/// ```
// TF-01, SEC-7, FM-57
#[doc(alias = "TransformFunc")]
#[doc(alias = "modify")]
#[derive_where(Clone, Debug)]
pub struct Transform<T>(#[derive_where(skip(Debug))] Arc<TransformFn<T>>);

impl<T> Transform<T> {
    /// Creates a transform. `Err` makes the object undecodable.
    pub fn new(transform: impl Fn(T) -> Result<T, String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(transform))
    }

    /// Changes one object.
    ///
    /// # Errors
    ///
    /// The text with which the transform refused the object.
    pub fn apply(&self, object: T) -> Result<T, String> {
        (self.0)(object)
    }

    /// Whether both are clones of one transform.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
