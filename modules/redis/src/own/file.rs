//! Files of the library: EXPORT and IMPORT, a chunk at a time.

use crate::api::{Args, Ctx};
use crate::bloom::{MAX_OWN_CAPACITY, after, layout_of, only};
use crate::command::{Fail, Outcome, fail, no_memory};
use crate::finish;
use crate::image::CHUNK;
use crate::key::{Found, Key, value_of};
use crate::limit::Limit;
use crate::loading::Loading;
use crate::object::{Object, Value};
use crate::parse;
use bloomline::Error;

pub(super) fn export(ctx: Ctx, args: Args<'_>) -> Outcome {
    if args.len().is_multiple_of(2) {
        return Err(Fail::Arity);
    }
    let bad = |what| Fail::Text(format!("ERR bad {what}").into());
    let number = |text| parse::within(text, 0, i64::MAX as u64);
    let offset = number(args.bytes(2)).ok_or(bad("offset"))?;
    let most = match after(args, "COUNT", 3)? {
        Some(text) => parse::within(text, 1, CHUNK as u64).ok_or(bad("count"))? as usize,
        None => CHUNK,
    };
    let link = after(args, "LINK", 3)?.map(|text| number(text).ok_or(bad("link"))).transpose()?;
    only(args, 3, &["COUNT", "LINK"], &[])?;
    let mut key = Key::open(ctx, args.raw(1), false);
    value_of(&key)?;
    let Found::Ours(object) = key.get_mut() else { return Err(Fail::WrongType) };
    object.settle()?;
    let (_, files) = object.value.image()?;
    let i = match link {
        Some(i) => usize::try_from(i).unwrap_or(usize::MAX),
        None if files.len() == 1 => 0,
        None => return fail("ERR the filter has grown: export each LINK, from 0"),
    };
    let file = files.get(i).ok_or(Fail::Text("ERR there is no such link".into()))?;
    let (len, mut chunk) = (file.len() as u64, Vec::new());
    file.read_at(usize::try_from(offset).unwrap_or(usize::MAX), most, &mut chunk)?;
    let next = offset.saturating_add(chunk.len() as u64);
    ctx.array(3);
    ctx.count(if next >= len { 0 } else { next });
    ctx.count(len);
    ctx.bytes(&chunk);
    Ok(())
}

pub(super) fn import(ctx: Ctx, args: Args<'_>) -> Outcome {
    if ![5, 7, 9].contains(&args.len()) {
        return Err(Fail::Arity);
    }
    let bad = |what| Fail::Text(format!("ERR bad {what}").into());
    let number = |i, what| parse::within(args.bytes(i), 0, i64::MAX as u64).ok_or(bad(what));
    let (offset, len) = (number(2, "offset")?, number(3, "length")?);
    let capacity = after(args, "CAPACITY", 5)?;
    let layout = after(args, "LAYOUT", 5)?;
    if args.len() != 5 + 2 * (usize::from(capacity.is_some()) + usize::from(layout.is_some())) {
        return fail("ERR unknown argument");
    }
    // 0 follows from the file.
    let of = |text| parse::within(text, 0, MAX_OWN_CAPACITY).ok_or(bad("capacity"));
    let capacity = capacity.map_or(Ok(0), of)?;
    let layout = layout.map(layout_of).transpose()?;
    let bytes = args.bytes(4);
    if bytes.is_empty() {
        return fail("ERR no bytes");
    }
    let mut key = Key::open(ctx, args.raw(1), true);
    match key.get_mut() {
        Found::Foreign => return Err(Fail::WrongType),
        Found::Absent if offset == 0 => {
            let total = usize::try_from(len).unwrap_or(usize::MAX);
            Limit::of(ctx).allows(total, total).map_err(no_memory)?;
            let mut loading = Loading::file(len, capacity, layout);
            loading.push(bytes).map_err(undone)?;
            key.set(Object::new(Value::Loading(Box::new(loading))));
        }
        Found::Absent => return Err(Fail::Undone("ERR the first chunk begins at offset 0".into())),
        Found::Ours(Object { value: Value::Loading(loading), .. }) if !loading.is_image() => {
            if offset != loading.arrived() || len != loading.total() {
                let (at, total) = (loading.arrived(), loading.total());
                return Err(Fail::Undone(
                    format!("ERR the next chunk begins at offset {at} of {total}").into(),
                ));
            }
            loading.push(bytes).map_err(undone)?;
        }
        // Where the chunk was taken, the key had no whole filter.
        Found::Ours(_) => return Err(Fail::Undone("ERR item exists".into())),
    }
    finish::finish(ctx, &mut key, args)?;
    ctx.replicate(c"BL.IMPORT", args.from(1).as_raw());
    ctx.ok();
    Ok(())
}

/// Chunks that were taken are replicated: one of the primary or the append-only file that is refused was damaged.
fn undone(error: Error) -> Fail {
    Fail::Undone(format!("ERR {error}").into())
}
