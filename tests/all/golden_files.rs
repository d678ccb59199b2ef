//! What the golden files of all kinds have in common: a MANIFEST, files that readers accept, with their
//! probes, and files that they reject, with the status. `kinds/golden_KIND.rs` says which they are. All are
//! made by the plain definitions alone, so a mistake that all kernels share would show.

use crate::committed;
use crate::definition::*;
use crate::histories::{Keys, Subject};
use bloomline::{Backend, Kind, View};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;

/// Bytes made of bytes.
type Again = fn(&[u8]) -> Vec<u8>;

/// The golden files of a kind.
pub(crate) struct Golden {
    /// Their directory in `golden/`; empty for plain filters.
    pub(crate) kind: &'static str,
    /// They are together of less than so many bytes.
    pub(crate) most: usize,
    /// What the definition answers: 0 is "no".
    pub(crate) answer: fn(&[u8], u64) -> u32,
    /// The same in the file of its probes, if it is more than a number.
    pub(crate) said: Option<fn(&[u8], u64) -> String>,
    /// The fields of an accepted file in the manifest.
    pub(crate) numbers: fn(&[u8]) -> Vec<u64>,
    /// What the definition says of any bytes, where it is asked.
    pub(crate) check: Option<fn(&[u8]) -> u32>,
    /// What a filter that was read from an accepted file writes, if not always the same.
    pub(crate) again: Option<Again>,
    /// Whether views read them.
    pub(crate) viewed: bool,
    /// Name, bytes and hashes to probe.
    pub(crate) accepted: Vec<(String, Vec<u8>, Vec<u64>)>,
    /// Name, bytes and status.
    pub(crate) rejected: Vec<(String, Vec<u8>, u32)>,
    /// Texts beside them: name and content.
    pub(crate) texts: Vec<(&'static str, String)>,
}

impl Golden {
    pub(crate) fn new(kind: &'static str, most: usize) -> Golden {
        Golden {
            kind,
            most,
            answer: |bytes, hash| u32::from(answer(bytes, hash)),
            said: None,
            numbers,
            check: Some(|bytes| check(bytes, true)),
            again: None,
            viewed: true,
            accepted: Vec::new(),
            rejected: Vec::new(),
            texts: Vec::new(),
        }
    }

    pub(crate) fn accept(&mut self, name: impl Into<String>, bytes: Vec<u8>, probes: Vec<u64>) {
        self.accepted.push((name.into(), bytes, probes));
    }

    pub(crate) fn reject(&mut self, name: impl Into<String>, status: u32, bytes: Vec<u8>) {
        self.rejected.push((name.into(), bytes, status));
    }

    /// The files in the order of their names.
    pub(crate) fn sorted(mut self) -> Golden {
        self.accepted.sort();
        self.rejected.sort();
        self
    }

    pub(crate) fn are_committed(self) {
        let (mut files, mut manifest) = (BTreeMap::new(), String::new());
        for (name, bytes, probes) in self.accepted {
            let name = format!("accepted/{name}.bloomline");
            write!(manifest, "accepted {name}").unwrap();
            (self.numbers)(&bytes).iter().for_each(|field| write!(manifest, " {field}").unwrap());
            manifest.push('\n');
            let said = |hash| match self.said {
                Some(said) => said(&bytes, hash),
                None => (self.answer)(&bytes, hash).to_string(),
            };
            let row = |hash| format!("{hash:016x} {}\n", said(hash));
            let answers: String = probes.into_iter().map(row).collect();
            files.insert(format!("{name}.probes"), answers.into_bytes());
            files.insert(name, bytes);
        }
        for (name, bytes, status) in self.rejected {
            let name = format!("rejected/{name}.bloomline");
            writeln!(manifest, "rejected {name} {status}").unwrap();
            files.insert(name, bytes);
        }
        files.insert("MANIFEST".into(), manifest.into_bytes());
        files.extend(self.texts.into_iter().map(|(name, text)| (name.into(), text.into_bytes())));
        committed::are_what_is_made(self.kind, &files, self.most);
    }

