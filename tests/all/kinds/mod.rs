//! The kinds, a row for each in three tables: how one is made and changed, and what it is read from, for all
//! that holds of every kind that is a value; which verbs it has; and its history. Beside them, what is
//! tested of one kind alone.

mod cascade;
pub(crate) mod cascade_bytes;
mod classic;
mod concurrent;
mod counting;
mod cuckoo;
mod golden_cascade;
mod golden_classic;
mod golden_counting;
mod golden_cuckoo;
mod golden_growing;
mod golden_journal;
mod golden_matrix;
mod golden_scalable;
mod golden_static;
mod golden_window;
mod growing;
pub(crate) mod growing_bytes;
pub(crate) mod growing_model;
pub(crate) mod journal_bytes;
pub(crate) mod journal_rule;
mod matrix;
pub(crate) mod matrix_bytes;
mod scalable;
pub(crate) mod scalable_bytes;
mod static_filter;
mod static_model;
mod window;
pub(crate) mod window_bytes;

use crate::definition;
use bloomline::{
    Cascade, ConcurrentFilter, CountingFilter, CuckooFilter, CuckooParams, Error, Filter,
    GrowingFilter, Matrix, Params, ScalableFilter, StaticFilter, StaticParams, Window, hash,
};
use std::path::Path;

/// `NAME: KIND, ranges, [LAYOUTS], MAKE, CHANGE;` for each kind, passed on to a macro. What `MAKE` makes
/// has other keys for another seed, `CHANGE` inserts one more. It is read from files of these layouts,
/// its own among them. `whole`: its bytes are not written by ranges.
macro_rules! kinds {
    ($then:ident) => {
        $then! {
            plain: Filter, ranges, [1, 2, 6], |seed| {
                let mut filter = Filter::new(params()).unwrap();
                filter.insert_hashes(&hashes(seed));
                filter
            }, |filter| assert!(filter.insert_hash(5));
            classic: Filter, ranges, [1, 2, 6], |seed| {
                let mut filter = Filter::new(classic()).unwrap();
                filter.insert_hashes(&hashes(seed));
                filter
            }, |filter| assert!(filter.insert_hash(5));
            shared: ConcurrentFilter, whole, [1, 2, 6], |seed| {
                let filter = ConcurrentFilter::new(params()).unwrap();
                filter.insert_hashes(&hashes(seed));
                filter
            }, |filter| assert!(filter.insert_hash(5));
            shared_classic: ConcurrentFilter, whole, [1, 2, 6], |seed| {
                let filter = ConcurrentFilter::from(Filter::new(classic()).unwrap());
                filter.insert_hashes(&hashes(seed));
                filter
            }, |filter| assert!(filter.insert_hash(5));
            counting: CountingFilter, ranges, [2], |seed| {
                let mut filter = CountingFilter::new(params()).unwrap();
                filter.insert_hashes(&hashes(seed));
                filter
            }, |filter| assert!(filter.insert_hash(5));
            cuckoo: CuckooFilter, ranges, [7], |seed| {
                let params = CuckooParams::for_rate(2000, 0.01).unwrap().with_seed(0x5EC2_E70F);
                let mut filter = CuckooFilter::new(params).unwrap();
                hashes(seed).into_iter().for_each(|hash| filter.insert_hash(hash).map(drop).unwrap());
                filter
            }, |filter| assert!(filter.insert_hash(5).unwrap());
            unchanging: StaticFilter, ranges, [8], |seed| {
                let params = StaticParams::for_rate(1000, 0.004).unwrap().with_seed(0x5EC2_E70F);
                StaticFilter::build(params, &hashes(seed), 1).unwrap()
            }, |filter| *filter = StaticFilter::build(filter.params(), &[5], 1).unwrap();
            exact: Cascade, ranges, [9], |seed| {
                Cascade::build(&hashes(seed), &hashes(seed + 7), 0x5EC2_E70F, 1).unwrap()
            }, |filter| *filter = Cascade::build(&[5], &[6], 0, 1).unwrap();
            scalable: ScalableFilter, ranges, [3], |seed| {
                let mut filter = ScalableFilter::new(100, 0.01, 0x5EC2_E70F).unwrap();
                hashes(seed).into_iter().for_each(|hash| assert!(filter.insert_hash(hash).is_ok()));
                filter
            }, |filter| assert!(filter.insert_hash(5).unwrap());
            growing: GrowingFilter, ranges, [11], |seed| {
                let mut filter = GrowingFilter::new(900, 0.01, 0x5EC2_E70F).unwrap();
                hashes(seed).into_iter().for_each(|hash| _ = filter.insert_hash(hash).unwrap());
                filter
            }, |filter| assert!(filter.insert_hash(5).unwrap());
            window: Window, ranges, [4], |seed| {
                let mut window = Window::new(5, 300, 0.01, 0x5EC2_E70F).unwrap();
                window.rotate_after(150);
                for hash in hashes(seed) {
                    window.insert_hash(hash);
                }
                window.rotate();
                window
            }, |window| assert!(window.insert_hash(5));
            columns: Matrix, ranges, [10], |seed| {
                let mut matrix = Matrix::new(Params::new(3, 6, 0x5EC2_E70F).unwrap(), 70).unwrap();
                for (column, hashes) in hashes(seed).chunks(15).enumerate() {
                    matrix.insert_hashes(column, hashes).unwrap();
                }
                matrix.set_names(&hashes(seed)[..70]).unwrap();
                matrix.set_checksums(true);
                matrix
            }, |matrix| assert!(matrix.insert_hash(69, 5).unwrap());
        }
    };
}

