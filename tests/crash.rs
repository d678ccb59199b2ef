//! A program that is killed while it saves: of what it acknowledged, nothing is lost.
#![cfg(unix)]

mod definition;
mod directory;

use bloomline::hash::hash_u64;
use bloomline::{GrowingFilter, Journal};
use definition::{cases, next_random};
use directory::Directory;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// Where the writer finds its journal.
const PATH: &str = "BLOOMLINE_TEST_CRASH";
/// Keys of a sequence number, and how many of them are removed with a later one.
const KEYS: u64 = 20;
const REMOVED: u64 = 9;
const LATER: u64 = 5;

fn key(sequence: u64, i: u64) -> u64 {
    hash_u64(sequence * KEYS + i, 1)
}

fn empty() -> GrowingFilter {
    GrowingFilter::new(20_000, 0.01, 0).unwrap()
}

/// What happens to the filter with this number.
fn change(filter: &mut GrowingFilter, sequence: u64) {
    (0..KEYS).for_each(|i| _ = filter.insert_hash(key(sequence, i)).unwrap());
    if sequence > LATER {
        (0..REMOVED).for_each(|i| filter.remove_hash(key(sequence - LATER, i)).unwrap());
    }
}

/// Not a test of its own: what the other one starts, and kills.
#[test]
fn writer() {
    let Some(path) = std::env::var_os(PATH) else { return };
    let path = Path::new(&path);
    let (mut journal, mut filter) = if path.exists() {
        Journal::open(path).unwrap()
    } else {
        let mut filter = empty();
        (Journal::create(path, &mut filter, 0).unwrap(), filter)
    };
    let mut acknowledged = std::io::stdout().lock();
    for sequence in journal.sequence() + 1.. {
        change(&mut filter, sequence);
        if sequence % 11 == 0 {
            journal.restart(&mut filter, sequence).unwrap();
        } else {
            journal.save_changed(&mut filter, sequence).unwrap();
        }
        acknowledged.write_all(format!("\nacknowledged {sequence}\n").as_bytes()).unwrap();
    }
}

/// The number in a whole line of the writer.
fn number(line: &str) -> Option<u64> {
    line.strip_prefix("acknowledged ")?.strip_suffix('\n')?.parse().ok()
}

#[test]
fn nothing_acknowledged_is_lost() {
    if std::env::var_os("BLOOMLINE_CROSS_TARGET").is_some() {
        return println!(
            "a program of another CPU is started by a script, which cannot be killed so"
        );
    }
    let directory = Directory::new("crash");
    let path = directory.file("journal");
    let (mut acknowledged, mut torn, mut state) = (0, 0, 11);
    // What should be there, and up to which number.
    let (mut expected, mut at) = (empty(), 0);
    for _ in 0..cases(1000) {
        let mut writer = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "writer", "--nocapture", "--test-threads=1"])
            .env(PATH, &path)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(writer.stdout.take().unwrap());
        // After a few records, or none, and somewhere in the next one.
        let (mut records, wait) = (next_random(&mut state) % 5, next_random(&mut state) % 20_000);
        let mut line = String::new();
        while records > 0 && said.read_line(&mut line).unwrap() > 0 {
            if let Some(number) = number(&line) {
                (acknowledged, records) = (number, records - 1);
            }
            line.clear();
        }
        (0..wait).for_each(|_| std::hint::spin_loop());
        writer.kill().unwrap();
        writer.wait().unwrap();
        let mut rest = String::new();
        said.read_to_string(&mut rest).unwrap();
        if let Some(last) = rest.split_inclusive('\n').filter_map(number).next_back() {
            acknowledged = last;
        }
        let Ok(bytes) = std::fs::read(&path) else {
            assert_eq!(acknowledged, 0, "it was killed before the journal was there");
            continue;
        };
        let replayed = GrowingFilter::replay(&bytes[..]).unwrap();
        torn += u32::from(replayed.is_torn);
        // The last record may be there before it is acknowledged.
        let sequence = replayed.sequence;
        assert!(
            (acknowledged..=acknowledged + 1).contains(&sequence),
            "{sequence}, {acknowledged}"
        );
        for next in at + 1..=sequence {
            change(&mut expected, next);
        }
        at = sequence;
        assert!(replayed.filter.to_bytes().unwrap() == expected.to_bytes().unwrap());
        for sequence in 1..=sequence {
            let removed = if sequence + LATER <= at { REMOVED } else { 0 };
            let mut kept = (removed..KEYS).map(|i| key(sequence, i));
            assert!(kept.all(|key| replayed.filter.contains_hash(key)), "{sequence}");
        }
        // A record that was not acknowledged is the writer's all the same.
        acknowledged = sequence;
    }
    println!("{at} records, {torn} torn ends");
    assert!(at > 0, "the writer wrote");
}
