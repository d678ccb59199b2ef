//! What the golden files of all kinds have in common: a MANIFEST, files that readers accept, with their
//! probes, and files that they reject, with the status. `kinds/golden_KIND.rs` says which they are. All are
//! made by the plain definitions alone, so a mistake that all kernels share would show.

use crate::committed;
use crate::definition::*;
use crate::histories::{Keys, Subject};
use bloomline::{Backend, Kind, Probe, View};
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
    /// What the definition says of any bytes, all of them verified or not, where it is asked.
    pub(crate) check: Option<fn(&[u8], bool) -> u32>,
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
            check: Some(check),
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
                assert_eq!(check(&bytes, true), status::OK, "{name}");
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
                answers_are(&view, &probes, |hash| (self.answer)(&bytes, hash) > 0, &name);
                assert_eq!(view.key_count(), get(&bytes, KEY_COUNT), "{name}");
            }
        }
    }

    /// A view of a type of its own, verified or not, says what the definition says of the files that are
    /// rejected. Those whose names begin so break rules about what is before the records.
    pub(crate) fn are_rejected_by(&self, of_lines: &[&str], view: impl Fn(&[u8], bool) -> u32) {
        for (name, bytes, _) in &self.rejected {
            let of_lines = of_lines.iter().any(|of_lines| name.starts_with(of_lines));
            for verify in [true, false] {
                let status = self.check.unwrap()(bytes, verify);
                assert_eq!(status == status::OK, of_lines && !verify, "{name}");
                // More than can be addressed is looked at first.
                if !name.starts_with("length-most-") || usize::BITS == 64 {
                    assert_eq!(view(bytes, verify), status, "{name}, verified: {verify}");
                }
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
                assert_eq!(check(&bytes, true), status, "{name}, by the definition");
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

/// Hashes to probe: some of these, `most` to twice as many if there are so many, others of a seed, and
/// awkward ones.
pub(crate) fn probes_of(keys: &[u64], most: usize, (others, seed): (usize, u64)) -> Vec<u64> {
    let some = keys.iter().step_by(keys.len().div_ceil(most).max(1));
    some.chain(&random_hashes(others, seed)).chain(&AWKWARD).copied().collect()
}

/// The hashes of so many keys under a seed.
pub(crate) fn seeded(count: u32, seed: u64) -> Vec<u64> {
    (0..count).map(|i| hash(format!("key {i}").as_bytes(), seed)).collect()
}

/// A view has the answers of a definition, one by one and in a batch.
pub(crate) fn answers_are(view: &impl Probe, probes: &[u64], is: impl Fn(u64) -> bool, name: &str) {
    let mut bitmap = vec![0; probes.len().div_ceil(64)];
    let count = view.contains_hashes(probes, &mut bitmap);
    assert_eq!(count, probes.iter().filter(|&&hash| is(hash)).count(), "{name}");
    for (i, &hash) in probes.iter().enumerate() {
        assert_eq!(view.contains_hash(hash), is(hash), "{name} {hash:x}");
        assert_eq!(bitmap[i / 64] >> (i % 64) & 1 == 1, is(hash), "{name} {hash:x}");
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

/// A field of a footer or of a record, and what is in it.
pub(crate) type Field = (Range<usize>, u64);

/// An intact file, to be spoilt.
pub(crate) struct Intact(pub(crate) Vec<u8>);

impl Intact {
    /// With fields of the footer changed, checksums made right again.
    pub(crate) fn with(&self, fields: &[Field]) -> Vec<u8> {
        let mut bytes = self.0.clone();
        for (field, value) in fields {
            put(&mut bytes, field.clone(), *value);
        }
        seal(&mut bytes);
        bytes
    }

    /// The same with the footer's checksum wrong.
    pub(crate) fn unsealed(&self, fields: &[Field]) -> Vec<u8> {
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

    /// With fields of one of the records changed that begin at an offset and are like footers, and all
    /// made right again that `seal` does.
    pub(crate) fn record(
        &self,
        (records, number): (usize, usize),
        fields: &[Field],
        seal: fn(&mut [u8]),
    ) -> Vec<u8> {
        let mut bytes = self.0.clone();
        for (field, value) in fields {
            put(&mut bytes[..records + 64 * (number + 1)], field.clone(), *value);
        }
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

/// The files that are rejected, made of an intact one.
pub(crate) struct Spoilt<'a> {
    pub(crate) files: &'a mut Golden,
    pub(crate) intact: &'a Intact,
}

impl Spoilt<'_> {
    pub(crate) fn add(&mut self, name: &str, status: u32, bytes: Vec<u8>) {
        self.files.reject(name, status, bytes);
    }

    /// One with fields of the footer changed, checksums made right again.
    pub(crate) fn with(&mut self, name: &str, status: u32, fields: &[Field]) {
        self.add(name, status, self.intact.with(fields));
    }

    /// One for each value of a field, which its name ends with.
    pub(crate) fn each(&mut self, name: &str, status: u32, field: Range<usize>, values: &[u64]) {
        for &value in values {
            self.with(&format!("{name}-{value}"), status, &[(field.clone(), value)]);
        }
    }

    /// One for each line count, which its name has in hexadecimal digits.
    pub(crate) fn line_counts(&mut self, counts: &[u64]) {
        for &count in counts {
            let name = format!("line-count-{count:x}");
            self.with(&name, status::LINE_COUNT, &[(LINE_COUNT, count)]);
        }
    }

    /// One with bits of a byte turned, checksums as they were.
    pub(crate) fn flip(&mut self, name: &str, at: usize, bits: u8) {
        self.add(name, status::CHECKSUM, self.intact.flipped(at, bits));
    }

    /// The first bytes of a footer gone, the footer gone, and another version.
    pub(crate) fn ends(&mut self) {
        let footer = self.intact.0.len() - FOOTER_BYTES;
        self.add("short-63", status::TRUNCATED, self.intact.0[footer + 1..].to_vec());
        self.add("magic-cut-by-a-line", status::NOT_A_FILTER, self.intact.0[..footer].to_vec());
        self.with("version-2", status::VERSION, &[(VERSION, 2)]);
    }

    /// The line count is looked at before the length, and the length, which does not fit so many lines,
    /// before the checksum of what is in front.
    pub(crate) fn order_of_lengths(&mut self, other_count: u64) {
        let none = self.intact.with(&[(LINE_COUNT, 0)]);
        self.add("order-8-9", status::LINE_COUNT, none[64..].to_vec());
        let mut other = self.intact.with(&[(LINE_COUNT, other_count)]);
        other[0] ^= 1;
        self.add("order-9-10", status::TRUNCATED, other);
    }
}
