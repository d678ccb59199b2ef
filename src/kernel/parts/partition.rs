//! Hashes partitioned by a bound, and answers of both sides merged into the order before: plain loops, and the same
//! with AVX-512 and with the instruction that deposits bits. (Where that is slow, it takes as long as the plain loop
//! would: some cycles for each bit.)

use super::super::Kernel;
use super::super::backend::Backend;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// # Safety of the functions
/// This CPU runs the backend.
#[derive(Clone, Copy)]
pub(super) struct Calls {
    /// Moves the hashes from `bound` on behind the others; both keep their order. Returns how many the others are.
    /// Sets bit i of `sides`, if it has words, where hash i was one of the later ones. Their place for a while,
    /// `later`, is as long as `hashes`.
    pub(super) partition:
        unsafe fn(hashes: &mut [u64], bound: u64, later: &mut [u64], sides: &mut [u64]) -> usize,
    /// Merges answers, a bit for each hash of either side, into the order before the partition.
    pub(super) merge: unsafe fn(sides: Sides<'_>, early: &[u64], late: &[u64], out: &mut [u64]),
}

/// The sides to which a partition has moved so many hashes: bit i of the words is 1 if hash i is one of the later.
#[derive(Clone, Copy)]
pub(super) struct Sides<'a> {
    pub(super) len: usize,
    pub(super) words: &'a [u64],
}

static CALLS: [Calls; Backend::ALL.len()] = Backend::table([
    (Backend::Scalar, Calls { partition, merge: merge::<Plain> }),
    #[cfg(target_arch = "x86_64")]
    (Backend::Avx2, Calls { partition, merge: merge_by_pdep }),
    #[cfg(target_arch = "x86_64")]
    (Backend::Avx512, Calls { partition: partition_by_compress, merge: merge_by_pdep }),
]);

impl Calls {
    /// Those of a kernel's backend.
    pub(super) fn of(kernel: &Kernel) -> &'static Calls {
        &CALLS[kernel.backend as usize]
    }
}

fn partition(hashes: &mut [u64], bound: u64, later: &mut [u64], sides: &mut [u64]) -> usize {
    let mut low = 0;
    for first in (0..hashes.len()).step_by(64) {
        let mut side = 0;
        for i in first..hashes.len().min(first + 64) {
            // No branch for each: it would be a coin toss.
            let hash = hashes[i];
            (hashes[low], later[i - low]) = (hash, hash);
            low += usize::from(hash < bound);
            side |= u64::from(hash >= bound) << (i - first);
        }
        if let Some(word) = sides.get_mut(first / 64) {
            *word = side;
        }
    }
    let moved = hashes.len() - low;
    hashes[low..].copy_from_slice(&later[..moved]);
    low
}

/// [`partition`], eight hashes at a time.
///
/// # Safety
/// The CPU has the instructions.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,popcnt")]
unsafe fn partition_by_compress(
    hashes: &mut [u64],
    bound: u64,
    later: &mut [u64],
    sides: &mut [u64],
) -> usize {
    let (len, bounds) = (hashes.len(), _mm512_set1_epi64(bound as i64));
    assert!(later.len() >= len, "room for all");
    let mut low = 0;
    for first in (0..len).step_by(64) {
        let mut side = 0;
        for i in (first..len.min(first + 64)).step_by(8) {
            let some = u8::MAX >> (8 - (len - i).min(8));
            // SAFETY: so many hashes are left from i on. Both stores begin at i or before, and write as many. All hashes
            // up to the last of these are in registers, or moved already.
            unsafe {
                let eight = _mm512_maskz_loadu_epi64(some, hashes.as_ptr().add(i).cast());
                let late = _mm512_mask_cmpge_epu64_mask(some, eight, bounds);
                let early = _mm512_maskz_compress_epi64(!late, eight);
                _mm512_mask_storeu_epi64(hashes.as_mut_ptr().add(low).cast(), some, early);
                let behind = _mm512_maskz_compress_epi64(late, eight);
                _mm512_mask_storeu_epi64(later.as_mut_ptr().add(i - low).cast(), some, behind);
                low += (!late & some).count_ones() as usize;
                side |= u64::from(late) << (i - first);
            }
        }
        if let Some(word) = sides.get_mut(first / 64) {
            *word = side;
        }
    }
    hashes[low..].copy_from_slice(&later[..len - low]);
    low
}

/// Puts the lowest bits, one for each 1 of the places, there in order.
trait Deposit {
    /// # Safety
    /// The CPU has the instruction.
    unsafe fn deposit(bits: u64, places: u64) -> u64;
}

struct Plain;

impl Deposit for Plain {
    #[inline(always)]
    unsafe fn deposit(mut bits: u64, mut places: u64) -> u64 {
        let mut out = 0;
        while places != 0 {
            let lowest = places & places.wrapping_neg();
            out |= if bits & 1 == 1 { lowest } else { 0 };
            (bits, places) = (bits >> 1, places ^ lowest);
        }
        out
    }
}

#[cfg(target_arch = "x86_64")]
struct Pdep;

#[cfg(target_arch = "x86_64")]
impl Deposit for Pdep {
    #[inline(always)]
    unsafe fn deposit(bits: u64, places: u64) -> u64 {
        // SAFETY: the caller vouches for the CPU.
        unsafe { _pdep_u64(bits, places) }
    }
}

/// # Safety
/// As for [`Deposit`].
#[inline(always)]
unsafe fn merge<S: Deposit>(sides: Sides<'_>, early: &[u64], late: &[u64], out: &mut [u64]) {
    let (mut early, mut late) = (Bits::from(early), Bits::from(late));
    for (i, (out, &side)) in out.iter_mut().zip(sides.words).enumerate() {
        let before = !side & (u64::MAX >> (64 - (sides.len - 64 * i).min(64)));
        let (early, late) = (early.next(before.count_ones()), late.next(side.count_ones()));
        // SAFETY: the caller's promise.
        *out = unsafe { S::deposit(early, before) | S::deposit(late, side) };
    }
}

/// # Safety
/// The CPU has the instructions.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi2,popcnt")]
unsafe fn merge_by_pdep(sides: Sides<'_>, early: &[u64], late: &[u64], out: &mut [u64]) {
    // SAFETY: the caller's promise.
    unsafe { merge::<Pdep>(sides, early, late, out) }
}

/// Bits that are taken some at a time.
struct Bits<'a> {
    words: &'a [u64],
    taken: u32,
}

impl<'a> From<&'a [u64]> for Bits<'a> {
    fn from(words: &'a [u64]) -> Bits<'a> {
        Bits { words, taken: 0 }
    }
}

impl Bits<'_> {
    /// The next bits, up to 64 of them, from the lowest bit on, and any others above.
    #[inline(always)]
    fn next(&mut self, count: u32) -> u64 {
        let mut words = self.words.iter().copied();
        let (word, behind) = (words.next().unwrap_or(0), words.next().unwrap_or(0));
        // In two steps, since a shift by 64 is none.
        let bits = word >> self.taken | behind << 1 << (63 - self.taken);
        self.taken += count;
        if self.taken >= 64 {
            (self.words, self.taken) = (self.words.get(1..).unwrap_or_default(), self.taken - 64);
        }
        bits
    }
}
