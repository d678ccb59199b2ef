//! Sessions that were logged out: one thread follows the log, all others ask for each request.
//!
//!     cargo run --release --example logouts [SESSIONS]      1000000 unless told
//!
//! A logout is inserted when it comes, and removed when the session would have expired anyway. Nobody
//! knows how many there will be. The threads that serve requests never wait: a session that is definitely
//! absent is good, another is looked up. It also measures inserts on two threads, and what a probe costs that
//! another thread's changes may meet.
//!
//! Exit status: not 0 if a session was good that had been logged out before the request, or too many are
//! looked up when the log has ended. Before, their number depends on the machine: a probe says "maybe" if it
//! meets a change whose thread does not run.

use bloomline::hash::hash_u64;
use bloomline::{Bitmap, Error, GrowingFilter, GrowingReader, GrowingWriter};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

const RATE: f64 = 0.01;
/// Sessions that are logged out at a time: those before have expired.
const LIVE: u64 = 8; // of so many, one
const SERVERS: u64 = 2;
/// Good sessions that ask when the log has ended.
const LATER: u64 = 20_000;

#[derive(Default)]
struct Served {
    requests: u64,
    looked_up: u64,
    wrong: u64,
}

/// Serves requests until the log ends. `logged_out` is a range of sessions: those before the start expire.
fn serve(
    reader: &GrowingReader,
    [expired, logged_out]: [&AtomicU64; 2],
    ended: &AtomicBool,
    server: u64,
) -> Served {
    let mut served = Served::default();
    for request in 0.. {
        if ended.load(Ordering::Relaxed) && request > 1000 {
            break;
        }
        // A good session, and one that was logged out before the request.
        let good = hash_u64(request, 1000 + server);
        served.looked_up += u64::from(reader.contains(&good));
        served.requests += 1;
        let end = logged_out.load(Ordering::Acquire);
        if let Some(some) = end.checked_sub(1 + request % 10) {
            let said = reader.contains(&some);
            // Unless it expired meanwhile.
            let is_out = expired.load(Ordering::Acquire) <= some;
            served.wrong += u64::from(is_out && !said);
        }
    }
    served
}

/// Follows the log: the number of sessions that expired, and of those that were logged out.
fn follow(
    writer: &mut GrowingWriter,
    [expired, logged_out]: [&AtomicU64; 2],
    sessions: u64,
) -> Result<(), Error> {
    for session in 0..sessions {
        writer.insert(&session)?;
        logged_out.store(session + 1, Ordering::Release);
        if let Some(old) = session.checked_sub(sessions / LIVE) {
            // First it counts as expired, then it is removed.
            expired.store(old + 1, Ordering::Release);
            writer.remove(&old)?;
        }
    }
    Ok(())
}

/// Nanoseconds for each item, the least of several rounds.
fn nanoseconds(items: usize, mut work: impl FnMut()) -> f64 {
    let mut least = f64::MAX;
    for _ in 0..5 {
        let start = Instant::now();
        work();
        least = least.min(start.elapsed().as_nanos() as f64 / items as f64);
    }
    least
}

fn measure(sessions: usize) -> Result<(), Error> {
    let hashes: Vec<u64> = (0..sessions as u64).map(|session| hash_u64(session, 7)).collect();
    let fill = |threads| {
        nanoseconds(sessions, || {
            let mut filter = GrowingFilter::unbounded(1000, RATE, 0).expect("memory");
            match threads {
                0 => filter.insert_hashes(&hashes),
                _ => filter.insert_hashes_parallel(&hashes, threads),
            }
            .expect("memory");
        })
    };
    println!(
        "insert: {:.0} ns, by region on one thread {:.0}, on two {:.0}",
        fill(0),
        fill(1),
        fill(2)
    );

    let mut filter = GrowingFilter::new(sessions as u64, RATE, 0)?;
    filter.insert_hashes(&hashes)?;
    let copy = filter.try_clone()?;
    let reader = GrowingWriter::new(filter)?.reader();
    let asked: Vec<u64> = (0..sessions as u64).map(|i| hash_u64(i, 8 - i % 2)).collect();
    let mut answers = Bitmap::new();
    let plain = nanoseconds(sessions, || {
        assert!(asked.iter().filter(|&&hash| copy.contains_hash(hash)).count() >= sessions / 2);
    });
    let shared = nanoseconds(sessions, || {
        assert!(asked.iter().filter(|&&hash| reader.contains_hash(hash)).count() >= sessions / 2);
    });
    println!("probe: {plain:.1} ns; of a reader {shared:.1}: {:.2} of it", shared / plain);
    let plain = nanoseconds(sessions, || _ = copy.contains_hashes(&asked, &mut answers));
    let shared = nanoseconds(sessions, || _ = reader.contains_hashes(&asked, &mut answers));
    println!("in a batch: {plain:.1} ns; of a reader {shared:.1}: {:.2} of it", shared / plain);
    Ok(())
}

fn run(sessions: u64) -> Result<bool, Error> {
    let mut writer = GrowingWriter::new(GrowingFilter::unbounded(1000, RATE, 0)?)?;
    let (expired, logged_out) = (AtomicU64::new(0), AtomicU64::new(0));
    let (ended, start) = (AtomicBool::new(false), Instant::now());
    let both = [&expired, &logged_out];
    let mut all = Served::default();
    thread::scope(|scope| {
        let servers: Vec<_> = (0..SERVERS)
            .map(|server| {
                let (reader, ended) = (writer.reader(), &ended);
                scope.spawn(move || serve(&reader, both, ended, server))
            })
            .collect();
        let result = follow(&mut writer, both, sessions);
        ended.store(true, Ordering::Relaxed);
        for server in servers {
            let served = server.join().expect("a server");
            all.requests += served.requests;
            all.looked_up += served.looked_up;
            all.wrong += served.wrong;
        }
        result
    })?;
    println!(
        "{sessions} logouts in {:.2} s, {} kept in {} KB; {} requests, {:.2} % looked up, {} wrong",
        start.elapsed().as_secs_f64(),
        writer.filter().key_count(),
        writer.filter().memory_usage() / 1024,
        all.requests,
        100.0 * all.looked_up as f64 / all.requests as f64,
        all.wrong,
    );
    let reader = writer.reader();
    let looked_up = (0..LATER).filter(|&good| reader.contains(&hash_u64(good, 999))).count();
    let rate = looked_up as f64 / LATER as f64;
    println!("after the log: {:.2} % looked up", 100.0 * rate);
    measure(sessions as usize)?;
    Ok(all.wrong == 0 && rate < 2.0 * RATE)
}

fn main() -> ExitCode {
    let sessions = std::env::args().nth(1).map_or(Ok(1_000_000), |given| given.parse());
    match sessions {
        Ok(sessions @ 1000..) => match run(sessions) {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => ExitCode::FAILURE,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        },
        _ => {
            eprintln!("usage: logouts [SESSIONS], at least 1000");
            ExitCode::FAILURE
        }
    }
}
