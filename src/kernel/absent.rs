//! Inserts that say which keys were new: a batch probe, then the absent keys one by one.

/// Calls `insert`, in order, for the hashes whose answer in `present` is false; its result replaces
/// the answer. Returns how many answers are true.
///
/// So the answers of a batch probe become those of a batch of inserts: the probe has brought the
/// lines into the cache, and `insert` says of a key that repeats a new one that it is not new.
#[inline]
pub(crate) fn insert_absent(
    hashes: &[u64],
    present: &mut [u64],
    mut insert: impl FnMut(u64) -> bool,
) -> usize {
    let mut count = 0;
    for (hashes, word) in hashes.chunks(64).zip(present) {
        let mut absent = !*word & (u64::MAX >> (64 - hashes.len()));
        *word = 0;
        while absent != 0 {
            let i = absent.trailing_zeros();
            *word |= u64::from(insert(hashes[i as usize])) << i;
            absent &= absent - 1;
        }
        count += word.count_ones() as usize;
    }
    count
}
