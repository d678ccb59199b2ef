//! The backends by name, and which are there.

use super::{Kernels, Layout};
use crate::error::Error;
use crate::os::environment::BACKENDS;

/// An implementation of the kernels. All give the same bytes and the same answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Backend {
    /// One lane after the other, on every CPU.
    Scalar,
    /// 8 lanes through `wide`: NEON on aarch64. As `Scalar` on baseline x86-64: see `portable.rs`.
    Portable,
    /// x86-64 with AVX2.
    Avx2,
    /// x86-64 with AVX-512 F, BW, CD, DQ, VL, VBMI and VPOPCNTDQ, and GFNI: Ice Lake, Zen 4 and
    /// later.
    Avx512,
}

impl Backend {
    /// All backends there are, the slowest first.
    pub(crate) const ALL: [Backend; 4] =
        [Backend::Scalar, Backend::Portable, Backend::Avx2, Backend::Avx512];

    /// Returns the name: "scalar", "portable", "avx2" or "avx512".
    pub const fn name(self) -> &'static str {
        BACKENDS[self as usize]
    }

    /// Returns the backend of that name.
    pub fn from_name(name: &str) -> Option<Backend> {
        Backend::ALL.into_iter().find(|backend| backend.name() == name)
    }

    /// Returns whether this CPU can run the backend.
    pub fn is_available(self) -> bool {
        self.kernels().is_some()
    }

    /// Returns the backends that this CPU can run, the slowest first.
    pub fn available() -> impl Iterator<Item = Backend> {
        Backend::ALL.into_iter().filter(|backend| backend.is_available())
    }

    /// Returns the backend in use: the fastest that the CPU can run, or the one that the
    /// environment variable `BLOOMLINE_BACKEND` named when the program was loaded (empty counts as
    /// unset).
    ///
    /// # Errors
    /// [`Error::Backend`] if the variable names an unknown backend or one that this CPU cannot
    /// run. No other is chosen instead.
    pub fn active() -> Result<Backend, Error> {
        Kernels::active().map(|kernels| kernels.of(Layout::Native).backend)
    }
}
