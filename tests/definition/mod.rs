//! Encoded filters as `docs/FORMAT.md` and `docs/format/` define them, in the plainest way: a writer, a
//! reader that says which rule a file breaks, and hashes that are the same on every
//! run. The golden files are made with it, and the tests and fuzzers compare with it.
//!
//! Of the library it uses `line.rs` and those of `layouts/`, the definitions themselves, and
//! nothing else: no kernel, and nothing of `src/format`. XXH3-64 comes from `xxhash-rust`.

// Each test that includes this file uses its own part of it.
#![allow(dead_code, unused_imports)]

use bloomline::definition::{classic, cuckoo, line, static_line};
use bloomline::{Error, Filter, Params};
use std::ops::Range;
use xxhash_rust::xxh3::xxh3_64_with_seed;

pub(crate) const FOOTER_BYTES: usize = 64;

/// The fields of the footer: where each lies in it.
pub(crate) const KEY_COUNT: Range<usize> = 0..8;
pub(crate) const LINE_COUNT: Range<usize> = 8..16;
pub(crate) const SEED: Range<usize> = 16..24;
pub(crate) const K: Range<usize> = 24..28;
pub(crate) const LAYOUT: Range<usize> = 28..30;
pub(crate) const VERSION: Range<usize> = 30..32;
pub(crate) const RESERVED: Range<usize> = 32..40;
pub(crate) const LINES_CHECKSUM: Range<usize> = 40..48;
pub(crate) const FOOTER_CHECKSUM: Range<usize> = 48..56;
pub(crate) const MAGIC: Range<usize> = 56..64;

pub(crate) const MAGIC_BYTES: [u8; 8] = [0x42, 0x4C, 0x4D, 0x4C, 0x49, 0x4E, 0x45, 0x0A];

/// The status numbers of the page, which are those of the C interface.
pub(crate) mod status {
    pub(crate) const OK: u32 = 0;
    pub(crate) const RATE: u32 = 2;
    pub(crate) const K: u32 = 4;
    pub(crate) const LINE_COUNT: u32 = 5;
    pub(crate) const OUT_OF_MEMORY: u32 = 6;
    pub(crate) const TRUNCATED: u32 = 11;
    pub(crate) const NOT_A_FILTER: u32 = 12;
    pub(crate) const VERSION: u32 = 13;
    pub(crate) const LAYOUT: u32 = 14;
    pub(crate) const CHECKSUM: u32 = 15;
    pub(crate) const RESERVED: u32 = 16;
    pub(crate) const GENERATIONS: u32 = 23;
    pub(crate) const COLUMNS: u32 = 33;
    pub(crate) const SEQUENCE: u32 = 37;
}

/// The status number of an error that a reader gives.
pub(crate) fn status_of(error: &bloomline::Error) -> u32 {
    use bloomline::Error;
    match error {
        Error::Rate(_) => status::RATE,
        Error::K(_) => status::K,
        Error::LineCount(_) => status::LINE_COUNT,
        Error::Truncated { .. } => status::TRUNCATED,
        Error::NotAFilter => status::NOT_A_FILTER,
        Error::Version(_) => status::VERSION,
        Error::Layout(_) => status::LAYOUT,
        Error::Checksum => status::CHECKSUM,
        Error::Reserved => status::RESERVED,
        Error::Generations(_) => status::GENERATIONS,
        Error::Sequence { .. } => status::SEQUENCE,
        Error::Columns(_) => status::COLUMNS,
        other => panic!("a reader does not give {other:?}"),
    }
}

/// The status number of what opening gave.
pub(crate) fn status_of_result<T>(result: &Result<T, bloomline::Error>) -> u32 {
    result.as_ref().err().map_or(status::OK, status_of)
}

/// XXH3-64.
pub(crate) fn hash(key: &[u8], seed: u64) -> u64 {
    xxh3_64_with_seed(key, seed)
}

/// Lines that hold the keys of these hashes.
pub(crate) fn lines_of(line_count: usize, k: u32, hashes: &[u64]) -> Vec<u8> {
    let mut lines = vec![0; line_count * line::LINE_BYTES];
    for &hash in hashes {
        line::insert(&mut lines, k, hash);
    }
    lines
}

/// Lines and counters with their footer.
pub(crate) fn encode_counting(
    lines: &[u8],
    counters: &[u8],
    k: u32,
    seed: u64,
    key_count: u64,
) -> Vec<u8> {
    let mut bytes = encode(&[lines, counters].concat(), k, seed, key_count);
    put(&mut bytes, LINE_COUNT, (lines.len() / line::LINE_BYTES) as u64);
    put(&mut bytes, LAYOUT, 2);
    seal(&mut bytes);
    bytes
}

