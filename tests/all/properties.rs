//! Properties of whole histories: a filter through any sequence of inserts, unions,
//! folds and trips through bytes and files never denies a key that went in, and is at
//! every step what the plain definition makes of the same hashes. The set it is compared
//! with is a `HashSet`.

use crate::definition;
use crate::directory::Directory;
use crate::mapped;

use bloomline::definition::line;
use bloomline::{Builder, Filter, Params, View, hash, sizing};
use definition::{encode, lines_of};
use proptest::prelude::*;
use std::collections::HashSet;

/// What can happen to a filter.
#[derive(Clone, Debug)]
enum Step {
    Insert(Vec<u8>),
    InsertHash(u64),
    InsertHashes(Vec<u64>),
    InsertKeys(Vec<Vec<u8>>),
    Union(Vec<u64>),
    Fold,
    FoldToRate(f64),
    Encode,
    Save,
    Clear,
}

fn hashes() -> impl Strategy<Value = Vec<u64>> {
    let hash = prop_oneof![
        8 => any::<u64>(),
        1 => (0u32..64).prop_map(|bit| 1 << bit),
        1 => prop::sample::select(definition::AWKWARD.to_vec()),
    ];
    prop::collection::vec(hash, 0..150)
}

fn key() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..40)
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => key().prop_map(Step::Insert),
        2 => any::<u64>().prop_map(Step::InsertHash),
        3 => hashes().prop_map(Step::InsertHashes),
        3 => prop::collection::vec(key(), 0..80).prop_map(Step::InsertKeys),
        2 => hashes().prop_map(Step::Union),
        2 => Just(Step::Fold),
        1 => (0.000_1..0.9).prop_map(Step::FoldToRate),
        2 => Just(Step::Encode),
        1 => Just(Step::Save),
        1 => Just(Step::Clear),
    ]
}

/// The filter, and what it is compared with.
struct History {
    filter: Filter,
    inserted: HashSet<u64>,
    file: std::path::PathBuf,
}

impl History {
    fn take(&mut self, step: Step) {
        let seed = self.filter.params().seed();
        let line_count = self.filter.params().line_count();
        match step {
            Step::Insert(key) => {
                self.filter.insert(&key);
                self.inserted.insert(hash::hash(&key, seed));
            }
            Step::InsertHash(hash) => {
                self.filter.insert_hash(hash);
                self.inserted.insert(hash);
            }
            Step::InsertHashes(hashes) => {
                self.filter.insert_hashes(&hashes);
                self.inserted.extend(hashes);
            }
            Step::InsertKeys(keys) => {
                self.filter.insert_keys(&keys);
                self.inserted.extend(keys.iter().map(|key| hash::hash(key, seed)));
            }
            Step::Union(hashes) => {
                let mut other = Filter::new(self.filter.params()).unwrap();
                other.insert_hashes(&hashes);
                self.filter.union(&other).unwrap();
                self.inserted.extend(hashes);
            }
            Step::Fold => {
                assert_eq!(self.filter.fold().is_ok(), line_count.is_multiple_of(2));
            }
            Step::FoldToRate(rate) => {
                let folds = self.filter.fold_to_rate(rate).unwrap();
                assert_eq!(self.filter.params().line_count() << folds, line_count);
            }
            Step::Encode => {
                self.filter = Filter::decode(&self.filter.to_bytes().unwrap()).unwrap();
            }
            Step::Save => {
                self.filter.save(&self.file).unwrap();
                let mapped = mapped::open(&self.file).unwrap();
                assert!(mapped.view().lines() == self.filter.lines());
                self.filter = Filter::load(&self.file).unwrap();
            }
            Step::Clear => {
                self.filter.clear();
                self.inserted.clear();
            }
        }
    }

