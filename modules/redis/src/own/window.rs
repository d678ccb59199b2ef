//! Windows: `BL.W.*`. Items expire by the server's clock. When an item is added, the primary turns
//! the window and tells replicas the slice, so that they keep the same bytes.

use crate::allocator::memory_of;
use crate::api::raw::RawString;
use crate::api::{Args, Ctx, Found, Key, now};
use crate::arrived::Arrived;
use crate::bloom::{self, after, new_seed};
use crate::command::{Command, Fail, Outcome, command, fail};
use crate::dump;
use crate::image::{File, Header, Kind};
use crate::items::{WORDS, answers, in_blocks, reply};
use crate::limit::Limit;
use crate::object::{Object, Value, must_be_absent};
use crate::parse;
use bloomline::{Error, Params, Window, sizing};

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

/// A window and its clock.
pub(crate) struct Timed {
    pub(crate) window: Window,
    /// Milliseconds of a generation; 0: no clock turns it.
    period: u64,
    /// The items of a generation.
    pub(crate) capacity: u64,
}

/// The most generations.
const MOST_GENERATIONS: u64 = 1 << 16;
/// The longest period in seconds: a hundred years.
const LONGEST: f64 = 3_155_760_000.0;

impl Timed {
    /// A window of a file, which no clock turns.
    pub(crate) fn of_file(window: Window, capacity: u64) -> Timed {
        Timed { window, period: 0, capacity }
    }

    /// The present slice, by this server's clock, but never before one that was written in.
    pub(crate) fn slice(&self) -> u64 {
        let written = self.window.time_slice();
        let slice = (self.period > 0).then(now).and_then(|now| now.checked_div(self.period));
        written.max(slice.unwrap_or(0))
    }

    /// Answers hashes as of now. Readers change nothing: a replica may not, and a primary may not
    /// while its writes are paused.
    pub(crate) fn probe(&self, hashes: &[u64], words: &mut [u64]) {
        self.window.contains_hashes_at(self.slice(), hashes, words);
    }

    /// The bytes it asks for: the same on every server.
    pub(crate) fn size(&self) -> usize {
        self.window.encoded_len()
    }

    /// The bytes it takes.
    pub(crate) fn memory(&self) -> usize {
        let lines = self.window.lines();
        memory_of(lines) + self.size().saturating_sub(lines.len())
    }

    pub(crate) fn try_clone(&self) -> Result<Timed, Error> {
        let Timed { period, capacity, .. } = *self;
        Ok(Timed { window: self.window.try_clone()?, period, capacity })
    }

    /// Its numbers: period and capacity.
    pub(crate) fn header(&self) -> Header {
        Header::new(Kind::Window, vec![self.period, self.capacity], &self.files())
    }

    pub(crate) fn files(&self) -> Vec<File<'_>> {
        vec![File::Window(&self.window)]
    }

    pub(crate) fn from_image(header: &Header, body: &mut Arrived) -> Result<Timed, Error> {
        let &[period, capacity] = header.numbers.as_slice() else { return Err(Error::NotAFilter) };
        Ok(Timed { window: Window::load_from(body.take(body.left())?)?, period, capacity })
    }
}

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

