//! Views of filters made of filters, or of lines in several places: what a scalable filter and a window
//! answer through one. Cascades and growing filters, which are features, are files beside it.

use super::Filter;
use super::probe::Probe;
use super::scalable::ScalableFilter;
use super::view::View;
use super::window::Window;
use crate::hash::KeyHash;
use crate::kernel::composite::{Composite, Kind, place};
use crate::kernel::{Backend, Layout};
use crate::line::{LINE_BITS, LINE_BYTES};
use crate::shape::sizing;
use crate::shape::sizing::stats::line_rate;

/// The view of a kind, and what its view answers by functions that the kind has anyway. A kind with a parameter is
/// probed where its bytes are.
macro_rules! viewed {
    ($kind:ident $(<$bytes:ident>)?, $layout:ident, $of:literal) => {
        impl $(<$bytes: AsRef<[u8]> + Send + Sync>)? $kind $(<$bytes>)? {
            #[doc = concat!("Returns a view of the ", $of, ", cheap to copy and to pass on.")]
            #[inline]
            pub fn view(&self) -> View<'_> {
                View::of_composite(place(self))
            }
        }

        impl $(<$bytes: AsRef<[u8]> + Send + Sync>)? Kind for $kind $(<$bytes>)? {
            const LAYOUT: Layout = Layout::$layout;
        }
    };
}

viewed!(ScalableFilter, ScalableFilter, "stages together");
viewed!(Window, Window, "generations together");

/// The functions by which a kind is probed.
macro_rules! probed {
    () => {
        #[inline(always)]
        fn contains(&self, hash: u64) -> bool {
            Probe::contains_hash(self, hash)
        }

        #[inline(always)]
        fn contains_all(&self, hashes: &[u64], words: &mut [u64]) -> usize {
            Probe::contains_hashes(self, hashes, words)
        }

        #[inline(always)]
        fn prefetch(&self, hash: u64) {
            Probe::prefetch_hash(self, hash);
        }

        fn key_hash(&self) -> KeyHash {
            self.key_hash()
        }
    };
}

#[cfg(feature = "static")]
mod cascade;
#[cfg(feature = "growing")]
mod growing;

impl Composite for ScalableFilter {
    probed!();

    fn backend(&self) -> Backend {
        self.stages().next().map_or(Backend::Scalar, Filter::backend)
    }

    fn parts(&self) -> usize {
        self.stages().len()
    }

    fn line_count(&self) -> u64 {
        self.stages().map(|stage| stage.params().line_count()).sum()
    }

    fn key_count(&self) -> u64 {
        self.key_count()
    }

    fn estimated_keys(&self) -> f64 {
        self.stages().map(Filter::estimated_keys).sum()
    }

    fn fill(&self) -> f64 {
        let lines = |stage: &Filter| stage.params().line_count() as f64;
        let filled: f64 = self.stages().map(|stage| stage.fill() * lines(stage)).sum();
        filled / self.line_count() as f64
    }

    fn estimated_rate(&self) -> f64 {
        self.estimated_rate()
    }

    fn worst_line_rate(&self) -> f64 {
        self.stages().map(Filter::worst_line_rate).fold(0.0, f64::max)
    }
}

impl Composite for Window {
    probed!();

    fn backend(&self) -> Backend {
        self.backend()
    }

    fn parts(&self) -> usize {
        self.generations() as usize
    }

    fn line_count(&self) -> u64 {
        self.params().line_count() * u64::from(self.generations())
    }

    fn key_count(&self) -> u64 {
        (0..self.generations()).map(|age| self.key_count(age)).fold(0, u64::saturating_add)
    }

    fn estimated_keys(&self) -> f64 {
        let (lines, k) = (self.params().line_count(), self.params().k());
        let of = |place| sizing::keys_for_fill(ones(self, place) / bits(lines), lines, k);
        (0..self.parts()).map(of).sum()
    }

    fn fill(&self) -> f64 {
        let all: f64 = (0..self.parts()).map(|place| ones(self, place)).sum();
        all / bits(self.line_count())
    }

    fn estimated_rate(&self) -> f64 {
        self.estimated_rate()
    }

    fn worst_line_rate(&self) -> f64 {
        let mut worst: f64 = 0.0;
        let mut each =
            |line: &[u8; LINE_BYTES]| worst = worst.max(line_rate(line, self.params().k()));
        (0..self.parts()).for_each(|place| self.each_line(place, &mut each));
        worst
    }
}

/// How many bits of the generation in a place of a window are set.
fn ones(window: &Window, place: usize) -> f64 {
    let mut ones = 0;
    window.each_line(place, &mut |line| {
        ones += line.iter().map(|byte| u64::from(byte.count_ones())).sum::<u64>();
    });
    ones as f64
}

fn bits(lines: u64) -> f64 {
    (lines * LINE_BITS) as f64
}
