//! The views of cascades.

use super::super::cascade::{Cascade, CascadeView};
use super::super::probe::Probe;
use super::super::static_filter::StaticFilter;
use super::super::view::View;
use crate::hash::KeyHash;
use crate::kernel::composite::{Composite, Kind, place};
use crate::kernel::{Backend, Layout};

viewed!(Cascade, Cascade, "layers together");
viewed!(CascadeView<B>, Cascade, "layers together");

/// What a view tells of a cascade, by so many layers, and a view of each.
macro_rules! layered {
    ($self:ident: $count:expr, $layers:expr) => {
        probed!();

        fn backend(&$self) -> Backend {
            $layers.next().map_or(Backend::Scalar, |layer| layer.backend())
        }

        fn parts(&$self) -> usize {
            $count
        }

        fn line_count(&$self) -> u64 {
            $self.line_count()
        }

        fn key_count(&$self) -> u64 {
            $self.included_count()
        }

        /// No line shows what it holds.
        fn estimated_keys(&$self) -> f64 {
            $self.included_count() as f64
        }

        fn fill(&$self) -> f64 {
            fill_of($layers)
        }

        fn estimated_rate(&$self) -> f64 {
            $self.unknown_rate()
        }

        /// All lines have the same.
        fn worst_line_rate(&$self) -> f64 {
            $self.unknown_rate()
        }
    };
}

impl Composite for Cascade {
    layered!(self: self.layers().len(), self.layers().map(StaticFilter::view));
}

/// The part of all bits that is set.
fn fill_of<'a>(layers: impl Iterator<Item = View<'a>>) -> f64 {
    let (mut filled, mut all) = (0.0, 0.0);
    for layer in layers {
        filled += layer.fill() * layer.bytes() as f64;
        all += layer.bytes() as f64;
    }
    filled / all
}

impl<B: AsRef<[u8]> + Send + Sync> Composite for CascadeView<B> {
    layered!(self: self.layer_count(), self.layers());
}
