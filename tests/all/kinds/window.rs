//! Windows against generations of lines by the definition, whose bytes and answers they have to have:
//! long batches, many generations, large ones; when keys are forgotten; rates. The histories
//! have all that changes a window.

use crate::definition;
use crate::kinds::window_bytes::*;

use bloomline::{Backend, Bitmap, Error, Params, View, Window, sizing};
use definition::*;

fn window(generations: u32, line_count: u64, k: u32, seed: u64) -> Window {
    Window::with_params(generations, Params::new(line_count, k, seed).unwrap()).unwrap()
}

fn bit(bitmap: &[u64], i: usize) -> bool {
    bitmap[i / 64] >> (i % 64) & 1 == 1
}

/// Batches beyond what goes through one generation at once, on all backends: keys that come
/// again, and a ring that turns in the midst of it.
#[test]
fn long_batches_on_all_backends() {
    for (k, limit) in [(4, 0), (8, 1000), (11, 20_000)] {
        let params = Params::new(700, k, 3).unwrap();
        let mut hashes = random_hashes(30_000, k.into());
        hashes.extend_from_within(5_000..15_000);
        let mut state = WindowState::new(5, 700, k, 3);
        state.limit = limit;
        let new: Vec<bool> = hashes.iter().map(|&hash| state.insert(hash)).collect();
        let probes: Vec<u64> =
            hashes.iter().step_by(3).copied().chain(random_hashes(9_000, 77)).collect();
        for backend in Backend::available() {
            let mut window = Window::with_backend(5, params, backend).unwrap();
            assert_eq!(window.backend(), backend);
            window.rotate_after(limit);
            let mut bitmap = vec![0; hashes.len().div_ceil(64)];
            let count = window.insert_new_hashes(&hashes, &mut bitmap);
            assert_eq!(count, new.iter().filter(|&&new| new).count());
            assert!(new.iter().enumerate().all(|(i, &new)| bit(&bitmap, i) == new));
            assert!(window.to_bytes().unwrap() == state.encode(), "{}", backend.name());
            window.contains_hashes(&probes, &mut bitmap);
            for (i, &hash) in probes.iter().enumerate() {
                assert_eq!(bit(&bitmap, i), state.contains(hash), "{}", backend.name());
            }
        }
    }
}

/// Numbers of generations up to more than a word has bits, each k, backend and length of a batch,
/// while most generations have chunks of lines that are still an older one's.
#[test]
fn any_number_of_generations() {
    let counts = [1, 2, 3, 7, 8, 9, 16, 64, 65, 130];
    for (generations, k) in counts
        .into_iter()
        .zip([130, 129, 7, 8, 9].into_iter().cycle())
        .flat_map(|count| (1..=16).map(move |k| (count, k)))
    {
        let (generations, line_count) = generations;
        let mut state = WindowState::new(generations, line_count, k, 3);
        let params = Params::new(line_count as u64, k, 3).unwrap();
        let mut windows: Vec<Window> = Backend::available()
            .map(|backend| Window::with_backend(generations as u32, params, backend).unwrap())
            .collect();
        let hashes = random_hashes(2_000, u64::from(k));
        for (slice, hashes) in hashes.chunks(100).enumerate() {
            // Now more, now fewer than there are chunks; some of them again.
            let some = &hashes[..[100, 2, 30, 1][slice % 4]];
            let new: Vec<bool> = some.iter().chain(some).map(|&hash| state.insert(hash)).collect();
            for window in &mut windows {
                let mut bitmap = [0; 4];
                let count = window.insert_new_hashes(&[some, some].concat(), &mut bitmap);
                assert_eq!(count, new.iter().filter(|&&new| new).count());
                assert!(new.iter().enumerate().all(|(i, &new)| bit(&bitmap, i) == new));
            }
            if slice < 19 {
                state.rotate();
                windows.iter_mut().for_each(Window::rotate);
            }
        }
        let probes: Vec<u64> = hashes.iter().rev().step_by(10).copied().collect();
        let expected: Vec<bool> = probes.iter().map(|&hash| state.contains(hash)).collect();
        for window in &windows {
            for len in (0..=probes.len()).rev().step_by(if fewer() { 13 } else { 1 }) {
                let mut bitmap = [u64::MAX; 4];
                window.contains_hashes(&probes[..len], &mut bitmap);
                for (i, &expected) in expected[..len].iter().enumerate() {
                    let case = (generations, k, len, window.backend());
                    assert_eq!(bit(&bitmap, i), expected, "{case:?}, probe {i}");
                }
            }
            for (&hash, &expected) in probes.iter().zip(&expected) {
                assert_eq!(window.contains_hash(hash), expected);
            }
            assert!(window.to_bytes().unwrap() == state.encode());
        }
    }
}

