//! Memory in pieces of 64 KiB, cut out of 2 MiB each, which become a huge page once all pieces were in use.
#![allow(unsafe_code)]

use super::memory::Zeroed;
#[cfg(unix)]
use super::memory::{HUGE_PAGE, may_map, pages::Pages};
use crate::error::Error;
#[cfg(unix)]
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
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
pub(crate) struct Pool(Arc<Shared>);

#[cfg(unix)]
#[derive(Default)]
struct Shared {
    arenas: Mutex<Vec<Arc<Arena>>>,
    /// No arena before this one has a free piece.
    lowest: Arc<AtomicUsize>,
}

/// 2 MiB.
#[cfg(unix)]
struct Arena {
    pages: Pages,
    /// A bit for each piece that somebody has.
    used: AtomicU32,
    /// A bit for each that somebody ever had.
    touched: AtomicU32,
    number: usize,
    lowest: Arc<AtomicUsize>,
}

/// A piece that somebody has.
#[cfg(unix)]
pub(super) struct Piece {
    arena: Arc<Arena>,
    number: usize,
}

#[cfg(unix)]
impl Piece {
    pub(super) fn start(&self) -> *mut u8 {
        self.arena.pages.parts().0.wrapping_add(self.number * PIECE)
    }
}

#[cfg(unix)]
impl Drop for Piece {
    fn drop(&mut self) {
        // Who gets it next sees all that was done to it.
        self.arena.used.fetch_and(!(1 << self.number), Ordering::Release);
        self.arena.lowest.fetch_min(self.arena.number, Ordering::Relaxed);
    }
}

#[cfg(unix)]
impl Pool {
    const _ALL: () = assert!(HUGE_PAGE / PIECE == u32::BITS as usize);

    fn arenas(&self) -> MutexGuard<'_, Vec<Arc<Arena>>> {
        self.0.arenas.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A piece of zeros, of the first arena that has one: so the last ones become empty where less is needed. If a
    /// new arena has to be made and the pieces are `in_bulk`, it is a huge page at once.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    fn cut(&self, in_bulk: bool) -> Result<Piece, Error> {
        let mut arenas = self.arenas();
        let before = self.0.lowest.load(Ordering::Relaxed);
        let is_free = |arena: &Arc<Arena>| arena.used.load(Ordering::Acquire) != u32::MAX;
        let from = before.min(arenas.len());
        let at = from + arenas[from..].iter().take_while(|arena| !is_free(arena)).count();
        if at == arenas.len() {
            arenas.try_reserve(1).map_err(|_| Error::OutOfMemory)?;
            let pages = Pages::small(HUGE_PAGE)?;
            if in_bulk {
                pages.advise_huge();
            }
            arenas.push(Arc::new(Arena {
                pages,
                used: AtomicU32::new(0),
                touched: AtomicU32::new(0),
                number: at,
                lowest: Arc::clone(&self.0.lowest),
            }));
        }
        // Unless a piece of an earlier one came back meanwhile.
        let _ = self.0.lowest.compare_exchange(before, at, Ordering::Relaxed, Ordering::Relaxed);
        let arena = Arc::clone(&arenas[at]);
        // One that is empty is kept, and those before it that are not.
        while let [.., last, end] = &arenas[..]
            && end.number > at
            && [last, end].iter().all(|arena| arena.used.load(Ordering::Acquire) == 0)
        {
            arenas.pop();
        }
        let number = arena.used.load(Ordering::Acquire).trailing_ones() as usize;
        arena.used.fetch_or(1 << number, Ordering::Relaxed);
        let piece = Piece { arena, number };
        let touched = piece.arena.touched.fetch_or(1 << number, Ordering::Relaxed);
        drop(arenas);
        if touched & 1 << number != 0 {
            // SAFETY: all bytes of a piece that nobody else has.
            unsafe { piece.start().write_bytes(0, PIECE) };
        } else if (touched | 1 << number) == u32::MAX {
            piece.arena.pages.advise_huge();
        }
        Ok(piece)
    }

    /// The bytes that were in use, and nobody has.
    fn unused(&self) -> usize {
        let of = |arena: &Arc<Arena>| {
            let unused =
                arena.touched.load(Ordering::Relaxed) & !arena.used.load(Ordering::Relaxed);
            unused.count_ones() as usize * PIECE
        };
        self.arenas().iter().map(of).sum()
    }
}

/// Pieces for the lines of a filter. Where the system's pages may not be used, one that is freed is kept for the next.
#[derive(Default)]
pub(crate) struct Spare {
    #[cfg(unix)]
    pool: Option<Pool>,
    kept: Option<Zeroed>,
    /// Whether pieces may be cut.
    cuts: bool,
    /// So many come in bulk.
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
        pool.arenas().iter().map(|arena| arena.used.load(Ordering::Relaxed).count_ones()).collect()
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
        assert_eq!(numbers(&pool), [31, 0, 0, 0, 0]);
        let next = pool.cut(false).unwrap();
        assert_eq!(numbers(&pool), [32, 0], "one is kept");
        // What is left lives as long as its pieces.
        drop(pool);
        let start = next.start();
        let mut last = Zeroed::of_piece(next);
        last.fill(1);
        assert!(last.start() == start && few.len() == 31);
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
        let piece = spare.zeroed(PIECE).unwrap();
        assert_eq!(spare.memory(), 0);
        spare.put(Some(piece));
        assert_eq!(spare.memory(), PIECE);
    }
}
