//! Growing filters as bytes. What is written is the filter that is built of all prefixes at once, so
//! that what it has been through does not show.

use super::GrowingFilter;
use super::build::Lengths;
use super::state::{Region, Sweep, Terms};
use super::view::{self, Parts};
use crate::error::Error;
use crate::format::encoded::{Body, Encoded, whole_values};
use crate::format::growing::{self as format, PARTS, Shape};
use crate::format::native::{Footer, FooterBytes};
use crate::kernel::growing::goes_on;
use crate::kernel::growing::place::Layout;
use crate::kernel::{Backend, Kernels};
use crate::line::{LINE_BYTES, Line};
use crate::os::memory::Zeroed;
use std::io::{self, Write};

/// Lines are written so many at a time.
const TOGETHER: usize = 64;

whole_values!(GrowingFilter);

impl Encoded for GrowingFilter {
    fn settled(&self) -> Result<Option<GrowingFilter>, Error> {
        if self.is_settled { Ok(None) } else { self.copy().map(Some) }
    }

    fn footer(&self) -> Footer {
        self.shape().footer(self.key_count, self.terms.seed)
    }

    fn body_len(&self) -> usize {
        self.shape().body_len()
    }

    fn write_body(&self, from: usize, out: &mut dyn Write) -> io::Result<()> {
        let shape = self.shape();
        let mut to = Blocks { skip: from, len: 0, part: [[0; LINE_BYTES]; TOGETHER], out };
        let layouts = self.places.layouts.iter().zip(shape.regions());
        for (layout, region) in layouts {
            let before = (to.skip / LINE_BYTES).min(region.lines as usize);
            to.skip -= before * LINE_BYTES;
            for number in before..region.lines as usize {
                let line = layout.lines.get(number).copied().unwrap_or_default();
                to.put(bytes_of(line))?;
            }
        }
        let mut beside = self.stash.iter().chain(self.copies.iter());
        let entries = (shape.stash + shape.copies) as usize;
        for _ in 0..entries.div_ceil(LINE_BYTES / format::ENTRY_BYTES) {
            let mut line: Line = [0; 8];
            for two in line.as_chunks_mut::<2>().0 {
                if let Some((prefix, count)) = beside.next() {
                    *two = [prefix, count];
                }
            }
            to.put(bytes_of(line))?;
        }
        shape.records()[..=shape.parts].iter().try_for_each(|&record| to.put(record))?;
        to.flush()
    }

    fn read(footer: &FooterBytes, body: &mut Body<'_>) -> Result<GrowingFilter, Error> {
        let outline = format::check(footer, body.len())?;
        let len = usize::try_from(body.len()).map_err(|_| Error::OutOfMemory)?;
        let mut bytes = Zeroed::new(len)?;
        body.fill(&mut bytes)?;
        body.verify()?;
        let (blocks, records) = bytes.split_at(len - (outline.parts + 1) * LINE_BYTES);
        let shape = outline.shape(records.as_chunks().0)?;
        let parts = Parts::new(&shape, Kernels::active()?.of_growing())?;
        view::verify(&parts, blocks)?;
        let mut lengths: Lengths = [0; PARTS];
        for (part, length) in lengths.iter_mut().enumerate() {
            *length = shape.regions[part % shape.parts].length;
        }
        let Shape { keys, rate, .. } = shape;
        let terms = Terms { keys, rate, seed: outline.seed };
        let backend = Backend::active()?;
        let empty = GrowingFilter::with_calls(parts.common, terms, parts.calls, backend)?;
        empty.plan(lengths, false, outline.key_count).build(None, || view::runs(&parts, blocks))
    }

    fn copy(&self) -> Result<GrowingFilter, Error> {
        self.built(&self.plan(self.lengths(), false, self.key_count))
    }

    fn memory(&self) -> usize {
        let layouts = &self.places.layouts;
        let lines: usize = layouts.iter().map(|layout| layout.lines.memory()).sum();
        lines
            + layouts.capacity() * size_of::<Layout>()
            + self.regions.capacity() * size_of::<Region>()
            + self.copies.memory()
            + self.stash.memory()
            + self.changes.memory()
            + self.sweep.as_ref().map_or(0, Sweep::memory)
            + self.spare.memory()
    }
}

impl GrowingFilter {
    /// What the records say of it, if it is settled.
    fn shape(&self) -> Shape {
        debug_assert!(self.is_settled && self.sweep.is_none(), "its bytes are those of a copy");
        let mut regions = [format::Region::default(); PARTS];
        let mut first = 0;
        for (region, layout) in regions.iter_mut().zip(&self.places.layouts) {
            // Those that no key needed are not there. Behind one that goes on is another, if only an empty one: what
            // is left may be too far behind its home for that.
            let there = layout.lines.len();
            let last = there.checked_sub(1).and_then(|last| layout.lines.get(last));
            let lines = layout.homes.max(there + usize::from(last.is_some_and(goes_on))) as u64;
            let (u, r) = layout.width();
            *region = format::Region { first, lines, u, r, length: layout.length };
            first += lines;
        }
        Shape {
            prefixes: self.common.prefixes,
            keys: self.terms.keys,
            rate: self.terms.rate,
            longer: self.common.longer,
            stash: self.stash.iter().count() as u64,
            copies: self.copies.iter().count() as u64,
            regions,
            parts: self.regions.len(),
        }
    }
}

/// A line as it is encoded.
fn bytes_of(line: Line) -> [u8; LINE_BYTES] {
    let mut bytes = [0; LINE_BYTES];
    for (bytes, lane) in bytes.as_chunks_mut().0.iter_mut().zip(line) {
        *bytes = lane.to_le_bytes();
    }
    bytes
}

/// Blocks of 64 bytes on their way to a stream, but for those that are skipped.
struct Blocks<'a> {
    skip: usize,
    len: usize,
    part: [[u8; LINE_BYTES]; TOGETHER],
    out: &'a mut dyn Write,
}

impl Blocks<'_> {
    fn put(&mut self, block: [u8; LINE_BYTES]) -> io::Result<()> {
        if self.skip > 0 {
            let skipped = self.skip.min(LINE_BYTES);
            self.skip -= skipped;
            return self.out.write_all(&block[skipped..]);
        }
        self.part[self.len] = block;
        self.len += 1;
        if self.len == TOGETHER { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(self.part[..std::mem::take(&mut self.len)].as_flattened())
    }
}
