//! The limits: contenders that only touch the line of each key. They answer nothing of use. The loops
//! over batches are those of `benches/common/touch.rs`.

use crate::common::data::mix;
use crate::common::memory::Memory;
use crate::common::touch::{self, Read, Write, lines_mut};
use crate::contender::{By, Contender, Kind, Size, Sizes, in_calls};
use bloomline::definition::line::{Line, line_index};
use std::hint::black_box;
use std::slice::{from_raw_parts, from_raw_parts_mut};

pub(crate) const INLINED: &str = "touch, inlined";
pub(crate) const CALLED: &str = "touch, called";
/// The rest of the name is a hint and its distance.
pub(crate) const IN_BATCHES: &str = "touch, batch";

pub(crate) fn kinds() -> Vec<Kind> {
    let mut all = vec![
        Kind::new(INLINED, By::Limit, Sizes::All, |keys, size| Some(inlined(keys, size))),
        Kind::new(CALLED, By::Limit, Sizes::All, |keys, size| {
            Some(Box::new(Called::new(keys, size)))
        }),
    ];
    // The best of them is the limit of a batch: which it is depends on the size and the CPU.
    for (read, write) in [
        ("touch", "touch to write"),
        ("touch, unrolled", ""),
        ("touch, L2 128", "touch to write, L2 128"),
        ("touch, L2 128 + L1 8", "touch to write, L2 128 + L1 8"),
        ("touch, L1 32", "touch to write, L1 16"),
    ] {
        let reads = touch::reads().into_iter().find(|(name, _)| *name == read);
        let writes = touch::writes().into_iter().find(|(name, _)| *name == write);
        let writes = writes.unwrap_or(touch::writes()[0]).1;
        let Some((_, reads)) = reads else { continue };
        let how = read.trim_start_matches("touch").trim_start_matches(", ");
        let name = if how.is_empty() { IN_BATCHES.into() } else { format!("{IN_BATCHES}, {how}") };
        all.push(Kind::new(name, By::Limit, Sizes::All, move |keys, size| {
            Some(Box::new(Batches { lines: Lines::of(keys, size), reads, writes }))
        }));
    }
    all
}

/// The loop over single keys.
pub(crate) fn inlined(keys: u64, size: Size) -> Box<dyn Contender> {
    Box::new(Inlined::new(keys, size))
}

/// Lines of a plain filter's size, with random bits in them.
struct Lines {
    memory: Memory,
    handle: Handle,
}

/// Lines at an address, as the handle of a filter has them.
#[derive(Clone, Copy)]
struct Handle {
    lines: *mut Line,
    count: u64,
}

impl Lines {
    /// Of its own: what another loop has just touched would be in the cache.
    fn of(keys: u64, size: Size) -> Lines {
        let bytes = crate::ours::params(keys, size).bytes();
        let mut memory = Memory::new(bytes);
        let lines = lines_mut(&mut memory);
        for (i, line) in lines.iter_mut().enumerate() {
            line[0] = mix(i as u64);
        }
        let handle = Handle { lines: lines.as_mut_ptr(), count: lines.len() as u64 };
        Lines { memory, handle }
    }
}

impl Handle {
    /// The first word of a hash's line.
    #[inline(always)]
    fn word(&self, hash: u64) -> *mut u64 {
        self.lines.wrapping_add(line_index(hash, self.count) as usize).cast()
    }

    #[inline(always)]
    fn touch(&self, hash: u64) -> bool {
        // SAFETY: a word of lines that the contender keeps, and the index is below the count.
        one_by_one(unsafe { *self.word(hash) }) & 1 == 1
    }

    #[inline(always)]
    fn touch_to_write(&self, hash: u64) {
        let word = self.word(hash);
        // SAFETY: as above; there is one thread, and no reference to the lines.
        unsafe { *word = one_by_one(*word | hash) };
    }
}

/// Keeps the compiler from gathering several words at once: a filter's probe could not.
#[inline(always)]
#[allow(unused_mut)]
pub(crate) fn one_by_one(mut word: u64) -> u64 {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    // SAFETY: no instruction.
    unsafe {
        std::arch::asm!("/* {0} */", inout(reg) word, options(pure, nomem, nostack, preserves_flags));
    }
    word
}

/// The loop with the touch in it.
struct Inlined {
    lines: Lines,
    handle: Handle,
}

impl Inlined {
    fn new(keys: u64, size: Size) -> Inlined {
        let lines = Lines::of(keys, size);
        Inlined { handle: lines.handle, lines }
    }
}

impl Contender for Inlined {
    fn bytes(&self) -> usize {
        self.lines.memory.len()
    }

    fn insert_each(&mut self, hashes: &[u64]) -> bool {
        hashes.iter().for_each(|&hash| self.handle.touch_to_write(hash));
        true
    }

    #[inline(always)]
    fn contains(&self, hash: u64) -> bool {
        self.handle.touch(hash)
    }
}

/// The same through a function behind a pointer: the limit of any called probe.
struct Called {
    inlined: Inlined,
    touch: fn(&Handle, u64) -> bool,
    touch_to_write: fn(&Handle, u64),
}

impl Called {
    fn new(keys: u64, size: Size) -> Called {
        #[inline(never)]
        fn touch(handle: &Handle, hash: u64) -> bool {
            handle.touch(hash)
        }
        #[inline(never)]
        fn touch_to_write(handle: &Handle, hash: u64) {
            handle.touch_to_write(hash);
        }
        Called {
            inlined: Inlined::new(keys, size),
            touch: black_box(touch),
            touch_to_write: black_box(touch_to_write),
        }
    }
}

impl Contender for Called {
    fn bytes(&self) -> usize {
        self.inlined.bytes()
    }

    fn insert_each(&mut self, hashes: &[u64]) -> bool {
        hashes.iter().for_each(|&hash| (self.touch_to_write)(&self.inlined.handle, hash));
        true
    }

    #[inline(always)]
    fn contains(&self, hash: u64) -> bool {
        (self.touch)(&self.inlined.handle, hash)
    }
}

/// A loop over a batch that packs a bit of each line, with prefetch or without.
struct Batches {
    lines: Lines,
    reads: Read,
    writes: Write,
}

impl Contender for Batches {
    fn bytes(&self) -> usize {
        self.lines.memory.len()
    }

    fn insert_batch(&mut self, hashes: &[u64]) -> bool {
        let Handle { lines, count } = self.lines.handle;
        // SAFETY: these are the lines, there is one thread, and no other reference to them.
        (self.writes)(unsafe { from_raw_parts_mut(lines, count as usize) }, hashes);
        true
    }

    fn contains(&self, hash: u64) -> bool {
        self.lines.handle.touch(hash)
    }

    fn batches(&self, hashes: &[u64], each: usize) -> Option<usize> {
        let Handle { lines, count } = self.lines.handle;
        // SAFETY: these are the lines, and nothing writes them meanwhile.
        let lines = unsafe { from_raw_parts(lines, count as usize) };
        Some(in_calls(hashes, each, |hashes, bitmap| (self.reads)(lines, hashes, bitmap)))
    }
}
