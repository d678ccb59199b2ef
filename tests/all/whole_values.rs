//! Filters as values: cloned, compared, shown, measured, written to buffers, streams and files and read from
//! them, by every kind.

use crate::directory::Directory;
use crate::kinds::hashes;
use bloomline::*;
use std::fmt::Debug;
use std::io::{self, Read, Write};
use std::sync::Arc;

fn params() -> Params {
    Params::for_rate(2000, 0.01).unwrap().with_seed(0x5EC2_E70F)
}

/// A stream that gives and takes a few bytes at a time.
struct Trickle(Vec<u8>);

impl Write for Trickle {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(&bytes[..bytes.len().min(7)])
    }

    fn flush(&mut self) -> io::Result<()> {
        panic!("the caller flushes")
    }
}

impl Read for Trickle {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let len = bytes.len().min(self.0.len()).min(11);
        bytes[..len].copy_from_slice(&self.0[..len]);
        self.0.drain(..len);
        Ok(len)
    }
}

/// A stream with so much room.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0 == 0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let len = bytes.len().min(self.0);
        self.0 -= len;
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Broken;

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::ErrorKind::ConnectionReset.into())
    }
}

/// What every kind can.
macro_rules! each_kind {
    ($($name:ident: $kind:ident, $ranges:ident, $layouts:tt, $make:expr, $change:expr;)*) => {$(
        mod $name {
            use super::*;
            use crate::kinds::made::$name::{change, make};

            $ranges! { $kind }

            #[test]
            fn clones_are_equal_and_apart() {
                let filter = make(1);
                let mut copy = filter.clone();
                assert_eq!(filter, copy);
                assert_eq!(filter.to_bytes(), copy.try_clone().unwrap().to_bytes());
                let before = filter.to_bytes().unwrap();
                change(&mut copy);
                assert_ne!(filter, copy);
                assert!(filter.to_bytes().unwrap() == before);
                assert_ne!(filter, make(2));
                // Both go on alike.
                let mut same = filter.clone();
                change(&mut same);
                assert_eq!(same, copy);
            }

            #[test]
            fn equal_is_what_has_equal_bytes() {
                let filters = [make(1), make(1), make(2)];
                for a in &filters {
                    for b in &filters {
                        let bytes = a.to_bytes().unwrap() == b.to_bytes().unwrap();
                        assert_eq!(a == b, bytes);
                    }
                    assert_eq!(*a, $kind::decode(&a.to_bytes().unwrap()).unwrap());
                }
            }

            #[test]
            fn shown_in_a_short_line() {
                let shown = format!("{:?}", make(1));
                assert!(shown.starts_with(concat!(stringify!($kind), " {")), "{shown}");
                assert!(shown.len() < 100 && !shown.contains('\n'), "{shown}");
                // Not the seed, which may be a secret: 0x5EC2E70F.
                assert!(!shown.contains("1589831439"), "{shown}");
            }

            #[test]
            fn streamed() {
                let filter = make(1);
                let bytes = filter.to_bytes().unwrap();
                assert_eq!(bytes.len(), filter.encoded_len());
                let mut stream = Trickle(Vec::new());
                filter.write_to(&mut stream).unwrap();
                assert!(stream.0 == bytes);
                assert_eq!($kind::read_from(&mut stream).unwrap(), filter);
                // Something comes behind the filter.
                let two = [&bytes[..], b"more"].concat();
                assert!(matches!($kind::read_from(&two[..]), Err(Error::NotAFilter)));
                let mut rest = &two[..];
                let limited = $kind::read_from(rest.by_ref().take(bytes.len() as u64));
                assert_eq!((limited.unwrap(), rest), (filter.clone(), &b"more"[..]));
                let cut = $kind::read_from(&bytes[..bytes.len() - 1]);
                assert!(matches!(cut, Err(Error::NotAFilter)));
                assert!(matches!($kind::read_from(io::empty()), Err(Error::Truncated { given: 0, .. })));
            }

            #[test]
            fn from_a_stream_that_can_seek() {
                let filter = make(1);
                let bytes = filter.to_bytes().unwrap();
                let mut stream = io::Cursor::new(&bytes);
                stream.set_position(7);
                assert_eq!($kind::load_from(&mut stream).unwrap(), filter);
                for len in [0, 63, bytes.len() - 64, bytes.len() - 1] {
                    assert!($kind::load_from(io::Cursor::new(&bytes[..len])).is_err(), "{len}");
                }
                let mut damaged = bytes.clone();
                damaged[bytes.len() / 3] ^= 1;
                let damaged = $kind::load_from(io::Cursor::new(damaged));
                assert!(matches!(damaged, Err(Error::Checksum)));
            }

            #[test]
            fn streams_that_fail() {
                let filter = make(1);
                for room in [0, 1, 1000, filter.encoded_len() - 1] {
                    let Err(Error::Io(error)) = filter.write_to(Full(room)) else { panic!("{room}") };
                    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
                }
                filter.write_to(Full(filter.encoded_len())).unwrap();
                let Err(Error::Io(error)) = $kind::read_from(Broken) else { panic!("read") };
                assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
            }

            #[test]
            fn paths_of_any_type() {
                let directory = Directory::new(stringify!($name));
                let path = directory.file("filter");
                let filter = make(1);
                filter.save(&path).unwrap();
                assert_eq!($kind::load(path.to_str().unwrap()).unwrap(), filter);
                filter.save(path.to_str().unwrap().to_string()).unwrap();
                assert_eq!($kind::load(path.clone()).unwrap(), filter);
                // Damage is found wherever it is.
                let bytes = std::fs::read(&path).unwrap();
                for at in (0..bytes.len()).step_by(997).chain([bytes.len() - 65]) {
                    let mut damaged = bytes.clone();
                    damaged[at] ^= 0x20;
                    std::fs::write(&path, &damaged).unwrap();
                    assert_eq!($kind::load(&path).unwrap_err(), Error::Checksum, "byte {at}");
                    assert_eq!($kind::decode(&damaged).unwrap_err(), Error::Checksum, "byte {at}");
                }
                std::fs::remove_file(&path).unwrap();
                let Err(Error::Io(error)) = $kind::load(&path) else { panic!("no file") };
                assert_eq!(error.kind(), io::ErrorKind::NotFound);
            }
        }
    )*};
}

