//! The static lines of `layouts/static_line.rs` on the backends.
//!
//! `plain`, `neon`, `avx2` and `avx512` each answer a tile of keys by one level: which keys it contains,
//! and which it has bumped. `levels` has what they share: the bumped keys of a batch are collected,
//! and probed at the next level as a batch of its own. `one_key` answers single keys, `few_keys` a few,
//! by functions that `calls` makes of them. `build` makes filters.
//!
//! The rows and the sizes of the levels stand for k: see `rows`.

#[cfg(all(feature = "static", target_arch = "x86_64"))]
mod avx2;
#[cfg(all(feature = "static", target_arch = "x86_64"))]
mod avx512;
pub(crate) mod build;
mod bumped;
mod calls;
mod few_keys;
mod levels;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod neon;
#[cfg(not(feature = "static"))]
mod one_by_one;
mod one_key;
mod plain;
mod rows;
mod solve;
mod sort;

#[cfg(all(feature = "static", target_arch = "x86_64"))]
pub(super) type Avx2<const ROWS: u32> = levels::Levels<avx2::Avx2, ROWS>;
#[cfg(all(feature = "static", target_arch = "x86_64"))]
pub(super) type Avx512<const ROWS: u32> = levels::Levels<avx512::Avx512, ROWS>;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
pub(super) type Neon<const ROWS: u32> = levels::Levels<neon::Neon, ROWS>;
pub(super) type Plain<const ROWS: u32> = levels::Levels<plain::Plain, ROWS>;

#[cfg(not(feature = "static"))]
pub(super) use one_by_one::OneByOne;
pub(super) use rows::line_log2;
pub(crate) use rows::{pack, unpack};
