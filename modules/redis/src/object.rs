//! The value of a key: a filter of some kind.

use crate::arrived::Arrived;
use crate::bloom::Chain;
use crate::cuckoo::Series;
use crate::image::{File, Header, Kind};
use crate::items::WORDS;
use crate::loading::Loading;
use crate::own::{Counting, Fixed, Growing, Timed};
use bloomline::Error;
use bloomline::hash::hash;
use std::sync::atomic::{AtomicU64, Ordering};

/// A filter of some kind, or one that is still being loaded. Small filters of the first two kinds
/// are common: what is larger has a box, so that they do not pay for its size.
pub(crate) enum Value {
    Bloom(Chain),
    Cuckoo(Series),
    Counting(Box<Counting>),
    Window(Box<Timed>),
    Static(Box<Fixed>),
    Growing(Box<Growing>),
    Loading(Box<Loading>),
}

/// A value of a key, which INFO counts.
pub(crate) struct Object {
    pub(crate) value: Value,
    /// The bytes that INFO counts for it.
    counted: usize,
    /// Those that it asked for then.
    size: usize,
}

/// What INFO says. Values may be freed in another thread.
pub(crate) static OBJECTS: AtomicU64 = AtomicU64::new(0);
/// The bytes of all of them.
pub(crate) static BYTES: AtomicU64 = AtomicU64::new(0);

impl Object {
    pub(crate) fn new(value: Value) -> Object {
        OBJECTS.fetch_add(1, Ordering::Relaxed);
        let mut object = Object { value, counted: 0, size: 0 };
        object.recount();
        object
    }

    /// Counts its bytes again: after each change that may have made it larger or smaller.
    pub(crate) fn recount(&mut self) {
        let size = self.value.size();
        if size == std::mem::replace(&mut self.size, size) {
            return;
        }
        let bytes = self.memory();
        // Wraps where it is less.
        BYTES.fetch_add((bytes as u64).wrapping_sub(self.counted as u64), Ordering::Relaxed);
        self.counted = bytes;
    }

    /// Makes this its value.
    pub(crate) fn replace(&mut self, value: Value) {
        self.value = value;
        // Another kind may ask for as much, and take more.
        self.size = 0;
        self.recount();
    }

    /// Makes it as its files have it, so that parts of them can be read one after the other. What it
    /// answers stays.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; nothing has changed.
    pub(crate) fn settle(&mut self) -> Result<(), Error> {
        if let Value::Growing(growing) = &mut self.value {
            growing.settle()?;
            self.recount();
        }
        Ok(())
    }

    /// The bytes it takes.
    pub(crate) fn memory(&self) -> usize {
        size_of::<Object>() + self.value.memory()
    }

    /// How much work it is to free it: above 64 the server does it in another thread.
    pub(crate) fn free_effort(&self) -> usize {
        1 + (self.memory() >> 16)
    }

    pub(crate) fn try_clone(&self) -> Result<Object, Error> {
        Ok(Object::new(self.value.try_clone()?))
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        OBJECTS.fetch_sub(1, Ordering::Relaxed);
        BYTES.fetch_sub(self.counted as u64, Ordering::Relaxed);
    }
}

