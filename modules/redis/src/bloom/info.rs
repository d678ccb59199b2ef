//! INFO and DEBUG of a series of filters.

use super::commands::filter_of;
use crate::api::{Args, Ctx, Key};
use crate::command::{Fail, Outcome, fail};
use crate::object::Value;

/// The fields, in RedisBloom's order: the word that asks for one, and its name.
const FIELDS: [(&str, &str); 5] = [
    ("CAPACITY", "Capacity"),
    ("SIZE", "Size"),
    ("FILTERS", "Number of filters"),
    ("ITEMS", "Number of items inserted"),
    ("EXPANSION", "Expansion rate"),
];

pub(super) fn info(ctx: Ctx, args: Args<'_>) -> Outcome {
    if !(2..=3).contains(&args.len()) {
        return Err(Fail::Arity);
    }
    let key = Key::open(ctx, args.raw(1), false);
    let Some(filter) = filter_of(&key)? else { return fail("ERR not found") };
    if args.len() == 2 {
        ctx.map(FIELDS.len());
        for (i, (_, name)) in FIELDS.iter().enumerate() {
            ctx.label(name);
            field(ctx, filter, i);
        }
        return Ok(());
    }
    let Some(i) = FIELDS.iter().position(|(word, _)| args.is(2, word)) else {
        return fail("Invalid information value");
    };
    ctx.one_of_a_map(FIELDS[i].1);
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
        _ => [0; FIELDS.len()],
    };
    // One that does not grow has no expansion rate.
    if i == 4 && fields[i] == 0 { ctx.null() } else { ctx.count(fields[i]) }
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
    for (i, link) in chain.links.iter().enumerate() {
        let (params, size) = (link.filter.params(), link.filter.key_count());
        let line = format!(
            "bytes:{} bits:{} hashes:{} hashwidth:64 capacity:{} size:{size} ratio:{}",
            params.bytes(),
            8 * params.bytes(),
            params.k(),
            link.capacity,
            six_digits(chain.plan.rate_of(i)),
        );
        ctx.bytes(line.as_bytes());
    }
    Ok(())
}

/// A number with as many digits as people read.
fn six_digits(number: f64) -> f64 {
    format!("{number:.5e}").parse().unwrap_or(number)
}
