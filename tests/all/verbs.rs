//! The same verbs on every kind: the table in `kinds/mod.rs` says of each kind which it has, and of
//! each other why it has not. What a kind is said to have does not compile if it is missing; what it is
//! said to lack does not compile if it is there. What it has of that name `otherwise` is for another use.
//! Single inserts and probes are held to the plain definitions, all other verbs to single inserts.

use crate::directory::Directory;
use crate::histories::definition::{Counting, Cuckoo, Lines, Model, Scalable};
use crate::kinds::growing_model::Growing;
use bloomline::*;

const SEED: u64 = 9;

/// Every verb, in the order of the tests of a kind.
const VERBS: [&str; 21] = [
    "insert",
    "insert_hash",
    "insert_keys",
    "insert_hashes",
    "insert_iter",
    "insert_new_keys",
    "insert_new_hashes",
    "with_keys",
    "from_keys",
    "dedup",
    "extend",
    "clear",
    "eq",
    "remove",
    "union",
    "intersect",
    "count",
    "view",
    "try_clone",
    "save",
    "memory_usage",
];

/// 1,200 keys: each twice in a row, and once more at the end.
fn keys() -> Vec<u64> {
    (0..800).map(|i| i / 2).chain(0..400).collect()
}

fn params() -> Params {
    Params::for_rate(2000, 0.01).unwrap().with_seed(SEED)
}

fn cuckoo_params() -> CuckooParams {
    CuckooParams::for_rate(2400, 0.01).unwrap().with_seed(SEED)
}

/// The plain definition of a kind, made by numbers.
fn model<M: Model>(numbers: [&dyn ToString; 3]) -> M {
    let numbers = numbers.map(|number| number.to_string());
    M::make(&numbers.each_ref().map(String::as_str)).unwrap()
}

/// Of a kind that has [`params`].
fn shaped<M: Model>() -> M {
    model([&params().line_count(), &params().k(), &SEED])
}

fn buckets() -> Cuckoo {
    model([&cuckoo_params().line_count(), &cuckoo_params().fingerprint_bits(), &SEED])
}

/// The results of inserts that can fail and of those that cannot.
trait Sure {
    type Of;
    fn sure(self) -> Self::Of;
}

impl<T> Sure for Result<T, Error> {
    type Of = T;

    fn sure(self) -> T {
        self.unwrap()
    }
}

macro_rules! sure {
    ($($type:ty),*) => {$(
        impl Sure for $type {
            type Of = $type;

            fn sure(self) -> $type {
                self
            }
        }
    )*};
}
sure!((), bool, usize, Filter, ConcurrentFilter, CountingFilter, Window);

/// What another filter of a kind is combined as.
trait Combined {
    type As;
    fn combined(self) -> Self::As;
}

macro_rules! combined {
    ($($kind:ident)*) => {$(
        impl Combined for $kind {
            type As = $kind;

            fn combined(self) -> $kind {
                self
            }
        }
    )*};
}
combined!(Filter CountingFilter GrowingFilter);

impl Combined for ConcurrentFilter {
    type As = Filter;

    fn combined(self) -> Filter {
        self.into_filter()
    }
}

/// What a path leads to where a kind has no function of that name.
struct Missing;

macro_rules! lacking {
    ($($verb:ident)*) => {
        /// A type's own function goes before that of a trait.
        trait Lacking {
            $(fn $verb() -> Missing {
                Missing
            })*
        }
        impl<T> Lacking for T {}
    };
}
lacking! { insert insert_hash insert_keys insert_hashes insert_iter insert_new_keys insert_new_hashes
with_keys from_keys dedup extend clear remove union intersect count view }

