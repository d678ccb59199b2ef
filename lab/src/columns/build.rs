//! Building the filter of a Parquet column: from values to its bits, beside the crate `parquet`.

use super::BITS;
use crate::common::memory::Memory;
use crate::common::rounds::{BATCH, processor_time};
use crate::contender::Size;
use crate::crates::sbbf_bytes;
use crate::measure::part_of_keys;
use crate::speed::Effort;
use bloomline::View;
use bloomline::engines::parquet as ours;
use parquet::bloom_filter::Sbbf;
use std::time::Duration;

/// What was measured: nanoseconds per value, one for each round.
pub(crate) struct Built {
    pub(super) values: usize,
    pub(super) ours: Vec<f64>,
    pub(super) theirs: Vec<f64>,
}

/// Hashes and inserts of a column, by this library and by the crate, in turn.
pub(crate) fn build(effort: Effort) -> Built {
    let (values, rounds) = match effort {
        Effort::Smoke => (100_000, 1),
        Effort::Quick => (1_000_000, 3),
        Effort::Full => (10_000_000, 15),
    };
    let column = part_of_keys(values as u64, 0, 1);
    let mut bits = Memory::new(sbbf_bytes(values as u64, Size::Bits(BITS)));
    let mut built = Built { values, ours: Vec::new(), theirs: Vec::new() };
    let ns = |time: Duration| time.as_nanos() as f64 / values as f64;
    // The first is to warm up.
    for round in 0..=rounds {
        bits.fill(0);
        let mut theirs = Sbbf::new(&bits);
        let start = processor_time();
        let mut hashes = vec![0; BATCH];
        for values in column.chunks(BATCH) {
            let hashes = &mut hashes[..values.len()];
            ours::hash_batch(values, hashes);
            ours::insert_hashes(&mut bits, hashes).expect("whole blocks");
        }
        let our_time = processor_time() - start;
        let start = processor_time();
        column.iter().for_each(|value| theirs.insert(&value.cast_signed()));
        let their_time = processor_time() - start;
        if round == 0 {
            assert_equal(&bits, &theirs);
        } else {
            built.ours.push(ns(our_time));
            built.theirs.push(ns(their_time));
        }
    }
    built
}

/// Both have the same bits.
fn assert_equal(bits: &[u8], theirs: &Sbbf) {
    let mut written = Vec::new();
    theirs.write_bitset(&mut written).expect("memory");
    assert!(View::open_parquet_bits(&written).is_ok() && bits == written, "other bits");
}