/// Beyond the sizes where lines are asked for ahead.
#[test]
fn large_windows() {
    for (generations, line_count, k) in [(3, 30_000, 6), (2, 150_000, 11), (1, 280_000, 8)] {
        let mut window = window(generations, line_count, k, 0);
        let mut state = WindowState::new(generations as usize, line_count as usize, k, 0);
        let hashes = random_hashes(40_000, 4);
        for hashes in hashes.chunks(8_000) {
            window.rotate();
            state.rotate();
            window.insert_new_hashes(hashes, &mut [0; 125]);
            hashes.iter().for_each(|&hash| _ = state.insert(hash));
        }
        let probes: Vec<u64> = hashes.into_iter().rev().step_by(3).collect();
        for len in [1, 64, 65, 200, 500, probes.len()] {
            let mut bitmap = vec![0; len.div_ceil(64)];
            window.contains_hashes(&probes[..len], &mut bitmap);
            for (i, &hash) in probes[..len].iter().enumerate() {
                assert_eq!(bit(&bitmap, i), state.contains(hash), "{generations} {len} {i}");
            }
        }
    }
}

/// "Seen in the last 7 days": when a key is forgotten, to the slice.
#[test]
fn eight_daily_generations_are_seven_days() {
    let mut window = Window::new(8, 1000, 0.01, 0).unwrap();
    window.advance_to(20_000);
    assert!(window.insert(b"key"), "new");
    assert!(!window.insert(b"key"), "seen today");
    for day in 20_001..=20_007 {
        window.advance_to(day);
        assert!(window.contains(b"key"), "day {day}");
    }
    window.advance_to(20_008);
    assert!(!window.contains(b"key") && window.insert(b"key"), "forgotten");
    // Seen again on the last day, it stays for seven more.
    window.advance_to(20_015);
    assert!(!window.insert(b"key"));
    window.advance_to(20_022);
    assert!(window.contains(b"key"));
    // A jump of all generations forgets all, and time that goes backward changes nothing.
    window.advance_to(20_030);
    assert!(!window.contains(b"key") && window.insert(b"key"));
    let before = window.to_bytes().unwrap();
    for day in [0, 20_000, 20_029, 20_030] {
        window.advance_to(day);
    }
    assert!(window.to_bytes().unwrap() == before);
}

/// The last slices that there are: the ring turns up to them, and then no more.
#[test]
fn the_end_of_time() {
    let mut window = window(3, 2, 6, 0);
    window.insert_hash(7);
    window.advance_to(u64::MAX - 1);
    assert!(!window.contains_hash(7) && window.insert_hash(7));
    window.rotate_after(1);
    for hash in random_hashes(50, 1) {
        window.insert_hash(hash);
        window.rotate();
        assert!(window.contains_hash(hash) && window.contains_hash(7));
    }
    assert_eq!(window.time_slice(), u64::MAX);
    let mut bitmap = [0; 2];
    window.insert_new_hashes(&random_hashes(100, 2), &mut bitmap);
    let window = Window::decode(&window.to_bytes().unwrap()).unwrap();
    assert!(window.contains_hash(7) && window.time_slice() == u64::MAX);
}

#[test]
fn states_that_are_equal_have_equal_bytes() {
    // One window has seen other keys long ago, the other has not.
    let (mut old, mut young) = (window(4, 200, 6, 1), window(4, 200, 6, 1));
    for _ in 0..9 {
        old.insert_new_hashes(&random_hashes(3000, 5), &mut [0; 47]);
        old.rotate();
    }
    for window in [&mut old, &mut young] {
        window.advance_to(40);
        window.insert_new_hashes(&random_hashes(30, 6), &mut [0]);
        window.advance_to(42);
        window.insert_hash(9);
    }
    assert!(old.to_bytes().unwrap() == young.to_bytes().unwrap());
    assert_eq!(old.estimated_rate(), young.estimated_rate());
}

/// The rate over all generations is the asked one when all are full, measured and estimated.
#[test]
fn the_rate_is_that_of_all_generations() {
    for (generations, rate) in [(1, 0.01), (8, 0.01), (8, 0.1), (3, 0.5), (30, 0.001)] {
        let keys = 20_000;
        let mut window = Window::new(generations, keys, rate, 0).unwrap();
        let each = sizing::rate_of_each(rate, generations);
        assert!((1.0 - (1.0 - each).powi(generations as i32) - rate).abs() < 1e-12);
        assert!(window.params().rate(keys) <= each);
        let hashes = random_hashes(keys as usize * generations as usize, 1);
        for hashes in hashes.chunks(keys as usize) {
            window.rotate();
            window.insert_new_hashes(hashes, &mut vec![0; hashes.len().div_ceil(64)]);
        }
        let others = random_hashes(1 << 19, 2);
        let wrong = window.contains_hashes(&others, &mut vec![0; others.len() / 64]) as f64;
        let measured = wrong / others.len() as f64;
        let estimated = window.estimated_rate();
        println!("{generations} generations at {rate}: {measured:.5}, estimated {estimated:.5}");
        // Four standard deviations; and the few per cent by which filters are better than asked.
        let noise = 4.0 * (rate / others.len() as f64).sqrt();
        assert!(measured < rate + noise && measured > 0.93 * rate - noise);
        assert!((estimated / measured - 1.0).abs() < noise / rate + 0.02);
    }
}

