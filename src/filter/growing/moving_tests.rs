//! Removals from a region that is moved, against the definition: its lines hold what they are to hold, and a probe of
//! them by the definition finds it.

use super::GrowingFilter;
use crate::hash::hash_u64;
use crate::kernel::Backend;
use crate::kernel::growing::place::Layout;
use crate::kernel::growing::single::Single;
use crate::kernel::growing::{Line, goes_on};
use crate::layouts::growing::{Found, Multiset, mixed, place, prefix, read};
use std::collections::{BTreeMap, BTreeSet};

/// Keys whose home is one line: one layout has the line.
type Homes = BTreeMap<(usize, usize), Vec<u64>>;

/// So many keys of a line go: then it has room for six, and takes those back that went on.
const GO: usize = 9;

/// What a line holds by the definition, and for which value of it a hash is.
fn defined(layout: &Layout, hash: u64) -> bool {
    let (u, r) = layout.width();
    let w = layout.end() >> u32::from(layout.is_mixed());
    let (home, offset) = place(prefix(hash, w), u);
    let mut value = if layout.is_mixed() { mixed(offset, 0) } else { offset as i64 };
    for at in home as usize.. {
        let Some(line) = layout.lines.get(at) else { return false };
        let content = read(&bytes(line), r);
        let found = match layout.is_mixed() {
            true => content.find_mixed(value, r),
            false => content.find(value, r),
        };
        match found {
            Found::Present => return true,
            Found::Absent => return false,
            Found::Onward => value -= layout.values(),
        }
    }
    false
}

fn bytes(line: &Line) -> [u8; 64] {
    let mut bytes = [0; 64];
    for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().zip(line) {
        *bytes = word.to_le_bytes();
    }
    bytes
}

fn has(filter: &GrowingFilter, hash: u64) -> bool {
    defined(&filter.places.layouts[filter.places.of(hash)], hash)
}

/// The keys of the region that is moved, by their homes.
fn of_moving(filter: &GrowingFilter, keys: &[u64]) -> Homes {
    let sweep = filter.sweep.as_ref().expect("a region moves");
    let mut homes = Homes::new();
    for &hash in keys.iter().filter(|&&hash| (hash >> 60) as usize == sweep.region) {
        let at = filter.places.of(hash);
        homes.entry((at, filter.places.layouts[at].place(hash).0)).or_default().push(hash);
    }
    homes
}

/// How far a region is moved, if one is: lines of a hundred.
fn moved(filter: &GrowingFilter) -> Option<usize> {
    let sweep = filter.sweep.as_ref()?;
    Some(100 * sweep.line / filter.places.layouts[sweep.region].homes)
}

/// Removes keys of lines that go on, in the lines of a region before it is moved and behind. Returns how often the
/// next line changed, in the old lines and in the new ones.
fn remove_some(
    filter: &mut GrowingFilter,
    keys: &mut Vec<u64>,
    mut removed: impl FnMut(u64),
) -> [usize; 2] {
    let (mut back, mut gone) = ([0; 2], BTreeSet::new());
    let region = filter.sweep.as_ref().expect("a region moves").region;
    let homes = of_moving(filter, keys);
    let fresh = filter.regions.len();
    // In turn of the new lines and of the last of the old ones.
    let new = homes.iter().filter(|((at, _), _)| *at == fresh);
    let old = homes.iter().filter(|((at, _), _)| *at == region).rev();
    for (&(at, line), hashes) in new.zip(old).flat_map(|(new, old)| [new, old]) {
        let goes = filter.places.layouts[at].lines.get(line).is_some_and(goes_on);
        if !goes || hashes.len() < GO || moved(filter).is_none_or(|moved| moved > 90) {
            continue;
        }
        for &hash in &hashes[..GO] {
            let next =
                |filter: &GrowingFilter| filter.places.layouts[at].lines.get(line + 1).copied();
            let before = next(filter);
            filter.remove_hash(hash).unwrap();
            removed(hash);
            gone.insert(hash);
            back[usize::from(at == fresh)] += usize::from(next(filter) != before);
            let near = (line.saturating_sub(2)..line + 3).filter_map(|line| homes.get(&(at, line)));
            for hash in near.flatten().filter(|&hash| !gone.contains(hash)) {
                assert!(has(filter, *hash), "{hash:#x} of line {line}");
            }
        }
    }
    keys.retain(|hash| !gone.contains(hash));
    back
}

/// A filter of so many keys, of which some come or go until a region is half moved.
fn moving(mut filter: GrowingFilter, grows: bool, keys: &mut Vec<u64>) -> GrowingFilter {
    keys.iter().for_each(|&hash| _ = filter.insert_hash(hash).unwrap());
    let mut more = 1 << 40;
    while moved(&filter).is_none_or(|moved| !(30..40).contains(&moved)) {
        if grows {
            more += 1;
            keys.push(hash_u64(more, 5));
            filter.insert_hash(hash_u64(more, 5)).unwrap();
        } else {
            let hash = keys.swap_remove(keys.len() / 3);
            filter.remove_hash(hash).unwrap();
        }
    }
    filter
}

