//! INFO and DEBUG of a series of filters.

use crate::api::{Args, Ctx};
use crate::command::{Fail, Outcome, fail};
use crate::key::{Key, find};
use crate::object::Value;

/// The fields, in RedisBloom's order: the word that asks for one, and its name. The last is for our
/// own name of the command: clients of RedisBloom know the others.
const FIELDS: [(&str, &str); 6] = [
    ("CAPACITY", "Capacity"),
    ("SIZE", "Size"),
    ("FILTERS", "Number of filters"),
    ("ITEMS", "Number of items inserted"),
    ("EXPANSION", "Expansion rate"),
    ("LAYOUT", "Layout"),
];
/// Those that RedisBloom has, too.
const SHARED: usize = 5;

/// Whether the commands of Bloom filters read it: a series or a static filter.
pub(super) fn is_bloom(value: &Value) -> bool {
    matches!(value, Value::Bloom(_) | Value::Static(_))
}

/// The filter of a key, to be read. None if there is no such key.
pub(super) fn filter_of<'k>(key: &'k Key<'_>) -> Result<Option<&'k Value>, Fail> {
    find(key, |value| is_bloom(value).then_some(value))
}

pub(super) fn info(ctx: Ctx, args: Args<'_>) -> Outcome {
    if !(2..=3).contains(&args.len()) {
        return Err(Fail::Arity);
    }
    let key = Key::open(ctx, args.raw(1), false);
    let Some(filter) = filter_of(&key)? else { return fail("ERR not found") };
    let fields = &FIELDS[..if args.is_own() { FIELDS.len() } else { SHARED }];
    if args.len() == 2 {
        ctx.map(fields.len());
        for (i, (_, name)) in fields.iter().enumerate() {
            ctx.label(name);
            field(ctx, filter, i);
        }
        return Ok(());
    }
    let Some(i) = fields.iter().position(|(word, _)| args.is(2, word)) else {
        return fail("Invalid information value");
    };
    ctx.one_of_a_map(fields[i].1);
    field(ctx, filter, i);
    Ok(())
}

fn field(ctx: Ctx, filter: &Value, i: usize) {
    let fields = match filter {
        Value::Bloom(chain) => {
            let (size, links) = (chain.size() as u64, chain.links.len() as u64);
            [chain.capacity(), size, links, chain.items(), chain.plan.expansion.into()]
        }
        Value::Static(fixed) => {
            let keys = fixed.filter.key_count();
            [keys, fixed.size() as u64, 1, keys, 0]
        }
        _ => [0; SHARED],
    };
    match fields.get(i) {
        None => ctx.bytes(layout_of(filter).as_bytes()),
        // One that does not grow has no expansion rate.
        Some(0) if i == 4 => ctx.null(),
        Some(&number) => ctx.count(number),
    }
}

/// The layout of a filter of this family.
fn layout_of(filter: &Value) -> &'static str {
    match filter {
        Value::Bloom(chain) => chain.plan.layout.name(),
        other => other.kind().name(),
    }
}

pub(super) fn debug(ctx: Ctx, args: Args<'_>) -> Outcome {
    let key = Key::open(ctx, args.raw(1), false);
    let chain = match filter_of(&key)? {
        Some(Value::Bloom(chain)) => chain,
        Some(_) => return Err(Fail::WrongType),
        None => return fail("ERR not found"),
    };
    ctx.array(1 + chain.links.len());
    ctx.bytes(format!("size:{}", chain.items()).as_bytes());
    let layout = chain.plan.layout;
    for (i, link) in chain.links.iter().enumerate() {
        let (params, size) = (link.filter.params(), link.items(layout));
        let line = format!(
            "bytes:{} bits:{} hashes:{} hashwidth:64 capacity:{} size:{size} ratio:{} layout:{}",
            params.bytes(),
            8 * params.bytes(),
            layout.rounds() * params.k(),
            link.capacity,
            six_digits(chain.plan.rate_of(i)),
            layout.name(),
        );
        ctx.bytes(line.as_bytes());
    }
    Ok(())
}

/// A number with as many digits as people read.
fn six_digits(number: f64) -> f64 {
    format!("{number:.5e}").parse().unwrap_or(number)
}
