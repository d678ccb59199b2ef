//! Batches of hashes: 8 bytes for each item, a bit for each answer.

use crate::added::Stop;
use crate::api::{Args, Ctx};
use crate::command::{Fail, Outcome, fail};
use crate::items::{BLOCK, WORDS};
use crate::key::{Found, Key, read_only, value_of};
use crate::limit::Limit;
use crate::object::Value;

/// The hashes in an argument, a block at a time.
struct Blocks<'a> {
    left: &'a [[u8; 8]],
    block: [u64; BLOCK],
}

impl<'a> Blocks<'a> {
    fn new(bytes: &'a [u8]) -> Result<Blocks<'a>, Fail> {
        let (left, rest) = bytes.as_chunks::<8>();
        if left.is_empty() || !rest.is_empty() {
            return fail("ERR hashes must be 8 bytes each");
        }
        Ok(Blocks { left, block: [0; BLOCK] })
    }

    fn next(&mut self) -> Option<&[u64]> {
        let (now, later) = self.left.split_at(self.left.len().min(BLOCK));
        self.left = later;
        for (place, bytes) in self.block.iter_mut().zip(now) {
            *place = u64::from_le_bytes(*bytes);
        }
        (!now.is_empty()).then_some(&self.block[..now.len()])
    }
}

/// Appends the answers to so many hashes. A block has whole bytes, so answers follow each other.
fn append(bitmap: &mut Vec<u8>, words: &[u64; WORDS], count: usize) {
    let bytes = words.iter().flat_map(|word| word.to_le_bytes());
    bitmap.extend(bytes.take(count.div_ceil(8)));
}

pub(super) fn exists(ctx: Ctx, args: Args<'_>) -> Outcome {
    let mut blocks = Blocks::new(args.bytes(2))?;
    let key = Key::open(ctx, args.raw(1), false);
    let value = value_of(&key)?;
    let mut bitmap = Vec::with_capacity(args.bytes(2).len() / 64 + 1);
    let mut words = [0; WORDS];
    while let Some(hashes) = blocks.next() {
        let count = hashes.len();
        value.probe(hashes, &mut words);
        append(&mut bitmap, &words, count);
    }
    ctx.bytes(&bitmap);
    Ok(())
}

pub(super) fn add(ctx: Ctx, args: Args<'_>) -> Outcome {
    let mut blocks = Blocks::new(args.bytes(2))?;
    let mut key = Key::open(ctx, args.raw(1), true);
    super::window::follow_clock(ctx, &mut key, args.raw(1));
    value_of(&key)?;
    let Found::Ours(object) = key.get_mut() else { return Err(Fail::WrongType) };
    let limit = Limit::of(ctx);
    if let Value::Bloom(chain) = &object.value
        && chain.plan.expansion == 0
        && !has_room(&object.value, args.bytes(2))?
    {
        return Err(Stop::Full.into());
    }
    let (mut bitmap, mut done) = (Vec::with_capacity(args.bytes(2).len() / 64 + 1), 0);
    let mut stop = None;
    while let Some(hashes) = blocks.next() {
        let (mut words, count) = ([0; WORDS], hashes.len());
        match &mut object.value {
            Value::Bloom(chain) => {
                let mut i = 0;
                let result = chain.insert(hashes, limit, |new| {
                    words[i / 64] |= u64::from(new) << (i % 64);
                    i += 1;
                });
                (stop, done) = (result.err(), done + i);
            }
            Value::Counting(counting) => {
                counting.filter.insert_new_hashes(hashes, words.as_mut_slice());
                done += count;
            }
            Value::Window(timed) => {
                timed.window.insert_new_hashes(hashes, words.as_mut_slice());
                done += count;
            }
            Value::Growing(growing) => {
                let mut i = 0;
                let result = growing.insert(hashes, limit, |new| {
                    words[i / 64] |= u64::from(new) << (i % 64);
                    i += 1;
                });
                (stop, done) = (result.err(), done + i);
            }
            Value::Static(_) => return read_only(),
            Value::Cuckoo(_) | Value::Loading(_) => return Err(Fail::WrongType),
        }
        if stop.is_some() {
            break;
        }
        append(&mut bitmap, &words, count);
    }
    object.recount();
    if done > 0 {
        if stop.is_none() {
            // The replica adds the same. Another command would copy the hashes.
            ctx.replicate_this();
        } else {
            // What follows an error was not done, and an error must not reach a replica.
            ctx.replicate_new(c"BL.MADDHASH", args.raw(1), &[&args.bytes(2)[..8 * done]]);
        }
        ctx.notify(c"bloom.add", args.raw(1));
    }
    match stop {
        Some(stop) => Err(stop.into()),
        None => {
            ctx.bytes(&bitmap);
            Ok(())
        }
    }
}

/// Whether a filter that does not grow has room for all that is new, so that either all is added or
/// nothing.
fn has_room(value: &Value, bytes: &[u8]) -> Result<bool, Fail> {
    let Value::Bloom(chain) = value else { return Ok(true) };
    let room = chain.capacity().saturating_sub(chain.items());
    if (bytes.len() / 8) as u64 <= room {
        return Ok(true);
    }
    let (mut new, mut words, mut blocks) = (Vec::new(), [0; WORDS], Blocks::new(bytes)?);
    while let Some(hashes) = blocks.next() {
        chain.probe(hashes, &mut words);
        let absent = |&(i, _): &(usize, &u64)| words[i / 64] >> (i % 64) & 1 == 0;
        new.extend(hashes.iter().enumerate().filter(absent).map(|(_, &hash)| hash));
    }
    new.sort_unstable();
    new.dedup();
    Ok(new.len() as u64 <= room)
}

pub(super) fn info(ctx: Ctx, args: Args<'_>) -> Outcome {
    let key = Key::open(ctx, args.raw(1), false);
    let value = value_of(&key)?;
    let layout = match value {
        Value::Bloom(chain) => Some(chain.plan.layout),
        _ => None,
    };
    ctx.map(4 + usize::from(layout.is_some()));
    ctx.label("kind");
    ctx.bytes(value.kind().name().as_bytes());
    ctx.label("seed");
    ctx.bytes(value.seed().to_string().as_bytes());
    ctx.label("hash");
    ctx.bytes(b"xxh3-64");
    if let Some(layout) = layout {
        ctx.label("layout");
        ctx.bytes(layout.name().as_bytes());
    }
    ctx.label("links");
    let links = links(value);
    ctx.array(links.len());
    for link in links {
        ctx.array(link.len());
        link.into_iter().for_each(|number| ctx.count(number));
    }
    Ok(())
}

/// Of each file that EXPORT has, which are links, and of cuckoo filters the filters of links; of windows, each
/// generation: lines, k or bits of a fingerprint or rows, capacity, items.
fn links(value: &Value) -> Vec<[u64; 4]> {
    match value {
        Value::Bloom(chain) => {
            let link = |link: &crate::bloom::Link| {
                let params = link.filter.params();
                let items = link.items(chain.plan.layout);
                [params.line_count(), params.k().into(), link.capacity, items]
            };
            chain.links.iter().map(link).collect()
        }
        Value::Cuckoo(series) => {
            let of_shard = |shard: &bloomline::CuckooFilter| {
                let (params, items) = (shard.params(), shard.key_count());
                [params.line_count(), params.fingerprint_bits().into(), params.slots(), items]
            };
            series.links.iter().flat_map(|link| link.shards.iter().map(of_shard)).collect()
        }
        Value::Counting(counting) => {
            let params = counting.filter.params();
            let (lines, k) = (params.line_count(), params.k().into());
            vec![[lines, k, counting.capacity, counting.filter.key_count()]]
        }
        Value::Window(timed) => {
            let (window, params) = (&timed.window, timed.window.params());
            let items = |age| window.key_count(age);
            let link = |age| [params.line_count(), params.k().into(), timed.capacity, items(age)];
            (0..window.generations()).map(link).collect()
        }
        Value::Static(fixed) => {
            let (params, keys) = (fixed.filter.params(), fixed.filter.key_count());
            vec![[params.line_count(), params.rows().into(), keys, keys]]
        }
        Value::Growing(growing) => {
            let filter = growing.filter();
            vec![[filter.line_count(), 0, filter.expected_keys(), filter.key_count()]]
        }
        Value::Loading(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_8_bytes_each_and_answers_a_bit_each() {
        assert!(Blocks::new(b"").is_err() && Blocks::new(b"123456789").is_err());
        let bytes: Vec<u8> = (0..1000u64).flat_map(u64::to_le_bytes).collect();
        let (mut blocks, mut all) = (Blocks::new(&bytes).unwrap(), Vec::new());
        while let Some(hashes) = blocks.next() {
            all.extend_from_slice(hashes);
        }
        assert_eq!(all, (0..1000).collect::<Vec<u64>>());
        let mut bitmap = Vec::new();
        append(&mut bitmap, &[1 << 9; WORDS], BLOCK);
        append(&mut bitmap, &[3; WORDS], 2);
        assert_eq!(bitmap.len(), BLOCK / 8 + 1);
        assert_eq!((bitmap[1], bitmap[BLOCK / 8]), (2, 3));
    }
}
