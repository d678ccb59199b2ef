//! One key, and a few keys in a call, of the kinds that may read a second place, beside xorf's
//! `BinaryFuse8` and the crate cuckoofilter: nanoseconds per key, and times of `BinaryFuse8`. Hashes are
//! given, half of the keys are present. Medians of rounds in turn, in CPU time.
//!
//! The limit of a cuckoo filter reads a byte of each of a key's two lines, whose numbers were computed before.
//!
//! ```text
//! cargo run --release --manifest-path lab/Cargo.toml --example singles [KEYS...]
//! ```

#[path = "../../benches/common/mod.rs"]
#[allow(unused_imports)]
mod common;

use bloomline::definition::cuckoo::{fingerprint, first, other};
use bloomline::{
    Backend, CountingFilter, CuckooFilter, CuckooParams, Filter, Params, Probe, StaticFilter,
    StaticParams,
};
use common::data::{chain, mix};
use common::rounds::{median, processor_time};
use std::hash::Hasher;
use std::hint::black_box;
use xorf::Filter as _;

const ROUNDS: usize = 15;
/// More than a branch predictor learns.
const PROBES: usize = 1 << 19;
/// Probes that begin with the answer of the one before.
const WAITING: &str = "waiting";

fn main() {
    let keys: Vec<u64> = std::env::args().skip(1).filter_map(|keys| keys.parse().ok()).collect();
    let keys = if keys.is_empty() { vec![200_000, 3_400_000, 50_000_000] } else { keys };
    println!("backend: {}", Backend::active().unwrap().name());
    keys.into_iter().for_each(compare);
}

type Work<'a> = Box<dyn Fn(&[u64]) -> usize + 'a>;

/// What is timed, in turn.
#[derive(Default)]
struct All<'a>(Vec<(String, Work<'a>)>);

impl<'a> All<'a> {
    fn add(&mut self, name: String, work: impl Fn(&[u64]) -> usize + 'a) {
        self.0.push((name, Box::new(work)));
    }

    /// Probes that do not wait for each other, and such as do.
    fn singles(&mut self, name: &str, contains: impl Fn(u64) -> bool + Copy + 'a) {
        self.add(format!("{name}, independent"), move |hashes| {
            hashes.iter().map(|&hash| usize::from(contains(hash))).sum()
        });
        self.add(format!("{name}, {WAITING}"), move |hashes| {
            chain(hashes.as_chunks().0, |hash| usize::from(contains(hash)))
        });
    }

    fn filter(&mut self, name: &str, filter: &'a impl Probe) {
        self.singles(name, |hash| filter.contains_hash(hash));
        for each in [2, 4, 8, 16] {
            self.add(format!("{name}, {each} in a call"), move |hashes| {
                let call = |some: &[u64]| filter.contains_hashes(black_box(some), &mut [0_u64]);
                hashes.chunks(each).map(call).sum()
            });
        }
    }
}

fn compare(keys: u64) {
    let inserted: Vec<u64> = (0..keys).map(mix).collect();
    let probe = |i: u64| match mix(!i) {
        odd if odd % 2 == 1 => mix(odd),
        even => inserted[(even >> 1) as usize % inserted.len()],
    };
    let probes: Vec<u64> = (0..PROBES as u64).map(probe).collect();
    let of_rows = |rows| {
        let params = StaticParams::for_rows(keys, rows).unwrap();
        StaticFilter::build(params, &inserted, 0).unwrap()
    };
    let statics = [7, 8, 9, 16].map(|rows| (rows, of_rows(rows)));
    let cuckoos = [(8, 0.03), (12, 0.002)].map(|(bits, rate)| {
        let mut filter = CuckooFilter::new(CuckooParams::for_rate(keys, rate).unwrap()).unwrap();
        for &hash in &inserted {
            filter.insert_hash(hash).unwrap();
        }
        (bits, filter)
    });
    let params = Params::for_rate(keys, 0.0039).unwrap();
    let mut plain = Filter::new(params).unwrap();
    let mut counting = CountingFilter::new(params).unwrap();
    plain.insert_hashes(&inserted);
    counting.insert_hashes(&inserted);
    let fuse = xorf::BinaryFuse8::try_from(&inserted).unwrap();
    let mut theirs = cuckoofilter::CuckooFilter::<Mix>::with_capacity(inserted.len() * 20 / 19);
    inserted.iter().for_each(|hash| theirs.add(hash).expect("there is room"));

    let places = cuckoos.each_ref().map(|(_, filter)| line_pairs(filter, &probes));
    let mut all = All::default();
    all.singles("BinaryFuse8", |hash| fuse.contains(&hash));
    all.singles("cuckoofilter", |hash| theirs.contains(&hash));
    for (rows, filter) in &statics {
        all.filter(&format!("StaticFilter, {rows} rows"), filter);
    }
    for ((bits, filter), pairs) in cuckoos.iter().zip(&places) {
        all.filter(&format!("CuckooFilter, {bits} bits"), filter);
        let lines = filter.lines().as_chunks::<64>().0;
        all.add(format!("its lines, {bits} bits"), move |hashes| {
            let touched = |&[one, two]: &[u32; 2]| lines[one as usize][0] ^ lines[two as usize][0];
            pairs[..hashes.len()].iter().map(|pair| usize::from(touched(pair))).sum()
        });
    }
    all.filter("Filter", &plain);
    all.filter("CountingFilter", &counting);

    let mut times = vec![Vec::new(); all.0.len()];
    for _ in 0..ROUNDS {
        for ((name, work), times) in all.0.iter().zip(&mut times) {
            // What the cache has room for is in it, whichever filter was probed before.
            black_box(work(black_box(&probes[..PROBES / 4])));
            let start = processor_time();
            black_box(work(black_box(&probes)));
            // Of two keys that wait, one is probed.
            let keys = if name.ends_with(WAITING) { PROBES / 2 } else { PROBES };
            times.push((processor_time() - start).as_nanos() as f64 / keys as f64);
        }
    }
    println!("\n{keys} keys, ns per key, times of BinaryFuse8");
    for ((name, _), own) in all.0.iter().zip(&times) {
        let against = &times[usize::from(name.ends_with(WAITING))];
        println!("{name:34} {:7.2} {:6.2}", median(own), median(own) / median(against));
    }
}

/// The two lines that each hash may be in.
fn line_pairs(filter: &CuckooFilter, hashes: &[u64]) -> Vec<[u32; 2]> {
    let (bits, count) = (filter.params().fingerprint_bits(), filter.params().line_count());
    let pair = |&hash: &u64| {
        let here = first(hash, bits, count);
        let there = other(here, fingerprint(hash, bits), bits, count);
        [here, there].map(|bucket| bucket.line as u32)
    };
    hashes.iter().map(pair).collect()
}

/// The hash of a hash, or of a fingerprint: a few multiplications.
#[derive(Default)]
struct Mix(u64);

impl Hasher for Mix {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(u64::from(byte)));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = mix(self.0.wrapping_add(number));
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
