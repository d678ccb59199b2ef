//! A service that knows after a restart, or a crash, what it knew before.
//!
//!     cargo run --release --example durable [BLOCKS]      2000 unless told
//!
//! Blocks of entries arrive, each with a number: of a chain's state, of a log. The filter answers which
//! entries may exist, so that most look-ups of absent ones need no disk. After each block its changes are
//! appended to a journal, with the block's number. Now and then the service crashes: the journal then ends
//! in half a record. It starts again, reads the number of the last block that is saved, and goes on with
//! the next. A second server is kept up to date by the same records, as patches.
//!
//! Exit status: not 0 if an entry is lost, or too many absent ones are "maybe".

use bloomline::hash::{hash_u64, random_seed};
use bloomline::{GrowingFilter, Journal};
use std::io::Write;
use std::process::ExitCode;
use std::time::Instant;

const RATE: f64 = 0.01;
const ENTRIES: u64 = 300; // new ones in a block
const DELETED: u64 = 100; // of the entries of a block, ten blocks later

fn entry(block: u64, i: u64) -> u64 {
    hash_u64(block * ENTRIES + i, 7)
}

/// What a block does to the entries.
fn apply(filter: &mut GrowingFilter, block: u64) -> Result<(), bloomline::Error> {
    for i in 0..ENTRIES {
        filter.insert(&entry(block, i))?;
    }
    for i in 0..if block > 10 { DELETED } else { 0 } {
        filter.remove(&entry(block - 10, i))?;
    }
    Ok(())
}

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let blocks: u64 = std::env::args().nth(1).map_or(Ok(2000), |blocks| blocks.parse())?.max(20);
    let path = std::env::temp_dir().join(format!("durable.{}", std::process::id()));

    // Nobody knows how many entries there will be; whoever makes them may choose them.
    let mut filter = GrowingFilter::unbounded(1000, RATE, random_seed()?)?;
    let mut journal = Journal::create(&path, &mut filter, 0)?;
    let mut other = GrowingFilter::replay(&std::fs::read(&path)?[..])?.filter;
    let (mut crashes, mut written, mut patched, start) = (0, 0, 0, Instant::now());
    let mut block = 0;
    while block < blocks {
        block += 1;
        apply(&mut filter, block)?;
        let before = journal.file_len();
        journal.save_changed(&mut filter, block)?;
        written += journal.file_len() - before;
        // The block is acknowledged: from here on it may not be lost.

        if block % 500 == 499 {
            // A crash: what is in memory is gone, and the next record was half written.
            drop(journal);
            std::fs::File::options().append(true).open(&path)?.write_all(b"BLMJRNL\n half")?;
            (journal, filter) = Journal::open(&path)?;
            block = journal.sequence();
            crashes += 1;
        }
        if block % 100 == 0 {
            // What the other server lacks.
            let bytes = std::fs::read(&path)?;
            let known = other.saved_sequence().unwrap_or(0);
            let patch = GrowingFilter::patch_since(&bytes, known)?;
            patched += patch.len();
            other.apply_patch(patch)?;
        }
        // A journal that is as long as the filter four times over is begun anew. The other server
        // has all of it by now.
        if block % 100 == 0 && journal.file_len() > 5 * filter.encoded_len() as u64 {
            journal.restart(&mut filter, block)?;
            other = GrowingFilter::replay(&std::fs::read(&path)?[..])?.filter;
        }
    }
    let time = start.elapsed();
    std::fs::remove_file(&path)?;

    let known = other.saved_sequence().unwrap_or(0);
    let kept = |block: u64, last: u64| if block + 10 <= last { DELETED } else { 0 }..ENTRIES;
    let lost = |filter: &GrowingFilter, last: u64| {
        let entries = (1..=last).flat_map(|b| kept(b, last).map(move |i| entry(b, i)));
        entries.filter(|entry| !filter.contains(entry)).count()
    };
    let wrong = (0..100_000).filter(|&i| filter.contains(&entry(blocks + 1 + i, 0))).count();
    println!(
        "{blocks} blocks, {} entries, {crashes} crashes, {:.0} us per block with the flush to the disk\n\
         {} bytes per block in the journal, {} in patches; the filter has {}\n\
         {} lost, {} on the other server (at block {known}); {:.2} % of absent entries are \"maybe\"",
        filter.key_count(),
        time.as_secs_f64() * 1e6 / blocks as f64,
        written / blocks,
        patched as u64 / blocks,
        filter.encoded_len(),
        lost(&filter, blocks),
        lost(&other, known),
        wrong as f64 / 1000.0,
    );
    let fine = lost(&filter, blocks) + lost(&other, known) == 0 && wrong < 1500;
    Ok(if fine { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
