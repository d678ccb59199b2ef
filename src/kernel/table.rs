//! The kernels of each backend: which code does which operation of which layout.

use super::backend::Backend;
use super::batch::{self, Hashes, Ops};
use super::column::Column;
use super::compiled::kernel;
use super::functions::{Calls, Kernel};
#[cfg(feature = "capi")]
use super::functions::{class, few_of_anything, few_of_whole};
use super::layout::Layout;
use super::lines::Lines;
use super::prefetch::{INTO_L1, Prefetch};
use super::scattered::{Classic, Legacy, LevelDb, Scattered};
use super::single::Single;
#[cfg(feature = "capi")]
use super::single::{Call, Few};
#[cfg(feature = "capi")]
use super::words::{self, Words};
use super::{fast_local, native, sbbf, static_line};
use std::hint::assert_unchecked;
use std::slice::from_raw_parts;

/// The kernels of a layout, by backend. A table for each: a program has the code of the layouts that
/// it uses.
pub(super) type Table = [&'static Kernel; Backend::ALL.len()];

/// The table of these kernels, each in the row of its backend.
const fn by_backend(kernels: [&'static Kernel; Backend::BUILT]) -> Table {
    let mut rows = [(Backend::Scalar, kernels[0]); Backend::BUILT];
    let mut i = 0;
    while i < rows.len() {
        rows[i] = (kernels[i].backend, kernels[i]);
        i += 1;
    }
    Backend::table(rows)
}

/// The table of the kernels of each backend. Those of an architecture are compiled for no other.
macro_rules! table {
    ($scalar:expr; portable: $portable:expr; avx2: $avx2:expr; avx512: $avx512:expr) => {
        by_backend([
            $scalar,
            $portable,
            #[cfg(target_arch = "x86_64")]
            $avx2,
            #[cfg(target_arch = "x86_64")]
            $avx512,
        ])
    };
}

/// The kernel of portable vectors, if it is the better one; else the scalar one under their name. On x86-64,
/// whose baseline has no shift by lane, it never is.
#[cfg(not(target_arch = "x86_64"))]
macro_rules! portable {
    ($scalar:ident, if $better:expr, $kernel:expr) => {
        if $better { $kernel } else { &const { $scalar.under(Backend::Portable) } }
    };
}
#[cfg(target_arch = "x86_64")]
macro_rules! portable {
    ($scalar:ident, if $better:expr, $kernel:expr) => {
        &const { $scalar.under(Backend::Portable) }
    };
}

pub(super) static NATIVE: Table = {
    use native::Scalar;
    use native::class::{ABOVE_8, BELOW_8, EXACTLY_8};
    // Its rows are there for 8 as well.
    const SCALAR: &Kernel =
        kernel!(Scalar, Native, Scalar<ABOVE_8, false>, 0..=8 => Scalar<BELOW_8, false>);
    table! {
        SCALAR;
        portable: portable!(SCALAR, if native::SHIFTS_BY_LANE, {
            use native::Portable as B;
            kernel!(Portable, Native, B<ABOVE_8, false>,
                0..8 => B<BELOW_8, false>, 8 => B<EXACTLY_8, false>)
        });
        avx2: {
            use native::Avx2 as B;
            kernel!(Avx2, Native, #[target_feature(enable = "avx2,bmi2,popcnt")]
                B<ABOVE_8>, 0..8 => B<BELOW_8>, 8 => B<EXACTLY_8>)
        };
        avx512: {
            // Single keys by 256 bits: one 512-bit instruction makes what the caller does next
            // slower on some CPUs (Xeon A of docs/PERFORMANCE.md), which only a batch pays back.
            use native::{Avx512 as B, Avx512Vl as A};
            kernel!(Avx512, Native,
                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi2,popcnt")]
                one: A<ABOVE_8>, 0..8 => A<BELOW_8>, 8 => A<EXACTLY_8>;
                many: B<ABOVE_8>, 0..8 => B<BELOW_8>, 8 => B<EXACTLY_8>)
        }
    }
};

/// The same for lines in which other threads set bits: where no vector is needed, lanes are loaded
/// atomically.
pub(super) static SHARED_NATIVE: Table = {
    use native::Scalar;
    use native::class::{ABOVE_8, BELOW_8};
    const SCALAR: &Kernel = &const {
        kernel!(Scalar, Native, Scalar<ABOVE_8, true>, 0..=8 => Scalar<BELOW_8, true>).for_shared()
    };
    table! {
        SCALAR;
        portable: portable!(SCALAR, if native::SHIFTS_BY_LANE, {
            use native::{Portable as B, class::EXACTLY_8};
            &const {
                kernel!(Portable, Native, B<ABOVE_8, true>,
                    0..8 => B<BELOW_8, true>, 8 => B<EXACTLY_8, true>)
                .for_shared()
            }
        });
        avx2: NATIVE[Backend::Avx2 as usize];
        avx512: NATIVE[Backend::Avx512 as usize]
    }
};

#[cfg(feature = "cuckoo")]
pub(super) static CUCKOO: Table = {
    use super::cuckoo;
    // Four fingerprints at once need no vectors: the same code under two names.
    const SCALAR: &Kernel = kernel!(Scalar, Cuckoo,
        cuckoo::Integers<16>, 8 => cuckoo::Integers<8>, 12 => cuckoo::Integers<12>);
    table! {
        SCALAR;
        portable: &const { SCALAR.under(Backend::Portable) };
        avx2: {
            use cuckoo::Avx2 as B;
            kernel!(Avx2, Cuckoo, #[target_feature(enable = "avx2,bmi2,popcnt")]
                B<16>, 8 => B<8>, 12 => B<12>)
        };
        avx512: {
            use cuckoo::Avx512 as B;
            kernel!(Avx512, Cuckoo,
                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi2,popcnt")]
                one: B<16>, 8 => B<8>, 12 => B<12>; many: B)
        }
    }
};

/// Without static filters: views open their bytes all the same.
#[cfg(not(feature = "static"))]
pub(super) static STATIC: Table = one_for_all(kernel!(Scalar, Static, static_line::OneByOne));

#[cfg(feature = "static")]
pub(super) static STATIC: Table = {
    use static_line::Plain;
    // Lanes folded into each other are vectors of a kind.
    const SCALAR: &Kernel = kernel!(Scalar, Static,
        one: Plain<16>, 0..8 => Plain<7>, 8 => Plain<8>, 9..=12 => Plain<10>; many: Plain<0>);
    // Single keys of the rows that rates of 1 %, 0.4 %, 0.1 % and 2 in 100,000 need are found at once,
    // those of other rows by a comparison or two more.
    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    const PORTABLE: &Kernel = {
        use static_line::Neon as B;
        kernel!(Portable, Static,
            one: B<16>, 0..8 => B<7>, 8 => B<8>, 9..=12 => B<10>; many: B<0>)
    };
    #[cfg(not(all(target_arch = "aarch64", target_endian = "little")))]
    const PORTABLE: &Kernel = &const { SCALAR.under(Backend::Portable) };
    table! {
        SCALAR;
        portable: PORTABLE;
        avx2: {
            use static_line::Avx2 as B;
            kernel!(Avx2, Static, #[target_feature(enable = "avx2,bmi2,popcnt")]
                one: B<16>, 0..8 => B<7>, 8 => B<8>, 9..=12 => B<10>; many: B<0>)
        };
        avx512: {
            use static_line::Avx512 as B;
            kernel!(Avx512, Static,
                #[target_feature(
                    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,bmi2,popcnt"
                )]
                one: B<16>, 0..8 => B<7>, 8 => B<8>, 9..=12 => B<10>; many: B<0>)
        }
    }
};

