//! The shape of a filter: its size, k, layout and seed.

use super::boundary::*;
use super::status::{BLOOMLINE_ERR_LAYOUT, BLOOMLINE_ERR_RESERVED};
use crate::{CuckooParams, Error, Kind, Params, View};

/// The size and shape of a filter. Made by bloomline_params_for_rate() or
/// bloomline_params_for_bits(), or filled in by hand; every function checks it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct bloomline_params {
    /// How many lines of 64 bytes, at least 1.
    pub line_count: u64,
    /// How many bits a key sets, 1 to 16.
    pub k: u32,
    /// Where these bits are. 0: in one line. BLOOMLINE_KIND_CLASSIC: anywhere in all lines, a
    /// standard Bloom filter; bloomline_classic_params_for_rate() says when.
    pub layout: u32,
    /// The seed of the hash of keys: any number. bloomline_params_for_rate() and
    /// bloomline_params_for_bits() set it to 0. If an attacker can choose keys, take it from
    /// bloomline_random_seed() and keep it secret.
    pub seed: u64,
}

/// The layout of a standard Bloom filter.
const CLASSIC: u32 = Kind::Classic as u32;

impl bloomline_params {
    pub(super) fn check(&self) -> Result<Params, Failure> {
        let new = match self.layout {
            0 => Params::new,
            CLASSIC => Params::classic,
            _ => return Err(Failure(BLOOMLINE_ERR_LAYOUT)),
        };
        // All zeros are those of a call that failed, or that was not made: not k is wrong then.
        if self.line_count == 0 {
            return Err(Error::NoLines.into());
        }
        Ok(new(self.line_count, self.k, self.seed)?)
    }

    /// The shape of a view's filter.
    pub(super) fn of_view(view: &View<'_>) -> Option<bloomline_params> {
        let of = |layout: Kind, line_count, k, seed| {
            Some(bloomline_params { line_count, k, layout: layout as u32, seed })
        };
        if let Some(cuckoo) = view.cuckoo_params() {
            let bits = cuckoo.fingerprint_bits();
            return of(Kind::Cuckoo, cuckoo.line_count(), bits, cuckoo.seed());
        }
        if let Some(fixed) = view.static_params() {
            return of(Kind::Static, fixed.line_count(), fixed.rows(), fixed.seed());
        }
        view.params().map(Into::into)
    }
}

impl From<Params> for bloomline_params {
    fn from(params: Params) -> bloomline_params {
        bloomline_params {
            line_count: params.line_count(),
            k: params.k(),
            layout: if params.is_classic() { CLASSIC } else { 0 },
            seed: params.seed(),
        }
    }
}

/// The size and shape of a cuckoo filter. Made by bloomline_cuckoo_params_for_rate(), or filled in
/// by hand; every function checks it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct bloomline_cuckoo_params {
    /// How many lines of 64 bytes, 1 to 2^32 - 1.
    pub line_count: u64,
    /// Bits kept of each key: 8 (64 slots per line, 2.95 % false positives), 12 (40, 0.186 %) or 16
    /// (32, 0.0116 %).
    pub fingerprint_bits: u32,
    /// Must be 0.
    pub reserved: u32,
    /// The seed of the hash of keys. If an attacker can choose keys, take it from
    /// bloomline_random_seed() and keep it secret: with a known seed one can choose nine keys that
    /// share 8 slots, so the ninth fails as full in a filter of any size.
    pub seed: u64,
}

impl bloomline_cuckoo_params {
    pub(super) fn check(&self) -> Result<CuckooParams, Failure> {
        if self.reserved != 0 {
            return Err(Failure(BLOOMLINE_ERR_RESERVED));
        }
        // As in bloomline_params: all zeros are those of a call that failed.
        if self.line_count == 0 {
            return Err(Error::NoLines.into());
        }
        Ok(CuckooParams::new(self.line_count, self.fingerprint_bits, self.seed)?)
    }
}

impl From<CuckooParams> for bloomline_cuckoo_params {
    fn from(params: CuckooParams) -> bloomline_cuckoo_params {
        bloomline_cuckoo_params {
            line_count: params.line_count(),
            fingerprint_bits: params.fingerprint_bits(),
            reserved: 0,
            seed: params.seed(),
        }
    }
}

/// The parameters that C points at, checked.
///
/// # Safety
/// `params` is NULL or points at a live `bloomline_params`.
pub(super) unsafe fn checked(params: *const bloomline_params) -> Result<Params, Failure> {
    // SAFETY: the same contract.
    unsafe { required(params) }?.check()
}

/// Writes the parameters that `make` gives.
///
/// # Safety
/// `out` is NULL or points at room for a `bloomline_params`.
unsafe fn write(
    out: *mut bloomline_params,
    make: impl FnOnce() -> Result<Params, Error>,
) -> bloomline_status {
    // SAFETY: the same contract.
    unsafe { write_result(&(), out, |()| Ok(make()?.into())) }
}

