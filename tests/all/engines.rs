//! Filter blocks of RocksDB, Pebble and LevelDB: the bytes that these engines' own tests
//! fix, the kernels against the plain definitions, and bytes that are no filter.

use bloomline::definition::fast_local;
use bloomline::engines::{leveldb, rocksdb, rocksdb_legacy};
use bloomline::{Backend, Error, View, engines, hash};

/// RocksDB's test keys: integers as four little-endian bytes.
fn keys(range: std::ops::Range<u32>) -> impl Iterator<Item = [u8; 4]> {
    range.map(u32::to_le_bytes)
}

fn fast_local_block(hashes: &[u64], bits_per_key: f64) -> Vec<u8> {
    let len = engines::rocksdb::block_len(hashes.len() as u64, bits_per_key).unwrap();
    let mut block = vec![0xEE; len];
    assert_eq!(engines::rocksdb::block_build(hashes, bits_per_key, &mut block).unwrap(), len);
    if len > 0 {
        let short = engines::rocksdb::block_build(hashes, bits_per_key, &mut vec![0; len - 1]);
        assert!(matches!(short, Err(Error::BufferTooSmall { .. })));
    }
    block
}

/// The 32-bit hash of the whole block, by which RocksDB's tests fix its bytes.
fn fingerprint(block: &[u8]) -> u32 {
    hash::bloom32::rocksdb_legacy(block)
}

#[test]
fn fast_local_blocks_are_rocksdbs() {
    let of = |range, bits| {
        let hashes: Vec<u64> = keys(range).map(|key| engines::rocksdb::hash(&key)).collect();
        fingerprint(&fast_local_block(&hashes, bits))
    };
    assert_eq!(of(0..87, 5.0), 4130687756);
    for (bits, expected) in [
        (2.0, 3817481309),
        (3.0, 2807269961),
        (5.0, 204628445),
        (8.0, 355564975),
        (9.0, 2137566013),
        (11.0, 2561502687),
        (14.0, 3709876890),
        (16.0, 1087138490),
        (10.0, 2498541272),
    ] {
        assert_eq!(of(0..2087, bits), expected, "{bits} bits per key");
    }
    assert_eq!(of(1..2087, 10.0), 2058382345);
    for (bits, expected) in [(10.0, 23699164), (9.5, 3166884174), (10.499, 4098502778)] {
        assert_eq!(of(1..2088, bits), expected, "{bits} bits per key");
    }
}

#[test]
fn two_words_by_rocksdb() {
    let hashes = [b"hello", b"world"].map(|key| engines::rocksdb::hash(key));
    let block = fast_local_block(&hashes, 10.0);
    let hex: String = block.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(
        hex,
        "00000001004100000000000002000002000200008000000000000000000000000000000000000000020800000000400000000000000040000000080000000000ff00060000"
    );
}

/// Every backend against the plain definition, for every k that the format allows.
#[test]
fn fast_local_on_every_backend() {
    let hashes: Vec<u64> = (0..3000).map(|i| hash::hash_u64(i, 1)).collect();
    let odd = [0, 1, u64::MAX, 1 << 63, 0xFFFF_FFFF, 0xFFFF_FFFF_0000_0000];
    for backend in Backend::available() {
        println!("backend {}", backend.name());
        for k in 1..=fast_local::MAX_K {
            for lines in [1, 2, 7, 100] {
                let mut block = vec![0; lines * 64];
                for &hash in &hashes[..50 * lines.min(20)] {
                    fast_local::insert(&mut block, k, hash);
                }
                let plain = block.clone();
                block.extend_from_slice(&[0xFF, 0, k as u8, 0, 0]);
                for offset in [0, 1, 33] {
                    let mut moved = vec![0xEE; offset];
                    moved.extend_from_slice(&block);
                    let view = View::open_rocksdb_with_backend(&moved[offset..], backend).unwrap();
                    let probes: Vec<u64> = odd.iter().chain(&hashes).copied().collect();
                    let mut bitmap = vec![0; probes.len().div_ceil(64)];
                    view.contains_hashes(&probes, &mut bitmap);
                    for (i, &hash) in probes.iter().enumerate() {
                        let expected = fast_local::contains(&plain, k, hash);
                        let what = (backend, k, lines, hash);
                        assert_eq!(view.contains_hash(hash), expected, "{what:?}");
                        assert_eq!(bitmap[i / 64] >> (i % 64) & 1 == 1, expected, "{what:?}");
                    }
                }
            }
        }
    }
}

