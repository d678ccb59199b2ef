//! Views of static filters, which have several levels.

use super::view::View;
use crate::format::static_line::Shape;
use crate::hash::KeyHash;
use crate::kernel::static_line::{pack, unpack};
use crate::kernel::{Kernels, Layout, Probed};
use crate::layouts::static_line::{Levels, lanes};
use crate::shape::StaticParams;

impl Shape {
    /// Rows and levels as one number.
    pub(super) fn packed(self) -> u32 {
        pack(self.params.rows(), self.levels)
    }

    /// The bytes of the first level.
    pub(super) fn first_bytes(self) -> usize {
        self.params.line_count() as usize * self.params.line_bytes()
    }
}

impl<'a> View<'a> {
    /// The view of the lines of all levels of a static filter.
    #[inline]
    pub(super) fn of_static(
        lines: &'a [u8],
        shape: Shape,
        key_count: u64,
        kernels: Kernels,
    ) -> View<'a> {
        let (packed, first) = (shape.packed(), shape.first_bytes());
        // Those of the other levels lie behind the first, where the kernel finds them.
        assert!(lines.len() == shape.bytes(), "the lines of all levels");
        let lines = Probed::from(lines).first(first).unwrap_or(Probed::from(lines));
        View::of(
            lines,
            packed,
            KeyHash::Xxh3(shape.params.seed()),
            key_count,
            kernels.of(Layout::Static),
        )
    }

    /// Returns rows, line count and seed of a static filter; None for others.
    pub fn static_params(&self) -> Option<StaticParams> {
        match (self.kernel.layout(), self.hash) {
            (Layout::Static, KeyHash::Xxh3(seed)) => {
                let rows = unpack(self.detail).0;
                let lines = self.lines.len() / (8 * lanes(rows));
                StaticParams::new(lines as u64, rows, seed).ok()
            }
            _ => None,
        }
    }

    /// How many bytes a probe may read, from the first line on.
    pub(super) fn reach(&self) -> usize {
        match self.static_params() {
            Some(params) => {
                let (_, shares, tail) = unpack(self.detail);
                let levels = Levels { line_count: params.line_count(), shares, tail };
                Shape::new(params, levels).bytes()
            }
            None => self.lines.len(),
        }
    }
}
