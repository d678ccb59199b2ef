//! The older stages of a scalable filter, asked for a part of a batch: only for keys that newer ones do not have.

use super::Filter;

/// The keys that all stages are asked for in turn.
pub(super) const STAGE_BATCH: usize = 1024;
const WORDS: usize = STAGE_BATCH / 64;

/// Asks these stages for the keys of which the newest one has found `found`. `words` has its answers, and gets those
/// of all. Returns how many keys are found.
///
/// As soon as half of the keys are found, the others are gathered. Of fewer that would save too little, and of absent
/// keys nothing.
pub(super) fn ask_older<'a>(
    hashes: &[u64],
    words: &mut [u64],
    mut found: usize,
    mut stages: impl Iterator<Item = &'a Filter>,
) -> usize {
    while found < hashes.len() / 2 {
        let Some(stage) = stages.next() else { return found };
        let mut new = [0; WORDS];
        stage.contains_hashes(hashes, &mut new);
        words.iter_mut().zip(new).for_each(|(word, new)| *word |= new);
        found = words.iter().map(|word| word.count_ones() as usize).sum();
    }
    if found < hashes.len() { found + ask_for_rest(hashes, words, stages) } else { found }
}

/// Asks these stages for the keys whose bits are not set. Returns how many are found.
#[inline(never)]
fn ask_for_rest<'a>(
    hashes: &[u64],
    words: &mut [u64],
    stages: impl Iterator<Item = &'a Filter>,
) -> usize {
    let (mut rest, mut places, mut len) = ([0; STAGE_BATCH], [0_u16; STAGE_BATCH], 0);
    for (i, (hashes, word)) in hashes.chunks(64).zip(&*words).enumerate() {
        let mut zeros = !word & (u64::MAX >> (64 - hashes.len()));
        while zeros != 0 {
            let bit = zeros.trailing_zeros() as usize;
            (rest[len], places[len]) = (hashes[bit], (i * 64 + bit) as u16);
            len += 1;
            zeros &= zeros - 1;
        }
    }
    let missing = len;
    for stage in stages {
        if len == 0 {
            break;
        }
        let mut new = [0; WORDS];
        if stage.contains_hashes(&rest[..len], &mut new) == 0 {
            continue;
        }
        let mut left = 0;
        for i in 0..len {
            let (is_new, place) = (new[i / 64] >> (i % 64) & 1, usize::from(places[i]));
            words[place / 64] |= is_new << (place % 64);
            (rest[left], places[left]) = (rest[i], places[i]);
            left += usize::from(is_new == 0);
        }
        len = left;
    }
    missing - len
}
