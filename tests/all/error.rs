//! Errors say which value was wrong, and can be cloned and compared.

use bloomline::engines::{leveldb, rocksdb};
use bloomline::{
    Builder, CuckooParams, Error, Filter, Params, ScalableFilter, View, Window, block_build,
};
use std::error::Error as _;
use std::io;

fn params(lines: u64, k: u32) -> Params {
    Params::new(lines, k, 0).unwrap()
}

#[test]
fn shapes() {
    assert_eq!(Params::new(1, 17, 0).err().unwrap(), Error::K(17));
    assert_eq!(CuckooParams::new(1, 9, 0).err().unwrap(), Error::K(9));
    assert_eq!(Params::new(0, 6, 0).err().unwrap(), Error::LineCount(0));
    assert_eq!(Params::new(u64::MAX - 1, 6, 0).err().unwrap(), Error::LineCount(u64::MAX - 1));
    assert_eq!(params(5, 6).foldable(64).err().unwrap(), Error::LineCount(u64::MAX));
    assert_eq!(CuckooParams::new(1 << 32, 8, 0).err().unwrap(), Error::LineCount(1 << 32));
    for rate in [-1.0, 0.0, 1.0, 1e-30, f64::INFINITY] {
        assert_eq!(Params::for_rate(10, rate).err().unwrap(), Error::Rate(rate));
        assert_eq!(CuckooParams::for_rate(10, rate).err().unwrap(), Error::Rate(rate));
        assert_eq!(ScalableFilter::new(10, rate, 0).err().unwrap(), Error::Rate(rate));
    }
    assert!(matches!(Params::for_rate(10, f64::NAN), Err(Error::Rate(rate)) if rate.is_nan()));
    for bits in [-1.0, 0.0, f64::INFINITY] {
        assert_eq!(Params::for_bits(10, bits).err().unwrap(), Error::BitsPerKey(bits));
        assert_eq!(Builder::new(bits, 0).err().unwrap(), Error::BitsPerKey(bits));
    }
    assert_eq!(rocksdb::block_len(10, 0.25).err().unwrap(), Error::BitsPerKey(0.25));
    assert_eq!(leveldb::block_len(10, -2.0).err().unwrap(), Error::BitsPerKey(-2.0));
    assert_eq!(Window::new(0, 10, 0.01, 0).err().unwrap(), Error::Generations(0));
    let mut odd = Filter::new(params(7, 6)).unwrap();
    assert_eq!(odd.fold().err().unwrap(), Error::OddLineCount(7));
    assert_eq!(
        crate::definition::classic_filter(params(2, 6)).unwrap().fold().err().unwrap(),
        Error::Layout(6)
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
        (
            Error::Rate(f64::NAN),
            "the false-positive rate is too small, or not between 0 and 1: NaN",
        ),
        (Error::K(17), "k is outside 1 to 16, or fingerprint bits are not 8, 12 or 16: 17"),
        (
            Error::BufferTooSmall { needed: 128, given: 9 },
            "the buffer is too small: 9 bytes, not 128",
        ),
        (
            Error::Truncated { needed: 64, given: 0 },
            "wrong data length: empty, truncated, or extra bytes: 0 bytes, not 64",
        ),
        (Error::Full, "the filter is full"),
    ] {
        assert_eq!(error.to_string(), text);
    }
}
