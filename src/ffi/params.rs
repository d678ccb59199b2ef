//! The size and shape of a filter.

use super::boundary::{Failure, NULL, exclusive, guard, guard_or, output, shared};
use super::status::{BLOOMLINE_ERR_RESERVED, bloomline_status};
use crate::{Error, Params};

/// The size and shape of a filter. Made by bloomline_params_for_rate() or
/// bloomline_params_for_bits(), or filled in by hand; every function that is given one
/// checks it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct bloomline_params {
    /// How many lines of 64 bytes; any number above 0.
    pub line_count: u64,
    /// How many bits a key sets in its line, 1 to 16.
    pub k: u32,
    /// Must be 0.
    pub reserved: u32,
    /// The seed of the hash of keys. bloomline_params_for_rate() and
    /// bloomline_params_for_bits() set it to 0; it may then be set to any number.
    /// Where others choose the keys, take it from bloomline_random_seed() and keep it
    /// secret.
    pub seed: u64,
}

impl bloomline_params {
    pub(super) fn check(&self) -> Result<Params, Failure> {
        if self.reserved != 0 {
            return Err(Failure(BLOOMLINE_ERR_RESERVED));
        }
        // All zeros are those of a call that failed, or that was not made: not k is wrong then.
        if self.line_count == 0 {
            return Err(Error::LineCount(0).into());
        }
        Ok(Params::new(self.line_count, self.k, self.seed)?)
    }
}

impl From<Params> for bloomline_params {
    fn from(params: Params) -> bloomline_params {
        bloomline_params {
            line_count: params.line_count(),
            k: params.k(),
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
    unsafe { shared(params) }.ok_or(NULL)?.check()
}

/// Writes the parameters that `make` gives.
///
/// # Safety
/// `out` is NULL or points at room for a `bloomline_params`.
pub(super) unsafe fn write(
    out: *mut bloomline_params,
    make: impl FnOnce() -> Result<Params, Error>,
) -> bloomline_status {
    guard(|| {
        let out = output(out)?;
        let params = make()?;
        // SAFETY: not NULL; the caller vouches for the room.
        unsafe { out.write(params.into()) };
        Ok(())
    })
}

/// bloomline_params_for_rate() finds the smallest filter that holds 'keys' keys at a
/// false-positive rate of 'rate' (0.01 is 1 %), and the k that suits it. 'rate' is
/// between 0 and 1, both excluded. With 0 keys the result is one line.
///
/// The figures are those of a filter made of 64-byte lines, a little larger than the
/// textbook's for one array of bits: 1 % takes about 9.9 bits per key.
///
/// Errors: BLOOMLINE_ERR_RATE, BLOOMLINE_ERR_LINE_COUNT if it would not fit in memory.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_params_for_rate(
    keys: u64,
    rate: f64,
    out: *mut bloomline_params,
) -> bloomline_status {
    // SAFETY: rules of the header: `out` is NULL or has room.
    unsafe { write(out, || Params::for_rate(keys, rate)) }
}

/// bloomline_params_for_bits() finds the size of a filter that spends 'bits_per_key'
/// bits on each of 'keys' keys, which need not be a whole number, and the k with the
/// lowest false-positive rate at that size. With 0 keys the result is one line.
///
/// Errors: BLOOMLINE_ERR_BITS_PER_KEY, BLOOMLINE_ERR_LINE_COUNT if it would not fit in
/// memory.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_params_for_bits(
    keys: u64,
    bits_per_key: f64,
    out: *mut bloomline_params,
) -> bloomline_status {
    // SAFETY: rules of the header: `out` is NULL or has room.
    unsafe { write(out, || Params::for_bits(keys, bits_per_key)) }
}

/// bloomline_params_foldable() rounds the line count up to a multiple of 2 to the power
/// 'folds', so that bloomline_filter_fold() can halve the filter 'folds' times. It is for a
/// filter whose keys cannot be counted beforehand: make it large, then fold it.
///
/// Errors: BLOOMLINE_ERR_LINE_COUNT if it would not fit in memory, BLOOMLINE_ERR_K and
/// BLOOMLINE_ERR_RESERVED; 'params' is then unchanged.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_params_foldable(
    params: *mut bloomline_params,
    folds: u32,
) -> bloomline_status {
    guard(|| {
        // SAFETY: rules of the header: `params` is NULL or there, and this call's alone.
        let params = unsafe { exclusive(params) }.ok_or(NULL)?;
        *params = params.check()?.foldable(folds)?.into();
        Ok(())
    })
}

/// bloomline_params_rate() returns the false-positive rate to be expected, from 0 to 1,
/// once 'keys' different keys are in a filter of these parameters. It is a model of the
/// lines, not the textbook formula. If 'params' is NULL or is refused
/// by the other functions, the result is 1.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_params_rate(params: *const bloomline_params, keys: u64) -> f64 {
    guard_or(1.0, || {
        // SAFETY: rules of the header: `params` is NULL or there.
        unsafe { checked(params) }.map_or(1.0, |params| params.rate(keys))
    })
}
