//! The commands: RESERVE, ADD, MADD, INSERT, EXISTS, MEXISTS, CARD.

use super::chain::Chain;
use super::info::{debug, filter_of, info, is_bloom};
use super::options::{self, Wanted};
use super::plan::Plan;
use crate::added::Added;
use crate::api::raw::RawString;
use crate::api::{Args, Ctx};
use crate::command::{Command, Fail, Outcome, command, not_made};
use crate::dump;
use crate::image::Kind;
use crate::key::{Found, Key, must_be_absent, read_only};
use crate::limit::Limit;
use crate::object::{Object, Value};
use crate::probe;
use bloomline::hash::hash;

pub(crate) const COMMANDS: &[Command] = &[
    // First one that other modules have, too: where it is taken, the others are not tried.
    command!(
        "ADD key item",
        Insert,
        add,
        "Adds an item. Makes the filter if there is none.",
        "O(links)"
    ),
    command!(
        "RESERVE key rate capacity [EXPANSION n] [NONSCALING] {SEED n} {LAYOUT name}",
        Insert,
        reserve,
        "Makes an empty Bloom filter.",
        "O(capacity)"
    ),
    command!(
        "MADD key item [item ...]",
        Insert,
        madd,
        "Adds items. Makes the filter if there is none.",
        "O(items * links)"
    ),
    command!(
        "INSERT key [CAPACITY n] [ERROR rate] [EXPANSION n] [NOCREATE] [NONSCALING] {SEED n} {LAYOUT name} ITEMS item [item ...]",
        Insert,
        insert,
        "Adds items. Makes the filter, as the options say, if there is none.",
        "O(items * links)"
    ),
    command!(
        "EXISTS key item",
        Read,
        exists,
        "Returns whether an item may be in the filter.",
        "O(links)"
    ),
    command!(
        "MEXISTS key item [item ...]",
        Read,
        mexists,
        "Returns for each item whether it may be in the filter.",
        "O(items * links)"
    ),
    command!("CARD key", Read, card, "Returns the number of items added.", "O(links)"),
    command!(
        "INFO key [CAPACITY|SIZE|FILTERS|ITEMS|EXPANSION] {LAYOUT}",
        Read,
        info,
        "Returns what is known of the filter.",
        "O(links)"
    ),
    command!("DEBUG key", Read, debug, "Returns the shape of each link.", "O(links)"),
    command!(
        "SCANDUMP key iterator",
        Read,
        dump::scan,
        "Returns the next chunk of the filter, for LOADCHUNK.",
        "O(bytes)"
    ),
    command!(
        "LOADCHUNK key iterator bytes",
        Insert,
        dump::load,
        "Takes the next chunk of a filter from SCANDUMP.",
        "O(bytes)"
    ),
];

fn reserve(ctx: Ctx, args: Args<'_>) -> Outcome {
    let wanted = options::reserve(args)?;
    let mut key = Key::open(ctx, args.raw(1), true);
    must_be_absent(&key, Kind::Bloom)?;
    create(ctx, &mut key, args.raw(1), wanted)?;
    ctx.ok();
    Ok(())
}

/// Makes the filter of an absent key, here and on replicas.
fn create(ctx: Ctx, key: &mut Key<'_>, name: *mut RawString, wanted: Wanted) -> Outcome {
    let plan = wanted.plan()?;
    let could_not = |error| not_made(error, "ERR could not create filter");
    let chain = Chain::new(plan, Limit::of(ctx)).map_err(could_not)?;
    key.set(Object::new(Value::Bloom(chain)));
    // All that a replica, with its own options, would choose otherwise.
    let Plan { rate, capacity, expansion, seed, layout } = plan;
    let (rate, capacity) = (format!("{rate:e}"), capacity.to_string());
    let (expansion, seed) = (expansion.to_string(), seed.to_string());
    let args = [&rate, &capacity, "EXPANSION", &expansion, "SEED", &seed, "LAYOUT", layout.name()];
    ctx.replicate_new(c"BL.RESERVE", name, &args.map(str::as_bytes));
    ctx.notify(c"bloom.reserve", name);
    Ok(())
}

/// Adds items, makes the filter if the key is absent and it may be made, and replicates exactly
/// what was done.
fn add_all(
    ctx: Ctx,
    name: *mut RawString,
    items: Args<'_>,
    wanted: Option<Wanted>,
) -> Result<Added, Fail> {
    let mut key = Key::open(ctx, name, true);
    if filter_of(&key)?.is_none() {
        let wanted = wanted.ok_or(Fail::Text("ERR not found".into()))?;
        create(ctx, &mut key, name, wanted)?;
    }
    let Found::Ours(object) = key.get_mut() else { return Err(Fail::WrongType) };
    let Value::Bloom(chain) = &mut object.value else { return read_only() };
    let (seed, limit) = (chain.plan.seed, Limit::of(ctx));
    let added = if items.len() == 1 {
        match chain.insert_one(hash(items.bytes(0), seed), limit) {
            Ok(new) => Added { answers: vec![new], stop: None },
            Err(stop) => Added { answers: Vec::new(), stop: Some(stop) },
        }
    } else {
        Added::of(items, seed, |hashes, answers| {
            chain.insert(hashes, limit, |new| answers.push(new))
        })
    };
    object.recount();
    if added.answers.contains(&true) {
        added.replicate(ctx, c"BL.MADD", name, items);
        ctx.notify(c"bloom.add", name);
    }
    Ok(added)
}

fn add(ctx: Ctx, args: Args<'_>) -> Outcome {
    add_all(ctx, args.raw(1), args.from(2), Some(Wanted::by_default()))?.reply_one(ctx)
}

fn madd(ctx: Ctx, args: Args<'_>) -> Outcome {
    add_all(ctx, args.raw(1), args.from(2), Some(Wanted::by_default()))?.reply_all(ctx)
}

fn insert(ctx: Ctx, args: Args<'_>) -> Outcome {
    let (wanted, first) = options::insert(args)?;
    add_all(ctx, args.raw(1), args.from(first), wanted)?.reply_all(ctx)
}

fn exists(ctx: Ctx, args: Args<'_>) -> Outcome {
    probe::exists(ctx, args, is_bloom)
}

fn mexists(ctx: Ctx, args: Args<'_>) -> Outcome {
    probe::mexists(ctx, args, is_bloom)
}

fn card(ctx: Ctx, args: Args<'_>) -> Outcome {
    let key = Key::open(ctx, args.raw(1), false);
    ctx.count(match filter_of(&key)? {
        Some(Value::Bloom(chain)) => chain.items(),
        Some(Value::Static(fixed)) => fixed.filter.key_count(),
        _ => 0,
    });
    Ok(())
}
