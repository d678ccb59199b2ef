//! SCANDUMP and LOADCHUNK: the image of a filter of any kind, chunk by chunk.
//!
//! The first chunk is the header, with the iterator 1. Of each later one the iterator is one more
//! than the bytes up to its end. An iterator is answered with the next chunk, and 0 ends the dump.

use crate::api::{Args, Ctx};
use crate::command::{Fail, Outcome, fail, no_memory};
use crate::finish::finish;
use crate::image::{self, CHUNK, Kind};
use crate::key::{Found, Key, still_loading};
use crate::limit::Limit;
use crate::loading::Loading;
use crate::object::{Object, Value};
use crate::parse;

/// What differs between BF.*, CF.* and BL.*: as RedisBloom has it.
struct Family {
    /// The kind that it is for; None: every kind.
    kind: Option<Kind>,
    /// The texts of errors.
    scan_position: &'static str,
    load_position: &'static str,
    header: &'static str,
    chunk: &'static str,
    /// What is returned for the header of a filter that has arrived.
    again: &'static str,
}

const BLOOM: Family = Family {
    kind: Some(Kind::Bloom),
    scan_position: "Second argument must be numeric",
    load_position: "ERR Second argument must be numeric",
    header: "ERR received bad data",
    chunk: "ERR received bad data",
    again: "ERR received bad data",
};

const CUCKOO: Family = Family {
    kind: Some(Kind::Cuckoo),
    scan_position: "Invalid position",
    load_position: "Invalid position",
    header: "Invalid header",
    chunk: "Couldn't load chunk!",
    again: "ERR item exists",
};

fn family(args: Args<'_>) -> Family {
    match args.bytes(0).to_ascii_uppercase().as_slice() {
        [b'C', b'F', b'.', ..] => CUCKOO,
        [b'B', b'F', b'.', ..] => BLOOM,
        _ => Family { kind: None, ..BLOOM },
    }
}

impl Family {
    fn has(&self, kind: Kind) -> bool {
        self.kind.is_none_or(|own| own == kind)
    }

    fn is_cuckoo(&self) -> bool {
        self.kind == Some(Kind::Cuckoo)
    }
}

pub(crate) fn scan(ctx: Ctx, args: Args<'_>) -> Outcome {
    let (family, iterator) = (family(args), parse::integer(args.bytes(2)));
    if family.is_cuckoo() && iterator.is_none_or(|iterator| iterator < 0) {
        return fail(family.scan_position);
    }
    let mut key = Key::open(ctx, args.raw(1), false);
    let object = match key.get_mut() {
        Found::Absent => return fail("ERR not found"),
        Found::Foreign => return Err(Fail::WrongType),
        Found::Ours(Object { value: Value::Loading(_), .. }) => return still_loading(),
        Found::Ours(object) if family.has(object.value.kind()) => object,
        Found::Ours(_) => return Err(Fail::WrongType),
    };
    let Some(iterator) = iterator else { return fail(family.scan_position) };
    object.settle()?;
    let (mut next, mut chunk) = (0, Vec::new());
    match &object.value {
        // By this name there is nothing to dump.
        Value::Cuckoo(series) if family.is_cuckoo() && series.items() == 0 => {}
        value if iterator == 0 => (next, chunk) = (1, value.image()?.0.to_bytes()),
        value if iterator > 0 => {
            let offset = usize::try_from(iterator - 1).unwrap_or(usize::MAX);
            image::read_at(&value.image()?.1, offset, CHUNK, &mut chunk)?;
            next = if chunk.is_empty() { 0 } else { iterator + chunk.len() as i64 };
        }
        _ => {}
    }
    ctx.array(2);
    ctx.integer(next);
    if next == 0 && family.is_cuckoo() {
        ctx.null()
    } else {
        ctx.bytes(&chunk)
    }
    Ok(())
}

pub(crate) fn load(ctx: Ctx, args: Args<'_>) -> Outcome {
    let (family, bytes) = (family(args), args.bytes(3));
    let iterator = parse::integer(args.bytes(2));
    let iterator = iterator.filter(|&iterator| !(family.is_cuckoo() && iterator == 0));
    let Some(iterator) = iterator else { return fail(family.load_position) };
    let mut key = Key::open(ctx, args.raw(1), true);
    match key.get_mut() {
        Found::Foreign => return Err(Fail::WrongType),
        Found::Absent if iterator == 1 => key.set(begin(ctx, bytes, &family)?),
        // Only chunks that were taken are replicated: this server lost the one before.
        Found::Absent => return Err(Fail::Undone("ERR not found".into())),
        Found::Ours(Object { value: Value::Loading(loading), .. })
            if iterator != 1 && loading.image_kind().is_some_and(|kind| family.has(kind)) =>
        {
            // Where the chunk begins, and where the last one ended.
            let len = bytes.len() as u64;
            let begin = u64::try_from(iterator).ok().and_then(|next| next.checked_sub(1 + len));
            if begin != Some(loading.arrived()) || len == 0 {
                return Err(Fail::Undone(family.chunk.into()));
            }
            loading.push(bytes).map_err(|_| Fail::Undone(family.chunk.into()))?;
            finish(ctx, &mut key, args)?;
        }
        Found::Ours(object) => {
            let kind = match &object.value {
                // What IMPORT takes may become any kind.
                Value::Loading(loading) => loading.image_kind(),
                value => Some(value.kind()),
            };
            return match kind {
                Some(kind) if !family.has(kind) => Err(Fail::WrongType),
                // Where the chunk was taken, the key had no whole filter.
                _ if iterator == 1 => Err(Fail::Undone(family.again.into())),
                _ => Err(Fail::Undone(family.chunk.into())),
            };
        }
    }
    ctx.replicate(c"BL.LOADCHUNK", args.from(1).as_raw());
    ctx.ok();
    Ok(())
}

/// A filter that is to arrive, of which this is the header.
fn begin(ctx: Ctx, header: &[u8], family: &Family) -> Result<Object, Fail> {
    let loading = Loading::image(header).map_err(|_| Fail::Undone(family.header.into()))?;
    if !loading.image_kind().is_some_and(|kind| family.has(kind)) {
        return fail(family.header);
    }
    let bytes = usize::try_from(loading.total()).unwrap_or(usize::MAX);
    Limit::of(ctx).allows(bytes, bytes).map_err(no_memory)?;
    Ok(Object::new(Value::Loading(Box::new(loading))))
}
