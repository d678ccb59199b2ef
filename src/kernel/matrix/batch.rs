//! The rows of many keys, one key after the other.
//!
//! Where the rows of a key begin is written some keys before they are combined. So no load waits for the
//! store of its address, and what caches do not hold is prefetched meanwhile.

use super::super::prefetch::{INTO_L2, ahead, prefetch};
use super::words::{Asked, Places, Wide, and_at, each_place, read, word};
use crate::layouts::matrix::ROWS;
use crate::line::{LINE_BYTES, line_index};
use std::mem::MaybeUninit;
use std::ptr;

/// Bytes of a row that are prefetched at most: of a longer one, the CPU itself brings what follows.
const MOST_AHEAD: usize = 512;

/// All groups: where they begin, and how many there are.
#[derive(Clone, Copy)]
pub(super) struct Groups {
    pub(super) start: *const u8,
    pub(super) line_count: usize,
}

impl Groups {
    /// Where the group of a hash begins: within the groups, as the line is below their number.
    #[inline(always)]
    pub(super) fn of(self, hash: u64, asked: &Asked) -> *const u8 {
        let line = line_index(hash, self.line_count as u64) as usize;
        self.start.wrapping_add(line * ROWS * asked.row_bytes)
    }
}

/// A key whose rows are looked up.
struct Slot {
    places: Places,
    first: usize,
    group: *const u8,
}

/// The work of [`Batch`](super::Batch).
///
/// # Safety
/// As there.
#[inline(always)]
pub(super) unsafe fn batch<W: Wide>(
    asked: &Asked,
    groups: Groups,
    hashes: &[u64],
    far: bool,
    live: *const u64,
    out: &mut [u64],
) -> usize {
    // SAFETY: the caller's promise. The first ones are for rows of one word.
    unsafe {
        if asked.words == 1 {
            let live = if live.is_null() { u64::MAX } else { *live };
            let asked = &Asked { last: asked.last & live, ..*asked };
            return match W::COUNT {
                1 => words_one_by_one(asked, groups, hashes, far, out),
                _ => rows::<W, true, false>(asked, groups, hashes, far, ptr::null(), out),
            };
        }
        match live.is_null() {
            true => rows::<W, false, false>(asked, groups, hashes, far, live, out),
            false => rows::<W, false, true>(asked, groups, hashes, far, live, out),
        }
    }
}

/// The same. Where a row is one word, code that knows it has more registers left; so has code that knows that
/// all columns count.
///
/// # Safety
/// As for [`batch`]; a row is one word if `ONE`; `live` is not NULL if `LIVE`.
#[inline(always)]
unsafe fn rows<W: Wide, const ONE: bool, const LIVE: bool>(
    asked: &Asked,
    groups: Groups,
    hashes: &[u64],
    far: bool,
    live: *const u64,
    out: &mut [u64],
) -> usize {
    let live = if LIVE { live } else { ptr::null() };
    let mut ring = [const { MaybeUninit::<Slot>::uninit() }; ahead::MATRIX];
    let (mut sum, mut rest, mut out) = (W::ZERO, 0_usize, out.as_mut_ptr());
    for i in 0..hashes.len() + ahead::MATRIX {
        let slot = &mut ring[i % ahead::MATRIX];
        if i >= ahead::MATRIX {
            // SAFETY: hash i - ahead::MATRIX was looked up in this slot. Its group is whole, and there is room for a
            // row of words for each hash, by the caller's promise.
            unsafe {
                let slot = slot.assume_init_ref();
                let places = slot.places.from(slot.first, asked.k);
                if ONE {
                    let word = word(asked.last, slot.group, places).0;
                    out.write(word);
                    rest += word.count_ones() as usize;
                    out = out.add(1);
                } else {
                    let more;
                    (sum, more) = and_at::<W>(asked, slot.group, places, live, out, sum);
                    rest = rest.wrapping_add(more);
                    out = out.add(asked.words);
                }
            }
        }
        if let Some(&hash) = hashes.get(i) {
            let slot = slot.write(Slot {
                places: Places::uninit(),
                first: 0,
                group: groups.of(hash, asked),
            });
            slot.first = slot.places.write::<W>(hash, asked);
            if far {
                // SAFETY: they were just written.
                let places = unsafe { slot.places.from(slot.first, asked.k) };
                for &place in places {
                    prefetch_row(slot.group.wrapping_add(place as usize), asked);
                }
            }
        }
    }
    W::total(sum).wrapping_add(rest)
}

/// The same where a row is one word and there are no vectors: places that are computed one by one need no
/// store.
///
/// # Safety
/// As for [`batch`]; a row is one word.
#[inline(always)]
unsafe fn words_one_by_one(
    asked: &Asked,
    groups: Groups,
    hashes: &[u64],
    far: bool,
    out: &mut [u64],
) -> usize {
    let mut present = 0;
    for (i, (&hash, out)) in hashes.iter().zip(out).enumerate() {
        if let Some(&later) = hashes.get(i + ahead::MATRIX).filter(|_| far) {
            prefetch_rows(groups.of(later, asked), later, asked);
        }
        let (group, mut word) = (groups.of(hash, asked), asked.last);
        // SAFETY: a row of the group, which is whole.
        each_place(hash, asked, |place| word &= unsafe { read(group.add(place)) });
        *out = word;
        present += word.count_ones() as usize;
    }
    present
}

/// Prefetches the rows of a key in its group.
#[inline(always)]
pub(super) fn prefetch_rows(group: *const u8, hash: u64, asked: &Asked) {
    each_place(hash, asked, |place| prefetch_row(group.wrapping_add(place), asked));
}

#[inline(always)]
fn prefetch_row(row: *const u8, asked: &Asked) {
    for line in (0..asked.row_bytes.min(MOST_AHEAD)).step_by(LINE_BYTES) {
        prefetch::<INTO_L2>(row.wrapping_add(line));
    }
}
