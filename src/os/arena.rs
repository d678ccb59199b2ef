//! Memory in pieces of 64 KiB, cut out of 2 MiB each, which become a huge page once all pieces were in use.
#![allow(unsafe_code)]

use super::memory::Zeroed;
#[cfg(unix)]
use super::memory::{HUGE_PAGE, may_map, pages::Pages};
use crate::error::Error;
#[cfg(unix)]
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The bytes of a piece.
pub(crate) const PIECE: usize = 64 << 10;

/// Where pieces come from, and where they go back to when they are dropped: of one owner, or of several that share
/// it.
///
/// A piece that is written to for the first time costs faults of small pages only. What all its pieces were
/// used of is given to the system as a whole, which makes a huge page of it in a thread of its own. So nobody waits
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

/// A piece that somebody has. No larger than what else lines come from: filters keep one of these for each chunk.
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
        if arena.used == 0 {
            *arena = Arena::default();
        }
    }
}

#[cfg(unix)]
impl Pool {
    const _ALL: () = assert!(HUGE_PAGE / PIECE == u32::BITS as usize);

    fn arenas(&self) -> MutexGuard<'_, Arenas> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A piece of zeros, of the first arena that has one: so the last ones become empty where less is needed. If a
    /// new arena has to be made and the pieces are `in_bulk`, it is a huge page at once.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    fn cut(&self, in_bulk: bool) -> Result<Piece, Error> {
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
        let arena = &mut arenas.all[at];
        let pages = match &arena.pages {
            Some(pages) => pages,
            None => {
                let pages = Pages::usual(HUGE_PAGE)?;
                pages.advise(in_bulk);
                arena.pages.insert(pages)
            }
        };
        let number = arena.used.trailing_ones();
        let bit = 1 << number;
        let is_new = arena.touched & bit == 0;
        let start = pages.parts().0.wrapping_add(number as usize * PIECE);
        if is_new && arena.touched | bit == u32::MAX {
            pages.advise(true);
        }
        arena.used |= bit;
        arena.touched |= bit;
        drop(arenas);
        if !is_new {
            // SAFETY: all bytes of a piece that nobody else has.
            unsafe { start.write_bytes(0, PIECE) };
        }
        Ok(Piece { pool: self.clone(), arena: of, number, start })
    }

    /// The bytes that were in use, and nobody has.
    fn unused(&self) -> usize {
        let of = |arena: &Arena| (arena.touched & !arena.used).count_ones() as usize * PIECE;
        self.arenas().all.iter().map(of).sum()
    }
}

/// Pieces for the lines of a filter. Where the system's pages may not be used, one that is freed is kept for the next.
#[derive(Default)]
pub(crate) struct Spare {
    #[cfg(unix)]
    pool: Option<Pool>,
    kept: Option<Zeroed>,
    /// Whether pieces may be cut.
    #[cfg_attr(not(unix), allow(dead_code))]
    cuts: bool,
    /// So many come in bulk.
    #[cfg_attr(not(unix), allow(dead_code))]
    in_bulk: usize,
}

impl Spare {
    /// Pieces of which none is cut yet. (By default there are none: all memory comes from the allocator.)
    pub(crate) fn new() -> Spare {
        Spare { cuts: true, ..Spare::default() }
    }

    /// The same, of which so many are needed at once.
    pub(crate) fn of_many(pieces: usize) -> Spare {
        // Only whole huge pages, so that none is wasted.
        let whole = u32::BITS as usize;
        Spare { in_bulk: pieces / whole * whole, ..Spare::new() }
    }

    /// Pieces out of the same memory, for another thread.
    pub(crate) fn shared(&mut self) -> Spare {
        Spare {
            #[cfg(unix)]
            pool: Some(self.pool.get_or_insert_default().clone()),
            ..Spare::new()
        }
    }

