//! The kernels of plain filters, in two tables: what single keys need, and all of it. So a program that
//! inserts and asks single keys links no code of batches.

use super::backend::Backend;
use super::functions::{Kernel, Own};
use super::layout::Layout;
use super::table;
use crate::line::LINE_BYTES;

/// The kernel of a plain filter, which this CPU can run, by its number in the tables: those of classic
/// filters come behind the others.
#[derive(Clone, Copy)]
pub(crate) struct Plain(usize);

const BACKENDS: usize = Backend::ALL.len();

static ALL: [&Kernel; 2 * BACKENDS] = {
    let mut all = [table::NATIVE[0]; 2 * BACKENDS];
    let mut i = 0;
    while i < BACKENDS {
        (all[i], all[BACKENDS + i]) = (table::NATIVE[i], table::CLASSIC[i]);
        i += 1;
    }
    all
};

/// Copies of functions: a reference to a kernel would have all of it linked.
static OWN: [[Own; 4]; 2 * BACKENDS] = {
    let mut all = [ALL[0].own(); 2 * BACKENDS];
    let mut i = 0;
    while i < all.len() {
        assert!(1 << ALL[i].line_log2 == LINE_BYTES);
        all[i] = ALL[i].own();
        i += 1;
    }
    all
};

impl Plain {
    /// Of the backend with this number, which `Kernels` or a [`Kernel`] has: so this
    /// CPU can run it.
    pub(super) fn of(backend: usize, is_classic: bool) -> Plain {
        assert!(backend < BACKENDS, "the number of a backend");
        Plain(backend + if is_classic { BACKENDS } else { 0 })
    }

    /// All of it.
    #[inline(always)]
    pub(crate) fn kernel(self) -> &'static Kernel {
        // SAFETY: only `of` makes these numbers, each below twice the number of backends.
        unsafe { ALL.get_unchecked(self.0) }
    }

    /// What single keys need, for k below 8, for 8, up to 12 and above.
    pub(super) fn own(self) -> &'static [Own; 4] {
        &OWN[self.0]
    }

    pub(crate) fn backend(self) -> Backend {
        Backend::ALL[self.0 % BACKENDS]
    }
}

impl Kernel {
    /// As that of a plain filter.
    ///
    /// # Panics
    /// If it is none.
    pub(crate) fn plain(&self) -> Plain {
        match self.layout {
            Layout::Native => Plain::of(self.backend as usize, false),
            Layout::Classic => Plain::of(self.backend as usize, true),
            _ => panic!("the kernel of another kind"),
        }
    }
}
