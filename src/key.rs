//! What a key may be: bytes, text, or an integer.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
#[cfg(unix)]
use std::os::unix::ffi::OsStrExt;
use std::rc::Rc;
use std::sync::Arc;

/// A key: anything whose bytes are the same in every program and on every CPU.
///
/// | key | its bytes |
/// |---|---|
/// | `[u8]`, `[u8; N]`, `Vec<u8>` | as they are |
/// | `str`, `String` | UTF-8 |
/// | `u8` to `u128`, `i8` to `i128` | little-endian, as many as the type has |
/// | `Ipv4Addr`, `Ipv6Addr`, `IpAddr` | 4 or 16, the network's order |
/// | `Path`, `PathBuf`, `OsStr`, `OsString`, on Unix | as the system has them |
/// | `&K`, `Box<K>`, `Rc<K>`, `Arc<K>`, `Cow<K>` | those of `K` |
///
/// Keys with equal bytes are the same key: `"ab"`, `b"ab"` and `0x6261_u16` are one. An integer is
/// another key in another type, so give literals their type: `42u64`. `usize` and `isize` are no
/// keys, since their bytes differ between machines.
///
/// The trait is sealed. For a type of your own, pass its bytes, such as `uuid.as_bytes()`. Or pass its
/// hash to the methods that take hashes: [`hash_value`](crate::hash::hash_value) hashes whatever
/// implements [`Hash`](std::hash::Hash).
///
/// ```
/// use bloomline::{Filter, Params};
///
/// let mut filter = Filter::new(Params::for_rate(1000, 0.01)?)?;
/// filter.insert("apple");
/// filter.insert(&42u64);
/// filter.insert(&[192u8, 168, 0, 1]);
/// assert!(filter.contains(&String::from("apple")) && filter.contains(b"apple"));
/// assert!(filter.contains(&42u64.to_le_bytes()));
/// # Ok::<(), bloomline::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the key of a filter",
    label = "not bytes, text, or an integer of a fixed width",
    note = "`usize` and `isize` differ between machines: pass a `u64`, as in `&(n as u64)`",
    note = "for a type of your own pass its bytes, or `hash::hash_value(&key, seed)` to a method that takes hashes"
)]
pub trait Key: KeyBytes {}

impl<K: KeyBytes + ?Sized> Key for K {}

/// What seals [`Key`]: nobody outside can name it.
pub trait KeyBytes {
    /// The bytes that are hashed.
    fn key_bytes(&self) -> impl AsRef<[u8]>;

    /// Where the bytes begin, if that is not in the key itself: a batch prefetches them.
    #[inline(always)]
    fn elsewhere(&self) -> Option<*const u8> {
        None
    }

    /// The keys as integers that are hashed several at once, if they are such.
    #[inline(always)]
    fn integers(_keys: &[Self]) -> Option<Integers<'_>>
    where
        Self: Sized,
    {
        None
    }
}

/// Keys that are integers of 4 or 8 bytes.
#[derive(Clone, Copy)]
pub enum Integers<'a> {
    U32(&'a [u32]),
    I32(&'a [i32]),
    U64(&'a [u64]),
    I64(&'a [i64]),
}

macro_rules! bytes {
    ($($key:ty),+) => {$(
        impl KeyBytes for $key {
            #[inline(always)]
            fn key_bytes(&self) -> impl AsRef<[u8]> {
                AsRef::<[u8]>::as_ref(self)
            }

            #[inline(always)]
            fn elsewhere(&self) -> Option<*const u8> {
                Some(self.as_ptr())
            }
        }
    )+};
}

bytes!([u8], str, String, Vec<u8>);

impl<const N: usize> KeyBytes for [u8; N] {
    #[inline(always)]
    fn key_bytes(&self) -> impl AsRef<[u8]> {
        self.as_slice()
    }
}

macro_rules! integers {
    ($($key:ty $(as $variant:ident)?),+) => {$(
        impl KeyBytes for $key {
            #[inline(always)]
            fn key_bytes(&self) -> impl AsRef<[u8]> {
                self.to_le_bytes()
            }

            $(
                #[inline(always)]
                fn integers(keys: &[Self]) -> Option<Integers<'_>> {
                    Some(Integers::$variant(keys))
                }
            )?
        }
    )+};
}

integers!(u8, u16, u32 as U32, u64 as U64, u128, i8, i16, i32 as I32, i64 as I64, i128);

macro_rules! addresses {
    ($($key:ty),+) => {$(
        impl KeyBytes for $key {
            #[inline(always)]
            fn key_bytes(&self) -> impl AsRef<[u8]> {
                self.octets()
            }
        }
    )+};
}

addresses!(Ipv4Addr, Ipv6Addr);

impl KeyBytes for IpAddr {
    fn key_bytes(&self) -> impl AsRef<[u8]> {
        /// The bytes of either.
        struct Octets([u8; 16], usize);

        impl AsRef<[u8]> for Octets {
            fn as_ref(&self) -> &[u8] {
                &self.0[..self.1]
            }
        }

        match self {
            IpAddr::V4(address) => {
                let mut octets = [0; 16];
                octets[..4].copy_from_slice(&address.octets());
                Octets(octets, 4)
            }
            IpAddr::V6(address) => Octets(address.octets(), 16),
        }
    }
}

#[cfg(unix)]
macro_rules! paths {
    ($($key:ty),+) => {$(
        impl KeyBytes for $key {
            #[inline(always)]
            fn key_bytes(&self) -> impl AsRef<[u8]> {
                AsRef::<std::ffi::OsStr>::as_ref(self).as_bytes()
            }

            #[inline(always)]
            fn elsewhere(&self) -> Option<*const u8> {
                Some(AsRef::<std::ffi::OsStr>::as_ref(self).as_bytes().as_ptr())
            }
        }
    )+};
}

#[cfg(unix)]
paths!(std::path::Path, std::path::PathBuf, std::ffi::OsStr, std::ffi::OsString);

macro_rules! pointers {
    ($([$($generics:tt)*] $key:ty),+) => {$(
        impl<$($generics)*> KeyBytes for $key {
            #[inline(always)]
            fn key_bytes(&self) -> impl AsRef<[u8]> {
                (**self).key_bytes()
            }

            #[inline(always)]
            fn elsewhere(&self) -> Option<*const u8> {
                (**self).elsewhere().or(Some(std::ptr::from_ref(&**self).cast()))
            }
        }
    )+};
}

pointers!(
    [K: KeyBytes + ?Sized] &K,
    [K: KeyBytes + ?Sized] Box<K>,
    [K: KeyBytes + ?Sized] Rc<K>,
    [K: KeyBytes + ?Sized] Arc<K>,
    [K: KeyBytes + ToOwned + ?Sized] Cow<'_, K>
);