/// What all can but the concurrent filter, which may change between two ranges.
macro_rules! ranges {
    ($kind:ident) => {
        #[test]
        fn buffers_get_exactly_its_length_or_nothing() {
            let filter = make(1);
            let (bytes, len) = (filter.to_bytes().unwrap(), filter.encoded_len());
            let mut buffer = vec![0xEE; len + 6];
            assert_eq!(filter.encode(&mut buffer).unwrap(), len);
            assert!(buffer[..len] == bytes && buffer[len..] == [0xEE; 6]);
            for cap in [0, 1, 63, 64, len - 1] {
                let mut buffer = vec![0xEE; cap];
                let error = filter.encode(&mut buffer).unwrap_err();
                assert_eq!(error, Error::BufferTooSmall { needed: len, given: cap });
                assert!(buffer.iter().all(|&byte| byte == 0xEE));
            }
        }

        #[test]
        fn ranges_are_those_of_the_whole() {
            let filter = make(1);
            let bytes = filter.to_bytes().unwrap();
            let len = bytes.len();
            let places = (0..len).step_by(331).chain(len.saturating_sub(140)..len + 3);
            for start in places {
                for count in [0, 1, 7, 64, 513, 70_000, len] {
                    // The stream has no room for a byte more, or before.
                    let expected = &bytes[start.min(len)..(start + count).min(len)];
                    let mut out = vec![0; expected.len()];
                    filter.write_range_to(start..start + count, &mut out[..]).unwrap();
                    assert!(out == expected, "{count} bytes from {start}");
                }
            }
            let Err(Error::Io(error)) = filter.write_range_to(9..1000, Full(990)) else { panic!() };
            assert_eq!(error.kind(), io::ErrorKind::StorageFull);
            filter.write_range_to(9..1000, Full(991)).unwrap();
            // Empty ones, too, and those that end in the footer.
            for (start, end) in [(1000, 9), (len - 1, len - 9), (len, len - 60)] {
                filter.write_range_to(start..end, Full(0)).unwrap();
            }
        }
    };
}

macro_rules! whole {
    ($kind:ident) => {};
}

crate::kinds::kinds!(each_kind);

#[test]
fn key_counts_and_kinds_are_part_of_it() {
    let empty = || Filter::new(params()).unwrap();
    let mut twice = empty();
    let mut once = empty();
    twice.insert_hashes(&[7, 7]);
    once.insert_hash(7);
    assert_ne!(once, twice);
    assert_ne!(empty(), crate::definition::classic_filter(params()).unwrap());
    assert_ne!(empty(), Filter::new(params().with_seed(1)).unwrap());
    for backend in Backend::available() {
        assert_eq!(empty(), Filter::with_backend(params(), backend).unwrap(), "not the backend");
    }
}

