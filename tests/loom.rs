//! The concurrent filter's steps, `insert` and `insert_missing` of `atomic_line`, in every order that
//! threads can take them: by loom, a model checker. With its lanes in place of the CPU's.

#![cfg(all(target_arch = "x86_64", unix))]

use bloomline::internals::atomic_line::{self, Lane};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;

/// As `Lane for AtomicU64`, of loom's type.
struct Modelled(AtomicU64);

impl Lane for Modelled {
    fn load(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn or(&self, bits: u64) {
        self.0.fetch_or(bits, Ordering::Relaxed);
    }
}

/// Two lanes suffice: lanes do not know of each other.
type Line = [Modelled; 2];

fn line() -> Arc<Line> {
    Arc::new(std::array::from_fn(|_| Modelled(AtomicU64::new(0))))
}

fn mask(a: u64, b: u64) -> [u64; 2] {
    [a, b]
}

fn contains(line: &Line, mask: [u64; 2]) -> bool {
    line.iter().zip(mask).all(|(lane, bits)| lane.load() & bits.to_le() == bits.to_le())
}

type Insert = fn(&Line, [u64; 2]) -> bool;

/// The step of single keys, and that of batches where an OR is slow.
const INSERTS: [Insert; 2] = [
    |line, mask| {
        atomic_line::insert(line, || mask.into_iter().enumerate(), || contains(line, mask))
    },
    |line, mask| atomic_line::insert_missing(line, |lane| mask[lane]),
];

/// Tries every order, with each step.
fn model(work: impl Fn(Insert) + Copy + Send + Sync + 'static) {
    INSERTS.into_iter().for_each(|insert| loom::model(move || work(insert)));
}

#[test]
fn two_keys_in_one_line_are_both_there() {
    model(|insert| {
        let line = line();
        let keys = [mask(0b0011, 0b1000), mask(0b0110, 0b1000)];
        let threads = keys.map(|key| {
            let line = line.clone();
            thread::spawn(move || {
                insert(&line, key);
                assert!(contains(&line, key), "a thread sees its own insert");
            })
        });
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert!(keys.iter().all(|&key| contains(&line, key)), "an insert is lost");
    });
}

#[test]
fn the_same_key_is_new_to_one_of_two_or_to_both() {
    model(|insert| {
        let line = line();
        let key = mask(0b01, 0b10);
        let threads = [(); 2].map(|()| {
            let line = line.clone();
            thread::spawn(move || insert(&line, key))
        });
        let new = threads.map(|thread| thread.join().unwrap());
        assert!(new[0] || new[1]);
        assert!(!insert(&line, key), "it is in");
    });
}

/// What happened before is seen, with an order that others make: a flag, here.
#[test]
fn what_happened_before_is_seen() {
    model(|insert| {
        let line = line();
        let flag = Arc::new(loom::sync::atomic::AtomicBool::new(false));
        let key = mask(0b1, 0b1);
        let writer = {
            let (line, flag) = (line.clone(), flag.clone());
            thread::spawn(move || {
                insert(&line, key);
                flag.store(true, Ordering::Release);
            })
        };
        if flag.load(Ordering::Acquire) {
            assert!(contains(&line, key));
        }
        writer.join().unwrap();
    });
}

/// What a growing filter's writer does, and its readers: two lines of two words, of which the second gets what
/// the first has no room for.
mod sequence {
    use super::*;
    use bloomline::internals::sequence::{self, Sequence, Version, Word};
    use loom::sync::atomic::{AtomicBool, fence};

    /// As `Word for AtomicU64`, of loom's type.
    struct Number(AtomicU64);

    impl Word for Number {
        fn load(&self, order: Ordering) -> u64 {
            self.0.load(order)
        }

        fn store(&self, value: u64, order: Ordering) {
            self.0.store(value, order);
        }

        fn fence(order: Ordering) {
            fence(order);
        }
    }

    fn number(value: u64) -> Number {
        Number(AtomicU64::new(value))
    }

    struct Lines {
        sequence: Sequence<Number>,
        lines: [[Number; 2]; 2],
        /// Says that the second key is inserted.
        done: AtomicBool,
    }

    const FIRST: [u64; 2] = [1, 2];
    const SECOND: [u64; 2] = [3, 4];