/// The test of a verb: `make` makes an empty filter, or if it is `built` of its keys one with those.
macro_rules! verb {
    (takes $kind:ident, $make:ident, insert) => {
        let (mut filter, mut plain) = ($make(), plain());
        for key in keys() {
            let new = plain.insert(filter.hash(&key)).unwrap();
            assert_eq!(filter.insert(&key).sure(), new, "key {key}");
        }
        for key in 0..10_000u64 {
            assert_eq!(filter.contains(&key), plain.has(filter.hash(&key)), "key {key}");
        }
    };
    (takes $kind:ident, $make:ident, insert_hash) => {
        let (mut filter, mut one) = ($make(), $make());
        for key in keys() {
            assert_eq!(filter.insert_hash(filter.hash(&key)).sure(), one.insert(&key).sure());
        }
        assert_eq!(filter, one);
    };
    (takes $kind:ident, $make:ident, insert_keys) => {
        let mut filter = $make();
        filter.insert_keys(&keys()).sure();
        assert_eq!(filter, one_by_one!($make));
    };
    (takes $kind:ident, $make:ident, insert_hashes) => {
        let mut filter = $make();
        let hashes: Vec<u64> = keys().iter().map(|key| filter.hash(key)).collect();
        filter.insert_hashes(&hashes).sure();
        assert_eq!(filter, one_by_one!($make));
    };
    (takes $kind:ident, $make:ident, insert_iter) => {
        let mut filter = $make();
        filter.insert_iter(keys()).sure();
        assert_eq!(filter, one_by_one!($make));
    };
    (takes $kind:ident, $make:ident, insert_new_keys) => {
        let mut filter = $make();
        // Longer than it must be, and full of other answers.
        let mut new = vec![u64::MAX; keys().len() / 64 + 2];
        let count = filter.insert_new_keys(&keys(), &mut new).sure();
        assert_new!($make, count, new);
        assert_eq!(filter, one_by_one!($make));
    };
    (takes $kind:ident, $make:ident, insert_new_hashes) => {
        let mut filter = $make();
        let hashes: Vec<u64> = keys().iter().map(|key| filter.hash(key)).collect();
        let mut new = vec![u64::MAX; keys().len() / 64 + 2];
        let count = filter.insert_new_hashes(&hashes, &mut new).sure();
        assert_new!($make, count, new);
        assert_eq!(filter, one_by_one!($make));
    };
    (takes $kind:ident, $make:ident, with_keys) => {
        assert_eq!($make().with_keys(keys()).sure(), one_by_one!($make));
        let none: [u64; 0] = [];
        assert_eq!($make().with_keys(none).sure(), $make());
    };
    (takes $kind:ident, $make:ident, from_keys) => {
        for count in [0u32, 1, 700] {
            let filter = $kind::from_keys(0..count, 0.01).unwrap();
            let mut expected: $kind = sized::$make(count.into());
            for key in 0..count {
                expected.insert(&key).sure();
            }
            assert_eq!(filter, expected);
        }
        assert_eq!($kind::from_keys([1u64], 1.5).unwrap_err(), Error::Rate(1.5));
    };
    (takes $kind:ident, $make:ident, dedup) => {
        let (mut filter, mut one) = ($make(), $make());
        let expected: Vec<u64> = keys().into_iter().filter(|key| one.insert(key).sure()).collect();
        assert!(filter.dedup(keys()).eq(expected));
        assert_eq!(filter, one);
    };
    (takes $kind:ident, $make:ident, extend) => {
        let mut filter = $make();
        filter.extend(keys());
        assert_eq!(filter, one_by_one!($make));
    };
    (takes $kind:ident, $make:ident, clear) => {
        let mut filter = one_by_one!($make);
        filter.clear();
        assert_eq!(filter, $make());
        assert!((0..10_000u64).all(|key| !filter.contains(&key)));
        filter.insert_keys(&keys()).sure();
        assert_eq!(filter, one_by_one!($make), "it begins anew");
    };
    (takes $kind:ident, $make:ident, eq) => {
        let mut filter = one_by_one!($make);
        assert!(filter == one_by_one!($make) && filter != $make());
        while !filter.insert(&filter.to_bytes().unwrap()).sure() {}
        assert_ne!(filter, one_by_one!($make));
    };
    (takes $kind:ident, $make:ident, remove) => {
        let mut filter = one_by_one!($make);
        keys().iter().for_each(|key| filter.remove(key).unwrap());
        assert_eq!(filter, $make());
        assert_eq!(filter.remove(&5u64), Err(Error::Absent));
    };
    (takes $kind:ident, $make:ident, union) => {
        let (mut one, mut two, all) = ($make(), $make(), keys());
        let (first, second) = all.split_at(900);
        one.insert_keys(first).sure();
        two.insert_keys(second).sure();
        one.union(&two.combined()).unwrap();
        assert_eq!(one, one_by_one!($make));
    };
    (takes $kind:ident, $make:ident, intersect) => {
        let (mut one, mut two) = ($make(), $make());
        one.insert_iter(0..300u64).sure();
        two.insert_iter(200..500u64).sure();
        let mut both = one.clone();
        both.intersect(&two).unwrap();
        let mut differ = 0;
        for key in 0..10_000u64 {
            let in_both = one.contains(&key) && two.contains(&key);
            assert_eq!(both.contains(&key), in_both, "key {key}");
            differ += usize::from(one.contains(&key) != in_both);
        }
        assert!(differ > 150, "{differ}");
    };
    (takes $kind:ident, $make:ident, count) => {
        let (mut filter, mut plain) = ($make(), plain());
        for key in (0..400u64).flat_map(|key| (0..key % 4).map(move |_| key)) {
            filter.insert(&key).sure();
            plain.insert(filter.hash(&key)).unwrap();
        }
        for key in 0..10_000u64 {
            let hash = format!("hash:{:x}", filter.hash(&key));
            assert_eq!(filter.count(&key).to_string(), plain.other("count", &[&hash]), "key {key}");
        }
    };
    ($how:ident $kind:ident, $make:ident, view) => {
        let filter = full!($how $make);
        let view = filter.view();
        for key in 0..10_000u64 {
            assert_eq!(view.contains(&key), filter.contains(&key), "key {key}");
        }
    };
    (takes $kind:ident, $make:ident, try_clone) => {
        let filter = one_by_one!($make);
        let (mut copy, other) = (filter.try_clone().unwrap(), filter.clone());
        assert!(copy == filter && other == filter);
        for key in 400..800u64 {
            copy.insert(&key).sure();
        }
        assert!(copy != filter && filter == one_by_one!($make));
        drop(filter);
        assert!((0..800u64).all(|key| copy.contains(&key)));
    };
    (built $kind:ident, $make:ident, try_clone) => {
        let filter = $make();
        let (copy, other) = (filter.try_clone().unwrap(), filter.clone());
        assert!(copy == filter && other == filter);
        let bytes = filter.to_bytes().unwrap();
        drop(filter);
        assert!(copy.to_bytes().unwrap() == bytes && other.to_bytes().unwrap() == bytes);
    };
    (built $kind:ident, $make:ident, eq) => {
        let filter = $make();
        assert!(filter == $make() && filter == $kind::decode(&filter.to_bytes().unwrap()).unwrap());
    };
    (built $kind:ident, $make:ident, clear) => {
        let mut filter = $make();
        let before = filter.to_bytes().unwrap();
        filter.clear();
        assert!(filter.groups().iter().all(|byte| *byte == 0));
        assert_eq!(filter.encoded_len(), before.len());
        assert_ne!(filter.to_bytes().unwrap(), before);
    };
    ($how:ident $kind:ident, $make:ident, save) => {
        let directory = Directory::new("verbs");
        let (path, filter) = (directory.file("filter"), full!($how $make));
        filter.save(&path).unwrap();
        assert_eq!($kind::load(&path).unwrap(), filter);
    };
    ($how:ident $kind:ident, $make:ident, memory_usage) => {
        // A growing filter has room to grow, its copy has none.
        let filter = full!($how $make).try_clone().unwrap();
        // Encoded it has what it has in memory, and footers; a window has marks in memory, and growing
        // filters have tables.
        let (memory, encoded) = (filter.memory_usage(), filter.encoded_len());
        assert!(memory.abs_diff(encoded) <= encoded / 10 + 640, "{memory} of {encoded}");
        assert_eq!(filter.try_clone().unwrap().memory_usage(), memory);
        assert!($make().memory_usage() <= memory, "nothing is taken for a key but by growing");
    };
}

