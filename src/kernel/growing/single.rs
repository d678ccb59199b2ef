//! One key of a growing filter: its home is found and asked in one function of the backend, so that more misses of
//! other keys overlap.

use super::place::{First, Places};
use super::select::{Bytes, Select};
use super::{Found, find};
#[cfg(target_arch = "x86_64")]
use super::{Line, avx512_find::find_wider, avx512_one, avx512_pack::BYTE, goes_on, select::Pdep};
use crate::kernel::backend::Backend;
use crate::kernel::tuning;

/// What a backend does for one key.
#[derive(Clone, Copy)]
pub(crate) struct Single(unsafe fn(&Places, u64) -> bool);

impl Single {
    /// That of a backend, for prefixes of one length or of several. One that this CPU lacks does as `scalar`.
    pub(crate) fn of(backend: Backend, mixed: bool) -> Single {
        // Where pdep is slow, no core has AVX-512.
        let rows = match tuning::pdep_is_slow() {
            true => &WITHOUT_PDEP,
            false => &SINGLES[usize::from(mixed)],
        };
        backend.kernels().map_or(Single(by_bytes), |kernels| *kernels.row_of(rows))
    }

    /// Those of a backend, whether or not pdep is slow.
    #[cfg(test)]
    pub(crate) fn all_of(backend: Backend, mixed: bool) -> [Single; 2] {
        [&WITHOUT_PDEP, &SINGLES[usize::from(mixed)]]
            .map(|rows| *backend.kernels().unwrap().row_of(rows))
    }

    /// Whether the lines have a hash.
    #[inline(always)]
    pub(crate) fn contains(self, places: &Places, hash: u64) -> bool {
        // SAFETY: it is that of a backend of this CPU.
        unsafe { (self.0)(places, hash) }
    }
}

/// # Safety
/// This CPU has what `S` selects by.
#[inline(always)]
unsafe fn contains<S: Select>(places: &Places, hash: u64) -> bool {
    match places.first(hash) {
        // SAFETY: the caller's promise.
        Some(First { line, value, r, is_mixed: false }) => unsafe {
            settled(places, hash, find::find::<S, false>(line, value, r))
        },
        // SAFETY: as above.
        Some(First { line, value, r, .. }) => unsafe {
            settled(places, hash, find::find::<S, true>(line, value, r))
        },
        None => places.others_have(hash),
    }
}

/// Whether the lines have a hash of which its home says this.
#[inline(always)]
fn settled(places: &Places, hash: u64, found: Found) -> bool {
    if found == Found::Onward {
        return places.others_have(hash);
    }
    found == Found::Present
}

unsafe fn by_bytes(places: &Places, hash: u64) -> bool {
    // SAFETY: the caller's promise.
    unsafe { contains::<Bytes>(places, hash) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn by_bytes_avx2(places: &Places, hash: u64) -> bool {
    // SAFETY: the caller's promise.
    unsafe { contains::<Bytes>(places, hash) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn by_pdep(places: &Places, hash: u64) -> bool {
    // SAFETY: the caller's promise.
    unsafe { contains::<Pdep>(places, hash) }
}

/// What follows seldom is jumped to, so that no register is saved for it.
#[cfg(target_arch = "x86_64")]
#[target_feature(
    enable = "avx2,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt"
)]
unsafe fn avx512<const MIXED: bool>(places: &Places, hash: u64) -> bool {
    let Some((line, value, asked, r)) = places.one::<MIXED>(hash) else {
        return places.others_have(hash);
    };
    if r > BYTE {
        // SAFETY: the caller's promise.
        return unsafe { avx512_wide::<MIXED>(places, hash, line, value, r) };
    }
    let (present, is_final) = avx512_one::ask::<MIXED>(line, value, asked);
    if !is_final {
        return behind(places, hash, line);
    }
    present
}

/// The same with remainders of more than eight bits.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
#[target_feature(
    enable = "avx2,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt"
)]
unsafe fn avx512_wide<const MIXED: bool>(
    places: &Places,
    hash: u64,
    line: &Line,
    value: i64,
    r: u32,
) -> bool {
    // SAFETY: the caller's promise.
    let (present, onward) = unsafe { find_wider::<MIXED>(line, value, r) };
    if onward {
        return places.others_have(hash);
    }
    present
}

/// Whether lines behind the home have a hash, if the home goes on.
#[cfg(target_arch = "x86_64")]
#[cold]
#[inline(never)]
fn behind(places: &Places, hash: u64, home: &Line) -> bool {
    goes_on(home) && places.others_have(hash)
}

/// Those of each backend where pdep is slow.
static WITHOUT_PDEP: [Single; Backend::ALL.len()] = Backend::table([
    (Backend::Scalar, Single(by_bytes)),
    #[cfg(target_arch = "x86_64")]
    (Backend::Avx2, Single(by_bytes_avx2)),
    #[cfg(target_arch = "x86_64")]
    (Backend::Avx512, Single(by_bytes)),
]);

/// Those of each backend, for prefixes of one length or of several.
const fn singles<const MIXED: bool>() -> [Single; Backend::ALL.len()] {
    Backend::table([
        (Backend::Scalar, Single(by_bytes)),
        #[cfg(target_arch = "x86_64")]
        (Backend::Avx2, Single(by_pdep)),
        #[cfg(target_arch = "x86_64")]
        (Backend::Avx512, Single(avx512::<MIXED>)),
    ])
}

/// Both.
static SINGLES: [[Single; Backend::ALL.len()]; 2] = [singles::<false>(), singles::<true>()];
