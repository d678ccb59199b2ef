//! Encoded filters built in caller-owned memory, for engines that own their blocks.

use crate::error::Error;
use crate::format::native;
use crate::kernel::{Hashes, Kernels};
use crate::os::numbers::HashList;
use crate::os::room::Room;
use crate::shape::Params;
use std::fmt;

/// Builds an encoded filter from the hashes of its keys, in `out`, and returns its length:
/// [`Params::encoded_len`]. The content and alignment of `out` do not matter; bytes past the filter
/// are unchanged.
///
/// # Errors
/// [`Error::BufferTooSmall`], with nothing written; [`Error::Backend`].
pub fn block_build(params: &Params, hashes: &[u64], out: &mut [u8]) -> Result<usize, Error> {
    block_build_in(params, hashes, out.into())
}

/// The same in memory that may be uninitialised.
pub(crate) fn block_build_in(
    params: &Params,
    hashes: &[u64],
    out: Room<'_>,
) -> Result<usize, Error> {
    let kernel = Kernels::active()?.of_params(*params);
    let mut out = out.first(params.encoded_len())?;
    let lines = out.put_zeros(params.bytes());
    kernel.insert_batch(lines, params.k(), Hashes::Given(hashes));
    let footer = native::footer(native::layout_of(*params), *params, hashes.len() as u64);
    let footer = footer.seal(crate::hash::hash(lines, 0));
    out.put(&footer);
    Ok(out.written().len())
}

/// Inserts many hashes into caller-owned lines: the first [`Params::bytes`] of `lines`. Zero them
/// before the first insert.
///
/// # Errors
/// [`Error::BufferTooSmall`], with nothing inserted; [`Error::Backend`].
pub fn lines_insert(params: &Params, hashes: &[u64], lines: &mut [u8]) -> Result<(), Error> {
    let kernel = Kernels::active()?.of_params(*params);
    let too_small = Error::BufferTooSmall { needed: params.bytes(), given: lines.len() };
    let lines = lines.get_mut(..params.bytes()).ok_or(too_small)?;
    kernel.insert_batch(lines, params.k(), Hashes::Given(hashes));
    Ok(())
}

/// Adds all keys of the lines `from` to caller-owned `lines` of the same parameters: the first
/// [`Params::bytes`] of each.
///
/// # Errors
/// [`Error::BufferTooSmall`], with nothing changed.
pub fn lines_union(params: &Params, from: &[u8], lines: &mut [u8]) -> Result<(), Error> {
    combine(params, from, lines, |byte, from| *byte |= from)
}

/// Keeps what caller-owned `lines` and the lines `from` of the same parameters have both: see
/// [`Filter::intersect`](crate::Filter::intersect).
///
/// # Errors
/// [`Error::BufferTooSmall`], with nothing changed.
pub fn lines_intersect(params: &Params, from: &[u8], lines: &mut [u8]) -> Result<(), Error> {
    combine(params, from, lines, |byte, from| *byte &= from)
}

fn combine(
    params: &Params,
    from: &[u8],
    lines: &mut [u8],
    each: impl Fn(&mut u8, u8),
) -> Result<(), Error> {
    let needed = params.bytes();
    let too_small = |given| Error::BufferTooSmall { needed, given };
    let from = from.get(..needed).ok_or(too_small(from.len()))?;
    let given = lines.len();
    let lines = lines.get_mut(..needed).ok_or(too_small(given))?;
    lines.iter_mut().zip(from).for_each(|(byte, &from)| each(byte, from));
    Ok(())
}

/// The hashes of keys that a builder has collected.
#[derive(Clone)]
pub(super) struct Collected {
    pub(super) seed: u64,
    pub(super) hashes: HashList,
    /// The two different hashes that were added last, the newest first. An engine may add whole keys
    /// and their prefixes by turns: then what repeats is not the last one.
    latest: [u64; 2],
}

impl Collected {
    pub(super) fn new(seed: u64) -> Collected {
        Collected { seed, hashes: HashList::new(), latest: [0; 2] }
    }

    #[inline]
    pub(super) fn add(&mut self, hash: u64) -> Result<(), Error> {
        let [last, before] = self.latest;
        if self.hashes.is_empty() {
            self.hashes.push(hash)?;
            self.latest = [hash; 2];
        } else if hash != last {
            if hash != before {
                self.hashes.push(hash)?;
            }
            self.latest = [hash, last];
        }
        Ok(())
    }
}