/// A filter of a kind that takes keys, or of one that is built of them, with keys.
macro_rules! full {
    (takes $make:ident) => {
        one_by_one!($make)
    };
    (built $make:ident) => {
        $make()
    };
}

macro_rules! one_by_one {
    ($make:ident) => {{
        #[allow(unused_mut)]
        let mut filter = $make();
        for key in keys() {
            filter.insert(&key).sure();
        }
        filter
    }};
}

/// The answers are those of single inserts.
macro_rules! assert_new {
    ($make:ident, $count:ident, $new:ident) => {
        #[allow(unused_mut)]
        let (mut one, mut expected) = ($make(), 0);
        for (i, key) in keys().iter().enumerate() {
            let new = one.insert(key).sure();
            assert_eq!($new[i / 64] >> (i % 64) & 1 == 1, new, "key {i}");
            expected += usize::from(new);
        }
        assert_eq!($count, expected);
    };
}

macro_rules! each {
    ($($name:ident: $how:ident $kind:ident, $make:expr, $plain:expr, has [$($has:ident)*],
        lacks {$($lacks:ident: $why:literal)*}, otherwise {$($other:ident: $for:literal)*};)*) => {$(
        mod $name {
            use super::*;

            fn make() -> $kind {
                $make
            }

            #[allow(dead_code)]
            fn plain() -> impl Model {
                $plain
            }

            #[test]
            fn has_every_verb_or_a_reason() {
                $(let _: fn() -> Missing = <$kind>::$lacks;)*
                let reasons: &[&str] = &[$($why,)* $($for),*];
                assert!(reasons.iter().all(|why| why.len() >= 8), "{reasons:?}");
                let mut verbs =
                    vec![$(stringify!($has),)* $(stringify!($lacks),)* $(stringify!($other)),*];
                verbs.sort_by_key(|verb| VERBS.iter().position(|each| each == verb));
                assert_eq!(verbs, VERBS);
            }

            $(#[test]
            #[allow(unused_mut)]
            fn $has() {
                verb!($how $kind, make, $has);
            })*
        }
    )*};
}

