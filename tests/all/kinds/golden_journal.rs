//! The golden journals, in `golden/journal/`: they are what the definition makes, byte for byte, and are
//! read, or rejected with their status. `BLESS=1 cargo test --test all golden_journal` writes them anew.

use crate::committed;
use crate::definition::*;
use crate::kinds::growing_model::*;
use crate::kinds::journal_bytes::*;
use crate::kinds::journal_rule::table;
use bloomline::GrowingFilter;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Of each journal its name and bytes.
fn journals() -> Vec<(&'static str, Vec<u8>)> {
    let keys = random_hashes(700, 21);
    let mut model = Growing::new(600, 0.05, 3);
    let mut journal = JournalWriter::default();
    let mut starts = vec![0];
    journal.whole(100, &model.encode());
    let prefix = |model: &Growing, hash: u64| model.normal(hash, 0);
    let mut all = vec![("none", journal.bytes.clone())];
    let few = &keys[..300];
    for (sequence, inserted, removed) in [
        (101, &few[..1], &[][..]),
        (102, &few[1..200], &few[..1]),
        (107, &[], &[]),
        (108, &few[200..], &few[1..90]),
        // A key many times.
        (u64::MAX - 1, &[few[250]; 30], &[]),
    ] {
        starts.push(journal.bytes.len());
        inserted.iter().for_each(|&hash| _ = model.insert(hash, 0));
        removed.iter().for_each(|&hash| assert!(model.remove(hash)));
        let lists =
            [inserted, removed].map(|list| list.iter().map(|&h| prefix(&model, h)).collect());
        journal.changes(sequence, &model, lists);
    }
    let bytes = journal.bytes.clone();
    all.push(("changes", bytes.clone()));
    let part = |i: usize| &bytes[starts[i]..starts.get(i + 1).copied().unwrap_or(bytes.len())];
    let of = |order: &[usize]| order.iter().flat_map(|&i| part(i).to_vec()).collect::<Vec<u8>>();
    all.push(("repeated", of(&[0, 1, 2, 1, 2, 3, 0])));
    all.push(("torn-header", bytes[..starts[2] + 63].to_vec()));
    all.push(("torn-content", bytes[..bytes.len() - 1].to_vec()));
    all.push(("torn-zeros", [&bytes[..starts[5] + 64], &[0; 200][..]].concat()));
    all.push(("torn-garbage", [&bytes[..starts[3]], &[0xA5; 300][..]].concat()));
    all.push(("gap", of(&[0, 1, 3])));
    all.push(("starts-with-changes", of(&[1, 2])));
    all.push(("empty", vec![]));
    all.push(("torn-first", bytes[..starts[1] - 1].to_vec()));
    all.push(("a-filter", model.encode()));
    let altered = |at: usize| {
        let mut bytes = bytes.clone();
        bytes[at] ^= 4;
        bytes
    };
    all.push(("damaged-last", altered(bytes.len() - 9)));
    all.push(("damaged-content", altered(starts[3] - 9)));
    all.push(("damaged-header", altered(starts[2] + 20)));
    all.push(("damaged-magic", altered(starts[4])));
    all.push(("damaged-first", altered(100)));
    let with = |start: usize, field: std::ops::Range<usize>, value: u64| {
        let mut bytes = bytes.clone();
        set_of_record(&mut bytes[start..], field, value);
        bytes
    };
    use of_record::*;
    all.push(("version-2", with(starts[5], VERSION, 2)));
    all.push(("kind-3", with(starts[5], KIND, 3)));
    all.push(("zero", with(starts[5], ZERO, 1)));
    all.push(("other-base", with(starts[5], BASE, 1)));
    all.push(("other-origin", with(starts[5], ORIGIN, 1)));
    all.push(("backwards", with(starts[5], SEQUENCE, 105)));
    all.push(("same-sequence", with(starts[5], SEQUENCE, 108)));
    // Contents that are wrong, though their checksum is right.
    let content = |change: fn(&mut Vec<u8>)| {
        let mut bytes = bytes.clone();
        let mut record = bytes.split_off(starts[5]);
        let mut content = record.split_off(64);
        change(&mut content);
        set_of_record(&mut record, LEN, content.len() as u64);
        set_of_record(&mut record, CONTENT_CHECKSUM, hash(&content, 0));
        [bytes, record, content].concat()
    };
    all.push(("no-numbers", content(|content| content.truncate(16))));
    all.push(("more-than-there-are", content(|content| content[8] += 40)));
    all.push(("fewer-than-there-are", content(|content| content[8] -= 30)));
    all.push(("count-of-many", content(|content| content[15] = 0x80)));
    all.push(("zeros-behind", content(|content| content.extend([0; 8]))));
    all.push(("prefix-too-high", content(|content| content[24..30].fill(0))));
    // Another whole filter, then one of several lengths.
    let mut other = JournalWriter { ..journal.clone() };
    let mut mixed = Growing::unbounded(100, 0.01, 1);
    mixed.lengths = [1; 16];
    keys[..150].iter().for_each(|&hash| _ = mixed.insert(hash, 0));
    other.whole(u64::MAX, &mixed.encode());
    all.push(("whole-again", other.bytes.clone()));
    let mut lengths = JournalWriter::default();
    lengths.whole(0, &mixed.encode());
    mixed.key_count += 60;
    let longest = |hash: &u64| mixed.normal(*hash, mixed.longer.unwrap()) >> 1;
    lengths.changes(
        1,
        &mixed,
        [keys[150..250].iter().map(longest).collect(), keys[..40].iter().map(longest).collect()],
    );
    all.push(("lengths", lengths.bytes));
    all
}

