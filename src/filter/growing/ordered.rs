//! Prefixes with counts, in order, beside the lines: what no line has room for, and further copies of
//! what lines have. As a rule there are none.

use crate::error::Error;

/// The entries of a block.
const BLOCK: usize = 64;

type Block = Vec<(u64, u64)>;

/// A map of prefixes to counts, in ascending order, in blocks. An insert moves a block at most, and
/// the list of blocks.
#[derive(Default)]
pub(super) struct Ordered {
    /// None of them empty, each with room for [`BLOCK`].
    blocks: Vec<Block>,
    /// Empty ones, for what is reserved.
    spare: Vec<Block>,
    /// A bit for each number of zeros that a prefix ends with, of all that were here since there were none.
    ends: u64,
    /// The blocks that there may be, if that is limited.
    limit: Option<usize>,
    /// Prefixes that were added, if they are noted.
    added: Option<Vec<u64>>,
}

impl Ordered {
    pub(super) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// The sum of all counts, or the highest number.
    pub(super) fn total(&self) -> u64 {
        self.iter().fold(0, |total, (_, count)| total.saturating_add(count))
    }

    /// Where the sum of all counts is above `most`, those above a number become that number: the highest one
    /// with which it is not. `most` is no less than there are prefixes.
    pub(super) fn cap(&mut self, most: u64) {
        let sum = |cap: u64| self.iter().map(|(_, count)| u128::from(count.min(cap))).sum::<u128>();
        if sum(u64::MAX) <= most.into() {
            return;
        }
        let (mut cap, mut above) = (1, u64::MAX);
        while above - cap > 1 {
            let middle = cap + (above - cap) / 2;
            if sum(middle) <= most.into() {
                cap = middle;
            } else {
                above = middle;
            }
        }
        self.blocks.iter_mut().flatten().for_each(|(_, count)| *count = (*count).min(cap));
    }

    /// Whether there may be a prefix that ends with as many zeros as this one.
    pub(super) fn may_have(&self, prefix: u64) -> bool {
        self.ends >> (prefix.trailing_zeros() % u64::BITS) & 1 == 1
    }

    /// The block that has a prefix or should, and its place there.
    fn find(&self, prefix: u64) -> (usize, Result<usize, usize>) {
        let after = self.blocks.partition_point(|block| block[0].0 <= prefix);
        let block = after.saturating_sub(1);
        let at = self
            .blocks
            .get(block)
            .map_or(Err(0), |entries| entries.binary_search_by_key(&prefix, |&(prefix, _)| prefix));
        (block, at)
    }

    /// The count of a prefix.
    pub(super) fn get(&self, prefix: u64) -> u64 {
        let (block, at) = self.find(prefix);
        at.map_or(0, |at| self.blocks[block][at].1)
    }

    /// Makes sure that so many [`add`](Ordered::add) need no memory.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; all is as before.
    pub(super) fn reserve(&mut self, count: usize) -> Result<(), Error> {
        // Each block that is full now splits at the first; the halves split when they are full.
        let splits = count.min(self.blocks.len()) + count / (BLOCK / 2) + 1;
        if self.limit.is_some_and(|limit| self.blocks.len() + splits > limit) {
            return Err(Error::OutOfMemory);
        }
        if let Some(added) = &mut self.added {
            added.try_reserve(count).map_err(|_| Error::OutOfMemory)?;
        }
        self.blocks.try_reserve(splits).map_err(|_| Error::OutOfMemory)?;
        let more = splits.saturating_sub(self.spare.len());
        self.spare.try_reserve(more).map_err(|_| Error::OutOfMemory)?;
        while self.spare.len() < splits {
            let mut block = Block::new();
            block.try_reserve_exact(BLOCK).map_err(|_| Error::OutOfMemory)?;
            self.spare.push(block);
        }
        Ok(())
    }

    /// Gives back what was reserved, if there is nothing.
    pub(super) fn trim(&mut self) {
        if self.blocks.is_empty() {
            let (limit, added) = (self.limit, self.added.take());
            *self = Ordered { limit, added, ..Ordered::default() };
        }
    }

    /// Adds to the count of a prefix, up to the highest number: bytes may state any. A new prefix takes what was
    /// reserved.
    pub(super) fn add(&mut self, prefix: u64, count: u64) {
        if count == 0 {
            return;
        }
        if let Some(added) = &mut self.added {
            added.push(prefix);
        }
        self.ends |= 1 << (prefix.trailing_zeros() % u64::BITS);
        let (mut block, at) = self.find(prefix);
        let mut at = match at {
            Ok(at) => {
                let sum = &mut self.blocks[block][at].1;
                *sum = sum.saturating_add(count);
                return;
            }
            Err(at) => at,
        };
        if self.blocks.is_empty() {
            let first = self.spare.pop().unwrap_or_default();
            self.blocks.push(first);
        }
        if self.blocks[block].len() == BLOCK {
            let mut second = self.spare.pop().unwrap_or_default();
            second.extend(self.blocks[block].drain(BLOCK / 2..));
            self.blocks.insert(block + 1, second);
            if at > BLOCK / 2 {
                (block, at) = (block + 1, at - BLOCK / 2);
            }
        }
        self.blocks[block].insert(at, (prefix, count));
    }

    /// From here on notes the prefixes that are added.
    pub(super) fn note_added(&mut self) {
        self.added = Some(Vec::new());
    }

    /// Those that were added since, if they are noted.
    pub(super) fn take_added(&mut self) -> Option<Vec<u64>> {
        self.added.replace(Vec::new())
    }

