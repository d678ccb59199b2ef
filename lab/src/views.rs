//! Views of this library, of an encoded plain filter and of Parquet's split blocks. A `View` borrows the
//! bytes; an `OwnedView` has them, and they may move with it.

use crate::common::memory::Memory;
use crate::contender::{By, Contender, Kind, Size, Sizes, in_calls};
use crate::crates::sbbf_bytes;
use crate::ours::filter;
use bloomline::engines::parquet;
use bloomline::{Filter, OwnedView, Probe, View};
use std::hint::black_box;

/// Parquet's blocks, borrowed.
pub(crate) const BLOCKS: &str = "Parquet's blocks, `View`";

pub(crate) fn kinds() -> Vec<Kind> {
    fn kind<R: Reader + 'static>(name: &str, sizes: Sizes, make: fn(u64, Size) -> Bytes) -> Kind {
        Kind::new(name, By::Ours, sizes, move |keys, size| {
            Some(Box::new(Viewed::<R> { written: Some(make(keys, size)), reader: None }))
        })
    }
    vec![
        kind::<Borrowed>("`View`", Sizes::Two, plain),
        kind::<OwnedView<Shown>>("`OwnedView`", Sizes::Two, plain),
        kind::<Borrowed>(BLOCKS, Sizes::All, blocks),
        kind::<Called>("Parquet's blocks, `View`, called", Sizes::All, blocks),
        kind::<OwnedView<Shown>>("Parquet's blocks, `OwnedView`", Sizes::Two, blocks),
    ]
}

// ---- what is written ----

enum Bytes {
    Plain(Filter),
    Blocks(Memory),
}

fn plain(keys: u64, size: Size) -> Bytes {
    Bytes::Plain(filter(keys, size))
}

fn blocks(keys: u64, size: Size) -> Bytes {
    Bytes::Blocks(Memory::new(sbbf_bytes(keys, size)))
}

impl Bytes {
    fn insert(&mut self, hashes: &[u64]) {
        match self {
            Bytes::Plain(filter) => filter.insert_hashes(hashes),
            Bytes::Blocks(bits) => parquet::insert_hashes(bits, hashes).expect("whole blocks"),
        }
    }

    /// What a reader opens.
    fn finish(self) -> (Memory, bool) {
        match self {
            Bytes::Blocks(bits) => (bits, true),
            Bytes::Plain(filter) => {
                let encoded = filter.to_bytes().expect("there is memory");
                let mut memory = Memory::new(encoded.len());
                memory.copy_from_slice(&encoded);
                (memory, false)
            }
        }
    }
}

// ---- what reads ----

trait Reader {
    /// Opens the bytes of a plain filter, or blocks.
    fn open(bytes: Memory, are_blocks: bool) -> Self;
    fn probe(&self) -> &impl Probe;
    fn bytes(&self) -> usize;

    /// A single probe.
    #[inline(always)]
    fn contains(&self, hash: u64) -> bool {
        self.probe().contains_hash(hash)
    }
}

/// A view and what it borrows.
struct Borrowed {
    view: View<'static>,
    memory: Memory,
}

impl Reader for Borrowed {
    fn open(memory: Memory, are_blocks: bool) -> Borrowed {
        // SAFETY: the memory stays where it is, and as long as the view, which nobody copies.
        let bytes: &'static [u8] =
            unsafe { std::slice::from_raw_parts(memory.as_ptr(), memory.len()) };
        let view = if are_blocks { View::open_parquet_bits(bytes) } else { View::open(bytes) };
        Borrowed { view: view.expect("it was written"), memory }
    }

    #[inline(always)]
    fn probe(&self) -> &impl Probe {
        &self.view
    }

    fn bytes(&self) -> usize {
        self.memory.len()
    }
}

/// The same, whose single probes are a function behind a pointer that does nothing else, as where a program is
/// compiled for any CPU.
struct Called {
    borrowed: Borrowed,
    contains: fn(&View<'static>, u64) -> bool,
}

impl Reader for Called {
    fn open(memory: Memory, are_blocks: bool) -> Called {
        #[inline(never)]
        fn contains(view: &View<'static>, hash: u64) -> bool {
            view.contains_hash(hash)
        }
        Called { borrowed: Borrowed::open(memory, are_blocks), contains: black_box(contains) }
    }

    #[inline(always)]
    fn probe(&self) -> &impl Probe {
        self.borrowed.probe()
    }

    fn bytes(&self) -> usize {
        self.borrowed.bytes()
    }

    #[inline(always)]
    fn contains(&self, hash: u64) -> bool {
        (self.contains)(&self.borrowed.view, hash)
    }
}

/// As an engine's table cache has it.
struct Shown(Memory);

impl AsRef<[u8]> for Shown {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Reader for OwnedView<Shown> {
    fn open(memory: Memory, are_blocks: bool) -> OwnedView<Shown> {
        let bytes = Shown(memory);
        let view = match are_blocks {
            true => OwnedView::open_parquet_bits(bytes),
            false => OwnedView::open(bytes),
        };
        view.expect("it was written")
    }

    #[inline(always)]
    fn probe(&self) -> &impl Probe {
        self
    }

    fn bytes(&self) -> usize {
        self.get_ref().0.len()
    }
}

/// Bytes that are written, then read.
struct Viewed<R> {
    written: Option<Bytes>,
    reader: Option<R>,
}

impl<R: Reader> Viewed<R> {
    #[inline(always)]
    fn reader(&self) -> &R {
        self.reader.as_ref().expect("filled")
    }
}

impl<R: Reader> Contender for Viewed<R> {
    fn bytes(&self) -> usize {
        self.reader().bytes()
    }

    fn insert_batch(&mut self, hashes: &[u64]) -> bool {
        self.written.as_mut().expect("not filled yet").insert(hashes);
        true
    }

    fn filled(&mut self) {
        let (bytes, are_blocks) = self.written.take().expect("filled once").finish();
        self.reader = Some(R::open(bytes, are_blocks));
    }

    #[inline(always)]
    fn contains(&self, hash: u64) -> bool {
        self.reader().contains(hash)
    }

    fn batches(&self, hashes: &[u64], each: usize) -> Option<usize> {
        let filter = self.reader().probe();
        Some(in_calls(hashes, each, |hashes, bitmap| filter.contains_hashes(hashes, bitmap)))
    }
}
