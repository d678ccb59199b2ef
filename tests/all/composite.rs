//! Views of scalable filters, windows and cascades, on every backend: the answers of their parts by the
//! definitions, however they are asked; what they say of themselves.

use crate::definition::*;
use crate::kinds::cascade_bytes::*;
use crate::kinds::scalable_bytes::*;
use bloomline::definition::{cascade, line};
use bloomline::{
    Backend, Cascade, Params, ScalableFilter, View, Window, shard_of, shards_contain_hashes,
    views_contain, views_contain_hash,
};

/// Numbers of keys around those that loops take together.
fn sizes() -> impl Iterator<Item = usize> {
    (0..=70).chain([127, 128, 129, 383, 384, 385, 511, 512, 513, 1023, 1024, 1025])
}

const MOST: usize = 1025;

/// Holds a view to `is_in`, the definition, for keys of which some are in, and some falsely.
fn check(view: &View<'_>, keys: &[u64], is_in: impl Fn(u64) -> bool, what: &str) {
    let hashes: Vec<u64> = keys.iter().map(|key| view.hash(key)).collect();
    let expected: Vec<bool> = hashes.iter().map(|&hash| is_in(hash)).collect();
    let singly: Vec<bool> = hashes.iter().map(|&hash| view.contains_hash(hash)).collect();
    assert_eq!(singly, expected, "{what}");
    for n in sizes() {
        let count = expected[..n].iter().filter(|&&maybe| maybe).count();
        let mut words = vec![u64::MAX; n.div_ceil(64)];
        assert_eq!(view.contains_hashes(&hashes[..n], &mut words), count, "{what}: {n} hashes");
        let mut of_keys = vec![u64::MAX; n.div_ceil(64)];
        assert_eq!(view.contains_keys(&keys[..n], &mut of_keys), count, "{what}: {n} keys");
        assert_eq!(words, of_keys, "{what}: {n}");
        for i in 0..64 * words.len() {
            let bit = words[i / 64] >> (i % 64) & 1 == 1;
            assert_eq!(bit, i < n && expected[i], "{what}: key {i} of {n}");
        }
    }
    // Among others, and as a shard.
    let mut words = [0];
    assert_eq!(
        views_contain_hash(&[*view; 3], hashes[0], &mut words),
        3 * usize::from(expected[0])
    );
    for (&key, &expected) in keys.iter().zip(&expected) {
        let others = views_contain(&[*view, View::clone(view)], &key, &mut words);
        assert_eq!(others, 2 * usize::from(expected), "{what}: views");
    }
    let mut words = [0; MOST.div_ceil(64)];
    shards_contain_hashes(&[*view; 5], &hashes, &mut words);
    for (i, &expected) in expected.iter().enumerate() {
        assert!(shard_of(hashes[i], 5) < 5);
        assert_eq!(words[i / 64] >> (i % 64) & 1 == 1, expected, "{what}: shards");
    }
}

/// Some keys: those that are in, and as many others.
fn keys() -> Vec<u64> {
    (0..MOST as u64).collect()
}

fn is_in(key: u64) -> bool {
    key.is_multiple_of(2)
}

#[test]
fn scalable_filters() {
    for backend in Backend::available() {
        for first_keys in [40, 2000] {
            let mut filter = ScalableFilter::with_backend(first_keys, 0.2, 7, backend).unwrap();
            for key in keys().into_iter().filter(|&key| is_in(key)) {
                filter.insert(&key).unwrap();
            }
            let (view, bytes) = (filter.view(), filter.to_bytes().unwrap());
            let of_parts = |hash| {
                filter.stages().any(|stage| line::contains(stage.lines(), stage.params().k(), hash))
            };
            let what = format!("{backend:?}, {} stages", filter.stages().len());
            check(&view, &keys(), of_parts, &what);
            check(&view, &keys(), |hash| scalable_contains(&bytes, hash), &what);
            assert_eq!(view.key_count(), filter.key_count());
            assert_eq!(view.estimated_rate(), filter.estimated_rate());
            assert_eq!(view.backend(), backend);
            says(&view, &format!("layout: ScalableFilter, keys: {}", filter.key_count()));
        }
    }
}

#[test]
fn windows() {
    for backend in Backend::available() {
        for generations in [1, 3, 8, 9, 20] {
            let params = Params::for_rate(100, 0.05).unwrap().with_seed(7);
            let mut window = Window::with_backend(generations, params, backend).unwrap();
            window.rotate_after(60);
            for key in keys().into_iter().filter(|&key| is_in(key)) {
                window.insert(&key);
            }
            // Of this slice it has no key yet, but lines that an older one left.
            if generations > 1 {
                window.rotate();
            }
            let (view, bytes) = (window.view(), window.to_bytes().unwrap());
            let (lines, _) = bytes.split_at(generations as usize * params.bytes());
            let of_parts = |hash| {
                lines.chunks(params.bytes()).any(|lines| line::contains(lines, params.k(), hash))
            };
            check(&view, &keys(), of_parts, &format!("{backend:?}, {generations} generations"));
            let counts = (0..generations).map(|age| window.key_count(age));
            assert_eq!(view.key_count(), counts.sum::<u64>());
            assert_eq!(view.estimated_rate(), window.estimated_rate());
            assert!(view.worst_line_rate() > 0.0 && view.worst_line_rate() <= 1.0);
            let ones: u32 = lines.iter().map(|byte| byte.count_ones()).sum();
            let fill = f64::from(ones) / (8 * lines.len()) as f64;
            assert!((view.fill() - fill).abs() < 1e-12);
            says(&view, "layout: Window");
        }
    }
}

#[test]
fn cascades() {
    for backend in Backend::available() {
        for m in [4000, 100] {
            let hash_of = |key: &u64| hash(&key.to_le_bytes(), 7);
            let included: Vec<u64> =
                keys().iter().filter(|&&key| is_in(key)).map(hash_of).collect();
            let excluded: Vec<u64> = (5000..5000 + m).map(|key| hash_of(&key)).collect();
            let built = Cascade::build_with_backend(&included, &excluded, 7, backend).unwrap();
            let view = built.view();
            let layers = layers_of(&built.to_bytes().unwrap());
            let what = format!("{backend:?}, {} layers", layers.len());
            check(&view, &keys(), |hash| cascade::contains(&layers, hash), &what);
            let mut words = [0; 4000 / 64 + 1];
            assert_eq!(view.contains_hashes(&excluded, &mut words), 0, "{what}");
            assert_eq!(view.contains_hashes(&included, &mut words), included.len(), "{what}");
            assert_eq!(view.key_count(), built.included_count());
            assert_eq!(view.estimated_rate(), built.unknown_rate());
            says(&view, "layout: Cascade");
        }
    }
}

/// They have no lines and no parameters of their own, and print as others.
fn says(view: &View<'_>, text: &str) {
    assert!(view.lines().is_empty());
    assert!(view.params().is_none());
    assert!(view.cuckoo_params().is_none() && view.static_params().is_none());
    assert!(view.fill() > 0.0 && view.fill() < 1.0 && view.estimated_keys() > 0.0);
    let printed = format!("{view:?}");
    assert!(printed.contains(text), "{printed}");
}
