//! The library's filters as the subjects of histories. Whatever can be asked in several ways is asked in
//! all of them: keys one by one and together, the filter and its view.

use super::{Keys, Said, Subject, said_all};
use crate::mapped;
use bloomline::{
    Backend, Bitmap, Cascade, ConcurrentFilter, CountingFilter, CuckooFilter, CuckooParams, Error,
    Filter, GrowingFilter, GrowingView, Params, ScalableFilter, StaticFilter, StaticParams, Window,
};
use std::path::Path;

fn arg<T: std::str::FromStr>(args: &[&str], at: usize) -> T {
    args[at].parse().ok().unwrap()
}

fn params(args: &[&str]) -> Result<Params, Error> {
    Params::new(arg(args, 0), arg(args, 1), arg(args, 2))
}

fn said_params(params: Params) -> String {
    format!("{} {} {}", params.line_count(), params.k(), params.seed())
}

fn digest(bytes: &[u8]) -> String {
    format!("{} {:016x}", bytes.len(), bloomline::hash::hash(bytes, 0))
}

/// The answers to keys, in a batch and one by one.
macro_rules! contains {
    ($filter:expr, $keys:expr) => {{
        let mut bitmap = Bitmap::new();
        let (count, one_by_one): (usize, Vec<bool>) = match $keys {
            Keys::Bytes(keys) => (
                $filter.contains_keys(&keys[..], &mut bitmap),
                keys.iter().map(|key| $filter.contains(key)).collect(),
            ),
            Keys::Hashes(hashes) => (
                $filter.contains_hashes(&hashes[..], &mut bitmap),
                hashes.iter().map(|&hash| $filter.contains_hash(hash)).collect(),
            ),
        };
        let answers: Vec<bool> = bitmap.iter().collect();
        assert_eq!(answers, one_by_one);
        assert_eq!(count, answers.iter().filter(|&&answer| answer).count());
        answers
    }};
}

/// As `contains!`, of a view too.
macro_rules! contains_viewed {
    ($filter:expr, $keys:expr) => {{
        let answers = contains!($filter, $keys);
        assert_eq!(answers, contains!($filter.view(), $keys));
        answers
    }};
}

/// Bytes and files, by the names that all kinds have.
macro_rules! stored {
    ($kind:ident) => {
        fn open(bytes: &[u8]) -> Result<Self, Error> {
            $kind::decode(bytes)
        }
        fn copy(&self) -> Self {
            self.try_clone().unwrap()
        }
        fn bytes(&self) -> Vec<u8> {
            self.to_bytes().unwrap()
        }
        fn save(&mut self, path: &Path) {
            $kind::save(self, path).unwrap();
            match mapped::open(path) {
                Ok(file) => assert!(self.bytes().starts_with(file.view().lines())),
                Err(error) => assert!(matches!(error, Error::Layout(_))),
            }
            *self = $kind::load(path).unwrap();
        }
    };
}

/// Inserts of one key and of many.
macro_rules! inserts {
    () => {
        fn insert(&mut self, key: &Keys) -> String {
            match key {
                Keys::Bytes(keys) => Self::insert(self, &keys[0]).said(),
                Keys::Hashes(hashes) => self.insert_hash(hashes[0]).said(),
            }
        }
        fn insert_all(&mut self, keys: &Keys) -> String {
            match keys {
                Keys::Bytes(keys) => self.insert_keys(keys).said(),
                Keys::Hashes(hashes) => self.insert_hashes(hashes).said(),
            }
        }
    };
}

/// Which of many keys are new: `$count` makes a result of their number.
macro_rules! inserts_new {
    ($count:expr) => {
        fn insert_new(&mut self, keys: &Keys) -> Result<Vec<bool>, Error> {
            let mut new = Bitmap::new();
            let count = match keys {
                Keys::Bytes(keys) => self.insert_new_keys(keys, &mut new),
                Keys::Hashes(hashes) => self.insert_new_hashes(hashes, &mut new),
            };
            assert_eq!($count(count)?, new.count_ones());
            Ok(new.iter().collect())
        }
    };
}

macro_rules! removes {
    () => {
        fn remove(&mut self, keys: &Keys, one: bool) -> String {
            let mut removed = Bitmap::new();
            let count = match keys {
                Keys::Bytes(keys) if one => return Self::remove(self, &keys[0]).said(),
                Keys::Hashes(hashes) if one => return self.remove_hash(hashes[0]).said(),
                Keys::Bytes(keys) => self.remove_keys(keys, &mut removed),
                Keys::Hashes(hashes) => self.remove_hashes(hashes, &mut removed),
            };
            assert_eq!(count, removed.count_ones());
            said_all(&removed.iter().collect::<Vec<_>>())
        }
    };
}

