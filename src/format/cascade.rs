//! Layout 9: the lines of all layers of a cascade, the first layer first, then a record of 64 bytes
//! for each layer, before the footer of `native`. `docs/format/static-cascade.md` is the standard.

use super::native::{self, FOOTER_BYTES, Footer, FooterBytes, at, put, u32_at, u64_at};
use super::static_line::{self, Shape};
use crate::error::Error;
use crate::layouts::cascade::MAX_LAYERS;
use crate::line::LINE_BYTES;
use crate::shape::StaticParams;

pub(crate) const LAYOUT: u16 = 9;

/// Where the fields of a layer's record begin, beside those that it shares with a footer. All else
/// in it is 0.
const TESTED: usize = 16;
const ZERO: [std::ops::Range<usize>; 2] = [28..32, 40..FOOTER_BYTES];

/// A layer: what its record says.
#[derive(Clone, Copy)]
pub(crate) struct Layer {
    pub(crate) shape: Shape,
    pub(crate) key_count: u64,
    /// How many keys of the other set were tested against it.
    pub(crate) tested: u64,
}

impl Layer {
    pub(crate) fn record(&self) -> FooterBytes {
        let Shape { params, levels, .. } = self.shape;
        let mut record = [0; FOOTER_BYTES];
        put(&mut record, at::KEY_COUNT, self.key_count.to_le_bytes());
        put(&mut record, at::LINE_COUNT, params.line_count().to_le_bytes());
        put(&mut record, TESTED, self.tested.to_le_bytes());
        put(&mut record, at::K, params.rows().to_le_bytes());
        put(&mut record, at::SHAPE, static_line::sizes(levels).to_le_bytes());
        record
    }
}

/// What a footer says.
pub(crate) struct Outline {
    pub(crate) layers: usize,
    /// Of all layers.
    pub(crate) line_bytes: usize,
    pub(crate) seed: u64,
    /// The checksum of the records.
    records: u64,
}

/// As `native::check`, for this layout.
pub(crate) fn check(footer: &FooterBytes, body_len: u64) -> Result<Outline, Error> {
    let footer = Footer::read_of(footer, LAYOUT)?;
    let layers = footer.k as usize;
    let records = (1..=MAX_LAYERS).contains(&layers).then_some(layers);
    let line_bytes = footer.check_parts(body_len, records)?;
    Ok(Outline { layers, line_bytes, seed: footer.seed, records: footer.shape })
}

/// An encoded cascade whose lines are not verified: its outline, and a record for each layer.
pub(crate) fn parse(bytes: &[u8]) -> Result<(Outline, &[FooterBytes]), Error> {
    let (body, footer) = native::split(bytes)?;
    let outline = check(footer, body.len() as u64)?;
    let (records, _) = body[outline.line_bytes..].as_chunks();
    Ok((outline, records))
}

impl Outline {
    /// Hands out the layers of these records, the first first. They are all checked before the first
    /// is handed out, so a false length in one allocates nothing.
    pub(crate) fn layers(
        &self,
        records: &[FooterBytes],
    ) -> Result<impl Iterator<Item = Layer>, Error> {
        native::check_records(records, self.records)?;
        let mut layers = [None; MAX_LAYERS];
        let mut left = self.line_bytes;
        for (i, (record, layer)) in records.iter().zip(&mut layers).enumerate() {
            let found = layer_of(record, self.seed)?;
            let rest = left.checked_sub(found.shape.bytes());
            // What is left is for the layers that are left.
            let last = i + 1 == records.len();
            left = rest
                .filter(|&rest| !(last && rest > 0))
                .ok_or(Error::LineCount(found.shape.params.line_count()))?;
            *layer = Some(found);
        }
        Ok(layers.into_iter().flatten())
    }
}

/// The layer of a record. The order of the checks is that of `docs/format/static-cascade.md`.
fn layer_of(record: &FooterBytes, seed: u64) -> Result<Layer, Error> {
    if ZERO.into_iter().any(|range| record[range].iter().any(|&byte| byte != 0)) {
        return Err(Error::Reserved);
    }
    let line_count = u64_at(record, at::LINE_COUNT);
    let levels =
        static_line::levels(line_count, u64_at(record, at::SHAPE)).ok_or(Error::Reserved)?;
    let params =
        StaticParams::new(line_count, u32_at(record, at::K), seed).map_err(Error::of_bytes)?;
    let (key_count, tested) = (u64_at(record, at::KEY_COUNT), u64_at(record, TESTED));
    Ok(Layer { shape: Shape::new(params, levels), key_count, tested })
}

/// What the footer says of these layers, the first first.
pub(crate) fn footer(layers: impl ExactSizeIterator<Item = Layer>, seed: u64) -> Footer {
    let (mut records, mut key_count, mut bytes) = ([[0; FOOTER_BYTES]; MAX_LAYERS], 0, 0);
    let count = layers.len();
    for (i, layer) in layers.enumerate() {
        records[i] = layer.record();
        bytes += layer.shape.bytes();
        key_count = if i == 0 { layer.key_count } else { key_count };
    }
    Footer {
        key_count,
        line_count: (bytes / LINE_BYTES) as u64,
        seed,
        k: count as u32,
        layout: LAYOUT,
        shape: native::checksum(records[..count].as_flattened()),
    }
}
