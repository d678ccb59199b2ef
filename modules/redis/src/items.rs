//! The items of a command, hashed a block at a time, so that the lines of a block are prefetched
//! together.

use crate::api::{Args, Ctx};
use bloomline::hash::hash;

/// Items of a block.
pub(crate) const BLOCK: usize = 512;
/// The words of their answers.
pub(crate) const WORDS: usize = BLOCK / 64;

/// Calls with the hashes of items, a block at a time.
pub(crate) fn in_blocks(items: Args<'_>, seed: u64, mut work: impl FnMut(&[u64])) {
    let (mut hashes, mut items) = ([0; BLOCK], items.iter());
    while items.len() > 0 {
        let mut count = 0;
        for (place, item) in hashes.iter_mut().zip(items.by_ref()) {
            *place = hash(item, seed);
            count += 1;
        }
        work(&hashes[..count]);
    }
}

/// The first `count` of the answers of a block.
pub(crate) fn answers(words: &[u64], count: usize) -> impl Iterator<Item = bool> {
    (0..count).map(|i| words[i / 64] >> (i % 64) & 1 != 0)
}

/// An array of answers.
pub(crate) fn reply(ctx: Ctx, answers: &[bool]) {
    ctx.array(answers.len());
    answers.iter().for_each(|&answer| ctx.boolean(answer));
}