/// Two words by the older format.
#[test]
fn legacy_blocks_are_rocksdbs() {
    let hashes = [b"hello", b"world"].map(|key| u64::from(engines::rocksdb_legacy::hash(key)));
    let mut block = [0; 69];
    assert_eq!(engines::rocksdb_legacy::block_len(2, 10.0).unwrap(), 69);
    assert_eq!(engines::rocksdb_legacy::block_build(&hashes, 10.0, &mut block).unwrap(), 69);
    assert_eq!(block[64..], [6, 1, 0, 0, 0]);
    let view = View::open_rocksdb(&block).unwrap();
    assert!(view.contains(b"hello") && view.contains(b"world"));
    assert!(!view.contains(b"x") && !view.contains(b"foo"));
}

/// RocksDB's tests fix the answers of raw bytes with three quarters of the bits set, to 64 keys.
#[test]
fn raw_bytes_answer_as_rocksdb_says() {
    // The bytes are the end of an array of 3,000.
    let fill = (3000 - 5 - 256..3000 - 5).map(|i| (0x7B7B_u32 >> (i % 7)) as u8);
    let goldens: [([u8; 5], u64); 4] = [
        ([2, 1, 0, 0, 0], 11384799501900898790),
        ([2, 2, 0, 0, 0], 10157853359773492589),
        ([2, 4, 0, 0, 0], 7123594913907464682),
        ([0xFF, 0, 2, 0, 0], 9957045189927952471),
    ];
    for (trailer, answers) in goldens {
        let block: Vec<u8> = fill.clone().chain(trailer).collect();
        for backend in Backend::available() {
            let view = View::open_rocksdb_with_backend(&block, backend).unwrap();
            let answer = |(i, key): (usize, [u8; 4])| u64::from(view.contains(&key)) << i;
            let found: u64 = keys(12345..12345 + 64).enumerate().map(answer).sum();
            assert_eq!(found, answers, "{trailer:?}, {}", backend.name());
        }
    }
}

/// A filter of 512 MiB is the last whose bits RocksDB and Pebble can number in 32 bits. Of a
/// larger one, nobody knows where Pebble put them.
#[test]
fn the_largest_legacy_block() {
    let absent = u64::from(engines::rocksdb_legacy::hash(b"absent"));
    for (count, answer) in [(1_u32 << 23, false), ((1 << 23) + 1, true)] {
        let mut block = vec![0; count as usize * 64 + 5]; // never touched, but for a line
        let trailer = block.len() - 5;
        block[trailer] = 6;
        block[trailer + 1..].copy_from_slice(&count.to_le_bytes());
        assert_eq!(View::open_rocksdb(&block).unwrap().contains_hash(absent), answer, "{count}");
    }
}

/// What a view says of its rate is what is measured, of the filters of each engine.
#[test]
fn estimated_rates_of_other_engines() {
    let hashes: Vec<u64> = keys(0..3000).map(|key| rocksdb::hash(&key)).collect();
    let probes: Vec<u64> =
        keys(1 << 20..(1 << 20) + 400_000).map(|key| rocksdb::hash(&key)).collect();
    let mut bitmap = vec![0; probes.len().div_ceil(64)];
    type Build = fn(&[u64], f64, &mut [u8]) -> Result<usize, Error>;
    let builds: [(Build, bool); 3] = [
        (rocksdb::block_build, false),
        (rocksdb_legacy::block_build, false),
        (leveldb::block_build, true),
    ];
    for (build, is_leveldb) in builds {
        let mut block = vec![0; 1 << 16];
        let len = build(&hashes, 8.0, &mut block).unwrap();
        let view = match is_leveldb {
            true => View::open_leveldb(&block[..len]).unwrap(),
            false => View::open_rocksdb(&block[..len]).unwrap(),
        };
        let measured = view.contains_hashes(&probes, &mut bitmap) as f64 / probes.len() as f64;
        let estimated = view.estimated_rate();
        println!("{estimated:.5}, measured {measured:.5}");
        // LevelDB's bits depend on each other, so that it is wrong more often than its fill tells.
        let most = if is_leveldb { 1.2 } else { 1.1 };
        assert!((0.9..most).contains(&(measured / estimated)), "{estimated} {measured}");
    }
}
