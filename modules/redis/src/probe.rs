//! EXISTS and MEXISTS, of every kind. Each kind's command says which values it is for.

use crate::api::{Args, Ctx};
use crate::command::Outcome;
use crate::items::{WORDS, answers, in_blocks};
use crate::key::{Key, find, or_nothing};
use crate::object::Value;

/// Whether a value is of the kind that a command is for.
type Is = fn(&Value) -> bool;

pub(crate) fn exists(ctx: Ctx, args: Args<'_>, is: Is) -> Outcome {
    let key = Key::open(ctx, args.raw(1), false);
    let value = or_nothing(args, &key, find(&key, |value| is(value).then_some(value)))?;
    ctx.boolean(value.is_some_and(|value| value.contains(args.bytes(2))));
    Ok(())
}

pub(crate) fn mexists(ctx: Ctx, args: Args<'_>, is: Is) -> Outcome {
    let key = Key::open(ctx, args.raw(1), false);
    let value = or_nothing(args, &key, find(&key, |value| is(value).then_some(value)))?;
    let items = args.from(2);
    ctx.array(items.len());
    let Some(value) = value else {
        (0..items.len()).for_each(|_| ctx.boolean(false));
        return Ok(());
    };
    let mut words = [0; WORDS];
    in_blocks(items, value.seed(), |hashes| {
        value.probe(hashes, &mut words);
        answers(&words, hashes.len()).for_each(|answer| ctx.boolean(answer));
    });
    Ok(())
}