impl Subject for Filter {
    fn make(args: &[&str], backend: Backend) -> Result<Self, Error> {
        Filter::with_backend(params(args)?, backend)
    }
    fn contains(&self, keys: &Keys) -> Vec<bool> {
        contains_viewed!(self, keys)
    }
    fn union(&mut self, other: &Self) -> Result<(), Error> {
        Filter::union(self, other)
    }
    fn other(&mut self, verb: &str, _: &[&str]) -> String {
        match verb {
            "key_count" => self.key_count().said(),
            "clear" => done!(self.clear()),
            "fold" => self.fold().said(),
            "params" => said_params(self.params()),
            _ => panic!("{verb}"),
        }
    }
    stored!(Filter);
    inserts!();
    inserts_new!(Ok::<usize, Error>);
}

/// A filter of classic parameters.
pub(crate) struct Classic(Filter);

impl Subject for Classic {
    fn make(args: &[&str], _: Backend) -> Result<Self, Error> {
        crate::definition::classic_filter(params(args)?).map(Classic)
    }
    fn open(bytes: &[u8]) -> Result<Self, Error> {
        Filter::decode(bytes).map(Classic)
    }
    fn copy(&self) -> Self {
        Classic(self.0.copy())
    }
    fn bytes(&self) -> Vec<u8> {
        self.0.bytes()
    }
    fn contains(&self, keys: &Keys) -> Vec<bool> {
        assert!(self.0.params().is_classic());
        Subject::contains(&self.0, keys)
    }
    fn insert(&mut self, key: &Keys) -> String {
        Subject::insert(&mut self.0, key)
    }
    fn insert_all(&mut self, keys: &Keys) -> String {
        self.0.insert_all(keys)
    }
    fn insert_new(&mut self, keys: &Keys) -> Result<Vec<bool>, Error> {
        self.0.insert_new(keys)
    }
    fn union(&mut self, other: &Self) -> Result<(), Error> {
        self.0.union(&other.0)
    }
    fn save(&mut self, path: &Path) {
        Subject::save(&mut self.0, path);
    }
    fn other(&mut self, verb: &str, args: &[&str]) -> String {
        self.0.other(verb, args)
    }
}

impl Subject for ConcurrentFilter {
    fn make(args: &[&str], backend: Backend) -> Result<Self, Error> {
        ConcurrentFilter::with_backend(params(args)?, backend)
    }
    fn open(bytes: &[u8]) -> Result<Self, Error> {
        Filter::decode(bytes).map(ConcurrentFilter::from)
    }
    fn copy(&self) -> Self {
        ConcurrentFilter::from(self.snapshot().unwrap())
    }
    fn bytes(&self) -> Vec<u8> {
        self.snapshot().unwrap().to_bytes().unwrap()
    }
    fn contains(&self, keys: &Keys) -> Vec<bool> {
        contains!(self, keys)
    }
    fn union(&mut self, other: &Self) -> Result<(), Error> {
        ConcurrentFilter::union(self, &other.snapshot().unwrap())
    }
    fn other(&mut self, verb: &str, _: &[&str]) -> String {
        match verb {
            "params" => said_params(self.params()),
            _ => panic!("{verb}"),
        }
    }
    inserts!();
    inserts_new!(Ok::<usize, Error>);
}

impl Subject for CountingFilter {
    fn make(args: &[&str], backend: Backend) -> Result<Self, Error> {
        CountingFilter::with_backend(params(args)?, backend)
    }
    fn contains(&self, keys: &Keys) -> Vec<bool> {
        let answers = contains_viewed!(self, keys);
        assert_eq!(answers, contains!(self.filter(), keys));
        answers
    }
    fn union(&mut self, other: &Self) -> Result<(), Error> {
        CountingFilter::union(self, other)
    }
    fn other(&mut self, verb: &str, args: &[&str]) -> String {
        match verb {
            "key_count" => self.key_count().said(),
            "clear" => done!(self.clear()),
            "count" => match Keys::parse(args).0 {
                Keys::Bytes(keys) => u64::from(self.count(&keys[0])).said(),
                Keys::Hashes(hashes) => u64::from(self.count_hash(hashes[0])).said(),
            },
            "plain" => {
                // In four ways: as it is, copied, what is left of it, and out of its bytes.
                let bytes = self.filter().to_bytes().unwrap();
                assert!(self.to_filter().unwrap().to_bytes().unwrap() == bytes);
                assert!(self.copy().into_filter().to_bytes().unwrap() == bytes);
                assert!(Filter::decode(&self.bytes()).unwrap().to_bytes().unwrap() == bytes);
                digest(&bytes)
            }
            "params" => said_params(self.params()),
            _ => panic!("{verb}"),
        }
    }
    stored!(CountingFilter);
    inserts!();
    inserts_new!(Ok::<usize, Error>);
    removes!();
}

impl Subject for CuckooFilter {
    fn make(args: &[&str], backend: Backend) -> Result<Self, Error> {
        let params = CuckooParams::new(arg(args, 0), arg(args, 1), arg(args, 2))?;
        CuckooFilter::with_backend(params, backend)
    }
    fn contains(&self, keys: &Keys) -> Vec<bool> {
        contains_viewed!(self, keys)
    }
    fn other(&mut self, verb: &str, _: &[&str]) -> String {
        let params = self.params();
        match verb {
            "key_count" => self.key_count().said(),
            "clear" => done!(self.clear()),
            "params" => {
                format!("{} {} {}", params.line_count(), params.fingerprint_bits(), params.seed())
            }
            _ => panic!("{verb}"),
        }
    }
    stored!(CuckooFilter);
    inserts!();
    removes!();
}

