//! Keys of every type: each is its bytes, in every call of every kind that takes a key.

use bloomline::hash::{hash, hash_batch, hash_u64, hash_value};
use bloomline::{
    Bitmap, Builder, ConcurrentFilter, CountingFilter, CuckooFilter, CuckooParams, Filter, Key,
    Params, Probe, ScalableFilter, Swap, View, Window, views_contain,
};
use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::rc::Rc;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64_with_seed;

const SEED: u64 = 7;

fn params() -> Params {
    Params::for_rate(1000, 0.001).unwrap().with_seed(SEED)
}

/// The hash of a key is XXH3 of these bytes, in every way to ask for it.
#[track_caller]
fn assert_bytes<K: Key + Clone>(key: &K, bytes: &[u8]) {
    let filter = Filter::new(params()).unwrap();
    for seed in [0, SEED, u64::MAX] {
        let expected = xxh3_64_with_seed(bytes, seed);
        assert_eq!(hash(key, seed), expected);
        let mut batch = [0; 3];
        hash_batch(&[key, key, key], seed, &mut batch);
        assert_eq!(batch, [expected; 3]);
    }
    let expected = xxh3_64_with_seed(bytes, SEED);
    assert_eq!([filter.hash(key), filter.view().hash(key)], [expected; 2]);
    // A reference, or a pointer of any kind, is the key.
    assert_eq!(hash(&&key, SEED), expected);
    assert_eq!(hash(&Box::new(key.clone()), SEED), expected);
    assert_eq!(hash(&Rc::new(key.clone()), SEED), expected);
    assert_eq!(hash(&Arc::new(key.clone()), SEED), expected);
    assert_eq!(hash(&Cow::Borrowed(key), SEED), expected);
    assert_eq!(hash(&Cow::<K>::Owned(key.clone()), SEED), expected);
}

#[test]
fn keys_are_their_bytes() {
    for len in [0, 1, 4, 5, 8, 9, 16, 17, 128, 129, 240, 241, 1000] {
        let text: String = ('a'..='z').cycle().take(len).collect();
        let bytes = text.as_bytes();
        assert_bytes(&text, bytes);
        assert_bytes(&bytes.to_vec(), bytes);
        assert_bytes(&text.as_str(), bytes);
        assert_bytes(&bytes, bytes);
        assert_bytes(&Box::<[u8]>::from(bytes), bytes);
        assert_bytes(&Arc::<str>::from(text.as_str()), bytes);
        assert_eq!(hash(text.as_str(), 3), hash(bytes, 3));
    }
    assert_bytes(b"an array", b"an array");
    assert_bytes(&[0u8; 0], b"");
    assert_bytes(&"K\u{f6}ln", b"K\xC3\xB6ln");
}

