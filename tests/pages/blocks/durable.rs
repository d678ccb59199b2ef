//! The blocks of `docs/how-to/durable.md`: a journal, and a copy that patches keep up to date.

use bloomline::hash::random_seed;
use bloomline::{GrowingFilter, Journal};

#[test]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = &std::env::temp_dir().join(format!("{}.names.journal", std::process::id()));

    let mut filter = GrowingFilter::new(1_000_000, 0.01, random_seed()?)?;
    filter.insert("bob")?;
    let mut journal = Journal::create(path, &mut filter, 0)?;

    filter.insert("ann")?;
    filter.remove("bob")?;
    journal.save_changed(&mut filter, 17)?; // block 17 is on the disk: acknowledge it
    drop(journal);

    let (mut journal, mut filter) = Journal::open(path)?; // after a restart
    let next = journal.sequence() + 1;
    assert!(next == 18 && filter.contains("ann") && !filter.contains("bob"));

    let bytes = std::fs::read(path)?;
    let mut copy = GrowingFilter::replay(&bytes[..])?.filter; // once: the whole file
    filter.insert("eve")?;
    journal.save_changed(&mut filter, next)?;

    let bytes = std::fs::read(path)?;
    let patch = GrowingFilter::patch_since(&bytes, 17)?; // the publisher: what came after 17
    let sequence = copy.apply_patch(patch)?; // 18, 19, ...
    assert!(sequence == next && copy == filter);

    let own = &path.with_extension("copy");
    std::fs::write(own, &bytes)?; // once: the whole file
    filter.insert("dan")?;
    journal.save_changed(&mut filter, next + 1)?;
    let bytes = std::fs::read(path)?;
    let (mut journal, mut copy) = Journal::open(own)?; // and after each restart
    let patch = GrowingFilter::patch_since(&bytes, journal.sequence())?;
    let sequence = journal.apply_patch(&mut copy, patch)?; // on the disk
    assert!(sequence == next + 1 && copy == filter && std::fs::read(own)? == bytes);
    std::fs::remove_file(own)?;
    Ok(std::fs::remove_file(path)?)
}
