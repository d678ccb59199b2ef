//! Where the chunks of a filter's lines come from, and where they go back to.

use super::arena::PIECE;
#[cfg(unix)]
use super::arena::Pool;
use super::memory::Zeroed;
#[cfg(unix)]
use super::memory::may_map;
use crate::error::Error;

/// Pieces for the lines of a filter. Where the system's pages may not be used, one that is freed is kept for the next.
#[derive(Default)]
pub(crate) struct Spare {
    #[cfg(unix)]
    pool: Option<Pool>,
    kept: Option<Zeroed>,
    /// Whether pieces may be cut.
    #[cfg_attr(not(unix), allow(dead_code))]
    cuts: bool,
    /// How many of the next pieces may come from arenas that are huge pages at once.
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
        #[cfg(unix)]
        if self.cuts && may_map() {
            self.pool = self.pool.take().or_else(Pool::new);
        }
        Spare {
            #[cfg(unix)]
            pool: self.pool.clone(),
            ..Spare::new()
        }
    }

    /// Room for so many bytes, of which none is there yet.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn room_for(&mut self, len: usize) -> Result<Zeroed, Error> {
        if let Some(mut kept) = self.kept.take_if(|kept| kept.room() == len) {
            kept.clear();
            return Ok(kept);
        }
        #[cfg(unix)]
        if self.cuts && len == PIECE && may_map() {
            self.pool = self.pool.take().or_else(Pool::new);
            let piece = self.pool.as_ref().map(|pool| pool.cut(self.in_bulk > 0));
            self.in_bulk = self.in_bulk.saturating_sub(1);
            // Where 2 MiB cannot be mapped, the allocator may have 64 KiB.
            if let Some(Ok(piece)) = piece {
                return Ok(Zeroed::of_piece(piece));
            }
        }
        Zeroed::room_for(len)
    }

    /// Keeps memory that is no longer needed, if it is as large as a piece but is not one.
    pub(crate) fn put(&mut self, freed: Option<Zeroed>) {
        self.kept = freed.filter(|freed| freed.room() == PIECE && !freed.is_piece());
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
    use crate::os::arena::Piece;
    use std::collections::BTreeSet;

    /// A piece whose bytes are all there.
    fn cut(pool: &Pool) -> Zeroed {
        let mut piece = Zeroed::of_piece(pool.cut(false).unwrap());
        piece.grow_to(PIECE);
        piece
    }

    fn numbers(pool: &Pool) -> Vec<u32> {
        pool.used().into_iter().map(|(used, _)| used).collect()
    }

    #[test]
    fn pieces_are_cut_in_order_and_come_back_zeroed() {
        let pool = Pool::default();
        let mut all: Vec<Zeroed> = (0..70).map(|_| cut(&pool)).collect();
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
        let again: Vec<Zeroed> = (0..3).map(|_| cut(&pool)).collect();
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
        let is_there =
            |pool: &Pool| pool.used().into_iter().map(|(_, there)| there).collect::<Vec<_>>();
        assert_eq!(is_there(&pool), [true, false, false, false, false]);
        assert_eq!(pool.unused(), PIECE);
        let more: Vec<Piece> = (0..2).map(|_| pool.cut(false).unwrap()).collect();
        assert_eq!(numbers(&pool), [32, 1, 0, 0, 0]);
        // What is left lives as long as its pieces.
        drop(pool);
        let mut last = Zeroed::of_piece(more.into_iter().last().unwrap());
        last.grow_to(PIECE);
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
                        let mut piece = cut(&pool);
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
        let other = spare.room_for(PIECE / 2).unwrap();
        assert!(!other.is_piece() && !Spare::default().room_for(PIECE).unwrap().is_piece());
        let two = [(); 2].map(|()| spare.room_for(PIECE).unwrap());
        assert_eq!(spare.memory(), 0);
        let [one, _other] = two;
        spare.put(Some(one));
        assert_eq!(spare.memory(), PIECE);
    }
}
