//! Homes of many keys at once, against the definition.

use super::super::backend::Backend;
use super::place::{Common, Layout, Places};
use super::tiles::Homes;
use super::{Calls, EIGHT, Eight};
use crate::hash::hash_u64;
use crate::layouts::growing::{mixed, place, prefix, region};
use crate::os::spare::Spare;
use std::ptr::from_ref;

/// Some number, of those with this seed.
fn any(seed: u64, i: u64) -> u64 {
    hash_u64(i, seed)
}

/// Regions of different widths and lengths. Some lines at both ends of each are not there. One is moved.
fn places(common: Common, calls: &'static Calls, parts: u64, seed: u64) -> Places {
    let w = common.prefixes / parts;
    let moved = any(seed, 0) % parts;
    let layouts = (0..=parts).map(|i| {
        let part = if i < parts { i } else { moved };
        let length =
            common.longer.map_or(0, |longer| (any(seed, 10 + i) % 3) as u32 % (longer + 1));
        let lines = 1 + any(seed, 100 + i) % (w / 40 + 1).min(3000);
        let mut layout = Layout::new(common, calls, (part, parts), length, lines).unwrap();
        layout.lines.grow_to(layout.homes - layout.homes / 16, &mut Spare::default()).unwrap();
        layout.lines.free_before(layout.homes / 16, &mut Spare::default());
        layout
    });
    let layouts = layouts.collect();
    let all = u64::MAX / parts;
    let mut places = Places::default();
    (places.layouts, places.from, places.moved) = (layouts, moved << 60, any(seed, 1) % all);
    places.set_regions(parts as usize);
    places
}

/// Compares eight homes, or the lines behind them. Returns how many lines are there.
fn eight_are_as_defined(
    places: &Places,
    eight: Eight,
    hashes: &[u64; EIGHT],
    behind: bool,
) -> usize {
    let regions = places.regions().expect("nothing is shared");
    let none = [0; 8];
    let (mut lines, mut values, mut widths) = ([[&none; EIGHT]], [[0; EIGHT]], [[0; EIGHT]]);
    let (all, lines) = ([*hashes], &mut lines);
    let there = eight.locate(&regions, &all, lines, &mut values, &mut widths, behind);
    for (i, &hash) in hashes.iter().enumerate() {
        let is_moved = hash >= places.from && hash - places.from < places.moved;
        let own = if places.mask > 0 { region(hash) as usize } else { 0 };
        let layout = &places.layouts[if is_moved { places.mask + 1 } else { own }];
        let (u, r) = layout.width();
        let w = layout.end() >> u32::from(layout.is_mixed());
        let x = match places.mask {
            0 => ((u128::from(hash) * u128::from(w)) >> 64) as u64,
            _ => prefix(hash, w),
        };
        let (home, offset) = place(x, u);
        let value = if layout.is_mixed() { mixed(offset, 0) } else { offset as i64 };
        let value = if behind { value - layout.values() } else { value };
        assert_eq!((values[0][i], widths[0][i]), (value, r), "{hash:#x}");
        let line = layout.lines.get(home as usize + usize::from(behind));
        match line {
            Some(line) => assert_eq!(from_ref(lines[0][i]), from_ref(line), "{hash:#x}"),
            None => assert_eq!(lines[0][i], &[0; 8], "{hash:#x}"),
        }
        assert_eq!(there >> i & 1 == 1, line.is_some(), "{hash:#x}");
    }
    there.count_ones() as usize
}

#[test]
fn eight_homes_are_as_defined() {
    for backend in Backend::available() {
        let calls = backend.kernels().unwrap().of_growing();
        let Some(eight) = calls.eight() else { continue };
        let (mut there, mut all) = (0, 0);
        for seed in 0..84 {
            let parts = if seed % 3 == 0 { 1 } else { 16 };
            // Up to 2^31 for each region, and more.
            const OF_REGIONS: [u64; 7] =
                [60, 5000, 1 << 22, 1 << 31, (1 << 31) + 8, 1 << 40, (1 << 55) - 5];
            let prefixes = 16 * OF_REGIONS[seed as usize % 7];
            let longer = if seed % 2 == 0 { Some(3) } else { None };
            let common = Common { prefixes: prefixes / 8 * 8, longer, first_keys: 1000 };
            let places = places(common, calls, parts, seed);
            // The ends of the regions, and of what is moved, and others.
            let ends = (0..16).flat_map(|i: u64| [i << 60, (i << 60).wrapping_sub(1)]);
            let at = places.from + places.moved;
            let mut hashes: Vec<u64> = ends.chain([at, at.wrapping_sub(1)]).collect();
            hashes.extend((0..400).map(|i| any(seed + 100, i)));
            hashes.resize(hashes.len() / EIGHT * EIGHT, 0);
            for hashes in hashes.as_chunks().0 {
                for behind in [false, true] {
                    there += eight_are_as_defined(&places, eight, hashes, behind);
                    all += EIGHT;
                }
            }
        }
        assert!(there > all / 2 && there < all - all / 50, "{there} of {all} are there");
    }
}
