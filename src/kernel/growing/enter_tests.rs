//! Inserts into chains of lines against the definition: what they answer, and the bytes they leave.

use super::super::backend::Backend;
use super::store::Lines;
use super::tests::line_of;
use super::width::MOST_OUT;
use super::{CALLS, Entered, MOST_COPIES, SPARE, WITHOUT_PDEP};
use crate::hash::hash_u64;
use crate::layouts::growing::{BASES, Content, Found, mixed, write};
use crate::os::spare::Spare;

/// The lines of a chain, plainly.
struct Chain {
    lines: Vec<Content>,
    step: i64,
    r: u32,
    mixed: bool,
}

impl Chain {
    /// Whether a value is there, from its home on.
    fn contains(&self, home: usize, mut value: i64) -> bool {
        for line in &self.lines[home..] {
            let found =
                if self.mixed { line.find_mixed(value, self.r) } else { line.find(value, self.r) };
            match found {
                Found::Present => return true,
                Found::Absent => return false,
                Found::Onward => value -= self.step,
            }
        }
        false
    }

    /// Inserts a value. None if a line has many copies of it, or the chain is too short.
    fn insert(&self, home: usize, value: i64) -> Option<Vec<Content>> {
        self.insert_counted(home, value).map(|(lines, _)| lines)
    }

    /// As [`Chain::insert`], and how many values go on together at most.
    fn insert_counted(&self, home: usize, mut value: i64) -> Option<(Vec<Content>, usize)> {
        let (mut lines, mut at) = (self.lines.clone(), home);
        loop {
            let line = lines.get(at)?;
            if line.count(value) >= MOST_COPIES as usize {
                return None;
            }
            if !line.goes_on || line.keys.iter().any(|&key| key > value) {
                break;
            }
            (at, value) = (at + 1, value - self.step);
        }
        let (mut carried, mut most) = (vec![value], 0);
        while !carried.is_empty() {
            let line = lines.get_mut(at)?;
            line.keys.append(&mut carried);
            line.keys.sort_unstable();
            while write(line, self.r).is_none() {
                // A value too far behind its home has no place in any line.
                if line.keys[0] >> self.r < BASES[0] {
                    return None;
                }
                carried.insert(0, line.keys.pop()? - self.step);
                line.goes_on = true;
            }
            most = most.max(carried.len());
            at += 1;
        }
        Some((lines, most))
    }
}

