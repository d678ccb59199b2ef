//! Errors say which value was wrong, and can be cloned and compared.

use bloomline::engines::{leveldb, rocksdb};
use bloomline::{
    Builder, CuckooParams, Error, Filter, Params, ScalableFilter, StaticParams, View, Window,
    block_build,
};
use std::error::Error as _;
use std::io;

fn params(lines: u64, k: u32) -> Params {
    Params::new(lines, k, 0).unwrap()
}

#[test]
fn shapes() {
    assert_eq!(Params::new(1, 17, 0).err().unwrap(), Error::K(17));
    assert_eq!(CuckooParams::new(1, 9, 0).err().unwrap(), Error::FingerprintBits(9));
    assert_eq!(StaticParams::new(1, 3, 0).err().unwrap(), Error::Rows(3));
    assert_eq!(Params::new(0, 6, 0).err().unwrap(), Error::NoLines);
    assert_eq!(CuckooParams::new(0, 8, 0).err().unwrap(), Error::NoLines);
    assert_eq!(StaticParams::new(0, 8, 0).err().unwrap(), Error::NoLines);
    assert_eq!(Params::new(u64::MAX - 1, 6, 0).err().unwrap(), Error::LineCount(u64::MAX - 1));
    assert_eq!(params(5, 6).foldable(64).err().unwrap(), Error::LineCount(u64::MAX));
    assert_eq!(CuckooParams::new(1 << 32, 8, 0).err().unwrap(), Error::LineCount(1 << 32));
    for (rate, error) in [
        (-1.0, Error::Rate(-1.0)),
        (0.0, Error::Rate(0.0)),
        (1.0, Error::Rate(1.0)),
        (f64::INFINITY, Error::Rate(f64::INFINITY)),
        (1e-70, Error::RateTooSmall(1e-70)),
    ] {
        assert_eq!(Params::for_rate(10, rate).err().unwrap(), error);
        assert_eq!(Params::classic_for_rate(10, rate).err().unwrap(), error);
        assert_eq!(CuckooParams::for_rate(10, rate).err().unwrap(), error);
        assert_eq!(StaticParams::for_rate(10, rate).err().unwrap(), error);
        assert_eq!(ScalableFilter::new(10, rate, 0).err().unwrap(), error);
        assert_eq!(Window::new(2, 10, rate, 0).err().unwrap(), error);
    }
    assert!(matches!(Params::for_rate(10, f64::NAN), Err(Error::Rate(rate)) if rate.is_nan()));
    for bits in [-1.0, 0.0, f64::INFINITY] {
        assert_eq!(Params::for_bits(10, bits).err().unwrap(), Error::BitsPerKey(bits));
        assert_eq!(Builder::new(bits, 0).err().unwrap(), Error::BitsPerKey(bits));
    }
    assert_eq!(rocksdb::block_len(10, 0.25).err().unwrap(), Error::TooFewBits(0.25));
    assert_eq!(rocksdb::block_len(10, 0.0).err().unwrap(), Error::BitsPerKey(0.0));
    assert_eq!(StaticParams::for_bits(10, 3.0).err().unwrap(), Error::TooFewBits(3.0));
    assert_eq!(StaticParams::for_bits(10, -3.0).err().unwrap(), Error::BitsPerKey(-3.0));
    assert_eq!(leveldb::block_len(10, -2.0).err().unwrap(), Error::BitsPerKey(-2.0));
    assert_eq!(Window::new(0, 10, 0.01, 0).err().unwrap(), Error::Generations(0));
    let mut odd = Filter::new(params(7, 6)).unwrap();
    assert_eq!(odd.fold().err().unwrap(), Error::OddLineCount(7));
    assert_eq!(
        crate::definition::classic_filter(params(2, 6)).unwrap().fold().err().unwrap(),
        Error::Classic
    );
    assert_eq!(odd.union(&Filter::new(params(5, 6)).unwrap()).err().unwrap(), Error::Mismatch);
}