/// Gives a builder the methods that add keys to its `collected`.
macro_rules! collecting {
    ($kind:ident) => {
        /// Adding keys.
        impl $kind {
            /// Adds a key. A key that equals one of the last two different keys is not added again. So you
            /// may add to each of many sorted keys its prefix, too, before or after it: a repeated prefix
            /// counts once.
            ///
            /// # Errors
            /// [`Error::OutOfMemory`](crate::Error::OutOfMemory), and the key is not added.
            #[inline]
            pub fn add<K: $crate::key::Key + ?Sized>(
                &mut self,
                key: &K,
            ) -> Result<(), $crate::error::Error> {
                self.add_hash($crate::hash::hash(key, self.collected.seed))
            }

            /// Adds the hash of a key. A hash that equals one of the last two different hashes is not added
            /// again.
            ///
            /// # Errors
            /// [`Error::OutOfMemory`](crate::Error::OutOfMemory), and the hash is not added.
            #[inline]
            pub fn add_hash(&mut self, hash: u64) -> Result<(), $crate::error::Error> {
                self.collected.add(hash)
            }

            /// Adds many hashes, each as [`add_hash`](Self::add_hash) does.
            ///
            /// # Errors
            /// [`Error::OutOfMemory`](crate::Error::OutOfMemory), and none is added.
            pub fn add_hashes(&mut self, hashes: &[u64]) -> Result<(), $crate::error::Error> {
                self.collected.hashes.reserve(hashes.len())?;
                hashes.iter().try_for_each(|&hash| self.add_hash(hash))
            }

            /// Adds many keys, each as [`add`](Self::add) does.
            ///
            /// # Errors
            /// [`Error::OutOfMemory`](crate::Error::OutOfMemory), and none is added.
            pub fn add_keys<K: $crate::key::Key>(
                &mut self,
                keys: &[K],
            ) -> Result<(), $crate::error::Error> {
                self.collected.hashes.reserve(keys.len())?;
                keys.iter().try_for_each(|key| self.add(key))
            }

            /// Returns the builder with these keys added, each as [`add`](Self::add) does.
            ///
            /// # Errors
            /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
            pub fn with_keys<K: $crate::key::Key>(
                mut self,
                keys: impl IntoIterator<Item = K>,
            ) -> Result<Self, $crate::error::Error> {
                keys.into_iter().try_for_each(|key| self.add(&key))?;
                Ok(self)
            }

            /// Drops the keys added since the last block, and keeps their memory.
            pub fn clear(&mut self) {
                self.collected.hashes.clear();
            }

            /// Returns the number of keys added since the last block, without the repetitions that
            /// [`add`](Self::add) leaves out.
            pub fn key_count(&self) -> u64 {
                self.collected.hashes.len() as u64
            }
        }
    };
}
pub(super) use collecting;

/// Collects keys and builds an encoded filter once their number is known. It keeps 8 bytes per key.
///
/// ```
/// let mut builder = bloomline::Builder::for_rate(0.01, 0)?; // the seed of the hash: 0
/// for name in ["apple", "pear"] {
///     builder.add(name)?;
/// }
/// let bytes = builder.finish_vec()?;
/// assert!(bloomline::View::open(&bytes)?.contains("pear"));
/// # Ok::<(), bloomline::Error>(())
/// ```
#[derive(Clone)]
pub struct Builder {
    size: Size,
    collected: Collected,
}

/// What the filters of a builder are sized by.
#[derive(Clone, Copy, Debug)]
enum Size {
    BitsPerKey(f64),
    Rate(f64),
}

impl Size {
    fn params(self, keys: u64) -> Result<Params, Error> {
        match self {
            Size::BitsPerKey(bits) => Params::for_bits(keys, bits),
            Size::Rate(rate) => Params::for_rate(keys, rate),
        }
    }
}

impl Builder {
    /// Creates a builder of filters of `bits_per_key` bits per key, whose byte keys are hashed with
    /// `seed`.
    ///
    /// # Errors
    /// [`Error::BitsPerKey`] if the bits are not a positive finite number.
    pub fn new(bits_per_key: f64, seed: u64) -> Result<Builder, Error> {
        Builder::with_size(Size::BitsPerKey(bits_per_key), seed)
    }

    /// Creates a builder of filters of that false-positive rate, whose byte keys are hashed with `seed`.
    ///
    /// # Errors
    /// [`Error::Rate`] unless the rate is between 0 and 1; [`Error::RateTooSmall`].
    pub fn for_rate(rate: f64, seed: u64) -> Result<Builder, Error> {
        Builder::with_size(Size::Rate(rate), seed)
    }

    fn with_size(size: Size, seed: u64) -> Result<Builder, Error> {
        size.params(1)?;
        Ok(Builder { size, collected: Collected::new(seed) })
    }

    /// Returns the parameters of the filter that `finish` would build now.
    ///
    /// # Errors
    /// [`Error::LineCount`] if memory cannot address its size.
    pub fn params(&self) -> Result<Params, Error> {
        Ok(self.size.params(self.key_count())?.with_seed(self.collected.seed))
    }

    /// Returns the length of what `finish` would write now.
    ///
    /// # Errors
    /// As [`Builder::params`].
    pub fn block_len(&self) -> Result<usize, Error> {
        Ok(self.params()?.encoded_len())
    }

    /// Builds the filter of all keys added into `out` and returns its length. Then
    /// the builder is empty, ready for the next block, and keeps its memory.
    ///
    /// # Errors
    /// As [`block_build`] and [`Builder::params`]; the keys are kept.
    pub fn finish(&mut self, out: &mut [u8]) -> Result<usize, Error> {
        self.finish_in(out.into())
    }

    /// As [`Builder::finish`], into memory of its own.
    ///
    /// # Errors
    /// As [`Builder::params`]; [`Error::OutOfMemory`]; [`Error::Backend`]; the keys are kept.
    pub fn finish_vec(&mut self) -> Result<Vec<u8>, Error> {
        let len = self.block_len()?;
        let mut block = Vec::new();
        block.try_reserve_exact(len).map_err(|_| Error::OutOfMemory)?;
        block.resize(len, 0);
        self.finish(&mut block)?;
        Ok(block)
    }

    /// The same in memory that may be uninitialised.
    pub(crate) fn finish_in(&mut self, out: Room<'_>) -> Result<usize, Error> {
        let len = block_build_in(&self.params()?, &self.collected.hashes, out)?;
        self.clear();
        Ok(len)
    }
}

collecting!(Builder);

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("keys", &self.key_count())
            .field("size", &self.size)
            .finish_non_exhaustive()
    }
}
