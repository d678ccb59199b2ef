//! Cascades: exact for every key of both sets, as the definition makes them, as small as the model
//! says, and what cannot be built.

use crate::definition::*;
use crate::directory::Directory;
use crate::kinds::cascade_bytes::*;
use crate::mapped;
use bloomline::definition::cascade::{self, LATER_ROWS, layer_hash};
use bloomline::sizing;
use bloomline::{
    Backend, Bitmap, Cascade, CascadeBuilder, CascadeView, Error, Kind, Probe, StaticFilter, hash,
    shard_of,
};
use std::collections::HashSet;

/// Holds a cascade to both sets, one by one and in a batch, and to the definition. Returns its bytes.
fn check(cascade: &Cascade, included: &[u64], excluded: &[u64], what: &str) -> Vec<u8> {
    for (set, answer) in [(included, true), (excluded, false)] {
        let mut answers = vec![u64::MAX; set.len().div_ceil(64)];
        let count = cascade.contains_hashes(set, &mut answers);
        assert_eq!(count, if answer { set.len() } else { 0 }, "{what}: a batch");
        let wrong = set.iter().find(|&&hash| cascade.contains_hash(hash) != answer);
        assert_eq!(wrong, None, "{what}: {answer}");
        let set_bits = answers.iter().map(|word| word.count_ones() as usize).sum::<usize>();
        assert_eq!(set_bits, count, "{what}");
    }
    let bytes = cascade.to_bytes().unwrap();
    assert_eq!(check_cascade(&bytes, true), status::OK, "{what}");
    let found = layers_of(&bytes);
    if included.len() + excluded.len() < 20_000 {
        let size = |i: usize, _: &[u64]| (found[i].rows, found[i].levels);
        let built = cascade::build(included, excluded, size).unwrap();
        assert!(built == found, "{what}: the lines");
    }
    assert_eq!(cascade.included_count(), included.len() as u64);
    assert_eq!(cascade.excluded_count(), excluded.len() as u64);
    assert_eq!(Kind::of(&bytes), Ok(Kind::Cascade));
    bytes
}

fn build(included: &[u64], excluded: &[u64]) -> Cascade {
    Cascade::build(included, excluded, 0, 1).unwrap()
}

/// Some keys of each set and of neither, mixed.
fn mixed(included: &[u64], excluded: &[u64], unknown: &[u64]) -> Vec<u64> {
    let sets = included.iter().zip(excluded).zip(unknown);
    sets.flat_map(|((&a, &b), &c)| [a, b, c]).collect()
}

#[test]
fn exact_for_sets_of_many_sizes() {
    for (n, m) in [
        (0, 0),
        (0, 1),
        (1, 0),
        (1, 1),
        (0, 3000),
        (3000, 0),
        (1, 5000),
        (5000, 1),
        (17, 17),
        (64, 4000),
        (1000, 1000),
        (2000, 15_000),
        (15_000, 900),
    ] {
        let (included, excluded) = (random_hashes(n, 1), random_hashes(m, 2));
        let mut first: Option<Cascade> = None;
        for backend in Backend::available() {
            let what = format!("{n} and {m}, {backend:?}");
            let cascade = Cascade::build_with_backend(&included, &excluded, 0, backend).unwrap();
            let bytes = check(&cascade, &included, &excluded, &what);
            // As the definition answers, for keys of neither set too.
            let layers = layers_of(&bytes);
            for &hash in random_hashes(500, 3).iter().chain(&AWKWARD) {
                assert_eq!(cascade.contains_hash(hash), cascade::contains(&layers, hash));
            }
            assert!(*first.get_or_insert_with(|| cascade.clone()) == cascade, "{what}");
        }
    }
}

#[test]
fn awkward_hashes() {
    let sets: [(&[u64], &[u64]); 6] = [
        (&[0], &[]),
        (&[], &[0]),
        (&[0], &[u64::MAX]),
        (&[u64::MAX], &[0]),
        (&AWKWARD[..8], &AWKWARD[8..]),
        (&AWKWARD[5..], &AWKWARD[..5]),
    ];
    for (included, excluded) in sets {
        check(&build(included, excluded), included, excluded, "awkward");
    }
    // Not uniform at all: the first layer passes much, those behind it tell the keys apart.
    let (small, next): (Vec<u64>, Vec<u64>) = ((0..5000).collect(), (5000..30_000).collect());
    check(&build(&small, &next), &small, &next, "small integers");
    let even: Vec<u64> = (0..4000).map(|i| i << 52 | 7).collect();
    let odd: Vec<u64> = (0..4000).map(|i| i << 52 | 15).collect();
    check(&build(&even, &odd), &even, &odd, "high bits");
}