/// The lines with their footer.
pub(crate) fn encode(lines: &[u8], k: u32, seed: u64, key_count: u64) -> Vec<u8> {
    let mut bytes = lines.to_vec();
    bytes.resize(lines.len() + FOOTER_BYTES, 0);
    put(&mut bytes, KEY_COUNT, key_count);
    put(&mut bytes, LINE_COUNT, (lines.len() / line::LINE_BYTES) as u64);
    put(&mut bytes, SEED, seed);
    put(&mut bytes, K, k.into());
    put(&mut bytes, LAYOUT, 1);
    put(&mut bytes, VERSION, 1);
    put(&mut bytes, MAGIC, u64::from_le_bytes(MAGIC_BYTES));
    seal(&mut bytes);
    bytes
}

/// A standard Bloom filter of this line count, k and seed.
pub(crate) fn classic_filter(params: Params) -> Result<Filter, Error> {
    Filter::new(Params::classic(params.line_count(), params.k(), params.seed())?)
}

/// The bits of these keys in a classic filter, with their footer.
pub(crate) fn encode_classic(lines: usize, k: u32, seed: u64, hashes: &[u64]) -> Vec<u8> {
    let mut bits = vec![0; lines * line::LINE_BYTES];
    hashes.iter().for_each(|&hash| classic::insert(&mut bits, k, hash));
    let mut bytes = encode(&bits, k, seed, hashes.len() as u64);
    put(&mut bytes, LAYOUT, 6);
    seal(&mut bytes);
    bytes
}

/// The lines of a cuckoo filter with their footer.
pub(crate) fn encode_cuckoo(lines: &[u8], bits: u32, seed: u64, key_count: u64) -> Vec<u8> {
    let mut bytes = encode(lines, bits, seed, key_count);
    put(&mut bytes, LAYOUT, 7);
    seal(&mut bytes);
    bytes
}

/// The lines of all levels of a static filter with their footer.
pub(crate) fn encode_static(
    lines: &[u8],
    rows: u32,
    levels: static_line::Levels,
    seed: u64,
    key_count: u64,
) -> Vec<u8> {
    let [second, third] = levels.shares.map(u64::from);
    let mut bytes = encode(lines, rows, seed, key_count);
    put(&mut bytes, LAYOUT, 8);
    put(&mut bytes, LINE_COUNT, levels.line_count);
    put(&mut bytes, RESERVED, second | third << 8 | u64::from(levels.tail) << 16);
    seal(&mut bytes);
    bytes
}

/// Whether an intact filter may have the key of a hash.
pub(crate) fn answer(bytes: &[u8], hash: u64) -> bool {
    if get(bytes, LAYOUT) == 8 {
        let (lines, rows, levels) = static_parts(bytes);
        return static_line::contains(lines, levels, rows, hash);
    }
    let lines = &bytes[..get(bytes, LINE_COUNT) as usize * line::LINE_BYTES];
    let contains = match get(bytes, LAYOUT) {
        7 => cuckoo::contains,
        6 => classic::contains,
        _ => line::contains,
    };
    contains(lines, get(bytes, K) as u32, hash)
}

/// Lines, rows and levels of an encoded static filter.
pub(crate) fn static_parts(bytes: &[u8]) -> (&[u8], u32, static_line::Levels) {
    let [second, third, tail, ..] = get(bytes, RESERVED).to_le_bytes();
    let (line_count, shares) = (get(bytes, LINE_COUNT), [second, third]);
    let levels = static_line::Levels { line_count, shares, tail };
    (&bytes[..bytes.len() - FOOTER_BYTES], get(bytes, K) as u32, levels)
}

/// Makes both checksums right, whatever else the bytes say, so that a reader gets to
/// the checks behind them. At least a footer long.
pub(crate) fn seal(bytes: &mut [u8]) {
    let footer = bytes.len() - FOOTER_BYTES;
    put(bytes, LINES_CHECKSUM, hash(&bytes[..footer], 0));
    seal_footer(bytes);
}

/// Makes the footer's own checksum right.
pub(crate) fn seal_footer(bytes: &mut [u8]) {
    let footer = bytes.len() - FOOTER_BYTES;
    put(bytes, FOOTER_CHECKSUM, hash(&bytes[footer..][..FOOTER_CHECKSUM.start], 0));
}

/// Writes a field of the footer; `value` is cut to the size of the field.
pub(crate) fn put(bytes: &mut [u8], field: Range<usize>, value: u64) {
    let footer = bytes.len() - FOOTER_BYTES;
    let size = field.len();
    bytes[footer..][field].copy_from_slice(&value.to_le_bytes()[..size]);
}

