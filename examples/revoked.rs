//! Which certificates are revoked: exact for every certificate that was issued, in a list that is
//! small enough to send to every client.
//!
//!     cargo run --release --example revoked [CERTIFICATES]      2000000 unless told
//!
//! One certificate in a hundred is revoked. Who issues them knows all serial numbers, so a cascade
//! of both sets answers without an error. A Bloom filter needs an exact table beside it, of the
//! valid certificates that it reports as revoked: the program takes the rate at which both together
//! are smallest. A client opens the file where it is, and asks for one serial or for many.
//!
//! Exit status: not 0 if an answer is wrong, or the cascade is not the smaller of the two.

use bloomline::hash::hash_u64;
use bloomline::{Bitmap, CascadeBuilder, CascadeView, Error, Filter, Params};
use std::process::ExitCode;
use std::time::Instant;

/// One certificate in so many is revoked.
const REVOKED: u64 = 100;

/// The serial number of a certificate: 16 bytes, as random as certificate authorities make them.
fn serial(certificate: u64) -> [u8; 16] {
    let [high, low] = [hash_u64(certificate, 1), hash_u64(certificate, 2)];
    (u128::from(high) << 64 | u128::from(low)).to_be_bytes()
}

fn is_revoked(certificate: u64) -> bool {
    hash_u64(certificate, 3).is_multiple_of(REVOKED)
}

/// The bytes of a Bloom filter of the revoked serials and of a table of its false positives, each of
/// 8 bytes: the smallest of some rates.
fn filter_and_table(revoked: &[u64], certificates: u64) -> Result<(f64, usize, usize), Error> {
    let mut least: Option<(f64, usize, usize)> = None;
    for power in 4..=20 {
        let rate = 1.0 / f64::from(1 << power);
        let mut filter = Filter::new(Params::for_rate(revoked.len() as u64, rate)?)?;
        for &i in revoked {
            filter.insert(&serial(i));
        }
        let valid = (0..certificates).filter(|&i| !is_revoked(i));
        let wrong = valid.filter(|&i| filter.contains(&serial(i))).count();
        let (filter, table) = (filter.encoded_len(), 8 * wrong);
        if least.is_none_or(|(_, least, other)| filter + table < least + other) {
            least = Some((rate, filter, table));
        }
    }
    Ok(least.unwrap_or_default())
}

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let certificates: u64 =
        std::env::args().nth(1).map_or(Ok(2_000_000), |number| number.parse())?.max(1000);

    // Who issues the certificates builds the list, and publishes it.
    let start = Instant::now();
    let mut builder = CascadeBuilder::new(0);
    for i in 0..certificates {
        if is_revoked(i) { builder.include(&serial(i))? } else { builder.exclude(&serial(i))? }
    }
    let cascade = builder.build(0)?;
    let file = cascade.to_bytes()?;
    let built = start.elapsed();

    let revoked: Vec<u64> = (0..certificates).filter(|&i| is_revoked(i)).collect();
    let n = revoked.len() as f64;
    println!("issued    {certificates} certificates, {n} revoked");
    println!("built     {} layers in {:.2} s", cascade.layers().len(), built.as_secs_f64());
    let in_keys = |bytes: usize| bytes as f64 * 8.0 / n;
    println!("cascade   {} bytes, {:.2} bits per revoked one", file.len(), in_keys(file.len()));
    let (rate, filter, table) = filter_and_table(&revoked, certificates)?;
    let percent = 100.0 * rate;
    println!(
        "Bloom     {} bytes, {:.2} bits: a filter of {filter} at {percent:.3} %, a table of {table}",
        filter + table,
        in_keys(filter + table)
    );
    println!("serials   {} bytes, a list of the revoked ones", 16 * revoked.len());
    // The least bits that can tell which n of all are revoked, for each of them.
    let part = n / certificates as f64;
    let bound = -part.log2() - (1.0 - part) / part * (1.0 - part).log2();
    println!("bound     {} bytes, {bound:.2} bits", (bound * n / 8.0) as u64);

    // A client has the file, and asks for the certificates it meets.
    let list = CascadeView::open(&file[..])?;
    let mut wrong = 0;
    let start = Instant::now();
    for first in (0..certificates).step_by(1000) {
        let met: Vec<u64> = (first..certificates.min(first + 1000)).collect();
        let serials: Vec<[u8; 16]> = met.iter().map(|&i| serial(i)).collect();
        let mut answers = Bitmap::new();
        list.contains_keys(&serials, &mut answers);
        wrong += met.iter().enumerate().filter(|&(at, &i)| answers[at] != is_revoked(i)).count();
    }
    let ns = start.elapsed().as_nanos() as f64 / certificates as f64;
    println!("asked     for all, {ns:.0} ns each with making the serials; {wrong} wrong answers");
    let alone = (0..certificates).step_by(997);
    wrong += alone.filter(|&i| list.contains(&serial(i)) != is_revoked(i)).count();

    // Serials that nobody issued, which a client should not meet.
    let unknown = certificates..certificates + 100_000;
    let taken = unknown.filter(|&i| list.contains(&serial(i))).count() as f64 / 100_000.0;
    let expected = cascade.unknown_rate();
    println!(
        "unknown   {:.2} % of serials nobody issued are reported as revoked; {:.2} % expected",
        100.0 * taken,
        100.0 * expected
    );
    let off = (taken - expected).abs() / (expected / 100_000.0).sqrt();
    let good = wrong == 0 && off < 6.0 && file.len() < filter + table;
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
