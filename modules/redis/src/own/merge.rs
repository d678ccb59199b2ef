//! MERGE: all items of several filters of one shape, in one.
//!
//! Everything that can fail is done or checked first, then the lines are united in place: the
//! destination is not copied. A growing filter's union is built beside it.

use super::values::Growing;
use crate::api::{Args, Ctx};
use crate::bloom::{Chain, Layout, Link};
use crate::command::{Fail, Outcome, fail};
use crate::key::{Found, Key, value_of};
use crate::limit::Limit;
use crate::object::{Object, Value};
use bloomline::{Error, Filter};

/// A merged filter may exceed its rate by this factor: the estimate is not exact.
const TOLERANCE: f64 = 1.1;

pub(super) fn merge(ctx: Ctx, args: Args<'_>) -> Outcome {
    merge_all(ctx, args, false)
}

/// Whatever rate the result has. A command of its own, since the server takes all arguments of the
/// other for keys.
pub(super) fn merge_force(ctx: Ctx, args: Args<'_>) -> Outcome {
    merge_all(ctx, args, true)
}

fn merge_all(ctx: Ctx, args: Args<'_>, force: bool) -> Outcome {
    let is_dest = |i: usize| args.bytes(i) == args.bytes(1);
    // A filter has its own items already.
    let others = (2..args.len()).filter(|&i| !is_dest(i)).map(|i| args.raw(i));
    let keys: Vec<Key<'_>> = others.map(|name| Key::open(ctx, name, false)).collect();
    let sources = keys.iter().map(value_of).collect::<Result<Vec<&Value>, Fail>>()?;
    let merged = {
        let dest = Key::open(ctx, args.raw(1), false);
        let there = match dest.get() {
            // Also where it is to be merged with itself.
            Found::Absent if (2..args.len()).all(|i| !is_dest(i)) => None,
            _ => Some(value_of(&dest)?),
        };
        let all: Vec<&Value> = there.into_iter().chain(sources.iter().copied()).collect();
        check(&all)?;
        if !force && !keeps_rate(&all)? {
            return fail(
                "ERR the merged filter would exceed its error rate: BL.MERGEFORCE merges anyway",
            );
        }
        let sizes = all.iter().map(|value| value.memory());
        let most = match all[0] {
            // It has room for what all have.
            Value::Growing(_) => sizes.sum(),
            _ => sizes.max().unwrap_or(0),
        };
        let there_already = there.map_or(0, Value::memory);
        Limit::of(ctx).allows(most, most - there_already)?;
        if there.is_none() {
            let mut merged = all[0].try_clone()?;
            unite(&mut merged, &all[1..])?;
            Some(merged)
        } else {
            None
        }
    };
    let mut dest = Key::open(ctx, args.raw(1), true);
    match merged {
        Some(merged) => dest.set(Object::new(merged)),
        None => {
            let Found::Ours(object) = dest.get_mut() else { return Err(Fail::WrongType) };
            unite(&mut object.value, &sources)?;
            object.recount();
        }
    }
    ctx.replicate(c"BL.MERGEFORCE", args.from(1).as_raw());
    ctx.notify(c"bloom.merge", args.raw(1));
    ctx.ok();
    Ok(())
}

/// A plain filter of a value, the items that it is made for, and its rate with these.
struct Part<'a> {
    filter: &'a Filter,
    layout: Layout,
    capacity: u64,
    rate: f64,
}

impl Part<'_> {
    /// The items that were added.
    fn items(&self) -> u64 {
        self.filter.key_count() / u64::from(self.layout.rounds())
    }
}

/// The plain filters of a value, those of all links.
fn parts<'a>(value: &'a Value) -> Vec<Part<'a>> {
    match value {
        Value::Bloom(chain) => {
            let part = |(i, link): (usize, &'a Link)| {
                let (filter, layout) = (&link.filter, chain.plan.layout);
                Part { filter, layout, capacity: link.capacity, rate: chain.plan.rate_of(i) }
            };
            chain.links.iter().enumerate().map(part).collect()
        }
        Value::Counting(counting) => {
            let (filter, capacity) = (counting.filter.filter(), counting.capacity);
            let rate = filter.params().rate(capacity);
            vec![Part { filter, layout: Layout::Lines, capacity, rate }]
        }
        _ => Vec::new(),
    }
}