pub(super) static CLASSIC: Table = one_for_all(kernel!(Scalar, Classic, Scattered<Classic<false>>));
pub(super) static SHARED_CLASSIC: Table =
    one_for_all(&const { kernel!(Scalar, Classic, Scattered<Classic<true>>).for_shared() });

/// A matrix is asked for several of its columns by the backend: so each has a kernel, of the same code.
#[cfg(feature = "matrix")]
pub(super) static COLUMN: Table = {
    const SCALAR: &Kernel = kernel!(Scalar, Column, Column);
    table! {
        SCALAR;
        portable: &const { SCALAR.under(Backend::Portable) };
        avx2: &const { SCALAR.under(Backend::Avx2) };
        avx512: &const { SCALAR.under(Backend::Avx512) }
    }
};

/// The layouts of other engines.
#[cfg(feature = "engines")]
pub(super) mod engines {
    use super::*;

    pub(in crate::kernel) static FAST_LOCAL: Table = {
        const SCALAR: &Kernel = kernel!(Scalar, FastLocal, fast_local::Scalar);
        table! {
            SCALAR;
            // Its inserts are the same.
            portable: portable!(SCALAR, if true, &const {
                let probes = *kernel!(Portable, FastLocal, fast_local::Portable);
                Kernel { insert_batch: SCALAR.insert_batch, ..probes }
            });
            avx2: kernel!(Avx2, FastLocal, #[target_feature(enable = "avx2,bmi2,popcnt")]
                fast_local::Avx2);
            avx512: kernel!(Avx512, FastLocal,
                #[target_feature(
                    enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vbmi,avx512vl,bmi2,gfni,popcnt"
                )]
                fast_local::Avx512)
        }
    };

    pub(in crate::kernel) static SBBF: Table = {
        const SCALAR: &Kernel = kernel!(Scalar, Sbbf, sbbf::Scalar);
        table! {
            SCALAR;
            portable: portable!(SCALAR, if native::SHIFTS_BY_LANE,
                kernel!(Portable, Sbbf, sbbf::Portable));
            avx2: kernel!(Avx2, Sbbf, #[target_feature(enable = "avx2,bmi2,popcnt")] sbbf::X86);
            avx512: kernel!(Avx512, Sbbf,
                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi2,popcnt")]
                one: sbbf::X86; many: sbbf::Avx512)
        }
    };

    pub(in crate::kernel) static LEGACY_64: Table =
        one_for_all(kernel!(Scalar, Legacy64, Scattered<Legacy<6>>));
    pub(in crate::kernel) static LEGACY_128: Table =
        one_for_all(kernel!(Scalar, Legacy128, Scattered<Legacy<7>>));
    pub(in crate::kernel) static LEGACY_256: Table =
        one_for_all(kernel!(Scalar, Legacy256, Scattered<Legacy<8>>));
    pub(in crate::kernel) static LEVEL_DB: Table =
        one_for_all(kernel!(Scalar, LevelDb, Scattered<LevelDb>));
}