    fn check(&self) {
        let params = self.filter.params();
        let hashes: Vec<u64> = self.inserted.iter().copied().collect();
        let lines = lines_of(params.line_count() as usize, params.k(), &hashes);
        assert!(self.filter.lines() == lines, "the lines are the definition's");
        let mut bitmap = vec![0; hashes.len().div_ceil(64)];
        assert_eq!(self.filter.contains_hashes(&hashes, &mut bitmap), hashes.len());
        assert!(hashes.iter().all(|&hash| self.filter.contains_hash(hash)));
        assert!(self.filter.key_count() >= hashes.len() as u64);
    }
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases: definition::cases(cases),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn no_history_loses_a_key(
        line_count in prop_oneof![1u64..70, (0u32..9).prop_map(|bits| 1 << bits)],
        k in 1u32..=16,
        seed in any::<u64>(),
        steps in prop::collection::vec(step(), 1..25),
    ) {
        let directory = Directory::new("history");
        let file = directory.file("filter");
        let filter = Filter::new(Params::new(line_count, k, seed).unwrap()).unwrap();
        let mut history = History { filter, inserted: HashSet::new(), file };
        for step in steps {
            history.take(step);
            history.check();
        }
    }

    /// A builder's block has every key, in the size that was asked for, and is a filter
    /// of the keys without those that repeat their neighbour.
    #[test]
    fn blocks_have_every_key(
        keys in prop::collection::vec((key(), 1usize..4), 0..200),
        bits_per_key in 1.0..40.0,
        seed in any::<u64>(),
        extra in 0usize..5,
    ) {
        let mut builder = Builder::new(bits_per_key, seed).unwrap();
        for (key, repeated) in &keys {
            (0..*repeated).for_each(|_| builder.add(key).unwrap());
        }
        let mut hashes: Vec<u64> = keys.iter().map(|(key, _)| hash::hash(key, seed)).collect();
        hashes.dedup();
        // Of the last two different ones, none counts again.
        let again = |i: usize| i >= 2 && hashes[i] == hashes[i - 2];
        let hashes: Vec<u64> =
            (0..hashes.len()).filter(|&i| !again(i)).map(|i| hashes[i]).collect();
        prop_assert_eq!(builder.key_count(), hashes.len() as u64);

        let lines = (hashes.len() as f64 * bits_per_key / 512.0).ceil().max(1.0) as usize;
        let k = sizing::best_k(bits_per_key);
        let expected = encode(&lines_of(lines, k, &hashes), k, seed, hashes.len() as u64);
        let mut block = vec![0xEE; expected.len() + extra];
        prop_assert_eq!(builder.finish(&mut block).unwrap(), expected.len());
        prop_assert!(block[..expected.len()] == expected);
        let view = View::open(&expected).unwrap();
        let keys: Vec<&[u8]> = keys.iter().map(|(key, _)| &key[..]).collect();
        let mut bitmap = vec![0; keys.len().div_ceil(64)];
        prop_assert_eq!(view.contains_keys(&keys, &mut bitmap), keys.len());
    }

    /// The estimates stay what they claim to be on any lines at all.
    #[test]
    fn estimates_are_in_bounds(
        bytes in prop::collection::vec(any::<u64>(), 8..80),
        k in 1u32..=16,
    ) {
        let lines: Vec<u8> =
            bytes[..bytes.len() / 8 * 8].iter().flat_map(|word| word.to_le_bytes()).collect();
        let filter = Filter::decode(&encode(&lines, k, 0, 0)).unwrap();
        let set: u32 = lines.iter().map(|byte| byte.count_ones()).sum();
        prop_assert_eq!(filter.fill(), f64::from(set) / (lines.len() as f64 * 8.0));
        prop_assert!((0.0..=1.0).contains(&filter.estimated_rate()));
        prop_assert!(filter.estimated_keys() >= 0.0 && filter.estimated_keys().is_finite());
    }

    /// The mask has the bits that the definition promises, and the index is in range.
    #[test]
    fn masks_and_indices(hash in any::<u64>(), k in 1u32..=16, line_count in 1u64..) {
        let mask = line::mask(hash, k);
        let lanes = mask.iter().filter(|&&lane| lane != 0).count() as u32;
        let bits: u32 = mask.iter().map(|lane| lane.count_ones()).sum();
        prop_assert_eq!(lanes, k.min(8));
        prop_assert!(bits == k || k > 8 && (8..k).contains(&bits));
        let index = line::line_index(hash, line_count);
        prop_assert!(index < line_count);
        prop_assert_eq!(line::line_index(hash, line_count / 2 * 2) / 2, line::line_index(hash, line_count / 2));
        prop_assert_eq!(u128::from(index), (u128::from(hash) * u128::from(line_count)) >> 64);
    }
}
