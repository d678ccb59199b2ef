//! Filter blocks of RocksDB, LevelDB and Parquet: any bytes are opened without harm and answered as
//! the formats' plain rules say, by every backend; what is built of any hashes are the bytes
//! that those rules give.
#![no_main]

use bloomline::definition::{fast_local, kudu, sbbf, velox};
use bloomline::engines::parquet;
use bloomline::internals::Prefetch;
use bloomline::{Backend, Bitmap, Error, KuduView, VeloxView, View, engines};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;

#[derive(Debug, Arbitrary)]
struct Input {
    format: u8,
    block: Vec<u8>,
    hashes: Vec<u64>,
    keys: Vec<Vec<u8>>,
    quarter_bits: u8,
}

const PLANS: [Prefetch; 3] = [Prefetch::None, Prefetch::Far, Prefetch::FarAndNear];

fuzz_target!(|input: Input| {
    let (hashes, bits) = (&input.hashes[..], f64::from(input.quarter_bits) / 4.0);
    let format = input.format % 4;
    if format == 3 {
        return check_parquet(&input);
    }
    let (block_len, block_build): (BlockLen, BlockBuild) = match format {
        0 => (engines::rocksdb::block_len, engines::rocksdb::block_build),
        1 => (engines::rocksdb_legacy::block_len, engines::rocksdb_legacy::block_build),
        _ => (engines::leveldb::block_len, engines::leveldb::block_build),
    };
    if format == 0 && bits < 0.5 {
        // A block without bits would deny every key.
        let error = if bits > 0.0 { Error::TooFewBits(bits) } else { Error::BitsPerKey(bits) };
        assert_eq!(block_len(hashes.len() as u64, bits), Err(error.clone()));
        assert_eq!(block_build(hashes, bits, &mut [0; 64]), Err(error));
        return check(&input.block, &input, true);
    }
    let len = block_len(hashes.len() as u64, bits).unwrap();
    let mut built = vec![0xAA; len];
    let written = block_build(hashes, bits, &mut built);
    check_built(&built, written, hashes, format < 2);
    if format == 0 && len > 5 {
        let k = u32::from(built[len - 3]);
        let mut lines = vec![0; len - 5];
        hashes.iter().for_each(|&hash| fast_local::insert(&mut lines, k, hash));
        assert!(built[..len - 5] == lines, "not the lines of the definition");
    }
    check(&input.block, &input, format < 2);
});

type BlockLen = fn(u64, f64) -> Result<usize, Error>;
type BlockBuild = fn(&[u64], f64, &mut [u8]) -> Result<usize, Error>;

/// A block that was just built says yes to all that is in it.
fn check_built(built: &[u8], written: Result<usize, Error>, hashes: &[u64], rocksdb: bool) {
    assert_eq!(written.unwrap(), built.len());
    if built.is_empty() {
        return;
    }
    let expected = plain(built, rocksdb).expect("a kind that is read");
    for &hash in hashes {
        assert!(expected(hash), "lost {hash:#x}");
    }
    let view = open(built, Backend::active().unwrap(), rocksdb).unwrap();
    let mut bitmap = vec![0; hashes.len().div_ceil(64)];
    assert_eq!(view.contains_hashes(hashes, &mut bitmap), hashes.len());
}

fn open(block: &[u8], backend: Backend, rocksdb: bool) -> Result<View<'_>, Error> {
    if rocksdb {
        View::open_rocksdb_with_backend(block, backend)
    } else {
        View::open_leveldb(block)
    }
}

/// Any bytes: a status, or the answers of the plain rules from every backend.
fn check(block: &[u8], input: &Input, rocksdb: bool) {
    // With nothing behind them that could be read by mistake.
    let block: Box<[u8]> = block.into();
    let expected = plain(&block, rocksdb);
    for backend in Backend::available() {
        let view = match (open(&block, backend, rocksdb), &expected) {
            (Ok(view), Some(_)) => view,
            (Err(Error::Layout(_)), None) => continue,
            (opened, _) => panic!("{backend:?}: {:?}", opened.map(|_| "opened")),
        };
        let expected = expected.as_ref().unwrap();
        let key_hashes: Vec<u64> = input.keys.iter().map(|key| view.hash(key)).collect();
        for plan in PLANS {
            let mut bitmap = vec![!0; input.hashes.len().div_ceil(64)];
            view.contains_hashes_with(&input.hashes, plan, &mut bitmap);
            for (i, &hash) in input.hashes.iter().enumerate() {
                assert_eq!(bitmap[i / 64] >> (i % 64) & 1 == 1, expected(hash), "{backend:?}");
                assert_eq!(view.contains_hash(hash), expected(hash), "{backend:?}");
            }
        }
        let mut bitmap = vec![!0; input.keys.len().div_ceil(64)];
        view.contains_keys(&input.keys, &mut bitmap);
        for (i, &hash) in key_hashes.iter().enumerate() {
            assert_eq!(bitmap[i / 64] >> (i % 64) & 1 == 1, expected(hash), "{backend:?}");
        }
    }
}

