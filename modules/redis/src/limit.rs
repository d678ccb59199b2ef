//! The guard: how many bytes a key may have.

use crate::api::Ctx;
use crate::config::config;
use bloomline::Error;

/// The most bytes of a key; none for what a primary or a dump sends.
#[derive(Clone, Copy)]
pub(crate) struct Limit {
    most: usize,
    /// Asked how much memory the server may still take.
    ctx: Option<Ctx>,
}

/// The server is not asked about less: that takes longer than to allocate it.
const ASKED: usize = 1 << 20;

impl Limit {
    pub(crate) const fn none() -> Limit {
        Limit::bytes(0)
    }

    /// That of a command: as configured, and what `maxmemory` leaves, unless it comes from a primary
    /// or a file, which have decided already.
    pub(crate) fn of(ctx: Ctx) -> Limit {
        if ctx.is_replicated() {
            return Limit::none();
        }
        let most = usize::try_from(config().max_filter_bytes).unwrap_or(usize::MAX);
        Limit { ctx: Some(ctx), ..Limit::bytes(most) }
    }

    /// Whether this is what a primary or a dump sends: it must be taken, as it was there.
    pub(crate) fn is_none(self) -> bool {
        self.ctx.is_none() && self.most == usize::MAX
    }

    /// So many; 0: no limit.
    pub(crate) const fn bytes(most: usize) -> Limit {
        Limit { most: if most == 0 { usize::MAX } else { most }, ctx: None }
    }

    /// Whether a key may have so many bytes, of which so many are to be allocated.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] if it may not.
    pub(crate) fn allows(self, bytes: usize, more: usize) -> Result<(), Error> {
        let room = || {
            let room = self.ctx.filter(|_| more >= ASKED)?.room()?;
            Some(bytes <= room.of_a_key && more <= room.now)
        };
        if bytes <= self.most && room().unwrap_or(true) { Ok(()) } else { Err(Error::OutOfMemory) }
    }
}
