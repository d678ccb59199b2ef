//! Which records follow on a filter, as [the page](../../../docs/format/growing.md) defines it, and a table of
//! cases: `golden/journal/follows.txt`, which Rust and Go replay. Rust decides in `src/filter/growing/patch.rs`,
//! Go in `go/journal_patch.go`.

use crate::committed;
use crate::directory::Directory;
use bloomline::{Error, GrowingFilter, Journal};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What a line begins with. The records have names, which later lines use.
const RECORDS: [&str; 7] = [
    "new 0, insert 1, whole w 10, insert 2, changed a 11, insert 3, changed b 12",
    "replay w a b, remove 1, whole v 13, insert 4, changed c 14",
    // Of others: another filter, another seed, another way to go on.
    "new 0, insert 5, whole x 10, insert 6, changed y 11",
    "new 1, insert 7, whole s 20",
    "replay w a, insert 8, changed d 12",
    "replay w a, insert 9, insert 9, whole e 12",
    "replay v, insert 1, changed f 20",
];

/// How a filter comes to be where it stands.
const FILTERS: [&str; 18] = [
    "new 0",
    "new 1",
    "new 0, insert 20",
    "new 0, insert 20, remove 20",
    "new 0, apply w",
    "replay w",
    "replay w a",
    "replay w a b",
    "replay w a b v",
    "replay v c",
    "replay x",
    "replay s",
    "replay w a, insert 20",
    "replay w a, insert 20, remove 20",
    "replay w a, clear",
    "replay w a, many",
    "replay w a, insert 8, changed d 12",
    "replay w a, insert 9, insert 9, whole e 12",
];

/// What is done then; `keep` also in a file, if the filter is one's that was replayed.
const PATCHES: [&str; 20] = [
    "",
    " w",
    " a",
    " b",
    " a b",
    " b a",
    " w a b v c",
    " a a b",
    " v",
    " b v",
    " v c",
    " c",
    " c v",
    " x",
    " y",
    " s",
    " v s",
    " d b",
    " b e",
    " v f",
];
/// Bytes that are wrong: the last record has no end, or another byte.
const SPOILT: [&str; 5] = [" a~", " b~", " b!", " a b!", " b v~"];
const SAVED: [&str; 4] = ["changed g 10", "changed g 11", "changed g 12", "whole g 9"];

fn stories() -> Vec<String> {
    let mut all = RECORDS.map(str::to_string).to_vec();
    for filter in FILTERS {
        for patch in PATCHES.iter().chain(&SPOILT) {
            all.push(format!("{filter}, apply{patch}"));
            if let Some(replayed) = filter.strip_prefix("replay") {
                all.push(format!("open{replayed}, keep{patch}"));
            }
        }
        all.extend(SAVED.map(|saved| format!("{filter}, {saved}")));
    }
    all
}

type Answer<T> = Result<T, &'static str>;

// ---- the definition ----

/// A record, which its name stands for.
#[derive(Clone)]
struct Record {
    name: String,
    sequence: u64,
    /// Of changes: the record before. The origin of a whole filter is that record itself.
    base: Option<String>,
    origin: String,
    seed: u64,
    keys: Vec<u64>,
}

#[derive(Clone, Default)]
struct Defined {
    seed: u64,
    keys: Vec<u64>,
    last: Option<Record>,
    /// How many keys came and went since, unless that is not known.
    changes: Option<usize>,
    journal: Option<String>,
}

impl Defined {
    fn change(&mut self) {
        // As many as a filter of so few keys keeps.
        self.changes = self.changes.map(|n| n + 1).filter(|&n| n <= 4096);
    }

    fn is(&mut self, record: &Record) {
        self.keys.clone_from(&record.keys);
        self.seed = record.seed;
        (self.last, self.changes) = (Some(record.clone()), Some(0));
    }

    /// Whether the filter lacks a record; an error if that does not follow.
    fn lacks(&self, record: &Record) -> Answer<bool> {
        let own = self.last.as_ref().filter(|_| self.changes.is_some());
        if let Some(own) = own
            && (own.name == record.name
                || own.origin == record.origin && record.sequence < own.sequence)
        {
            return Ok(false);
        }
        let has_nothing_else = match self.last {
            Some(_) => self.changes == Some(0),
            None => self.keys.is_empty(),
        };
        let is_above = own.is_none_or(|own| record.sequence > own.sequence);
        let follows = record.base.as_ref().is_none_or(|base| {
            own.is_some_and(|own| own.name == *base && own.origin == record.origin)
        });
        match has_nothing_else && is_above && follows {
            true if self.seed != record.seed => Err("mismatch"),
            true => Ok(true),
            false => Err("sequence"),
        }
    }

