//! The memory of large filters: huge pages where they waste little, nothing beyond what a filter
//! says where they would, and none at all where the environment says so.
#![cfg(target_os = "linux")]

use bloomline::{Filter, GrowingFilter, Params};
use std::alloc::{GlobalAlloc, Layout, System};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The system's allocator, and the largest size that was asked of it.
struct Watched;

static LARGEST: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Watched = Watched;

#[allow(unsafe_code)]
// SAFETY: passes everything on.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's contract is that of the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, bytes: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(bytes, layout) }
    }
}

/// A filter all of whose bytes have been written to.
fn touched(bytes: usize) -> Filter {
    let mut filter = Filter::new(Params::new(bytes as u64 / 64, 6, 0).unwrap()).unwrap();
    filter.clear();
    filter
}

/// The bytes of memory that this process occupies.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<usize>().unwrap() * 1024
}

const MIB: usize = 1 << 20;

/// One test at a time measures the process.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn filters_take_what_they_say() {
    let _alone = alone();
    let modes = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled");
    println!("huge pages: {}", modes.unwrap_or_else(|_| "none".into()).trim());
    // Just above one huge page, just above two, and so much that whole pages waste a tenth.
    for bytes in [2 * MIB + 64, 4 * MIB + 64, 18 * MIB + 64] {
        let before = resident();
        let count = 256 * MIB / bytes;
        let filters: Vec<Filter> = (0..count).map(|_| touched(bytes)).collect();
        let taken = resident() - before;
        let said: usize = filters.iter().map(|filter| filter.lines().len()).sum();
        let ratio = taken as f64 / said as f64;
        println!("{count} filters of {bytes} bytes take {ratio:.3} of them");
        assert!(ratio < 1.15, "{count} filters of {bytes} bytes take {taken}");
    }
}

fn hash(i: u64) -> u64 {
    bloomline::hash::hash_u64(i, 0)
}

/// The lines of a large one are cut out of huge pages, and move: what is free between them counts, too.
#[test]
fn growing_filters_take_what_they_say() {
    let _alone = alone();
    // 40 bits per key: 14 MiB.
    let keys = 3_000_000;
    let before = resident();
    let hashes: Vec<u64> = (0..keys).map(hash).collect();
    let mut filter = GrowingFilter::build(keys, 1e-11, 0, &hashes).unwrap();
    drop(hashes);
    let check = |filter: &GrowingFilter| {
        let (taken, said) = (resident().saturating_sub(before), filter.memory_usage());
        println!("{} keys: {taken} bytes, it says {said}", filter.key_count());
        assert!(taken < said + said / 8 + 6 * MIB, "{taken} bytes, it says {said}");
        said
    };
    let most = check(&filter);
    assert!(most > 13 * MIB && most < 16 * MIB);
    // Many regions move, and then their lines become few.
    let more = keys + keys / 16;
    (keys..more).for_each(|i| assert_eq!(filter.insert_hash(hash(i)), Ok(true)));
    assert!(check(&filter) < most + most / 6);
    assert!((0..more).all(|i| filter.contains_hash(hash(i))));
    if std::env::var_os("BLOOMLINE_FEWER_CASES").is_some() {
        return;
    }
    let left = keys / 4;
    (left..more).for_each(|i| filter.remove_hash(hash(i)).unwrap());
    let least = check(&filter);
    assert!(least < most / 2, "{least} of {most} bytes");
    assert!((0..left).all(|i| filter.contains_hash(hash(i))));
}

/// Run by the test below, each time in a process of its own.
#[test]
#[ignore = "run by another test"]
fn one_large_filter() {
    let filter = touched(4 * MIB);
    let from_allocator = LARGEST.load(Ordering::Relaxed) >= filter.lines().len();
    println!("from the allocator: {from_allocator}");
}

/// This program once more. One of another CPU is run by the script that runs this one.
fn this_program() -> Command {
    let program = std::env::current_exe().unwrap();
    let Some(target) = std::env::var_os("BLOOMLINE_CROSS_TARGET") else {
        return Command::new(program);
    };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/cross-test.sh");
    let mut command = Command::new(script);
    command.arg("--run").arg(target).arg(program);
    command
}

#[test]
fn the_environment_turns_them_off() {
    for (value, from_allocator) in
        [(None, false), (Some("1"), false), (Some(""), false), (Some("0"), true)]
    {
        let mut process = this_program();
        process.args(["--exact", "one_large_filter", "--ignored", "--nocapture"]);
        process.env_remove("BLOOMLINE_HUGE_PAGES");
        process.envs(value.map(|value| ("BLOOMLINE_HUGE_PAGES", value)));
        let output = process.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(
            text.contains(&format!("from the allocator: {from_allocator}")),
            "{value:?}: {text}"
        );
    }
}
