//! Counting filters: `BL.C.*`. Items can be removed and counted.

use crate::allocator::memory_of;
use crate::api::raw::RawString;
use crate::api::{Args, Ctx, Found, Key};
use crate::arrived::Arrived;
use crate::bloom::{self, after, new_seed};
use crate::command::{Command, Fail, Outcome, command, fail};
use crate::dump;
use crate::image::{File, Header, Kind};
use crate::items::{WORDS, answers, in_blocks, reply};
use crate::limit::Limit;
use crate::object::{Object, Value, must_be_absent};
use crate::parse;
use bloomline::hash::hash;
use bloomline::{CountingFilter, Error, Params};

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

/// A counting filter.
pub(crate) struct Counting {
    pub(crate) filter: CountingFilter,
    /// The items it is made for.
    pub(crate) capacity: u64,
}

impl Counting {
    /// The bytes it asks for: the same on every server.
    pub(crate) fn size(&self) -> usize {
        self.filter.encoded_len()
    }

    /// The bytes it takes.
    pub(crate) fn memory(&self) -> usize {
        memory_of(self.filter.filter().lines()) + memory_of(self.filter.counters())
    }

    pub(crate) fn try_clone(&self) -> Result<Counting, Error> {
        Ok(Counting { filter: self.filter.try_clone()?, capacity: self.capacity })
    }

    /// Its number: the capacity.
    pub(crate) fn header(&self) -> Header {
        Header::new(Kind::Counting, vec![self.capacity], &self.files())
    }

    pub(crate) fn files(&self) -> Vec<File<'_>> {
        vec![File::Counting(&self.filter)]
    }

    pub(crate) fn from_image(header: &Header, body: &mut Arrived) -> Result<Counting, Error> {
        let &[capacity] = header.numbers.as_slice() else { return Err(Error::NotAFilter) };
        Ok(Counting { filter: CountingFilter::load_from(body.take(body.left())?)?, capacity })
    }
}

/// The filter of a key; None if there is no such key.
fn counting_of<'k>(key: &'k Key<'_>) -> Result<Option<&'k Counting>, Fail> {
    match key.get() {
        Found::Absent => Ok(None),
        Found::Foreign => Err(Fail::WrongType),
        Found::Ours(object) => match &object.value {
            Value::Counting(counting) => Ok(Some(counting)),
            Value::Loading(_) => dump::still_loading(),
            _ => Err(Fail::WrongType),
        },
    }
}

/// The filter of a key, to be changed; its absence is an error.
fn change<T>(
    key: &mut Key<'_>,
    change: impl FnOnce(&mut CountingFilter, u64) -> T,
) -> Result<T, Fail> {
    if counting_of(key)?.is_none() {
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
    let seed = match after(args, "SEED", 4)? {
        Some(text) => Some(parse::unsigned(text).ok_or(Fail::Text("ERR bad seed".into()))?),
        None if args.len() == 6 => return fail("ERR unknown argument"),
        None => None,
    };
    let mut key = Key::open(ctx, args.raw(1), true);
    must_be_absent(&key, Kind::Counting)?;
    let params = Params::for_rate(capacity, rate)?.with_seed(new_seed(seed)?);
    let no_memory = |_| Fail::Text("ERR Insufficient memory to create filter".into());
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

fn add_all(ctx: Ctx, name: *mut RawString, args: Args<'_>) -> Result<Vec<bool>, Fail> {
    let mut key = Key::open(ctx, name, true);
    let items = args.from(2);
    let new = change(&mut key, |filter, seed| {
        let mut found = Vec::with_capacity(items.len());
        in_blocks(items, seed, |hashes| {
            let mut words = [0; WORDS];
            filter.insert_new_hashes(hashes, words.as_mut_slice());
            found.extend(answers(&words, hashes.len()));
        });
        found
    })?;
    // The replica adds the same. Another command would have to be made.
    ctx.replicate_this();
    ctx.notify(c"counting.add", name);
    Ok(new)
}

fn delete_all(ctx: Ctx, name: *mut RawString, args: Args<'_>) -> Result<Vec<bool>, Fail> {
    let mut key = Key::open(ctx, name, true);
    let items = args.from(2);
    let removed: Vec<bool> = change(&mut key, |filter, seed| {
        items.iter().map(|item| filter.remove_hash(hash(item, seed)).is_ok()).collect()
    })?;
    if removed.contains(&true) {
        // The replica, with the same counters, removes the same.
        ctx.replicate_this();
        ctx.notify(c"counting.del", name);
    }
    Ok(removed)
}

fn one(ctx: Ctx, args: Args<'_>, all: All) -> Outcome {
    ctx.boolean(all(ctx, args.raw(1), args)?[0]);
    Ok(())
}

fn many(ctx: Ctx, args: Args<'_>, all: All) -> Outcome {
    reply(ctx, &all(ctx, args.raw(1), args)?);
    Ok(())
}

/// What [`one`] and [`many`] do.
type All = fn(Ctx, *mut RawString, Args<'_>) -> Result<Vec<bool>, Fail>;

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
    one(ctx, args, find_all)
}

fn mexists(ctx: Ctx, args: Args<'_>) -> Outcome {
    many(ctx, args, find_all)
}

fn find_all(ctx: Ctx, name: *mut RawString, args: Args<'_>) -> Result<Vec<bool>, Fail> {
    let key = Key::open(ctx, name, false);
    let items = args.from(2);
    let Some(counting) = counting_of(&key)? else { return Ok(vec![false; items.len()]) };
    let mut found = Vec::with_capacity(items.len());
    in_blocks(items, counting.filter.params().seed(), |hashes| {
        let mut words = [0; WORDS];
        counting.filter.contains_hashes(hashes, words.as_mut_slice());
        found.extend(answers(&words, hashes.len()));
    });
    Ok(found)
}

fn count(ctx: Ctx, args: Args<'_>) -> Outcome {
    let key = Key::open(ctx, args.raw(1), false);
    ctx.count(counting_of(&key)?.map_or(0, |counting| counting.filter.count(args.bytes(2)).into()));
    Ok(())
}

fn info(ctx: Ctx, args: Args<'_>) -> Outcome {
    let key = Key::open(ctx, args.raw(1), false);
    let Some(counting) = counting_of(&key)? else { return fail("ERR not found") };
    let fields: [(&str, u64); 3] = [
        ("Capacity", counting.capacity),
        ("Size", counting.size() as u64),
        ("Items", counting.filter.key_count()),
    ];
    ctx.map(fields.len());
    for (name, number) in fields {
        ctx.label(name);
        ctx.count(number);
    }
    Ok(())
}