/// Whether these can be merged, the first with all others.
fn check(all: &[&Value]) -> Result<(), Fail> {
    for value in all {
        match (all[0], value) {
            (Value::Bloom(first), Value::Bloom(chain)) if !can_follow(first, chain) => {
                return Err(Error::Mismatch.into());
            }
            (Value::Bloom(_), Value::Bloom(_))
            | (Value::Counting(_), Value::Counting(_))
            | (Value::Growing(_), Value::Growing(_)) => {}
            (Value::Static(_), _) | (_, Value::Static(_)) => {
                return fail("ERR a static filter cannot be merged: build one of all keys");
            }
            (_, Value::Bloom(_) | Value::Counting(_) | Value::Growing(_)) => {
                return Err(Error::Mismatch.into());
            }
            _ => return Err(Fail::WrongType),
        }
    }
    let all: Vec<_> = all.iter().map(|value| parts(value)).collect();
    let Some(longest) = all.iter().max_by_key(|parts| parts.len()) else { return Ok(()) };
    let same = |(a, b): (&Part<'_>, &Part<'_>)| {
        a.filter.params() == b.filter.params() && a.layout == b.layout
    };
    if all.iter().all(|parts| parts.iter().zip(longest).all(same)) {
        Ok(())
    } else {
        Err(Error::Mismatch.into())
    }
}

/// Whether the links of both series can follow each other: both grow alike, or one does not grow
/// and there are as many. What a series was planned for does not count then, the shape of its links
/// does: a filter of a file has no plan.
fn can_follow(a: &Chain, b: &Chain) -> bool {
    let one_is_fixed = a.plan.expansion == 0 || b.plan.expansion == 0;
    a.plan == b.plan || one_is_fixed && a.links.len() == b.links.len()
}

/// Adds all items of the others, which [`check`] has found alike, link by link. At an error nothing
/// has changed.
fn unite(into: &mut Value, others: &[&Value]) -> Result<(), Error> {
    match into {
        Value::Bloom(into) => {
            let others = others.iter().filter_map(|value| match value {
                Value::Bloom(chain) => Some(chain),
                _ => None,
            });
            let before = into.links.len();
            let longest = others.clone().max_by_key(|chain| chain.links.len());
            if let Err(error) = longest.map_or(Ok(()), |longest| add_links(into, longest)) {
                into.links.truncate(before);
                return Err(error);
            }
            for (i, into) in into.links.iter_mut().enumerate() {
                into.unite(others.clone().filter_map(|chain| chain.links.get(i)))?;
            }
        }
        Value::Counting(into) => {
            for value in others {
                if let Value::Counting(from) = value {
                    into.filter.union(&from.filter)?;
                }
            }
        }
        Value::Growing(into) => **into = union_of(into, others)?,
        _ => {}
    }
    Ok(())
}

/// A growing filter with all items of one and of the others, each as often as in all together.
fn union_of(first: &Growing, others: &[&Value]) -> Result<Growing, Error> {
    let mut union = first.try_clone()?;
    for value in others {
        if let Value::Growing(from) = value {
            union.change(|filter| filter.union(from.filter()))?;
        }
    }
    Ok(union)
}

/// Empty links after the last, as the other has them.
fn add_links(into: &mut Chain, like: &Chain) -> Result<(), Error> {
    let more = like.links.get(into.links.len()..).unwrap_or(&[]);
    into.links.try_reserve_exact(more.len()).map_err(|_| Error::OutOfMemory)?;
    for Link { filter, capacity } in more {
        let filter = Filter::new(filter.params())?;
        into.links.push(Link { filter, capacity: *capacity });
    }
    Ok(())
}

