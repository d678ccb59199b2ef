//! Split blocks of Kudu, Impala, Doris and Velox: the views against the plain definitions, what is lost where one
//! is taken for another, and what is refused. The golden files are read by C and Go, too.

use crate::committed;
use bloomline::definition::{kudu, sbbf, velox};
use bloomline::{Backend, Bitmap, Error, KuduView, VeloxView, View, hash};
use std::collections::BTreeMap;

/// Keys in a block, on average.
const EACH: usize = 10;

fn hashes(count: usize) -> Vec<u64> {
    (0..count as u64).map(|i| hash::hash_u64(i, 2)).collect()
}

/// Hashes of 32 bits, some of them small integers, which those engines allow.
fn hashes32(count: usize) -> Vec<u32> {
    let of = |(i, hash): (usize, u64)| if i % 3 == 0 { i as u32 } else { hash as u32 };
    hashes(count).into_iter().enumerate().map(of).collect()
}

fn kudu_bits(blocks: usize, hashes: &[u32]) -> Vec<u8> {
    let mut bits = vec![0; blocks * sbbf::BLOCK_BYTES];
    hashes.iter().for_each(|&hash| kudu::insert(&mut bits, hash));
    bits
}

fn velox_bits(blocks: usize, hashes: &[u64]) -> Vec<u8> {
    let mut bits = vec![0; blocks * sbbf::BLOCK_BYTES];
    hashes.iter().for_each(|&hash| velox::insert(&mut bits, hash));
    bits
}

#[test]
fn kudu_is_the_definition() {
    for blocks in [1, 2, 4, 64, 1 << 12, 1 << 16] {
        let probes = hashes32(3000);
        let bits = kudu_bits(blocks, &probes[..(EACH * blocks).min(1500)]);
        let view = KuduView::open(&bits).unwrap();
        for count in [0, 1, 2, 3, 16, 17, 64, 65, 1023, 1024, 1025, 3000] {
            let expected = probes[..count].iter().map(|&hash| kudu::contains(&bits, hash));
            let mut answers = Bitmap::new();
            let present = view.contains_hashes32(&probes[..count], &mut answers);
            assert!(answers.iter().eq(expected.clone()), "{blocks} {count}");
            assert_eq!(present, expected.filter(|&present| present).count());
        }
        for &hash in &probes {
            assert_eq!(view.contains_hash32(hash), kudu::contains(&bits, hash), "{blocks} {hash}");
        }
    }
}

#[test]
fn velox_is_the_definition() {
    for blocks in [1, 2, 3, 7, 64, 1001] {
        let probes = hashes(3000);
        let bits = velox_bits(blocks, &probes[..(EACH * blocks).min(1500)]);
        let view = VeloxView::open(&bits, 32).unwrap();
        for count in [0, 1, 2, 17, 65, 3000] {
            let expected = probes[..count].iter().map(|&hash| velox::contains(&bits, hash));
            let mut answers = Bitmap::new();
            let present = view.contains_hashes(&probes[..count], &mut answers);
            assert!(answers.iter().eq(expected.clone()), "{blocks} {count}");
            assert_eq!(present, expected.filter(|&present| present).count());
        }
        for &hash in &probes {
            assert_eq!(view.contains_hash(hash), velox::contains(&bits, hash), "{blocks} {hash}");
        }
    }
}

/// Numbers that the formulas give by hand: 0 keeps the upper half of the summand.
#[test]
fn the_definitions_are_the_formulas() {
    assert_eq!(kudu::rehash(0), 0x6773_6105);
    assert_eq!(kudu::rehash(1), 0xDFC4_5224);
    assert_eq!(kudu::block_index(0, 16), 5);
    let (mut sorted, mut salts) = (velox::SALTS, sbbf::SALTS);
    assert!(sorted.is_sorted());
    sorted.sort_unstable();
    salts.sort_unstable();
    assert_eq!(sorted, salts);
}

