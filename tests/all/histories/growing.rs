//! The model of growing filters: prefixes, and how often each was inserted. Those of an unbounded one have
//! the lengths that it was made or opened with.

use super::Said;
use super::definition::{Model, arg};
use crate::histories::Keys;
use crate::kinds::growing_model::*;
use bloomline::Error;

impl Model for Growing {
    fn make(args: &[&str]) -> Result<Self, Error> {
        let (new, args): (fn(u64, f64, u64) -> Growing, _) = match args {
            ["unbounded", args @ ..] => (Growing::unbounded, args),
            args => (Growing::new, args),
        };
        let rate: f64 = arg(args, 1);
        if rate > 0.0 && rate < 1.0 {
            Ok(new(arg(args, 0), rate, arg(args, 2)))
        } else {
            Err(Error::Rate(rate))
        }
    }
    fn open(bytes: &[u8]) -> Self {
        Growing::open(bytes)
    }
    fn seed(&self) -> u64 {
        self.seed
    }
    fn bytes(&self) -> Vec<u8> {
        self.encode()
    }
    fn has(&self, hash: u64) -> bool {
        Growing::contains(self, hash)
    }
    fn insert(&mut self, hash: u64) -> Result<bool, Error> {
        Ok(Growing::insert(self, hash, self.lengths[(hash >> 60) as usize]))
    }
    fn remove(&mut self, hash: u64) -> bool {
        Growing::remove(self, hash)
    }
    fn union(&mut self, other: &Self) -> Result<(), Error> {
        let shape = |of: &Growing| (of.prefixes, of.keys, of.seed, of.longer);
        if shape(self) != shape(other) {
            return Err(Error::Mismatch);
        }
        for (&prefix, &count) in &other.counts {
            *self.counts.entry(prefix).or_default() += count;
        }
        for (length, other) in self.lengths.iter_mut().zip(other.lengths) {
            *length = other.max(*length);
        }
        self.key_count += other.key_count;
        Ok(())
    }
    fn other(&mut self, verb: &str, args: &[&str]) -> String {
        match verb {
            "key_count" => self.key_count.said(),
            "clear" => {
                (self.key_count, self.lengths) = (0, [0; 16]);
                done!(self.counts.clear())
            }
            "count" => Growing::count(self, Keys::parse(args).0.hashes(self.seed)[0]).said(),
            _ => panic!("{verb}"),
        }
    }
}
