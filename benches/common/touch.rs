//! The limits: loops that find the line of each key and only touch it. A filter
//! cannot be faster than the line it needs, so every timing of the library is
//! quoted as a ratio to one of these, measured in the same run.
//!
//! To probe is to find the line, load one word of it and pack one bit into the
//! bitmap (and count the ones, as the library does). To insert is to find the line
//! and read, change and write one word of it. Each loop exists without prefetch and
//! with several hints and distances:
//!
//! | hint | what it asks for | x86-64 | aarch64 |
//! |---|---|---|---|
//! | L1 | the line in L1, to read | `prefetcht0` | `prfm pldl1keep` |
//! | L2 | the line in L2, to read | `prefetcht1` | `prfm pldl2keep` |
//! | NTA | the line in L1, without keeping it | `prefetchnta` | `prfm pldl1strm` |
//! | L1 to write | the line in L1, owned | `prefetchw` | `prfm pstl1keep` |
//!
//! It is plain Rust, compiled for the baseline of the target like the rest of the
//! crate, and uses only the definition of the line index. On other CPUs than these
//! two there is no hint, and only the loops without prefetch are there.
// Touching without a bounds check, and hints, are what these loops are about.
#![allow(unsafe_code)]

use bloomline::definition::line::{LINE_BYTES, Line, line_index};

/// A loop that touches the line of each hash to read, and packs a bit of it.
pub(crate) type Read = fn(&[Line], &[u64], &mut [u64]) -> usize;

/// A loop that touches the line of each hash to write.
pub(crate) type Write = fn(&mut [Line], &[u64]);

/// Whether there are hints for this CPU.
pub(crate) const HAS_HINTS: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

/// The loop without prefetch, as one writes it.
pub(crate) const READ: &str = "touch";
/// The same eight keys at a time: what is left when the bits are packed as cheaply
/// as plain Rust can.
pub(crate) const READ_UNROLLED: &str = "touch, unrolled";
/// The loop that most batch probes are: L1, 32 ahead.
pub(crate) const READ_L1_32: &str = "touch, L1 32";

/// All loops that read, with what they are called.
pub(crate) fn reads() -> Vec<(&'static str, Read)> {
    let mut loops: Vec<(&str, Read)> = vec![(READ, read::<0, 0>), (READ_UNROLLED, read_unrolled)];
    if HAS_HINTS {
        loops.extend([
            ("touch, L1 8", read::<8, 0> as Read),
            ("touch, L1 16", read::<16, 0>),
            (READ_L1_32, read::<32, 0>),
            ("touch, L1 64", read::<64, 0>),
            ("touch, NTA 32", read_nta::<32>),
            ("touch, L2 32", read::<0, 32>),
            ("touch, L2 64", read::<0, 64>),
            ("touch, L2 128", read::<0, 128>),
            ("touch, L2 192", read::<0, 192>),
            ("touch, L2 256", read::<0, 256>),
            ("touch, L2 64 + L1 8", read::<8, 64>),
            ("touch, L2 64 + L1 16", read::<16, 64>),
            ("touch, L2 128 + L1 8", read::<8, 128>),
            ("touch, L2 128 + L1 16", read::<16, 128>),
            ("touch, L2 192 + L1 8", read::<8, 192>),
            ("touch, L2 192 + L1 16", read::<16, 192>),
            ("touch, L2 by blocks, 64 ahead", read_by_blocks::<1>),
            ("touch, L2 by blocks, 128 ahead", read_by_blocks::<2>),
            ("touch, L2 by blocks, 192 ahead", read_by_blocks::<3>),
        ]);
    }
    loops
}

/// The loop that writes without prefetch.
pub(crate) const WRITE: &str = "touch to write";
/// The loop that most batch inserts are: L1 to write, 16 ahead.
pub(crate) const WRITE_L1_16: &str = "touch to write, L1 16";

/// All loops that write, with what they are called.
pub(crate) fn writes() -> Vec<(&'static str, Write)> {
    let mut loops: Vec<(&str, Write)> = vec![(WRITE, write::<0, 0>)];
    if HAS_HINTS {
        loops.extend([
            (WRITE_L1_16, write::<16, 0> as Write),
            ("touch to write, L1 32", write::<32, 0>),
            ("touch to write, L2 32", write::<0, 32>),
            ("touch to write, L2 64", write::<0, 64>),
            ("touch to write, L2 128", write::<0, 128>),
            ("touch to write, L2 64 + L1 8", write::<8, 64>),
            ("touch to write, L2 128 + L1 8", write::<8, 128>),
        ]);
    }
    loops
}

