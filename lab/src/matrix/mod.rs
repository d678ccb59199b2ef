//! One key in many filters of one shape: a loop of single probes, a prepared group, a matrix, SeqAn's
//! interleaved Bloom filter, and the loop that only touches the rows that a matrix reads. All have the
//! same keys in the same memory.

#[cfg(seqan)]
pub(crate) mod bins;
mod report;
mod touch;

pub(crate) use report::{csv, picture, tables, thousands};

use crate::common::data::{chain, mix, size_name};
use crate::common::memory::{Array, Memory};
use crate::common::rounds::{Keys, Plan, Rounds, Times, median, processor_time};
use crate::speed::Effort;
use crate::watch::Watch;
use bloomline::{Backend, Filter, Group, Matrix, Params};
use std::hint::black_box;
use std::time::Duration;
use touch::Touch;

/// Bits per key.
const BITS: usize = 10;
const K: u32 = 6;

/// Keys in a call of a batch.
const BATCH: usize = 1000;

// What is timed; with DEPENDENT behind, each key is picked by the answers for the one before.
const LOOP: &str = "loop";
const GROUP: &str = "Group";
const MATRIX: &str = "Matrix";
const AVX2: &str = "Matrix, AVX2";
const BATCHES: &str = "Matrix, batches";
const SEQAN: &str = "SeqAn";
const TOUCH: &str = "touch";
const TOUCH_HINTED: &str = "touch, all prefetched";
const DEPENDENT: &str = ", dependent";

/// So many filters of so many bytes each.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Set {
    count: usize,
    bytes: usize,
}

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// Those of 4,096 and of 1,024 filters take as much memory as 512 or 128 of a MiB.
const SETS: [Set; 16] = [
    Set { count: 1, bytes: 12 * KIB },
    Set { count: 8, bytes: 12 * KIB },
    Set { count: 64, bytes: 12 * KIB },
    Set { count: 512, bytes: 12 * KIB },
    Set { count: 1024, bytes: 12 * KIB },
    Set { count: 4096, bytes: 12 * KIB },
    Set { count: 1, bytes: 187 * KIB },
    Set { count: 8, bytes: 187 * KIB },
    Set { count: 64, bytes: 187 * KIB },
    Set { count: 512, bytes: 187 * KIB },
    Set { count: 1, bytes: MIB },
    Set { count: 8, bytes: MIB },
    Set { count: 64, bytes: MIB },
    Set { count: 512, bytes: MIB },
    Set { count: 1024, bytes: 128 * KIB },
    Set { count: 4096, bytes: 128 * KIB },
];

/// What was measured of a set.
pub(crate) struct Measured {
    set: Set,
    /// Nanoseconds per key.
    times: Times,
    /// False positives: of the matrix, and of SeqAn's filter if it is beside it.
    rate: f64,
    seqan_rate: Option<f64>,
    /// Gigabytes of filters in a second: that became columns, on one thread, and that were copied.
    built: f64,
    copied: f64,
}

#[cfg(test)]
impl Measured {
    /// Of false positives, of all that are filters.
    pub(crate) fn rates(&self) -> impl Iterator<Item = f64> {
        [Some(self.rate), self.seqan_rate].into_iter().flatten()
    }
}

/// All sets of at most so many bytes.
pub(crate) fn run(effort: Effort, up_to: usize, watch: &mut Watch) -> Vec<Measured> {
    let all: &[Set] = match effort {
        Effort::Smoke => &[Set { count: 3, bytes: 8 * KIB }, Set { count: 65, bytes: 4 * KIB }],
        Effort::Quick => &SETS[..6],
        Effort::Full => &SETS,
    };
    let wanted = all.iter().filter(|set| set.count * set.bytes <= up_to);
    let name = |set: &Set| format!("matrix, {} of {}", set.count, size_name(set.bytes));
    wanted.map(|&set| watch.around(&name(&set), || measure(effort, set))).collect()
}

impl Set {
    /// In each filter.
    fn keys(self) -> usize {
        self.bytes * 8 / BITS
    }

    /// Whether SeqAn's is measured beside it, if it is installed.
    #[cfg(seqan)]
    fn is_beside_seqan(self) -> bool {
        matches!(self.count, 64 | 65 | 1024)
    }