#[test]
fn removals_from_a_moving_region_are_as_defined() {
    for grows in [true, false] {
        let mut keys: Vec<u64> = (0..150_000).map(|key| hash_u64(key, 5)).collect();
        let made = GrowingFilter::new(keys.len() as u64, 0.01, 0).unwrap();
        let mut filter = moving(made, grows, &mut keys);
        let mut model = Multiset::new(filter.prefix_count() / 16);
        keys.iter().for_each(|&hash| _ = model.insert(hash));
        let back = remove_some(&mut filter, &mut keys, |hash| assert!(model.remove(hash)));
        println!("grows: {grows}; values came back {back:?} times, {:?} % moved", moved(&filter));
        assert!(back.iter().all(|&times| times > 5) && moved(&filter).is_some());
        assert!(filter.prefixes().eq(model.iter()));
        keys.extend((0..20_000).map(|key| hash_u64(key, 6)));
        let mut words = vec![0; keys.len().div_ceil(64)];
        filter.contains_hashes(&keys, &mut words[..]);
        for (i, &hash) in keys.iter().enumerate() {
            let expected = model.contains(hash);
            assert_eq!((has(&filter, hash), filter.contains_hash(hash)), (expected, expected));
            assert_eq!(words[i / 64] >> (i % 64) & 1 == 1, expected, "{hash:#x} in a batch");
        }
    }
}

/// Each key has the length that it got, so only keys that are there are compared.
#[test]
fn removals_of_mixed_lengths_from_a_moving_region_lose_no_key() {
    for grows in [true, false] {
        let mut keys: Vec<u64> = (0..150_000).map(|key| hash_u64(key, 5)).collect();
        let made = GrowingFilter::unbounded(1000, 0.01, 0).unwrap();
        let mut filter = moving(made, grows, &mut keys);
        let back = remove_some(&mut filter, &mut keys, |_| ());
        println!("grows: {grows}; values came back {back:?} times, {:?} % moved", moved(&filter));
        assert!(back.iter().all(|&times| times > 5) && moved(&filter).is_some());
        assert_eq!(filter.key_count(), keys.len() as u64);
        for &hash in &keys {
            assert!(has(&filter, hash) && filter.contains_hash(hash), "{hash:#x}");
        }
    }
}

/// One key at a time, whatever the width of remainders, on all backends.
#[test]
fn single_probes_of_a_moving_filter_are_as_defined() {
    let first: Vec<u64> = (0..20_000).map(|key| hash_u64(key, 5)).collect();
    let keys = first.len() as u64;
    let rates = [0.01, 1e-4, 1e-7];
    let bounded = rates.map(|rate| GrowingFilter::new(keys, rate, 0).unwrap());
    let unbounded = rates.map(|rate| GrowingFilter::unbounded(keys / 50, rate, 0).unwrap());
    for made in bounded.into_iter().chain(unbounded) {
        for backend in Backend::available() {
            let mut all = first.clone();
            let mut filter = moving(made.with_backend(backend).unwrap(), true, &mut all);
            let present = all.len();
            all.extend((0..20_000).map(|key| hash_u64(key, 6)));
            let mut onward = 0;
            for (i, &hash) in all.iter().enumerate() {
                let expected = has(&filter, hash);
                assert!(expected || i >= present);
                for single in Single::all_of(backend, filter.common.mixed()) {
                    filter.single = single;
                    let found = filter.contains_hash(hash);
                    assert_eq!(found, expected, "{hash:#x}, {}", backend.name());
                }
                onward += usize::from(filter.lines_read(hash) > 1);
            }
            assert!(onward > all.len() / 50, "{onward} go on");
        }
    }
}

/// Prefixes that cannot get longer any more do not keep a filter from growing.
#[test]
fn filters_of_the_longest_prefixes_grow() {
    for rate in [1e-15, 1e-14] {
        let mut filter = GrowingFilter::unbounded(20, rate, 0).unwrap();
        (0..60_000).for_each(|key| _ = filter.insert_hash(hash_u64(key, 7)).unwrap());
        // Where chance crowds keys, some have no room in lines.
        let (copies, stash) = filter.beside();
        assert!(copies == 0 && stash < 100, "{rate}: {stash} beside the lines");
        assert!((0..60_000).all(|key| filter.contains_hash(hash_u64(key, 7))));
    }
}

/// At the rates that are asked for most: else what that saves would be lost, and nobody would notice.
#[test]
fn most_regions_move_without_taking_out_a_value() {
    for rate in [0.01, 0.004] {
        let mut filter = GrowingFilter::new(200_000, rate, 0).unwrap();
        let (mut like, mut all, mut key) = (0, 0, 0);
        while filter.key_count() < 200_000 {
            let was_moving = filter.sweep.is_some();
            key += 1;
            filter.insert_hash(hash_u64(key, 1)).unwrap();
            if let (false, Some(sweep)) = (was_moving, &filter.sweep) {
                let [old, fresh] =
                    [sweep.region, filter.regions.len()].map(|at| &filter.places.layouts[at]);
                (like, all) = (like + usize::from(old.is_like(fresh)), all + 1);
            }
        }
        println!("{rate}: {like} of {all}");
        assert!(all > 50 && 2 * like > all, "{rate}: {like} of {all}");
    }
}