    /// The first key is in the first line.
    fn lines() -> Arc<Lines> {
        let [a, b] = FIRST;
        Arc::new(Lines {
            sequence: Sequence(number(0)),
            lines: [[number(a), number(b)], [number(0), number(0)]],
            done: AtomicBool::new(false),
        })
    }

    impl Lines {
        /// The second key takes the place of the first, which goes on in the second line.
        fn insert_second(&self) {
            self.sequence.begin();
            sequence::store(&self.lines[0], &SECOND);
            self.sequence.begin();
            sequence::store(&self.lines[1], &FIRST);
            self.sequence.end();
            self.done.store(true, Ordering::Release);
        }

        /// Whether a key is there; none if it is not certain. A line is one key or empty, never a mixture.
        fn contains(&self, key: [u64; 2]) -> Option<bool> {
            let mut lines = [[0; 2]; 2];
            self.sequence.read(|| {
                lines
                    .iter_mut()
                    .zip(&self.lines)
                    .for_each(|(copy, line)| sequence::load(line, copy));
            })?;
            assert!(lines.iter().all(|line| [FIRST, SECOND, [0, 0]].contains(line)), "{lines:?}");
            Some(lines.contains(&key))
        }
    }

    #[test]
    fn a_key_is_there_while_it_goes_on_in_the_next_line() {
        loom::model(|| {
            let lines = lines();
            let writer = {
                let lines = lines.clone();
                thread::spawn(move || lines.insert_second())
            };
            assert_ne!(lines.contains(FIRST), Some(false));
            writer.join().unwrap();
            assert_eq!([lines.contains(FIRST), lines.contains(SECOND)], [Some(true); 2]);
        });
    }

    #[test]
    fn a_key_inserted_before_is_there() {
        loom::model(|| {
            let lines = lines();
            let writer = {
                let lines = lines.clone();
                thread::spawn(move || lines.insert_second())
            };
            if lines.done.load(Ordering::Acquire) {
                assert_eq!(lines.contains(SECOND), Some(true));
            }
            writer.join().unwrap();
        });
    }

    /// A region with one line, and the new line that its key is moved to.
    struct Moving {
        sequence: Sequence<Number>,
        version: Version<Number>,
        /// Which state readers see: 0 knows of no new line.
        state: AtomicU64,
        /// Of state 1: how much is moved.
        moved: AtomicU64,
        old: [Number; 2],
        new: [Number; 2],
    }

    impl Moving {
        /// The state is replaced when the region begins to move, and then the key is moved.
        fn move_first(&self) {
            self.sequence.begin();
            self.state.store(1, Ordering::Release);
            self.version.raise();
            self.sequence.end();
            self.sequence.begin();
            sequence::store(&self.new, &FIRST);
            sequence::store(&self.old, &[0, 0]);
            self.moved.store(1, Ordering::Relaxed);
            self.sequence.end();
        }

        /// As a batch does: first the version and the state, then lines. None if it is not certain.
        fn contains_first(&self) -> Option<bool> {
            let (version, state) = (self.version.now(), self.state.load(Ordering::Acquire));
            let moved = || if state == 0 { 0 } else { self.moved.load(Ordering::Relaxed) };
            let before = moved();
            let mut line = [0; 2];
            let alike = self.sequence.read(|| {
                sequence::load(if before == 0 { &self.old } else { &self.new }, &mut line);
                moved() == before
            });
            (alike == Some(true) && self.version.is_still(version)).then_some(line == FIRST)
        }
    }

    #[test]
    fn a_key_is_there_while_its_region_is_replaced() {
        loom::model(|| {
            let [a, b] = FIRST;
            let lines = Arc::new(Moving {
                sequence: Sequence(number(0)),
                version: Version(number(0)),
                state: AtomicU64::new(0),
                moved: AtomicU64::new(0),
                old: [number(a), number(b)],
                new: [number(0), number(0)],
            });
            let writer = {
                let lines = lines.clone();
                thread::spawn(move || lines.move_first())
            };
            assert_ne!(lines.contains_first(), Some(false));
            writer.join().unwrap();
            assert_eq!(lines.contains_first(), Some(true));
        });
    }
}