    /// So many bytes of zeros.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn zeroed(&mut self, len: usize) -> Result<Zeroed, Error> {
        if let Some(mut kept) = self.kept.take_if(|kept| kept.len() == len) {
            kept.fill(0);
            return Ok(kept);
        }
        #[cfg(unix)]
        if self.cuts && len == PIECE && may_map() {
            let piece = self.pool.get_or_insert_default().cut(self.in_bulk > 0)?;
            self.in_bulk = self.in_bulk.saturating_sub(1);
            return Ok(Zeroed::of_piece(piece));
        }
        Zeroed::new(len)
    }

    /// Keeps what is no longer needed, if it is as large as a piece and none.
    pub(crate) fn put(&mut self, freed: Option<Zeroed>) {
        self.kept = freed.filter(|freed| freed.len() == PIECE && !freed.is_piece());
    }

    /// The bytes that it keeps.
    pub(crate) fn memory(&self) -> usize {
        let kept = self.kept.as_ref().map_or(0, Zeroed::taken);
        #[cfg(unix)]
        let kept = kept + self.pool.as_ref().map_or(0, Pool::unused);
        kept
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn numbers(pool: &Pool) -> Vec<u32> {
        pool.arenas().all.iter().map(|arena| arena.used.count_ones()).collect()
    }

    #[test]
    fn pieces_are_cut_in_order_and_come_back_zeroed() {
        let pool = Pool::default();
        let mut all: Vec<Zeroed> =
            (0..70).map(|_| Zeroed::of_piece(pool.cut(false).unwrap())).collect();
        assert_eq!(numbers(&pool), [32, 32, 6]);
        let starts: BTreeSet<usize> = all.iter().map(|piece| piece.start().addr()).collect();
        assert!(starts.len() == 70 && starts.iter().all(|start| start % PIECE == 0));
        for piece in &mut all {
            assert!(piece.len() == PIECE && piece.iter().all(|&byte| byte == 0));
            piece.fill(7);
        }
        assert_eq!(pool.unused(), 0);
        // The lowest that are free are the next.
        let freed: BTreeSet<usize> = [40, 3, 5].map(|i| all[i].start().addr()).into();
        let mut i = 0;
        all.retain(|_| (![40, 3, 5].contains(&i), i += 1).0);
        assert!(numbers(&pool) == [30, 31, 6] && pool.unused() == 3 * PIECE);
        let again: Vec<Zeroed> =
            (0..3).map(|_| Zeroed::of_piece(pool.cut(false).unwrap())).collect();
        assert_eq!(again.iter().map(|piece| piece.start().addr()).collect::<BTreeSet<_>>(), freed);
        assert!(again.iter().all(|piece| piece.iter().all(|&byte| byte == 0)));
        assert!(all.iter().all(|piece| piece.iter().all(|&byte| byte == 7)));
        assert_eq!((numbers(&pool), pool.unused()), (vec![32, 32, 6], 0));
    }

    #[test]
    fn empty_arenas_go_back_to_the_system() {
        let pool = Pool::default();
        let all: Vec<Piece> = (0..160).map(|_| pool.cut(false).unwrap()).collect();
        assert_eq!(numbers(&pool), [32; 5]);
        let mut all = all.into_iter();
        let few: Vec<Piece> = all.by_ref().take(31).collect();
        drop(all);
        let is_there = |pool: &Pool| {
            let arenas = pool.arenas();
            arenas.all.iter().map(|arena| arena.pages.is_some()).collect::<Vec<bool>>()
        };
        assert_eq!(is_there(&pool), [true, false, false, false, false]);
        assert_eq!(pool.unused(), PIECE);
        let more: Vec<Piece> = (0..2).map(|_| pool.cut(false).unwrap()).collect();
        assert_eq!(numbers(&pool), [32, 1, 0, 0, 0]);
        // What is left lives as long as its pieces.
        drop(pool);
        let mut last = Zeroed::of_piece(more.into_iter().last().unwrap());
        assert!(last.iter().all(|&byte| byte == 0));
        last.fill(1);
        assert!(few.len() == 31);
    }

    #[test]
    fn threads_cut_and_free_at_once() {
        let pool = Pool::default();
        std::thread::scope(|scope| {
            for thread in 0..4_u8 {
                let pool = pool.clone();
                scope.spawn(move || {
                    let mut own = Vec::new();
                    for round in 0..200 {
                        let mut piece = Zeroed::of_piece(pool.cut(false).unwrap());
                        assert!(piece[..64].iter().all(|&byte| byte == 0));
                        piece[..64].fill(thread + 1);
                        own.push(piece);
                        if round % 3 != 0 {
                            own.swap_remove(round % own.len());
                        }
                    }
                    assert!(own.iter().all(|piece| piece[..64] == [thread + 1; 64]));
                });
            }
        });
        assert!(numbers(&pool).iter().all(|&used| used == 0));
    }

    #[test]
    fn what_is_not_a_piece_comes_from_the_allocator() {
        let mut spare = Spare::new();
        let other = spare.zeroed(PIECE / 2).unwrap();
        assert!(!other.is_piece() && !Spare::default().zeroed(PIECE).unwrap().is_piece());
        let two = [(); 2].map(|()| spare.zeroed(PIECE).unwrap());
        assert_eq!(spare.memory(), 0);
        let [one, _other] = two;
        spare.put(Some(one));
        assert_eq!(spare.memory(), PIECE);
    }
}