#[test]
fn integers_are_their_little_endian_bytes() {
    assert_bytes(&0xA1u8, &[0xA1]);
    assert_bytes(&0xA1B2u16, &[0xB2, 0xA1]);
    assert_bytes(&0xA1B2_C3D4u32, &[0xD4, 0xC3, 0xB2, 0xA1]);
    assert_bytes(&0x0102_0304_0506_0708u64, &[8, 7, 6, 5, 4, 3, 2, 1]);
    assert_bytes(&1u128, &[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_bytes(&-1i8, &[0xFF]);
    assert_bytes(&-2i16, &[0xFE, 0xFF]);
    assert_bytes(&-2i32, &[0xFE, 0xFF, 0xFF, 0xFF]);
    assert_bytes(&-2i64, &[0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]);
    assert_bytes(&i128::MIN, &(1u128 << 127).to_le_bytes());
    for key in [0, 1, 42, u64::MAX, 1 << 63] {
        assert_eq!(hash(&key, SEED), hash_u64(key, SEED));
    }
    // A key of a type is not that of another.
    assert_ne!(hash(&42u64, SEED), hash(&42u32, SEED));
}

#[test]
fn addresses_are_their_octets() {
    let four = Ipv4Addr::new(192, 168, 0, 1);
    assert_bytes(&four, &[192, 168, 0, 1]);
    assert_bytes(&IpAddr::V4(four), &[192, 168, 0, 1]);
    let six = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1);
    let octets = [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
    assert_bytes(&six, &octets);
    assert_bytes(&IpAddr::V6(six), &octets);
}

#[test]
#[cfg(unix)]
fn paths_are_the_bytes_of_the_system() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::path::PathBuf;
    // Not UTF-8.
    let name = OsStr::from_bytes(b"/tmp/\xff\xfe");
    assert_bytes(&name.to_os_string(), name.as_bytes());
    assert_bytes(&PathBuf::from(name), name.as_bytes());
    assert_eq!(hash(std::path::Path::new(name), 3), hash(name.as_bytes(), 3));
    assert_eq!(hash(name, 3), hash(name.as_bytes(), 3));
}

#[test]
fn values_are_hashed_by_what_they_pass() {
    /// Passes each width once.
    struct Widths;
    impl Hash for Widths {
        fn hash<H: Hasher>(&self, hasher: &mut H) {
            hasher.write(b"ab");
            hasher.write_u8(1);
            hasher.write_u16(0x0203);
            hasher.write_u32(0x0405_0607);
            hasher.write_u64(0x0809_0A0B_0C0D_0E0F);
            hasher.write_u128(0x10);
            hasher.write_usize(0x11);
            hasher.write_i8(-1);
            hasher.write_i64(-2);
            hasher.write_isize(-3);
        }
    }
    let mut passed = b"ab\x01\x03\x02\x07\x06\x05\x04".to_vec();
    passed.extend(0x0809_0A0B_0C0D_0E0Fu64.to_le_bytes());
    passed.extend(0x10u128.to_le_bytes());
    passed.extend(0x11u64.to_le_bytes());
    passed.push(0xFF);
    passed.extend((-2i64).to_le_bytes());
    passed.extend((-3i64).to_le_bytes());
    for seed in [0, SEED] {
        assert_eq!(hash_value(&Widths, seed), xxh3_64_with_seed(&passed, seed));
    }
}

/// Every kind is asked through the trait, and each through its own method too.
fn assert_probes(probe: impl Probe, present: &[&str], absent: &[&str]) {
    assert!(present.iter().all(|key| probe.contains(key)));
    assert!(present.iter().all(|key| probe.contains(key.as_bytes())));
    assert!(absent.iter().all(|key| !probe.contains(*key)));
    let keys = [present, absent].concat();
    let hashes: Vec<u64> = keys.iter().map(|key| probe.hash(*key)).collect();
    assert!(hashes.iter().zip(&keys).all(|(&hash, key)| hash == hash_of(key)));
    let (mut by_keys, mut by_hashes) = (Bitmap::new(), vec![u64::MAX; hashes.len().div_ceil(64)]);
    assert_eq!(probe.contains_keys(&keys, &mut by_keys), present.len());
    assert_eq!(probe.contains_hashes(&hashes, &mut by_hashes), present.len());
    assert_eq!(by_keys.as_words(), by_hashes);
    let one_by_one: Bitmap = hashes.iter().map(|&hash| probe.contains_hash(hash)).collect();
    assert_eq!(by_keys, one_by_one);
    assert!(by_keys.ones().eq(0..present.len()));
}

fn hash_of(key: &str) -> u64 {
    xxh3_64_with_seed(key.as_bytes(), SEED)
}

#[test]
fn every_kind_takes_every_key() {
    let all: Vec<String> = (0..150).map(|i| format!("key {i}")).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let (present, absent) = all.split_at(100);

    let mut filter = Filter::new(params()).unwrap();
    present.iter().for_each(|key| assert!(filter.insert(*key)));
    assert!(!filter.insert(present[0].as_bytes()));
    assert_probes(&filter, present, absent);
    assert_probes(filter.view(), present, absent);
    let bytes = filter.to_bytes().unwrap();
    assert_probes(View::open(&bytes).unwrap(), present, absent);
    let mut in_views = Bitmap::new();
    assert_eq!(views_contain(&[filter.view(); 3], present[0], &mut in_views), 3);
    assert_eq!(views_contain(&[filter.view(); 3], &String::from(absent[0]), &mut in_views), 0);
    assert_eq!(in_views.len(), 3);
    assert_probes(Box::new(filter), present, absent);

    let mut classic = crate::definition::classic_filter(params()).unwrap();
    present.iter().for_each(|key| assert!(classic.insert(key)));
    let swap = Swap::new(classic);
    assert_probes(swap.load(), present, absent);
    assert_probes(swap.snapshot(), present, absent);
    assert_probes(Rc::new(swap.load()), present, absent);

    let concurrent = ConcurrentFilter::new(params()).unwrap();
    present.iter().for_each(|key| assert!(concurrent.insert(*key)));
    assert!(!concurrent.insert(&String::from(present[0])));
    assert_probes(concurrent, present, absent);

    let mut counting = CountingFilter::new(params()).unwrap();
    present.iter().for_each(|key| assert!(counting.insert(*key)));
    assert!(!counting.insert(present[0]));
    assert_eq!(counting.count(present[0]), 2);
    counting.remove(present[0].as_bytes()).unwrap();
    assert_probes(&counting, present, absent);

    let mut cuckoo =
        CuckooFilter::new(CuckooParams::for_bits(1000, 16).unwrap().with_seed(SEED)).unwrap();
    present.iter().for_each(|key| assert!(cuckoo.insert(*key).unwrap()));
    assert!(!cuckoo.insert(present[0]).unwrap());
    cuckoo.remove(present[0].as_bytes()).unwrap();
    assert_probes(&cuckoo, present, absent);

    let mut scalable = ScalableFilter::new(40, 0.001, SEED).unwrap();
    present.iter().for_each(|key| assert!(scalable.insert(*key).unwrap()));
    assert!(!scalable.insert(present[0]).unwrap());
    assert_probes(&scalable, present, absent);

    let mut window = Window::new(3, 100, 0.001, SEED).unwrap();
    present.iter().for_each(|key| assert!(window.insert(*key)));
    window.rotate();
    assert!(!window.insert(present[0]));
    assert_probes(&window, present, absent);

    let mut builder = Builder::new(14.4, SEED).unwrap();
    present.iter().for_each(|key| builder.add(*key).unwrap());
    let mut block = vec![0; builder.block_len().unwrap()];
    builder.finish(&mut block).unwrap();
    assert_probes(View::open(&block).unwrap(), present, &[]);
}

#[test]
fn filters_of_keys() {
    let ids: Vec<u64> = (0..5000).collect();
    let filter = Filter::from_keys(&ids, 0.01).unwrap();
    assert_eq!(filter.params(), Params::for_rate(5000, 0.01).unwrap());
    assert_eq!(filter.key_count(), 5000);
    let mut plain = Filter::new(filter.params()).unwrap();
    ids.iter().for_each(|&id| _ = plain.insert_hash(hash_u64(id, 0)));
    assert!(plain.to_bytes().unwrap() == filter.to_bytes().unwrap());
    assert_eq!(Filter::from_keys(<[&str; 0]>::default(), 0.01).unwrap().fill(), 0.0);
    assert!(Filter::from_keys(["key"], 2.0).is_err());
}

#[test]
fn filters_are_combined_by_an_operator() {
    let filter = |keys: &[&str]| {
        let mut filter = Filter::new(params()).unwrap();
        filter.insert_keys(keys);
        filter
    };
    let mut both = filter(&["apple"]);
    both |= &filter(&["pear", "plum"]);
    assert!(both.lines() == filter(&["apple", "pear", "plum"]).lines());
    assert_eq!(both.key_count(), 3);
    let other = Filter::new(params().with_seed(8)).unwrap();
    let combined = std::panic::catch_unwind(move || both |= &other);
    let message = combined.unwrap_err().downcast::<String>().unwrap();
    assert!(message.contains("line count, k, seed"), "{message}");
}

/// What the compiler says where a key is none: what is wrong, and what to pass. It says that of the trait
/// that the calls ask for, so not if the words are at the one that seals it.
#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn what_is_no_key_is_said() {
    let dir = crate::directory::Directory::new("no-key");
    let program = dir.file("no_key.rs");
    let key = concat!(env!("CARGO_MANIFEST_DIR"), "/src/key.rs");
    let text = format!(
        "#[path = {key:?}]\npub mod key;\npub fn insert<K: key::Key + ?Sized>(_: &K) {{}}\n\
         pub fn main() {{ insert(&7usize) }}\n"
    );
    std::fs::write(&program, text).unwrap();
    let rustc = std::env::var_os("RUSTC").unwrap_or("rustc".into());
    let output = std::process::Command::new(rustc)
        .args(["--edition=2024", "--emit=metadata", "--out-dir"])
        .args([dir.0.clone(), program])
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    for part in ["`usize` cannot be the key of a filter", "pass a `u64`", "hash_value"] {
        assert!(said.contains(part), "{said}");
    }
}
