//! Histories: what is done to a filter and what it answers, as text in `golden/histories/`, one file
//! per kind; `golden/README.md` has the format. The plain definitions make the answers
//! (`definition.rs`, `growing.rs`, `built.rs`, `columns.rs`) to what `scripts.rs` asks. The library replays them with
//! every backend (`library.rs`, `matrix.rs`), and so do C, C++ and Go.

/// What has no answer is done, and answered so.
macro_rules! done {
    ($what:expr) => {{
        $what;
        "ok".to_owned()
    }};
}

mod built;
mod columns;
pub(crate) mod definition;
mod growing;
mod library;
mod matrix;
mod scripts;

pub(crate) use library::Classic;

use crate::committed;
use crate::definition::{cases, hash, random_hashes};
use crate::directory::Directory;
use bloomline::{Backend, Error};
use scripts::Script;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The keys of a line.
pub(crate) enum Keys {
    Bytes(Vec<String>),
    Hashes(Vec<u64>),
}

impl Keys {
    /// `key:N`, `keys:FROM:COUNT`, `hash:HEX`, `hashes:COUNT:STATE` and `numbers:FROM:COUNT`, each with
    /// `*TIMES` behind it or not. True: it is one key, for the call that takes one.
    fn parse(items: &[&str]) -> (Keys, bool) {
        let (mut keys, mut hashes) = (Vec::new(), Vec::new());
        for item in items {
            let (item, times) = item.split_once('*').unwrap_or((item, "1"));
            let (what, rest) = item.split_once(':').unwrap();
            let (a, b) = rest.split_once(':').unwrap_or((rest, "1"));
            for _ in 0..number(times) {
                match what {
                    "key" | "keys" => {
                        keys.extend((number(a)..number(a) + number(b)).map(|i| format!("key {i}")));
                    }
                    "hash" => hashes.push(u64::from_str_radix(a, 16).unwrap()),
                    "numbers" => hashes.extend(number(a)..number(a) + number(b)),
                    "hashes" => hashes.extend(random_hashes(number(a) as usize, number(b))),
                    _ => panic!("{item}"),
                }
            }
        }
        let one = matches!(items, [item] if item.starts_with("key:") || item.starts_with("hash:"));
        let one = one && !items[0].contains('*');
        assert!(keys.is_empty() || hashes.is_empty());
        (if hashes.is_empty() { Keys::Bytes(keys) } else { Keys::Hashes(hashes) }, one)
    }

    fn hashes(&self, seed: u64) -> Vec<u64> {
        match self {
            Keys::Bytes(keys) => keys.iter().map(|key| hash(key.as_bytes(), seed)).collect(),
            Keys::Hashes(hashes) => hashes.clone(),
        }
    }
}

fn number(text: &str) -> u64 {
    text.parse().unwrap_or_else(|_| panic!("no number: {text}"))
}

/// An answer as text.
trait Said {
    fn said(self) -> String;
}

impl Said for () {
    fn said(self) -> String {
        "ok".into()
    }
}

/// Whether a key was new.
impl Said for bool {
    fn said(self) -> String {
        if self { "new" } else { "old" }.into()
    }
}

impl Said for u64 {
    fn said(self) -> String {
        self.to_string()
    }
}

impl<T: Said> Said for Result<T, Error> {
    /// The name of the error as the C interface has it: `odd_line_count`.
    fn said(self) -> String {
        let error = match self {
            Ok(answer) => return answer.said(),
            // `golden/README.md`: what K is in a cuckoo filter.
            Err(Error::FingerprintBits(_)) => return "k".into(),
            Err(error) => format!("{error:?}"),
        };
        let name = error.split(['(', ' ']).next().unwrap();
        let mut said = String::new();
        for (i, letter) in name.char_indices() {
            if i > 0 && letter.is_uppercase() {
                said.push('_');
            }
            said.extend(letter.to_lowercase());
        }
        said
    }
}

/// How many answers are true, and the XXH3-64 of the words of their bitmap.
fn said_all(answers: &[bool]) -> String {
    let mut words = vec![0u64; answers.len().div_ceil(64)];
    for (i, &answer) in answers.iter().enumerate() {
        words[i / 64] |= u64::from(answer) << (i % 64);
    }
    let bytes: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
    let count = answers.iter().filter(|&&answer| answer).count();
    format!("{count} {:016x}", hash(&bytes, 0))
}

/// What histories are about: a model by the definition, or a filter of the library.
pub(crate) trait Subject: Sized {
    fn make(args: &[&str], backend: Backend) -> Result<Self, Error>;
    fn open(bytes: &[u8]) -> Result<Self, Error>;
    fn copy(&self) -> Self;
    fn bytes(&self) -> Vec<u8>;
    fn contains(&self, keys: &Keys) -> Vec<bool>;
    /// Of one key.
    fn insert(&mut self, key: &Keys) -> String {
        self.insert_all(key)
    }
    fn insert_all(&mut self, _: &Keys) -> String {
        panic!("insert")
    }
    fn insert_new(&mut self, _: &Keys) -> Result<Vec<bool>, Error> {
        panic!("insert_new")
    }
    /// Of one key, or how many of them.
    fn remove(&mut self, _: &Keys, _one: bool) -> String {
        panic!("remove")
    }
    fn union(&mut self, _other: &Self) -> Result<(), Error> {
        panic!("union")
    }
    fn reopen(&mut self) {
        *self = Self::open(&self.bytes()).unwrap();
    }
    fn save(&mut self, _path: &Path) {
        self.reopen();
    }
    /// What few kinds have.
    fn other(&mut self, verb: &str, args: &[&str]) -> String;
}