/// The table of a layout. Where the compiler knows the layout, only the kernels of that are linked.
#[inline(always)]
pub(super) fn of(layout: Layout) -> &'static Table {
    match layout {
        Layout::Native => &NATIVE,
        #[cfg(feature = "engines")]
        Layout::FastLocal => &engines::FAST_LOCAL,
        #[cfg(feature = "engines")]
        Layout::Legacy64 => &engines::LEGACY_64,
        #[cfg(feature = "engines")]
        Layout::Legacy128 => &engines::LEGACY_128,
        #[cfg(feature = "engines")]
        Layout::Legacy256 => &engines::LEGACY_256,
        #[cfg(feature = "engines")]
        Layout::LevelDb => &engines::LEVEL_DB,
        #[cfg(feature = "cuckoo")]
        Layout::Cuckoo => &CUCKOO,
        Layout::Classic => &CLASSIC,
        Layout::Static => &STATIC,
        #[cfg(feature = "matrix")]
        Layout::Column => &COLUMN,
        #[cfg(feature = "engines")]
        Layout::Sbbf => &engines::SBBF,
        Layout::ScalableFilter | Layout::Window | Layout::Cascade | Layout::GrowingFilter => {
            panic!("kernels of their kinds")
        }
        // Nothing leads here.
        #[cfg(not(all(feature = "cuckoo", feature = "engines", feature = "matrix")))]
        _ => panic!("a kind that is left out"),
    }
}

/// All of them, in the order of [`Kernel::number`].
#[cfg(feature = "capi")]
pub(super) static ALL: [Table; 13] = [
    NATIVE,
    engines::FAST_LOCAL,
    engines::LEGACY_64,
    engines::LEGACY_128,
    engines::LEGACY_256,
    engines::LEVEL_DB,
    CUCKOO,
    CLASSIC,
    STATIC,
    SHARED_NATIVE,
    SHARED_CLASSIC,
    COLUMN,
    engines::SBBF,
];

/// What answers a few keys, by the number of the kernel, by one more than that of the backend, and by the
/// [`CLASSES`] of k. A number has 256 bytes where addresses have 64 bits: so C's views find it in few
/// instructions.
#[cfg(feature = "capi")]
pub(super) static FEW: [[[Few; 4]; 8]; NUMBERS] = {
    let mut all = [[[few_of_whole as Few; 4]; 8]; NUMBERS];
    let mut i = 0;
    while i < ALL.len() * Backend::ALL.len() * 4 {
        let (number, backend, class) =
            (i / 4 / Backend::ALL.len(), i / 4 % Backend::ALL.len(), i % 4);
        all[number + 1][backend + 1][class] = ALL[number][backend].calls[class].few;
        i += 1;
    }
    // No backend was chosen here: another copy of the library has opened the view.
    let mut number = 0;
    while number < NUMBERS {
        all[number][0] = [few_of_anything as Few; 4];
        number += 1;
    }
    all
};

/// One more than the highest number that words keep, of filters made of filters.
#[cfg(feature = "capi")]
pub(super) const NUMBERS: usize = Layout::GrowingFilter as usize + 1;

/// The [`class`] of each k, of which the lowest 8 bits count.
#[cfg(feature = "capi")]
pub(super) static CLASSES: [u8; 256] = {
    let mut all = [0; 256];
    let mut k = 0;
    while k < all.len() {
        all[k] = class(k as u32) as u8;
        k += 1;
    }
    all
};

/// The table of a layout whose bits lie too far apart to gain from vectors.
const fn one_for_all(kernel: &'static Kernel) -> Table {
    [kernel; Backend::ALL.len()]
}
