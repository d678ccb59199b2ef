//! Counting filters: `BL.C.*`. Items can be removed and counted.

use super::values::Counting;
use crate::api::{Args, Ctx};
use crate::bloom::{self, new_seed, only_seed};
use crate::command::{Command, Fail, Outcome, command, fail, no_memory};
use crate::image::Kind;
use crate::items::{collect, many, one};
use crate::key::{Found, Key, find, must_be_absent};
use crate::limit::Limit;
use crate::object::{Object, Value};
use crate::probe;
use bloomline::hash::hash;
use bloomline::{CountingFilter, Params};

pub(crate) const COMMANDS: &[Command] = &[
    command!(
        "RESERVE key rate capacity [SEED n]",
        Insert,
        reserve,
        "Makes an empty counting filter.",
        "O(capacity)"
    ),
    command!("ADD key item", Insert, add, "Adds an item.", "O(1)"),
    command!("MADD key item [item ...]", Insert, madd, "Adds items.", "O(items)"),
    command!(
        "DEL key item",
        Delete,
        delete,
        "Removes an item once. Remove only what was added.",
        "O(1)"
    ),
    command!(
        "MDEL key item [item ...]",
        Delete,
        mdelete,
        "Removes items once each. Remove only what was added.",
        "O(items)"
    ),
    command!(
        "EXISTS key item",
        Read,
        exists,
        "Returns whether an item may be in the filter.",
        "O(1)"
    ),
    command!(
        "MEXISTS key item [item ...]",
        Read,
        mexists,
        "Returns for each item whether it may be in the filter.",
        "O(items)"
    ),
    command!(
        "COUNT key item",
        Read,
        count,
        "Returns how often an item may be in the filter, up to 15.",
        "O(1)"
    ),
    command!("INFO key", Read, info, "Returns what is known of the filter.", "O(1)"),
];

/// The counting filter of a value.
fn counting(value: &Value) -> Option<&Counting> {
    match value {
        Value::Counting(counting) => Some(counting),
        _ => None,
    }
}

/// The filter of a key, to be changed; its absence is an error.
fn change<T>(
    key: &mut Key<'_>,
    change: impl FnOnce(&mut CountingFilter, u64) -> T,
) -> Result<T, Fail> {
    if find(key, counting)?.is_none() {
        return fail("ERR not found");
    }
    let Found::Ours(object) = key.get_mut() else { return Err(Fail::WrongType) };
    let Value::Counting(counting) = &mut object.value else { return Err(Fail::WrongType) };
    let seed = counting.filter.params().seed();
    Ok(change(&mut counting.filter, seed))
}

fn reserve(ctx: Ctx, args: Args<'_>) -> Outcome {
    if args.len() != 4 && args.len() != 6 {
        return Err(Fail::Arity);
    }
    let (rate, capacity) = (bloom::rate(args.bytes(2))?, bloom::capacity(args.bytes(3), true)?);
    let seed = only_seed(args, 4)?;
    let mut key = Key::open(ctx, args.raw(1), true);
    must_be_absent(&key, Kind::Counting)?;
    let params = Params::for_rate(capacity, rate)?.with_seed(new_seed(seed)?);
    // Lines and counters: five times the lines.
    let (limit, bytes) = (Limit::of(ctx), params.bytes().saturating_mul(5));
    limit.allows(bytes, bytes).map_err(no_memory)?;
    let filter = CountingFilter::new(params).map_err(no_memory)?;
    let counting = Counting { filter, capacity };
    limit.allows(counting.memory(), 0).map_err(no_memory)?;
    key.set(Object::new(Value::Counting(Box::new(counting))));
    let seed = params.seed().to_string();
    let done = [args.bytes(2), args.bytes(3), b"SEED", seed.as_bytes()];
    ctx.replicate_new(c"BL.C.RESERVE", args.raw(1), &done);
    ctx.notify(c"counting.reserve", args.raw(1));
    ctx.ok();
    Ok(())
}

fn add_all(ctx: Ctx, args: Args<'_>) -> Result<Vec<bool>, Fail> {
    let mut key = Key::open(ctx, args.raw(1), true);
    let items = args.from(2);
    let new = change(&mut key, |filter, seed| {
        collect(items, seed, |hashes, words| {
            filter.insert_new_hashes(hashes, words);
        })
    })?;
    // The replica adds the same. Another command would have to be made.
    ctx.replicate_this();
    ctx.notify(c"counting.add", args.raw(1));
    Ok(new)
}

fn delete_all(ctx: Ctx, args: Args<'_>) -> Result<Vec<bool>, Fail> {
    let mut key = Key::open(ctx, args.raw(1), true);
    let items = args.from(2);
    let removed: Vec<bool> = change(&mut key, |filter, seed| {
        items.iter().map(|item| filter.remove_hash(hash(item, seed)).is_ok()).collect()
    })?;
    if removed.contains(&true) {
        // The replica, with the same counters, removes the same.
        ctx.replicate_this();
        ctx.notify(c"counting.del", args.raw(1));
    }
    Ok(removed)
}

fn add(ctx: Ctx, args: Args<'_>) -> Outcome {
    one(ctx, args, add_all)
}

fn madd(ctx: Ctx, args: Args<'_>) -> Outcome {
    many(ctx, args, add_all)
}

fn delete(ctx: Ctx, args: Args<'_>) -> Outcome {
    one(ctx, args, delete_all)
}

fn mdelete(ctx: Ctx, args: Args<'_>) -> Outcome {
    many(ctx, args, delete_all)
}

fn exists(ctx: Ctx, args: Args<'_>) -> Outcome {
    probe::exists(ctx, args, |value| counting(value).is_some())
}

fn mexists(ctx: Ctx, args: Args<'_>) -> Outcome {
    probe::mexists(ctx, args, |value| counting(value).is_some())
}

fn count(ctx: Ctx, args: Args<'_>) -> Outcome {
    let key = Key::open(ctx, args.raw(1), false);
    ctx.count(
        find(&key, counting)?.map_or(0, |counting| counting.filter.count(args.bytes(2)).into()),
    );
    Ok(())
}

fn info(ctx: Ctx, args: Args<'_>) -> Outcome {
    let key = Key::open(ctx, args.raw(1), false);
    let Some(counting) = find(&key, counting)? else { return fail("ERR not found") };
    let fields = [
        ("Capacity", counting.capacity),
        ("Size", counting.size() as u64),
        ("Items", counting.filter.key_count()),
    ];
    ctx.numbers(&fields, 0);
    Ok(())
}
