//! The items of a command, hashed a block at a time, so that the lines of a block are prefetched
//! together.

use crate::api::{Args, Ctx};
use crate::command::{Fail, Outcome};
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

/// What `work` answers to all items, a block at a time.
pub(crate) fn collect(
    items: Args<'_>,
    seed: u64,
    mut work: impl FnMut(&[u64], &mut [u64]),
) -> Vec<bool> {
    let mut found = Vec::with_capacity(items.len());
    in_blocks(items, seed, |hashes| {
        let mut words = [0; WORDS];
        work(hashes, &mut words);
        found.extend(answers(&words, hashes.len()));
    });
    found
}

/// A command for items, from the second argument on.
type All = fn(Ctx, Args<'_>) -> Result<Vec<bool>, Fail>;

/// Replies the answer to the only item.
pub(crate) fn one(ctx: Ctx, args: Args<'_>, all: All) -> Outcome {
    ctx.boolean(all(ctx, args)?[0]);
    Ok(())
}

/// Replies an array of the answers.
pub(crate) fn many(ctx: Ctx, args: Args<'_>, all: All) -> Outcome {
    let answers = all(ctx, args)?;
    ctx.array(answers.len());
    answers.iter().for_each(|&answer| ctx.boolean(answer));
    Ok(())
}