/// Whether each link of the result keeps the rate of the first that has it: by the count of items,
/// or, as that counts items twice that several filters have, by the bits.
///
/// # Errors
/// Those of a union that is made to see.
fn keeps_rate(all: &[&Value]) -> Result<bool, Error> {
    if let Value::Growing(first) = all[0] {
        let union = union_of(first, &all[1..])?;
        let (filter, most) = (union.filter(), first.filter().target_rate());
        let is_within = !filter.is_unbounded() && filter.key_count() <= filter.expected_keys();
        return Ok(is_within || filter.estimated_rate() <= most * TOLERANCE);
    }
    let all: Vec<_> = all.iter().map(|value| parts(value)).collect();
    let links = all.iter().map(Vec::len).max().unwrap_or(0);
    Ok((0..links).all(|i| {
        let parts: Vec<&Part<'_>> = all.iter().filter_map(|parts| parts.get(i)).collect();
        let items = parts.iter().map(|part| part.items()).fold(0, u64::saturating_add);
        let filters: Vec<&Filter> = parts.iter().map(|part| part.filter).collect();
        let rounds = parts[0].layout.rounds() as i32;
        items <= parts[0].capacity
            || rate_of_union(&filters).powi(rounds) <= parts[0].rate * TOLERANCE
    }))
}

/// What [`Filter::estimated_rate`] would be of the union, at least one. No copy is made.
fn rate_of_union(filters: &[&Filter]) -> f64 {
    let params = filters[0].params();
    let (mut bits, mut sum) = (0, 0.0);
    for i in 0..params.line_count() as usize {
        let mut lanes = [0; 8];
        for filter in filters {
            let (words, _) = filter.lines()[64 * i..][..64].as_chunks::<8>();
            lanes.iter_mut().zip(words).for_each(|(lane, word)| *lane |= u64::from_le_bytes(*word));
        }
        let set = lanes.map(|lane: u64| lane.count_ones());
        bits += u64::from(set.iter().sum::<u32>());
        if !params.is_classic() {
            sum += rate_of_line(&set.map(|bits| f64::from(bits) / 64.0), params.k());
        }
    }
    let lines = params.line_count() as f64;
    if params.is_classic() {
        (bits as f64 / (512.0 * lines)).powi(params.k() as i32)
    } else {
        sum / lines
    }
}

