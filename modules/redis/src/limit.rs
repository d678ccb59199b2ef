//! The guard: how many bytes a key may have.

use crate::api::Ctx;
use crate::config::config;
use bloomline::Error;

/// The most bytes of a key; none for what a primary or a dump sends.
#[derive(Clone, Copy)]
pub(crate) struct Limit(usize);

impl Limit {
    pub(crate) const fn none() -> Limit {
        Limit(usize::MAX)
    }

    /// That of a command: as configured, unless it comes from a primary or a file, which have
    /// decided already.
    pub(crate) fn of(ctx: Ctx) -> Limit {
        if ctx.is_replicated() {
            return Limit::none();
        }
        Limit::bytes(usize::try_from(config().max_filter_bytes).unwrap_or(usize::MAX))
    }

    /// So many; 0: no limit.
    pub(crate) const fn bytes(most: usize) -> Limit {
        if most == 0 { Limit::none() } else { Limit(most) }
    }

    /// # Errors
    /// [`Error::OutOfMemory`] if it is more.
    pub(crate) fn allows(self, bytes: usize) -> Result<(), Error> {
        if bytes <= self.0 { Ok(()) } else { Err(Error::OutOfMemory) }
    }
}
