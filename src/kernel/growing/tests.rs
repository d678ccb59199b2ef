//! All backends against the definition: what they find, and the bytes they leave.

use super::super::backend::Backend;
#[cfg(target_arch = "x86_64")]
use super::avx512_one;
use super::{CALLS, Calls, Line, OPENED, WITHOUT_PDEP, first, goes_on, last, len, set_goes_on};
use crate::hash::hash_u64;
use crate::layouts::growing::{Content, Found, MOST_BITS, MOST_KEYS, mixed, read, room, write};

/// The calls of each backend that this CPU has, and those of CPUs without a fast `pdep`.
fn backends() -> impl Iterator<Item = (Backend, &'static Calls)> {
    Backend::available().flat_map(|backend| {
        let kernels = backend.kernels().unwrap();
        [kernels.row_of(&CALLS), kernels.row_of(&WITHOUT_PDEP)].map(|calls| (backend, calls))
    })
}

/// Numbers that a test draws.
struct Numbers(u64, u64);

impl Numbers {
    fn any(&mut self) -> u64 {
        self.1 += 1;
        hash_u64(self.1, self.0)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.any() % end
    }

    fn in_range(&mut self, low: i64, high: i64) -> i64 {
        low + self.below(high.abs_diff(low) + 1) as i64
    }
}

pub(super) fn line_of(bytes: &[u8; 64]) -> Line {
    std::array::from_fn(|i| u64::from_le_bytes(std::array::from_fn(|j| bytes[8 * i + j])))
}

fn bytes_of(line: &Line) -> [u8; 64] {
    std::array::from_fn(|i| line[i / 8].to_le_bytes()[i % 8])
}

/// Values of a line, as many as fit of those that are drawn.
fn content(numbers: &mut Numbers, r: u32) -> Content {
    let most = numbers.below(room(r) as u64 + 2);
    let low = match numbers.below(4) {
        0 => 0,
        1 => numbers.in_range(-256, 255),
        2 => -256,
        _ => numbers.in_range(-20, 20),
    };
    let span = match numbers.below(4) {
        0 => 0,
        1 => numbers.in_range(0, 2),
        2 => numbers.in_range(0, 112),
        // One bucket or so for each value.
        _ => most as i64,
    };
    // Few remainders, so that values are equal, or all.
    let mask = if numbers.below(3) == 0 { 3 } else { u64::MAX } & ((1 << r) - 1);
    let mut content = Content { keys: Vec::new(), goes_on: numbers.below(2) == 0 };
    for _ in 0..most {
        let remainder = (numbers.any() & mask) as i64;
        content.keys.push(numbers.in_range(low, low + span) << r | remainder);
    }
    content.keys.sort_unstable();
    while write(&content, r).is_none() {
        let at = numbers.below(content.keys.len() as u64) as usize;
        content.keys.remove(at);
    }
    content
}

/// Contents at each limit.
fn limits(r: u32) -> Vec<Content> {
    let most = room(r);
    let value = |bucket: i64, remainder: i64| bucket << r | remainder & ((1 << r) - 1);
    let rows: [Vec<i64>; 10] = [
        vec![],
        vec![value(-256, 0)],
        vec![value(255, -1)],
        vec![value(366, -1)],
        vec![value(-256, -1), value(-256 + 110, 0)],
        vec![value(255, 0), value(255 + 110, -1)],
        vec![value(300, 1), value(300, 1), value(366 - 2, 1)],
        vec![value(7, -1); most],
        (0..most as i64).map(|i| value(i, i)).collect(),
        // Full to the last bit, if the header has room for it.
        (0..most as i64)
            .map(|i| {
                let span = (496 - most * (r as usize + 1)).min(112 - most) as i64;
                value(if i + 1 < most as i64 { 0 } else { span }, i)
            })
            .collect(),
    ];
    let with = |mut keys: Vec<i64>, goes_on| {
        keys.sort_unstable();
        Content { keys, goes_on }
    };
    let fits = |content: &Content| write(content, r).is_some();
    rows.into_iter()
        .flat_map(|keys| [with(keys.clone(), false), with(keys, true)])
        .filter(fits)
        .collect()
}

