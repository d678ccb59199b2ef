//! `cargo bench --bench probe [-- FILTER]`: the library's batch calls by criterion, for
//! following a change to the code over time. Each backend and size beside its limits,
//! the loops that only touch the line. (`ratios` is fairer for comparisons: it takes
//! what it compares in turn.)
//!
//! An iteration is a batch of keys. A group is called by what is done and the size of
//! the filter, such as `insert hashes, 4 MiB`; what its filter name leaves out is not
//! even set up.

mod common;

#[cfg(all(target_arch = "x86_64", unix))]
fn main() {
    criterion_benches::main();
}

/// Criterion is a dependency for development only where the library is built natively.
#[cfg(not(all(target_arch = "x86_64", unix)))]
fn main() {
    println!("criterion is not built for this target; try `cargo bench --bench ratios`");
}

#[cfg(all(target_arch = "x86_64", unix))]
mod criterion_benches {
    use crate::common::data::{
        Lookups, Probes, SIZES, TABLES, bitmap, chain, full_bytes, full_filter, pool_len, size_name,
    };
    use crate::common::memory::Memory;
    use crate::common::rounds::{BATCH, processor_time};
    use crate::common::touch::{self, hash_and_touch, lines, lines_mut, touch_one};
    use bloomline::{Backend, View, hash, views_contain_hash};
    use criterion::measurement::WallTime;
    use criterion::{BenchmarkGroup, Criterion, Throughput};
    use std::cell::{LazyCell, RefCell};
    use std::hint::black_box;
    use std::time::Duration;

    /// The touch loops that are shown: of the others see `sweep`.
    const SHOWN: [&str; 8] = [
        touch::READ,
        touch::READ_L1_32,
        "touch, L2 128",
        "touch, L2 128 + L1 8",
        touch::WRITE,
        touch::WRITE_L1_16,
        "touch to write, L2 64",
        "touch to write, L2 64 + L1 8",
    ];

    pub(crate) fn main() {
        let mut criterion = Criterion::default()
            .warm_up_time(Duration::from_millis(300))
            .measurement_time(Duration::from_secs(1))
            .sample_size(15)
            .configure_from_args();
        for size in SIZES {
            for k in [6, 8] {
                probe_hashes(&mut criterion, size, k);
            }
            insert_hashes(&mut criterion, size);
            probe_keys(&mut criterion, size);
            lookups(&mut criterion, size);
        }
        criterion.final_summary();
    }

    fn probe_hashes(criterion: &mut Criterion, size: usize, k: u32) {
        let name = format!("probe hashes, k = {k}, {}", size_name(size));
        let mut group = group(criterion, name, pool_len(size));
        let probes = LazyCell::new(|| Probes::hashes(size));
        let encoded = LazyCell::new(|| full_bytes(size, k, &probes));
        let (mut answers, pool) = (bitmap(), || &probes.hashes[..]);
        for (name, touch) in touch::reads().into_iter().filter(|(name, _)| SHOWN.contains(name)) {
            bench(&mut group, name, pool, || {
                let (lines, answers) = (lines(&encoded[..size]), &mut answers);
                move |hashes| touch(lines, hashes, answers)
            });
        }
        for backend in Backend::available() {
            bench(&mut group, backend.name(), pool, || {
                let view = View::open_with_backend(&encoded, backend).unwrap();
                let answers = &mut answers;
                move |hashes| view.contains_hashes(hashes, answers)
            });
        }
    }

    fn insert_hashes(criterion: &mut Criterion, size: usize) {
        let name = format!("insert hashes, {}", size_name(size));
        let mut group = group(criterion, name, pool_len(size));
        let probes = LazyCell::new(|| Probes::hashes(size));
        let memory = LazyCell::new(|| RefCell::new(Memory::new(size)));
        let pool = || &probes.hashes[..];
        for (name, touch) in touch::writes().into_iter().filter(|(name, _)| SHOWN.contains(name)) {
            bench(&mut group, name, pool, || {
                let mut memory = memory.borrow_mut();
                move |hashes: &[u64]| {
                    touch(lines_mut(&mut memory), hashes);
                    0
                }
            });
        }
        drop(memory);
        for backend in Backend::available() {
            let filter = LazyCell::new(|| RefCell::new(full_filter(size, 6, &probes, backend)));
            bench(&mut group, backend.name(), pool, || {
                let mut filter = filter.borrow_mut();
                move |hashes: &[u64]| {
                    filter.insert_hashes(hashes);
                    0
                }
            });
        }
    }

