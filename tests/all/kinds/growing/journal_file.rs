//! Journals in files: opened again, torn, locked, replaced by others, written by many in turn.

use crate::definition::*;
use crate::directory::Directory;
#[cfg(unix)]
use bloomline::GrowingWriter;
use bloomline::{Error, GrowingFilter, Journal};

#[test]
fn a_journal_in_a_file() {
    let directory = Directory::new("journal");
    let path = directory.file("journal");
    let mut filter = GrowingFilter::new(5000, 0.01, 0).unwrap();
    let mut journal = Journal::create(&path, &mut filter, 0).unwrap();
    for sequence in 1..20_u64 {
        for i in 0..50 {
            filter.insert_hash(hash(&[i], sequence)).unwrap();
        }
        assert_eq!(
            journal.save_changed(&mut filter, sequence - 1),
            Err(Error::Sequence { last: sequence - 1, given: sequence - 1 })
        );
        journal.save_changed(&mut filter, sequence).unwrap();
        assert_eq!(journal.file_len(), std::fs::metadata(&path).unwrap().len());
        match sequence % 5 {
            0 => journal.restart(&mut filter, sequence).unwrap(),
            1 => {
                drop(journal);
                // What was being written when the program ended.
                let mut torn = std::fs::read(&path).unwrap();
                let len = torn.len();
                torn.extend_from_within(..len.min(64 + sequence as usize));
                std::fs::write(&path, &torn[..len + sequence as usize]).unwrap();
                let (opened, other) = Journal::open(&path).unwrap();
                assert_eq!(std::fs::metadata(&path).unwrap().len(), len as u64);
                assert!(other == filter && opened.sequence() == sequence);
                (journal, filter) = (opened, other);
            }
            // Another filter is written whole.
            2 => filter = filter.clone(),
            _ => {}
        }
    }
    assert_eq!(directory.names(), ["journal"]);
    // One writer.
    let locked = |error: Error| matches!(error, Error::Io(error) if error.kind() == std::io::ErrorKind::WouldBlock);
    assert!(locked(Journal::open(&path).unwrap_err()));
    assert!(locked(Journal::create(&path, &mut filter, 90).unwrap_err()));
    drop(journal);
    assert!(Journal::open(&path).unwrap().1 == filter);
    let said = || Journal::open(&path).unwrap_err().to_string();
    let (journal, _) = Journal::open(&path).unwrap();
    assert!(said().ends_with("the file is open elsewhere, and has one writer"), "{}", said());
    drop(journal);
    assert!(Journal::open(directory.file("no")).unwrap_err().to_string().contains("no"));
    assert_eq!(Journal::open(&directory.0).unwrap_err(), Error::NotAFile);
}

/// What is acknowledged is in the file that the path leads to, whatever happens to that.
#[cfg(unix)]
#[test]
fn a_journal_that_is_replaced() {
    let directory = Directory::new("journal-replaced");
    let (path, beside) = (directory.file("journal"), directory.file("beside"));
    let refused = |result: Result<(), Error>, kind| {
        let Err(Error::Io(error)) = &result else { panic!("{result:?}") };
        assert_eq!((error.kind(), error.path()), (kind, Some(path.as_path())));
    };
    use std::io::ErrorKind::{NotFound, WouldBlock};
    let mut filter = GrowingFilter::new(5000, 0.01, 0).unwrap();
    let mut journal = Journal::create(&path, &mut filter, 1).unwrap();
    // Another's journal is there: not written to, and not replaced while it is open.
    let mut others = filter.clone();
    let other = Journal::create(&beside, &mut others, 5).unwrap();
    filter.insert_hash(7).unwrap();
    std::fs::rename(&beside, &path).unwrap();
    refused(journal.save_changed(&mut filter, 2), NotFound);
    refused(journal.restart(&mut filter, 2), WouldBlock);
    drop(other);
    refused(journal.save_changed(&mut filter, 2), NotFound);
    assert_eq!(GrowingFilter::replay(std::fs::File::open(&path).unwrap()).unwrap().sequence, 5);
    journal.restart(&mut filter, 2).unwrap();
    filter.insert_hash(8).unwrap();
    journal.save_changed(&mut filter, 3).unwrap();
    // None is there.
    std::fs::remove_file(&path).unwrap();
    filter.insert_hash(9).unwrap();
    refused(journal.save_changed(&mut filter, 4), NotFound);
    assert!(!path.exists());
    journal.restart(&mut filter, 4).unwrap();
    filter.insert_hash(10).unwrap();
    journal.save_changed(&mut filter, 5).unwrap();
    drop(journal);
    let (journal, read) = Journal::open(&path).unwrap();
    assert!(journal.sequence() == 5 && read == filter);
}