    fn saved(&mut self, name: &str, sequence: u64, whole: bool) -> Record {
        let base = self.last.as_ref().filter(|_| !whole).map(|last| last.name.clone());
        let origin = match &self.last {
            Some(last) if !whole => last.origin.clone(),
            _ => name.to_string(),
        };
        let (name, seed, keys) = (name.to_string(), self.seed, self.keys.clone());
        let record = Record { name, sequence, base, origin, seed, keys };
        self.is(&record);
        record
    }
}

#[derive(Default)]
struct Definition {
    records: BTreeMap<String, Record>,
    filter: Defined,
}

impl Definition {
    fn patch(&self, names: &[&str]) -> Vec<Answer<Record>> {
        let record = |name: &&str| match name.chars().last() {
            Some('~') => Err("truncated"),
            Some('!') => Err("checksum"),
            _ => Ok(self.records[*name].clone()),
        };
        names.iter().map(record).collect()
    }
}

/// What a language does with the words of an operation.
trait Replayed {
    fn operation(&mut self, verb: &str, words: &[&str]) -> Answer<String>;
    /// The number of the record that the filter is as, but for changes that are known; and its keys.
    fn stands(&self) -> (Option<u64>, u64);

    fn story(&mut self, story: &str) -> String {
        let mut answer = Ok(String::new());
        for operation in story.split(", ") {
            assert!(answer.is_ok(), "{story}");
            let words: Vec<&str> = operation.split(' ').collect();
            answer = self.operation(words[0], &words[1..]);
        }
        let (saved, keys) = self.stands();
        let saved = saved.map_or("-".to_string(), |saved| saved.to_string());
        format!("{} {saved} {keys}", answer.unwrap_or_else(str::to_string))
    }
}

fn number(word: &str) -> u64 {
    word.parse().unwrap()
}

impl Replayed for Definition {
    fn operation(&mut self, verb: &str, words: &[&str]) -> Answer<String> {
        match verb {
            "new" => self.filter = Defined { seed: number(words[0]), ..Defined::default() },
            "insert" => {
                self.filter.keys.push(number(words[0]));
                self.filter.change();
            }
            "remove" => {
                let at = self.filter.keys.iter().position(|&key| key == number(words[0])).unwrap();
                self.filter.keys.remove(at);
                self.filter.change();
            }
            "clear" => (self.filter.keys, self.filter.changes) = (vec![], None),
            "many" => (0..MANY).for_each(|i| {
                self.filter.keys.push(1000 + i);
                self.filter.change();
            }),
            "whole" | "changed" => {
                let (sequence, last) = (number(words[1]), self.filter.last.as_ref());
                if verb == "changed" && last.is_some_and(|last| sequence <= last.sequence) {
                    return Err("sequence");
                }
                let whole = verb == "whole" || self.filter.changes.is_none();
                let record = self.filter.saved(words[0], sequence, whole);
                self.records.insert(record.name.clone(), record);
                return Ok(if whole { "whole" } else { "changes" }.to_string());
            }
            "replay" | "open" => {
                self.filter = Defined::default();
                let all: Vec<Record> = self.patch(words).into_iter().map(|r| r.unwrap()).collect();
                all.iter().for_each(|record| self.filter.is(record));
                self.filter.journal =
                    words.last().filter(|_| verb == "open").map(|w| w.to_string());
                return Ok(all.last().unwrap().sequence.to_string());
            }
            "apply" => {
                for record in self.patch(words) {
                    let record = record?;
                    if self.filter.lacks(&record)? {
                        self.filter.is(&record);
                    }
                }
                let last = self.filter.last.as_ref().filter(|_| self.filter.changes.is_some());
                return last.map(|last| last.sequence.to_string()).ok_or("sequence");
            }
            // All of it or nothing.
            "keep" => {
                let mut after = self.filter.clone();
                let known = after.last.as_ref().filter(|_| after.changes.is_some());
                if known.map(|last| &last.name) != after.journal.as_ref() {
                    return Err("sequence");
                }
                for record in self.patch(words) {
                    let record = record?;
                    if after.lacks(&record)? {
                        after.is(&record);
                    }
                }
                let Record { name, sequence, .. } = after.last.clone().unwrap();
                self.filter = Defined { journal: Some(name), ..after };
                return Ok(sequence.to_string());
            }
            _ => panic!("{verb}"),
        }
        Ok("ok".to_string())
    }

    fn stands(&self) -> (Option<u64>, u64) {
        let Defined { last, changes, keys, .. } = &self.filter;
        (last.as_ref().filter(|_| changes.is_some()).map(|last| last.sequence), keys.len() as u64)
    }
}

