//! MERGE: all items of several filters of one shape, in one.

use super::value_of;
use crate::api::{Args, Ctx, Found, Key};
use crate::bloom::{Chain, Link};
use crate::command::{Fail, Outcome, fail};
use crate::limit::Limit;
use crate::object::{Object, Value};
use bloomline::Error;

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
    if args.len() < 3 {
        return Err(Fail::Arity);
    }
    // A copy is merged into, and takes the place of the filter at the end: an error changes nothing.
    let mut merged = {
        let dest = Key::open(ctx, args.raw(1), false);
        match dest.get() {
            Found::Absent => None,
            _ => Some(copy(value_of(&dest)?)?),
        }
    };
    for i in 2..args.len() {
        let key = Key::open(ctx, args.raw(i), false);
        let source = value_of(&key)?;
        match &mut merged {
            None => merged = Some(copy(source)?),
            // A filter has its own items already.
            Some(_) if args.bytes(i) == args.bytes(1) => {}
            Some(merged) => union(merged, source)?,
        }
    }
    let merged = merged.ok_or(Fail::Arity)?;
    if !force && !keeps_rate(&merged) {
        return fail(
            "ERR the merged filter would exceed its error rate: BL.MERGEFORCE merges anyway",
        );
    }
    let object = Object::new(merged);
    Limit::of(ctx).allows(object.memory())?;
    Key::open(ctx, args.raw(1), true).set(object);
    ctx.replicate(c"BL.MERGEFORCE", args.from(1).as_raw());
    ctx.notify(c"bloom.merge", args.raw(1));
    ctx.ok();
    Ok(())
}

fn copy(value: &Value) -> Result<Value, Fail> {
    match value {
        Value::Bloom(chain) => Ok(Value::Bloom(chain.try_clone()?)),
        Value::Counting(counting) => Ok(Value::Counting(counting.try_clone()?)),
        _ => Err(Fail::WrongType),
    }
}

fn union(into: &mut Value, from: &Value) -> Result<(), Fail> {
    match (into, from) {
        (Value::Bloom(into), Value::Bloom(from)) => Ok(unite(into, from)?),
        (Value::Counting(into), Value::Counting(from)) => Ok(into.filter.union(&from.filter)?),
        (_, Value::Bloom(_) | Value::Counting(_)) => Err(Error::Mismatch.into()),
        _ => Err(Fail::WrongType),
    }
}

/// Link by link; links that only one has are taken as they are.
fn unite(into: &mut Chain, from: &Chain) -> Result<(), Error> {
    if into.plan != from.plan {
        return Err(Error::Mismatch);
    }
    for (into, from) in into.links.iter_mut().zip(&from.links) {
        into.filter.union(&from.filter)?;
    }
    for link in from.links.iter().skip(into.links.len()) {
        into.links.push(Link { filter: link.filter.try_clone()?, capacity: link.capacity });
    }
    Ok(())
}

/// Whether each link keeps its rate: by its count of items, or, as that counts items twice that
/// several filters have, by its bits.
fn keeps_rate(value: &Value) -> bool {
    match value {
        Value::Bloom(chain) => chain.links.iter().enumerate().all(|(i, link)| {
            link.filter.key_count() <= link.capacity
                || link.filter.estimated_rate() <= chain.plan.rate_of(i) * TOLERANCE
        }),
        Value::Counting(counting) => {
            let (filter, capacity) = (&counting.filter, counting.capacity);
            filter.key_count() <= capacity
                || filter.filter().estimated_rate() <= filter.params().rate(capacity) * TOLERANCE
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bloom::Plan;
    use bloomline::hash::hash_u64;

    fn chain(from: u64, to: u64) -> Chain {
        let plan = Plan { rate: 0.01, capacity: 1000, expansion: 2, seed: 1 };
        let mut chain = Chain::new(plan, Limit::none()).unwrap();
        let hashes: Vec<u64> = (from..to).map(|i| hash_u64(i, 0)).collect();
        chain.insert(&hashes, Limit::none(), |_| ()).unwrap();
        chain
    }

    #[test]
    fn all_items_of_both_are_in_whichever_has_more_links() {
        for (one, other) in [((0, 100), (100, 5000)), ((0, 5000), (4000, 4500))] {
            let (mut into, from) = (chain(one.0, one.1), chain(other.0, other.1));
            unite(&mut into, &from).unwrap();
            let all = (one.0..one.1).chain(other.0..other.1);
            assert!(all.into_iter().all(|i| into.contains(hash_u64(i, 0))));
        }
        let mut other = chain(0, 10);
        other.plan.seed = 2;
        assert_eq!(unite(&mut other, &chain(0, 10)), Err(Error::Mismatch));
    }

    #[test]
    fn overlap_counts_once_for_the_rate() {
        let mut same = chain(0, 900);
        unite(&mut same, &chain(0, 900)).unwrap();
        assert!(same.items() > 1000 && keeps_rate(&Value::Bloom(same)));
        let mut more = chain(0, 900);
        unite(&mut more, &chain(900, 1800)).unwrap();
        assert!(!keeps_rate(&Value::Bloom(more)));
    }
}
