//! The commands: RESERVE, ADD, INSERT, EXISTS, DEL, COUNT, INFO and their variants.

use super::options::{self, Wanted};
use super::series::{Series, Shape, Stop};
use crate::api::raw::RawString;
use crate::api::{Args, Ctx};
use crate::command::{Command, Fail, Outcome, command, end_if_told, fail, not_made};
use crate::dump;
use crate::image::Kind;
use crate::key::{Found, Key, find, must_be_absent, or_nothing};
use crate::limit::Limit;
use crate::object::{Object, Value};
use crate::probe;
use bloomline::hash::hash;

pub(crate) const COMMANDS: &[Command] = &[
    command!(
        "ADD key item",
        Insert,
        add,
        "Adds an item. Makes the filter if there is none.",
        "O(links)"
    ),
    command!(
        "ADDNX key item",
        Insert,
        add_new,
        "Adds an item unless it may be there. Makes the filter if there is none.",
        "O(links)"
    ),
    command!(
        "RESERVE key capacity [BUCKETSIZE n] [MAXITERATIONS n] [EXPANSION n] [ERROR rate] {SEED n} {MAXEXPANSIONS n}",
        Insert,
        reserve,
        "Makes an empty cuckoo filter.",
        "O(capacity)"
    ),
    command!(
        "INSERT key [CAPACITY n] [NOCREATE] ITEMS item [item ...]",
        Insert,
        insert,
        "Adds items. Makes the filter, as the options say, if there is none.",
        "O(items * links)"
    ),
    command!(
        "INSERTNX key [CAPACITY n] [NOCREATE] ITEMS item [item ...]",
        Insert,
        insert_new,
        "Adds items unless they may be there. Makes the filter, as the options say, if there is none.",
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
    command!(
        "DEL key item",
        Delete,
        delete,
        "Removes an item once. Remove only what was added.",
        "O(links)"
    ),
    command!(
        "COUNT key item",
        Read,
        count,
        "Returns how often an item may be in the filter.",
        "O(links)"
    ),
    command!("INFO key", Read, info, "Returns what is known of the filter.", "O(links)"),
    command!("DEBUG key", Read, debug, "Returns the same in one line.", "O(links)"),
    command!("COMPACT key", Update, compact, "Drops links at the end that are empty.", "O(links)"),
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

/// The series of a value.
fn series(value: &Value) -> Option<&Series> {
    match value {
        Value::Cuckoo(series) => Some(series),
        _ => None,
    }
}

/// Whether there is a filter. By RedisBloom's names for DEL and COMPACT there is none, too, where the
/// key holds something else.
fn is_there(args: Args<'_>, key: &Key<'_>) -> Result<bool, Fail> {
    match find(key, series) {
        Err(Fail::WrongType) if !args.is_own() => Ok(false),
        found => Ok(found?.is_some()),
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
    let could_not = |error| not_made(error, "ERR Could not create filter");
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
    if find(&key, series)?.is_none() {
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
            Err(stop) => {
                if stop == Stop::Growth {
                    end_if_told(ctx, text(stop));
                }
                Added::No(stop)
            }
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
    let wanted = Some(Wanted::by_default());
    let added = add_all(ctx, args, 2, wanted, false)?;
    reply(ctx, &added, false);
    Ok(())
}

/// Commands of our own names alone.
pub(crate) const OWN_COMMANDS: &[Command] = &[command!(
    "MADD key item [item ...]",
    Insert,
    madd,
    "Adds items. Makes the filter if there is none.",
    "O(items * links)"
)];

fn insert_all(ctx: Ctx, args: Args<'_>, only_new: bool) -> Outcome {
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
    probe::exists(ctx, args, |value| series(value).is_some())
}

fn mexists(ctx: Ctx, args: Args<'_>) -> Outcome {
    probe::mexists(ctx, args, |value| series(value).is_some())
}

fn delete(ctx: Ctx, args: Args<'_>) -> Outcome {
    let mut key = Key::open(ctx, args.raw(1), true);
    if !is_there(args, &key)? {
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
    let key = Key::open(ctx, args.raw(1), false);
    let series = or_nothing(args, &key, find(&key, series))?;
    ctx.count(series.map_or(0, |series| series.count(hash(args.bytes(2), series.shape.seed))));
    Ok(())
}

fn compact(ctx: Ctx, args: Args<'_>) -> Outcome {
    let mut key = Key::open(ctx, args.raw(1), true);
    if !is_there(args, &key)? {
        return fail("Cuckoo filter was not found");
    }
    let Found::Ours(object) = key.get_mut() else { return Err(Fail::WrongType) };
    let Value::Cuckoo(series) = &mut object.value else { return Err(Fail::WrongType) };
    if series.compact() {
        object.recount();
        ctx.replicate(c"BL.CF.COMPACT", args.from(1).as_raw());
    }
    ctx.ok();
    Ok(())
}

fn info(ctx: Ctx, args: Args<'_>) -> Outcome {
    let key = Key::open(ctx, args.raw(1), false);
    let Some(series) = find(&key, series)? else { return fail("ERR not found") };
    let fields = [
        ("Size", series.size() as u64),
        ("Number of buckets", buckets(series)),
        ("Number of filters", series.links.len() as u64),
        ("Number of items inserted", series.items()),
        ("Number of items deleted", series.deleted),
        ("Bucket size", series.shape.bucket_size),
        ("Expansion rate", series.shape.expansion),
        ("Max iterations", series.shape.max_iterations),
    ];
    ctx.numbers(&fields, 0);
    Ok(())
}

/// The buckets of all links.
fn buckets(series: &Series) -> u64 {
    let filters: usize = series.links.iter().map(|link| link.shards.len()).sum();
    filters as u64 * series.params().slots() / bloomline::definition::cuckoo::SLOTS
}

fn debug(ctx: Ctx, args: Args<'_>) -> Outcome {
    let key = Key::open(ctx, args.raw(1), false);
    let Some(series) = find(&key, series)? else { return fail("ERR not found") };
    let Shape { bucket_size, max_iterations, expansion, .. } = series.shape;
    let (buckets, items, filters) = (buckets(series), series.items(), series.links.len());
    let line = format!(
        "bktsize:{bucket_size} buckets:{buckets} items:{items} deletes:{} filters:{filters} \
         max_iterations:{max_iterations} expansion:{expansion}",
        series.deleted
    );
    ctx.bytes(line.as_bytes());
    Ok(())
}