#[test]
fn order_and_repetitions_change_no_answer() {
    let (included, excluded) = (random_hashes(900, 4), random_hashes(7000, 5));
    let cascade = build(&included, &excluded);
    let reversed = |set: &[u64]| set.iter().rev().copied().collect::<Vec<u64>>();
    let same = build(&reversed(&included), &reversed(&excluded));
    assert!(same.to_bytes() == cascade.to_bytes());
    let twice = |set: &[u64]| [set, set].concat();
    check(&build(&twice(&included), &twice(&excluded)), &twice(&included), &twice(&excluded), "2");
    let many = [vec![included[0]; 5000], vec![included[1]; 5000]].concat();
    check(&build(&many, &excluded), &many, &excluded, "two keys, many times");
    check(&build(&excluded, &many), &excluded, &many, "the other way round");
}

#[test]
fn a_hash_in_both_sets_is_an_error() {
    let (included, excluded) = (random_hashes(3000, 6), random_hashes(20_000, 7));
    for at in [0, 1, 1500, 2999] {
        let both = [&excluded[..], &[included[at]]].concat();
        assert_eq!(Cascade::build(&included, &both, 0, 1), Err(Error::Overlap(included[at])));
        let both = [&included[..], &[excluded[at]]].concat();
        assert_eq!(Cascade::build(&both, &excluded, 0, 1), Err(Error::Overlap(excluded[at])));
    }
    // Of several the smallest, so that it does not depend on the order.
    let least = *included.iter().min().unwrap();
    assert_eq!(Cascade::build(&included, &included, 0, 1), Err(Error::Overlap(least)));
    for hash in [0, u64::MAX, 1] {
        let error = Cascade::build(&[hash], &[hash, hash], 0, 1).unwrap_err();
        assert_eq!(error, Error::Overlap(hash));
        assert!(error.to_string().ends_with(&format!(": {hash:#018x}")), "{error}");
    }
    let error = Cascade::from_keys(["a", "b"], ["c", "b"]).unwrap_err();
    assert_eq!(error, Error::Overlap(hash::hash("b", 0)));
    assert!(cascade::build(&[7], &[7], |_, keys| (4, some_levels(keys.len(), 4))).is_none());
}

#[test]
fn batches_of_every_length() {
    let (included, excluded) = (random_hashes(3000, 8), random_hashes(3000, 9));
    let mixed = mixed(&included, &excluded, &random_hashes(3000, 10));
    for backend in Backend::available() {
        let cascade = Cascade::build_with_backend(&included, &excluded, 0, backend).unwrap();
        let bytes = cascade.to_bytes().unwrap();
        let view = CascadeView::open_with_backend(&bytes[..], backend).unwrap();
        // Also where only included keys are asked, which all go down.
        for probes in [&mixed, &included] {
            for len in (0..=130).chain([300, 511, 512, 513, 1024, 1025, 3000, probes.len()]) {
                let batch = &probes[..len];
                let mut answers = vec![u64::MAX; len.div_ceil(64)];
                let count = cascade.contains_hashes(batch, &mut answers);
                let mut expected = 0;
                for bit in 0..answers.len() * 64 {
                    let is = batch.get(bit).is_some_and(|&hash| cascade.contains_hash(hash));
                    assert_eq!(answers[bit / 64] >> (bit % 64) & 1 == 1, is, "{len}: {bit}");
                    expected += usize::from(is);
                }
                assert_eq!(count, expected);
                let mut same = vec![u64::MAX; len.div_ceil(64)];
                assert_eq!(view.contains_hashes(batch, &mut same), count);
                assert_eq!(same, answers);
                same.fill(u64::MAX);
                assert_eq!(view.view().contains_hashes(batch, &mut same), count);
                assert_eq!(same, answers);
            }
        }
    }
}