/// A filter's bytes as lines.
///
/// # Panics
/// If they are not whole lines at a multiple of 64.
pub(crate) fn lines(bytes: &[u8]) -> &[Line] {
    assert!(bytes.as_ptr().align_offset(LINE_BYTES) == 0 && bytes.len().is_multiple_of(LINE_BYTES));
    // SAFETY: any bytes are integers.
    unsafe { bytes.align_to().1 }
}

/// As [`lines`], to be written.
///
/// # Panics
/// If they are not whole lines at a multiple of 64.
pub(crate) fn lines_mut(bytes: &mut [u8]) -> &mut [Line] {
    assert!(bytes.as_ptr().align_offset(LINE_BYTES) == 0 && bytes.len().is_multiple_of(LINE_BYTES));
    // SAFETY: any bytes are integers, and any integers bytes.
    unsafe { bytes.align_to_mut().1 }
}

/// Touches the line of one hash: its first bit.
#[inline(always)]
pub(crate) fn touch_one(lines: &[Line], hash: u64) -> usize {
    (line(lines, hash)[0] & 1) as usize
}

/// The line of a hash.
#[inline(always)]
fn line(lines: &[Line], hash: u64) -> &Line {
    // SAFETY: the index is below the count.
    unsafe { lines.get_unchecked(line_index(hash, lines.len() as u64) as usize) }
}

/// Touches to read; prefetches the line `L1` keys ahead into L1, and the one `L2` keys ahead into
/// L2, unless 0.
#[inline(never)]
fn read<const L1: usize, const L2: usize>(
    lines: &[Line],
    hashes: &[u64],
    bitmap: &mut [u64],
) -> usize {
    read_loop(lines, hashes, bitmap, |i| {
        ask::<L2, { hint::L2 }>(lines, hashes, i);
        ask::<L1, { hint::L1 }>(lines, hashes, i);
    })
}

/// The same with the hint that does not keep the line.
#[inline(never)]
fn read_nta<const NTA: usize>(lines: &[Line], hashes: &[u64], bitmap: &mut [u64]) -> usize {
    read_loop(lines, hashes, bitmap, |i| ask::<NTA, { hint::NTA }>(lines, hashes, i))
}

/// A bit of the line of each hash; `ahead(i)` goes before hash `i`.
#[inline(always)]
fn pack(lines: &[Line], hashes: &[u64], ahead: impl Fn(usize)) -> u64 {
    let mut bits = 0;
    for (i, &hash) in hashes.iter().enumerate() {
        ahead(i);
        bits |= (line(lines, hash)[0] & 1) << i;
    }
    bits
}

/// The loop itself: `ahead(i)` goes before key `i`.
#[inline(always)]
fn read_loop(lines: &[Line], hashes: &[u64], bitmap: &mut [u64], ahead: impl Fn(usize)) -> usize {
    let mut hits = 0;
    for (block, (hashes, bitmap)) in hashes.chunks(64).zip(bitmap).enumerate() {
        *bitmap = pack(lines, hashes, |i| ahead(64 * block + i));
        hits += bitmap.count_ones() as usize;
    }
    hits
}

/// Asks for 64 lines in one go, `FAR` times 64 keys ahead, into L2; then touches 64.
#[inline(never)]
fn read_by_blocks<const FAR: usize>(lines: &[Line], hashes: &[u64], bitmap: &mut [u64]) -> usize {
    let ask = |hashes: &[u64]| {
        for &hash in hashes {
            prefetch::<{ hint::L2 }>(line(lines, hash));
        }
    };
    ask(&hashes[..(64 * FAR).min(hashes.len())]);
    let ahead = hashes.chunks(64).skip(FAR).chain(std::iter::repeat(&[][..]));
    let mut hits = 0;
    for ((hashes, ahead), bitmap) in hashes.chunks(64).zip(ahead).zip(bitmap) {
        ask(ahead);
        *bitmap = pack(lines, hashes, |_| ());
        hits += bitmap.count_ones() as usize;
    }
    hits
}

/// Touches to read, eight keys at a time, so that the bits move by constants.
#[inline(never)]
fn read_unrolled(lines: &[Line], hashes: &[u64], bitmap: &mut [u64]) -> usize {
    let mut hits = 0;
    for (hashes, bitmap) in hashes.chunks(64).zip(bitmap) {
        let (eights, rest) = hashes.as_chunks::<8>();
        let mut bits = 0;
        for (i, eight) in eights.iter().enumerate() {
            bits |= pack(lines, eight, |_| ()) << (8 * i);
        }
        bits |= pack(lines, rest, |_| ()).unbounded_shl(8 * eights.len() as u32);
        *bitmap = bits;
        hits += bits.count_ones() as usize;
    }
    hits
}

