//! The commands: RESERVE, ADD, INSERT, EXISTS, DEL, COUNT, INFO and their variants.

use super::options::{self, Wanted};
use super::series::{Series, Shape, Stop};
use crate::api::raw::RawString;
use crate::api::{Args, Ctx, Found, Key};
use crate::command::{Command, Fail, Outcome, command, fail};
use crate::dump;
use crate::image::Kind;
use crate::items::{WORDS, answers, in_blocks};
use crate::limit::Limit;
use crate::object::{Object, Value, must_be_absent};
use bloomline::hash::hash;

pub(crate) const COMMANDS: &[Command] = &[
    command!("ADD", add, Write),
    command!("ADDNX", add_new, Write),
    command!("RESERVE", reserve, Write),
    command!("INSERT", insert, Write),
    command!("INSERTNX", insert_new, Write),
    command!("EXISTS", exists, Read),
    command!("MEXISTS", mexists, Read),
    command!("DEL", delete, Shrink),
    command!("COUNT", count, Read),
    command!("INFO", info, Read),
    command!("COMPACT", compact, Shrink),
    command!("SCANDUMP", dump::scan, Read),
    command!("LOADCHUNK", dump::load, Write),
];

/// The filter of a key; None if there is no such key.
fn series_of<'k>(key: &'k Key<'_>) -> Result<Option<&'k Series>, Fail> {
    match key.get() {
        Found::Absent => Ok(None),
        Found::Foreign => Err(Fail::WrongType),
        Found::Ours(object) => match &object.value {
            Value::Cuckoo(series) => Ok(Some(series)),
            Value::Loading(_) => dump::still_loading(),
            _ => Err(Fail::WrongType),
        },
    }
}

/// The same for EXISTS and COUNT, which have no error for a key of another type.
fn known_series<'k>(key: &'k Key<'_>) -> Result<Option<&'k Series>, Fail> {
    match series_of(key) {
        Err(Fail::WrongType) => Ok(None),
        found => found,
    }
}

fn reserve(ctx: Ctx, args: Args<'_>) -> Outcome {
    let wanted = options::reserve(args)?;
    let mut key = Key::open(ctx, args.raw(1), true);
    must_be_absent(&key, Kind::Cuckoo)?;
    create(ctx, &mut key, args.raw(1), wanted)?;
    ctx.ok();
    Ok(())
}

/// Makes the filter of an absent key, here and on replicas.
fn create(ctx: Ctx, key: &mut Key<'_>, name: *mut RawString, wanted: Wanted) -> Outcome {
    let shape = wanted.shape()?;
    let could_not = |_| Fail::Text("ERR Could not create filter".into());
    let series = Series::new(shape, Limit::of(ctx)).map_err(could_not)?;
    key.set(Object::new(Value::Cuckoo(series)));
    let Shape { capacity, bucket_size, max_iterations, expansion, max_links, rate, seed } = shape;
    let words = ["BUCKETSIZE", "MAXITERATIONS", "EXPANSION", "MAXEXPANSIONS", "SEED"];
    let numbers = [bucket_size, max_iterations, expansion, max_links, seed].map(|n| n.to_string());
    let (capacity, rate) = (capacity.to_string(), format!("{rate:e}"));
    let mut args = vec![capacity.as_bytes(), b"ERROR", rate.as_bytes()];
    args.extend(words.iter().zip(&numbers).flat_map(|(word, n)| [word.as_bytes(), n.as_bytes()]));
    ctx.replicate_new(c"BL.CF.RESERVE", name, &args);
    ctx.notify(c"cuckoo.reserve", name);
    Ok(())
}

/// What became of an item.
#[derive(Clone, Copy, PartialEq)]
enum Added {
    New,
    /// It is there already, and was not to be added again.
    Known,
    No(Stop),
}

