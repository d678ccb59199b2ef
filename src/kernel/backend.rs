//! The backends: a row for each says its name, what it needs of a CPU, and which other one does what it has
//! no code of its own for.
//!
//! `scripts/required-backends.sh` reads the rows, too.

#[cfg(feature = "capi")]
use std::ffi::CStr;

/// Whether a library for this architecture has the backend.
macro_rules! is_built {
    (any) => {
        true
    };
    ($architecture:tt) => {
        cfg!(target_arch = $architecture)
    };
}

/// Whether this CPU has what the backend needs.
macro_rules! is_there {
    (any) => {
        true
    };
    ("x86_64" $($feature:tt)*) => {{
        #[cfg(target_arch = "x86_64")]
        {
            true $(&& std::is_x86_feature_detected!($feature))*
        }
        #[cfg(not(target_arch = "x86_64"))]
        false
    }};
}

/// Makes [`Backend`] of rows: `Variant "name" on ARCHITECTURE ["feature" ...] or OTHER;`.
macro_rules! backends {
    ($($(#[$doc:meta])* $variant:ident $name:literal on $architecture:tt [$($feature:tt)*]
        or $other:ident;)*) => {
        /// An implementation of the kernels. All give the same bytes and the same answers.
        ///
        /// ```
        /// use bloomline::Backend;
        ///
        /// println!("in use: {}", Backend::active()?.name());
        /// assert!(Backend::available().any(|backend| backend == Backend::Scalar));
        /// # Ok::<(), bloomline::Error>(())
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Backend {
            $($(#[$doc])* $variant,)*
        }

        impl Backend {
            /// The names, in the order of [`Backend::ALL`].
            pub(super) const NAMES: [&str; [$($name),*].len()] = [$($name),*];

            /// All backends there are, the slowest first.
            pub(crate) const ALL: [Backend; Backend::NAMES.len()] = [$(Backend::$variant),*];

            /// How many of them a library for this architecture has.
            pub(super) const BUILT: usize = 0 $(+ is_built!($architecture) as usize)*;

            /// The features that each needs.
            const FEATURES: [&[&str]; Backend::NAMES.len()] = [$(&[$($feature),*]),*];

            /// The backend whose code it takes where it has none of its own.
            const fn other(self) -> Backend {
                match self {
                    $(Backend::$variant => Backend::$other,)*
                }
            }

            /// Whether this CPU has what it needs.
            fn is_there(self) -> bool {
                match self {
                    $(Backend::$variant => is_there!($architecture $($feature)*),)*
                }
            }

            /// [`Backend::name`] for C.
            #[cfg(feature = "capi")]
            pub(crate) const fn c_name(self) -> &'static CStr {
                const fn name(bytes: &'static [u8]) -> &'static CStr {
                    match CStr::from_bytes_with_nul(bytes) {
                        Ok(name) => name,
                        Err(_) => panic!("a name contains no NUL"),
                    }
                }
                match self {
                    $(Backend::$variant => const { name(concat!($name, "\0").as_bytes()) },)*
                }
            }
        }
    };
}

backends! {
    /// One lane after the other, on every CPU.
    Scalar "scalar" on any [] or Scalar;
    /// 8 lanes through `wide`: NEON on aarch64. On x86-64 it is `Scalar` under another name.
    Portable "portable" on any [] or Scalar;
    // The scalar instructions are those that every CPU with AVX2 has beside it.
    /// x86-64 with AVX2.
    Avx2 "avx2" on "x86_64" ["avx2" "bmi1" "bmi2" "popcnt"] or Scalar;
    // Only the builder of RocksDB's lines needs VBMI, only that and matrices GFNI, only growing filters
    // VBMI2, and only static lines and these VPOPCNTDQ; all CPUs with GFNI have them. But requiring them
    // leaves out the first generation (Skylake, Cascade Lake), which lowers the core's clock under 512-bit
    // multiplies.
    /// x86-64 with AVX-512 F, BW, CD, DQ, VL, VBMI, VBMI2 and VPOPCNTDQ, and GFNI: Ice Lake, Zen 4
    /// and later.
    Avx512 "avx512" on "x86_64" [
        "avx2" "bmi1" "bmi2" "popcnt" "avx512f" "avx512bw" "avx512dq" "avx512vl" "avx512cd"
        "avx512vbmi" "avx512vbmi2" "avx512vpopcntdq" "gfni"
    ] or Avx2;
}

/// What runs a backend runs the one whose code it may take.
const _: () = {
    const fn is_same(one: &[u8], two: &[u8]) -> bool {
        let mut i = 0;
        while i < one.len() && i < two.len() && one[i] == two[i] {
            i += 1;
        }
        i == one.len() && i == two.len()
    }
    const fn has(features: &[&str], feature: &str) -> bool {
        let mut i = 0;
        while i < features.len() && !is_same(features[i].as_bytes(), feature.as_bytes()) {
            i += 1;
        }
        i < features.len()
    }
    let mut at = 1;
    while at < Backend::ALL.len() {
        let other = Backend::ALL[at].other() as usize;
        assert!(other < at, "the table has it before");
        let mut i = 0;
        while i < Backend::FEATURES[other].len() {
            assert!(
                has(Backend::FEATURES[at], Backend::FEATURES[other][i]),
                "a feature is missing"
            );
            i += 1;
        }
        at += 1;
    }
};

impl Backend {
    /// A table of what each backend has, of rows in the order of [`Backend::ALL`], the first for the scalar
    /// one. A backend without a row has what the one that stands in its row above has. The rows of those
    /// that are not built are never reached.
    pub(super) const fn table<T: Copy, const ROWS: usize>(
        rows: [(Backend, T); ROWS],
    ) -> [T; Backend::ALL.len()] {
        assert!(rows[0].0 as usize == 0, "every CPU has the first");
        let mut table = [rows[0].1; Backend::ALL.len()];
        let (mut at, mut row) = (1, 1);
        while at < table.len() {
            if row < ROWS && rows[row].0 as usize == at {
                table[at] = rows[row].1;
                row += 1;
            } else {
                table[at] = table[Backend::ALL[at].other() as usize];
            }
            at += 1;
        }
        assert!(row == ROWS, "one row for each backend, in order");
        table
    }

    /// Returns the name, such as "scalar" or "avx2".
    pub const fn name(self) -> &'static str {
        Backend::NAMES[self as usize]
    }

    /// Returns the backend of that name.
    pub fn from_name(name: &str) -> Option<Backend> {
        Backend::ALL.into_iter().find(|backend| backend.name() == name)
    }

    /// Returns whether this CPU can run the backend.
    pub fn is_available(self) -> bool {
        self.is_there()
    }

    /// Returns the backends that this CPU can run, the slowest first.
    pub fn available() -> impl Iterator<Item = Backend> {
        Backend::ALL.into_iter().filter(|backend| backend.is_available())
    }
}

#[cfg(test)]
mod tests {
    use super::Backend::{self, Avx2, Avx512, Portable, Scalar};

    #[test]
    fn a_backend_without_a_row_has_that_of_another() {
        assert_eq!(
            Backend::table([(Scalar, 1), (Portable, 2), (Avx2, 3), (Avx512, 4)]),
            [1, 2, 3, 4]
        );
        assert_eq!(Backend::table([(Scalar, 1), (Avx2, 3)]), [1, 1, 3, 3]);
        assert_eq!(Backend::table([(Scalar, 1), (Portable, 2), (Avx512, 4)]), [1, 2, 1, 4]);
        assert_eq!(Backend::table([(Scalar, 1)]), [1; 4]);
    }

    #[test]
    #[should_panic(expected = "in order")]
    fn no_row_is_lost() {
        Backend::table([(Scalar, 1), (Avx2, 3), (Portable, 2)]);
    }
}