/// Values that are worth asking: those of a line and all around, and others.
fn asked(numbers: &mut Numbers, content: &Content, r: u32) -> Vec<i64> {
    let mut asked = vec![0, -1, 1, -256 << r, (-256 << r) - 1, 367 << r, (255 << r) + 1];
    asked.extend([-257i64, -300, 112, 256, 367, 500, 5000].map(|bucket| bucket << r));
    for key in &content.keys {
        let other = numbers.any() as i64 & ((1 << r) - 1);
        asked.extend([*key, key + 1, key - 1, key >> r << r | other, key + (1 << r)]);
    }
    asked.extend((0..8).map(|_| numbers.any() as i64 >> 2));
    asked
}

/// How many contents are drawn for each width.
fn cases() -> u64 {
    let told = ["BLOOMLINE_EXPECT_ARCH", "BLOOMLINE_FEWER_CASES"];
    if told.into_iter().any(|name| std::env::var_os(name).is_some()) { 3 } else { 60 }
}

/// Passes on contents for each width.
fn each_content(seed: u64, mut each: impl FnMut(&mut Numbers, Content, u32)) {
    let mut numbers = Numbers(seed, 0);
    for r in 0..=MOST_BITS {
        for content in limits(r) {
            each(&mut numbers, content, r);
        }
        for _ in 0..cases() {
            let content = content(&mut numbers, r);
            each(&mut numbers, content, r);
        }
    }
}

#[test]
fn what_is_written_is_read() {
    let (mut full, mut most) = (0, 0);
    each_content(1, |_, content, r| {
        let bytes = write(&content, r).unwrap();
        assert_eq!(read(&bytes, r), content, "r = {r}");
        full += usize::from(content.keys.len() == room(r));
        most = most.max(content.keys.len());
    });
    assert!(full > 100 && most == MOST_KEYS, "the contents test little");
}

/// Each way of asking a line.
fn finds_as_defined(calls: &Calls, line: &Line, content: &Content, value: i64, r: u32) {
    let found = calls.find(line, value, r);
    assert_eq!(found, content.find(value, r), "{value} of {content:?}, r = {r}");
    #[cfg(target_arch = "x86_64")]
    if let Some(found) = avx512_one::found::<false>(line, value, r) {
        assert_eq!(found, content.find(value, r), "one, {value} of {content:?}, r = {r}");
    }
    let count = content.count(value) as u32;
    assert_eq!(calls.count(line, value, r), count, "{value} of {content:?}, r = {r}");
    if r > 0 {
        let found = calls.find_mixed(line, value | 1, r);
        let expected = content.find_mixed(value | 1, r);
        assert_eq!(found, expected, "mixed {} of {content:?}, r = {r}", value | 1);
        #[cfg(target_arch = "x86_64")]
        if let Some(found) = avx512_one::found::<true>(line, value | 1, r) {
            assert_eq!(found, expected, "one, mixed {} of {content:?}, r = {r}", value | 1);
        }
    }
}

#[test]
fn values_are_found() {
    let mut found = [0; 3];
    for (backend, calls) in backends() {
        println!("{}", backend.name());
        each_content(2, |numbers, content, r| {
            let line = line_of(&write(&content, r).unwrap());
            for value in asked(numbers, &content, r) {
                finds_as_defined(calls, &line, &content, value, r);
                found[content.find(value, r) as usize] += 1;
            }
        });
    }
    assert!(found.iter().all(|&count| count > 10_000), "{found:?}");
}

#[test]
fn prefixes_are_found() {
    let mut found = [0; 3];
    for (backend, calls) in backends() {
        println!("{}", backend.name());
        each_content(3, |numbers, content, r| {
            if r == 0 {
                return;
            }
            // Prefixes of all lengths that are within a bucket.
            let mut content = content;
            for key in &mut content.keys {
                *key = mixed(*key as u64 >> 1, numbers.below(r.into()) as u32);
                if numbers.below(2) == 0 {
                    *key |= 1;
                }
            }
            content.keys.sort_unstable();
            let Some(bytes) = write(&content, r) else { return };
            for value in asked(numbers, &content, r) {
                finds_as_defined(calls, &line_of(&bytes), &content, value, r);
                found[content.find_mixed(value | 1, r) as usize] += 1;
            }
        });
    }
    assert!(found.iter().all(|&count| count > 10_000), "{found:?}");
}

