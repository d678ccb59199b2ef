//! The arguments that say what a new filter is to be, as RedisBloom reads them.

use super::layout::Layout;
use super::plan::{MAX_CAPACITY, MAX_EXPANSION, MAX_OWN_CAPACITY, MAX_RATE, Plan};
use crate::api::Args;
use crate::command::{Fail, fail};
use crate::config::config;
use crate::parse;

/// A filter to be made.
#[derive(Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) rate: f64,
    pub(crate) capacity: u64,
    /// 0: it does not grow.
    pub(crate) expansion: u32,
    /// None: as configured.
    pub(crate) seed: Option<u64>,
    /// None: as configured, and by the rate.
    pub(crate) layout: Option<Layout>,
}

impl Wanted {
    /// What is configured.
    pub(crate) fn by_default() -> Wanted {
        let config = config();
        Wanted {
            rate: config.bf_error_rate,
            capacity: config.bf_initial_size,
            expansion: config.bf_expansion_factor,
            seed: None,
            layout: None,
        }
    }

    /// With a seed of its own.
    pub(crate) fn plan(self) -> Result<Plan, Fail> {
        let seed = new_seed(self.seed)?;
        let Wanted { capacity, expansion, layout, .. } = self;
        let (rate, among) = (self.rate.min(MAX_RATE), config().bf_layouts);
        let plan = Plan { rate, capacity, expansion, seed, layout: Layout::Lines };
        Ok(plan.with_layout(layout.as_ref().map_or(among, std::slice::from_ref)))
    }
}

/// The seed that was asked for, the configured one, or a random one.
pub(crate) fn new_seed(asked: Option<u64>) -> Result<u64, Fail> {
    match asked.or(config().seed) {
        Some(seed) => Ok(seed),
        None => Ok(bloomline::hash::random_seed()?),
    }
}

/// The number after a word, if the word is there.
pub(crate) fn after<'a>(
    args: Args<'a>,
    word: &str,
    first: usize,
) -> Result<Option<&'a [u8]>, Fail> {
    match args.find(word, first) {
        Some(at) if at + 1 == args.len() => Err(Fail::Arity),
        Some(at) => Ok(Some(args.bytes(at + 1))),
        None => Ok(None),
    }
}

/// Fails unless from the argument `first` on there are only these words: each of `valued` with a
/// value, each of `alone` without.
pub(crate) fn only(
    args: Args<'_>,
    first: usize,
    valued: &[&str],
    alone: &[&str],
) -> Result<(), Fail> {
    let mut at = first;
    while at < args.len() {
        at += match () {
            () if valued.iter().any(|word| args.is(at, word)) => 2,
            () if alone.iter().any(|word| args.is(at, word)) => 1,
            () => return fail("ERR unknown argument"),
        };
    }
    Ok(())
}

/// The arguments of RESERVE: rate, capacity, options.
pub(crate) fn reserve(args: Args<'_>) -> Result<Wanted, Fail> {
    let own = args.is_own();
    if !own && args.len() > 7 {
        return Err(Fail::Arity);
    }
    let rate = rate(args.bytes(2))?;
    let capacity = capacity(args.bytes(3), own)?;
    let fixed = args.find("NONSCALING", 4).is_some();
    let mut expansion = if fixed { 0 } else { config().bf_expansion_factor };
    if let Some(at) = args.find("EXPANSION", 4) {
        if at + 1 == args.len() {
            return fail("ERR no expansion");
        }
        let Some(asked) = parse::integer(args.bytes(at + 1)) else {
            return fail("ERR bad expansion");
        };
        if fixed && asked != 0 {
            return fail("Nonscaling filters cannot expand");
        }
        expansion = match u32::try_from(asked) {
            Ok(factor @ 0..=MAX_EXPANSION) => factor,
            _ => return fail("ERR expansion must be in the range [0, 32768]"),
        };
    }
    let mut seed = None;
    if own && let Some(text) = after(args, "SEED", 4)? {
        seed = Some(parse::unsigned(text).ok_or(Fail::Text("ERR bad seed".into()))?);
    }
    let mut layout = None;
    if own && let Some(text) = after(args, "LAYOUT", 4)? {
        layout = Some(layout_of(text)?);
    }
    if own {
        only(args, 4, &["EXPANSION", "SEED", "LAYOUT"], &["NONSCALING"])?;
    }
    Ok(Wanted { rate, capacity, expansion, seed, layout })
}