/// The bytes do not tell them apart, so another type loses keys.
#[test]
fn another_type_loses_keys() {
    let (small, large) = (hashes32(80), hashes(80));
    let lost = |bits: &[u8], contains: &dyn Fn(&[u8], usize) -> bool| {
        (0..80).filter(|&i| !contains(bits, i)).count()
    };
    let as_parquet = |bits: &[u8], hash| View::open_parquet_bits(bits).unwrap().contains_hash(hash);
    let as_kudu = |bits: &[u8], hash| KuduView::open(bits).unwrap().contains_hash32(hash);
    let as_velox = |bits: &[u8], hash| VeloxView::open(bits, 32).unwrap().contains_hash(hash);
    let of_kudu = kudu_bits(8, &small);
    assert_eq!(lost(&of_kudu, &|bits, i| as_kudu(bits, small[i])), 0);
    assert!(lost(&of_kudu, &|bits, i| as_parquet(bits, small[i].into())) > 40);
    assert!(lost(&of_kudu, &|bits, i| as_velox(bits, small[i].into())) > 40);
    let of_velox = velox_bits(8, &large);
    assert_eq!(lost(&of_velox, &|bits, i| as_velox(bits, large[i])), 0);
    assert!(lost(&of_velox, &|bits, i| as_parquet(bits, large[i])) > 40);
    assert!(lost(&of_velox, &|bits, i| as_kudu(bits, large[i] as u32)) > 40);
}

#[test]
fn what_is_refused() {
    let error = |bits: &[u8]| KuduView::open(bits).unwrap_err();
    assert_eq!(error(&[]), Error::LineCount(0));
    assert_eq!(error(&[0; 96]), Error::LineCount(3));
    assert_eq!(error(&[0; 33]), Error::Truncated { needed: 64, given: 33 });
    let error = |bits: &[u8], block_bytes| VeloxView::open(bits, block_bytes).unwrap_err();
    assert_eq!(error(&[0; 64], 16), Error::Layout(16));
    assert_eq!(error(&[0; 64], 1 << 20), Error::Layout(u16::MAX));
    assert_eq!(error(&[], 32), Error::LineCount(0));
    assert_eq!(error(&[0; 63], 32), Error::Truncated { needed: 64, given: 63 });
    let view = VeloxView::open(&[0; 64], 32).unwrap();
    assert_eq!(format!("{view:?}"), "VeloxView { blocks: 2, .. }");
    let bits = [0; 64];
    let view = KuduView::open(&bits).unwrap();
    assert_eq!(format!("{view:?}"), "KuduView { blocks: 2, .. }");
    assert!(Backend::active().is_ok() && !view.contains_hash32(1));
}

/// Of each filter its bits, an answer for each hash, and the hashes: half of them are in it.
#[test]
fn split_blocks_are_as_committed() {
    let line = |bits: &[u8], probes: Vec<(String, bool)>| {
        let bits: String = bits.iter().map(|byte| format!("{byte:02x}")).collect();
        let answers: String = probes.iter().map(|probe| if probe.1 { '1' } else { '0' }).collect();
        let hashes: String = probes.iter().map(|probe| format!(" {}", probe.0)).collect();
        format!("{bits} {answers}{hashes}\n")
    };
    let probes = |blocks: usize| (0..12).chain(EACH * blocks + 20..EACH * blocks + 32);
    let (mut of_kudu, mut of_velox) = (String::new(), String::new());
    for blocks in [1, 2, 8, 64] {
        let all = hashes32(EACH * blocks + 40);
        let bits = kudu_bits(blocks, &all[..(EACH * blocks).max(12)]);
        let probe = |i: usize| (format!("{:08x}", all[i]), kudu::contains(&bits, all[i]));
        of_kudu += &line(&bits, probes(blocks).map(probe).collect());
    }
    for blocks in [1, 3, 7, 50] {
        let all = hashes(EACH * blocks + 40);
        let bits = velox_bits(blocks, &all[..(EACH * blocks).max(12)]);
        let probe = |i: usize| (format!("{:016x}", all[i]), velox::contains(&bits, all[i]));
        of_velox += &line(&bits, probes(blocks).map(probe).collect());
    }
    let files = [("kudu.txt", of_kudu), ("velox.txt", of_velox)];
    let files: BTreeMap<String, Vec<u8>> =
        files.map(|(name, text)| (name.into(), text.into_bytes())).into();
    committed::are_what_is_made("split-blocks", &files, 20_000);
}