impl Subject for ScalableFilter {
    fn make(args: &[&str], backend: Backend) -> Result<Self, Error> {
        ScalableFilter::with_backend(arg(args, 0), arg(args, 1), arg(args, 2), backend)
    }
    fn contains(&self, keys: &Keys) -> Vec<bool> {
        contains!(self, keys)
    }
    fn other(&mut self, verb: &str, _: &[&str]) -> String {
        match verb {
            "key_count" => self.key_count().said(),
            "stages" => (self.stages().len() as u64).said(),
            _ => panic!("{verb}"),
        }
    }
    stored!(ScalableFilter);
    inserts!();
    inserts_new!(std::convert::identity);
}

impl Subject for Window {
    fn make(args: &[&str], backend: Backend) -> Result<Self, Error> {
        let made = Window::new(arg(args, 0), arg(args, 1), arg(args, 2), arg(args, 3))?;
        Window::with_backend(made.generations(), made.params(), backend)
    }
    fn contains(&self, keys: &Keys) -> Vec<bool> {
        contains!(self, keys)
    }
    fn other(&mut self, verb: &str, args: &[&str]) -> String {
        match verb {
            "key_count" => self.key_count(arg(args, 0)).said(),
            "rotate" => done!(self.rotate()),
            "advance" => done!(self.advance_to(arg(args, 0))),
            "rotate_after" => done!(self.rotate_after(arg(args, 0))),
            "slice" => self.time_slice().said(),
            "params" => said_params(self.params()),
            _ => panic!("{verb}"),
        }
    }
    stored!(Window);
    inserts!();
    inserts_new!(Ok::<usize, Error>);
}

impl Subject for StaticFilter {
    fn make(args: &[&str], backend: Backend) -> Result<Self, Error> {
        let (rows, seed): (i32, u64) = (arg(args, 0), arg(args, 1));
        let hashes = Keys::parse(&args[2..]).0.hashes(seed);
        let params = StaticParams::for_rate(hashes.len() as u64, 0.5f64.powi(rows))?;
        StaticFilter::build_with_backend(params.with_seed(seed), &hashes, backend)
    }
    fn contains(&self, keys: &Keys) -> Vec<bool> {
        contains_viewed!(self, keys)
    }
    fn other(&mut self, verb: &str, _: &[&str]) -> String {
        match verb {
            "key_count" => self.key_count().said(),
            _ => panic!("{verb}"),
        }
    }
    stored!(StaticFilter);
}

impl Subject for Cascade {
    fn make(args: &[&str], backend: Backend) -> Result<Self, Error> {
        let (rate, seed): (f64, u64) = (arg(args, 0), arg(args, 1));
        let [included, excluded] = [2, 3].map(|at| Keys::parse(&args[at..=at]).0.hashes(seed));
        if rate == 0.0 {
            return Cascade::build_with_backend(&included, &excluded, seed, backend);
        }
        Cascade::build_for_rate(&included, &excluded, rate, seed, 1)
    }
    fn contains(&self, keys: &Keys) -> Vec<bool> {
        contains!(self, keys)
    }
    fn other(&mut self, verb: &str, _: &[&str]) -> String {
        match verb {
            "key_count" => self.included_count().said(),
            "layers" => (self.layers().len() as u64).said(),
            _ => panic!("{verb}"),
        }
    }
    stored!(Cascade);
}

impl Subject for GrowingFilter {
    fn make(args: &[&str], backend: Backend) -> Result<Self, Error> {
        let made = match args {
            ["unbounded", args @ ..] => {
                GrowingFilter::unbounded(arg(args, 0), arg(args, 1), arg(args, 2))
            }
            args => GrowingFilter::new(arg(args, 0), arg(args, 1), arg(args, 2)),
        };
        made?.with_backend(backend)
    }
    fn contains(&self, keys: &Keys) -> Vec<bool> {
        let answers = contains_viewed!(self, keys);
        let view = GrowingView::open_with_backend(self.bytes(), self.backend()).unwrap();
        assert_eq!(answers, contains!(view, keys));
        answers
    }
    fn union(&mut self, other: &Self) -> Result<(), Error> {
        GrowingFilter::union(self, other)
    }
    fn other(&mut self, verb: &str, args: &[&str]) -> String {
        match verb {
            "key_count" => self.key_count().said(),
            "clear" => done!(self.clear()),
            "count" => match Keys::parse(args).0 {
                Keys::Bytes(keys) => self.count(&keys[0]).said(),
                Keys::Hashes(hashes) => self.count_hash(hashes[0]).said(),
            },
            _ => panic!("{verb}"),
        }
    }
    stored!(GrowingFilter);
    inserts!();
    inserts_new!(std::convert::identity);
    removes!();
}