/// A field of the footer.
pub(crate) fn get(bytes: &[u8], field: Range<usize>) -> u64 {
    let footer = &bytes[bytes.len() - FOOTER_BYTES..];
    footer[field].iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

/// The first rule of the page that the bytes break, as a status number; OK if they
/// are an intact filter. `verify`: the rules about what is before the footer included.
pub(crate) fn check(bytes: &[u8], verify: bool) -> u32 {
    if bytes.len() < FOOTER_BYTES {
        return status::TRUNCATED;
    }
    let (lines, footer) = bytes.split_at(bytes.len() - FOOTER_BYTES);
    if footer[MAGIC] != MAGIC_BYTES {
        return status::NOT_A_FILTER;
    }
    if get(footer, VERSION) != 1 {
        return status::VERSION;
    }
    if get(footer, FOOTER_CHECKSUM) != hash(&footer[..FOOTER_CHECKSUM.start], 0) {
        return status::CHECKSUM;
    }
    let counting = match get(footer, LAYOUT) {
        1 | 6 => false,
        2 => true,
        _ => return status::LAYOUT,
    };
    if get(footer, RESERVED) != 0 {
        return status::RESERVED;
    }
    if !(1..=16).contains(&get(footer, K)) {
        return status::K;
    }
    // In 128 bits nothing overflows.
    let per_line = if counting { 5 } else { 1 };
    let len = (u128::from(get(footer, LINE_COUNT)) * per_line + 1) * 64;
    if len == 64 || len > isize::MAX as u128 {
        return status::LINE_COUNT;
    }
    if len != bytes.len() as u128 {
        return status::TRUNCATED;
    }
    if verify && get(footer, LINES_CHECKSUM) != hash(lines, 0) {
        return status::CHECKSUM;
    }
    if verify && counting {
        let (lines, counters) = lines.split_at(lines.len() / 5);
        for bit in 0..8 * lines.len() {
            let set = lines[bit / 8] >> (bit % 8) & 1;
            let count = counters[bit / 2] >> (4 * (bit % 2)) & 15;
            if (set == 1) != (count > 0) {
                return status::CHECKSUM;
            }
        }
    }
    status::OK
}

/// Rules 1 to 5, for a reader that knows one layout, which is none of those of [`check`].
pub(crate) fn check_layout(bytes: &[u8], layout: u64) -> Result<(), u32> {
    let stated = if bytes.len() < FOOTER_BYTES { 0 } else { get(bytes, LAYOUT) };
    match check(bytes, false) {
        status::LAYOUT if stated == layout => Ok(()),
        status @ (status::TRUNCATED | status::NOT_A_FILTER) if stated == 0 => Err(status),
        status @ (status::NOT_A_FILTER | status::VERSION | status::CHECKSUM) => Err(status),
        _ => Err(status::LAYOUT),
    }
}

/// Hashes that have broken filters before: no bit, all bits, one bit, half of them,
/// the same half twice.
pub(crate) const AWKWARD: [u64; 16] = [
    0,
    u64::MAX,
    1,
    1 << 63,
    0x7FFF_FFFF_FFFF_FFFF,
    0xFFFF_FFFF,
    0xFFFF_FFFF_0000_0000,
    0x1234_5678_1234_5678,
    0x8000_0000_8000_0000,
    0x5555_5555_5555_5555,
    0xAAAA_AAAA_AAAA_AAAA,
    // The inverses of the two multipliers, and of their negatives: g is 1, or -1.
    0xF1DE_83E1_9937_733D,
    0x0E21_7C1E_66C8_8CC3,
    0xCFEE_444D_8B59_A89B,
    0x3011_BBB2_74A6_5765,
    2,
];

/// Whether this is a debug build, a run that the scripts for other CPUs started, or a short one
/// (`make test`).
pub(crate) fn fewer() -> bool {
    let told = ["BLOOMLINE_EXPECT_ARCH", "BLOOMLINE_FEWER_CASES"];
    cfg!(debug_assertions) || told.into_iter().any(|name| std::env::var_os(name).is_some())
}

/// So many random cases of a property; a fifth of them where there are [`fewer`].
pub(crate) fn cases(all: u32) -> u32 {
    if fewer() { all / 5 } else { all }
}

/// SplitMix64: `count` hashes, the same on every run and every machine.
pub(crate) fn random_hashes(count: usize, seed: u64) -> Vec<u64> {
    let mut state = seed;
    (0..count).map(|_| next_random(&mut state)).collect()
}

pub(crate) fn next_random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