/// `NAME: takes KIND, MAKE, DEFINITION, has [VERBS], lacks { VERB: "REASON" }, otherwise { VERB: "FOR WHAT" };`
/// for each kind, passed on to a macro: see `tests/all/verbs.rs`, whose names these are. `built`: of all its
/// keys at once, or of filters.
macro_rules! verbs {
    ($then:ident) => {
        $then! {
            plain: takes Filter, Filter::new(params()).unwrap(), shaped::<Lines<1>>(),
            has [insert insert_hash insert_keys insert_hashes insert_iter insert_new_keys
                insert_new_hashes with_keys from_keys dedup extend clear eq union intersect view
                try_clone save memory_usage],
            lacks {
                remove: "other keys have the same bits"
                count: "a bit is set or not"
            }, otherwise {};
            standard: takes Filter, crate::definition::classic_filter(params()).unwrap(),
            shaped::<Lines<6>>(),
            has [insert insert_hash insert_keys insert_hashes insert_iter insert_new_keys
                insert_new_hashes with_keys from_keys dedup extend clear eq union intersect view
                try_clone save memory_usage],
            lacks {
                remove: "other keys have the same bits"
                count: "a bit is set or not"
            }, otherwise {};
            shared: takes ConcurrentFilter, ConcurrentFilter::new(params()).unwrap(), shaped::<Lines<0>>(),
            has [insert insert_hash insert_keys insert_hashes insert_iter insert_new_keys
                insert_new_hashes with_keys from_keys dedup extend clear eq union try_clone save
                memory_usage],
            lacks {
                remove: "other keys have the same bits"
                intersect: "it takes bits away, which a thread may have set meanwhile"
                count: "a bit is set or not"
                view: "it would borrow lines that threads write: snapshot() has one"
            }, otherwise {};
            counting: takes CountingFilter, CountingFilter::new(params()).unwrap(), shaped::<Counting>(),
            has [insert insert_hash insert_keys insert_hashes insert_iter insert_new_keys
                insert_new_hashes with_keys from_keys dedup extend clear eq remove union count view
                try_clone save memory_usage],
            lacks { intersect: "filter() can be cloned and intersected" }, otherwise {};
            cuckoo_filter: takes CuckooFilter, CuckooFilter::new(cuckoo_params()).unwrap(), buckets(),
            has [insert insert_hash insert_keys insert_hashes insert_iter insert_new_keys
                insert_new_hashes with_keys from_keys clear eq remove view try_clone save
                memory_usage],
            lacks {
                dedup: "a full filter refuses keys, and the iterator has no place for the error"
                extend: "the same"
                union: "there may be no room for the keys of another"
                intersect: "a key may lie in either of two lines, beside others of its fingerprint"
                count: "it has 8 slots for a key"
            }, otherwise {};
            scalable: takes ScalableFilter, ScalableFilter::new(100, 0.01, SEED).unwrap(),
            model::<Scalable>([&100, &0.01, &SEED]),
            has [insert insert_hash insert_keys insert_hashes insert_iter insert_new_keys
                insert_new_hashes with_keys from_keys dedup extend clear eq view try_clone save
                memory_usage],
            lacks {
                remove: "other keys have the same bits"
                union: "stages of different sizes cannot be combined"
                intersect: "stages of different sizes cannot be combined"
                count: "a bit is set or not"
            }, otherwise {};
            window: takes Window, Window::with_params(3, params()).unwrap(), shaped::<Lines<1>>(),
            has [insert insert_hash insert_keys insert_hashes insert_iter insert_new_keys
                insert_new_hashes with_keys dedup extend clear eq view try_clone save memory_usage],
            lacks {
                from_keys: "its keys come generation by generation"
                remove: "keys leave with their generation"
                union: "generations of two windows begin at different times"
                intersect: "generations of two windows begin at different times"
                count: "a bit is set or not"
            }, otherwise {};
            growing: takes GrowingFilter, GrowingFilter::new(2000, 0.01, SEED).unwrap(),
            model::<Growing>([&2000, &0.01, &SEED]),
            has [insert insert_hash insert_keys insert_hashes insert_iter insert_new_keys
                insert_new_hashes with_keys from_keys dedup extend clear eq remove union intersect
                count view try_clone save memory_usage],
            lacks {}, otherwise {};
            unchanging: built StaticFilter, static_builder().build(1).unwrap(), shaped::<Lines<1>>(),
            has [eq view try_clone save memory_usage],
            lacks {
                insert: "it is built of all keys at once"
                insert_hash: "it is built of all keys at once"
                insert_keys: "it is built of all keys at once"
                insert_hashes: "it is built of all keys at once"
                insert_iter: "it is built of all keys at once"
                insert_new_keys: "it is built of all keys at once"
                insert_new_hashes: "it is built of all keys at once"
                with_keys: "its builder has it"
                dedup: "it is built of all keys at once"
                extend: "it is built of all keys at once"
                clear: "it is built of all keys at once"
                remove: "it is built of all keys at once"
                union: "its lines solve equations of all its keys"
                intersect: "its lines solve equations of all its keys"
                count: "a key counts once, however often it is given"
            }, otherwise { from_keys: "tested apart, with all keys" };
            exact: built Cascade, cascade(), shaped::<Lines<1>>(),
            has [eq view try_clone save memory_usage],
            lacks {
                insert: "it is built of all keys at once"
                insert_hash: "it is built of all keys at once"
                insert_keys: "it is built of all keys at once"
                insert_hashes: "it is built of all keys at once"
                insert_iter: "it is built of all keys at once"
                insert_new_keys: "it is built of all keys at once"
                insert_new_hashes: "it is built of all keys at once"
                with_keys: "its builder has it"
                dedup: "it is built of all keys at once"
                extend: "it is built of all keys at once"
                clear: "it is built of all keys at once"
                remove: "it is built of all keys at once"
                union: "its lines solve equations of all its keys"
                intersect: "its lines solve equations of all its keys"
                count: "a key is included or excluded, however often it is given"
            }, otherwise { from_keys: "of two sets, tested apart" };
            columns: built Matrix, matrix(), shaped::<Lines<1>>(),
            has [clear eq try_clone save memory_usage],
            lacks {
                insert_iter: "a filter takes the keys, and becomes a column"
                with_keys: "keys of which column?"
                from_keys: "keys of which column?"
                dedup: "keys of which column?"
                extend: "keys of which column?"
                remove: "other keys of the column have the same bits"
                union: "column by column: column(), set_column()"
                intersect: "column by column: column(), set_column()"
                count: "a bit is set or not; count_hash() says how many columns may have a key"
                view: "a view is of one column: column_view()"
            }, otherwise {
                insert: "into a column"
                insert_hash: "into a column"
                insert_keys: "into a column"
                insert_hashes: "into a column"
                insert_new_keys: "into a column"
                insert_new_hashes: "into a column"
            };
        }
    };
}