exports! {
/// bloomline_params_for_rate() writes to 'out' the smallest filter for 'keys' keys at a
/// false-positive rate of 'rate' (0.01 is 1 %), and the k that suits it. 'rate' is between 0 and 1,
/// both excluded. 1 % takes about 9.9 bits per key, a little more than a standard Bloom filter.
/// bloomline_params_for_bits() writes a filter of 'bits_per_key' bits for each key, which may be a
/// fraction. It takes the k with the lowest false-positive rate at that size. 0 keys take one line.
///
/// bloomline_params_for_rate_within() does the same as bloomline_params_for_rate(), but the filter
/// takes at most 'bytes' bytes of lines (or one line). If 'rate' needs more, the filter takes all
/// of these bytes, and the k that is best for them. bloomline_params_rate() then returns the rate,
/// by which you decide whether the filter is worth its probes.
///
/// Errors: BLOOMLINE_ERR_RATE, BLOOMLINE_ERR_RATE_TOO_SMALL, BLOOMLINE_ERR_BITS_PER_KEY;
/// BLOOMLINE_ERR_LINE_COUNT if it would not fit in memory.
fn bloomline_params_for_rate(keys: u64, rate: f64, out: *mut bloomline_params) -> bloomline_status {
    write(out, || Params::for_rate(keys, rate))
}
fn bloomline_params_for_bits(
    keys: u64, bits_per_key: f64, out: *mut bloomline_params,
) -> bloomline_status {
    write(out, || Params::for_bits(keys, bits_per_key))
}
fn bloomline_params_for_rate_within(
    keys: u64, rate: f64, bytes: usize, out: *mut bloomline_params,
) -> bloomline_status {
    write(out, || Params::for_rate_within(keys, rate, bytes))
}

/// bloomline_classic_params_for_rate() and bloomline_classic_params_for_bits() do the same for a
/// standard Bloom filter. Its 'layout' is BLOOMLINE_KIND_CLASSIC: one array of 'line_count' * 64
/// bytes, in which a key sets k bits anywhere. 1 % takes 9.6 bits per key instead of 9.9; 10 bits
/// per key give 0.82 % instead of 0.97 %. But a probe reads up to k cache lines, and is several
/// times slower.
///
/// All functions of bloomline_filter, bloomline_concurrent, bloomline_concurrent_builder and
/// caller-owned lines accept these parameters, but folding returns BLOOMLINE_ERR_CLASSIC. So does a
/// function that makes another kind of filter of them.
fn bloomline_classic_params_for_rate(
    keys: u64, rate: f64, out: *mut bloomline_params,
) -> bloomline_status {
    write(out, || Params::classic_for_rate(keys, rate))
}
fn bloomline_classic_params_for_bits(
    keys: u64, bits_per_key: f64, out: *mut bloomline_params,
) -> bloomline_status {
    write(out, || Params::classic_for_bits(keys, bits_per_key))
}

/// bloomline_params_foldable() rounds the line count up to a multiple of 2 to the power 'folds', so
/// that bloomline_filter_fold() can halve the filter 'folds' times. For keys that cannot be counted
/// beforehand: size the filter for too many, then fold it.
///
/// bloomline_params_foldable_to() makes 'params' those of a filter that can be a column of a
/// bloomline_matrix of 'shape'. They get its k and seed. Their line count is that of 'shape' times
/// the smallest power of two that gives no fewer lines than 'params' has. A column is the filter,
/// folded to the line count of 'shape', which leaves fewer bits per key. So let 'shape' be that of
/// the largest column.
///
/// Errors: BLOOMLINE_ERR_LINE_COUNT if it would not fit in memory, BLOOMLINE_ERR_K and
/// BLOOMLINE_ERR_LAYOUT; BLOOMLINE_ERR_CLASSIC if 'shape' is that of a standard Bloom filter.
/// 'params' is unchanged.
fn bloomline_params_foldable(params: *mut bloomline_params, folds: u32) -> bloomline_status {
    change(params, |params| {
        *params = params.check()?.foldable(folds)?.into();
        Ok(())
    })
}
fn bloomline_params_foldable_to(
    params: *mut bloomline_params, shape: *const bloomline_params,
) -> bloomline_status {
    change(params, |params| {
        let shape = checked(shape)?;
        if shape.is_classic() {
            return Err(Error::Classic.into());
        }
        *params = params.check()?.foldable_to(shape)?.into();
        Ok(())
    })
}

/// bloomline_params_rate() returns the expected false-positive rate, from 0 to 1, of a filter of
/// these parameters with 'keys' different keys. It models the lines, for which the standard formula
/// is too low; of a standard Bloom filter it is that formula. Returns 1 if 'params' is NULL or out
/// of range.
fn bloomline_params_rate(params: *const bloomline_params, keys: u64) -> f64 {
    guard_or(1.0, || checked(params).map_or(1.0, |params| params.rate(keys)))
}

/// bloomline_cuckoo_params_for_rate() writes to 'out' the smallest cuckoo filter for 'keys' keys
/// with a false-positive rate of at most 'rate' (0.01 is 1 %) when all are present. 'rate' is at
/// least 0.000116, and less than 1. The seed is 0.
///
/// Errors: BLOOMLINE_ERR_RATE, BLOOMLINE_ERR_RATE_TOO_SMALL, BLOOMLINE_ERR_LINE_COUNT if it would
/// be too large.
fn bloomline_cuckoo_params_for_rate(
    keys: u64, rate: f64, out: *mut bloomline_cuckoo_params,
) -> bloomline_status {
    write_result(&(), out, |()| Ok(CuckooParams::for_rate(keys, rate)?.into()))
}

/// bloomline_cuckoo_params_rate() returns the expected false-positive rate, from 0 to 1, of a
/// cuckoo filter of these parameters with 'keys' keys. Returns 1 if 'params' is NULL or out of
/// range.
fn bloomline_cuckoo_params_rate(params: *const bloomline_cuckoo_params, keys: u64) -> f64 {
    guard_or(1.0, || {
        let params = shared(params).map(bloomline_cuckoo_params::check);
        params.and_then(Result::ok).map_or(1.0, |params| params.rate(keys))
    })
}
}
