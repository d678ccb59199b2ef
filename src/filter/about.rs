//! What each layout says of itself: a row for each, with the facts in which they differ.

use crate::kernel::static_line::unpack;
use crate::kernel::{Column, Layout, Probed};
use crate::layouts::cuckoo::taken;
use crate::layouts::sbbf;
use crate::layouts::static_line::lanes;
use crate::line::{LINE_BYTES, Line};
use crate::shape::sizing::{self, stats};
use crate::shape::{CuckooParams, StaticParams};

/// A row: the facts of a layout.
pub(super) struct About {
    /// What the detail of a view is called.
    pub(super) name_of_detail: &'static str,
    /// What it is, in the detail of a view.
    pub(super) number: fn(u32) -> u32,
    /// The part that is taken, 0 to 1, of what the lines can hold.
    pub(super) fill: fn(Lines<'_>) -> f64,
    /// How many different keys are present, at such a fill.
    pub(super) keys: fn(Lines<'_>, f64) -> f64,
    /// Passes on the false-positive rate of every line, or of the block that has all bits of a key.
    pub(super) line_rates: fn(Lines<'_>, &mut dyn FnMut(f64)),
    /// That of all lines together, where it is not the mean.
    pub(super) rate: Option<fn(Lines<'_>) -> f64>,
}

/// What the facts are read from: the lines of a view, its detail, its key count.
#[derive(Clone, Copy)]
pub(super) struct Lines<'a> {
    pub(super) bytes: Probed<'a>,
    pub(super) detail: u32,
    pub(super) key_count: u64,
}

impl About {
    /// The row of a layout.
    pub(super) fn of(layout: Layout) -> &'static About {
        match layout {
            Layout::Native => &NATIVE,
            Layout::FastLocal | Layout::Legacy64 => &const { blocks::<LINE_BYTES>() },
            Layout::Legacy128 => &const { blocks::<{ 2 * LINE_BYTES }>() },
            Layout::Legacy256 => &const { blocks::<{ 4 * LINE_BYTES }>() },
            Layout::Classic | Layout::LevelDb => &ANYWHERE,
            Layout::Cuckoo => &CUCKOO,
            Layout::Static => &STATIC,
            Layout::Column => &COLUMN,
            Layout::Sbbf => &SBBF,
            Layout::ScalableFilter => &const { parts("stages") },
            Layout::Window => &const { parts("generations") },
            Layout::Cascade => &const { parts("layers") },
            Layout::GrowingFilter => &const { parts("regions") },
        }
    }
}

const NATIVE: About = About {
    name_of_detail: "k",
    number: |detail| detail,
    fill: |lines| lines.bytes.count_ones() as f64 / lines.bits(),
    keys: |lines, fill| sizing::keys_for_fill(fill, lines.count(), lines.k()),
    line_rates: |lines, each| {
        lines.bytes.each_line(&mut |line| each(stats::line_rate(line, lines.k())));
    },
    rate: None,
};

/// The bits of a key lie anywhere.
const ANYWHERE: About = About {
    keys: |lines, fill| sizing::classic::keys_for_fill(fill, lines.bits() as u64, lines.k()),
    line_rates: |lines, each| each((NATIVE.fill)(lines).powi(lines.k() as i32)),
    ..NATIVE
};

/// They lie anywhere in a block of so many bytes.
const fn blocks<const BYTES: usize>() -> About {
    About {
        line_rates: |lines, each| {
            stats::part_rates(lines.bytes.as_slice(), BYTES, lines.k(), each);
        },
        ..ANYWHERE
    }
}

/// A bit in each word of a block.
const SBBF: About = About {
    line_rates: |lines, each| {
        let (blocks, _) = lines.bytes.as_slice().as_chunks::<{ sbbf::BLOCK_BYTES }>();
        for block in blocks {
            let words = block.as_chunks::<4>().0.iter();
            each(
                words
                    .map(|&word| f64::from(u32::from_ne_bytes(word).count_ones()) / 32.0)
                    .product(),
            );
        }
    },
    ..ANYWHERE
};

const CUCKOO: About = About {
    name_of_detail: "fingerprint_bits",
    fill: |lines| taken(lines.bytes.as_slice(), lines.fingerprint_bits()) as f64 / slots(lines),
    keys: |lines, fill| (fill * slots(lines)).round(),
    line_rates: |lines, each| {
        let (all, _) = lines.bytes.as_slice().as_chunks::<LINE_BYTES>();
        all.iter().for_each(|line| each(rate_of_cuckoo_lines(line, lines.fingerprint_bits())));
    },
    rate: Some(|lines| rate_of_cuckoo_lines(lines.bytes.as_slice(), lines.fingerprint_bits())),
    ..NATIVE
};

/// The levels behind the first are not among its lines, and no line shows what it holds.
const STATIC: About = About {
    name_of_detail: "rows",
    number: |packed| unpack(packed).0,
    keys: |lines, _| lines.key_count as f64,
    line_rates: |lines, each| {
        let rows = unpack(lines.detail).0;
        let count = lines.bytes.len() / (8 * lanes(rows));
        each(StaticParams::new(count as u64, rows, 0).map_or(1.0, |params| params.rate()));
    },
    ..NATIVE
};

/// Its lines are those of a plain filter, but not side by side.
const COLUMN: About = About {
    number: |packed| Column::unpack(packed).k,
    fill: |lines| {
        let ones = |line: Line| line.iter().map(|lane| lane.count_ones() as usize).sum::<usize>();
        column_lines(lines).map(ones).sum::<usize>() as f64 / lines.bits()
    },
    keys: |lines, fill| sizing::keys_for_fill(fill, lines.count(), Column::unpack(lines.detail).k),
    line_rates: |lines, each| {
        let k = Column::unpack(lines.detail).k;
        for line in column_lines(lines) {
            let mut bytes = [0; LINE_BYTES];
            for (to, lane) in bytes.as_chunks_mut().0.iter_mut().zip(line) {
                *to = lane.to_le_bytes();
            }
            each(stats::line_rate(&bytes, k));
        }
    },
    ..NATIVE
};

fn column_lines(lines: Lines<'_>) -> impl Iterator<Item = Line> {
    let column = Column::unpack(lines.detail);
    (0..lines.count() as usize).map(move |number| column.line(lines.bytes, number))
}

/// The row of filters made of filters, which say the rest themselves: their lines are not here.
const fn parts(name_of_detail: &'static str) -> About {
    About {
        name_of_detail,
        fill: |_| 1.0,
        keys: |_, _| 0.0,
        line_rates: |_, each| each(1.0),
        ..NATIVE
    }
}

impl Lines<'_> {
    fn count(self) -> u64 {
        (self.bytes.len() / LINE_BYTES) as u64
    }

    /// Of a Bloom filter.
    fn k(self) -> u32 {
        self.detail
    }

    /// Of a cuckoo filter.
    fn fingerprint_bits(self) -> u32 {
        self.detail
    }

    fn bits(self) -> f64 {
        self.bytes.len() as f64 * 8.0
    }
}

/// The slots of a cuckoo filter; at least one.
fn slots(lines: Lines<'_>) -> f64 {
    CuckooParams::new(lines.count(), lines.fingerprint_bits(), 0)
        .map_or(1.0, |params| params.slots() as f64)
}

/// The rate at the load factor of these lines.
fn rate_of_cuckoo_lines(lines: &[u8], bits: u32) -> f64 {
    let params = CuckooParams::new((lines.len() / LINE_BYTES) as u64, bits, 0);
    params.map_or(1.0, |params| params.rate(taken(lines, bits)))
}