/// `NAME: DEFINITION, KIND, SCRIPT;` for each kind of which `golden/histories/` has a file, passed on to
/// a macro: see `tests/all/histories/mod.rs`, whose names these are.
macro_rules! histories {
    ($then:ident) => {
        $then! {
            "filter": definition::Lines<1>, bloomline::Filter, Script::filter;
            "classic": definition::Lines<6>, library::Classic, Script::filter;
            "concurrent": definition::Lines<0>, bloomline::ConcurrentFilter, Script::concurrent;
            "counting": definition::Counting, bloomline::CountingFilter, Script::counting;
            "cuckoo": definition::Cuckoo, bloomline::CuckooFilter, Script::cuckoo;
            "scalable": definition::Scalable, bloomline::ScalableFilter, Script::scalable;
            "window": definition::Window, bloomline::Window, Script::window;
            "static": built::Static, bloomline::StaticFilter, Script::static_filter;
            "cascade": built::Cascade, bloomline::Cascade, Script::cascade;
            "growing": crate::kinds::growing_model::Growing, bloomline::GrowingFilter, Script::growing;
            "unbounded": crate::kinds::growing_model::Growing, bloomline::GrowingFilter, Script::unbounded;
            "matrix": columns::Plain, bloomline::Matrix, Script::matrix;
        }
    };
}
pub(crate) use {histories, kinds, verbs};