/// Of Parquet: any bytes are an error, or blocks that are asked as the definition says; so are any blocks;
/// what is inserted and folded is what the definition makes.
fn check_parquet(input: &Input) {
    let (bytes, hashes): (Box<[u8]>, _) = (input.block.as_slice().into(), &input.hashes[..]);
    match (parquet::read_header(&bytes), View::open_parquet(&bytes)) {
        (Ok(parquet::Header { header_len, bits_len }), opened) => {
            assert!(header_len <= parquet::MAX_HEADER_LEN && bits_len > 0 && bits_len % 32 == 0);
            match (bytes.get(header_len..header_len + bits_len), opened) {
                (Some(bits), Ok(view)) => ask_parquet(view, bits, input),
                (None, Err(Error::Truncated { needed, .. })) => {
                    assert_eq!(needed, (header_len + bits_len) as u64);
                }
                (_, opened) => panic!("{opened:?}"),
            }
        }
        (Err(error), opened) => assert_eq!(opened.unwrap_err(), error),
    }
    let bits: Box<[u8]> = bytes[..bytes.len() / 32 * 32].into();
    if bits.is_empty() {
        return;
    }
    for backend in Backend::available() {
        let view = View::open_parquet_bits_with_backend(&bits, backend).unwrap();
        ask_parquet(view, &bits, input);
    }
    ask_others(&bits, hashes);
    let (mut built, mut plain) = (bits.to_vec(), bits.to_vec());
    parquet::insert_hashes(&mut built, hashes).unwrap();
    hashes.iter().for_each(|&hash| sbbf::insert(&mut plain, hash));
    assert!(built == plain, "not the bits of the definition");
    let rate = (f64::from(input.quarter_bits) + 1.0) / 300.0;
    let len = parquet::fold(&mut built, rate).unwrap();
    built.truncate(len);
    assert!(hashes.iter().all(|&hash| sbbf::contains(&built, hash)));
}

fn ask_parquet(view: View<'_>, bits: &[u8], input: &Input) {
    for plan in PLANS {
        let mut bitmap = vec![!0; input.hashes.len().div_ceil(64)];
        view.contains_hashes_with(&input.hashes, plan, &mut bitmap);
        for (i, &hash) in input.hashes.iter().enumerate() {
            let expected = sbbf::contains(bits, hash);
            assert_eq!(bitmap[i / 64] >> (i % 64) & 1 == 1, expected);
            assert_eq!(view.contains_hash(hash), expected);
        }
    }
    for key in &input.keys {
        assert_eq!(view.contains(key), sbbf::contains(bits, parquet::hash(key)));
    }
}

/// The same blocks as those of other programs.
fn ask_others(bits: &[u8], hashes: &[u64]) {
    let (mut answers, view) = (Bitmap::new(), VeloxView::open(bits, 32).unwrap());
    view.contains_hashes(hashes, &mut answers);
    for (i, &hash) in hashes.iter().enumerate() {
        let expected = velox::contains(bits, hash);
        assert_eq!((answers[i], view.contains_hash(hash)), (expected, expected));
    }
    let blocks = (bits.len() / 32) as u32;
    let view = match KuduView::open(bits) {
        Ok(view) if blocks.is_power_of_two() => view,
        Err(Error::LineCount(count)) if count == u64::from(blocks) => return,
        opened => panic!("{opened:?}"),
    };
    let hashes: Vec<u32> = hashes.iter().map(|&hash| hash as u32).collect();
    view.contains_hashes32(&hashes, &mut answers);
    for (i, &hash) in hashes.iter().enumerate() {
        let expected = kudu::contains(bits, hash);
        assert_eq!((answers[i], view.contains_hash32(hash)), (expected, expected));
    }
}

type Answer<'a> = Box<dyn Fn(u64) -> bool + 'a>;

/// What a block says of a hash, by the formats' rules; none for a kind that is not read.
fn plain(block: &[u8], rocksdb: bool) -> Option<Answer<'_>> {
    let no: Answer = Box::new(|_| false);
    let maybe: Answer = Box::new(|_| true);
    if !rocksdb {
        return Some(match block.split_last() {
            None | Some((_, [])) => no,
            Some((0 | 31.., _)) => maybe,
            Some((&k, bits)) => Box::new(move |hash| {
                steps(hash, k).all(|x| bit(bits, u64::from(x) % (8 * bits.len() as u64)))
            }),
        });
    }
    let Some((lines, trailer)) =
        block.split_last_chunk::<5>().filter(|(lines, _)| !lines.is_empty())
    else {
        return Some(no);
    };
    match *trailer {
        [0xFF, 0, k @ 1..=30, 0, 0] => {
            let lines = &lines[..lines.len() / 64 * 64];
            if lines.is_empty() {
                return Some(maybe);
            }
            Some(Box::new(move |hash| fast_local::contains(lines, k.into(), hash)))
        }
        [0, ..] => Some(maybe),
        [k @ 1..=127, a, b, c, d] => {
            let count = u64::from(u32::from_le_bytes([a, b, c, d]));
            let size = (lines.len() as u64).checked_div(count).unwrap_or(0);
            if ![64, 128, 256].contains(&size) || size * count != lines.len() as u64 {
                return Some(maybe);
            }
            Some(Box::new(move |hash| {
                let line = u64::from(hash as u32) % count * size * 8;
                steps(hash, k).all(|x| bit(lines, line + u64::from(x) % (8 * size)))
            }))
        }
        _ => None,
    }
}

/// The values that positions are made of: the low 32 bits of the hash, and then each the one
/// before plus the first turned right by 17.
fn steps(hash: u64, k: u8) -> impl Iterator<Item = u32> {
    let first = hash as u32;
    let delta = first >> 17 | first << 15;
    std::iter::successors(Some(first), move |x| Some(x.wrapping_add(delta))).take(k.into())
}

fn bit(bytes: &[u8], at: u64) -> bool {
    bytes[(at / 8) as usize] >> (at % 8) & 1 == 1
}