/// The answer to a line. There are two filters: verbs are about the first one.
fn answer<S: Subject>(two: &mut [Option<S>; 2], line: &str, backend: Backend) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let (verb, args) = (words[0], &words[1..]);
    let into = |made: Result<S, Error>, two: &mut [Option<S>; 2]| {
        made.map(|made| two[0] = Some(made)).said()
    };
    match verb {
        "new" => return into(S::make(args, backend), two),
        "open" => {
            let path = committed::directory(args[0]);
            return into(S::open(&fs::read(path).unwrap()), two);
        }
        "swap" => return done!(two.swap(0, 1)),
        _ => {}
    }
    let [first, second] = two;
    let filter = first.as_mut().unwrap();
    match verb {
        "copy" => {
            done!(*second = Some(filter.copy()))
        }
        "union" => filter.union(second.as_ref().unwrap()).said(),
        "encode" => {
            let bytes = filter.bytes();
            format!("{} {:016x}", bytes.len(), hash(&bytes, 0))
        }
        "reopen" => {
            done!(filter.reopen())
        }
        "save" => {
            let directory = Directory::new("history");
            done!(filter.save(&directory.file("filter")))
        }
        "insert" | "insert_new" | "contains" | "remove" => {
            let (keys, one) = Keys::parse(args);
            match verb {
                "insert" if one => filter.insert(&keys),
                "insert" => filter.insert_all(&keys),
                "insert_new" => filter.insert_new(&keys).map_or_else(
                    |error| Err::<(), Error>(error).said(),
                    |answers| said_all(&answers),
                ),
                "contains" => match filter.contains(&keys)[..] {
                    [answer] if one => if answer { "maybe" } else { "absent" }.into(),
                    ref answers => said_all(answers),
                },
                _ => filter.remove(&keys, one),
            }
        }
        _ => filter.other(verb, args),
    }
}

/// The kinds: by the definition, by the library, and what is asked of them.
macro_rules! kinds {
    ($($kind:literal: $definition:ty, $library:ty, $script:expr;)*) => {
        const KINDS: &[&str] = &[$($kind),*];

        /// The answers to lines of a history, by the definition.
        fn defined(kind: &str, lines: &[String]) -> Vec<String> {
            match kind {
                $($kind => answers::<$definition>(lines, Backend::Scalar),)*
                _ => panic!("{kind}"),
            }
        }

        /// The same by the library.
        fn replayed(kind: &str, lines: &[String], backend: Backend) -> Vec<String> {
            match kind {
                $($kind => answers::<$library>(lines, backend),)*
                _ => panic!("{kind}"),
            }
        }

        /// The lines of a history of a kind, without their answers: another one for each `state`.
        fn script_of(kind: &str, state: u64) -> Vec<String> {
            let mut script = Script::new(state);
            let ask: fn(&mut Script) = match kind {
                $($kind => $script,)*
                _ => panic!("{kind}"),
            };
            ask(&mut script);
            script.lines
        }
    };
}

crate::kinds::histories!(kinds);

fn answers<S: Subject>(lines: &[String], backend: Backend) -> Vec<String> {
    let mut two = [None::<S>, None];
    lines.iter().map(|line| answer(&mut two, line, backend)).collect()
}

#[test]
fn committed_files_are_what_the_definition_makes() {
    let mut files = BTreeMap::new();
    for &kind in KINDS {
        let lines = script_of(kind, kind.len() as u64);
        let rows = lines.iter().zip(defined(kind, &lines));
        let text: String = rows.map(|(line, answer)| format!("{line} -> {answer}\n")).collect();
        files.insert(format!("{kind}.txt"), text.into_bytes());
    }
    committed::are_what_is_made("histories", &files, 280 << 10);
}

#[test]
fn every_backend_answers_as_the_definition() {
    for &kind in KINDS {
        let path = committed::directory("histories").join(format!("{kind}.txt"));
        let text = fs::read_to_string(path).unwrap();
        let rows = text.lines().map(|row| row.split_once(" -> ").unwrap());
        let (lines, expected): (Vec<String>, Vec<&str>) =
            rows.map(|(line, answer)| (line.to_owned(), answer)).unzip();
        for backend in Backend::available() {
            let found = replayed(kind, &lines, backend);
            for (i, line) in lines.iter().enumerate() {
                assert_eq!(
                    found[i],
                    expected[i],
                    "{}, {kind}.txt:{}: {line}",
                    backend.name(),
                    i + 1
                );
            }
        }
        println!("{kind}: {} lines", lines.len());
    }
}

/// Other histories than the committed ones, of the backend that is chosen.
#[test]
fn any_history_is_answered_as_by_the_definition() {
    for state in 100..100 + u64::from(cases(5)) {
        for &kind in KINDS {
            let lines = script_of(kind, state);
            let expected = defined(kind, &lines);
            let backend = Backend::active().unwrap();
            let found = replayed(kind, &lines, backend);
            for (i, line) in lines.iter().enumerate() {
                assert_eq!(found[i], expected[i], "{kind}, state {state}, line {}: {line}", i + 1);
            }
        }
    }
}
