//! Parquet's Bloom filters: the bytes that others publish, the kernels against the plain definition,
//! headers that are cut or say what they cannot.

use bloomline::definition::sbbf;
use bloomline::engines::parquet;
use bloomline::{Backend, Error, Group, OwnedView, View, hash};
use std::path::Path;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The lines of a file in `golden/parquet`.
fn golden(name: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/parquet").join(name);
    std::fs::read_to_string(path).unwrap().lines().map(String::from).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<char> = text.chars().filter(|digit| !digit.is_whitespace()).collect();
    let byte = |pair: &[char]| u8::from_str_radix(&String::from_iter(pair), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

fn hashes(count: u64) -> Vec<u64> {
    (0..count).map(|i| hash::hash_u64(i, 1)).collect()
}

/// The bits of so many blocks, by the definition.
fn plain(blocks: usize, hashes: &[u64]) -> Vec<u8> {
    let mut bits = vec![0; blocks * sbbf::BLOCK_BYTES];
    hashes.iter().for_each(|&hash| sbbf::insert(&mut bits, hash));
    bits
}

/// What follows the length of the bits: split blocks, XXH64, uncompressed, the end.
const KNOWN: &str = "1c1c0000 1c1c0000 1c1c0000 00";

fn header(len: &str) -> Vec<u8> {
    unhex(&format!("15{len}{KNOWN}"))
}

/// Values that other implementations publish in their tests.
#[test]
fn hashes_are_xxh64() {
    assert_eq!(parquet::hash(""), 0xEF46_DB37_51D8_E999);
    assert_eq!(parquet::hash("hello"), 0x26C7_827D_889F_6DA3);
    assert_eq!(parquet::hash(&1_i64), 0x9F29_CB17_A2A4_9995);
    assert_eq!(parquet::hash(&1_i32), 0xF42F_9400_1FCB_5351);
    // The plain encodings of the other types are bytes that are hashed as these are.
    assert_eq!(parquet::hash(&1.5_f64.to_bits()), parquet::hash(&1.5_f64.to_le_bytes()));
    assert_eq!(parquet::hash(&(-0.0_f32).to_bits()), parquet::hash(&[0_u8, 0, 0, 0x80]));
    assert_eq!(parquet::hash(&u8::from(true)), parquet::hash(&[1_u8]));
    let values = [i64::MIN, -1, 0, 1, i64::MAX];
    let mut out = [0; 5];
    parquet::hash_batch(&values, &mut out);
    assert_eq!(out, values.map(|value| parquet::hash(&value.to_le_bytes())));
}

/// Filters of one block that parquet-java and arrow-rs have in their tests.
#[test]
fn blocks_are_parquets() {
    let fixtures: [(Vec<String>, &str); 2] = [
        (
            (0..10).map(|i| format!("a{i}")).collect(),
            "c80150144044086d062504439050602008842b21000563410200e02c404e6004",
        ),
        (
            ["hello", "world"].map(String::from).to_vec(),
            "000030000002000210040000a000000020020000000080800000201000000108",
        ),
    ];
    for (values, expected) in fixtures {
        let mut hashes = vec![0; values.len()];
        parquet::hash_batch(&values, &mut hashes);
        assert_eq!(hex(&plain(1, &hashes)), expected);
        let mut bits = [0; 32];
        parquet::insert_hashes(&mut bits, &hashes).unwrap();
        assert_eq!(hex(&bits), expected);
        let view = View::open_parquet_bits(&bits).unwrap();
        assert!(values.iter().all(|value| view.contains(value)));
        assert!(!view.contains("absent") && !view.contains("x"));
    }
}

/// Every backend against the plain definition, with any number of blocks, at any address.
#[test]
fn every_backend_is_the_definition() {
    let added = hashes(3000);
    let odd = [0, 1, u64::MAX, 1 << 63, 0xFFFF_FFFF, 0xFFFF_FFFF_0000_0000];
    let probes: Vec<u64> = odd.iter().copied().chain(hashes(4000)).collect();
    for blocks in [1, 2, 3, 7, 64, 101, 4096] {
        let added = &added[..(12 * blocks).min(3000)];
        let expected = plain(blocks, added);
        for offset in [0, 1, 32, 33] {
            let mut moved = vec![0; offset + expected.len()];
            // Few and many take different ways.
            parquet::insert_hashes(&mut moved[offset..], &added[..5]).unwrap();
            parquet::insert_hashes(&mut moved[offset..], &added[5..]).unwrap();
            let bits = &moved[offset..];
            assert!(*bits == expected, "{blocks} blocks at {offset}");
            for backend in Backend::available() {
                let view = View::open_parquet_bits_with_backend(bits, backend).unwrap();
                for count in [0, 1, 2, 4, 15, 16, 17, 32, 33, 64, 65, probes.len()] {
                    let probes = &probes[..count];
                    let mut bitmap = vec![!0; count.div_ceil(64)];
                    let present = view.contains_hashes(probes, &mut bitmap);
                    let answers = probes.iter().map(|&hash| sbbf::contains(bits, hash));
                    assert_eq!(present, answers.clone().filter(|&answer| answer).count());
                    for (i, answer) in answers.enumerate() {
                        let what = (backend, blocks, offset, count, i);
                        assert_eq!(bitmap[i / 64] >> (i % 64) & 1 == 1, answer, "{what:?}");
                        assert_eq!(view.contains_hash(probes[i]), answer, "{what:?}");
                    }
                }
            }
        }
    }
}

/// One key and many in many filters, which together are smaller than a CPU's cache, or larger.
#[test]
fn groups_take_them() {
    let all = hashes(2000);
    for size in [1, 300] {
        let filters: Vec<Vec<u8>> =
            (0..70).map(|i| plain(size * (1 + i % 9), &all[20 * i..][..20])).collect();
        let views: Vec<View> =
            filters.iter().map(|bits| View::open_parquet_bits(bits).unwrap()).collect();
        let group = Group::new(views).unwrap();
        let each = all.len().div_ceil(64);
        let mut rows = vec![0; 70 * each];
        group.contains_hashes_by_member(&all, &mut rows);
        for (j, &hash) in all.iter().enumerate() {
            let mut answers = [0; 2];
            group.contains_hash(hash, &mut answers);
            for (i, bits) in filters.iter().enumerate() {
                let expected = sbbf::contains(bits, hash);
                assert_eq!(answers[i / 64] >> (i % 64) & 1 == 1, expected, "{i}");
                assert_eq!(rows[i * each + j / 64] >> (j % 64) & 1 == 1, expected, "{i}, {j}");
            }
        }
        let mut any = [0; 2];
        group.contains_any_hash(&all[20 * 33..][..20], &mut any);
        for (i, bits) in filters.iter().enumerate() {
            let expected = all[20 * 33..][..20].iter().any(|&hash| sbbf::contains(bits, hash));
            assert_eq!(any[i / 64] >> (i % 64) & 1 == 1, expected, "any, {i}");
        }
    }
}

#[test]
fn headers_are_parquets() {
    let published = [
        (32, "40"),
        (64, "8001"),
        (1024, "8010"),
        (8192, "808001"),
        (1 << 20, "80808001"),
        (128 << 20, "8080808001"),
    ];
    for (bits_len, len) in published {
        let expected = header(len);
        let mut out = [0xEE; 32];
        let header_len = parquet::write_header(bits_len, &mut out).unwrap();
        assert_eq!(hex(&out[..header_len]), hex(&expected));
        assert_eq!(out[header_len], 0xEE);
        let needed = parquet::write_header(bits_len, &mut out[..header_len - 1]);
        assert_eq!(
            needed,
            Err(Error::BufferTooSmall { needed: header_len, given: header_len - 1 })
        );
        assert_eq!(parquet::read_header(&expected), Ok(parquet::Header { header_len, bits_len }));
    }
    for bits_len in [0, usize::MAX, 1 << 31] {
        assert!(matches!(parquet::write_header(bits_len, &mut [0; 32]), Err(Error::LineCount(_))));
    }
    let odd = parquet::write_header(33, &mut [0; 32]);
    assert_eq!(odd, Err(Error::Truncated { needed: 64, given: 33 }));
}

#[test]
fn headers_and_bits_cut_at_every_byte() {
    let added = hashes(3);
    let block = [header("8001"), plain(2, &added)].concat();
    let header_len = block.len() - 64;
    for given in 0..block.len() {
        let cut: Box<[u8]> = block[..given].into();
        let needed = if given < header_len { given + 1 } else { block.len() } as u64;
        let error = Error::Truncated { needed, given: given as u64 };
        assert_eq!(View::open_parquet(&cut).unwrap_err(), error, "{given}");
    }
    // What is behind the bits is somebody else's.
    for behind in [0, 1, 500] {
        let longer = [&block[..], &vec![0xFF; behind]].concat();
        let view = View::open_parquet(&longer).unwrap();
        let owned = OwnedView::open_parquet(longer.clone()).unwrap();
        for &hash in &hashes(1000) {
            let expected = sbbf::contains(&block[header_len..], hash);
            assert_eq!(view.contains_hash(hash), expected);
            assert_eq!(owned.contains_hash(hash), expected);
        }
    }
    // If the owner has lost bytes, every key may be present.
    let owned = OwnedView::open_parquet_bits(plain(2, &[])).unwrap();
    assert!(!owned.contains_hash(1));
}

/// `golden/parquet/headers.txt`, by a reader of another language: unknown fields of every type, lengths that are
/// none, choices that are not known.
#[test]
fn headers_of_the_golden_file() {
    let mut counts = [0; 2];
    for line in golden("headers.txt") {
        let fields: Vec<&str> = line.split(' ').collect();
        let number = |i: usize| fields[i].parse().unwrap();
        let bytes: Box<[u8]> = unhex(fields[0]).into();
        let found = parquet::read_header(&bytes);
        if fields[1] == "accepted" {
            let expected = parquet::Header { header_len: number(2), bits_len: number(3) };
            assert_eq!(found, Ok(expected), "{line}");
            for given in 0..expected.header_len {
                let error = Error::Truncated { needed: given as u64 + 1, given: given as u64 };
                assert_eq!(parquet::read_header(&bytes[..given]), Err(error), "{line}");
            }
        } else {
            let status = match found.clone().unwrap_err() {
                Error::Truncated { .. } => 11,
                Error::NotAFilter => 12,
                Error::Layout(_) => 14,
                other => panic!("{other}"),
            };
            assert_eq!(status, number(2), "{line}: {found:?}");
        }
        counts[usize::from(fields[1] == "accepted")] += 1;
    }
    assert!(counts[0] > 30 && counts[1] > 40, "{counts:?}");
    let read = |text: &str| parquet::read_header(&unhex(text)).unwrap_err();
    // The first choice that is not known; 0 is none.
    assert_eq!(read("1540 1c2c0000 1c3c0000 1c4c0000 00"), Error::Layout(2));
    assert_eq!(read("1540 1c1c0000 1c3c0000 1c4c0000 00"), Error::Layout(3));
    assert_eq!(read("1540 1c1c0000 1c1c0000 1c00 00"), Error::Layout(0));
}

/// What pyarrow wrote, of every type that it makes filters of: the same bits of the same values.
#[test]
fn filters_of_a_real_engine() {
    let mut types = std::collections::HashSet::new();
    for line in golden("filters.txt") {
        let fields: Vec<&str> = line.split(' ').collect();
        let (bytes, values) = (unhex(fields[2]), fields[3..].iter().map(|value| unhex(value)));
        let hashes: Vec<u64> = values.map(|value| parquet::hash(&value)).collect();
        let parquet::Header { header_len, bits_len } = parquet::read_header(&bytes).unwrap();
        assert!(
            bytes[header_len..] == plain(bits_len / 32, &hashes),
            "{} {}",
            fields[0],
            fields[1]
        );
        let mut header = [0; 19];
        assert_eq!(parquet::write_header(bits_len, &mut header), Ok(header_len));
        assert_eq!(header[..header_len], bytes[..header_len]);
        let (view, mut bitmap) = (View::open_parquet(&bytes).unwrap(), [0]);
        assert_eq!(view.contains_hashes(&hashes, &mut bitmap), hashes.len(), "{line}");
        types.insert(fields[1].to_string());
    }
    assert_eq!(types.len(), 7, "{types:?}");
}

/// The reader in Python agrees with both files.
#[test]
fn the_reader_in_python() {
    let output = std::process::Command::new("python3")
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["tests/parquet_reader.py", "golden"])
        // Where the tests run under an emulator, its libraries are not Python's.
        .env_remove("LD_LIBRARY_PATH")
        .output()
        .expect("this test needs python3 in the PATH");
    print!("{}", String::from_utf8_lossy(&output.stdout));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn bits_that_are_no_blocks() {
    assert_eq!(View::open_parquet_bits(&[]).unwrap_err(), Error::LineCount(0));
    assert_eq!(parquet::insert_hashes(&mut [], &[1]), Err(Error::LineCount(0)));
    for given in [1_u64, 31, 33, 95] {
        let error = Error::Truncated { needed: given.div_ceil(32) * 32, given };
        let mut bits = vec![0; given as usize];
        assert_eq!(View::open_parquet_bits(&bits).unwrap_err(), error);
        assert_eq!(parquet::insert_hashes(&mut bits, &[1]), Err(error.clone()));
        assert_eq!(parquet::fold(&mut bits, 0.01), Err(error));
        assert!(bits.iter().all(|&byte| byte == 0));
    }
}

/// Numbers that arrow-rs has in its tests, and the sizes that follow.
#[test]
fn sizes_are_the_formats() {
    for (keys, rate, bits) in [
        (10, 0.1, 57),
        (10, 0.01, 96),
        (10, 0.001, 146),
        (1000, 0.01, 9681),
        (1_000_000, 0.01, 9_681_526),
        (1_000_000, 0.001, 14_607_697),
    ] {
        let bits_per_key = parquet::bits_per_key(rate).unwrap();
        assert_eq!((keys as f64 * bits_per_key) as u64, bits, "{keys} keys, {rate}");
        let bytes = (bits as usize / 8).max(32).next_power_of_two();
        assert_eq!(parquet::bits_len(keys, bits_per_key), Ok(bytes));
    }
    assert_eq!(parquet::bits_len(0, 10.0), Ok(32));
    assert_eq!(parquet::bits_len(u64::MAX, 1e300), Ok(128 << 20));
    for rate in [0.0, 1.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(parquet::bits_per_key(rate), Err(Error::Rate(_))));
        assert!(matches!(parquet::fold(&mut [0; 32], rate), Err(Error::Rate(_))));
    }
    for bits in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(parquet::block_len(1, bits), Err(Error::BitsPerKey(_))));
        assert!(matches!(
            parquet::block_build(&[1], bits, &mut [0; 64]),
            Err(Error::BitsPerKey(_))
        ));
    }
}