#[test]
fn inserts_and_removals_leave_the_defined_bytes() {
    let (mut inserted, mut refused, mut removed) = (0, 0, 0);
    for (backend, calls) in backends() {
        println!("{}", backend.name());
        each_content(4, |numbers, content, r| {
            let before = write(&content, r).unwrap();
            for value in asked(numbers, &content, r) {
                let mut with = content.clone();
                with.keys.push(value);
                with.keys.sort_unstable();
                let expected = write(&with, r);
                let mut line = line_of(&before);
                let fits = calls.insert(&mut line, value, r);
                let shown = format!("{value} of {content:?}, r = {r}");
                assert_eq!(fits, expected.is_some(), "insert {shown}");
                assert_eq!(bytes_of(&line), expected.unwrap_or(before), "insert {shown}");
                *(if fits { &mut inserted } else { &mut refused }) += 1;

                let mut without = content.clone();
                let at = without.keys.iter().position(|&key| key == value);
                if let Some(at) = at {
                    without.keys.remove(at);
                    removed += 1;
                }
                let mut line = line_of(&before);
                assert_eq!(calls.remove(&mut line, value, r), at.is_some(), "remove {shown}");
                assert_eq!(bytes_of(&line), write(&without, r).unwrap(), "remove {shown}");
            }
            let mut without = content.clone();
            let mut line = line_of(&before);
            assert_eq!(calls.take_last(&mut line, r), without.keys.pop(), "{content:?}, r = {r}");
            assert_eq!(bytes_of(&line), write(&without, r).unwrap(), "{content:?}, r = {r}");
        });
    }
    assert!([inserted, refused, removed].iter().all(|&count| count > 10_000));
}

#[test]
fn lines_are_taken_apart_and_put_together() {
    for (backend, calls) in backends() {
        println!("{}", backend.name());
        each_content(5, |numbers, content, r| {
            let mut line = line_of(&write(&content, r).unwrap());
            let mut out = [0; OPENED];
            let start = numbers.below(1 << 60);
            let count = calls.open(&line, r, start, &mut out);
            let keys = out.map(|y| y.wrapping_sub(start) as i64);
            assert_eq!(keys[..count], content.keys, "r = {r}");
            assert_eq!(len(&line, r), count);
            assert_eq!(first(&line, r), content.keys.first().copied(), "{content:?}, r = {r}");
            assert_eq!(last(&line, r), content.keys.last().copied(), "{content:?}, r = {r}");
            assert_eq!(goes_on(&line), content.goes_on);
            let close = |keys: &[i64], limit| {
                let all: Vec<u64> =
                    keys.iter().map(|&key| start.wrapping_add_signed(key)).collect();
                calls.close(&all, start, limit, content.goes_on, r)
            };
            assert_eq!(close(&content.keys, i64::MAX), (line, count));
            // With more than fits behind it.
            let mut more = content.keys.clone();
            let mut value = more.last().copied().unwrap_or(-(256 << r));
            for _ in 0..70 {
                value += numbers.below(3 << r) as i64;
                more.push(value);
            }
            let (longer, took) = close(&more, i64::MAX);
            let with = |count: usize| {
                write(&Content { keys: more[..count].to_vec(), goes_on: content.goes_on }, r)
            };
            assert!(took >= count && with(took) == Some(bytes_of(&longer)), "r = {r}");
            assert_eq!(with(took + 1), None, "r = {r}");
            // Those of later homes do not come in.
            let limit = more[numbers.below(more.len() as u64) as usize];
            let below = more[..took].iter().filter(|&&key| key < limit).count();
            let line_of_below = line_of(&with(below).unwrap());
            assert_eq!(close(&more, limit), (line_of_below, below), "r = {r}");
            set_goes_on(&mut line, !content.goes_on);
            let turned = Content { goes_on: !content.goes_on, ..content };
            assert_eq!(bytes_of(&line), write(&turned, r).unwrap());
        });
    }
}