/// What `from_keys` makes for so many keys.
mod sized {
    use super::*;

    pub(super) fn make<T: Sized>(keys: u64) -> T {
        T::sized(keys)
    }

    pub(super) trait Sized {
        fn sized(keys: u64) -> Self;
    }

    macro_rules! sized {
        ($($kind:ident $params:ident)*) => {$(
            impl Sized for $kind {
                fn sized(keys: u64) -> $kind {
                    $kind::new($params::for_rate(keys, 0.01).unwrap()).unwrap()
                }
            }
        )*};
    }
    sized!(Filter Params ConcurrentFilter Params CountingFilter Params CuckooFilter CuckooParams);

    impl Sized for ScalableFilter {
        fn sized(keys: u64) -> ScalableFilter {
            ScalableFilter::new(keys, 0.01, 0).unwrap()
        }
    }

    impl Sized for GrowingFilter {
        fn sized(keys: u64) -> GrowingFilter {
            GrowingFilter::new(keys, 0.01, 0).unwrap()
        }
    }
}

crate::kinds::verbs!(each);

/// What is built of all its keys at once loses none.
macro_rules! built {
    ($($name:ident: $kind:ident, $with_keys:expr, $build:expr, $from_keys:expr;)*) => {$(
        mod $name {
            use super::*;

            #[test]
            fn is_built_of_its_keys() {
                let (seeded, same): ($kind, $kind) = ($with_keys, $build);
                let hash = |key: &u64| bloomline::hash::hash_u64(*key, SEED);
                assert!(keys().iter().all(|key| seeded.hash(key) == hash(key)));
                for filter in [&seeded, &$from_keys] {
                    assert!(keys().iter().all(|key| filter.contains(key)));
                    let wrong = others().filter(|key| filter.contains(key)).count();
                    assert!(wrong < 200, "{wrong} of 10,000 at 1 % or none");
                }
                assert_eq!(seeded, same);
                assert_ne!(seeded, $from_keys, "of seed 0");
            }
        }
    )*};
}

fn others() -> impl Iterator<Item = u64> {
    10_000..20_000
}

fn hashes(keys: impl IntoIterator<Item = u64>) -> Vec<u64> {
    keys.into_iter().map(|key| bloomline::hash::hash_u64(key, SEED)).collect()
}

fn matrix() -> Matrix {
    let mut matrix = Matrix::new(Params::new(3, 6, SEED).unwrap(), 70).unwrap();
    for (column, hashes) in hashes(keys()).chunks(20).enumerate() {
        matrix.insert_hashes(column, hashes).unwrap();
    }
    matrix
}

fn static_builder() -> StaticBuilder {
    StaticBuilder::for_rate(0.01, SEED).unwrap().with_keys(keys()).unwrap()
}

fn cascade() -> Cascade {
    CascadeBuilder::new(SEED).with_keys(keys(), others()).unwrap().build(1).unwrap()
}

built! {
    of_a_set: StaticFilter,
        static_builder().build(1).unwrap(),
        {
            let params: StaticParams = static_builder().params().unwrap();
            StaticFilter::build(params, &hashes(keys()), 2).unwrap()
        },
        StaticFilter::from_keys(keys(), 0.01).unwrap();
    of_two_sets: Cascade,
        cascade(),
        Cascade::build(&hashes(keys()), &hashes(others()), SEED, 2).unwrap(),
        Cascade::from_keys(keys(), others()).unwrap();
}