#[test]
fn a_block_is_header_and_bits() {
    let added = hashes(1000);
    let len = parquet::block_len(1000, 10.5).unwrap();
    let mut block = vec![0xEE; len];
    assert_eq!(parquet::block_build(&added, 10.5, &mut block), Ok(len));
    assert!(block == [header("8020"), plain(64, &added)].concat());
    let short = parquet::block_build(&added, 10.5, &mut vec![0; len - 1]);
    assert_eq!(short, Err(Error::BufferTooSmall { needed: len, given: len - 1 }));
}

/// What is folded is the filter that the keys would have had in fewer blocks.
#[test]
fn folding() {
    for (blocks, keys, rate) in [
        (1024, 100, 0.01),
        (96, 40, 0.05),
        (7, 10, 0.5),
        (64, 3000, 0.01),
        (4096, 0, 0.001),
        (32, 320, 0.9),
    ] {
        let added = hashes(keys);
        let mut bits = plain(blocks, &added);
        let len = parquet::fold(&mut bits, rate).unwrap();
        let left = len / 32;
        assert!(
            len.is_multiple_of(32)
                && blocks.is_multiple_of(left)
                && (blocks / left).is_power_of_two()
        );
        assert!(bits[..len] == plain(left, &added), "{blocks} blocks to {left}");
        let now = View::open_parquet_bits(&bits[..len]).unwrap().estimated_rate();
        assert!(now <= rate || left == blocks, "{now} of {rate}");
        if left.is_multiple_of(2) {
            let smaller = plain(left / 2, &added);
            let then = View::open_parquet_bits(&smaller).unwrap().estimated_rate();
            assert!(then > rate, "{blocks} blocks: {left} could be half as many");
        }
    }
}

/// What a view says of its rate and keys is what is measured.
#[test]
fn estimates() {
    let bits = plain(301, &hashes(8000)); // 9.6 bits per key
    let view = View::open_parquet_bits(&bits).unwrap();
    let probes: Vec<u64> = (0..400_000).map(|i| hash::hash_u64(i, 2)).collect();
    let mut bitmap = vec![0; probes.len().div_ceil(64)];
    let measured = view.contains_hashes(&probes, &mut bitmap) as f64 / probes.len() as f64;
    let ratio = measured / view.estimated_rate();
    assert!((0.95..1.05).contains(&ratio), "{measured}: {ratio}");
    assert!((0.97..1.03).contains(&(view.estimated_keys() / 8000.0)), "{}", view.estimated_keys());
    assert!(view.worst_line_rate() >= view.estimated_rate() && view.params().is_none());
}
