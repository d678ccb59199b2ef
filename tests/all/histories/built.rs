//! The models of filters that are built of all their keys at once: static filters and cascades.

use super::definition::{Model, arg};
use super::{Keys, Said};
use crate::definition::*;
use crate::kinds::cascade_bytes::*;
use bloomline::definition::{cascade, static_line};
use bloomline::{Error, StaticParams};

#[derive(Clone)]
pub(super) struct Static(Vec<u8>);

impl Model for Static {
    fn make(args: &[&str]) -> Result<Self, Error> {
        let (rows, seed): (u32, u64) = (arg(args, 0), arg(args, 1));
        let hashes = Keys::parse(&args[2..]).0.hashes(seed);
        let rate = 0.5f64.powi(rows as i32);
        let params = StaticParams::for_rate(hashes.len() as u64, rate)?;
        let sized = bloomline::StaticFilter::build(params, &hashes, 1)?.to_bytes()?;
        let (_, rows, levels) = static_parts(&sized);
        let lines = static_line::build(&hashes, levels, rows);
        Ok(Static(encode_static(&lines, rows, levels, seed, hashes.len() as u64)))
    }
    fn open(bytes: &[u8]) -> Self {
        Static(bytes.to_vec())
    }
    fn seed(&self) -> u64 {
        get(&self.0, SEED)
    }
    fn bytes(&self) -> Vec<u8> {
        self.0.clone()
    }
    fn has(&self, hash: u64) -> bool {
        answer(&self.0, hash)
    }
    fn other(&mut self, verb: &str, _: &[&str]) -> String {
        match verb {
            "key_count" => get(&self.0, KEY_COUNT).said(),
            _ => panic!("{verb}"),
        }
    }
}

#[derive(Clone)]
pub(super) struct Cascade {
    bytes: Vec<u8>,
    layers: Vec<cascade::Layer>,
}

impl Model for Cascade {
    fn make(args: &[&str]) -> Result<Self, Error> {
        let (rate, seed): (f64, u64) = (arg(args, 0), arg(args, 1));
        let [included, excluded] = [2, 3].map(|at| Keys::parse(&args[at..=at]).0.hashes(seed));
        if let Some(&both) = included.iter().find(|hash| excluded.contains(hash)) {
            return Err(Error::Overlap(both));
        }
        let sized = if rate == 0.0 {
            bloomline::Cascade::build(&included, &excluded, seed, 1)?
        } else {
            bloomline::Cascade::build_for_rate(&included, &excluded, rate, seed, 1)?
        };
        let sizes = layers_of(&sized.to_bytes()?);
        let mut counts = Vec::new();
        let layers = cascade::build(&included, &excluded, |number, keys| {
            counts.push(keys.len() as u64);
            (sizes[number].rows, sizes[number].levels)
        });
        let sets = [excluded.len() as u64, included.len() as u64];
        let tested = sets.into_iter().chain(counts.clone().into_iter().skip(1));
        let counts = counts.into_iter().zip(tested).map(<[u64; 2]>::from);
        let layers: Vec<_> = layers.unwrap().into_iter().zip(counts).collect();
        Ok(Model::open(&encode_cascade(&layers, seed)))
    }
    fn open(bytes: &[u8]) -> Self {
        Cascade { bytes: bytes.to_vec(), layers: layers_of(bytes) }
    }
    fn seed(&self) -> u64 {
        get(&self.bytes, SEED)
    }
    fn bytes(&self) -> Vec<u8> {
        self.bytes.clone()
    }
    fn has(&self, hash: u64) -> bool {
        cascade::contains(&self.layers, hash)
    }
    fn other(&mut self, verb: &str, _: &[&str]) -> String {
        match verb {
            "key_count" => get(&self.bytes, KEY_COUNT).said(),
            "layers" => (self.layers.len() as u64).said(),
            _ => panic!("{verb}"),
        }
    }
}
