//! Whether something else disturbed a measurement. In each block, the contenders of one size that are
//! probed in one way or filled, one is a loop that only touches lines. It does the same in all blocks of
//! that size, so a block where it takes much longer is not to be believed. Blocks without such a loop have
//! one before them and one behind.

use crate::common::memory::Array;
use crate::common::rounds::{median, processor_time};
use crate::contender::{Contender, Size};
use crate::measure::absent_keys;
use crate::{limits, pages};
use std::hint::black_box;

/// A touch takes at most so many times that of the fastest block.
const MOST: f64 = 1.5;
/// How often a disturbed block is measured again.
pub(crate) const AGAIN: usize = 2;

/// What blocks are alike that have no touch of their own.
const ALONE: &str = "a touch by itself";

/// The blocks that something else disturbed, of those whose touches take these times.
pub(crate) fn disturbed(touches: &[f64]) -> Vec<usize> {
    let least = touches.iter().copied().fold(f64::INFINITY, f64::min);
    (0..touches.len()).filter(|&i| touches[i] > MOST * least).collect()
}

/// A block that is kept.
struct Block {
    /// Where it is: the part, its size and what is done.
    name: String,
    /// What blocks are alike.
    like: String,
    touch: f64,
}

/// A loop that touches lines by itself, as many as a filter in memory has.
struct Alone {
    touch: Box<dyn Contender>,
    probes: Array<u64>,
}

impl Alone {
    fn new() -> Alone {
        let (bits, probes) = (Size::Bits(8.0), absent_keys(1 << 18));
        Alone { touch: limits::inlined(64 << 20, bits), probes }
    }

    /// Nanoseconds of a touch.
    fn time(&self) -> f64 {
        let times: [f64; 5] = std::array::from_fn(|_| {
            let start = processor_time();
            black_box(self.touch.singles(black_box(&self.probes)));
            (processor_time() - start).as_nanos() as f64 / self.probes.len() as f64
        });
        median(&times)
    }
}

/// All blocks of a run.
#[derive(Default)]
pub(crate) struct Watch {
    blocks: Vec<Block>,
    /// What does not lie in huge pages.
    small: Vec<String>,
    alone: Option<Alone>,
}

impl Watch {
    /// The touches of the blocks that are alike.
    pub(crate) fn touches(&self, like: &str) -> Vec<f64> {
        let alike = self.blocks.iter().filter(|block| block.like == like);
        alike.map(|block| block.touch).collect()
    }

    /// Whether such a block is disturbed, beside those that are kept.
    pub(crate) fn is_disturbed(&self, like: &str, touch: f64) -> bool {
        let touches = self.touches(like);
        disturbed(&[&touches[..], &[touch]].concat()).contains(&touches.len())
    }

    pub(crate) fn keep(&mut self, name: String, like: String, touch: f64) {
        self.blocks.push(Block { name, like, touch });
    }

    /// Measures a block that has no loop which only touches lines; again if it is disturbed.
    pub(crate) fn around<T>(&mut self, name: &str, mut block: impl FnMut() -> T) -> T {
        let alone = self.alone.take().unwrap_or_else(Alone::new);
        let mut again = 0;
        let (measured, touch) = loop {
            let before = alone.time();
            let measured = block();
            let touch = before.max(alone.time());
            if again == AGAIN || !self.is_disturbed(ALONE, touch) {
                break (measured, touch);
            }
            eprintln!("{name}: disturbed, once more");
            again += 1;
        };
        self.alone = Some(alone);
        self.keep(name.into(), ALONE.into(), touch);
        measured
    }

    /// A large filter, and which part of its memory lies in huge pages, if that is known.
    pub(crate) fn lies(&mut self, name: String, huge: Option<f64>) {
        if let Some(huge) = huge.filter(|&huge| huge < pages::ENOUGH) {
            self.small.push(format!("{name}: only {:.0} % in huge pages", 100.0 * huge));
        }
    }

    pub(crate) fn small(&self) -> &[String] {
        &self.small
    }

    /// What to say of the disturbed blocks whose names begin so.
    pub(crate) fn doubts(&self, part: &str) -> Vec<String> {
        let is_disturbed = |block: &&Block| {
            block.name.starts_with(part) && self.is_disturbed(&block.like, block.touch)
        };
        let doubt = |block: &Block| {
            let least = self.touches(&block.like).into_iter().fold(f64::INFINITY, f64::min);
            format!(
                "{}: disturbed: a touch takes {:.2} ns, in a block like this {least:.2}",
                block.name, block.touch
            )
        };
        self.blocks.iter().filter(is_disturbed).map(doubt).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_touch_that_takes_half_more_tells_a_disturbed_block() {
        assert_eq!(disturbed(&[]), [0; 0]);
        assert_eq!(disturbed(&[11.2]), [0; 0]);
        assert_eq!(disturbed(&[11.2, 11.1, 10.8, 16.1]), [0; 0]);
        assert_eq!(disturbed(&[11.2, 11.1, 10.8, 21.6]), [3]);
        // The fastest is right even if most blocks are disturbed.
        assert_eq!(disturbed(&[21.6, 10.8, 20.0, 16.3]), [0, 2, 3]);
    }

    #[test]
    fn doubts_name_the_part_and_the_block() {
        let mut watch = Watch::default();
        for (name, touch) in [("speed, 64 MiB, absent", 165.0), ("speed, 64 MiB, half", 300.0)] {
            assert_eq!(watch.is_disturbed("64 MiB, dependent", touch), touch > 165.0);
            watch.keep(name.into(), "64 MiB, dependent".into(), touch);
            watch.keep(name.into(), format!("64 MiB, {touch}"), touch);
        }
        let doubts = watch.doubts("speed");
        assert_eq!(doubts.len(), 1, "{doubts:?}");
        assert!(doubts[0].starts_with("speed, 64 MiB, half: "), "{doubts:?}");
        assert!(watch.doubts("choosing").is_empty());
        let mut calls = 0;
        watch.around("groups", || calls += 1);
        assert!((1..=1 + AGAIN).contains(&calls));
        // A faster one that comes later makes doubts of all before.
        watch.keep("choosing".into(), "64 MiB, dependent".into(), 100.0);
        assert_eq!(watch.doubts("speed").len(), 2);
    }
}
