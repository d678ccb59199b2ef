//! How long the policies' filters take for a lookup, beside SlateDB's own, and what memory they take:
//! the time of each as a part of SlateDB's, from the same queries in turns, median of 15 rounds.
//!
//! cargo run --release --example speed [LARGEST FILTER IN MIB]
//!
//! "absent" asks for keys that the filter lacks, as lookups mostly do, "present" for its own. "alone" makes
//! each lookup wait for the answer before it. "hash alone" makes the query and computes SlateDB's hash of its key: no
//! filter in SlateDB's bytes takes less.

use bloomline::hash::hash_u64;
use bloomline_slatedb::{BloomFilterPolicy, BloomlinePolicy};
use siphasher::sip::SipHasher13;
use slatedb::bytes::{BufMut, Bytes};
use slatedb::{Filter, FilterPolicy, FilterQuery, FilterTarget, RowEntry, ValueDeletable};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

const KEY: usize = 16;
const ROUNDS: usize = 15;
const BITS_PER_KEY: u32 = 10;

/// Looks at no bits.
struct HashAlone;

impl Filter for HashAlone {
    fn might_match(&self, query: &FilterQuery) -> bool {
        match &query.target {
            FilterTarget::Point(key) => SipHasher13::new().hash(key) == 0,
            _ => true,
        }
    }

    fn encode(&self, _: &mut dyn BufMut) {}

    fn size(&self) -> usize {
        0
    }

    fn clamp_allocated_size(&self) -> Arc<dyn Filter> {
        Arc::new(HashAlone)
    }
}

/// Keys of 16 bytes, side by side.
fn keys(first: u64, count: usize) -> &'static [u8] {
    let of = |i: u64| [hash_u64(i, 1), hash_u64(i, 2)].map(u64::to_be_bytes).concat();
    (first..first + count as u64).flat_map(of).collect::<Vec<u8>>().leak()
}

fn filter(policy: &dyn FilterPolicy, keys: &'static [u8]) -> Arc<dyn Filter> {
    let mut builder = policy.builder();
    for key in keys.chunks(KEY) {
        let (key, value) = (Bytes::from_static(key), ValueDeletable::Value(Bytes::new()));
        builder.add_entry(&RowEntry { key, value, seq: 0, create_ts: None, expire_ts: None });
    }
    let mut bytes = Vec::new();
    builder.build().encode(&mut bytes);
    policy.decode(&bytes)
}

/// Nanoseconds for a lookup.
fn time(filter: &dyn Filter, keys: &'static [u8], alone: bool) -> f64 {
    let (start, count) = (Instant::now(), keys.len() / KEY);
    let mut found = 0;
    for i in 0..count {
        // It depends on the answers before, yet they are never so many.
        let i = if alone { i + (found >> 40) } else { i };
        let key = Bytes::from_static(&keys[i * KEY..][..KEY]);
        found += usize::from(filter.might_match(&FilterQuery::point(key)));
    }
    black_box(found);
    start.elapsed().as_nanos() as f64 / count as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() -> Result<(), bloomline::Error> {
    let largest: usize = std::env::args().nth(1).map_or(64, |mib| mib.parse().expect("a number"));
    let policies: [(&str, Arc<dyn FilterPolicy>); 4] = [
        ("SlateDB's", Arc::new(slatedb::BloomFilterPolicy::new(BITS_PER_KEY))),
        ("the same bytes", Arc::new(BloomFilterPolicy::new(BITS_PER_KEY))),
        ("plain", Arc::new(BloomlinePolicy::plain(0.0085)?)),
        ("static", Arc::new(BloomlinePolicy::of_static(0.0085)?)),
    ];
    for kib in [16, 256, 4096, 65_536].into_iter().filter(|&kib| kib <= largest << 10) {
        let count = kib * 1024 * 8 / BITS_PER_KEY as usize;
        let stored = keys(0, count);
        let mut filters: Vec<_> =
            policies.iter().map(|(_, policy)| filter(&**policy, stored)).collect();
        filters.push(Arc::new(HashAlone));
        println!("\nfilters of {kib} KiB, {count} keys     ns, part of SlateDB's time");
        print!("{:16} {:>8}", "", "memory");
        let cases = [("absent", false, false), ("present", true, false)];
        let cases =
            cases.into_iter().chain([("absent alone", false, true), ("present alone", true, true)]);
        let cases: Vec<_> = cases.collect();
        cases.iter().for_each(|(name, ..)| print!("{name:>20}"));
        let asked = (count / 2).clamp(20_000, 1 << 20);
        let absent = keys(1 << 40, asked);
        let present = keys(0, asked.min(count));
        let mut columns = Vec::new();
        for &(_, is_present, alone) in &cases {
            let keys = if is_present { present } else { absent };
            let round = |_| filters.iter().map(|f| time(&**f, keys, alone)).collect::<Vec<f64>>();
            columns.push((0..ROUNDS).map(round).collect::<Vec<_>>());
        }
        println!();
        let names = policies.iter().map(|(name, _)| *name).chain(["hash alone"]);
        for (number, name) in names.enumerate() {
            let memory = filters[number].size() as f64 / filters[0].size() as f64;
            print!("{name:16} {memory:>8.2}");
            for rounds in &columns {
                let ns = median(rounds.iter().map(|times| times[number]).collect());
                let part = median(rounds.iter().map(|times| times[number] / times[0]).collect());
                print!("{:>20}", format!("{ns:.1}, {part:.2}"));
            }
            println!();
        }
    }
    Ok(())
}
