//! Several native lines for each key, of as many filters, at equal steps: a window's.
//!
//! The bits of a key are made once for all its lines. There is no branch on what these hold.

use super::alike::Alike;
use super::backend::Backend;
use super::functions::Kernel;
use super::layout::Layout;
use super::native;
use super::prefetch::{INTO_L2, ahead, prefetch};
use crate::line::LINE_BYTES;

/// Filters that are probed together: a byte has a bit for each.
pub(crate) const ADJACENT: usize = 8;

/// How the lines of keys lie.
struct Adjacent {
    /// The memory of all of them.
    base: *const u8,
    steps: Steps,
}

/// How those of a key do.
#[derive(Clone, Copy)]
pub(crate) struct Steps {
    /// How many, up to [`ADJACENT`].
    pub(crate) count: usize,
    /// From one to the next, in bytes.
    pub(crate) stride: usize,
    /// Bits of a key in each.
    pub(crate) k: u32,
}

impl Steps {
    /// The last place in these lines at which those of a key can begin.
    #[inline(always)]
    fn last(self, lines: &[u8]) -> Option<usize> {
        assert!((1..=ADJACENT).contains(&self.count), "a byte has a bit for each");
        lines.len().checked_sub((self.count - 1) * self.stride + LINE_BYTES)
    }
}

impl Kernel {
    /// Which of its native lines have all bits of a key, the first of which begins at byte `first`: bit
    /// `j` is that of line `j`.
    ///
    /// # Panics
    /// If not all are in `lines`.
    #[inline(always)]
    pub(crate) fn have(&self, lines: &[u8], steps: Steps, first: usize, hash: u64) -> u8 {
        debug_assert_eq!(self.layout(), Layout::Native);
        assert!(Some(first) <= steps.last(lines), "lines of the filter");
        let Steps { count, stride, k } = steps;
        let first = lines.as_ptr().wrapping_add(first);
        // SAFETY: this CPU runs the backend, since its kernel exists; the lines are in the slice.
        unsafe { (HAVE[self.backend() as usize].one)(first, stride, count, hash, k) }
    }

    /// The same for each of some keys. Those of later places are prefetched.
    ///
    /// # Panics
    /// If there are fewer places or bytes of answers than hashes, or not all lines in `lines`.
    #[inline]
    pub(crate) fn each_have(
        &self,
        lines: &[u8],
        steps: Steps,
        first: &[usize],
        hashes: &[u64],
        out: &mut [u8],
    ) {
        debug_assert_eq!(self.layout(), Layout::Native);
        let count = hashes.len();
        assert!(first.len() >= count && out.len() >= count, "a place and an answer for each hash");
        let last = steps.last(lines);
        let inside = first.iter().fold(true, |all, &at| all & (Some(at) <= last));
        assert!(inside, "lines of the filter");
        let lines = Adjacent { base: lines.as_ptr(), steps };
        // SAFETY: as above.
        unsafe { (HAVE[self.backend() as usize].each)(&lines, first, hashes, out) }
    }
}

/// What a backend does.
///
/// # Safety of the functions
/// This CPU runs the backend, and all lines are there; of [`Kernel::each_have`] a place and an answer
/// for each hash, too.
#[derive(Clone, Copy)]
struct Have {
    /// The first line, the stride, how many, the hash, k.
    one: unsafe fn(*const u8, usize, usize, u64, u32) -> u8,
    each: unsafe fn(&Adjacent, &[usize], &[u64], &mut [u8]),
}

/// # Safety
/// As for [`Have`].
#[inline(always)]
unsafe fn one<A: Alike>(first: *const u8, steps: Steps, hash: u64) -> u8 {
    let mut have = 0;
    // SAFETY: the caller's promise.
    unsafe {
        let mask = A::mask(hash, steps.k);
        if steps.count == ADJACENT {
            for j in (0..ADJACENT).rev() {
                have = A::push(have, first.wrapping_add(j * steps.stride), mask);
            }
        } else {
            for j in (0..steps.count).rev() {
                have = A::push(have, first.wrapping_add(j * steps.stride), mask);
            }
        }
    }
    have as u8
}

/// # Safety
/// As for [`Have`].
#[inline(always)]
unsafe fn each<A: Alike>(lines: &Adjacent, first: &[usize], hashes: &[u64], out: &mut [u8]) {
    for (i, &hash) in hashes.iter().enumerate() {
        if let Some(&later) = first.get(i + ahead::WINDOW) {
            for j in 0..lines.steps.count {
                prefetch::<INTO_L2>(lines.base.wrapping_add(later + j * lines.steps.stride));
            }
        }
        // SAFETY: the caller's promise.
        unsafe {
            let first = lines.base.wrapping_add(*first.get_unchecked(i));
            *out.get_unchecked_mut(i) = one::<A>(first, lines.steps, hash);
        }
    }
}

/// Those of each backend.
static HAVE: [Have; Backend::ALL.len()] = {
    macro_rules! have {
        ($alike:ty $(, $attribute:meta)*) => {{
            $(#[$attribute])*
            unsafe fn one_by(
                first: *const u8,
                stride: usize,
                count: usize,
                hash: u64,
                k: u32,
            ) -> u8 {
                // SAFETY: the caller's promise, handed on.
                unsafe { one::<$alike>(first, Steps { count, stride, k }, hash) }
            }
            $(#[$attribute])*
            unsafe fn each_by(
                lines: &Adjacent,
                first: &[usize],
                hashes: &[u64],
                out: &mut [u8],
            ) {
                // SAFETY: the caller's promise, handed on.
                unsafe { each::<$alike>(lines, first, hashes, out) }
            }
            Have { one: one_by, each: each_by }
        }};
    }
    const SCALAR: Have = have!(native::ScalarAlike);
    Backend::table([
        (Backend::Scalar, SCALAR),
        #[cfg(not(target_arch = "x86_64"))]
        (
            Backend::Portable,
            if native::SHIFTS_BY_LANE { have!(native::PortableAlike) } else { SCALAR },
        ),
        #[cfg(target_arch = "x86_64")]
        (Backend::Avx2, have!(native::Avx2Alike, target_feature(enable = "avx2,bmi2,popcnt"))),
        #[cfg(target_arch = "x86_64")]
        (
            Backend::Avx512,
            have!(
                native::Avx2Alike,
                target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi2,popcnt")
            ),
        ),
    ])
};
