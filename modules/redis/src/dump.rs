//! SCANDUMP and LOADCHUNK: the image of a filter of any kind, chunk by chunk.
//!
//! The first chunk is the header, with the iterator 1. Of each later one the iterator is one more
//! than the bytes up to its end. An iterator is answered with the next chunk, and 0 ends the dump.

use crate::api::{Args, Ctx, Found, Key};
use crate::command::{Fail, Outcome, fail};
use crate::image::{self, CHUNK, Kind};
use crate::limit::Limit;
use crate::loading::Loading;
use crate::object::{Object, Value};
use crate::parse;

/// The answer of every command to a key that has not fully arrived.
pub(crate) fn still_loading<T>() -> Result<T, Fail> {
    fail("ERR the filter is still being loaded")
}

/// What differs between BF.*, CF.* and BL.*.
struct Family {
    /// The kind that it is for; None: every kind.
    kind: Option<Kind>,
    /// The texts of errors, as RedisBloom has them.
    position: &'static str,
    header: &'static str,
    chunk: &'static str,
}

fn family(args: Args<'_>) -> Family {
    let bad = "ERR received bad data";
    let position = "Second argument must be numeric";
    match args.bytes(0).to_ascii_uppercase().as_slice() {
        [b'C', b'F', b'.', ..] => Family {
            kind: Some(Kind::Cuckoo),
            position: "Invalid position",
            header: "Invalid header",
            chunk: "Couldn't load chunk!",
        },
        [b'B', b'F', b'.', ..] => {
            Family { kind: Some(Kind::Bloom), position, header: bad, chunk: bad }
        }
        _ => Family { kind: None, position, header: bad, chunk: bad },
    }
}

impl Family {
    fn has(&self, kind: Kind) -> bool {
        self.kind.is_none_or(|own| own == kind)
    }
}

pub(crate) fn scan(ctx: Ctx, args: Args<'_>) -> Outcome {
    if args.len() != 3 {
        return Err(Fail::Arity);
    }
    let family = family(args);
    let Some(iterator) = parse::within(args.bytes(2), 0, i64::MAX as u64) else {
        return fail(family.position);
    };
    let key = Key::open(ctx, args.raw(1), false);
    let value = match key.get() {
        Found::Absent => return fail("ERR not found"),
        Found::Foreign => return Err(Fail::WrongType),
        Found::Ours(Object { value: Value::Loading(_), .. }) => return still_loading(),
        Found::Ours(object) if family.has(object.value.kind()) => &object.value,
        Found::Ours(_) => return Err(Fail::WrongType),
    };
    let (mut next, mut chunk) = (1, Vec::new());
    if iterator == 0 {
        chunk = value.header().to_bytes();
    } else {
        let offset = usize::try_from(iterator - 1).unwrap_or(usize::MAX);
        image::read_at(&value.files(), offset, CHUNK, &mut chunk)?;
        next = if chunk.is_empty() { 0 } else { iterator + chunk.len() as u64 };
    }
    ctx.array(2);
    ctx.count(next);
    ctx.bytes(&chunk);
    Ok(())
}

pub(crate) fn load(ctx: Ctx, args: Args<'_>) -> Outcome {
    if args.len() != 4 {
        return Err(Fail::Arity);
    }
    let family = family(args);
    let Some(iterator) = parse::within(args.bytes(2), 1, i64::MAX as u64) else {
        return fail(family.position);
    };
    let (mut key, bytes) = (Key::open(ctx, args.raw(1), true), args.bytes(3));
    match key.get_mut() {
        Found::Foreign => return Err(Fail::WrongType),
        Found::Absent if iterator == 1 => key.set(begin(ctx, bytes, &family)?),
        Found::Ours(object) if iterator != 1 => match &mut object.value {
            Value::Loading(loading) if loading.is_image() => {
                // Where the chunk begins, and where the last one ended.
                let begin = (iterator - 1).checked_sub(bytes.len() as u64);
                if begin != Some(loading.arrived()) || bytes.is_empty() {
                    return fail(family.chunk);
                }
                loading.push(bytes).map_err(|_| Fail::Text(family.chunk.into()))?;
                finish(ctx, &mut key, args)?;
            }
            _ => return fail(family.chunk),
        },
        _ => return fail(family.chunk),
    }
    ctx.replicate(c"BL.LOADCHUNK", args.from(1).as_raw());
    ctx.ok();
    Ok(())
}

/// A filter that is to arrive, of which this is the header.
fn begin(ctx: Ctx, header: &[u8], family: &Family) -> Result<Object, Fail> {
    let bad = || Fail::Text(family.header.into());
    let loading = Loading::image(header).map_err(|_| bad())?;
    if !loading.image_kind().is_some_and(|kind| family.has(kind)) {
        return Err(bad());
    }
    let bytes = usize::try_from(loading.total()).unwrap_or(usize::MAX);
    let too_large = |_| Fail::Text("ERR Insufficient memory to create filter".into());
    Limit::of(ctx).allows(bytes, bytes).map_err(too_large)?;
    Ok(Object::new(Value::Loading(Box::new(loading))))
}

/// Makes the filter if all of it has arrived. If it is damaged, the key goes, on replicas, too.
pub(crate) fn finish(ctx: Ctx, key: &mut Key<'_>, args: Args<'_>) -> Outcome {
    let Found::Ours(object) = key.get_mut() else { return Ok(()) };
    let Value::Loading(loading) = &mut object.value else { return Ok(()) };
    if !loading.is_complete() {
        object.recount();
        return Ok(());
    }
    match loading.finish() {
        Ok(value) => {
            object.replace(value);
            ctx.notify(c"bloom.load", args.raw(1));
            Ok(())
        }
        Err(error) => {
            key.delete();
            ctx.replicate(c"DEL", args.from(1).first(1).as_raw());
            Err(error.into())
        }
    }
}
