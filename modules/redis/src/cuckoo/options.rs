//! The arguments that say what a new cuckoo filter is to be, as RedisBloom reads them.

use super::series::Shape;
use crate::api::Args;
use crate::bloom::{after, new_seed, only};
use crate::command::{Fail, fail};
use crate::config::config;
use crate::parse;

/// A filter to be made.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    pub(super) capacity: u64,
    pub(super) bucket_size: u64,
    pub(super) max_iterations: u64,
    pub(super) expansion: u64,
    pub(super) max_links: u64,
    /// None: as low as RedisBloom's for the bucket size.
    pub(super) rate: Option<f64>,
    pub(super) seed: Option<u64>,
}

impl Wanted {
    pub(super) fn by_default() -> Wanted {
        let config = config();
        Wanted {
            capacity: config.cf_initial_size,
            bucket_size: config.cf_bucket_size,
            max_iterations: config.cf_max_iterations,
            expansion: config.cf_expansion_factor,
            max_links: config.cf_max_expansions,
            rate: None,
            seed: None,
        }
    }

    pub(super) fn shape(self) -> Result<Shape, Fail> {
        let Wanted { capacity, bucket_size, max_iterations, expansion, max_links, .. } = self;
        let rate = self.rate.unwrap_or((2.0 * bucket_size as f64 / 255.0).min(0.25));
        let seed = new_seed(self.seed)?;
        Ok(Shape { capacity, bucket_size, max_iterations, expansion, max_links, rate, seed })
    }
}

/// The arguments of RESERVE.
pub(super) fn reserve(args: Args<'_>) -> Result<Wanted, Fail> {
    if args.len().is_multiple_of(2) {
        return Err(Fail::Arity);
    }
    let mut wanted = Wanted::by_default();
    let Some(capacity) = parse::integer(args.bytes(2)) else { return fail("Bad capacity") };
    let numbers = [
        ("MAXITERATIONS", 1, 65_535, &mut wanted.max_iterations),
        ("BUCKETSIZE", 1, 255, &mut wanted.bucket_size),
        ("EXPANSION", 0, 32_768, &mut wanted.expansion),
    ];
    for (word, least, most, number) in numbers {
        let bad = || Fail::Text(format!("Couldn't parse {word}").into());
        let Some(text) = after(args, word, 3).map_err(|_| bad())? else { continue };
        parse::integer(text).ok_or_else(bad)?;
        *number = parse::within(text, least, most).ok_or_else(|| {
            Fail::Text(format!("{word}: value must be in the range [{least}, {most}]").into())
        })?;
    }
    if let Some(text) = after(args, "ERROR", 3)? {
        let rate = parse::real(text).filter(|&rate| rate > 0.0 && rate < 1.0);
        // 16 bits of fingerprint do no better.
        let rate = rate.filter(|&rate| rate >= LEAST_RATE).ok_or_else(|| {
            Fail::Text(format!("ERR error rate must be in the range [{LEAST_RATE}, 1)").into())
        });
        wanted.rate = Some(rate?);
    }
    if args.is_own() {
        if let Some(text) = after(args, "SEED", 3)? {
            wanted.seed = Some(parse::unsigned(text).ok_or(Fail::Text("ERR bad seed".into()))?);
        }
        if let Some(text) = after(args, "MAXEXPANSIONS", 3)? {
            let most = parse::within(text, 1, 65_536);
            wanted.max_links = most.ok_or(Fail::Text("ERR bad number of expansions".into()))?;
        }
        let words = ["MAXITERATIONS", "BUCKETSIZE", "EXPANSION", "ERROR", "SEED", "MAXEXPANSIONS"];
        only(args, 3, &words, &[])?;
    }
    let least = 2 * wanted.bucket_size;
    match u64::try_from(capacity) {
        Ok(capacity) if (least..=MOST).contains(&capacity) => wanted.capacity = capacity,
        _ => return fail("Capacity must be in the range [2 * BUCKETSIZE, 1073741824]"),
    }
    Ok(wanted)
}

const MOST: u64 = 1 << 30;
const LEAST_RATE: f64 = 0.00012;

/// The arguments of INSERT: what to make if the key is absent, or None if it is not to be made; and
/// where the items begin.
pub(super) fn insert(args: Args<'_>) -> Result<(Option<Wanted>, usize), Fail> {
    let (mut wanted, mut create, mut at) = (Wanted::by_default(), true, 2);
    while at < args.len() {
        match args.bytes(at).to_ascii_lowercase().as_slice() {
            [b'i', ..] if at + 1 < args.len() => return Ok((create.then_some(wanted), at + 1)),
            [b'i', ..] => return Err(Fail::Arity),
            [b'c', ..] if at + 1 < args.len() => {
                let Some(capacity) = parse::integer(args.bytes(at + 1)) else {
                    return fail("Bad capacity");
                };
                let least = 2 * wanted.bucket_size;
                let capacity = u64::try_from(capacity).ok();
                let capacity = capacity.filter(|capacity| (least..=MOST).contains(capacity));
                wanted.capacity = capacity.ok_or(Fail::Text(
                    "Capacity must be in the range [cf-bucket-size * 2, 1073741824]".into(),
                ))?;
                at += 2;
            }
            [b'c', ..] => return Err(Fail::Arity),
            [b'n', ..] => {
                create = false;
                at += 1;
            }
            _ => return fail("Unknown argument received"),
        }
    }
    Err(Fail::Arity)
}