/// Adds the items from the argument `first` on, makes the filter if the key is absent and it may be
/// made, and replicates exactly what was done.
fn add_all(
    ctx: Ctx,
    args: Args<'_>,
    first: usize,
    wanted: Option<Wanted>,
    only_new: bool,
) -> Result<Vec<Added>, Fail> {
    let (name, items) = (args.raw(1), args.from(first));
    let mut key = Key::open(ctx, name, true);
    if series_of(&key)?.is_none() {
        create(ctx, &mut key, name, wanted.ok_or(Fail::Text("ERR not found".into()))?)?;
    }
    let Found::Ours(object) = key.get_mut() else { return Err(Fail::WrongType) };
    let Value::Cuckoo(series) = &mut object.value else { return Err(Fail::WrongType) };
    let (seed, limit) = (series.shape.seed, Limit::of(ctx));
    let mut done = vec![name];
    let mut one = |(i, item)| {
        let hash = hash(item, seed);
        if only_new && series.contains(hash) {
            return Added::Known;
        }
        match series.insert(hash, limit) {
            Ok(()) => {
                done.push(items.raw(i));
                Added::New
            }
            Err(stop) => Added::No(stop),
        }
    };
    let added: Vec<Added> = items.iter().enumerate().map(&mut one).collect();
    object.recount();
    if done.len() > 1 {
        if first == 2 && done.len() == 1 + items.len() {
            // The replica adds the same. Another command would have to be made.
            ctx.replicate_this();
        } else {
            // The replica may have memory for an item that was refused here, and with other defaults
            // it may refuse the options of INSERT.
            ctx.replicate(c"BL.CF.MADD", &done);
        }
        ctx.notify(c"cuckoo.add", name);
    }
    Ok(added)
}

fn text(stop: Stop) -> &'static str {
    match stop {
        Stop::Full => "Filter is full",
        Stop::Links => "Maximum expansions reached",
        Stop::Growth => "ERR Insufficient memory",
    }
}

fn add_one(ctx: Ctx, args: Args<'_>, only_new: bool) -> Outcome {
    if args.len() != 3 {
        return Err(Fail::Arity);
    }
    let wanted = Some(Wanted::by_default());
    match add_all(ctx, args, 2, wanted, only_new)?[0] {
        Added::No(stop) => fail(text(stop)),
        added => {
            ctx.boolean(added == Added::New);
            Ok(())
        }
    }
}

fn add(ctx: Ctx, args: Args<'_>) -> Outcome {
    add_one(ctx, args, false)
}

fn add_new(ctx: Ctx, args: Args<'_>) -> Outcome {
    add_one(ctx, args, true)
}

/// What the primary sends in the place of INSERT: items that it has added.
fn madd(ctx: Ctx, args: Args<'_>) -> Outcome {
    if args.len() < 3 {
        return Err(Fail::Arity);
    }
    let wanted = Some(Wanted::by_default());
    let added = add_all(ctx, args, 2, wanted, false)?;
    reply(ctx, &added, false);
    Ok(())
}

/// Commands of our own names alone.
pub(crate) const OWN_COMMANDS: &[Command] = &[command!("MADD", madd, Write)];

fn insert_all(ctx: Ctx, args: Args<'_>, only_new: bool) -> Outcome {
    if args.len() < 4 {
        return Err(Fail::Arity);
    }
    let (wanted, first) = options::insert(args)?;
    let added = add_all(ctx, args, first, wanted, only_new)?;
    reply(ctx, &added, only_new);
    Ok(())
}

fn insert(ctx: Ctx, args: Args<'_>) -> Outcome {
    insert_all(ctx, args, false)
}

fn insert_new(ctx: Ctx, args: Args<'_>) -> Outcome {
    insert_all(ctx, args, true)
}

/// 1, 0 or -1 each; of INSERT in RESP3 booleans.
fn reply(ctx: Ctx, added: &[Added], numbers: bool) {
    ctx.array(added.len());
    let numbers = numbers || !ctx.speaks_resp3();
    for &added in added {
        match added {
            Added::New | Added::Known if !numbers => ctx.boolean(added == Added::New),
            Added::No(_) if !numbers => ctx.boolean(false),
            Added::New => ctx.integer(1),
            Added::Known => ctx.integer(0),
            Added::No(_) => ctx.integer(-1),
        }
    }
}

