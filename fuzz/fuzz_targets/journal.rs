//! Any bytes as a journal: what is read, or rejected and why, is what the plain definition says. Records
//! are repaired, as the checksums would stop bytes from nowhere.
#![no_main]

#[allow(dead_code, reason = "tests use all of it")]
#[path = "../../tests/definition/mod.rs"]
mod definition;
#[allow(dead_code, reason = "tests use all of it")]
#[path = "../../tests/all/kinds/growing_bytes.rs"]
mod growing_bytes;
#[allow(dead_code, reason = "tests use all of it")]
#[path = "../../tests/all/kinds/growing_model.rs"]
mod growing_model;
#[allow(dead_code, reason = "tests use all of it")]
#[path = "../../tests/all/kinds/journal_bytes.rs"]
mod journal_bytes;

use bloomline::{Error, GrowingFilter};
use definition::*;
use growing_model::*;
use journal_bytes::*;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    attempt(data);
    // A whole filter, then the data as contents of changes and as what follows.
    let mut model = Growing::new(100, 0.02, 0);
    (1..40_u64).for_each(|i| _ = model.insert(i.wrapping_mul(0x9E37_79B9_7F4A_7C15), 0));
    let mut journal = JournalWriter::default();
    journal.whole(1, &model.encode());
    let first = journal.bytes.len();
    attempt(&[&journal.bytes, data].concat());
    let Some((&choice, rest)) = data.split_first() else { return };
    let content = &rest[..rest.len() / 8 * 8];
    journal.changes(2, &model, [vec![], vec![]]);
    let mut record = journal.bytes[first..first + 64].to_vec();
    for (field, value) in
        [(of_record::LEN, content.len() as u64), (of_record::CONTENT_CHECKSUM, hash(content, 0))]
    {
        set_of_record(&mut record, field, value);
    }
    let whole = &journal.bytes[..first];
    attempt(&[whole, &record, content].concat());
    // The same with few prefixes, as many as there is room for.
    if content.len() >= 32 {
        let mut content = content.to_vec();
        content[8..16].copy_from_slice(&u64::from(choice % 16).to_le_bytes());
        content[16..24].copy_from_slice(&u64::from(choice / 16).to_le_bytes());
        set_of_record(&mut record, of_record::CONTENT_CHECKSUM, hash(&content, 0));
        attempt(&[whole, &record, &content].concat());
    }
    // What the lists of prefixes in the data make of it, and that again altered or cut.
    let mut prefixes =
        rest.chunks_exact(2).map(|two| u64::from(two[0]) << 4 | u64::from(two[1] & 15));
    let mut some = || prefixes.by_ref().take(usize::from(choice)).collect::<Vec<u64>>();
    let lists = [some(), some()];
    let mut journal = JournalWriter { bytes: whole.to_vec(), ..journal };
    journal.last = journal.origin;
    journal.changes(2, &model, lists);
    attempt(&journal.bytes);
    let at = first + usize::from(choice) * 7 % (journal.bytes.len() - first);
    attempt(&journal.bytes[..at]);
    journal.bytes[at] ^= choice | 1;
    attempt(&journal.bytes);
});

fn attempt(bytes: &[u8]) {
    let bytes = &bytes.to_vec().into_boxed_slice()[..];
    let replayed = GrowingFilter::replay(bytes);
    let _ = GrowingFilter::patch_since(bytes, 1);
    let read = match read_journal(bytes) {
        Ok(read) => read,
        Err(status) => return assert_eq!(status_of_result(&replayed), status),
    };
    let replayed = replayed.unwrap();
    let stands = (replayed.sequence, replayed.len, replayed.is_torn);
    assert_eq!(stands, (read.sequence, read.len, read.is_torn));
    // The same by patches.
    if !read.is_torn {
        let mut copy = GrowingFilter::new(1, 0.5, 0).unwrap();
        match copy.apply_patch(bytes) {
            Ok(sequence) => assert!(sequence == read.sequence && copy == replayed.filter),
            // A whole filter of another seed.
            Err(error) => assert_eq!(error, Error::Mismatch),
        }
    }
    let mut model = Growing::open(&read.whole);
    if model.longer.is_some() {
        return;
    }
    for (key_count, [inserted, removed]) in read.changes {
        inserted.iter().for_each(|&prefix| *model.counts.entry(prefix).or_default() += 1);
        for prefix in removed {
            if let Some(count) = model.counts.get_mut(&prefix) {
                *count -= 1;
                model.counts.retain(|_, count| *count > 0);
            }
        }
        model.key_count = key_count;
    }
    assert!(replayed.filter.to_bytes().unwrap() == model.encode());
}
