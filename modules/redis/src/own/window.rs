//! Windows: `BL.W.*`. Items expire by the server's clock. When an item is added, the primary turns
//! the window and tells replicas the slice, so that they keep the same bytes.

use super::values::Timed;
use crate::api::raw::RawString;
use crate::api::{Args, Ctx};
use crate::bloom::{self, new_seed, only_seed};
use crate::command::{Command, Fail, Outcome, command, fail, no_memory};
use crate::image::Kind;
use crate::items::{collect, many, one};
use crate::key::{Found, Key, find, must_be_absent};
use crate::limit::Limit;
use crate::object::{Object, Value};
use crate::parse;
use crate::probe;
use bloomline::{Params, Window, sizing};

pub(crate) const COMMANDS: &[Command] = &[
    command!(
        "RESERVE key rate capacity period generations [SEED n]",
        Insert,
        reserve,
        "Makes an empty window, whose items expire.",
        "O(capacity)"
    ),
    command!("ADD key item", Insert, add, "Adds an item.", "O(generations)"),
    command!("MADD key item [item ...]", Insert, madd, "Adds items.", "O(items * generations)"),
    command!(
        "EXISTS key item",
        Read,
        exists,
        "Returns whether an item may be in the window.",
        "O(generations)"
    ),
    command!(
        "MEXISTS key item [item ...]",
        Read,
        mexists,
        "Returns for each item whether it may be in the window.",
        "O(items * generations)"
    ),
    command!(
        "ADVANCE key slice",
        Update,
        advance,
        "Turns a window of a file, which no clock turns.",
        "O(generations)"
    ),
    command!("INFO key", Read, info, "Returns what is known of the window.", "O(generations)"),
];

/// The most generations.
const MOST_GENERATIONS: u64 = 1 << 16;
/// The longest period in seconds: a hundred years.
const LONGEST: f64 = 3_155_760_000.0;

/// Turns the window of a key, if it is one, to the present slice, before it is written to. Only
/// where this server decides; a replica is told.
pub(super) fn follow_clock(ctx: Ctx, key: &mut Key<'_>, name: *mut RawString) {
    let Found::Ours(Object { value: Value::Window(timed), .. }) = key.get_mut() else { return };
    let slice = timed.slice();
    if ctx.decides() && slice > timed.window.time_slice() {
        timed.window.advance_to(slice);
        ctx.replicate_new(c"BL.W.ADVANCE", name, &[slice.to_string().as_bytes()]);
    }
}

/// The window of a value.
fn timed(value: &Value) -> Option<&Timed> {
    match value {
        Value::Window(timed) => Some(timed),
        _ => None,
    }
}

fn reserve(ctx: Ctx, args: Args<'_>) -> Outcome {
    if args.len() != 6 && args.len() != 8 {
        return Err(Fail::Arity);
    }
    let (rate, capacity) = (bloom::rate(args.bytes(2))?, bloom::capacity(args.bytes(3), true)?);
    let period = parse::real(args.bytes(4)).filter(|&period| period > 0.0 && period <= LONGEST);
    let period = period.map_or(0, |seconds| (seconds * 1000.0).round() as u64);
    if period == 0 {
        return fail("ERR period must be in the range [0.001, 3155760000] seconds");
    }
    let generations = parse::within(args.bytes(5), 1, MOST_GENERATIONS);
    let generations = generations
        .ok_or(Fail::Text("ERR generations must be in the range [1, 65536]".into()))?
        as u32;
    let seed = only_seed(args, 6)?;
    let mut key = Key::open(ctx, args.raw(1), true);
    must_be_absent(&key, Kind::Window)?;
    let seed = new_seed(seed)?;
    let params = Params::for_rate(capacity, sizing::rate_of_each(rate, generations))?;
    let bytes = params.bytes().saturating_mul(generations as usize);
    let limit = Limit::of(ctx);
    limit.allows(bytes, bytes).map_err(no_memory)?;
    let window = Window::with_params(generations, params.with_seed(seed)).map_err(no_memory)?;
    let timed = Timed { window, period, capacity };
    limit.allows(timed.memory(), 0).map_err(no_memory)?;
    key.set(Object::new(Value::Window(Box::new(timed))));
    let seed = seed.to_string();
    let mut done: Vec<&[u8]> = (2..6).map(|i| args.bytes(i)).collect();
    done.extend([b"SEED", seed.as_bytes()]);
    ctx.replicate_new(c"BL.W.RESERVE", args.raw(1), &done);
    follow_clock(ctx, &mut key, args.raw(1));
    ctx.notify(c"window.reserve", args.raw(1));
    ctx.ok();
    Ok(())
}

fn add_all(ctx: Ctx, args: Args<'_>) -> Result<Vec<bool>, Fail> {
    let mut key = Key::open(ctx, args.raw(1), true);
    if find(&key, timed)?.is_none() {
        return fail("ERR not found");
    }
    follow_clock(ctx, &mut key, args.raw(1));
    let Found::Ours(object) = key.get_mut() else { return Err(Fail::WrongType) };
    let Value::Window(timed) = &mut object.value else { return Err(Fail::WrongType) };
    let window = &mut timed.window;
    let found = collect(args.from(2), window.params().seed(), |hashes, words| {
        window.insert_new_hashes(hashes, words);
    });
    // An item that is not new may still go into a newer generation. The replica, which has been told
    // the slice, adds the same.
    ctx.replicate_this();
    ctx.notify(c"window.add", args.raw(1));
    Ok(found)
}

fn add(ctx: Ctx, args: Args<'_>) -> Outcome {
    one(ctx, args, add_all)
}

fn madd(ctx: Ctx, args: Args<'_>) -> Outcome {
    many(ctx, args, add_all)
}

fn exists(ctx: Ctx, args: Args<'_>) -> Outcome {
    probe::exists(ctx, args, |value| timed(value).is_some())
}

fn mexists(ctx: Ctx, args: Args<'_>) -> Outcome {
    probe::mexists(ctx, args, |value| timed(value).is_some())
}

fn advance(ctx: Ctx, args: Args<'_>) -> Outcome {
    let Some(slice) = parse::unsigned(args.bytes(2)) else { return fail("ERR bad slice") };
    let mut key = Key::open(ctx, args.raw(1), true);
    if find(&key, timed)?.is_none() {
        return fail("ERR not found");
    }
    let Found::Ours(object) = key.get_mut() else { return Err(Fail::WrongType) };
    let Value::Window(timed) = &mut object.value else { return Err(Fail::WrongType) };
    if timed.period != 0 && !ctx.is_replicated() {
        return fail("ERR the clock turns this window");
    }
    timed.window.advance_to(slice);
    ctx.replicate(c"BL.W.ADVANCE", args.from(1).as_raw());
    ctx.ok();
    Ok(())
}

fn info(ctx: Ctx, args: Args<'_>) -> Outcome {
    let key = Key::open(ctx, args.raw(1), false);
    let Some(timed) = find(&key, timed)? else { return fail("ERR not found") };
    let (generations, slice) = (timed.window.generations(), timed.slice());
    // Slices that have begun since the last item.
    let empty = slice - timed.window.time_slice();
    let fields = [
        ("Capacity", timed.capacity),
        ("Size", timed.size() as u64),
        ("Generations", generations.into()),
        ("Period", timed.period),
        ("Slice", slice),
    ];
    ctx.numbers(&fields, 1);
    ctx.label("Items");
    ctx.array(generations as usize);
    for age in 0..u64::from(generations) {
        let written = age.checked_sub(empty).map(|age| timed.window.key_count(age as u32));
        ctx.count(written.unwrap_or(0));
    }
    Ok(())
}