    /// Passes on the hashes of the keys of a filter, some at a time.
    fn each_key(self, filter: usize, mut each: impl FnMut(&[u64])) {
        let mut hashes = Vec::with_capacity(1 << 12);
        let mut next = 0;
        while next < self.keys() {
            let end = self.keys().min(next + (1 << 12));
            hashes.clear();
            hashes.extend((next..end).map(|key| hash(filter, key)));
            each(&hashes);
            next = end;
        }
    }

    fn filters(self) -> Vec<Filter> {
        let params = Params::new((self.bytes / 64) as u64, K, 0).expect("it is a shape");
        let filter = |number| {
            let mut filter = Filter::new(params).expect("there is memory");
            self.each_key(number, |hashes| filter.insert_hashes(hashes));
            filter
        };
        (0..self.count).map(filter).collect()
    }

    /// Keys to ask for: half of them are in one of the filters.
    fn pool(self) -> Array<u64> {
        let key = |i: usize| {
            let random = mix(i as u64 ^ 0x5555) as usize;
            match random & 1 {
                0 => hash((random >> 1) % self.count, (random >> 32) % self.keys()),
                _ => absent(i),
            }
        };
        Array::from_fn(1 << 18, key)
    }

    /// So many of the pool that what asks each filter reads more lines than caches hold, if there are
    /// so many.
    fn fewer(self, pool: &[u64]) -> &[u64] {
        &pool[..((1 << 22) / self.count.next_power_of_two()).clamp(1 << 10, pool.len())]
    }
}

/// Key number `key` of a filter.
fn hash(filter: usize, key: usize) -> u64 {
    mix(mix(filter as u64 + 1).wrapping_add(key as u64))
}

/// A key that is in no filter.
fn absent(number: usize) -> u64 {
    hash(1 << 20, number)
}

fn measure(effort: Effort, set: Set) -> Measured {
    eprintln!("matrix: {} of {}", set.count, size_name(set.bytes));
    let (rounds, turn) = if effort == Effort::Full { (15, 4) } else { (1, 0) };
    let plan = Plan { rounds, turn: Duration::from_millis(turn), keys: Keys::Hot };
    let filters = set.filters();
    let group = Group::new(filters.iter().map(Filter::view)).expect("it is a group");
    let mut matrix = empty(&filters, Backend::active().expect("there is one"));
    let [built, copied] = built_and_copied(plan, &filters, &mut matrix);
    let avx2 = Backend::available().find(|backend| backend.name() == "avx2");
    let avx2 = avx2.filter(|&backend| Ok(backend) != Backend::active()).map(|backend| {
        let mut matrix = empty(&filters, backend);
        fill(&mut matrix, &filters);
        matrix
    });
    let touch = Touch::new(&matrix);
    let pool = set.pool();
    let fewer = set.fewer(&pool);
    let words = matrix.words();

    let by_loop = |hash: u64, answers: &mut [u64]| looped(&filters, hash, answers);
    let by_group = |hash: u64, answers: &mut [u64]| group.contains_hash(hash, answers);
    let by_matrix = |hash: u64, answers: &mut [u64]| matrix.contains_hash(hash, answers);
    for &hash in &fewer[..1000] {
        let answers = |probe: &dyn Fn(u64, &mut [u64]) -> usize| {
            let mut answers = vec![0; words];
            (probe(hash, &mut answers), answers)
        };
        let right = answers(&by_loop);
        assert_eq!(answers(&by_group), right, "the group");
        assert_eq!(answers(&by_matrix), right, "the matrix");
        if let Some(avx2) = &avx2 {
            let by_avx2 = |hash: u64, answers: &mut [u64]| avx2.contains_hash(hash, answers);
            assert_eq!(answers(&by_avx2), right, "the matrix, AVX2");
        }
    }

    let mut rows = vec![0; words * BATCH];
    #[cfg(seqan)]
    let seqan = set.is_beside_seqan().then(|| bins::Bins::of(set));
    let mut rounds = Rounds::new(plan);
    add(&mut rounds, LOOP, fewer, words, by_loop);
    add(&mut rounds, GROUP, fewer, words, by_group);
    add(&mut rounds, MATRIX, &pool, words, by_matrix);
    if let Some(avx2) = &avx2 {
        add(&mut rounds, AVX2, &pool, words, |hash, answers| avx2.contains_hash(hash, answers));
    }
    add(&mut rounds, TOUCH, &pool, words, |hash, _| touch.rows::<false>(hash));
    add(&mut rounds, TOUCH_HINTED, &pool, words, |hash, _| touch.rows::<true>(hash));
    let mut batch =
        |hashes: &[u64]| matrix.contains_hashes(hashes, &mut rows[..words * hashes.len()]);
    rounds.add(BATCHES, &pool, move |hashes| hashes.chunks(BATCH).map(&mut batch).sum());
    let rate = rate(set, |hash| matrix.count_hash(hash));
    #[cfg(not(seqan))]
    let seqan_rate = None;
    #[cfg(seqan)]
    let seqan_rate = seqan.as_ref().map(|bins| {
        rounds.add(SEQAN, &pool, |hashes| bins.singles(hashes));
        let pairs = pool.as_chunks::<2>().0;
        rounds.add(format!("{SEQAN}{DEPENDENT}"), pairs, |pairs| bins.one_by_one(pairs));
        self::rate(set, |hash| bins.count(hash))
    });
    Measured { set, times: rounds.run(), rate, seqan_rate, built, copied }
}

