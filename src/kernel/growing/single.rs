//! One key of a growing filter: its home is found and asked in one function of the backend, so that more misses of
//! other keys overlap.

use super::place::{First, Places};
use super::select::{Bytes, Select};
use super::{Found, find};
#[cfg(target_arch = "x86_64")]
use super::{avx512_find::find_here, select::Pdep};
use crate::kernel::backend::Backend;
use crate::kernel::tuning;

/// What a backend does for one key.
#[derive(Clone, Copy)]
pub(crate) struct Single(unsafe fn(&Places, u64) -> Found);

impl Single {
    /// That of a backend. One that this CPU lacks does as `scalar`.
    pub(crate) fn of(backend: Backend) -> Single {
        // Where pdep is slow, no core has AVX-512.
        let rows = if tuning::pdep_is_slow() { &WITHOUT_PDEP } else { &SINGLES };
        backend.kernels().map_or(Single(by_bytes), |kernels| *kernels.row_of(rows))
    }

    /// Those of a backend, whether or not pdep is slow.
    #[cfg(test)]
    pub(crate) fn all_of(backend: Backend) -> [Single; 2] {
        [&WITHOUT_PDEP, &SINGLES].map(|rows| *backend.kernels().unwrap().row_of(rows))
    }

    /// What the home of a hash says of it. If its lines are not at hand, [`Found::Onward`].
    #[inline(always)]
    pub(crate) fn contains(self, places: &Places, hash: u64) -> Found {
        // SAFETY: it is that of a backend of this CPU.
        unsafe { (self.0)(places, hash) }
    }
}

/// # Safety
/// This CPU has what `S` selects by.
#[inline(always)]
unsafe fn contains<S: Select>(places: &Places, hash: u64) -> Found {
    match places.first(hash) {
        // SAFETY: the caller's promise.
        Some(First { line, value, r, is_mixed: false }) => unsafe {
            find::find::<S, false>(line, value, r)
        },
        // SAFETY: as above.
        Some(First { line, value, r, .. }) => unsafe { find::find::<S, true>(line, value, r) },
        None => Found::Onward,
    }
}

unsafe fn by_bytes(places: &Places, hash: u64) -> Found {
    // SAFETY: the caller's promise.
    unsafe { contains::<Bytes>(places, hash) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn by_bytes_avx2(places: &Places, hash: u64) -> Found {
    // SAFETY: the caller's promise.
    unsafe { contains::<Bytes>(places, hash) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn by_pdep(places: &Places, hash: u64) -> Found {
    // SAFETY: the caller's promise.
    unsafe { contains::<Pdep>(places, hash) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(
    enable = "avx2,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt"
)]
unsafe fn avx512(places: &Places, hash: u64) -> Found {
    match places.first(hash) {
        // SAFETY: the caller's promise.
        Some(First { line, value, r, is_mixed }) => unsafe { find_here(line, value, r, is_mixed) },
        None => Found::Onward,
    }
}

/// Those of each backend where pdep is slow.
static WITHOUT_PDEP: [Single; Backend::ALL.len()] = Backend::table([
    (Backend::Scalar, Single(by_bytes)),
    #[cfg(target_arch = "x86_64")]
    (Backend::Avx2, Single(by_bytes_avx2)),
    #[cfg(target_arch = "x86_64")]
    (Backend::Avx512, Single(by_bytes)),
]);

/// Those of each backend.
static SINGLES: [Single; Backend::ALL.len()] = Backend::table([
    (Backend::Scalar, Single(by_bytes)),
    #[cfg(target_arch = "x86_64")]
    (Backend::Avx2, Single(by_pdep)),
    #[cfg(target_arch = "x86_64")]
    (Backend::Avx512, Single(avx512)),
]);