/// Touches to write; prefetches the line `L1` keys ahead into L1, to write, and the one `L2` keys
/// ahead into L2, unless 0.
#[inline(never)]
fn write<const L1: usize, const L2: usize>(lines: &mut [Line], hashes: &[u64]) {
    for (i, &hash) in hashes.iter().enumerate() {
        ask::<L2, { hint::L2 }>(lines, hashes, i);
        ask::<L1, { hint::L1_WRITE }>(lines, hashes, i);
        let index = line_index(hash, lines.len() as u64) as usize;
        // SAFETY: the index is below the count.
        unsafe { lines.get_unchecked_mut(index)[0] |= hash };
    }
}

/// Hashes keys and touches their lines to read: the limit of probing keys in memory. The best loop
/// known: it hashes a block, prefetches each line as soon as its hash is known, then touches the
/// block prefetched two blocks before.
#[inline(never)]
pub(crate) fn hash_and_touch<K: AsRef<[u8]>>(
    lines: &[Line],
    keys: &[K],
    bitmap: &mut [u64],
) -> usize {
    let mut blocks = [[0; 64]; 3];
    let mut ask = keys.chunks(64);
    let mut ask = |block: &mut [u64; 64]| {
        for (hash, key) in block.iter_mut().zip(ask.next().unwrap_or_default()) {
            *hash = bloomline::hash::hash(key.as_ref(), 0);
            prefetch::<{ hint::L2 }>(line(lines, *hash));
        }
    };
    ask(&mut blocks[0]);
    ask(&mut blocks[1]);
    let mut hits = 0;
    for (i, (keys, bitmap)) in keys.chunks(64).zip(bitmap).enumerate() {
        ask(&mut blocks[(i + 2) % 3]);
        *bitmap = pack(lines, &blocks[i % 3][..keys.len()], |_| ());
        hits += bitmap.count_ones() as usize;
    }
    hits
}

/// Asks for the line of the key that comes `DISTANCE` after key `i`, or the last.
#[inline(always)]
fn ask<const DISTANCE: usize, const HINT: u8>(lines: &[Line], hashes: &[u64], i: usize) {
    if DISTANCE > 0 {
        let ahead = (i + DISTANCE).min(hashes.len() - 1);
        // SAFETY: below the length, which is not 0, since there is a key `i`.
        prefetch::<HINT>(line(lines, unsafe { *hashes.get_unchecked(ahead) }));
    }
}

/// The kinds of prefetch.
mod hint {
    pub(super) const L1: u8 = 1;
    pub(super) const L2: u8 = 2;
    pub(super) const NTA: u8 = 3;
    pub(super) const L1_WRITE: u8 = 4;
}

/// Asks for a line, to write it, which other threads may do too.
#[inline(always)]
pub(crate) fn prefetch_to_write(line: *const Line) {
    prefetch::<{ hint::L1_WRITE }>(line);
}

/// Asks for a line in L1, to read.
#[inline(always)]
pub(crate) fn prefetch_to_read(line: *const Line) {
    prefetch::<{ hint::L1 }>(line);
}

/// Asks for a line.
#[inline(always)]
fn prefetch<const HINT: u8>(address: *const Line) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint does not access memory in a way that a program can observe;
    // where the CPU has no `prefetchw`, it does nothing.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_NTA, _MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
        match HINT {
            hint::L1 => _mm_prefetch::<_MM_HINT_T0>(address.cast()),
            hint::L2 => _mm_prefetch::<_MM_HINT_T1>(address.cast()),
            hint::NTA => _mm_prefetch::<_MM_HINT_NTA>(address.cast()),
            _ => std::arch::asm!(
                "prefetchw [{0}]", in(reg) address, options(nostack, preserves_flags, readonly)
            ),
        }
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a hint does not access memory in a way that a program can observe.
    unsafe {
        use std::arch::asm;
        match HINT {
            hint::L1 => asm!(
                "prfm pldl1keep, [{0}]", in(reg) address, options(nostack, preserves_flags, readonly)
            ),
            hint::L2 => asm!(
                "prfm pldl2keep, [{0}]", in(reg) address, options(nostack, preserves_flags, readonly)
            ),
            hint::NTA => asm!(
                "prfm pldl1strm, [{0}]", in(reg) address, options(nostack, preserves_flags, readonly)
            ),
            _ => asm!(
                "prfm pstl1keep, [{0}]", in(reg) address, options(nostack, preserves_flags, readonly)
            ),
        }
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = address;
}