/// Adds probes that do not wait for each other, and such that do.
fn add<'a>(
    rounds: &mut Rounds<'a>,
    name: &str,
    pool: &'a [u64],
    words: usize,
    probe: impl Fn(u64, &mut [u64]) -> usize + Clone + 'a,
) {
    let mut answers = vec![0; words];
    let mut one = move |hash| {
        let present = probe(hash, &mut answers);
        black_box(&mut answers);
        present
    };
    let mut waiting = one.clone();
    rounds.add(name, pool, move |hashes| hashes.iter().map(|&hash| one(hash)).sum());
    let pairs = pool.as_chunks::<2>().0;
    rounds.add(format!("{name}{DEPENDENT}"), pairs, move |pairs| chain(pairs, &mut waiting));
}

/// A loop of single probes.
fn looped(filters: &[Filter], hash: u64, answers: &mut [u64]) -> usize {
    let mut present = 0;
    for (word, filters) in answers.iter_mut().zip(filters.chunks(64)) {
        let mut bits = 0;
        for (i, filter) in filters.iter().enumerate() {
            bits |= u64::from(filter.contains_hash(hash)) << i;
        }
        *word = bits;
        present += bits.count_ones() as usize;
    }
    present
}

fn empty(filters: &[Filter], backend: Backend) -> Matrix {
    Matrix::with_backend(filters[0].params(), filters.len(), backend).expect("there is memory")
}

fn fill(matrix: &mut Matrix, filters: &[Filter]) {
    matrix.set_columns(0, filters.iter().map(Filter::view), 1).expect("they fit");
}

/// How fast filters become columns, and how fast they are copied: gigabytes in a second.
fn built_and_copied(plan: Plan, filters: &[Filter], matrix: &mut Matrix) -> [f64; 2] {
    // A turn is a millisecond or more; the first is for the pages.
    let bytes = filters.len() * filters[0].params().bytes();
    let times = (4_000_000 / bytes).max(1);
    let mut copy = Memory::new(bytes);
    let (mut built, mut copied) = (Vec::new(), Vec::new());
    for _ in 0..=plan.rounds {
        let start = processor_time();
        (0..times).for_each(|_| fill(matrix, filters));
        let between = processor_time();
        for _ in 0..times {
            for (to, filter) in copy.chunks_mut(filters[0].params().bytes()).zip(filters) {
                to.copy_from_slice(filter.lines());
            }
            black_box(&mut copy);
        }
        built.push((between - start).as_secs_f64());
        copied.push((processor_time() - between).as_secs_f64());
    }
    [built, copied].map(|seconds| (bytes * times) as f64 / median(&seconds[1..]) / 1e9)
}

/// The false-positive rate of each filter, over all.
fn rate(set: Set, count: impl Fn(u64) -> usize) -> f64 {
    const PROBES: usize = 1 << 16;
    let positives: usize = (0..PROBES).map(|i| count(absent((1 << 30) + i))).sum();
    positives as f64 / (PROBES * set.count) as f64
}
