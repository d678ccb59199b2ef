//! Memory in pieces of 64 KiB, cut out of 2 MiB each, which become a huge page once all pieces were in use.
#![allow(unsafe_code)]

#[cfg(unix)]
use super::pages::{HUGE_PAGE, Pages};
#[cfg(unix)]
use crate::error::Error;
#[cfg(unix)]
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Addresses are asked for so many arenas at least, and at most.
#[cfg(unix)]
const LEAST_FURTHER: usize = 8;
#[cfg(unix)]
const MOST_FURTHER: usize = 16;

/// The bytes of a piece.
pub(crate) const PIECE: usize = 64 << 10;

/// Where pieces come from, and where they go back to when they are dropped: of one owner, or of several that share
/// it.
///
/// Writing to a piece for the first time costs faults of small pages only. Once each piece of an arena has been in
/// use, the system is asked to make the arena one huge page, which it does in a thread of its own. So nobody waits
/// for 2 MiB.
#[cfg(unix)]
#[derive(Clone, Default)]
pub(crate) struct Pool(Arc<Mutex<Arenas>>);

#[cfg(unix)]
#[derive(Default)]
struct Arenas {
    all: Vec<Arena>,
    /// None before this one has a free piece.
    lowest: usize,
    /// Addresses for further ones: asking the system for them takes longer than any insert, so it is asked for several.
    further: Vec<Pages>,
}

#[cfg(unix)]
impl Arenas {
    /// Addresses for another arena, in small pages.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    fn pages(&mut self) -> Result<Pages, Error> {
        let count = self.all.len().clamp(LEAST_FURTHER, MOST_FURTHER);
        let is_new = self.further.is_empty();
        if is_new
            && self.further.try_reserve(count).is_ok()
            && let Ok(pages) = Pages::usual(count * HUGE_PAGE)
        {
            pages.advise(false);
            self.further.extend(pages.in_huge_pages());
        }
        if let Some(pages) = self.further.pop() {
            if is_new {
                pages.touch();
            }
            return Ok(pages);
        }
        let pages = Pages::usual(HUGE_PAGE)?;
        pages.advise(false);
        Ok(pages)
    }
}

/// 2 MiB, or nothing while nobody has a piece.
#[cfg(unix)]
#[derive(Default)]
struct Arena {
    pages: Option<Pages>,
    /// A bit for each piece that somebody has.
    used: u32,
    /// A bit for each that somebody ever had.
    touched: u32,
}

/// A piece that somebody has. Filters keep one for each chunk, so it is no larger than the other variants of
/// `memory::Source`.
#[cfg(unix)]
pub(super) struct Piece {
    pool: Pool,
    arena: u32,
    number: u32,
    start: *mut u8,
}

// SAFETY: the piece is owned, and the arena that it is a part of stays as long as it lives.
#[cfg(unix)]
unsafe impl Send for Piece {}
// SAFETY: as above.
#[cfg(unix)]
unsafe impl Sync for Piece {}

#[cfg(unix)]
impl Piece {
    pub(super) fn start(&self) -> *mut u8 {
        self.start
    }
}

#[cfg(unix)]
impl Drop for Piece {
    fn drop(&mut self) {
        let mut arenas = self.pool.arenas();
        let at = self.arena as usize;
        arenas.lowest = arenas.lowest.min(at);
        let arena = &mut arenas.all[at];
        arena.used &= !(1 << self.number);
        let gone = (arena.used == 0).then(|| std::mem::take(arena));
        // The system takes the pages back while others cut theirs.
        drop(arenas);
        drop(gone);
    }
}

#[cfg(unix)]
impl Pool {
    const _ALL: () = assert!(HUGE_PAGE / PIECE == u32::BITS as usize);
    const _ROOM: () = assert!(size_of::<Mutex<Arenas>>() + 2 * size_of::<usize>() <= 128);

    /// None without memory. An `Arc` aborts then, so as much is asked for first.
    pub(super) fn new() -> Option<Pool> {
        Vec::<[u64; 16]>::new().try_reserve_exact(1).ok()?;
        Some(Pool::default())
    }

    fn arenas(&self) -> MutexGuard<'_, Arenas> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A piece, of the first arena that has one: so the last ones become empty where less is needed. What its bytes
    /// are is left of those who had it. If a new arena has to be made and the pieces are `in_bulk`, it is a huge page
    /// at once.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn cut(&self, in_bulk: bool) -> Result<Piece, Error> {
        let mut arenas = self.arenas();
        let from = arenas.lowest;
        let at =
            from + arenas.all[from..].iter().take_while(|arena| arena.used == u32::MAX).count();
        let of = u32::try_from(at).map_err(|_| Error::OutOfMemory)?;
        if at == arenas.all.len() {
            arenas.all.try_reserve(1).map_err(|_| Error::OutOfMemory)?;
            arenas.all.push(Arena::default());
        }
        arenas.lowest = at;
        if arenas.all[at].pages.is_none() {
            let pages = arenas.pages()?;
            if in_bulk {
                pages.advise(true);
            }
            arenas.all[at].pages = Some(pages);
        }
        let arena = &mut arenas.all[at];
        let Some(pages) = &arena.pages else { return Err(Error::OutOfMemory) };
        let number = arena.used.trailing_ones();
        let bit = 1 << number;
        let start = pages.parts().0.wrapping_add(number as usize * PIECE);
        let is_whole = arena.touched != u32::MAX && arena.touched | bit == u32::MAX;
        if is_whole {
            pages.advise(true);
        }
        arena.used |= bit;
        arena.touched |= bit;
        if is_whole && let Some(next) = arenas.further.last() {
            // It is the next to be cut. Whoever writes to it first would take as long once more.
            next.touch();
        }
        drop(arenas);
        Ok(Piece { pool: self.clone(), arena: of, number, start })
    }

    /// How many pieces of each arena are in use, and whether it is there.
    #[cfg(test)]
    pub(super) fn used(&self) -> Vec<(u32, bool)> {
        let of = |arena: &Arena| (arena.used.count_ones(), arena.pages.is_some());
        self.arenas().all.iter().map(of).collect()
    }

    /// The bytes that were in use, and nobody has.
    pub(super) fn unused(&self) -> usize {
        let of = |arena: &Arena| (arena.touched & !arena.used).count_ones() as usize * PIECE;
        self.arenas().all.iter().map(of).sum()
    }
}
