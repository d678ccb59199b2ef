//! A filter that is replaced while it is read: `arc-swap` of filters.

use super::Filter;
use super::probe::{Probe, pointers};
use crate::bitmap::Answers;
use crate::key::Key;
use arc_swap::{ArcSwap, Guard};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// Holds a filter that any number of threads probe, and replaces it atomically by one built beside
/// it. A reader gets the whole old or the whole new filter, never waits, and may keep it for any
/// time. The old filter is dropped with its last reader.
///
/// ```
/// use bloomline::{Filter, Params, Swap};
///
/// let build = |keys: &[&str]| {
///     let mut filter = Filter::new(Params::for_rate(keys.len() as u64, 0.01)?)?;
///     filter.insert_keys(keys);
///     Ok::<Filter, bloomline::Error>(filter)
/// };
/// let current = Swap::new(build(&["apple"])?);
/// std::thread::scope(|scope| {
///     scope.spawn(|| {
///         let filter = current.load(); // one filter for as many questions as are asked of it
///         assert!(filter.contains(b"apple"));
///     });
///     // Meanwhile, and as long as it may take, the next one is made; then it is there.
///     let next = build(&["apple", "pear"])?;
///     current.publish(next);
///     assert!(current.load().contains(b"pear"));
///     Ok::<(), bloomline::Error>(())
/// })?;
/// # Ok::<(), bloomline::Error>(())
/// ```
///
/// It can hold a filter of any type, and anything else: publish together what belongs together,
/// such as the filters of all shards in a `Swap<Vec<Filter>>`.
pub struct Swap<T = Filter>(ArcSwap<T>);

impl<T> Swap<T> {
    /// Creates a place with this value.
    pub fn new(first: impl Into<Arc<T>>) -> Swap<T> {
        Swap(ArcSwap::new(first.into()))
    }

    /// Returns the current value, for a short time. It costs little more than a pointer, and
    /// publishing does not affect it. To keep several for long, use [`Swap::snapshot`].
    #[inline]
    pub fn load(&self) -> Loaded<T> {
        Loaded(self.0.load())
    }

    /// Returns the current value, to keep for any time.
    pub fn snapshot(&self) -> Arc<T> {
        self.0.load_full()
    }

    /// Replaces the value, and returns the old one, which readers may still use. Loads after this
    /// call return the new value, or a newer one.
    pub fn publish(&self, next: impl Into<Arc<T>>) -> Arc<T> {
        self.0.swap(next.into())
    }
}

impl<T: fmt::Debug> fmt::Debug for Swap<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Swap").field(&*self.load()).finish()
    }
}

/// A place of its own, with what is in this one now.
impl<T> Clone for Swap<T> {
    fn clone(&self) -> Swap<T> {
        Swap::new(self.snapshot())
    }
}

/// The value that [`Swap::load`] returned. Publishing does not affect it.
///
/// ```
/// use bloomline::{Filter, Swap};
///
/// let swap = Swap::new(Filter::from_keys(["apple"], 0.01)?);
/// let old = swap.load();
/// swap.publish(Filter::from_keys(["pear"], 0.01)?);
/// assert!(old.contains("apple")); // unchanged for as long as it is kept
/// # Ok::<(), bloomline::Error>(())
/// ```
pub struct Loaded<T>(Guard<Arc<T>>);

impl<T> Clone for Loaded<T> {
    fn clone(&self) -> Loaded<T> {
        Loaded(Guard::from_inner(Arc::clone(&self.0)))
    }
}

impl<T: fmt::Debug> fmt::Debug for Loaded<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T> Deref for Loaded<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

// A `Swap` itself is not probed: between a key's hash and the probe the filter could be replaced by
// one of another seed, which would be a false negative.
pointers!([P: Probe] Loaded<P>);