    /// Takes all of the count of a prefix. What is reserved stays so, until it is [trimmed](Ordered::trim).
    pub(super) fn take(&mut self, prefix: u64) -> u64 {
        let (block, at) = self.find(prefix);
        let Ok(at) = at else { return 0 };
        let count = self.blocks[block][at].1;
        self.drop_entry(block, at);
        count
    }

    /// Takes one from the count of a prefix. Returns false if it has none.
    pub(super) fn remove(&mut self, prefix: u64) -> bool {
        let (block, at) = self.find(prefix);
        let Ok(at) = at else { return false };
        let count = &mut self.blocks[block][at].1;
        *count -= 1;
        if *count == 0 {
            self.drop_entry(block, at);
            self.trim();
        }
        true
    }

    fn drop_entry(&mut self, block: usize, at: usize) {
        self.blocks[block].remove(at);
        if self.blocks[block].is_empty() {
            self.blocks.remove(block);
        }
    }

    /// Deals out all entries: part `i` gets those from `i * size` on, and takes as many more as threads are to
    /// add, or a few more. [`unite`](Ordered::unite) then needs no memory, unless a limit is
    /// [lifted](Ordered::lift_limit).
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; all is as before.
    pub(super) fn deal<const N: usize>(
        &mut self,
        size: u64,
        more: &[usize; N],
    ) -> Result<[Ordered; N], Error> {
        let mut parts = [const { None }; N].map(|_: Option<()>| Ordered::default());
        let mut limits = 0;
        for (i, part) in parts.iter_mut().enumerate() {
            let first = size * i as u64;
            let mut own = 0;
            if !self.is_empty() {
                own = self.find(first + size - 1).0 - self.find(first).0 + 1;
                part.blocks.try_reserve_exact(own).map_err(|_| Error::OutOfMemory)?;
                // For a block that begins in the part before.
                part.reserve(0)?;
                part.ends = self.ends;
            }
            let limit = 2 * own + more[i] / (BLOCK / 4) + 8 * BLOCK;
            part.limit = Some(limit);
            limits += limit;
        }
        self.blocks.try_reserve(limits).map_err(|_| Error::OutOfMemory)?;
        let part_of = |block: &Block| ((block[0].0 / size) as usize).min(N - 1);
        for mut block in self.blocks.drain(..) {
            loop {
                let i = part_of(&block);
                let end = size * (i as u64 + 1);
                let own = block.partition_point(|&(prefix, _)| prefix < end);
                let mut rest = Block::new();
                if own < block.len() {
                    let next = ((block[own].0 / size) as usize).min(N - 1);
                    rest = parts[next].spare.pop().unwrap_or_default();
                    rest.extend(block.drain(own..));
                }
                parts[i].blocks.push(block);
                if rest.is_empty() {
                    break;
                }
                block = rest;
            }
        }
        Ok(parts)
    }

    /// It takes as many entries as there is memory for.
    pub(super) fn lift_limit(&mut self) {
        self.limit = None;
    }

    /// Takes the next of the parts that entries were dealt out to.
    pub(super) fn unite(&mut self, part: Ordered) {
        self.blocks.extend(part.blocks);
        self.ends |= part.ends;
    }

    /// The prefixes from one on, in order, with their counts.
    pub(super) fn from(&self, prefix: u64) -> impl Iterator<Item = (u64, u64)> {
        let (block, at) = self.find(prefix);
        let at = at.unwrap_or_else(|at| at);
        let rest = self.blocks.get(block..).unwrap_or_default();
        rest.iter().flatten().copied().skip(at)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, u64)> + Clone {
        self.blocks.iter().flatten().copied()
    }

    /// The bytes taken.
    pub(super) fn memory(&self) -> usize {
        let blocks = self.blocks.iter().chain(&self.spare);
        let entries: usize = blocks.map(|block| block.capacity() * size_of::<(u64, u64)>()).sum();
        entries + (self.blocks.capacity() + self.spare.capacity()) * size_of::<Block>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Against the standard library's map; what was reserved takes no memory.
    #[test]
    fn counts_are_in_order() {
        let (mut ordered, mut model, mut state) = (Ordered::default(), BTreeMap::new(), 1u64);
        for round in 0..20_000u64 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let prefix = (state >> 33) % 3000;
            // First it grows, then it shrinks.
            if state >> 40 & 15 < (if round < 10_000 { 11 } else { 4 }) {
                ordered.reserve(1).unwrap();
                let before = ordered.spare.len();
                ordered.add(prefix, 2);
                assert!(ordered.spare.len() + 1 >= before);
                *model.entry(prefix).or_insert(0) += 2;
            } else {
                let had = model.get_mut(&prefix).map(|count| *count -= 1).is_some();
                if model.get(&prefix) == Some(&0) {
                    model.remove(&prefix);
                }
                assert_eq!(ordered.remove(prefix), had);
            }
            if round % 100 == 0 {
                let (from, total) = (state >> 50, model.values().sum());
                assert!(ordered.iter().eq(model.iter().map(|(&p, &c)| (p, c))));
                assert!(ordered.from(from).eq(model.range(from..).map(|(&p, &c)| (p, c))));
                assert_eq!(
                    (ordered.get(from), ordered.total()),
                    (model.get(&from).copied().unwrap_or(0), total)
                );
            }
        }
        ordered = Ordered::default();
        ordered.reserve(100).unwrap();
        let (memory, blocks) = (ordered.memory(), ordered.spare.len());
        (0..100).rev().for_each(|prefix| ordered.add(prefix, 1));
        assert_eq!(
            (ordered.memory(), ordered.blocks.len() + ordered.spare.len()),
            (memory, blocks)
        );
    }
}
