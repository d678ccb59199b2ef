//! How much of an encoded filter is written for a range of it.

use super::encoded::{Body, Encoded, write_range};
use super::native::{Footer, FooterBytes, footer};
use crate::error::Error;
use std::cell::Cell;
use std::io::{self, Write};
use std::ops::Range;

/// A body of so many bytes, which counts those that it hands over.
struct Counted(usize, Cell<usize>);

impl Encoded for Counted {
    fn footer(&self) -> Footer {
        footer(1, crate::shape::Params::new(1, 1, 0).expect("valid"), 0)
    }

    fn body_len(&self) -> usize {
        self.0
    }

    fn write_body(&self, from: usize, out: &mut dyn Write) -> io::Result<()> {
        (from..self.0).try_for_each(|i| {
            self.1.set(self.1.get() + 1);
            out.write_all(&[i as u8])
        })
    }

    fn read(_: &FooterBytes, _: &mut Body<'_>) -> Result<Counted, Error> {
        Err(Error::NotAFilter)
    }

    fn copy(&self) -> Result<Counted, Error> {
        Err(Error::NotAFilter)
    }

    fn memory(&self) -> usize {
        0
    }
}

#[test]
fn a_range_costs_its_bytes_and_the_footer_one_pass() {
    let filter = Counted(10_000, Cell::new(0));
    let work = |range: Range<usize>| {
        write_range(&filter, range, &mut io::sink()).expect("a sink");
        filter.1.take()
    };
    // At the most one more, where the range is found to end.
    for (range, bytes) in [(0..100, 100), (9000..9100, 100), (9900..10_000, 100), (5..5, 0)] {
        assert!((bytes..=bytes + 1).contains(&work(range.clone())), "{range:?}");
    }
    assert_eq!(work(10_000..10_064), 10_000, "their checksum");
    assert_eq!(work(9990..10_064), 10_010);
    assert_eq!(work(0..10_064), 10_000, "the whole at once");
    assert_eq!(work(10_064..20_000), 0);
    // All of it in chunks: each byte once, and once more for the checksum.
    let chunks = (0..10_064).step_by(100).map(|at| work(at..at + 100)).sum::<usize>();
    assert!(chunks <= 2 * 10_000 + 101, "{chunks}");
}
