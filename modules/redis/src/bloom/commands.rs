//! The commands: RESERVE, ADD, MADD, INSERT, EXISTS, MEXISTS, CARD.

use super::chain::{Chain, Stop};
use super::info::{debug, info};
use super::options::{self, Wanted};
use super::plan::Plan;
use crate::api::raw::RawString;
use crate::api::{Args, Ctx, Found, Key};
use crate::command::{Command, Fail, Outcome, command, fail};
use crate::dump;
use crate::image::Kind;
use crate::items::{WORDS, answers, in_blocks};
use crate::limit::Limit;
use crate::object::{Object, Value, must_be_absent};
use crate::own::read_only;
use bloomline::Error;
use bloomline::hash::hash;

pub(crate) const COMMANDS: &[Command] = &[
    // First one that other modules have, too: where it is taken, the others are not tried.
    command!("ADD", add, Write),
    command!("RESERVE", reserve, Write),
    command!("MADD", madd, Write),
    command!("INSERT", insert, Write),
    command!("EXISTS", exists, Read),
    command!("MEXISTS", mexists, Read),
    command!("CARD", card, Read),
    command!("INFO", info, Read),
    command!("DEBUG", debug, Read),
    command!("SCANDUMP", dump::scan, Read),
    command!("LOADCHUNK", dump::load, Write),
];

/// The filter of a key, to be read: a series or a static filter. None if there is no such key.
pub(super) fn filter_of<'k>(key: &'k Key<'_>) -> Result<Option<&'k Value>, Fail> {
    match key.get() {
        Found::Absent => Ok(None),
        Found::Foreign => Err(Fail::WrongType),
        Found::Ours(object) => match &object.value {
            value @ (Value::Bloom(_) | Value::Static(_)) => Ok(Some(value)),
            Value::Loading(_) => dump::still_loading(),
            _ => Err(Fail::WrongType),
        },
    }
}

/// The same for EXISTS, which has no error for a key of another type.
fn known_filter<'k>(key: &'k Key<'_>) -> Result<Option<&'k Value>, Fail> {
    match filter_of(key) {
        Err(Fail::WrongType) => Ok(None),
        found => found,
    }
}

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
    let chain = Chain::new(plan, Limit::of(ctx)).map_err(|error| match error {
        Error::OutOfMemory | Error::LineCount(_) => {
            Fail::Text("ERR Insufficient memory to create filter".into())
        }
        _ => Fail::Text("ERR could not create filter".into()),
    })?;
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

/// The answers to the items that were added, and why the next one was not.
struct Added {
    answers: Vec<bool>,
    stop: Option<Stop>,
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
    let mut added = Added { answers: Vec::with_capacity(items.len()), stop: None };
    let (seed, limit) = (chain.plan.seed, Limit::of(ctx));
    if items.len() == 1 {
        match chain.insert_one(hash(items.bytes(0), seed), limit) {
            Ok(new) => added.answers.push(new),
            Err(stop) => added.stop = Some(stop),
        }
    } else {
        in_blocks(items, seed, |hashes| {
            if added.stop.is_none() {
                let result = chain.insert(hashes, limit, |new| added.answers.push(new));
                added.stop = result.err();
            }
        });
    }
    object.recount();
    if added.answers.contains(&true) {
        if added.stop.is_none() {
            // What made the filter has been replicated. Another command would cost as much as the insert.
            ctx.replicate_this();
        } else {
            // What follows an error was not done, and an error must not reach a replica.
            let mut args = vec![name];
            args.extend_from_slice(items.first(added.answers.len()).as_raw());
            ctx.replicate(c"BL.MADD", &args);
        }
        ctx.notify(c"bloom.add", name);
    }
    Ok(added)
}

fn add(ctx: Ctx, args: Args<'_>) -> Outcome {
    if args.len() != 3 {
        return Err(Fail::Arity);
    }
    let added = add_all(ctx, args.raw(1), args.from(2), Some(Wanted::by_default()))?;
    match added.stop {
        Some(stop) => fail(stop.text()),
        None => {
            ctx.boolean(added.answers[0]);
            Ok(())
        }
    }
}

fn madd(ctx: Ctx, args: Args<'_>) -> Outcome {
    if args.len() < 3 {
        return Err(Fail::Arity);
    }
    let added = add_all(ctx, args.raw(1), args.from(2), Some(Wanted::by_default()))?;
    reply(ctx, &added);
    Ok(())
}

fn insert(ctx: Ctx, args: Args<'_>) -> Outcome {
    if args.len() < 4 {
        return Err(Fail::Arity);
    }
    let (wanted, first) = options::insert(args)?;
    let added = add_all(ctx, args.raw(1), args.from(first), wanted)?;
    reply(ctx, &added);
    Ok(())
}

/// An array of the answers, which an error ends.
fn reply(ctx: Ctx, added: &Added) {
    ctx.array(added.answers.len() + usize::from(added.stop.is_some()));
    for &new in &added.answers {
        ctx.boolean(new);
    }
    if let Some(stop) = added.stop {
        ctx.error(stop.text());
    }
}

fn exists(ctx: Ctx, args: Args<'_>) -> Outcome {
    if args.len() != 3 {
        return Err(Fail::Arity);
    }
    let key = Key::open(ctx, args.raw(1), false);
    let item = args.bytes(2);
    ctx.boolean(match known_filter(&key)? {
        Some(Value::Bloom(chain)) => chain.contains(hash(item, chain.plan.seed)),
        Some(Value::Static(fixed)) => fixed.filter.contains(item),
        _ => false,
    });
    Ok(())
}

fn mexists(ctx: Ctx, args: Args<'_>) -> Outcome {
    if args.len() < 3 {
        return Err(Fail::Arity);
    }
    let key = Key::open(ctx, args.raw(1), false);
    let (filter, items) = (known_filter(&key)?, args.from(2));
    ctx.array(items.len());
    let Some(filter) = filter else {
        (0..items.len()).for_each(|_| ctx.boolean(false));
        return Ok(());
    };
    let mut words = [0; WORDS];
    in_blocks(items, filter.seed(), |hashes| {
        filter.probe(hashes, &mut words);
        answers(&words, hashes.len()).for_each(|answer| ctx.boolean(answer));
    });
    Ok(())
}

fn card(ctx: Ctx, args: Args<'_>) -> Outcome {
    if args.len() != 2 {
        return Err(Fail::Arity);
    }
    let key = Key::open(ctx, args.raw(1), false);
    ctx.count(match filter_of(&key)? {
        Some(Value::Bloom(chain)) => chain.items(),
        Some(Value::Static(fixed)) => fixed.filter.key_count(),
        _ => 0,
    });
    Ok(())
}