impl Value {
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Value::Bloom(_) => Kind::Bloom,
            Value::Cuckoo(_) => Kind::Cuckoo,
            Value::Counting(_) => Kind::Counting,
            Value::Window(_) => Kind::Window,
            Value::Static(_) => Kind::Static,
            Value::Growing(_) => Kind::Growing,
            Value::Loading(_) => Kind::Loading,
        }
    }

    /// The bytes it asks for: whatever changes those it takes changes these.
    fn size(&self) -> usize {
        match self {
            Value::Bloom(chain) => chain.size(),
            Value::Cuckoo(series) => series.size(),
            Value::Counting(counting) => counting.size(),
            Value::Window(timed) => timed.size(),
            Value::Static(fixed) => fixed.size(),
            Value::Growing(growing) => growing.memory(),
            Value::Loading(loading) => size_of::<Loading>() + loading.memory(),
        }
    }

    /// The bytes it takes.
    pub(crate) fn memory(&self) -> usize {
        match self {
            Value::Bloom(chain) => chain.memory(),
            Value::Cuckoo(series) => series.memory(),
            Value::Counting(counting) => size_of::<Counting>() + counting.memory(),
            Value::Window(timed) => size_of::<Timed>() + timed.memory(),
            Value::Static(fixed) => size_of::<Fixed>() + fixed.memory(),
            Value::Growing(growing) => size_of::<Growing>() + growing.memory(),
            Value::Loading(loading) => size_of::<Loading>() + loading.memory(),
        }
    }

    pub(crate) fn try_clone(&self) -> Result<Value, Error> {
        Ok(match self {
            Value::Bloom(chain) => Value::Bloom(chain.try_clone()?),
            Value::Cuckoo(series) => Value::Cuckoo(series.try_clone()?),
            Value::Counting(counting) => Value::Counting(Box::new(counting.try_clone()?)),
            Value::Window(timed) => Value::Window(Box::new(timed.try_clone()?)),
            Value::Static(fixed) => Value::Static(Box::new(fixed.try_clone()?)),
            Value::Growing(growing) => Value::Growing(Box::new(growing.try_clone()?)),
            Value::Loading(loading) => Value::Loading(Box::new(loading.try_clone()?)),
        })
    }

    /// The seed of the hash of its items.
    pub(crate) fn seed(&self) -> u64 {
        match self {
            Value::Bloom(chain) => chain.plan.seed,
            Value::Cuckoo(series) => series.shape.seed,
            Value::Counting(counting) => counting.filter.params().seed(),
            Value::Window(timed) => timed.window.params().seed(),
            Value::Static(fixed) => fixed.filter.params().seed(),
            Value::Growing(growing) => growing.filter().seed(),
            Value::Loading(_) => 0,
        }
    }

    /// Answers up to [`BLOCK`](crate::items::BLOCK) hashes, a bit for each. What is being loaded
    /// may have every item.
    pub(crate) fn probe(&self, hashes: &[u64], words: &mut [u64; WORDS]) {
        let some = &mut words[..hashes.len().div_ceil(64)];
        match self {
            Value::Bloom(chain) => chain.probe(hashes, words),
            Value::Cuckoo(series) => series.probe(hashes, words),
            Value::Counting(counting) => {
                counting.filter.contains_hashes(hashes, some);
            }
            Value::Window(timed) => timed.probe(hashes, some),
            Value::Static(fixed) => {
                fixed.filter.contains_hashes(hashes, some);
            }
            Value::Growing(growing) => {
                growing.filter().contains_hashes(hashes, some);
            }
            Value::Loading(_) => some.fill(u64::MAX),
        }
    }

    /// Whether it may have an item. What is being loaded may have every item.
    pub(crate) fn contains(&self, item: &[u8]) -> bool {
        match self {
            Value::Bloom(chain) => chain.contains(hash(item, chain.plan.seed)),
            Value::Cuckoo(series) => series.contains(hash(item, series.shape.seed)),
            Value::Counting(counting) => counting.filter.contains(item),
            Value::Window(timed) => timed.contains(item),
            Value::Static(fixed) => fixed.filter.contains(item),
            Value::Growing(growing) => growing.filter().contains(item),
            Value::Loading(_) => true,
        }
    }

    /// Its image: what is before the files, and these, in order.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]: a growing filter that is not settled is written as a copy.
    pub(crate) fn image(&self) -> Result<(Header, Vec<File<'_>>), Error> {
        Ok(match self {
            Value::Bloom(chain) => (chain.header(), chain.files()),
            Value::Cuckoo(series) => (series.header(), series.files()),
            Value::Counting(counting) => (counting.header(), counting.files()),
            Value::Window(timed) => (timed.header(), timed.files()),
            Value::Static(fixed) => (fixed.header(), fixed.files()),
            Value::Growing(growing) => return growing.image(),
            Value::Loading(loading) => (loading.header(), loading.files()),
        })
    }

    /// The value of an image. Frees the bytes of the body as it reads them.
    pub(crate) fn from_image(header: &Header, body: &mut Arrived) -> Result<Value, Error> {
        Ok(match header.kind {
            Kind::Bloom => Value::Bloom(Chain::from_image(header, body)?),
            Kind::Cuckoo => Value::Cuckoo(Series::from_image(header, body)?),
            Kind::Counting => Value::Counting(Box::new(Counting::from_image(header, body)?)),
            Kind::Window => Value::Window(Box::new(Timed::from_image(header, body)?)),
            Kind::Static => Value::Static(Box::new(Fixed::from_image(header, body)?)),
            Kind::Growing => Value::Growing(Box::new(Growing::from_image(header, body)?)),
            Kind::Loading => Value::Loading(Box::new(Loading::from_image(header, body)?)),
        })
    }
}
