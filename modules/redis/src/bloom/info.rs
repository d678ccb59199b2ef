//! INFO and DEBUG of a series of filters.

use super::chain::Chain;
use super::commands::chain_of;
use crate::api::{Args, Ctx, Key};
use crate::command::{Fail, Outcome, fail};

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
    let Some(chain) = chain_of(&key)? else { return fail("ERR not found") };
    if args.len() == 2 {
        ctx.map(FIELDS.len());
        for (i, (_, name)) in FIELDS.iter().enumerate() {
            ctx.label(name);
            field(ctx, chain, i);
        }
        return Ok(());
    }
    let Some(i) = FIELDS.iter().position(|(word, _)| args.is(2, word)) else {
        return fail("Invalid information value");
    };
    ctx.one_of_a_map(FIELDS[i].1);
    field(ctx, chain, i);
    Ok(())
}

fn field(ctx: Ctx, chain: &Chain, i: usize) {
    match i {
        0 => ctx.count(chain.capacity()),
        1 => ctx.count(chain.size() as u64),
        2 => ctx.count(chain.links.len() as u64),
        3 => ctx.count(chain.items()),
        _ if chain.plan.expansion == 0 => ctx.null(),
        _ => ctx.count(chain.plan.expansion.into()),
    }
}

pub(super) fn debug(ctx: Ctx, args: Args<'_>) -> Outcome {
    if args.len() != 2 {
        return Err(Fail::Arity);
    }
    let key = Key::open(ctx, args.raw(1), false);
    let Some(chain) = chain_of(&key)? else { return fail("ERR not found") };
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
            chain.plan.rate_of(i),
        );
        ctx.bytes(line.as_bytes());
    }
    Ok(())
}
