//! The views of growing filters.

use super::super::growing::{GrowingFilter, GrowingView};
use super::super::probe::Probe;
use super::super::view::View;
use crate::hash::KeyHash;
use crate::kernel::composite::{Composite, Kind, place};
use crate::kernel::{Backend, Layout};

viewed!(GrowingFilter, GrowingFilter, "regions together");
viewed!(GrowingView<B>, GrowingFilter, "regions together");

/// What a view tells of a growing filter.
macro_rules! growing {
    () => {
        probed!();

        fn backend(&self) -> Backend {
            self.backend()
        }

        fn parts(&self) -> usize {
            self.regions()
        }

        /// Without a key it has none; views have one at least, which nobody reads.
        fn line_count(&self) -> u64 {
            self.line_count().max(1)
        }

        fn key_count(&self) -> u64 {
            self.key_count()
        }

        /// Prefixes that are there, each once.
        fn estimated_keys(&self) -> f64 {
            self.prefixes().count() as f64
        }

        fn fill(&self) -> f64 {
            self.fill()
        }

        fn estimated_rate(&self) -> f64 {
            self.estimated_rate()
        }

        /// All prefixes are as likely, whatever the line.
        fn worst_line_rate(&self) -> f64 {
            self.estimated_rate()
        }
    };
}

impl Composite for GrowingFilter {
    growing!();
}

impl<B: AsRef<[u8]> + Send + Sync> Composite for GrowingView<B> {
    growing!();
}