/// What a program derives on a struct of its own.
#[test]
fn deriving_works() {
    #[derive(Debug, Clone)]
    #[expect(dead_code, reason = "what is derived is not asked for")]
    struct Store {
        tables: Vec<Table>,
        current: Arc<Swap>,
        shared: ConcurrentFilter,
        block: OwnedView<Vec<u8>>,
        builder: Builder,
    }
    #[derive(Debug, Clone, PartialEq)]
    struct Table {
        name: &'static str,
        filter: Filter,
        why: Option<Error>,
    }
    fn derives<T: Debug + Clone>() {}
    derives::<View<'_>>();
    derives::<MappedFilter>();
    derives::<Loaded<Filter>>();
    let mut filter = Filter::new(Params::new(157, 6, 0).unwrap()).unwrap();
    filter.insert_hash(3);
    let table = Table { name: "users", filter: filter.clone(), why: Some(Error::K(17)) };
    assert_eq!(table.clone(), table);
    let store = Store {
        tables: vec![table],
        current: Arc::new(Swap::new(filter.clone())),
        shared: filter.clone().into(),
        block: OwnedView::open(filter.to_bytes().unwrap()).unwrap(),
        builder: Builder::new(10.0, 0).unwrap(),
    };
    let shown = format!("{:?}", store.clone());
    for part in [
        "\"users\", filter: Filter {",
        "K(17)",
        "keys: 1, lines: 157, k: 6, ",
        "current: Swap(Filter {",
        "ConcurrentFilter {",
        "OwnedView {",
        "Builder { keys: 0, size: BitsPerKey(10.0)",
    ] {
        assert!(shown.contains(part), "{part} is not in {shown}");
    }
}

#[test]
fn clones_of_what_is_shared_are_apart() {
    let mut filter = Filter::new(params()).unwrap();
    filter.insert_hashes(&hashes(1));
    let shared = ConcurrentFilter::from(filter.clone());
    let copy = shared.clone();
    shared.insert_hash(5);
    assert!(shared.contains_hash(5) && !copy.contains_hash(5));
    assert!(copy.into_filter().lines() == filter.lines());
    let swap = Swap::new(filter.clone());
    let (other, loaded) = (swap.clone(), swap.load());
    let kept = loaded.clone();
    drop(loaded);
    swap.publish(Filter::new(params()).unwrap());
    assert_eq!((*other.load() == filter, *swap.load() == filter), (true, false));
    assert_eq!(*kept, filter);
}

#[test]
fn blocks_of_their_own() {
    let mut builder = Builder::new(10.0, 7).unwrap();
    for key in ["apple", "pear", "plum"] {
        builder.add(key.as_bytes()).unwrap();
    }
    let mut copy = builder.clone();
    let block = builder.finish_vec().unwrap();
    assert_eq!(builder.key_count(), 0);
    let mut out = vec![1; copy.block_len().unwrap()];
    copy.finish(&mut out).unwrap();
    assert_eq!(block, out);
    assert_eq!(View::open(&block).unwrap().key_count(), 3);
    assert_eq!(builder.finish_vec().unwrap().len(), 128);
}

/// Lines and counters, to the byte; in huge pages their unused end, too.
#[test]
fn memory_is_that_of_lines_and_counters() {
    let params = |lines| Params::new(lines, 6, 0).unwrap();
    assert_eq!(Filter::new(params(10)).unwrap().memory_usage(), 640);
    assert_eq!(ConcurrentFilter::new(params(10)).unwrap().memory_usage(), 640);
    assert_eq!(CountingFilter::new(params(10)).unwrap().memory_usage(), 5 * 640);
    // Columns are padded to 64, and have a name or not.
    let mut matrix = Matrix::new(params(10), 65).unwrap();
    assert_eq!(matrix.memory_usage(), 2 * 64 * 640);
    matrix.set_names(&[7; 65]).unwrap();
    assert!((8 * 65..16 * 65).contains(&(matrix.memory_usage() - 2 * 64 * 640)));
    let cuckoo = CuckooParams::new(10, 12, 0).unwrap();
    assert_eq!(CuckooFilter::new(cuckoo).unwrap().memory_usage(), cuckoo.bytes());
    let lines = (2 << 20) / 64 + 1;
    let large = Filter::new(params(lines)).unwrap().memory_usage();
    assert!((64 * lines as usize..=(2 << 20) * 11 / 10).contains(&large), "{large}");
    let mut scalable = ScalableFilter::new(100, 0.01, 9).unwrap();
    for key in 0..5000u64 {
        scalable.insert(&key).unwrap();
        let stages: usize = scalable.stages().map(Filter::memory_usage).sum();
        assert_eq!(scalable.memory_usage(), stages);
    }
    let cascade = Cascade::from_keys(0..400u64, 10_000..20_000u64).unwrap();
    assert_eq!(cascade.memory_usage() as u64, 64 * cascade.line_count());
}