#[test]
fn committed_files_are_what_the_definition_makes() {
    let (mut files, mut manifest) = (BTreeMap::new(), String::new());
    for (name, bytes) in journals() {
        match read_journal(&bytes) {
            Ok(Read { sequence, len, is_torn, .. }) => {
                let name = format!("accepted/{name}.journal");
                writeln!(manifest, "accepted {name} {sequence} {len} {}", u8::from(is_torn))
                    .unwrap();
                files.insert(name, bytes);
            }
            Err(status) => {
                let name = format!("rejected/{name}.journal");
                writeln!(manifest, "rejected {name} {status}").unwrap();
                files.insert(name, bytes);
            }
        }
    }
    files.insert("MANIFEST".to_string(), manifest.into_bytes());
    files.insert("follows.txt".to_string(), table().into_bytes());
    committed::are_what_is_made("journal", &files, 200_000);
}

#[test]
fn journals_are_read() {
    for (name, bytes) in journals() {
        let replayed = GrowingFilter::replay(&bytes[..]);
        let Ok(read) = read_journal(&bytes) else {
            assert_eq!(status_of_result(&replayed), read_journal(&bytes).unwrap_err(), "{name}");
            continue;
        };
        let replayed = replayed.unwrap();
        let stands = (replayed.sequence, replayed.len, replayed.is_torn);
        assert_eq!(stands, (read.sequence, read.len, read.is_torn), "{name}");
        let mut model = Growing::open(&read.whole);
        let all = u128::from(longest_prefixes(&model));
        let hash = |prefix: u64| (u128::from(prefix) << 64).div_ceil(all) as u64;
        for (key_count, [inserted, removed]) in read.changes {
            // Where prefixes have several lengths: of the length that all sixteenths have.
            let length = model.lengths[0];
            inserted.iter().for_each(|&prefix| _ = model.insert(hash(prefix), length));
            removed.iter().for_each(|&prefix| _ = model.remove(hash(prefix)));
            model.key_count = key_count;
        }
        assert!(replayed.filter.to_bytes().unwrap() == model.encode(), "{name}");
    }
}