/// More than are kept.
const MANY: u64 = 4700;

/// The file.
pub(crate) fn table() -> String {
    let (mut definition, mut all) = (Definition::default(), String::new());
    for story in stories() {
        writeln!(all, "{story} -> {}", definition.story(&story)).unwrap();
    }
    all
}

// ---- the library ----

struct Library {
    records: BTreeMap<String, Vec<u8>>,
    filter: GrowingFilter,
    journal: Option<Journal>,
    directory: Directory,
}

fn hash_of(key: &str) -> u64 {
    number(key).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

fn named<T>(result: Result<T, Error>) -> Answer<T> {
    result.map_err(|error| match error {
        Error::Sequence { .. } => "sequence",
        Error::Mismatch => "mismatch",
        Error::Truncated { .. } => "truncated",
        Error::Checksum => "checksum",
        error => panic!("{error}"),
    })
}

impl Library {
    fn patch(&self, names: &[&str]) -> Vec<u8> {
        let record = |name: &&str| {
            let mut bytes = self.records[name.trim_end_matches(['~', '!'])].clone();
            match name.chars().last() {
                Some('~') => bytes.truncate(bytes.len() - 1),
                Some('!') => *bytes.last_mut().unwrap() ^= 1,
                _ => {}
            }
            bytes
        };
        names.iter().flat_map(record).collect()
    }
}

impl Replayed for Library {
    fn operation(&mut self, verb: &str, words: &[&str]) -> Answer<String> {
        let filter = &mut self.filter;
        match verb {
            "new" => *filter = GrowingFilter::new(900, 0.01, number(words[0])).unwrap(),
            "insert" => _ = filter.insert_hash(hash_of(words[0])).unwrap(),
            "remove" => filter.remove_hash(hash_of(words[0])).unwrap(),
            "clear" => filter.clear(),
            "many" => (0..MANY).for_each(|i| _ = filter.insert_hash(i << 50).unwrap()),
            "whole" | "changed" => {
                let (mut record, sequence) = (Vec::new(), number(words[1]));
                named(match verb {
                    "whole" => filter.save_whole(&mut record, sequence),
                    _ => filter.save_changed(&mut record, sequence),
                })?;
                // The kind, as the page has it.
                let kind = if record[10] == 1 { "whole" } else { "changes" };
                self.records.insert(words[0].to_string(), record);
                return Ok(kind.to_string());
            }
            "replay" => {
                let read = GrowingFilter::replay(&self.patch(words)[..]).unwrap();
                self.filter = read.filter;
                return Ok(read.sequence.to_string());
            }
            "open" => {
                self.journal = None;
                let path = self.directory.file("journal");
                std::fs::write(&path, self.patch(words)).unwrap();
                let (journal, filter) = Journal::open(&path).unwrap();
                self.filter = filter;
                let sequence = journal.sequence().to_string();
                self.journal = Some(journal);
                return Ok(sequence);
            }
            "apply" => {
                let patch = self.patch(words);
                return named(self.filter.apply_patch(&patch)).map(|sequence| sequence.to_string());
            }
            "keep" => {
                let (patch, journal) = (self.patch(words), self.journal.as_mut().unwrap());
                let read = |path| GrowingFilter::replay(&std::fs::read(path).unwrap()[..]).unwrap();
                let path = self.directory.file("journal");
                let (before, changed) = (read(&path), self.filter.to_bytes().unwrap());
                let kept = named(journal.apply_patch(&mut self.filter, &patch));
                let (after, is_as_it_was) =
                    (read(&path), changed == self.filter.to_bytes().unwrap());
                let is_kept = if is_as_it_was { before.filter } else { self.filter.clone() };
                assert!(after.filter == is_kept && (kept.is_ok() || is_as_it_was));
                assert_eq!(journal.sequence(), after.sequence);
                return kept.map(|sequence| sequence.to_string());
            }
            _ => panic!("{verb}"),
        }
        Ok("ok".to_string())
    }

    fn stands(&self) -> (Option<u64>, u64) {
        (self.filter.saved_sequence(), self.filter.key_count())
    }
}

#[test]
fn records_follow_as_the_table_says() {
    let mut library = Library {
        records: BTreeMap::new(),
        filter: GrowingFilter::new(1, 0.5, 0).unwrap(),
        journal: None,
        directory: Directory::new("follows"),
    };
    let table = std::fs::read_to_string(committed::directory("journal").join("follows.txt"));
    for line in table.unwrap().lines() {
        let (story, answer) = line.split_once(" -> ").unwrap();
        assert_eq!(library.story(story), answer, "{story}");
    }
}
