//! What becomes of bytes that have arrived: the filter of an image, or of a file of the library.

use crate::api::{Args, Ctx};
use crate::arrived::{Arrived, Taken};
use crate::bloom::{Chain, Layout, Link, Plan, count_by_bits};
use crate::command::{Fail, Outcome};
use crate::cuckoo::Series;
use crate::key::{Found, Key};
use crate::loading::{Loading, Source};
use crate::object::Value;
use crate::own::{Counting, Fixed, Growing, Timed};
use bloomline::{
    CountingFilter, CuckooFilter, Error, Filter, Kind, ScalableFilter, StaticFilter, Window, sizing,
};
use std::io::{Read, Seek, SeekFrom};

/// Makes the filter if all of it has arrived. If it is damaged, the key goes, on replicas, too.
pub(crate) fn finish(ctx: Ctx, key: &mut Key<'_>, args: Args<'_>) -> Outcome {
    let Found::Ours(object) = key.get_mut() else { return Ok(()) };
    let Value::Loading(loading) = &mut object.value else { return Ok(()) };
    if !loading.is_complete() {
        object.recount();
        return Ok(());
    }
    match value_of(loading) {
        Ok(value) => {
            object.replace(value);
            ctx.notify(c"bloom.load", args.raw(1));
            Ok(())
        }
        Err(error) => {
            key.delete();
            ctx.replicate(c"DEL", args.from(1).first(1).as_raw());
            Err(not_taken(error))
        }
    }
}

/// The filter, once it is complete. What has arrived is gone then.
fn value_of(loading: &mut Loading) -> Result<Value, Error> {
    let mut arrived = loading.take();
    match loading.source() {
        Source::Image(header, _) => Value::from_image(header, &mut arrived),
        Source::File { capacity, layout } => from_file(&mut arrived, *capacity, *layout),
    }
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
        GROWING => Value::Growing(Box::new(Growing::of_file(file)?)),
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
fn not_taken(error: Error) -> Fail {
    match error {
        Error::Layout(layout) if layout == Kind::Cascade as u16 => Fail::Text(
            "ERR a cascade cannot be imported: BL.IMPORT takes plain, classic, scalable, counting, \
             cuckoo, window, static and growing filters"
                .into(),
        ),
        // Bytes that a primary has taken are not refused: they are damaged.
        error => Fail::Undone(format!("ERR {error}").into()),
    }
}

const PLAIN: u16 = Kind::Filter as u16;
const CLASSIC: u16 = Kind::Classic as u16;
const SCALABLE: u16 = Kind::Scalable as u16;
const COUNTING: u16 = Kind::Counting as u16;
const CUCKOO: u16 = Kind::Cuckoo as u16;
const WINDOW: u16 = Kind::Window as u16;
const STATIC: u16 = Kind::Static as u16;
const GROWING: u16 = Kind::Growing as u16;

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
    let link = |(i, mut filter): (usize, Filter)| {
        if filter.key_count() == 0 {
            // Unknown: it would take as many items more as an empty one.
            filter.set_key_count(count_by_bits(&filter));
        }
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
    let capacities = links.iter().map(|link| link.capacity);
    let capacity = capacities.fold(0, u64::saturating_add).max(1);
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
    use crate::added::Stop;
    use crate::limit::Limit;
    use bloomline::{GrowingFilter, Params, hash::hash_u64};

    #[test]
    fn a_file_that_does_not_say_how_many_items_it_has_is_not_taken_for_an_empty_one() {
        for layout in Layout::ALL {
            let plan = Plan { rate: 0.01, capacity: 1000, expansion: 0, seed: 1, layout };
            let mut chain = Chain::new(plan, Limit::none()).unwrap();
            let hashes: Vec<u64> = (0..1700).map(|i| hash_u64(i, 0)).collect();
            chain.insert(&hashes[..800], Limit::none(), |_| ()).unwrap();
            let filter = &chain.links[0].filter;
            let filter = Filter::from_lines(filter.params(), filter.lines(), 0).unwrap();
            let mut file = Arrived::of(&filter.to_bytes().unwrap());
            let Value::Bloom(mut chain) = from_file(&mut file, 1000, Some(layout)).unwrap() else {
                panic!()
            };
            assert!((760..840).contains(&chain.items()), "{layout:?}: {}", chain.items());
            let mut added = 0;
            let result = chain.insert(&hashes[800..], Limit::none(), |_| added += 1);
            assert_eq!(result, Err(Stop::Full), "{layout:?}");
            assert!((150..250).contains(&added), "{layout:?}: {added}");
        }
        let empty = Filter::new(Params::for_rate(1000, 0.01).unwrap()).unwrap();
        let mut file = Arrived::of(&empty.to_bytes().unwrap());
        let Value::Bloom(chain) = from_file(&mut file, 1000, None).unwrap() else { panic!() };
        assert_eq!(chain.items(), 0);
    }

    #[test]
    fn files_of_each_kind_become_values_with_their_items() {
        let params = Params::for_rate(100, 0.01).unwrap().with_seed(5);
        let mut plain = Filter::new(params).unwrap();
        let mut classic =
            Filter::new(Params::classic_for_rate(100, 0.01).unwrap().with_seed(5)).unwrap();
        let mut counting = CountingFilter::new(params).unwrap();
        let mut window = Window::with_params(3, params).unwrap();
        let mut scalable = ScalableFilter::new(10, 0.01, 5).unwrap();
        let cuckoo = bloomline::CuckooParams::for_bits(100, 12).unwrap().with_seed(5);
        let mut cuckoo = CuckooFilter::new(cuckoo).unwrap();
        let mut fixed = bloomline::StaticBuilder::for_rate(0.01, 5).unwrap();
        let mut bounded = GrowingFilter::new(100, 0.01, 5).unwrap();
        let mut unbounded = GrowingFilter::unbounded(10, 0.01, 5).unwrap();
        for i in 0..60u64 {
            plain.insert(&i);
            classic.insert(&i);
            counting.insert(&i);
            window.insert(&i);
            scalable.insert(&i).unwrap();
            cuckoo.insert(&i).unwrap();
            fixed.add(&i).unwrap();
            bounded.insert(&i).unwrap();
            unbounded.insert(&i).unwrap();
        }
        let files = [
            plain.to_bytes(),
            classic.to_bytes(),
            counting.to_bytes(),
            window.to_bytes(),
            scalable.to_bytes(),
            cuckoo.to_bytes(),
            fixed.finish_vec(),
            bounded.to_bytes(),
            unbounded.to_bytes(),
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
            let (header, parts) = value.image().unwrap();
            parts.iter().for_each(|part| part.write_to(&mut body).unwrap());
            let again = Value::from_image(&header, &mut Arrived::of(&body)).unwrap();
            assert_eq!(again.image().unwrap().0, header);
            for i in [0, file.len() / 2, file.len() - 1] {
                let mut damaged = file.clone();
                damaged[i] ^= 1;
                assert!(from_file(&mut Arrived::of(&damaged), 0, None).is_err());
            }
        }
    }
}