    fn probe_keys(criterion: &mut Criterion, size: usize) {
        let name = format!("probe 16-byte keys, {}", size_name(size));
        let mut group = group(criterion, name, pool_len(size));
        let probes = LazyCell::new(|| Probes::keys(size));
        let encoded = LazyCell::new(|| full_bytes(size, 6, &probes));
        let (mut answers, mut hashes) = (bitmap(), [0; BATCH]);
        let pool = || &probes.keys[..];
        bench(&mut group, "hash alone", pool, || {
            let hashes = &mut hashes;
            move |keys: &[[u8; 16]]| {
                hash::hash_batch(keys, 0, &mut hashes[..keys.len()]);
                black_box(&hashes)[0] as usize
            }
        });
        bench(&mut group, "hash and touch", pool, || {
            let (lines, answers) = (lines(&encoded[..size]), &mut answers);
            move |keys: &[[u8; 16]]| hash_and_touch(lines, keys, answers)
        });
        for backend in Backend::available() {
            let view = LazyCell::new(|| View::open_with_backend(&encoded, backend).unwrap());
            let [alone, keys] =
                ["probe alone", "keys"].map(|it| format!("{}, {it}", backend.name()));
            bench(
                &mut group,
                &alone,
                || &probes.key_hashes[..],
                || {
                    let (view, answers) = (*view, &mut answers);
                    move |hashes| view.contains_hashes(hashes, answers)
                },
            );
            bench(&mut group, &keys, pool, || {
                let (view, answers) = (*view, &mut answers);
                move |keys| view.contains_keys(keys, answers)
            });
        }
    }

    /// Each key picked by the answer to the one before, as in `ratios`. Eight filters of 512 MiB
    /// are 4 GiB, and half a GiB more while they are made.
    fn lookups(criterion: &mut Criterion, size: usize) {
        let name = format!("one key x {TABLES} filters, {}", size_name(size));
        let mut group = group(criterion, name, pool_len(size) / 2);
        let lookups = LazyCell::new(|| Lookups::new(size));
        let pool = || lookups.hashes.as_chunks::<2>().0;
        bench(&mut group, "touch, one filter", pool, || {
            let lines = lines(&lookups.tables[0][..size]);
            move |pairs| chain(pairs, |hash| touch_one(lines, hash))
        });
        for backend in Backend::available() {
            let views = LazyCell::new(|| lookups.views(backend));
            bench(&mut group, &format!("{}, one filter", backend.name()), pool, || {
                let view = views[0];
                move |pairs| chain(pairs, |hash| usize::from(view.contains_hash(hash)))
            });
            bench(&mut group, &format!("{}, all", backend.name()), pool, || {
                let views = *views;
                move |pairs| {
                    let mut answers = [0];
                    chain(pairs, |hash| views_contain_hash(&views, hash, &mut answers))
                }
            });
        }
    }

    /// A group whose pool has so many keys.
    fn group(criterion: &mut Criterion, name: String, keys: usize) -> BenchmarkGroup<'_, WallTime> {
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Elements(keys.min(BATCH) as u64));
        group
    }

    /// Times what `prepare` returns on batch after batch of the pool, each just copied to its
    /// place; copying is not timed.
    fn bench<'a, T: Copy + 'a, W: FnMut(&[T]) -> usize>(
        group: &mut BenchmarkGroup<'_, WallTime>,
        name: &str,
        pool: impl Fn() -> &'a [T],
        prepare: impl FnOnce() -> W,
    ) {
        let (mut prepare, mut prepared, mut next) = (Some(prepare), None, 0);
        // Called several times, and only if the benchmark runs.
        group.bench_function(name, |bencher| {
            if let Some(prepare) = prepare.take() {
                prepared = Some((pool(), prepare()));
            }
            let (pool, work) = prepared.as_mut().expect("prepared just now");
            bencher.iter_custom(|iterations| {
                let mut total = Duration::ZERO;
                if pool.len() <= BATCH {
                    let batch = pool.to_vec();
                    let start = processor_time();
                    for _ in 0..iterations {
                        black_box(work(black_box(&batch)));
                    }
                    return processor_time() - start;
                }
                let mut batch = Vec::with_capacity(BATCH);
                for _ in 0..iterations {
                    batch.clear();
                    batch.extend_from_slice(&pool[next..next + BATCH]);
                    next = (next + BATCH) % (pool.len() - BATCH + 1);
                    let start = processor_time();
                    black_box(work(black_box(&batch)));
                    total += processor_time() - start;
                }
                total
            });
        });
    }
}
