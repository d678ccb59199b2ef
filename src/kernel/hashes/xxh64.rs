//! XXH64 of integers, the hash of Parquet: the formula for 4 and 8 bytes. It has five products of 64 bits, for
//! which AVX-512 has an instruction: there the compiler makes vectors of the loop. AVX2 has none, so it takes
//! most of the scalar time.

const P1: u64 = 0x9E37_79B1_85EB_CA87;
const P2: u64 = 0xC2B2_AE3D_27D4_EB4F;
const P3: u64 = 0x1656_67B1_9E37_79F9;
const P4: u64 = 0x85EB_CA77_C2B2_AE63;
const P5: u64 = 0x27D4_EB2F_1656_67C5;

/// The hash of an integer of 8 bytes.
#[inline(always)]
fn hash_u64(value: u64, seed: u64) -> u64 {
    let word = value.wrapping_mul(P2).rotate_left(31).wrapping_mul(P1);
    let h = seed.wrapping_add(P5 + 8) ^ word;
    end(h.rotate_left(27).wrapping_mul(P1).wrapping_add(P4))
}

/// The hash of an integer of 4 bytes.
#[inline(always)]
fn hash_u32(value: u32, seed: u64) -> u64 {
    let h = seed.wrapping_add(P5 + 4) ^ u64::from(value).wrapping_mul(P1);
    end(h.rotate_left(23).wrapping_mul(P2).wrapping_add(P3))
}

#[inline(always)]
fn end(h: u64) -> u64 {
    let h = (h ^ h >> 33).wrapping_mul(P2);
    let h = (h ^ h >> 29).wrapping_mul(P3);
    h ^ h >> 32
}

/// The loops, compiled for some instructions.
macro_rules! loops {
    ($(#[$features:meta])? $of_u64:ident, $of_u32:ident) => {
        /// # Safety
        /// The CPU has the instructions.
        $(#[$features])?
        pub(super) unsafe fn $of_u64(values: &[u64], seed: u64, out: &mut [u64]) {
            for (&value, out) in values.iter().zip(out) {
                *out = hash_u64(value, seed);
            }
        }

        /// # Safety
        /// The CPU has the instructions.
        $(#[$features])?
        pub(super) unsafe fn $of_u32(values: &[u32], seed: u64, out: &mut [u64]) {
            for (&value, out) in values.iter().zip(out) {
                *out = hash_u32(value, seed);
            }
        }
    };
}

loops!(of_u64, of_u32);
#[cfg(target_arch = "x86_64")]
loops!(
    #[target_feature(enable = "avx2")]
    of_u64_avx2,
    of_u32_avx2
);
#[cfg(target_arch = "x86_64")]
loops!(
    #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
    of_u64_avx512,
    of_u32_avx512
);
