//! The verbs of all kinds, held to single inserts; backends, views and groups of growing filters.

use crate::mapped;
use bloomline::{Backend, Bitmap, Filter, Group, GrowingFilter, GrowingView, Params, Probe, View};

fn keys() -> Vec<u64> {
    (0..800).map(|i| i / 2).chain(0..400).collect()
}

fn make() -> [GrowingFilter; 2] {
    [GrowingFilter::new(2000, 0.01, 9).unwrap(), GrowingFilter::unbounded(50, 0.01, 9).unwrap()]
}

#[test]
fn many_keys_are_as_one_by_one() {
    for which in 0..2 {
        let make = || make().into_iter().nth(which).unwrap();
        let (mut one, mut new) = (make(), Vec::new());
        keys().iter().for_each(|key| new.push(one.insert(key).unwrap()));
        let hashes: Vec<u64> = keys().iter().map(|key| one.hash(key)).collect();
        let all: [fn(&mut GrowingFilter, &[u64]); 6] = [
            |filter, _| filter.insert_keys(&keys()).unwrap(),
            |filter, hashes| filter.insert_hashes(hashes).unwrap(),
            |filter, _| filter.insert_iter(keys()).unwrap(),
            |filter, _| filter.extend(keys()),
            |filter, _| {
                let mut bits = Bitmap::new();
                assert!(filter.insert_new_keys(&keys(), &mut bits).unwrap() > 390);
            },
            |filter, hashes| {
                let mut bits = vec![u64::MAX; hashes.len().div_ceil(64)];
                let count = filter.insert_new_hashes(hashes, &mut bits).unwrap();
                assert_eq!(
                    bits.iter().map(|word| word.count_ones() as usize).sum::<usize>(),
                    count
                );
            },
        ];
        for each in all {
            let mut filter = make();
            each(&mut filter, &hashes);
            assert!(filter == one && filter.key_count() == 1200);
        }
        assert!(make().with_keys(keys()).unwrap() == one && one.try_clone().unwrap() == one);
        assert!(one != make());
        let mut filter = make();
        let expected = keys().into_iter().zip(new).filter_map(|(key, new)| new.then_some(key));
        assert!(filter.dedup(keys()).eq(expected));
        assert!(filter == one);
        let mut bits = Bitmap::new();
        assert_eq!(filter.remove_keys(&keys(), &mut bits), 1200);
        assert_eq!((filter.key_count(), filter.prefixes().next()), (0, None));
        filter.insert_keys(&keys()).unwrap();
        filter.clear();
        assert!(filter == make() && !filter.contains(&5u64));
    }
    let filter = GrowingFilter::from_keys(keys(), 0.001).unwrap();
    assert!(keys().iter().all(|key| filter.contains(key)) && filter.count(&7u64) >= 3);
}

/// Every backend answers alike, in batches of every length, also beside others in a group.
#[test]
fn backends_views_and_groups() {
    for model in make() {
        let hashes: Vec<u64> = (0..30_000u64).map(|key| model.hash(&key)).collect();
        for backend in Backend::available() {
            let mut filter = model.with_backend(backend).unwrap();
            filter.insert_hashes(&hashes[..20_000]).unwrap();
            assert_eq!(filter.backend(), backend);
            let single: Vec<bool> = hashes.iter().map(|&hash| filter.contains_hash(hash)).collect();
            assert!(single[..20_000].iter().all(|&there| there));
            for len in (0..=130).chain([1000, 30_000]) {
                let mut bits = Bitmap::new();
                let from = hashes.len() - len;
                let count = filter.contains_hashes(&hashes[from..], &mut bits);
                let there = single[from..].iter().filter(|&&there| there).count();
                assert_eq!(count, there);
                assert!((0..len).all(|i| bits[i] == single[from + i]));
            }
            let plain = Filter::new(Params::for_rate(10, 0.01).unwrap().with_seed(9)).unwrap();
            let views: Vec<View<'_>> = vec![plain.view(), filter.view()];
            let group = Group::new(views).unwrap();
            let mut bits = Bitmap::new();
            group.contains_hash(hashes[3], &mut bits);
            assert!(!bits[0] && bits[1]);
            // Encoded, and mapped.
            let bytes = filter.to_bytes().unwrap();
            let here = GrowingView::open_with_backend(&bytes[..], backend).unwrap();
            let path = std::env::temp_dir().join(format!("group-{}.growing", std::process::id()));
            filter.save(&path).unwrap();
            let map = mapped::open_growing(&path).unwrap();
            std::fs::remove_file(&path).unwrap();
            let views = vec![here.view(), plain.view(), map.view().view(), filter.view()];
            assert_eq!(views[0].backend(), backend);
            for view in [&views[0], &views[2]] {
                assert_eq!(view.key_count(), 20_000);
                assert!(view.estimated_rate() == filter.estimated_rate() && view.fill() > 0.5);
                let mut bits = Bitmap::new();
                let count = view.contains_hashes(&hashes, &mut bits);
                assert_eq!(count, single.iter().filter(|&&there| there).count());
                assert!(bits.iter().eq(single.iter().copied()));
            }
            let group = Group::new(views).unwrap();
            for (&hash, &there) in hashes.iter().zip(&single).skip(19_000).take(2_000) {
                let mut bits = Bitmap::new();
                group.contains_hash(hash, &mut bits);
                assert!(bits.iter().eq([there, false, there, there]));
            }
            let view = filter.view();
            assert_eq!((view.key_count(), Probe::contains_hash(&view, hashes[7])), (20_000, true));
            assert!(view.estimated_rate() > 0.0 && view.fill() > 0.5 && view.fill() <= 1.0);
        }
    }
}