    /// Decoded they have the answers of the definition, in every way to ask, and the same bytes, but for
    /// a key count that is counted anew; and so have views of every backend.
    pub(crate) fn are_read<S: Subject>(self) {
        for (name, bytes, probes) in self.accepted {
            if let Some(check) = self.check {
                assert_eq!(check(&bytes), status::OK, "{name}");
            }
            assert!(Kind::of(&bytes).is_ok(), "{name}");
            let expected: Vec<bool> =
                probes.iter().map(|&hash| (self.answer)(&bytes, hash) > 0).collect();
            let filter = S::open(&bytes).unwrap();
            let mut again = filter.bytes();
            put(&mut again, KEY_COUNT, get(&bytes, KEY_COUNT));
            seal_footer(&mut again);
            let expected_again = self.again.map_or_else(|| bytes.clone(), |again| again(&bytes));
            assert!(again == expected_again, "{name}");
            assert_eq!(filter.contains(&Keys::Hashes(probes.clone())), expected, "{name}");
            if !self.viewed {
                assert_eq!(status_of_result(&View::open(&bytes)), status::LAYOUT, "{name}");
                continue;
            }
            let views = Backend::available().map(|by| View::open_with_backend(&bytes, by).unwrap());
            for view in views.chain([View::open_unverified(&bytes).unwrap()]) {
                let mut bitmap = vec![0; probes.len().div_ceil(64)];
                view.contains_hashes(&probes, &mut bitmap);
                for (i, (&hash, &expected)) in probes.iter().zip(&expected).enumerate() {
                    assert_eq!(view.contains_hash(hash), expected, "{name} {hash:x}");
                    assert_eq!(bitmap[i / 64] >> (i % 64) & 1 == 1, expected, "{name} {hash:x}");
                }
                assert_eq!(view.key_count(), get(&bytes, KEY_COUNT), "{name}");
            }
        }
    }

    /// Readers give the status. Without a look at what is before the footer, only rules about that are
    /// left out.
    pub(crate) fn are_rejected<S: Subject>(self) {
        for (name, bytes, mut status) in self.rejected {
            if name.starts_with("length-most-") && usize::BITS == 32 {
                status = status::LINE_COUNT; // more than can be addressed, which is looked at first
            } else if let Some(check) = self.check {
                assert_eq!(check(&bytes), status, "{name}, by the definition");
            }
            assert_eq!(status_of_result(&S::open(&bytes)), status, "{name}, decoded");
            if !self.viewed {
                assert!(View::open(&bytes).is_err(), "{name}, view");
                continue;
            }
            for backend in Backend::available() {
                let view = View::open_with_backend(&bytes, backend);
                assert_eq!(status_of_result(&view), status, "{name}, {}", backend.name());
            }
            let verified_only = name.starts_with("lines-") || name.starts_with("counters-");
            let unverified = if verified_only { status::OK } else { status };
            assert_eq!(status_of_result(&View::open_unverified(&bytes)), unverified, "{name}");
        }
    }
}

/// Line count, k, seed and key count.
pub(crate) fn numbers(bytes: &[u8]) -> Vec<u64> {
    [LINE_COUNT, K, SEED, KEY_COUNT].map(|field| get(bytes, field)).to_vec()
}

/// The three tests of a kind: `golden` makes its files, which are read as a subject.
macro_rules! golden_tests {
    ($subject:ty) => {
        #[test]
        fn committed_files_are_what_the_definition_makes() {
            golden().are_committed();
        }

        #[test]
        fn accepted_files_are_read() {
            golden().are_read::<$subject>();
        }

        #[test]
        fn rejected_files_give_their_error() {
            golden().are_rejected::<$subject>();
        }
    };
}
pub(crate) use golden_tests;

/// An intact file, to be spoilt.
pub(crate) struct Intact(pub(crate) Vec<u8>);

impl Intact {
    /// With fields of the footer changed, checksums made right again.
    pub(crate) fn with(&self, fields: &[(Range<usize>, u64)]) -> Vec<u8> {
        let mut bytes = self.0.clone();
        for (field, value) in fields {
            put(&mut bytes, field.clone(), *value);
        }
        seal(&mut bytes);
        bytes
    }

    /// The same with the footer's checksum wrong.
    pub(crate) fn unsealed(&self, fields: &[(Range<usize>, u64)]) -> Vec<u8> {
        let mut bytes = self.with(fields);
        let sum = get(&bytes, FOOTER_CHECKSUM);
        put(&mut bytes, FOOTER_CHECKSUM, !sum);
        bytes
    }

    /// With a field of the footer changed, checksums as they were.
    pub(crate) fn altered(&self, field: Range<usize>, value: u64) -> Vec<u8> {
        let mut bytes = self.0.clone();
        put(&mut bytes, field, value);
        bytes
    }

    /// With some bytes before the footer changed, checksums made right again.
    pub(crate) fn changed(&self, change: impl Fn(&mut [u8])) -> Vec<u8> {
        let mut bytes = self.0.clone();
        let body = bytes.len() - FOOTER_BYTES;
        change(&mut bytes[..body]);
        seal(&mut bytes);
        bytes
    }

    /// With bits of a byte turned, checksums as they were.
    pub(crate) fn flipped(&self, at: usize, bits: u8) -> Vec<u8> {
        let mut bytes = self.0.clone();
        bytes[at] ^= bits;
        bytes
    }
}
