//! XXH3-64 of integers, value by value; and the numbers of its formula for 4 to 8 bytes.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// What both products multiply by.
pub(super) const FACTOR: u64 = 0x9FB2_1C65_1E98_DF25;

/// What the bytes of a key, as a number, are XORed with: the secret's words at 8 and 16, and the seed.
pub(super) const fn flip(seed: u64) -> u64 {
    const SECRET: u64 = 0x1CAD_21F7_2C81_017C ^ 0xDB97_9083_E96D_D4DE;
    SECRET.wrapping_sub(seed ^ ((seed as u32).swap_bytes() as u64) << 32)
}

pub(super) fn of_u64(values: &[u64], seed: u64, out: &mut [u64]) {
    for (value, out) in values.iter().zip(out) {
        *out = xxh3_64_with_seed(&value.to_le_bytes(), seed);
    }
}

pub(super) fn of_u32(values: &[u32], seed: u64, out: &mut [u64]) {
    for (value, out) in values.iter().zip(out) {
        *out = xxh3_64_with_seed(&value.to_le_bytes(), seed);
    }
}