/// While a journal is begun anew it is never free for another writer.
#[test]
fn a_restarted_journal_is_nobody_elses() {
    let directory = Directory::new("journal-restarted");
    let path = directory.file("journal");
    let mut filter = GrowingFilter::new(100, 0.01, 0).unwrap();
    let mut journal = Journal::create(&path, &mut filter, 0).unwrap();
    let ended = std::sync::atomic::AtomicBool::new(false);
    let tries = std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            let mut tries = 0;
            while !ended.load(std::sync::atomic::Ordering::Relaxed) {
                assert!(Journal::open(&path).is_err(), "two have it");
                tries += 1;
            }
            tries
        });
        for sequence in 1..100 {
            journal.restart(&mut filter, sequence).expect("it is this writer's");
        }
        ended.store(true, std::sync::atomic::Ordering::Relaxed);
        other.join().unwrap()
    });
    println!("{tries} tries to open it");
}

/// Where there is no journal, one of several writers begins it, and the others know. What it acknowledges stays.
#[cfg(unix)]
#[test]
fn one_of_several_begins_a_journal() {
    use std::sync::Barrier;

    let directory = Directory::new("journal-begun");
    let path = directory.file("journal");
    let writers = 4;
    for round in 0..if fewer() { 5 } else { 25 } {
        let mut filter = GrowingFilter::new(100, 0.01, 0).unwrap();
        let mut journal = Journal::create(&path, &mut filter, 0).unwrap();
        std::fs::remove_file(&path).unwrap();
        let barrier = Barrier::new(writers);
        let mut results = std::thread::scope(|scope| {
            let create = |writer: u64| {
                let (barrier, path) = (&barrier, &path);
                scope.spawn(move || {
                    let mut filter = GrowingFilter::new(100, 0.01, 0).unwrap();
                    filter.insert(&writer).unwrap();
                    barrier.wait();
                    Journal::create(path, &mut filter, writer).map(|journal| (journal, filter))
                })
            };
            let others: Vec<_> = (1..writers as u64).map(create).collect();
            barrier.wait();
            // And one whose file was removed.
            let restarted = journal.restart(&mut filter, 0).map(|()| (journal, filter));
            let mut results: Vec<_> = others.into_iter().map(|one| one.join().unwrap()).collect();
            results.push(restarted);
            results
        });
        let begun: Vec<_> = results.iter().filter(|result| result.is_ok()).collect();
        assert_eq!(begun.len(), 1, "round {round}: {:?}", results.iter().map(Result::is_ok));
        for result in &mut results {
            match result {
                Ok((journal, filter)) => {
                    filter.insert(&round).unwrap();
                    journal.save_changed(filter, 9).unwrap();
                    let read = GrowingFilter::replay(std::fs::File::open(&path).unwrap()).unwrap();
                    assert!(read.filter == *filter && read.sequence == 9);
                }
                Err(Error::Io(error)) => assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock),
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!(directory.names(), ["journal"]);
        std::fs::remove_file(&path).unwrap();
    }
}

/// A copy of a journal follows it, with readers and without, however often it is opened again.
#[cfg(unix)] // Windows' locks keep other handles of the program out.
#[test]
fn a_journal_that_follows_another() {
    let directory = Directory::new("journal-followed");
    let [path, followed, shared] = ["journal", "copy", "shared"].map(|name| directory.file(name));
    let mut filter = GrowingFilter::unbounded(500, 0.01, 0).unwrap();
    let mut journal = Journal::create(&path, &mut filter, 10).unwrap();
    for copy in [&followed, &shared] {
        std::fs::copy(&path, copy).unwrap();
    }
    let (mut with_readers, replayed) = Journal::open(&shared).unwrap();
    let mut writer = GrowingWriter::new(replayed).unwrap();
    let reader = writer.reader();
    let mut all = Vec::new();
    for sequence in 11..40_u64 {
        let hashes: Vec<u64> = (0..60).map(|i| hash(&[i], sequence)).collect();
        filter.insert_hashes(&hashes).unwrap();
        all.extend(hashes);
        match sequence % 10 {
            0 => journal.restart(&mut filter, sequence).unwrap(),
            5 => {
                let other = GrowingFilter::unbounded(500, 0.01, 0).unwrap();
                filter.union(&other.with_keys(["apple"]).unwrap()).unwrap();
                journal.save_changed(&mut filter, sequence).unwrap();
            }
            _ => journal.save_changed(&mut filter, sequence).unwrap(),
        }
        if sequence % 3 != 0 {
            continue; // It comes with the next patch.
        }
        let bytes = std::fs::read(&path).unwrap();
        let (mut own, mut copy) = Journal::open(&followed).unwrap();
        let patch = GrowingFilter::patch_since(&bytes, own.sequence()).unwrap();
        // All or nothing.
        let (last, len) = (own.sequence(), own.file_len());
        assert!(own.apply_patch(&mut copy, &patch[..patch.len() - 8]).is_err());
        assert_eq!(
            (own.sequence(), own.file_len(), copy.saved_sequence()),
            (last, len, Some(last))
        );
        for _ in 0..2 {
            assert_eq!(own.apply_patch(&mut copy, patch), Ok(sequence));
            assert_eq!(len_of(&followed), own.file_len());
        }
        assert_eq!(own.sequence(), sequence);
        assert_eq!(writer.save_patch(&mut with_readers, patch), Ok(sequence));
        assert_eq!(std::fs::read(&followed).unwrap(), std::fs::read(&shared).unwrap());
        let replayed = GrowingFilter::replay(&bytes[..]).unwrap().filter;
        assert!(copy == replayed && *writer.filter() == replayed);
        assert!(all.iter().all(|&hash| copy.contains_hash(hash) && reader.contains_hash(hash)));
        // Whole filters make what was before them void.
        assert!(own.file_len() <= bytes.len() as u64);
    }
    assert_eq!(directory.names().len(), 3);
    // It has changed by itself, is not that of the journal, or was saved in a journal of its own.
    let refused = |result| assert!(matches!(result, Err(Error::Sequence { .. })), "{result:?}");
    filter.insert("plum").unwrap();
    journal.save_changed(&mut filter, 50).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let patch = GrowingFilter::patch_since(&bytes, 39).unwrap();
    let (mut own, mut copy) = Journal::open(&followed).unwrap();
    refused(own.apply_patch(&mut copy.clone(), patch));
    copy.insert("own").unwrap();
    refused(own.apply_patch(&mut copy, patch));
    // Below the number of the patch, and the same.
    for sequence in [40, 50] {
        own.save_changed(&mut copy, sequence).unwrap();
        refused(own.apply_patch(&mut copy, patch));
        refused(copy.clone().apply_patch(patch));
    }
    assert_eq!(own.file_len(), len_of(&followed));
}

#[cfg(unix)]
fn len_of(path: &std::path::Path) -> u64 {
    std::fs::metadata(path).unwrap().len()
}

/// A writer and its copy elsewhere: what is acknowledged is on the disk, and readers of both see it.
#[cfg(unix)] // Windows' locks keep other handles of the program out.
#[test]
fn a_writer_with_readers_is_saved_and_patched() {
    let directory = Directory::new("journal-writer");
    let path = directory.file("journal");
    let mut filter = GrowingFilter::new(5000, 0.01, 0).unwrap();
    let mut journal = Journal::create(&path, &mut filter, 0).unwrap();
    let replayed = GrowingFilter::replay(&std::fs::read(&path).unwrap()[..]).unwrap();
    let mut writer = GrowingWriter::new(filter).unwrap();
    let mut copy = GrowingWriter::new(replayed.filter).unwrap();
    let (reader, elsewhere) = (writer.reader(), copy.reader());
    for sequence in 1..30_u64 {
        let hashes: Vec<u64> = (0..200).map(|i| hash(&[i], sequence)).collect();
        writer.insert_hashes(&hashes).unwrap();
        let len = journal.file_len();
        if sequence % 10 == 0 {
            writer.restart(&mut journal, sequence).unwrap();
            assert!(journal.file_len() < len);
        } else {
            writer.save_changed(&mut journal, sequence).unwrap();
        }
        let bytes = std::fs::read(&path).unwrap();
        let patch = GrowingFilter::patch_since(&bytes, sequence - 1).unwrap();
        assert_eq!(copy.apply_patch(patch), Ok(sequence));
        let all_see = |&hash| reader.contains_hash(hash) && elsewhere.contains_hash(hash);
        assert!(hashes.iter().all(all_see), "{sequence}");
        assert!(copy.apply_patch(&patch[1..]).is_err());
        assert!(copy.filter() == writer.filter() && hashes.iter().all(all_see));
    }
    drop(journal);
    assert!(Journal::open(&path).unwrap().1 == *writer.filter());
}

/// Without readers it is the same filter: what changed is known, and those readers that are left see what it had.
#[cfg(unix)] // Windows' locks keep other handles of the program out.
#[test]
fn a_writer_gives_its_filter_back() {
    let directory = Directory::new("journal-back");
    let path = directory.file("journal");
    let hashes = random_hashes(3000, 4);
    let mut filter = GrowingFilter::unbounded(500, 0.01, 0).unwrap();
    filter.insert_hashes(&hashes[..1000]).unwrap();
    let mut journal = Journal::create(&path, &mut filter, 0).unwrap();
    let mut writer = GrowingWriter::new(filter).unwrap();
    let reader = writer.reader();
    writer.insert_hashes(&hashes[1000..2000]).unwrap();
    writer.remove_hash(hashes[1]).unwrap();
    let expected = writer.filter().clone();
    let mut filter = writer.into_filter().unwrap();
    assert!(filter == expected && filter.saved_sequence() == Some(0));
    filter.insert_hashes(&hashes[2000..]).unwrap();
    let len = journal.file_len() as usize;
    journal.save_changed(&mut filter, 1).unwrap();
    assert_eq!(std::fs::read(&path).unwrap()[len + 10], 2, "a record of what changed");
    drop(journal);
    let (_, read) = Journal::open(&path).unwrap();
    assert!(read.key_count() == 2999 && hashes[2..].iter().all(|&hash| read.contains_hash(hash)));
    assert!(hashes[2..2000].iter().all(|&hash| reader.contains_hash(hash)));
    assert!(hashes[2000..].iter().filter(|&&hash| reader.contains_hash(hash)).count() < 100);
}
