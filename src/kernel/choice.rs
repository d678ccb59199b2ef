//! The choice of a backend, once per process.
//!
//! Only the detection of a backend's instructions returns its kernels, which is the safety argument
//! of all calls.

use super::backend::Backend;
use super::functions::Kernel;
use super::layout::Layout;
use super::plain::Plain;
use super::table;
use super::tuning;
use crate::error::Error;
use crate::os::environment::{self, Setting, Variable};
use crate::shape::Params;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Which backend to use.
static BACKEND: Variable = Variable::new("BLOOMLINE_BACKEND", &Backend::NAMES);

/// A backend that this CPU can run: only detection makes it, so all its kernels may be called.
/// It is the backend's number in `Backend::ALL`, and in the tables.
#[derive(Clone, Copy)]
pub(crate) struct Kernels(usize);

/// One more than the number of the backend in use; 0 before the first use, and if there is none.
/// Threads that come first at once all choose, and choose the same. None waits, so no `fork` leaves
/// a child waiting for a thread that it does not have.
static ACTIVE: AtomicUsize = AtomicUsize::new(0);

impl Kernels {
    /// The kernel of a layout. Where the compiler knows the layout, only that one is linked.
    #[inline(always)]
    pub(crate) fn of(self, layout: Layout) -> &'static Kernel {
        self.row_of::<&Kernel>(table::of(layout))
    }

    /// The kernel of plain filters of these parameters.
    #[inline]
    pub(crate) fn of_params(self, params: Params) -> &'static Kernel {
        self.of(if params.is_classic() { Layout::Classic } else { Layout::Native })
    }

    /// The same, of filters that own their lines.
    pub(crate) fn plain(self, params: Params) -> Plain {
        Plain::of(self.0, params.is_classic())
    }

    /// The kernel of that [`Kernel::number`].
    #[cfg(feature = "capi")]
    #[inline(always)]
    pub(crate) fn numbered(self, number: u16) -> Option<&'static Kernel> {
        table::ALL.get(usize::from(number).wrapping_sub(1)).map(|table| *self.row_of(table))
    }

    #[inline(always)]
    pub(super) fn row_of<T>(self, table: &'static [T; Backend::ALL.len()]) -> &'static T {
        // SAFETY: detection found it, and a table has a row for each backend.
        unsafe { table.get_unchecked(self.0) }
    }

    /// The number of the backend, in tables.
    #[inline(always)]
    pub(super) fn number(self) -> usize {
        self.0
    }

    /// The kernels in use, chosen once per process.
    #[inline]
    pub(crate) fn active() -> Result<Kernels, Error> {
        Kernels::chosen().map_or_else(Kernels::choose, Ok)
    }

    /// The same if they have been chosen already, as for anything that has been opened.
    #[inline(always)]
    pub(crate) fn chosen() -> Option<Kernels> {
        // Only `choose` writes here, after detection. No other memory depends on it.
        match ACTIVE.load(Ordering::Relaxed) {
            0 => None,
            more => Some(Kernels(more - 1)),
        }
    }

    /// One more than the number of the backend in use; 0 if none has been chosen.
    #[cfg(feature = "capi")]
    #[inline(always)]
    pub(super) fn chosen_number() -> usize {
        ACTIVE.load(Ordering::Relaxed)
    }

    #[cold]
    fn choose() -> Result<Kernels, Error> {
        if environment::PREFETCH.get() == Setting::Unknown {
            return Err(Error::Prefetch);
        }
        let kernels = match BACKEND.get() {
            Setting::Unset => Backend::ALL.into_iter().rev().find_map(Backend::kernels),
            Setting::Value(index) => Backend::ALL[index].kernels(),
            Setting::Unknown => None,
        };
        let kernels = kernels.ok_or(Error::Backend)?;
        ACTIVE.store(kernels.0 + 1, Ordering::Relaxed);
        Ok(kernels)
    }
}

impl Kernel {
    /// The kernel that probes the same filter while other threads insert into it: where no vector is
    /// needed, by atomic loads of aligned lanes. It does not insert.
    #[inline]
    pub(crate) fn shared(&'static self) -> &'static Kernel {
        match self.layout {
            Layout::Native => table::SHARED_NATIVE[self.backend as usize],
            Layout::Classic => table::SHARED_CLASSIC[self.backend as usize],
            _ => self,
        }
    }

    /// The kernel in use for a layout.
    #[inline]
    pub(crate) fn active(layout: Layout) -> Result<&'static Kernel, Error> {
        Ok(Kernels::active()?.of(layout))
    }
}

impl Backend {
    /// The one way to kernels: through the detection of what they need.
    pub(crate) fn kernels(self) -> Option<Kernels> {
        let is_there = self.is_available();
        tuning::learn();
        is_there.then_some(Kernels(self as usize))
    }

    /// Returns the backend in use: the fastest that the CPU can run, or the one that the
    /// environment variable `BLOOMLINE_BACKEND` named when the program was loaded (empty counts as
    /// unset).
    ///
    /// # Errors
    /// [`Error::Backend`] if the variable names an unknown backend or one that this CPU cannot
    /// run: no other is chosen instead. [`Error::Prefetch`] if `BLOOMLINE_PREFETCH` has an unknown
    /// value.
    pub fn active() -> Result<Backend, Error> {
        Kernels::active().map(|kernels| kernels.of(Layout::Native).backend)
    }
}

/// Run by the system's loader.
#[used]
#[cfg_attr(
    any(
        target_os = "linux",
        target_os = "android",
        target_os = "freebsd",
        target_os = "netbsd",
        target_os = "openbsd",
        target_os = "dragonfly",
        target_os = "illumos",
        target_os = "solaris"
    ),
    // SAFETY: this section holds pointers to C functions without a result; these
    // may ignore the arguments that some loaders give.
    unsafe(link_section = ".init_array")
)]
#[cfg_attr(
    target_vendor = "apple",
    // SAFETY: as above.
    unsafe(link_section = "__DATA,__mod_init_func,mod_init_funcs")
)]
#[cfg_attr(
    windows,
    // SAFETY: as above.
    unsafe(link_section = ".CRT$XCU")
)]
static AT_LOAD: extern "C" fn() = at_load;

extern "C" fn at_load() {
    for variable in [&BACKEND, &environment::PREFETCH, &environment::HUGE_PAGES] {
        variable.read();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(any(target_os = "linux", target_vendor = "apple", windows))]
    fn variables_are_read_when_the_library_is_loaded() {
        for variable in [&BACKEND, &environment::PREFETCH, &environment::HUGE_PAGES] {
            assert!(variable.is_read(), "{variable:?}");
        }
    }
}
