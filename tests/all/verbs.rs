//! The same verbs on every kind: the table at the end says of each kind which it has, and of each
//! other why it has not. What a kind is said to have does not compile if it is missing; what it is
//! said to lack does not compile if it is there. Single inserts and probes are held to the plain
//! definitions, all other verbs to single inserts.

use crate::directory::Directory;
use crate::histories::definition::{Model, Scalable};
use bloomline::definition::{classic, cuckoo, line};
use bloomline::*;

const SEED: u64 = 9;

/// Every verb, in the order of the tests of a kind.
const VERBS: [&str; 16] = [
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
    "save",
    "memory_usage",
];

/// 1,200 keys: each twice in a row, and once more at the end.
fn keys() -> Vec<u64> {
    (0..800).map(|i| i / 2).chain(0..400).collect()
}

/// The plain definition of a kind.
trait Definition {
    /// Inserts a key. Returns whether it was new.
    fn insert(&mut self, hash: u64) -> bool;
    fn contains(&self, hash: u64) -> bool;
}

struct Lines(Vec<u8>, u32);

impl Definition for Lines {
    fn insert(&mut self, hash: u64) -> bool {
        let new = !self.contains(hash);
        line::insert(&mut self.0, self.1, hash);
        new
    }

    fn contains(&self, hash: u64) -> bool {
        line::contains(&self.0, self.1, hash)
    }
}

struct Standard(Vec<u8>, u32);

impl Definition for Standard {
    fn insert(&mut self, hash: u64) -> bool {
        let new = !self.contains(hash);
        classic::insert(&mut self.0, self.1, hash);
        new
    }

    fn contains(&self, hash: u64) -> bool {
        classic::contains(&self.0, self.1, hash)
    }
}

struct Buckets(Vec<u8>, u32);

impl Definition for Buckets {
    fn insert(&mut self, hash: u64) -> bool {
        cuckoo::insert(&mut self.0, self.1, hash).expect("there is room")
    }

    fn contains(&self, hash: u64) -> bool {
        cuckoo::contains(&self.0, self.1, hash)
    }
}

impl Definition for Scalable {
    fn insert(&mut self, hash: u64) -> bool {
        Model::insert(self, hash).unwrap()
    }

    fn contains(&self, hash: u64) -> bool {
        self.has(hash)
    }
}

fn params() -> Params {
    Params::for_rate(2000, 0.01).unwrap().with_seed(SEED)
}

fn cuckoo_params() -> CuckooParams {
    CuckooParams::for_rate(2400, 0.01).unwrap().with_seed(SEED)
}

fn lines() -> Lines {
    Lines(vec![0; params().bytes()], params().k())
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
with_keys from_keys dedup extend clear remove }

