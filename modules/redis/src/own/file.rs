//! Files of the library: EXPORT and IMPORT, a chunk at a time.

use super::{Counting, Fixed, Timed, value_of};
use crate::api::{Args, Ctx, Found, Key};
use crate::arrived::{Arrived, Taken};
use crate::bloom::{Chain, Layout, Link, MAX_OWN_CAPACITY, Plan, after, layout_of};
use crate::command::{Fail, Outcome, fail};
use crate::cuckoo::Series;
use crate::dump;
use crate::image::CHUNK;
use crate::limit::Limit;
use crate::loading::Loading;
use crate::object::{Object, Value};
use crate::parse;
use bloomline::{
    CountingFilter, CuckooFilter, Error, Filter, Kind, ScalableFilter, StaticFilter, Window, sizing,
};
use std::io::{Read, Seek, SeekFrom};

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
    let key = Key::open(ctx, args.raw(1), false);
    let value = value_of(&key)?;
    let files = value.files();
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
            let too_large = |_| Fail::Text("ERR Insufficient memory to create filter".into());
            Limit::of(ctx).allows(total, total).map_err(too_large)?;
            let mut loading = Loading::file(len, capacity, layout);
            loading.push(bytes)?;
            key.set(Object::new(Value::Loading(Box::new(loading))));
        }
        Found::Absent => return fail("ERR the first chunk begins at offset 0"),
        Found::Ours(Object { value: Value::Loading(loading), .. }) if !loading.is_image() => {
            if offset != loading.arrived() || len != loading.total() {
                let (at, total) = (loading.arrived(), loading.total());
                return Err(Fail::Text(
                    format!("ERR the next chunk begins at offset {at} of {total}").into(),
                ));
            }
            loading.push(bytes)?;
        }
        Found::Ours(_) => return fail("ERR item exists"),
    }
    dump::finish(ctx, &mut key, args)?;
    ctx.replicate(c"BL.IMPORT", args.from(1).as_raw());
    ctx.ok();
    Ok(())
}

/// The value of a file of the library. `capacity`: how many items it is to take; 0: as many as set
/// half of the bits. `wanted`: the layout that it must have; None: the file says all, and its items
/// have one hash each.
///
/// Frees the bytes as it reads them.
pub(crate) fn from_file(
    bytes: &mut Arrived,
    capacity: u64,
    wanted: Option<Layout>,
) -> Result<Value, Error> {
    let mut file = bytes.take(bytes.left())?;
    let layout = layout(&mut file)?;
    if wanted.is_some() && ![PLAIN, CLASSIC].contains(&layout) {
        return Err(Error::Layout(layout));
    }
    Ok(match layout {
        SCALABLE => {
            plain(ScalableFilter::load_from(file)?.into_stages().collect(), capacity, Layout::Lines)
        }
        COUNTING => {
            let filter = CountingFilter::load_from(file)?;
            let lines = filter.filter();
            let capacity = if capacity == 0 { half_full(lines, Layout::Lines) } else { capacity };
            Value::Counting(Box::new(Counting { filter, capacity }))
        }
        CUCKOO => Value::Cuckoo(Series::of_file(CuckooFilter::load_from(file)?)),
        WINDOW => Value::Window(Box::new(Timed::of_file(Window::load_from(file)?, capacity))),
        STATIC => Value::Static(Box::new(Fixed { filter: StaticFilter::load_from(file)? })),
        // An error unless it is one of the two layouts of plain filters.
        _ => {
            let filter = Filter::load_from(file)?;
            let wanted = wanted.unwrap_or(Layout::of(&filter));
            if !wanted.suits(&filter) {
                return Err(Error::Layout(layout));
            }
            plain(vec![filter], capacity, wanted)
        }
    })
}

/// Why a file is not taken.
pub(crate) fn not_taken(error: Error) -> Fail {
    match error {
        Error::Layout(layout) if layout == Kind::Cascade as u16 => Fail::Text(
            "ERR a cascade cannot be imported: BL.IMPORT takes plain, classic, scalable, counting, \
             cuckoo, window and static filters"
                .into(),
        ),
        error => error.into(),
    }
}

const PLAIN: u16 = Kind::Filter as u16;
const CLASSIC: u16 = Kind::Classic as u16;
const SCALABLE: u16 = Kind::Scalable as u16;
const COUNTING: u16 = Kind::Counting as u16;
const CUCKOO: u16 = Kind::Cuckoo as u16;
const WINDOW: u16 = Kind::Window as u16;
const STATIC: u16 = Kind::Static as u16;