#[test]
fn lengths() {
    let filter = Filter::new(params(3, 6)).unwrap();
    let error = Error::BufferTooSmall { needed: 4 * 64, given: 100 };
    assert_eq!(filter.encode(&mut [0; 100]).err().unwrap(), error);
    assert_eq!(block_build(&params(3, 6), &[1, 2], &mut [0; 100]).err().unwrap(), error);
    let bytes = filter.to_bytes().unwrap();
    for (data, needed) in [(&bytes[..10], 64), (&[], 64), (&bytes[64..], 4 * 64)] {
        let error = Error::Truncated { needed, given: data.len() as u64 };
        assert_eq!(View::open(data).err().unwrap(), error);
        assert_eq!(Filter::decode(data).err().unwrap(), error);
    }
    let mut longer = bytes.clone();
    longer.splice(0..0, [0; 9]);
    let error = Error::Truncated { needed: 4 * 64, given: 4 * 64 + 9 };
    assert_eq!(View::open(&longer).err().unwrap(), error);
    let mut newer = bytes;
    let version = newer.len() - 64 + 30;
    newer[version] = 9;
    assert_eq!(View::open(&newer).err().unwrap(), Error::Version(9));
    let mut scalable = ScalableFilter::new(100, 0.01, 0).unwrap();
    (0..10u64).for_each(|i| {
        scalable.insert_hash(i.wrapping_mul(0x9E37_79B9_7F4A_7C15)).unwrap();
    });
    let given = scalable.key_count() - 1;
    let error = scalable.to_filter(1..=given).err().unwrap();
    assert_eq!(error, Error::KeyCount { needed: given + 1, given });
    assert_eq!(View::open(&scalable.to_bytes().unwrap()).err().unwrap(), Error::Layout(3));
    // Ribbon.
    assert_eq!(View::open_rocksdb(&[1, 2, 0xFE, 0, 0, 0, 0]).err().unwrap(), Error::Layout(0xFE));
}

#[test]
fn of_the_system() {
    let missing = || Filter::load("no-such-file").err().unwrap();
    let error = missing();
    assert_eq!(error, missing());
    assert_eq!(error, error.clone());
    assert_eq!(error, io::Error::from_raw_os_error(2).into());
    assert_ne!(error, io::Error::from(io::ErrorKind::NotFound).into(), "one has no code");
    assert_ne!(error, io::Error::from_raw_os_error(13).into());
    assert_ne!(error, Error::NotAFile);
    let Error::Io(io) = &error else { panic!("{error:?}") };
    assert_eq!(io.kind(), io::ErrorKind::NotFound);
    assert!(error.source().unwrap().is::<io::Error>());
    let source = error.source().unwrap();
    assert_eq!(error.to_string(), format!("input or output failed: no-such-file: {source}"));
    assert_eq!(io.path(), Some("no-such-file".as_ref()));
    // Streams have no path.
    let error = Error::from(io::Error::from_raw_os_error(2));
    let Error::Io(io) = &error else { panic!("{error:?}") };
    assert_eq!((io.path(), io.to_string()), (None, error.source().unwrap().to_string()));
}

#[test]
fn what_they_say() {
    for (error, text) in [
        (Error::Rate(f64::NAN), "the false-positive rate is not between 0 and 1: NaN"),
        (Error::FingerprintBits(9), "the fingerprint bits are not 8, 12 or 16: 9"),
        (Error::NoLines, "the parameters are not filled in: the line count is 0"),
        (
            Error::BufferTooSmall { needed: 128, given: 9 },
            "the buffer is too small: 9 bytes, not 128",
        ),
        (
            Error::Truncated { needed: 64, given: 0 },
            "wrong data length: empty, truncated, or extra bytes: 0 bytes, not 64",
        ),
        (Error::Full, "the filter is full"),
        (
            Error::KeyCount { needed: 9, given: 7 },
            "fewer keys than the filter has: give each key again: 7, not 9",
        ),
    ] {
        assert_eq!(error.to_string(), text);
    }
}

/// Go says of an error what Rust says. (C has Rust's texts.)
#[test]
fn go_says_the_same() {
    let go = concat!(
        include_str!("../../go/errors.go"),
        include_str!("../../go/internal/format/footer.go"),
    );
    for error in [
        Error::Rate(0.0),
        Error::RateTooSmall(0.0),
        Error::BitsPerKey(0.0),
        Error::TooFewBits(0.0),
        Error::K(0),
        Error::FingerprintBits(0),
        Error::Rows(0),
        Error::NoLines,
        Error::LineCount(0),
        Error::OutOfMemory,
        Error::Mismatch,
        Error::OddLineCount(0),
        Error::Truncated { needed: 0, given: 0 },
        Error::NotAFilter,
        Error::Version(0),
        Error::Layout(0),
        Error::Checksum,
        Error::Reserved,
        Error::Absent,
        Error::Full,
        Error::Generations(0),
        Error::Overlap(0),
        Error::Layers,
        Error::Classic,
        Error::Columns(0),
        Error::Column(0),
        Error::ColumnShape { line_count: 0, k: 0, seed_differs: true },
        Error::Unbounded,
    ] {
        let said = error.to_string();
        // The value stands behind the last ": ".
        let has_value = format!("{error:?}").contains(['(', '{']);
        let text = if has_value { said.rsplit_once(": ").unwrap().0 } else { &said };
        assert!(go.contains(&format!("\"bloomline: {text}\"")), "{text}");
    }
}
