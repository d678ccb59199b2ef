//! Growing filters: `BL.G.*`. They grow and shrink with their items, which can be removed and counted.

use super::values::Growing;
use crate::added::Added;
use crate::api::raw::RawString;
use crate::api::{Args, Ctx};
use crate::bloom::{self, MAX_RATE, after, new_seed};
use crate::command::{Command, Fail, Outcome, command, fail, no_memory};
use crate::config::config;
use crate::image::Kind;
use crate::items::{collect, many, one};
use crate::key::{Found, Key, find, must_be_absent};
use crate::limit::Limit;
use crate::object::{Object, Value};
use crate::{parse, probe};
use bloomline::{Error, GrowingFilter};

pub(crate) const COMMANDS: &[Command] = &[
    command!(
        "RESERVE key rate [CAPACITY n|EXPECTED n] [SEED n]",
        Insert,
        reserve,
        "Makes an empty growing filter: for so many items at most, or for any number.",
        "O(1)"
    ),
    command!(
        "ADD key item",
        Insert,
        add,
        "Adds an item, once more if it is there. Makes the filter if there is none.",
        "O(1)"
    ),
    command!(
        "MADD key item [item ...]",
        Insert,
        madd,
        "Adds items, once more if they are there. Makes the filter if there is none.",
        "O(items)"
    ),
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
        "Returns how often an item may be in the filter.",
        "O(1)"
    ),
    command!("INFO key", Read, info, "Returns what is known of the filter.", "O(1)"),
];

/// The growing filter of a value.
fn growing(value: &Value) -> Option<&Growing> {
    match value {
        Value::Growing(growing) => Some(growing),
        _ => None,
    }
}

/// A filter to be made.
#[derive(Clone, Copy)]
struct Wanted {
    rate: f64,
    /// Whether no more items are to come than `items`; else these are the first of any number.
    is_bounded: bool,
    items: u64,
    seed: u64,
}

impl Wanted {
    /// What is configured, for any number of items.
    fn by_default() -> Result<Wanted, Fail> {
        let (rate, items) = (config().bf_error_rate, config().bf_initial_size);
        Ok(Wanted { rate, is_bounded: false, items, seed: new_seed(None)? })
    }

    fn make(self) -> Result<GrowingFilter, Error> {
        let Wanted { rate, is_bounded, items, seed } = self;
        let make = if is_bounded { GrowingFilter::new } else { GrowingFilter::unbounded };
        make(items, rate, seed)
    }
}

/// The arguments of RESERVE.
fn wanted(args: Args<'_>) -> Result<Wanted, Fail> {
    let rate = bloom::rate(args.bytes(2))?.min(MAX_RATE);
    let [most, first, seed] = ["CAPACITY", "EXPECTED", "SEED"].map(|word| after(args, word, 3));
    let (most, first, seed) = (most?, first?, seed?);
    let given = [most, first, seed].iter().flatten().count();
    if args.len() != 3 + 2 * given || (most.is_some() && first.is_some()) {
        return fail("ERR unknown argument");
    }
    let items = most.or(first).map(|text| bloom::capacity(text, true)).transpose()?;
    let seed = seed.map(|text| parse::unsigned(text).ok_or(Fail::Text("ERR bad seed".into())));
    Ok(Wanted {
        rate,
        is_bounded: most.is_some(),
        items: items.unwrap_or(config().bf_initial_size),
        seed: new_seed(seed.transpose()?)?,
    })
}

fn reserve(ctx: Ctx, args: Args<'_>) -> Outcome {
    let wanted = wanted(args)?;
    let mut key = Key::open(ctx, args.raw(1), true);
    must_be_absent(&key, Kind::Growing)?;
    create(ctx, &mut key, args.raw(1), wanted)?;
    ctx.ok();
    Ok(())
}

/// Makes the filter of an absent key, here and on replicas.
fn create(ctx: Ctx, key: &mut Key<'_>, name: *mut RawString, wanted: Wanted) -> Outcome {
    let growing = Growing::new(|| wanted.make()).map_err(|error| match error {
        Error::OutOfMemory => no_memory(error),
        error => error.into(),
    })?;
    Limit::of(ctx).allows(growing.memory(), 0).map_err(no_memory)?;
    key.set(Object::new(Value::Growing(Box::new(growing))));
    // All that a replica, with its own options, would choose otherwise.
    let Wanted { rate, is_bounded, items, seed } = wanted;
    let word: &[u8] = if is_bounded { b"CAPACITY" } else { b"EXPECTED" };
    let (rate, items, seed) = (format!("{rate:e}"), items.to_string(), seed.to_string());
    let args = [rate.as_bytes(), word, items.as_bytes(), b"SEED", seed.as_bytes()];
    ctx.replicate_new(c"BL.G.RESERVE", name, &args);
    ctx.notify(c"growing.reserve", name);
    Ok(())
}

