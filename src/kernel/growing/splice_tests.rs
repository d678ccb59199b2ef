//! Lines that are moved as they are, against lines that are made anew of their values.

use super::super::backend::Backend;
use super::store::Lines;
use super::{CALLS, Calls, OPENED, SPARE, Task, WITHOUT_PDEP, goes_on, set_goes_on};
use crate::hash::hash_u64;
use crate::os::spare::Spare;

const HOMES: usize = 64;
/// Lines that are moved together.
const TOGETHER: usize = 8;

/// The lines of these values, each the home of so many. None if one is too far behind its home.
fn lines_of(calls: &Calls, mut values: &[u64], r: u32, each: u64) -> Option<Lines> {
    let (mut lines, mut at) = (Lines::planned(2 * HOMES).unwrap(), 0);
    while let Some(&first) = values.first() {
        at = at.max((first / each) as usize);
        let start = at as u64 * each;
        let (mut line, took) = calls.close(values, start, each as i64, false, r);
        if took == 0 {
            return None;
        }
        values = &values[took..];
        set_goes_on(&mut line, values.first().is_some_and(|&next| next < start + each));
        lines.grow_to(at + 1, &mut Spare::default()).unwrap();
        *lines.get_mut(at).unwrap() = line;
        at += 1;
    }
    Some(lines)
}

/// Ascending, with crowds, gaps and repeats.
fn values(count: usize, end: u64, seed: u64) -> Vec<u64> {
    let value = |i: u64| {
        let hash = hash_u64(i, seed);
        match i % 16 {
            0 if seed.is_multiple_of(3) => hash % (end / 50) + end / 4,
            1 if seed.is_multiple_of(2) => hash_u64(i % 64, seed) % end,
            _ if seed.is_multiple_of(5) && hash % end < end / 3 => end - 1 - hash % (end / 3),
            _ => hash % end,
        }
    };
    let mut values: Vec<u64> = (0..count as u64).map(value).collect();
    values.sort_unstable();
    values
}

/// Moves all lines. False if some have to be taken apart, or have no room for the values at all.
fn moves(calls: &Calls, all: &[u64], r: u32, buckets: [u64; 2]) -> bool {
    let [before, now] = buckets.map(|buckets| buckets << r);
    let Some(old) = lines_of(calls, all, r, before) else { return false };
    let mut fresh = Lines::planned(2 * HOMES).unwrap();
    let homes = HOMES + TOGETHER - HOMES % TOGETHER;
    for first in (0..homes).step_by(TOGETHER) {
        let from = first as u64 * before;
        let end = from + TOGETHER as u64 * before;
        let mut line = (from / now) as usize;
        while fresh.get(line).is_some_and(goes_on) {
            line += 1;
        }
        let task = Task {
            r,
            buckets: buckets.map(|buckets| buckets as i64),
            homes: [first, first + TOGETHER],
            line,
            most: 2 * HOMES + SPARE,
        };
        // SAFETY: the calls are those of a backend of this CPU.
        let moved = unsafe { (calls.splice)(&old, &mut fresh, &task, true, &mut Spare::default()) };
        let Some(moved) = moved else { return false };
        let own = all.iter().filter(|&&value| from <= value && value < end);
        assert_eq!(moved.values, own.clone().count() as u64);
        assert_eq!(moved.odd, own.filter(|&&value| value % 2 == 1).count() as u64);
        let until = &all[..all.partition_point(|&value| value < end)];
        let wanted = lines_of(calls, until, r, now).unwrap();
        for i in 0..wanted.len().max(fresh.len()) {
            let [is, wanted] =
                [&fresh, &wanted].map(|lines| lines.get(i).copied().unwrap_or_default());
            assert_eq!(is, wanted, "line {i} after home {first}, r = {r}, buckets {buckets:?}");
        }
    }
    let mut out = [0; OPENED];
    let left = (0..fresh.len()).map(|i| calls.open(fresh.get(i).unwrap(), r, 0, &mut out));
    left.sum::<usize>() == all.len()
}

#[test]
fn lines_are_moved_as_if_made_anew() {
    let (mut moved, mut not) = (0, 0);
    for backend in Backend::ALL {
        let Some(kernels) = backend.kernels() else { continue };
        for calls in [kernels.row_of(&CALLS), kernels.row_of(&WITHOUT_PDEP)] {
            for (r, most) in [
                (1, 63),
                (2, 63),
                (3, 63),
                (4, 63),
                (5, 60),
                (6, 60),
                (7, 57),
                (8, 50),
                (10, 42),
                (16, 27),
                (33, 13),
                (44, 9),
                (46, 9),
                (49, 9),
                (53, 8),
            ] {
                for (seed, fill) in (0_u64..).zip([3, 40, 70, 88, 94, 94, 96]) {
                    for buckets in [[50, 47], [47, 50], [64, 34], [33, 60], [70, 66], [24, 23]] {
                        let buckets = if r > 8 { buckets.map(|some| some / 3) } else { buckets };
                        let end = (HOMES as u64 * buckets[0]) << r;
                        // As many as would fill the fewer lines.
                        let lines = HOMES as u64 * buckets[0] / buckets[0].max(buckets[1]);
                        let count = lines * most * fill / 100;
                        let all = values(count as usize, end, seed);
                        match moves(calls, &all, r, buckets) {
                            true => moved += 1,
                            // Long chains and gaps are not.
                            false if [0, 3, 4, 5, 6].contains(&seed) => not += 1,
                            false => panic!("r = {r}, {fill} % full, buckets {buckets:?}"),
                        }
                    }
                }
            }
        }
    }
    println!("{moved} moved, {not} not");
    assert!(moved > not && not > 0);
}