/// A layer passes keys of the other set at its own rate, whatever layers they have passed before, and
/// keys of neither set, too; also among keys that one shard has.
#[test]
fn layers_pass_at_their_rates() {
    let n = if fewer() { 60_000 } else { 400_000 };
    let of_shard = |seed| {
        let hashes = random_hashes(8 * n, seed).into_iter();
        hashes.filter(|&hash| shard_of(hash, 8) == 3).collect::<Vec<u64>>()
    };
    let sets = [
        (random_hashes(n, 11), random_hashes(n, 12), random_hashes(8 * n, 13)),
        (of_shard(14), of_shard(15), of_shard(16)),
    ];
    for (included, excluded, unknown) in sets {
        let cascade = build(&included, &excluded);
        let layers: Vec<&StaticFilter> = cascade.layers().collect();
        assert!(layers.len() >= 5, "{}", layers.len());
        // A key of neither set, and those that a layer was tested with.
        let mut here = unknown.clone();
        let (mut own, mut others) = (included.clone(), excluded.clone());
        for (i, layer) in layers.iter().enumerate() {
            let passes = |&hash: &u64| layer.contains_hash(layer_hash(hash, i));
            let rate = layer.params().rate();
            assert!(own.iter().all(passes));
            for set in [&mut here, &mut others] {
                let before = set.len() as f64;
                set.retain(passes);
                let expected = before * rate;
                // Six times the standard deviation, and a key.
                let most = 6.0 * (expected * (1.0 - rate)).sqrt() + 1.0;
                let off = (set.len() as f64 - expected).abs();
                assert!(off <= most || own.len() < 60, "layer {i}: {} of {before}", set.len());
            }
            (own, others) = (others, own);
        }
        let mut bitmap = Bitmap::new();
        let count = cascade.contains_hashes(&unknown, &mut bitmap) as f64;
        let expected = cascade.unknown_rate() * unknown.len() as f64;
        assert!((count - expected).abs() < 6.0 * expected.sqrt(), "{count}, not {expected}");
    }
}

/// The bits of a layer's hash are as those of a random number, given those of the layer before.
#[test]
fn hashes_of_layers_are_independent() {
    let hashes = random_hashes(1 << 15, 17);
    for (a, b) in [(0, 1), (1, 2), (2, 3), (0, 2), (1, 3), (30, 31)] {
        let pairs = hashes.iter().map(|&hash| (layer_hash(hash, a), layer_hash(hash, b)));
        let mut equal = [[0u32; 64]; 64];
        // Rows of bits that agree: of 2^15 pairs, half of them, within 7 standard deviations.
        for (a, b) in pairs {
            for (shift, equal) in equal.iter_mut().enumerate() {
                let same = !(a ^ b.rotate_left(shift as u32));
                for (bit, equal) in equal.iter_mut().enumerate() {
                    *equal += (same >> bit & 1) as u32;
                }
            }
        }
        for equal in equal.iter().flatten() {
            assert!(equal.abs_diff(1 << 14) < 634, "layers {a} and {b}: {equal}");
        }
    }
    // Different hashes stay different; the first layer has the hash itself.
    for layer in 1..cascade::MAX_LAYERS {
        let set: HashSet<u64> = hashes.iter().map(|&hash| layer_hash(hash, layer)).collect();
        assert_eq!(set.len(), hashes.len());
    }
    assert!(AWKWARD.iter().all(|&hash| layer_hash(hash, 0) == hash));
}

/// The rows of the first layer are those that take the fewest bytes, or nearly.
#[test]
fn as_small_as_any_first_layer_makes_it() {
    let n = if fewer() { 2000 } else { 20_000 };
    let included = random_hashes(n, 18);
    for times in [0, 1, 3, 10, 30, 100] {
        let excluded = random_hashes(n * times, 19);
        let best = build(&included, &excluded);
        let mut rows_of_best = 0;
        for rows in 4..=16 {
            let rate = 1.0 / f64::from(1 << rows);
            let other = Cascade::build_for_rate(&included, &excluded, rate, 0, 1).unwrap();
            let first = other.layers().next().unwrap().params();
            assert_eq!(first.rows(), rows);
            assert!(other.layers().skip(1).all(|layer| layer.params().rows() == LATER_ROWS));
            if other == best {
                rows_of_best = rows;
            }
            let (least, bytes) = (best.encoded_len() as f64, other.encoded_len() as f64);
            assert!(
                least <= bytes * 1.02 + 256.0,
                "{times}: {rows} rows take {bytes}, not {least}"
            );
            let unknown = other.unknown_rate();
            assert!(unknown <= rate && unknown > rate * 0.9, "{unknown}");
        }
        assert_eq!(rows_of_best, sizing::cascade::first_rows(n as u64, excluded.len() as u64));
    }
    let rows = sizing::cascade::first_rows;
    assert_eq!([rows(0, 0), rows(0, 9), rows(9, 0), rows(1, 1)], [4; 4]);
    assert_eq!([rows(1, u64::MAX), rows(u64::MAX, u64::MAX)], [16, 4]);
    assert_eq!(rows(1_000_000, 100_000_000), 8);
}

