//! The filters of surrealkv's own policy in their plainest form, and keys for all tests.

/// The hash of a key.
pub fn hash(key: &[u8]) -> u32 {
    const M: u64 = 0xC6A4_A793;
    let times_m = |h: u64| h * M % (1 << 32);
    let mut h = 0xBC9F_1D34 ^ times_m(key.len() as u64);
    let words = key.len() / 4 * 4;
    for word in key[..words].chunks(4) {
        let value = word.iter().fold(0, |value, &byte| 256 * value + u64::from(byte));
        h = times_m((h + value) % (1 << 32));
        h ^= h / (1 << 16);
    }
    for (i, &byte) in key[words..].iter().enumerate() {
        h += u64::from(byte) << (8 * i);
    }
    h = times_m(h % (1 << 32));
    (h ^ (h / (1 << 24))) as u32
}

/// The numbers of a key's bits.
fn bits_of(key: &[u8], k: u8, bits: u64) -> Vec<usize> {
    let mut value = hash(key);
    let step = value.rotate_left(15);
    let mut all = Vec::new();
    for _ in 0..k {
        all.push((u64::from(value) % bits) as usize);
        value = value.wrapping_add(step);
    }
    all
}

/// The filter of these keys.
pub fn filter(keys: &[Vec<u8>], bits_per_key: usize) -> Vec<u8> {
    if keys.is_empty() {
        return Vec::new();
    }
    let bytes = (keys.len() * bits_per_key).div_ceil(8);
    let k = ((bits_per_key as f64 * 0.7) as u64).clamp(1, 30) as u8;
    let mut filter = vec![0; bytes];
    for key in keys {
        for bit in bits_of(key, k, 8 * bytes as u64) {
            filter[bit / 8] |= 1 << (bit % 8);
        }
    }
    filter.push(k);
    filter
}

/// Whether a key may be in a filter.
pub fn contains(filter: &[u8], key: &[u8]) -> bool {
    let Some((&k, bytes)) = filter.split_last() else { return true };
    if bytes.is_empty() || k == 0 || k > 30 {
        return true;
    }
    let bits = bits_of(key, k, 8 * bytes.len() as u64);
    bits.into_iter().all(|bit| bytes[bit / 8] & 1 << (bit % 8) != 0)
}

/// The key of a number, of 0 to 39 bytes of any value: in front the number, if there is room.
pub fn key(number: u64) -> Vec<u8> {
    let mixed = (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let len = (mixed >> 58) as usize % 40;
    let behind = (0..len).map(|i| (mixed >> (i % 7 * 8)) as u8);
    number.to_le_bytes().into_iter().chain(behind).take(len).collect()
}

/// The keys of these numbers, each of at least 12 bytes, so that no two are equal.
pub fn keys(numbers: std::ops::Range<u64>) -> Vec<Vec<u8>> {
    let longer = |number: u64| [&number.to_be_bytes()[..], &[0xF1; 4], &key(number)].concat();
    numbers.map(longer).collect()
}