#[test]
fn rates_of_each() {
    for (rate, filters) in [(0.01, 1), (0.5, 2), (1e-12, 8), (1e-20, 64)] {
        let each = sizing::rate_of_each(rate, filters);
        assert!(each <= rate && each >= rate / f64::from(filters) * (1.0 - 1e-15));
    }
    assert!((sizing::rate_of_each(0.75, 2) - 0.5).abs() < 1e-15);
}

#[test]
fn what_cannot_be() {
    assert!(matches!(Window::new(0, 1000, 0.01, 0), Err(Error::Generations(_))));
    for rate in [0.0, 1.0, -0.1, 2.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e-300] {
        assert!(
            matches!(Window::new(8, 1000, rate, 0), Err(Error::Rate(_) | Error::RateTooSmall(_))),
            "{rate}"
        );
    }
    assert!(matches!(Window::new(8, u64::MAX, 0.01, 0), Err(Error::LineCount(_))));
    let most = isize::MAX as u64 / 64 - 1;
    for (generations, lines) in [(2, most), (9, most / 8), (u32::MAX, most / u32::MAX as u64)] {
        let params = Params::new(lines.max(1), 6, 0).unwrap();
        let made = Window::with_params(generations, params);
        assert!(matches!(made, Err(Error::LineCount(_))), "{generations} of {lines}");
    }
    if usize::BITS == 64 {
        let params = Params::new(1 << 50, 6, 0).unwrap();
        assert!(matches!(Window::with_params(8, params), Err(Error::OutOfMemory)));
        let params = Params::new(1 << 24, 6, 0).unwrap();
        assert!(matches!(Window::with_params(u32::MAX, params), Err(Error::OutOfMemory)));
    }
    // No keys are expected: a line for each generation, all the same.
    let mut window = Window::new(5, 0, 0.01, 0).unwrap();
    assert!((window.params().line_count(), window.generations()) == (1, 5));
    assert!(window.insert(b"key") && window.contains(b"key"));
}

/// Each generation is the lines of a plain filter.
#[test]
fn generations_are_lines() {
    let mut window = window(3, 2, 6, 0);
    window.insert(b"apple");
    let bytes = window.to_bytes().unwrap();
    assert_eq!(bytes.len(), 3 * 2 * 64 + 8 * 3 + 16 + 64);
    let view = View::of_lines(&bytes[..128], window.params(), 0).unwrap();
    assert!(view.contains(b"apple") && view.lines() == lines_of(2, 6, &[hash(b"apple", 0)]));
    assert!(bytes[128..384].iter().all(|&byte| byte == 0));
}

#[test]
fn probes_at_a_later_slice_are_those_after_advancing() {
    for generations in [1, 3, 8, 11] {
        let params = Params::for_rate(500, 0.01).unwrap();
        let mut window = Window::with_params(generations, params).unwrap();
        let hashes: Vec<u64> = (0..2000).map(|i| bloomline::hash::hash_u64(i, 0)).collect();
        for (slice, part) in hashes.chunks(100).enumerate() {
            window.advance_to(7 + slice as u64);
            window.insert_hashes(part);
        }
        let now = window.time_slice();
        for slice in (0..now + 2 * u64::from(generations)).chain([u64::MAX]) {
            let mut later = window.clone();
            later.advance_to(slice);
            let (mut expected, mut got) = (Bitmap::new(), Bitmap::new());
            later.contains_hashes(&hashes, &mut expected);
            let count = window.contains_hashes_at(slice, &hashes, &mut got);
            assert_eq!(got.as_words(), expected.as_words(), "{generations}, slice {slice}");
            assert_eq!(count, got.count_ones());
        }
    }
}

/// Of the generations that are over, too; slices go on.
#[test]
fn a_cleared_window_is_empty_in_its_slice() {
    let params = Params::for_rate(2000, 0.01).unwrap();
    let keys: Vec<u64> = (0..1200).collect();
    for rotations in [0, 1, 2, 3, 7] {
        let mut window = Window::with_params(3, params).unwrap();
        window.rotate_after(900);
        for _ in 0..rotations {
            window.insert_keys(&keys);
            window.rotate();
        }
        window.insert(&77u64);
        window.clear();
        let mut empty = Window::with_params(3, params).unwrap();
        empty.rotate_after(900);
        empty.advance_to(window.time_slice());
        assert_eq!(window, empty);
        assert!(keys.iter().all(|key| !window.contains(key)));
        for window in [&mut window, &mut empty] {
            window.insert_keys(&keys[..500]);
            window.rotate();
            window.insert_keys(&keys[500..]);
        }
        assert_eq!(window.to_bytes(), empty.to_bytes());
    }
}