/// The window of a key; None if there is no such key.
fn timed_of<'k>(key: &'k Key<'_>) -> Result<Option<&'k Timed>, Fail> {
    match key.get() {
        Found::Absent => Ok(None),
        Found::Foreign => Err(Fail::WrongType),
        Found::Ours(object) => match &object.value {
            Value::Window(timed) => Ok(Some(timed)),
            Value::Loading(_) => dump::still_loading(),
            _ => Err(Fail::WrongType),
        },
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
    let seed = match after(args, "SEED", 6)? {
        Some(text) => Some(parse::unsigned(text).ok_or(Fail::Text("ERR bad seed".into()))?),
        None if args.len() == 8 => return fail("ERR unknown argument"),
        None => None,
    };
    let mut key = Key::open(ctx, args.raw(1), true);
    must_be_absent(&key, Kind::Window)?;
    let seed = new_seed(seed)?;
    let params = Params::for_rate(capacity, sizing::rate_of_each(rate, generations))?;
    let no_memory = |_| Fail::Text("ERR Insufficient memory to create filter".into());
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
    if timed_of(&key)?.is_none() {
        return fail("ERR not found");
    }
    follow_clock(ctx, &mut key, args.raw(1));
    let Found::Ours(object) = key.get_mut() else { return Err(Fail::WrongType) };
    let Value::Window(timed) = &mut object.value else { return Err(Fail::WrongType) };
    let window = &mut timed.window;
    let items = args.from(2);
    let mut found = Vec::with_capacity(items.len());
    in_blocks(items, window.params().seed(), |hashes| {
        let mut words = [0; WORDS];
        window.insert_new_hashes(hashes, words.as_mut_slice());
        found.extend(answers(&words, hashes.len()));
    });
    // An item that is not new may still go into a newer generation. The replica, which has been told
    // the slice, adds the same.
    ctx.replicate_this();
    ctx.notify(c"window.add", args.raw(1));
    Ok(found)
}

fn find_all(ctx: Ctx, args: Args<'_>) -> Result<Vec<bool>, Fail> {
    let key = Key::open(ctx, args.raw(1), false);
    let items = args.from(2);
    let Some(timed) = timed_of(&key)? else { return Ok(vec![false; items.len()]) };
    let mut found = Vec::with_capacity(items.len());
    in_blocks(items, timed.window.params().seed(), |hashes| {
        let mut words = [0; WORDS];
        timed.probe(hashes, &mut words[..hashes.len().div_ceil(64)]);
        found.extend(answers(&words, hashes.len()));
    });
    Ok(found)
}

fn one(ctx: Ctx, args: Args<'_>, all: All) -> Outcome {
    ctx.boolean(all(ctx, args)?[0]);
    Ok(())
}

fn many(ctx: Ctx, args: Args<'_>, all: All) -> Outcome {
    reply(ctx, &all(ctx, args)?);
    Ok(())
}

/// What [`one`] and [`many`] do.
type All = fn(Ctx, Args<'_>) -> Result<Vec<bool>, Fail>;

fn add(ctx: Ctx, args: Args<'_>) -> Outcome {
    one(ctx, args, add_all)
}

fn madd(ctx: Ctx, args: Args<'_>) -> Outcome {
    many(ctx, args, add_all)
}

fn exists(ctx: Ctx, args: Args<'_>) -> Outcome {
    one(ctx, args, find_all)
}

fn mexists(ctx: Ctx, args: Args<'_>) -> Outcome {
    many(ctx, args, find_all)
}

fn advance(ctx: Ctx, args: Args<'_>) -> Outcome {
    let Some(slice) = parse::unsigned(args.bytes(2)) else { return fail("ERR bad slice") };
    let mut key = Key::open(ctx, args.raw(1), true);
    if timed_of(&key)?.is_none() {
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
    let Some(timed) = timed_of(&key)? else { return fail("ERR not found") };
    let (generations, slice) = (timed.window.generations(), timed.slice());
    // Slices that have begun since the last item.
    let empty = slice - timed.window.time_slice();
    let fields: [(&str, u64); 5] = [
        ("Capacity", timed.capacity),
        ("Size", timed.size() as u64),
        ("Generations", generations.into()),
        ("Period", timed.period),
        ("Slice", slice),
    ];
    ctx.map(fields.len() + 1);
    for (name, number) in fields {
        ctx.label(name);
        ctx.count(number);
    }
    ctx.label("Items");
    ctx.array(generations as usize);
    for age in 0..u64::from(generations) {
        let written = age.checked_sub(empty).map(|age| timed.window.key_count(age as u32));
        ctx.count(written.unwrap_or(0));
    }
    Ok(())
}