/// Any bytes at all, some of them nearly a line.
fn damaged(numbers: &mut Numbers, r: u32) -> [u8; 64] {
    let line = content(numbers, r);
    let mut bytes = write(&line, r).unwrap();
    match numbers.below(4) {
        0 => bytes = std::array::from_fn(|_| numbers.any() as u8),
        1 => bytes = [[0, 0xFF][numbers.below(2) as usize]; 64],
        // Few ones, or few zeros, in the header.
        2 => {
            let flip = [0, 0xFF][numbers.below(2) as usize];
            bytes[2..16].iter_mut().for_each(|byte| {
                *byte = flip ^ (numbers.any() & numbers.any() & numbers.any()) as u8;
            });
        }
        _ => {}
    }
    for _ in 0..numbers.below(4) {
        bytes[numbers.below(64) as usize] ^= 1 << numbers.below(8);
    }
    bytes[0] = if numbers.below(2) == 0 { bytes[0] } else { numbers.any() as u8 };
    bytes
}

#[test]
fn damaged_lines_are_read_as_defined() {
    let mut found = [0; 3];
    for (backend, calls) in backends() {
        println!("{}", backend.name());
        let mut numbers = Numbers(6, 0);
        for r in 0..=MOST_BITS {
            for _ in 0..10 * cases() {
                let bytes = damaged(&mut numbers, r);
                let (line, content) = (line_of(&bytes), read(&bytes, r));
                for value in asked(&mut numbers, &content, r) {
                    finds_as_defined(calls, &line, &content, value, r);
                    found[content.find(value, r) as usize] += 1;
                    // These have to end, no more.
                    calls.insert(&mut line.clone(), value, r);
                    calls.remove(&mut line.clone(), value, r);
                }
                calls.take_last(&mut line.clone(), r);
                let mut out = [0; OPENED];
                let count = calls.open(&line, r, 5, &mut out);
                let mut expected = [0; OPENED];
                assert_eq!(
                    count,
                    super::whole::open(&line, r, 5, super::whole::room(&mut expected))
                );
                assert_eq!(out[..count], expected[..count], "r = {r}");
                assert!(count <= room(r));
                let _ = (first(&line, r), last(&line, r));
            }
        }
    }
    assert!(found.iter().all(|&count| count > 10_000), "{found:?}");
}

#[test]
fn tiles_are_as_single_lines() {
    for (backend, calls) in backends() {
        println!("{}", backend.name());
        let mut numbers = Numbers(7, 0);
        for round in 0..50 * cases() {
            let count = numbers.below(65) as usize;
            // Of one width, or of two side by side.
            let widths = [round as u32 % 55, (round as u32 + round as u32 % 2) % 55];
            let r: Vec<u32> = (0..count).map(|_| widths[numbers.below(2) as usize]).collect();
            let lines: Vec<Line> = r.iter().map(|&r| line_of(&damaged(&mut numbers, r))).collect();
            let values: Vec<i64> = (0..count)
                .map(|i| {
                    let values = asked(&mut numbers, &read(&bytes_of(&lines[i]), r[i]), r[i]);
                    values[numbers.below(values.len() as u64) as usize] | 1
                })
                .collect();
            let lines: Vec<&Line> = lines.iter().collect();
            for (mixed, answers) in [
                (false, calls.find_many(&lines, &values, &r)),
                (true, calls.find_mixed_many(&lines, &values, &r)),
            ] {
                for i in 0..64 {
                    // No width of mixed lengths is 0.
                    if mixed && r.get(i) == Some(&0) {
                        continue;
                    }
                    let found = (i < count).then(|| {
                        let content = read(&bytes_of(lines[i]), r[i]);
                        if mixed {
                            content.find_mixed(values[i], r[i])
                        } else {
                            content.find(values[i], r[i])
                        }
                    });
                    let shown = format!("{i} of {count}, r = {r:?}, mixed: {mixed}");
                    let is = |what| u64::from(found == Some(what));
                    assert_eq!(answers.present >> i & 1, is(Found::Present), "{shown}");
                    assert_eq!(answers.onward >> i & 1, is(Found::Onward), "{shown}");
                }
            }
        }
    }
}

#[test]
fn found_numbers_are_those_of_the_tests() {
    assert_eq!(
        [Found::Present, Found::Absent, Found::Onward].map(|found| found as usize),
        [0, 1, 2]
    );
}
