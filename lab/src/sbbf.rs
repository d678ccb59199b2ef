//! Parquet's split blocks by this library: the bits of a Parquet filter, filled by
//! `engines::parquet::insert_hashes` and probed as a view.

use crate::common::memory::Memory;
use crate::contender::{By, Contender, Kind, Size, Sizes, in_calls};
use crate::crates::sbbf_bytes;
use bloomline::OwnedView;
use bloomline::engines::parquet;

pub(crate) const OURS: &str = "Parquet's blocks by `OwnedView`";

pub(crate) fn kinds() -> Vec<Kind> {
    vec![Kind::new(OURS, By::Ours, Sizes::All, |keys, size: Size| {
        let memory = Some(Memory::new(sbbf_bytes(keys, size)));
        Some(Box::new(Blocks { memory, view: None }))
    })]
}

struct Blocks {
    /// Until all keys are inserted.
    memory: Option<Memory>,
    /// From then on.
    view: Option<OwnedView<Bits>>,
}

struct Bits(Memory);

impl AsRef<[u8]> for Bits {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Blocks {
    fn view(&self) -> &OwnedView<Bits> {
        self.view.as_ref().expect("filled")
    }

    fn insert_some(&mut self, hashes: &[u64]) {
        let bits = self.memory.as_mut().expect("not filled yet");
        parquet::insert_hashes(bits, hashes).expect("whole blocks");
    }
}

impl Contender for Blocks {
    fn bytes(&self) -> usize {
        match &self.view {
            Some(view) => view.get_ref().0.len(),
            None => self.memory.as_ref().expect("not filled yet").len(),
        }
    }

    fn insert_batch(&mut self, hashes: &[u64]) -> bool {
        self.insert_some(hashes);
        true
    }

    fn filled(&mut self) {
        let memory = self.memory.take().expect("filled once");
        self.view = Some(OwnedView::open_parquet_bits(Bits(memory)).expect("whole blocks"));
    }

    #[inline(always)]
    fn contains(&self, hash: u64) -> bool {
        self.view().contains_hash(hash)
    }

    fn batches(&self, hashes: &[u64], each: usize) -> Option<usize> {
        let view = self.view();
        Some(in_calls(hashes, each, |hashes, bitmap| view.contains_hashes(hashes, bitmap)))
    }
}
