//! Any shape, any hashes, any alignment, any prefetch: every backend gives the bytes and
//! the answers of the plain definition, and touches nothing beside its lines.
#![no_main]

#[path = "../../tests/definition/mod.rs"]
mod definition;

use bloomline::definition::line;
use bloomline::internals::Prefetch;
use bloomline::{Backend, Filter, Params, View};
use definition::*;
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;

#[derive(Debug, Arbitrary)]
struct Input {
    lines: u16,
    k: u8,
    offset: u8,
    plan: u8,
    /// Hashes as they come, and as many made from a seed.
    inserted: Vec<u64>,
    made: u8,
    probed: Vec<u64>,
    keys: Vec<Vec<u8>>,
}

fuzz_target!(|input: Input| {
    let lines = usize::from(input.lines % 700) + 1;
    let k = u32::from(input.k % 16) + 1;
    let offset = usize::from(input.offset % 64);
    let plans = [Prefetch::None, Prefetch::Far, Prefetch::FarAndNear];
    let prefetch = plans[usize::from(input.plan % 3)];
    let params = Params::new(lines as u64, k, u64::from(input.made)).unwrap();
    let made = random_hashes(input.made.into(), params.seed());
    let inserted = [input.inserted, made].concat();
    let probed = [&input.probed[..], &inserted, &AWKWARD].concat();

    let key_hashes: Vec<u64> = input.keys.iter().map(|key| hash(key, params.seed())).collect();
    let expected = lines_of(lines, k, &[&inserted[..], &key_hashes].concat());
    let answers: Vec<bool> =
        probed.iter().map(|&hash| line::contains(&expected, k, hash)).collect();
    let words = probed.len().div_ceil(64);

    // The lines alone, at an offset, with nothing behind them.
    let mut buffer = vec![0xEE; offset];
    buffer.extend_from_slice(&expected);
    let buffer = buffer.into_boxed_slice();
    let encoded = encode(&expected, k, params.seed(), 0);

    for backend in Backend::available() {
        let mut one_by_one = Filter::with_backend(params, backend).unwrap();
        inserted.iter().for_each(|&hash| _ = one_by_one.insert_hash(hash));
        input.keys.iter().for_each(|key| _ = one_by_one.insert(key));
        assert!(one_by_one.lines() == expected, "{backend:?}");

        let mut batch = Filter::with_backend(params, backend).unwrap();
        batch.insert_hashes(&inserted);
        batch.insert_keys(&input.keys);
        assert!(batch.lines() == expected, "{backend:?}");

        let mut prefetching = Filter::with_backend(params, backend).unwrap();
        prefetching.insert_hashes_with(&inserted, prefetch);
        prefetching.insert_hashes_with(&key_hashes, prefetch);
        assert!(prefetching.lines() == expected, "{backend:?} {prefetch:?}");

        let mut views = vec![batch.view(), View::open_with_backend(&encoded, backend).unwrap()];
        if Some(backend) == Backend::active().ok() {
            views.push(View::of_lines(&buffer[offset..], params, 0).unwrap());
        }
        for view in views {
            let mut bitmaps = [vec![u64::MAX; words], vec![1; words]];
            let count = view.contains_hashes(&probed, &mut bitmaps[0]);
            view.contains_hashes_with(&probed, prefetch, &mut bitmaps[1]);
            assert_eq!(bitmaps[0], bitmaps[1], "{backend:?} {prefetch:?}");
            for (i, &hash) in probed.iter().enumerate() {
                assert_eq!(bitmaps[0][i / 64] >> (i % 64) & 1 == 1, answers[i], "{backend:?}");
                assert_eq!(view.contains_hash(hash), answers[i], "{backend:?}");
            }
            assert_eq!(count, answers.iter().filter(|&&answer| answer).count());
            assert!(probed.len() % 64 == 0 || bitmaps[0][words - 1] >> (probed.len() % 64) == 0);

            let mut bitmap = vec![0; input.keys.len().div_ceil(64)];
            assert_eq!(view.contains_keys(&input.keys, &mut bitmap), input.keys.len());
        }
    }
});
