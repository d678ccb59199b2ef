//! A filter that is replaced while it is read: `arc-swap` of filters.

use super::Filter;
use arc_swap::{ArcSwap, Guard};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A place for a filter that any number of threads probe, and in which another takes its place
/// at one stroke: built beside, then published. A reader finds the old filter or the new one,
/// whole, never waits, and keeps what it has found for as long as it likes. The old filter
/// goes when its last reader is done.
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
/// Filters of any kind can be in it, and anything else: what belongs together is published
/// together, such as the filters of all shards in a `Swap<Vec<Filter>>`.
pub struct Swap<T = Filter>(ArcSwap<T>);

impl<T> Swap<T> {
    /// A place with this in it.
    pub fn new(first: impl Into<Arc<T>>) -> Swap<T> {
        Swap(ArcSwap::new(first.into()))
    }

    /// What is in it now, to be used for a short time: it costs little more than a pointer,
    /// and does not move when another takes its place. A thread that keeps several for long
    /// uses [`Swap::snapshot`].
    #[inline]
    pub fn load(&self) -> Loaded<T> {
        Loaded(self.0.load())
    }

    /// What is in it now, to be kept for as long as one likes.
    pub fn snapshot(&self) -> Arc<T> {
        self.0.load_full()
    }

    /// Puts another in its place, and returns the one that was there, which readers may have
    /// still. Who loads after this has returned finds the new one, or one that is newer.
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

/// What [`Swap::load`] has found: stays as it is, whatever is published meanwhile.
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