#[test]
fn rates_that_cannot_be_are_errors() {
    for rate in [0.0, 1.0, -1.0, 1e-6, f64::NAN, f64::INFINITY] {
        let built = Cascade::build_for_rate(&[1], &[2], rate, 0, 1);
        assert!(matches!(built, Err(Error::Rate(_) | Error::RateTooSmall(_))), "{rate}");
        assert!(
            matches!(
                CascadeBuilder::for_rate(rate, 0),
                Err(Error::Rate(_) | Error::RateTooSmall(_))
            ),
            "{rate}"
        );
    }
}

#[test]
fn threads_make_the_same_bytes() {
    let (included, excluded) = (random_hashes(100_000, 20), random_hashes(300_000, 21));
    let one = Cascade::build(&included, &excluded, 7, 1).unwrap();
    for threads in [0, 2, 5] {
        assert!(Cascade::build(&included, &excluded, 7, threads).unwrap() == one, "{threads}");
    }
}

#[test]
fn builders_make_what_build_makes() {
    let blocked: Vec<String> = (0..700).map(|i| format!("blocked {i}")).collect();
    let allowed: Vec<String> = (0..9000).map(|i| format!("allowed {i}")).collect();
    let mut builder = CascadeBuilder::new(5);
    blocked.iter().for_each(|key| builder.include(key).unwrap());
    allowed.iter().for_each(|key| builder.exclude(key).unwrap());
    assert_eq!(builder.key_counts(), (700, 9000));
    let cascade = builder.build(1).unwrap();
    let hashes = |keys: &[String]| keys.iter().map(|key| hash::hash(key, 5)).collect::<Vec<u64>>();
    let same = Cascade::build(&hashes(&blocked), &hashes(&allowed), 5, 0).unwrap();
    assert!(same == cascade && cascade.seed() == 5);
    let mut answers = Bitmap::new();
    assert_eq!(cascade.contains_keys(&blocked, &mut answers), 700);
    assert_eq!(cascade.contains_keys(&allowed, &mut answers), 0);
    assert_eq!(cascade.contains_iter(&blocked).filter(|(_, is)| *is).count(), 700);
    cascade.prefetch("blocked 1");
    let mut builder = CascadeBuilder::for_rate(0.001, 5).unwrap();
    builder.include_hashes(&hashes(&blocked)).unwrap();
    builder.exclude_hashes(&hashes(&allowed)).unwrap();
    let rare = builder.build(1).unwrap();
    assert_eq!(rare.layers().next().unwrap().params().rows(), 10);
    builder.clear();
    assert_eq!(builder.key_counts(), (0, 0));
    let none = builder.build(1).unwrap();
    assert!(none == Cascade::build_for_rate(&[], &[], 0.001, 5, 1).unwrap());
    assert!(!blocked.iter().any(|key| none.contains(key)));
    let from_keys = Cascade::from_keys(&blocked, &allowed).unwrap();
    assert!(blocked.iter().all(|key| from_keys.contains(key)) && from_keys.seed() == 0);
    assert!(!allowed.iter().any(|key| from_keys.contains(key)));
}

