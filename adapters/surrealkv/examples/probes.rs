//! The policies beside surrealkv's own, without a store: the time of a probe and of building as a ratio to
//! surrealkv's own, memory, and the false-positive rate. A ratio is the median of rounds in which all policies
//! take turns. surrealkv's `RibbonFilter`, a blocked Bloom filter, is shown as well, and two limits of what reads
//! surrealkv's own filters: the hash alone, and the hash with as many bytes read as a present key has bits.
//!
//! cargo run --release --example probes

use bloomline_surrealkv::{BloomlineFilter, BuiltinFilter, Error};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;
use surrealkv::{FilterPolicy, Options, RibbonFilter};

type Policies = Vec<(&'static str, Arc<dyn FilterPolicy>)>;

/// Computes the hash of surrealkv's own policy, and looks at no filter.
struct HashAlone(BuiltinFilter);

impl FilterPolicy for HashAlone {
    fn name(&self) -> &str {
        "hash alone"
    }

    fn may_contain(&self, _: &[u8], key: &[u8]) -> bool {
        self.0.key_hash(key) == 0
    }

    fn create_filter(&self, _: &[Vec<u8>]) -> Vec<u8> {
        Vec::new()
    }

    fn key_hash(&self, key: &[u8]) -> u64 {
        self.0.key_hash(key)
    }

    fn create_filter_from_hashes(&self, _: &[u64]) -> Vec<u8> {
        Vec::new()
    }
}

/// Computes that hash, and reads a byte for each bit of a key, at places that cost one product each, not the two
/// of a remainder. It tests none of them.
struct HashAndBytes(BuiltinFilter);

impl FilterPolicy for HashAndBytes {
    fn name(&self) -> &str {
        "hash and bytes"
    }

    fn may_contain(&self, filter: &[u8], key: &[u8]) -> bool {
        let hash = self.0.key_hash(key) as u32;
        let (step, len) = (hash.rotate_left(15), filter.len() as u64);
        let byte = |i: u32| {
            let number = hash.wrapping_add(step.wrapping_mul(i));
            filter[((u64::from(number) * len) >> 32) as usize]
        };
        // The 7 bits of 10 bits per key.
        (0..7).fold(0, |bytes, i| bytes | byte(i)) == 0
    }

    fn create_filter(&self, keys: &[Vec<u8>]) -> Vec<u8> {
        self.0.create_filter(keys)
    }

    fn key_hash(&self, key: &[u8]) -> u64 {
        self.0.key_hash(key)
    }

    fn create_filter_from_hashes(&self, hashes: &[u64]) -> Vec<u8> {
        self.0.create_filter_from_hashes(hashes)
    }
}

const ROUNDS: usize = 1001;
/// Keys of a round.
const PART: usize = 1000;
const PARTS: usize = 40;
/// surrealkv's filters hold some 13,000 keys each.
const KEYS: usize = 13_000;

fn keys(from: usize, len: usize, count: usize) -> Vec<Vec<u8>> {
    let mixed = |number: usize| (number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let key = |number: usize| format!("{number:08x}{:016x}{:0>40}", mixed(number), number % 7);
    (from..from + count).map(|number| key(number).into_bytes()[..len].to_vec()).collect()
}

/// What each policy takes for some work, of which there are many parts, as ratios to the first, and what
/// that takes, in ns. A part is so short that other programs seldom interrupt it.
fn ratios(
    policies: &Policies,
    (parts, each): (usize, usize),
    work: impl Fn(usize, usize),
) -> (f64, Vec<f64>) {
    let mut rounds = vec![Vec::new(); policies.len()];
    let mut first = Vec::new();
    for round in 0..ROUNDS {
        let times: Vec<f64> = (0..policies.len())
            .map(|policy| {
                let start = Instant::now();
                work(policy, round % parts);
                start.elapsed().as_nanos() as f64 / each as f64
            })
            .collect();
        first.push(times[0]);
        rounds.iter_mut().zip(&times).for_each(|(all, time)| all.push(time / times[0]));
    }
    (median(first), rounds.into_iter().map(median).collect())
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

fn print(what: &str, (first, ratios): (f64, Vec<f64>)) {
    let ratios: String = ratios.iter().map(|ratio| format!("{ratio:12.2}")).collect();
    println!("{what:44} {first:7.1} {ratios}");
}

fn main() -> Result<(), Error> {
    let own = Options::default().filter_policy.expect("surrealkv's own policy");
    let policies: Policies = vec![
        ("own", own),
        ("builtin", Arc::new(BuiltinFilter::default())),
        ("plain", Arc::new(BloomlineFilter::for_rate(0.01)?)),
        ("static", Arc::new(BloomlineFilter::static_for_rate(0.01)?)),
        ("Ribbon", Arc::new(RibbonFilter::new(10))),
        ("hash, bytes", Arc::new(HashAndBytes(BuiltinFilter::default()))),
        ("hash alone", Arc::new(HashAlone(BuiltinFilter::default()))),
    ];
    let names: String = policies.iter().map(|(name, _)| format!("{name:>12}")).collect();
    println!("{:44} {:>7} {names}", "", "own, ns");

    for (count, len) in [(1, 16), (1, 24), (1, 40), (1_000, 24)] {
        let mut filters = vec![Vec::new(); policies.len()];
        for number in 0..count {
            let keys = keys(number * KEYS, len, KEYS);
            let each = filters.iter_mut().zip(&policies);
            each.for_each(|(filters, (_, policy))| filters.push(policy.create_filter(&keys)));
        }
        let absent = |i: usize| (1 << 28) + i;
        let present = |i: usize| i % KEYS;
        // In no order that a CPU could learn.
        let is_absent = |i: usize| (i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 63 == 0;
        let either = |i: usize| if is_absent(i) { absent(i) } else { present(i) };
        let all: [(&str, &dyn Fn(usize) -> usize); 3] = [
            ("absent keys", &absent),
            ("present keys", &present),
            ("half of them present", &either),
        ];
        for (what, key) in all {
            // A key of each filter in turn. The keys lie behind each other, so that they are in the cache.
            let key = |i: usize| keys(i % count * KEYS + key(i / count), len, 1).remove(0);
            let asked: Vec<u8> = (0..PARTS * PART).flat_map(key).collect();
            let work = |policy: usize, part: usize| {
                let (filters, policy) = (&filters[policy], &policies[policy].1);
                let asked = asked[part * PART * len..].chunks_exact(len).take(PART);
                let each = asked.zip((part * PART..).map(|i| &filters[i % count]));
                black_box(each.filter(|(key, filter)| policy.may_contain(filter, key)).count());
            };
            let what = format!("{what}, {len} bytes, {count} filters");
            print(&what, ratios(&policies, (PARTS, PART), work));
        }
    }

    let present = keys(0, 24, KEYS);
    let hashes: Vec<Vec<u64>> = policies
        .iter()
        .map(|(_, policy)| present.iter().map(|key| policy.key_hash(key)).collect())
        .collect();
    let hash = |policy: usize, part: usize| {
        let (keys, policy) = (&present[part * PART..][..PART], &policies[policy].1);
        black_box(keys.iter().fold(0, |sum: u64, key| sum.wrapping_add(policy.key_hash(key))));
    };
    print("hash of a key, 24 bytes", ratios(&policies, (13, PART), hash));
    let build = |policy: usize, _: usize| {
        black_box(policies[policy].1.create_filter_from_hashes(&hashes[policy]));
    };
    print("building, per key", ratios(&policies, (1, KEYS), build));

    let (count, absent) = (17_000, keys(1 << 28, 24, 1_000_000));
    for (name, policy) in policies.iter().filter(|(name, _)| !name.starts_with("hash")) {
        let filter = policy.create_filter(&keys(0, 24, count));
        let maybe = absent.iter().filter(|key| policy.may_contain(&filter, key)).count();
        let bits = 8.0 * filter.len() as f64 / count as f64;
        println!("{name:8} {bits:6.2} bits per key, false positives {:.3} %", maybe as f64 / 1e4);
    }
    Ok(())
}