/// The seed of a command that takes `SEED n` or nothing from the argument `first` on.
pub(crate) fn only_seed(args: Args<'_>, first: usize) -> Result<Option<u64>, Fail> {
    match after(args, "SEED", first)? {
        Some(text) => Ok(Some(parse::unsigned(text).ok_or(Fail::Text("ERR bad seed".into()))?)),
        None if args.len() > first => fail("ERR unknown argument"),
        None => Ok(None),
    }
}

/// The layout of that name.
pub(crate) fn layout_of(text: &[u8]) -> Result<Layout, Fail> {
    let bad = Fail::Text("ERR bad layout: lines, classic or classic2".into());
    Layout::of_name(text).ok_or(bad)
}

/// A rate between 0 and 1.
pub(crate) fn rate(text: &[u8]) -> Result<f64, Fail> {
    match parse::real(text) {
        None => fail("ERR bad error rate"),
        Some(rate) if rate > 0.0 && rate < 1.0 => Ok(rate),
        Some(_) => fail("ERR error rate must be in the range (0.000000, 1.000000)"),
    }
}

/// How many items; more for commands of our own.
pub(crate) fn capacity(text: &[u8], own: bool) -> Result<u64, Fail> {
    let most = if own { MAX_OWN_CAPACITY } else { MAX_CAPACITY };
    match parse::integer(text) {
        None => fail("ERR bad capacity"),
        Some(_) => match parse::within(text, 1, most) {
            Some(capacity) => Ok(capacity),
            None if own => fail("ERR capacity must be in the range [1, 281474976710656]"),
            None => fail("ERR capacity must be in the range [1, 1073741824]"),
        },
    }
}

/// The arguments of INSERT: what to make if the key is absent, or None if it is not to be made; and
/// where the items begin.
pub(crate) fn insert(args: Args<'_>) -> Result<(Option<Wanted>, usize), Fail> {
    let (mut wanted, mut create, mut fixed) = (Wanted::by_default(), true, false);
    let mut growth = None;
    let (own, mut at) = (args.is_own(), 2);
    // Words are known by their first letters.
    while at < args.len() {
        let word = args.bytes(at).to_ascii_lowercase();
        let value = || if at + 1 < args.len() { Ok(args.bytes(at + 1)) } else { Err(Fail::Arity) };
        match word.as_slice() {
            [b'i', ..] => {
                if at + 1 == args.len() {
                    return Err(Fail::Arity);
                }
                wanted.expansion = if fixed { 0 } else { growth.unwrap_or(wanted.expansion) };
                return Ok((create.then_some(wanted), at + 1));
            }
            [b'e', b'r', ..] => {
                let rate = parse::real(value()?).filter(|&rate| rate > 0.0 && rate < 1.0);
                wanted.rate = rate.ok_or(Fail::Text("Bad error rate".into()))?;
                at += 2;
            }
            [b'e', ..] => {
                let factor = parse::within(value()?, 0, MAX_EXPANSION.into());
                growth = Some(factor.ok_or(Fail::Text("Bad expansion".into()))? as u32);
                at += 2;
            }
            [b'c', ..] => {
                let most = if own { MAX_OWN_CAPACITY } else { MAX_CAPACITY };
                let capacity = parse::within(value()?, 1, most);
                wanted.capacity = capacity.ok_or(Fail::Text("Bad capacity".into()))?;
                at += 2;
            }
            [b'n', _, b'c', ..] => {
                create = false;
                at += 1;
            }
            [b'n', ..] => {
                fixed = true;
                at += 1;
            }
            [b's', ..] if own => {
                let seed = parse::unsigned(value()?);
                wanted.seed = Some(seed.ok_or(Fail::Text("ERR bad seed".into()))?);
                at += 2;
            }
            [b'l', ..] if own => {
                wanted.layout = Some(layout_of(value()?)?);
                at += 2;
            }
            _ => return fail("Unknown argument received"),
        }
    }
    Err(Fail::Arity)
}
