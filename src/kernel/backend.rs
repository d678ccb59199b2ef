//! The backends: a row for each says its name and what it needs of a CPU.
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

/// Makes [`Backend`] of rows: `Variant "name" on ARCHITECTURE ["feature" ...];`.
macro_rules! backends {
    ($($(#[$doc:meta])* $variant:ident $name:literal on $architecture:tt [$($feature:tt)*];)*) => {
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
    Scalar "scalar" on any [];
    /// 8 lanes through `wide`: NEON on aarch64. On x86-64 it is `Scalar` under another name.
    Portable "portable" on any [];
    // The scalar instructions are those that every CPU with AVX2 has beside it.
    /// x86-64 with AVX2.
    Avx2 "avx2" on "x86_64" ["avx2" "bmi1" "bmi2" "popcnt"];
    // Only the builder of RocksDB's lines needs VBMI, only that and matrices GFNI, only growing filters VBMI2, and only static
    // lines and these VPOPCNTDQ; all CPUs with GFNI have them. But requiring them leaves out the first generation (Skylake, Cascade
    // Lake), which lowers the core's clock under 512-bit multiplies.
    /// x86-64 with AVX-512 F, BW, CD, DQ, VL, VBMI, VBMI2 and VPOPCNTDQ, and GFNI: Ice Lake, Zen 4
    /// and later.
    Avx512 "avx512" on "x86_64" [
        "avx2" "bmi1" "bmi2" "popcnt" "avx512f" "avx512bw" "avx512dq" "avx512vl" "avx512cd"
        "avx512vbmi" "avx512vbmi2" "avx512vpopcntdq" "gfni"
    ];
}

impl Backend {
    /// A table of what each backend has, of rows for all that are built: one without a row for each does
    /// not compile. The rows of others are never reached, and repeat the first.
    pub(super) const fn table<T: Copy>(
        rows: [(Backend, T); Backend::BUILT],
    ) -> [T; Backend::ALL.len()] {
        let mut table = [rows[0].1; Backend::ALL.len()];
        let (mut i, mut there) = (0, 0_u64);
        while i < rows.len() {
            let at = rows[i].0 as usize;
            assert!(there >> at & 1 == 0, "one row for each backend");
            there |= 1 << at;
            table[at] = rows[i].1;
            i += 1;
        }
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