/// The layout that a file's footer states, nothing of it checked: `docs/FORMAT.md`.
fn layout(file: &mut Taken<'_>) -> Result<u16, Error> {
    let mut bytes = [0; 2];
    let given = file.seek(SeekFrom::End(0))?;
    let footer = given.checked_sub(64).ok_or(Error::Truncated { needed: 64, given })?;
    file.seek(SeekFrom::Start(footer + 28))?;
    file.read_exact(&mut bytes)?;
    Ok(u16::from_le_bytes(bytes))
}

/// A series that does not grow.
fn plain(filters: Vec<Filter>, capacity: u64, layout: Layout) -> Value {
    let seed = filters.first().map_or(0, |filter| filter.params().seed());
    let last = filters.len().saturating_sub(1);
    let link = |(i, filter): (usize, Filter)| {
        // All but the newest are full.
        let capacity = match capacity {
            _ if i < last => filter.key_count(),
            0 => half_full(&filter, layout),
            capacity => capacity,
        };
        Link { filter, capacity }
    };
    let links: Vec<Link> = filters.into_iter().enumerate().map(link).collect();
    let rate = |link: &Link| layout.rate(link.filter.params(), link.capacity);
    let rate = links.iter().map(rate).sum::<f64>().clamp(1e-30, 0.999);
    let capacity = links.iter().map(|link| link.capacity).sum::<u64>().max(1);
    Value::Bloom(Chain { plan: Plan { rate, capacity, expansion: 0, seed, layout }, links })
}

/// The items that set half of the bits.
fn half_full(filter: &Filter, layout: Layout) -> u64 {
    let (lines, k) = (filter.params().line_count(), filter.params().k());
    let keys = match layout {
        Layout::Lines => sizing::keys_for_fill(0.5, lines, k),
        _ => sizing::classic::keys_for_fill(0.5, 512 * lines, k) / f64::from(layout.rounds()),
    };
    keys.max(1.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use bloomline::Params;

    #[test]
    fn files_of_each_kind_become_values_with_their_items() {
        let params = Params::for_rate(100, 0.01).unwrap().with_seed(5);
        let mut plain = Filter::new(params).unwrap();
        let mut classic = Filter::classic(params).unwrap();
        let mut counting = CountingFilter::new(params).unwrap();
        let mut window = Window::with_params(3, params).unwrap();
        let mut scalable = ScalableFilter::new(10, 0.01, 5).unwrap();
        let cuckoo = bloomline::CuckooParams::for_bits(100, 12).unwrap().with_seed(5);
        let mut cuckoo = CuckooFilter::new(cuckoo).unwrap();
        let mut fixed = bloomline::StaticBuilder::for_rate(0.01, 5).unwrap();
        for i in 0..60u64 {
            plain.insert(&i);
            classic.insert(&i);
            counting.insert(&i);
            window.insert(&i);
            scalable.insert(&i).unwrap();
            cuckoo.insert(&i).unwrap();
            fixed.add(&i).unwrap();
        }
        let files = [
            plain.to_bytes(),
            classic.to_bytes(),
            counting.to_bytes(),
            window.to_bytes(),
            scalable.to_bytes(),
            cuckoo.to_bytes(),
            fixed.finish_vec(),
        ];
        for file in files {
            let file = file.unwrap();
            let value = from_file(&mut Arrived::of(&file), 0, None).unwrap();
            let hashes: Vec<u64> = (0..60).map(|i| bloomline::hash::hash_u64(i, 5)).collect();
            let mut words = [0; crate::items::WORDS];
            value.probe(&hashes, &mut words);
            assert_eq!(words[0], (1 << 60) - 1);
            assert_eq!(value.seed(), 5);
            // It can be saved and read again.
            let mut body = Vec::new();
            for part in value.files() {
                part.write_to(&mut body).unwrap();
            }
            let header = value.header();
            assert_eq!(
                Value::from_image(&header, &mut Arrived::of(&body)).unwrap().header(),
                header
            );
            for i in [0, file.len() / 2, file.len() - 1] {
                let mut damaged = file.clone();
                damaged[i] ^= 1;
                assert!(from_file(&mut Arrived::of(&damaged), 0, None).is_err());
            }
        }
    }
}