#[test]
fn chains_of_lines_are_as_defined() {
    let fewer = ["BLOOMLINE_EXPECT_ARCH", "BLOOMLINE_FEWER_CASES"];
    let fewer = fewer.into_iter().any(|name| std::env::var_os(name).is_some());
    let (mut done, mut refused, mut often, mut long, mut crowded) = (0, 0, 0, 0, 0);
    for backend in Backend::available() {
        let kernels = backend.kernels().unwrap();
        for (round, calls) in [kernels.row_of(&CALLS), kernels.row_of(&WITHOUT_PDEP)]
            .into_iter()
            .cycle()
            .take(if fewer { 8 } else { 66 })
            .enumerate()
        {
            let round = round as u64;
            let r = [7, 1, 4, 6, 17, 54, 8, 9, 12, 16, 15][round as usize / 2 % 11];
            // Of one length or several; the keys of a line in so many buckets, or in few and equal.
            let is_mixed = round % 4 > 1 && r > 3;
            let buckets = [40, 120, 64, 20][round as usize / 3 % 4];
            let few = round.is_multiple_of(3);
            let mask = if few && !is_mixed { 1 } else { u64::MAX };
            let mut state = round << 32;
            let mut below = |end: u64| {
                state += 1;
                hash_u64(state, 3) % end
            };
            let count = 14;
            let mut lines = Lines::planned(count - SPARE).unwrap();
            lines.grow_to(count, &mut Spare::default()).unwrap();
            let mut chain = Chain {
                lines: vec![Content::default(); count],
                step: buckets << r,
                r,
                mixed: is_mixed,
            };
            for _ in 0..900 {
                let home = below(count as u64 - 1) as usize;
                // Where a header has no room for a low bucket and the high ones, many values go on.
                let bucket = match buckets {
                    _ if few => below(3),
                    120 if below(16) > 0 => 95 + below(24),
                    120 => 0,
                    _ => below(buckets as u64),
                };
                let low = below(1 << r) & mask;
                let mut value = (bucket << r | low) as i64;
                if is_mixed {
                    value |= 1;
                }
                if below(8) == 0 {
                    // Something goes, and lines have room again.
                    let line = &mut chain.lines[home];
                    if !line.keys.is_empty() {
                        line.keys.remove(below(line.keys.len() as u64) as usize);
                    }
                } else if is_mixed && below(if few { 12 } else { 3 }) == 0 {
                    // A shorter prefix, which nothing inserts here.
                    let shorter =
                        mixed(value as u64 >> 1, below(if few { 4 } else { r.into() }) as u32);
                    if let Some(with) = chain.insert(home, shorter) {
                        chain.lines = with;
                    }
                }
                for (i, line) in chain.lines.iter().enumerate() {
                    *lines.get_mut(i).unwrap() = line_of(&write(line, r).unwrap());
                }
                let was_there = chain.contains(home, value);
                let entered = match is_mixed {
                    true => calls.enter_mixed(&mut lines, home, value, r, chain.step),
                    false => calls.enter(&mut lines, home, value, r, chain.step),
                };
                let with = chain.insert_counted(home, value);
                match entered {
                    Entered::Done { was_there: said } => {
                        assert_eq!(said, was_there, "{value} of line {home}, r = {r}");
                        let (with, most) = with.unwrap();
                        crowded += usize::from(most > MOST_OUT);
                        long += usize::from(with[home + 1..] != chain.lines[home + 1..]);
                        chain.lines = with;
                        done += 1;
                    }
                    Entered::Often => {
                        assert_eq!(with, None);
                        often += 1;
                    }
                    Entered::Not => refused += 1,
                }
                for (i, line) in chain.lines.iter().enumerate() {
                    let expected = line_of(&write(line, r).unwrap());
                    let shown = format!("{entered:?}, {value} of line {home}, line {i}, r = {r}");
                    assert_eq!(lines.get(i), Some(&expected), "{shown}");
                }
            }
        }
    }
    println!(
        "{done} done, {long} in several lines, {crowded} crowded, {often} too often, {refused} refused"
    );
    let least = if fewer { [100, 2] } else { [1000, 20] };
    assert!(done > refused && long > least[0] && often > least[1] && crowded > least[1]);
}

/// Where all lines up to the last one are full, an insert changes each of them, or none if they are too many.
#[test]
fn an_insert_goes_far() {
    let most = 512;
    for backend in Backend::available() {
        let kernels = backend.kernels().unwrap();
        for calls in [kernels.row_of(&CALLS), kernels.row_of(&WITHOUT_PDEP)] {
            for r in [7, 20] {
                for behind in [1, 63, 64, 65, 100, most - 1, most, most + 9] {
                    let buckets = 40;
                    // As many as fit, evenly.
                    let keys =
                        |count| (0..count).map(|i| (i * 39 / (count - 1)) << r | i).collect();
                    let line = |count| Content { keys: keys(count), goes_on: false };
                    let full = (2..60).rev().map(line).find(|line| write(line, r).is_some());
                    let full = full.unwrap();
                    let mut lines = vec![full; behind];
                    lines.push(Content::default());
                    let chain = Chain { lines, step: buckets << r, r, mixed: false };
                    let mut there = Lines::planned(behind + 1).unwrap();
                    there.grow_to(behind + 1, &mut Spare::default()).unwrap();
                    for (i, line) in chain.lines.iter().enumerate() {
                        *there.get_mut(i).unwrap() = line_of(&write(line, r).unwrap());
                    }
                    let entered = calls.enter(&mut there, 0, 3 << r | 1, r, chain.step);
                    let is_in = entered == Entered::Done { was_there: false };
                    assert!(is_in || entered == Entered::Not);
                    assert_eq!(is_in, behind < most, "{behind} lines behind it");
                    let with = chain.insert(0, 3 << r | 1).unwrap();
                    let expected = if is_in { &with } else { &chain.lines };
                    for (i, line) in expected.iter().enumerate() {
                        assert_eq!(there.get(i), Some(&line_of(&write(line, r).unwrap())), "{i}");
                    }
                }
            }
        }
    }
}