#[test]
fn views_probe_at_any_address() {
    let (included, excluded) = (random_hashes(2000, 22), random_hashes(60_000, 23));
    let cascade = Cascade::build(&included, &excluded, 3, 1).unwrap();
    let bytes = cascade.to_bytes().unwrap();
    let mixed = mixed(&included, &excluded, &random_hashes(2000, 24));
    let mut expected = vec![0; mixed.len().div_ceil(64)];
    cascade.contains_hashes(&mixed, &mut expected);
    let same = |view: &dyn Fn(&[u64], &mut [u64]) -> usize| {
        let mut answers = vec![0; mixed.len().div_ceil(64)];
        view(&mixed, &mut answers);
        assert_eq!(answers, expected);
    };
    for shift in [0, 1, 7, 8, 33, 64] {
        let mut room = vec![0; bytes.len() + shift];
        room[shift..].copy_from_slice(&bytes);
        let view = CascadeView::open(&room[shift..]).unwrap();
        same(&|hashes, answers| view.contains_hashes(hashes, answers));
        let view = CascadeView::open_unverified(&room[shift..]).unwrap();
        same(&|hashes, answers| view.contains_hashes(hashes, answers));
        view.prefetch_hash(mixed[0]);
        assert_eq!((view.included_count(), view.excluded_count()), (2000, 60_000));
        assert_eq!((view.layer_count(), view.seed()), (cascade.layers().len(), 3));
    }
    let directory = Directory::new("cascade");
    let path = directory.file("blocked");
    cascade.save(&path).unwrap();
    assert!(Cascade::load(&path).unwrap() == cascade);
    let map = mapped::open_cascade(&path).unwrap();
    let fast = mapped::open_cascade_unverified(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    same(&|hashes, answers| map.contains_hashes(hashes, answers));
    same(&|hashes, answers| fast.clone().view().contains_hashes(hashes, answers));
    assert!(mixed.iter().all(|&h| map.contains_hash(h) == cascade.contains_hash(h)));
    assert!(format!("{map:?}").starts_with("CascadeView { included: 2000, excluded: 60000"));
    assert!(mapped::open_cascade(&path).is_err());
}

/// Bytes that shrink under a view are not read past their end.
#[test]
fn a_view_of_fewer_bytes_answers_maybe() {
    use std::cell::Cell;
    struct Shrinking(Vec<u8>, Cell<usize>);
    impl AsRef<[u8]> for Shrinking {
        fn as_ref(&self) -> &[u8] {
            &self.0[..self.1.get()]
        }
    }
    let (included, excluded) = (random_hashes(900, 25), random_hashes(5000, 26));
    let cascade = build(&included, &excluded);
    let bytes = cascade.to_bytes().unwrap();
    let (len, lines) = (bytes.len(), cascade.line_count() as usize * 64);
    let view = CascadeView::open(Shrinking(bytes, Cell::new(len))).unwrap();
    for (len, all) in [(lines, false), (lines - 1, true), (64, true), (0, true)] {
        view.get_ref().1.set(len);
        assert_eq!(excluded.iter().all(|&hash| view.contains_hash(hash)), all, "{len} bytes");
        for few in [0, 1, 63, 64, 65, 200] {
            let mut answers = vec![u64::MAX; usize::div_ceil(few, 64)];
            let count = view.contains_hashes(&excluded[..few], &mut answers);
            assert_eq!(count, if all { few } else { 0 });
            assert_eq!(answers.iter().map(|word| word.count_ones() as usize).sum::<usize>(), count);
        }
        view.prefetch_hash(1);
        assert!(included.iter().all(|&hash| Probe::contains_hash(&view, hash)));
    }
}

/// Any lines: the answers of a damaged cascade are those of the definition, and nothing panics.
#[test]
fn damaged_lines_are_answered_as_the_definition_does() {
    let (included, excluded) = (random_hashes(500, 27), random_hashes(3000, 28));
    let bytes = build(&included, &excluded).to_bytes().unwrap();
    let probes = mixed(&included, &excluded, &random_hashes(500, 29));
    for seed in 0..20 {
        let mut damaged = bytes.clone();
        for place in random_hashes(40, seed) {
            let lines = 64 * get(&bytes, LINE_COUNT);
            damaged[(place % lines) as usize] = (place >> 56) as u8;
        }
        assert_eq!(status_of_result(&CascadeView::open(&damaged[..])), status::CHECKSUM);
        assert_eq!(status_of_result(&Cascade::decode(&damaged)), status::CHECKSUM);
        let view = CascadeView::open_unverified(&damaged[..]).unwrap();
        let layers = layers_of(&damaged);
        let mut answers = vec![0; probes.len().div_ceil(64)];
        view.contains_hashes(&probes, &mut answers);
        for (i, &hash) in probes.iter().enumerate() {
            let expected = cascade::contains(&layers, hash);
            assert_eq!(view.contains_hash(hash), expected);
            assert_eq!(answers[i / 64] >> (i % 64) & 1 == 1, expected);
        }
    }
}

/// A million included keys and ten million excluded ones.
#[test]
fn large_sets() {
    let n = if fewer() { 50_000 } else { 1_000_000 };
    let (included, excluded) = (random_hashes(n, 30), random_hashes(10 * n, 31));
    let cascade = Cascade::build(&included, &excluded, 0, 0).unwrap();
    check(&cascade, &included, &excluded, "large");
    let bits = cascade.encoded_len() as f64 * 8.0 / n as f64;
    println!("{n} of {}: {bits:.2} bits per included key", 11 * n);
    // 5 rows take 5.26; 10/32 of a key in layer 1 at 4.22; a sixteenth of a key, and so on. Whole
    // lines of smaller layers take somewhat more.
    assert!((6.9..7.15).contains(&bits), "{bits}");
}