/// The filter of a key that is there, to be changed.
fn to_change<'k>(key: &'k mut Key<'_>) -> Result<&'k mut Object, Fail> {
    match key.get_mut() {
        Found::Ours(object) => Ok(object),
        Found::Absent | Found::Foreign => Err(Fail::WrongType),
    }
}

/// Adds items, makes the filter if the key is absent, and replicates exactly what was done.
fn add_all(ctx: Ctx, args: Args<'_>) -> Result<Added, Fail> {
    let (name, items) = (args.raw(1), args.from(2));
    let mut key = Key::open(ctx, name, true);
    if find(&key, growing)?.is_none() {
        create(ctx, &mut key, name, Wanted::by_default()?)?;
    }
    let object = to_change(&mut key)?;
    let Value::Growing(growing) = &mut object.value else { return Err(Fail::WrongType) };
    let (seed, limit) = (growing.filter().seed(), Limit::of(ctx));
    let added = Added::of(items, seed, |hashes, answers| {
        growing.insert(hashes, limit, |new| answers.push(new))
    });
    object.recount();
    if !added.answers.is_empty() {
        // An item that was there is there once more.
        added.replicate(ctx, c"BL.G.MADD", name, items);
        ctx.notify(c"growing.add", name);
    }
    Ok(added)
}

fn delete_all(ctx: Ctx, args: Args<'_>) -> Result<Vec<bool>, Fail> {
    let (name, items) = (args.raw(1), args.from(2));
    let mut key = Key::open(ctx, name, true);
    if find(&key, growing)?.is_none() {
        return fail("ERR not found");
    }
    let object = to_change(&mut key)?;
    let Value::Growing(growing) = &mut object.value else { return Err(Fail::WrongType) };
    let removed = collect(items, growing.filter().seed(), |hashes, words| {
        growing.change(|filter| filter.remove_hashes(hashes, words));
    });
    object.recount();
    if removed.contains(&true) {
        if removed.contains(&false) {
            // What is absent here may seem present on a replica, whose prefixes can have other lengths. It would
            // take the prefix of another item.
            let gone = items.as_raw().iter().zip(&removed).filter(|&(_, &removed)| removed);
            let args: Vec<_> = std::iter::once(name).chain(gone.map(|(&item, _)| item)).collect();
            ctx.replicate(c"BL.G.MDEL", &args);
        } else {
            ctx.replicate_this();
        }
        ctx.notify(c"growing.del", name);
    }
    Ok(removed)
}

fn add(ctx: Ctx, args: Args<'_>) -> Outcome {
    add_all(ctx, args)?.reply_one(ctx)
}

fn madd(ctx: Ctx, args: Args<'_>) -> Outcome {
    add_all(ctx, args)?.reply_all(ctx)
}

fn delete(ctx: Ctx, args: Args<'_>) -> Outcome {
    one(ctx, args, delete_all)
}

fn mdelete(ctx: Ctx, args: Args<'_>) -> Outcome {
    many(ctx, args, delete_all)
}

fn exists(ctx: Ctx, args: Args<'_>) -> Outcome {
    probe::exists(ctx, args, |value| growing(value).is_some())
}

fn mexists(ctx: Ctx, args: Args<'_>) -> Outcome {
    probe::mexists(ctx, args, |value| growing(value).is_some())
}

fn count(ctx: Ctx, args: Args<'_>) -> Outcome {
    let key = Key::open(ctx, args.raw(1), false);
    let growing = find(&key, growing)?;
    ctx.count(growing.map_or(0, |growing| growing.filter().count(args.bytes(2))));
    Ok(())
}

fn info(ctx: Ctx, args: Args<'_>) -> Outcome {
    let key = Key::open(ctx, args.raw(1), false);
    let Some(growing) = find(&key, growing)? else { return fail("ERR not found") };
    let filter = growing.filter();
    ctx.map(4);
    ctx.label("Capacity");
    if filter.is_unbounded() {
        ctx.null();
    } else {
        ctx.count(filter.expected_keys());
    }
    ctx.label("Size");
    ctx.count(growing.memory() as u64);
    ctx.label("Items");
    ctx.count(filter.key_count());
    ctx.label("Rate");
    ctx.bytes(filter.target_rate().to_string().as_bytes());
    Ok(())
}
