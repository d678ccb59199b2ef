//! Cuckoo filters on the backends.
//!
//! A bucket of four fingerprints is read as one 64-bit integer, whose arithmetic compares all four:
//! `integers`, for `scalar` and `portable`. A lane of a vector can do the same, so vectors do 4 or 8
//! keys at a time: `staged` has what they share. `bucket` is what all know of a bucket.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod bucket;
mod integers;
#[cfg(target_arch = "x86_64")]
mod staged;

#[cfg(target_arch = "x86_64")]
pub(super) type Avx2<const BITS: u32> = staged::Staged<avx2::Avx2, BITS>;
#[cfg(target_arch = "x86_64")]
pub(super) type Avx512<const BITS: u32 = { bucket::ANY }> = staged::Staged<avx512::Avx512, BITS>;
pub(super) use integers::Integers;