fn exists(ctx: Ctx, args: Args<'_>) -> Outcome {
    if args.len() != 3 {
        return Err(Fail::Arity);
    }
    let key = Key::open(ctx, args.raw(1), false);
    let series = known_series(&key)?;
    ctx.boolean(
        series.is_some_and(|series| series.contains(hash(args.bytes(2), series.shape.seed))),
    );
    Ok(())
}

fn mexists(ctx: Ctx, args: Args<'_>) -> Outcome {
    if args.len() < 3 {
        return Err(Fail::Arity);
    }
    let key = Key::open(ctx, args.raw(1), false);
    let (series, items) = (known_series(&key)?, args.from(2));
    ctx.array(items.len());
    let Some(series) = series else {
        (0..items.len()).for_each(|_| ctx.boolean(false));
        return Ok(());
    };
    let mut words = [0; WORDS];
    in_blocks(items, series.shape.seed, |hashes| {
        series.probe(hashes, &mut words);
        answers(&words, hashes.len()).for_each(|answer| ctx.boolean(answer));
    });
    Ok(())
}

fn delete(ctx: Ctx, args: Args<'_>) -> Outcome {
    if args.len() != 3 {
        return Err(Fail::Arity);
    }
    let mut key = Key::open(ctx, args.raw(1), true);
    if series_of(&key)?.is_none() {
        return fail("Not found");
    }
    let Found::Ours(object) = key.get_mut() else { return Err(Fail::WrongType) };
    let Value::Cuckoo(series) = &mut object.value else { return Err(Fail::WrongType) };
    let removed = series.remove(hash(args.bytes(2), series.shape.seed));
    if removed {
        // The replica, with the same slots, removes the same.
        ctx.replicate_this();
        ctx.notify(c"cuckoo.del", args.raw(1));
    }
    ctx.boolean(removed);
    Ok(())
}

fn count(ctx: Ctx, args: Args<'_>) -> Outcome {
    if args.len() != 3 {
        return Err(Fail::Arity);
    }
    let key = Key::open(ctx, args.raw(1), false);
    let series = known_series(&key)?;
    ctx.count(series.map_or(0, |series| series.count(hash(args.bytes(2), series.shape.seed))));
    Ok(())
}

fn compact(ctx: Ctx, args: Args<'_>) -> Outcome {
    if args.len() != 2 {
        return Err(Fail::Arity);
    }
    let mut key = Key::open(ctx, args.raw(1), true);
    if series_of(&key)?.is_none() {
        return fail("Cuckoo filter was not found");
    }
    let Found::Ours(object) = key.get_mut() else { return Err(Fail::WrongType) };
    let Value::Cuckoo(series) = &mut object.value else { return Err(Fail::WrongType) };
    series.compact();
    object.recount();
    ctx.replicate(c"BL.CF.COMPACT", args.from(1).as_raw());
    ctx.ok();
    Ok(())
}

fn info(ctx: Ctx, args: Args<'_>) -> Outcome {
    if args.len() != 2 {
        return Err(Fail::Arity);
    }
    let key = Key::open(ctx, args.raw(1), false);
    let Some(series) = series_of(&key)? else { return fail("ERR not found") };
    let filters: usize = series.links.iter().map(|link| link.shards.len()).sum();
    let slots = filters as u64 * series.params().slots();
    let fields: [(&str, u64); 8] = [
        ("Size", series.size() as u64),
        ("Number of buckets", slots / bloomline::cuckoo::SLOTS),
        ("Number of filters", series.links.len() as u64),
        ("Number of items inserted", series.items()),
        ("Number of items deleted", series.deleted),
        ("Bucket size", series.shape.bucket_size),
        ("Expansion rate", series.shape.expansion),
        ("Max iterations", series.shape.max_iterations),
    ];
    ctx.map(fields.len());
    for (name, number) in fields {
        ctx.label(name);
        ctx.count(number);
    }
    Ok(())
}