/// The probability that an absent item finds its bits set in a line with lanes this full: a bit in
/// each of k lanes in a row, from one of 8 starts; above 8, in all of them and in k - 8 more.
fn rate_of_line(lanes: &[f64; 8], k: u32) -> f64 {
    let round = |count: u32| {
        let from = |start| (0..count as usize).map(|i| lanes[(start + i) % 8]).product::<f64>();
        (0..8).map(from).sum::<f64>() / 8.0
    };
    round(k.min(8)) * round(k.saturating_sub(8))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrived::Arrived;
    use crate::bloom::Plan;
    use bloomline::Params;
    use bloomline::hash::hash_u64;

    fn chain(expansion: u32, from: u64, to: u64) -> Chain {
        chain_of(Layout::Lines, expansion, from, to)
    }

    fn chain_of(layout: Layout, expansion: u32, from: u64, to: u64) -> Chain {
        let plan = Plan { rate: 0.01, capacity: 1000, expansion, seed: 1, layout };
        let mut chain = Chain::new(plan, Limit::none()).unwrap();
        let hashes: Vec<u64> = (from..to).map(|i| hash_u64(i, 0)).collect();
        chain.insert(&hashes, Limit::none(), |_| ()).unwrap();
        chain
    }

    fn value(from: u64, to: u64) -> Value {
        Value::Bloom(chain(2, from, to))
    }

    fn contains(value: &Value, i: u64) -> bool {
        let mut words = [0; crate::items::WORDS];
        value.probe(&[hash_u64(i, 0)], &mut words);
        words[0] & 1 != 0
    }

    fn items(value: &Value) -> u64 {
        parts(value).iter().map(Part::items).sum()
    }

    #[test]
    fn all_items_of_all_are_in_whichever_has_more_links() {
        let ranges = [(0, 100), (100, 5000), (5000, 5400), (400, 2500)];
        for turn in 0..ranges.len() {
            let mut ranges = ranges;
            ranges.rotate_left(turn);
            let mut into = value(ranges[0].0, ranges[0].1);
            let others: Vec<Value> = ranges[1..].iter().map(|&(a, b)| value(a, b)).collect();
            let others: Vec<&Value> = others.iter().collect();
            let sum = items(&into) + others.iter().map(|value| items(value)).sum::<u64>();
            unite(&mut into, &others).unwrap();
            assert!((0..5400).all(|i| contains(&into, i)));
            assert!((5300..=sum).contains(&items(&into)), "{} of {sum}", items(&into));
        }
    }

    #[test]
    fn items_that_several_filters_have_count_once() {
        for layout in Layout::ALL {
            let part = |from, to| Value::Bloom(chain_of(layout, 0, from, to));
            let mut into = part(0, 400);
            unite(&mut into, &[&part(400, 800)]).unwrap();
            assert_eq!(items(&into), items(&part(0, 400)) + items(&part(400, 800)), "{layout:?}");
            for _ in 0..5 {
                unite(&mut into, &[&part(0, 800), &part(300, 700)]).unwrap();
            }
            assert!((780..=850).contains(&items(&into)), "{layout:?}: {}", items(&into));
            // So it takes more, as many as it was made for.
            let hashes: Vec<u64> = (800..940).map(|i| hash_u64(i, 0)).collect();
            let Value::Bloom(chain) = &mut into else { panic!() };
            assert_eq!(chain.insert(&hashes, Limit::none(), |_| ()), Ok(()), "{layout:?}");
        }
    }

    #[test]
    fn shapes_count_where_one_does_not_grow_and_plans_where_both_do() {
        let ok = |a: &Chain, b: &Chain| {
            let copy = |chain: &Chain| Value::Bloom(chain.try_clone().unwrap());
            check(&[&copy(a), &copy(b)]).is_ok() && check(&[&copy(b), &copy(a)]).is_ok()
        };
        let (grows, fixed) = (chain(2, 0, 10), chain(0, 0, 10));
        let filter = fixed.links[0].filter.try_clone().unwrap();
        let Value::Bloom(file) =
            crate::finish::from_file(&mut Arrived::of(&filter.to_bytes().unwrap()), 0, None)
                .unwrap()
        else {
            panic!()
        };
        assert!(file.plan != fixed.plan);
        assert!(ok(&file, &fixed) && ok(&file, &file) && ok(&fixed, &fixed) && ok(&grows, &grows));
        // Another shape, since its first link has a part of the rate only.
        assert!(!ok(&grows, &fixed));
        let mut seed = chain(2, 0, 10);
        seed.plan.seed = 2;
        assert!(!ok(&seed, &grows));
        let mut other = chain(2, 0, 10);
        other.plan.expansion = 3;
        assert!(!ok(&other, &grows), "they would grow apart");
        other.plan.expansion = 0;
        assert!(ok(&other, &grows), "the same shape, and one does not grow");
        assert!(!ok(&other, &chain(2, 0, 5000)), "more links");
    }

    #[test]
    fn overlap_counts_once_for_the_rate() {
        let (one, same, more) = (value(0, 900), value(0, 900), value(900, 1800));
        assert!(keeps_rate(&[&one, &same]).unwrap());
        assert!(!keeps_rate(&[&one, &more]).unwrap());
    }

    #[test]
    fn the_rate_of_the_union_is_that_of_the_united() {
        for (k, classic) in [(1, false), (6, false), (8, false), (11, false), (7, true)] {
            let new = if classic { Params::classic } else { Params::new };
            let params = new(50, k, 3).unwrap();
            let (mut a, mut b) = (Filter::new(params).unwrap(), Filter::new(params).unwrap());
            let hashes: Vec<u64> = (0..2500).map(|i| hash_u64(i, 0)).collect();
            a.insert_hashes(&hashes[..1500]);
            b.insert_hashes(&hashes[1000..]);
            let told = rate_of_union(&[&a, &b]);
            a.union(&b).unwrap();
            let rate = a.estimated_rate();
            assert!((told - rate).abs() < 1e-9 * rate, "{k}: {told} {rate}");
        }
    }
}
