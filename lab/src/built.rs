//! The filters of this library that are built of all their keys at once. Until then the keys are kept.

use crate::common::data::hashes;
use crate::contender::{By, Can, Contender, Kind, RATE, Size, Sizes, Timed, in_calls};
use crate::ours::rate_of;
use bloomline::{Cascade, StaticFilter, StaticParams};

pub(crate) fn kinds() -> Vec<Kind> {
    let timed = &[Timed { called: ", 7 rows", rate: 0.0079, against: 0.0078125 }];
    vec![
        Kind::new("`StaticFilter`", By::Ours, Sizes::Two, static_filter).shown(&[Can::Map], timed),
        // Of the rate of `BinaryFuse8`.
        Kind::new("`StaticFilter`, 8 rows", By::Ours, Sizes::Two, |keys, size| match size {
            Size::Rate(RATE) => static_filter(keys, Size::Rate(EIGHT_ROWS)),
            _ => None,
        }),
        Kind::new("`Cascade`", By::Ours, Sizes::Two, cascade),
    ]
}

fn some(contender: impl Contender + 'static) -> Option<Box<dyn Contender>> {
    Some(Box::new(contender))
}

// ---- static ----

struct Static {
    params: StaticParams,
    hashes: Vec<u64>,
    filter: Option<StaticFilter>,
}

/// A rate that takes 8 rows.
pub(crate) const EIGHT_ROWS: f64 = 0.00395;

pub(crate) fn static_params(keys: u64, size: Size) -> StaticParams {
    match size {
        Size::Bits(bits) => StaticParams::for_bits(keys, bits).unwrap(),
        Size::Rate(rate) => StaticParams::for_rate(keys, rate).unwrap(),
    }
}

fn static_filter(keys: u64, size: Size) -> Option<Box<dyn Contender>> {
    some(Static { params: static_params(keys, size), hashes: Vec::new(), filter: None })
}

impl Static {
    fn filter(&self) -> &StaticFilter {
        self.filter.as_ref().expect("filled")
    }
}

impl Contender for Static {
    fn bytes(&self) -> usize {
        self.filter().lines().len()
    }

    fn insert_batch(&mut self, hashes: &[u64]) -> bool {
        self.hashes.extend_from_slice(hashes);
        true
    }

    fn filled(&mut self) {
        let hashes = std::mem::take(&mut self.hashes);
        self.filter = Some(StaticFilter::build(self.params, &hashes, 1).unwrap());
    }

    fn contains(&self, hash: u64) -> bool {
        self.filter().contains_hash(hash)
    }

    fn batches(&self, hashes: &[u64], each: usize) -> Option<usize> {
        let filter = self.filter();
        Some(in_calls(hashes, each, |hashes, bitmap| filter.contains_hashes(hashes, bitmap)))
    }
}

// ---- cascade: as many keys are excluded as are included; those that are probed are in neither ----

struct Layered {
    rate: f64,
    hashes: Vec<u64>,
    filter: Option<Cascade>,
}

/// The stream of the excluded keys.
const EXCLUDED: u64 = 2;

fn cascade(_keys: u64, size: Size) -> Option<Box<dyn Contender>> {
    some(Layered { rate: rate_of(size)?, hashes: Vec::new(), filter: None })
}

impl Layered {
    fn filter(&self) -> &Cascade {
        self.filter.as_ref().expect("filled")
    }
}

impl Contender for Layered {
    fn bytes(&self) -> usize {
        self.filter().line_count() as usize * 64
    }

    fn insert_batch(&mut self, hashes: &[u64]) -> bool {
        self.hashes.extend_from_slice(hashes);
        true
    }

    fn filled(&mut self) {
        let included = std::mem::take(&mut self.hashes);
        let excluded = hashes(EXCLUDED, included.len());
        let built = Cascade::build_for_rate(&included, &excluded, self.rate, 0, 1);
        self.filter = Some(built.unwrap());
    }

    fn contains(&self, hash: u64) -> bool {
        self.filter().contains_hash(hash)
    }

    fn batches(&self, hashes: &[u64], each: usize) -> Option<usize> {
        let filter = self.filter();
        Some(in_calls(hashes, each, |hashes, bitmap| filter.contains_hashes(hashes, bitmap)))
    }
}
