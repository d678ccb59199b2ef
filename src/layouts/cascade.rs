//! The cascade, in its plainest form: two sets told apart without an error, by static filters.
//!
//! There is a set of **included** keys and a set of **excluded** ones. Layer 0 is a static filter of
//! the included keys. It also passes some of the excluded ones, its false positives: these are the
//! keys of layer 1. That passes some included keys in turn: the keys of layer 2. So it goes on until
//! a layer passes none of the other set:
//!
//! ```text
//! layer 0 : the included keys
//! layer 1 : the excluded keys that layer 0 passes
//! layer 2 : the included keys that layer 1 passes
//! layer 3 : the excluded keys that layer 2 passes, of those in layer 1
//! ```
//!
//! A probe goes down the layers to the first that does not pass the key. No layer has a false
//! negative, so that one holds keys of the other set: the key is included if its number is odd. A
//! key that all layers pass is of the set of the last one: included if the number of layers is odd.
//! So the answer is right for every key of both sets. A key of neither set is taken for an included
//! one about as often as layer 0 passes it.
//!
//! ```text
//! layer hash = hash                                  in layer 0
//!              x ^ x >> 31, with x = (y ^ y >> 27) * M2, y = (z ^ z >> 30) * M1,
//!              z = hash + i * C1                     in layer i from 1 on
//! ```
//!
//! Each layer has a hash of its own, made so that which keys a layer passes says nothing about the
//! layers behind it, nor about the levels within one. Different hashes stay different in all layers.
//! A hash in both sets passes every layer, so such sets have no cascade.
//!
//! This file is the definition. It alone makes the golden files.

use super::static_line::{self, Levels};
use crate::line::C1;

/// The most layers. Every second one holds a sixteenth of the keys of the one before, so chance does
/// not lead to so many.
pub const MAX_LAYERS: usize = 32;
/// The rows of a layer behind the first: the fewest, which takes the least memory in all.
pub const LATER_ROWS: u32 = static_line::MIN_ROWS;

const M1: u64 = 0xBF58_476D_1CE4_E5B9;
const M2: u64 = 0x94D0_49BB_1331_11EB;

/// The hash of a key in a layer.
#[inline(always)]
pub const fn layer_hash(hash: u64, layer: usize) -> u64 {
    if layer == 0 {
        return hash;
    }
    let z = hash.wrapping_add((layer as u64).wrapping_mul(C1));
    let y = (z ^ (z >> 30)).wrapping_mul(M1);
    let x = (y ^ (y >> 27)).wrapping_mul(M2);
    x ^ (x >> 31)
}

/// The answer for a key that this layer is the first not to pass, or, with the number of layers, for
/// a key that all pass: whether it is included.
#[inline(always)]
pub const fn included(layer: usize) -> bool {
    layer % 2 == 1
}

/// A layer: a static filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// Of its lines, 4 to 16.
    pub rows: u32,
    /// The sizes of its levels.
    pub levels: Levels,
    /// The lines of all levels.
    pub lines: Vec<u8>,
}

/// Returns whether a key is included, or of neither set.
///
/// # Panics
/// Unless each layer has the lines that its levels have.
pub fn contains(layers: &[Layer], hash: u64) -> bool {
    let passes = |(i, layer): (usize, &Layer)| {
        let Layer { rows, levels, lines } = layer;
        static_line::contains(lines, *levels, *rows, layer_hash(hash, i))
    };
    let passed = layers.iter().enumerate().take_while(|&layer| passes(layer)).count();
    included(passed)
}

/// Makes the layers of these hashes. `size` returns the rows and the sizes of the levels of each
/// layer, from its number and its keys. None if [`MAX_LAYERS`] do not tell the sets apart.
pub fn build(
    included: &[u64],
    excluded: &[u64],
    mut size: impl FnMut(usize, &[u64]) -> (u32, Levels),
) -> Option<Vec<Layer>> {
    let mut layers = Vec::new();
    // The keys of the next layer, and those of the other set that all layers so far pass.
    let (mut own, mut others) = (included.to_vec(), excluded.to_vec());
    while layers.len() < MAX_LAYERS {
        let number = layers.len();
        let (rows, levels) = size(number, &own);
        let hashes: Vec<u64> = own.iter().map(|&hash| layer_hash(hash, number)).collect();
        let lines = static_line::build(&hashes, levels, rows);
        let passes =
            |&hash: &u64| static_line::contains(&lines, levels, rows, layer_hash(hash, number));
        others.retain(passes);
        layers.push(Layer { rows, levels, lines });
        if others.is_empty() {
            return Some(layers);
        }
        (own, others) = (others, own);
    }
    None
}