fn params() -> Params {
    Params::for_rate(2000, 0.01).unwrap().with_seed(0x5EC2_E70F)
}

fn classic() -> Params {
    Params::classic(params().line_count(), params().k(), params().seed()).unwrap()
}

pub(crate) fn hashes(seed: u64) -> Vec<u64> {
    (0..1000).map(|key| hash::hash_u64(key, seed)).collect()
}

/// [`check`](definition::check) with the rules of a layout, all verified. None of cuckoo and static filters,
/// of which any lines are some.
pub(crate) fn check_of(layout: u64) -> Option<fn(&[u8]) -> u32> {
    match layout {
        1 | 2 | 6 => Some(|bytes| definition::check(bytes, true)),
        3 => Some(scalable_bytes::check_scalable),
        4 => Some(window_bytes::check_window),
        9 => Some(|bytes| cascade_bytes::check_cascade(bytes, true)),
        10 => Some(|bytes| matrix_bytes::check_matrix(bytes, true)),
        11 => Some(|bytes| growing_bytes::check_growing(bytes, true)),
        _ => None,
    }
}

/// A kind as what can be done with its bytes.
pub(crate) struct Whole {
    pub(crate) name: &'static str,
    pub(crate) type_name: &'static str,
    /// The layouts that it is read from.
    pub(crate) layouts: &'static [u64],
    /// One with keys, encoded.
    pub(crate) bytes: fn() -> Vec<u8>,
    pub(crate) decode: fn(&[u8]) -> Result<(), Error>,
    pub(crate) load: fn(&Path) -> Result<(), Error>,
    pub(crate) save: fn(&Path) -> Result<(), Error>,
}

macro_rules! wholes {
    ($($name:ident: $kind:ident, $ranges:ident, $layouts:tt, $make:expr, $change:expr;)*) => {
        /// For each kind what makes and changes one.
        pub(crate) mod made {
            $(pub(crate) mod $name {
                use super::super::*;

                pub(crate) fn make(seed: u64) -> $kind {
                    let make: fn(u64) -> $kind = $make;
                    make(seed)
                }

                pub(crate) fn change(filter: &mut $kind) {
                    let change: fn(&mut $kind) = $change;
                    change(filter)
                }
            })*
        }

        pub(crate) const ALL: &[Whole] = &[$(Whole {
            name: stringify!($name),
            type_name: stringify!($kind),
            layouts: &$layouts,
            bytes: || made::$name::make(1).to_bytes().unwrap(),
            decode: |bytes| $kind::decode(bytes).map(drop),
            load: |path| $kind::load(path).map(drop),
            save: |path| made::$name::make(1).save(path),
        }),*];
    };
}
kinds!(wholes);