/// The test of a verb: `make` makes an empty filter.
macro_rules! verb {
    ($kind:ident, $make:ident, $plain:ident, insert) => {
        let (mut filter, mut plain) = ($make(), $plain());
        for key in keys() {
            assert_eq!(filter.insert(&key).sure(), plain.insert(filter.hash(&key)), "key {key}");
        }
        for key in 0..10_000u64 {
            assert_eq!(filter.contains(&key), plain.contains(filter.hash(&key)), "key {key}");
        }
    };
    ($kind:ident, $make:ident, $plain:ident, insert_hash) => {
        let (mut filter, mut one) = ($make(), $make());
        for key in keys() {
            assert_eq!(filter.insert_hash(filter.hash(&key)).sure(), one.insert(&key).sure());
        }
        assert_eq!(filter, one);
    };
    ($kind:ident, $make:ident, $plain:ident, insert_keys) => {
        let mut filter = $make();
        filter.insert_keys(&keys()).sure();
        assert_eq!(filter, one_by_one!($make));
    };
    ($kind:ident, $make:ident, $plain:ident, insert_hashes) => {
        let mut filter = $make();
        let hashes: Vec<u64> = keys().iter().map(|key| filter.hash(key)).collect();
        filter.insert_hashes(&hashes).sure();
        assert_eq!(filter, one_by_one!($make));
    };
    ($kind:ident, $make:ident, $plain:ident, insert_iter) => {
        let mut filter = $make();
        filter.insert_iter(keys()).sure();
        assert_eq!(filter, one_by_one!($make));
    };
    ($kind:ident, $make:ident, $plain:ident, insert_new_keys) => {
        let mut filter = $make();
        // Longer than it must be, and full of other answers.
        let mut new = vec![u64::MAX; keys().len() / 64 + 2];
        let count = filter.insert_new_keys(&keys(), &mut new).sure();
        assert_new!($make, count, new);
        assert_eq!(filter, one_by_one!($make));
    };
    ($kind:ident, $make:ident, $plain:ident, insert_new_hashes) => {
        let mut filter = $make();
        let hashes: Vec<u64> = keys().iter().map(|key| filter.hash(key)).collect();
        let mut new = vec![u64::MAX; keys().len() / 64 + 2];
        let count = filter.insert_new_hashes(&hashes, &mut new).sure();
        assert_new!($make, count, new);
        assert_eq!(filter, one_by_one!($make));
    };
    ($kind:ident, $make:ident, $plain:ident, with_keys) => {
        assert_eq!($make().with_keys(keys()).sure(), one_by_one!($make));
        let none: [u64; 0] = [];
        assert_eq!($make().with_keys(none).sure(), $make());
    };
    ($kind:ident, $make:ident, $plain:ident, from_keys) => {
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
    ($kind:ident, $make:ident, $plain:ident, dedup) => {
        let (mut filter, mut one) = ($make(), $make());
        let expected: Vec<u64> = keys().into_iter().filter(|key| one.insert(key).sure()).collect();
        assert!(filter.dedup(keys()).eq(expected));
        assert_eq!(filter, one);
    };
    ($kind:ident, $make:ident, $plain:ident, extend) => {
        let mut filter = $make();
        filter.extend(keys());
        assert_eq!(filter, one_by_one!($make));
    };
    ($kind:ident, $make:ident, $plain:ident, clear) => {
        let mut filter = one_by_one!($make);
        filter.clear();
        assert_eq!(filter, $make());
        assert!((0..10_000u64).all(|key| !filter.contains(&key)));
        filter.insert_keys(&keys()).sure();
        assert_eq!(filter, one_by_one!($make), "it begins anew");
    };
    ($kind:ident, $make:ident, $plain:ident, eq) => {
        let mut filter = one_by_one!($make);
        assert!(filter == one_by_one!($make) && filter != $make());
        while !filter.insert(&filter.to_bytes().unwrap()).sure() {}
        assert_ne!(filter, one_by_one!($make));
    };
    ($kind:ident, $make:ident, $plain:ident, remove) => {
        let mut filter = one_by_one!($make);
        keys().iter().for_each(|key| filter.remove(key).unwrap());
        assert!(filter.view().lines().iter().all(|byte| *byte == 0));
        assert_eq!(filter.remove(&5u64), Err(Error::Absent));
    };
    ($kind:ident, $make:ident, $plain:ident, save) => {
        let directory = Directory::new("verbs");
        let (path, filter) = (directory.file("filter"), one_by_one!($make));
        filter.save(&path).unwrap();
        assert_eq!($kind::load(&path).unwrap(), filter);
    };
    ($kind:ident, $make:ident, $plain:ident, memory_usage) => {
        let filter = one_by_one!($make);
        // Encoded it has what it has in memory, and footers; a window has marks in memory.
        let (memory, encoded) = (filter.memory_usage(), filter.encoded_len());
        assert!(memory.abs_diff(encoded) <= encoded / 10 + 320, "{memory} of {encoded}");
        assert_eq!(filter.try_clone().unwrap().memory_usage(), memory);
        assert!($make().memory_usage() <= memory, "nothing is taken for a key but by growing");
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
    ($($name:ident: $kind:ident, $make:expr, $plain:expr,
        has [$($has:ident)*], lacks {$($lacks:ident: $why:literal)*};)*) => {$(
        mod $name {
            use super::*;

            fn make() -> $kind {
                $make
            }

            #[allow(dead_code)]
            fn plain() -> impl Definition {
                $plain
            }

            #[test]
            fn has_every_verb_or_a_reason() {
                $(
                    let _: fn() -> Missing = <$kind>::$lacks;
                    assert!(!$why.is_empty());
                )*
                let mut verbs = vec![$(stringify!($has),)* $(stringify!($lacks)),*];
                verbs.sort_by_key(|verb| VERBS.iter().position(|each| each == verb));
                assert_eq!(verbs, VERBS);
            }

            $(#[test]
            #[allow(unused_mut)]
            fn $has() {
                verb!($kind, make, plain, $has);
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
}

crate::kinds::verbs!(each);

/// Lines and counters, to the byte; in huge pages their unused end, too.
#[test]
fn memory_is_that_of_lines_and_counters() {
    let params = |lines| Params::new(lines, 6, 0).unwrap();
    assert_eq!(Filter::new(params(10)).unwrap().memory_usage(), 640);
    assert_eq!(ConcurrentFilter::new(params(10)).unwrap().memory_usage(), 640);
    assert_eq!(CountingFilter::new(params(10)).unwrap().memory_usage(), 5 * 640);
    // Columns are padded to 64, and have a name or not.
    let mut matrix = Matrix::new(params(10), 65).unwrap();
    assert_eq!(matrix.memory_usage(), 2 * 64 * 640);
    matrix.set_names(&[7; 65]).unwrap();
    assert!((8 * 65..16 * 65).contains(&(matrix.memory_usage() - 2 * 64 * 640)));
    let cuckoo = CuckooParams::new(10, 12, 0).unwrap();
    assert_eq!(CuckooFilter::new(cuckoo).unwrap().memory_usage(), cuckoo.bytes());
    let lines = (2 << 20) / 64 + 1;
    let large = Filter::new(params(lines)).unwrap().memory_usage();
    assert!((64 * lines as usize..=(2 << 20) * 11 / 10).contains(&large), "{large}");
    let mut scalable = ScalableFilter::new(100, 0.01, SEED).unwrap();
    for key in 0..5000u64 {
        scalable.insert(&key).unwrap();
        let stages: usize = scalable.stages().map(Filter::memory_usage).sum();
        assert_eq!(scalable.memory_usage(), stages);
    }
    let cascade = Cascade::from_keys(keys(), others()).unwrap();
    assert_eq!(cascade.memory_usage() as u64, 64 * cascade.line_count());
}

/// What is built of all its keys at once takes no key, and loses none.
macro_rules! built {
    ($($name:ident: $kind:ident, $with_keys:expr, $build:expr, $from_keys:expr;)*) => {$(
        mod $name {
            use super::*;

            #[test]
            fn is_built_of_its_keys() {
                let _: [fn() -> Missing; 12] = [
                    <$kind>::insert, <$kind>::insert_hash, <$kind>::insert_keys,
                    <$kind>::insert_hashes, <$kind>::insert_iter, <$kind>::insert_new_keys,
                    <$kind>::insert_new_hashes, <$kind>::with_keys, <$kind>::dedup,
                    <$kind>::extend, <$kind>::clear, <$kind>::remove,
                ];
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
                let directory = Directory::new("verbs");
                let path = directory.file("filter");
                seeded.save(&path).unwrap();
                assert_eq!($kind::load(&path).unwrap(), seeded);
                let footers = seeded.encoded_len() - seeded.memory_usage();
                assert!(footers <= seeded.encoded_len() / 10 + 1024, "{footers} bytes are none of lines");
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

fn static_builder() -> StaticBuilder {
    StaticBuilder::for_rate(0.01, SEED).unwrap().with_keys(keys()).unwrap()
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
        CascadeBuilder::new(SEED).with_keys(keys(), others()).unwrap().build(1).unwrap(),
        Cascade::build(&hashes(keys()), &hashes(others()), SEED, 2).unwrap(),
        Cascade::from_keys(keys(), others()).unwrap();
}
