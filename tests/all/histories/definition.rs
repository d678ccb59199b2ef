//! The models that answer histories, by the plain definitions alone: `src/line.rs`, `src/layouts/` and
//! `tests/definition/`. Of the library they ask only how large filters are to be, which is no
//! part of the format: of scalable filters, windows, and what is `built` of all keys at once.

use super::{Keys, Said, Subject, said_all};
use crate::definition::*;
use crate::kinds::scalable_bytes::*;
use crate::kinds::window_bytes::*;
use bloomline::definition::{classic, cuckoo, line};
use bloomline::{Backend, Error, Params};

/// A number of a line.
pub(super) fn arg<T: std::str::FromStr>(args: &[&str], at: usize) -> T {
    args[at].parse().ok().unwrap()
}

/// What models have in common: one hash after the other.
pub(crate) trait Model: Clone {
    fn make(args: &[&str]) -> Result<Self, Error>;
    fn open(bytes: &[u8]) -> Self;
    /// Out of its own bytes.
    fn reopen(&mut self) {
        *self = Self::open(&self.bytes());
    }
    fn seed(&self) -> u64;
    fn bytes(&self) -> Vec<u8>;
    fn has(&self, hash: u64) -> bool;
    /// Whether it is new.
    fn insert(&mut self, _hash: u64) -> Result<bool, Error> {
        panic!("insert")
    }
    fn remove(&mut self, _hash: u64) -> bool {
        panic!("remove")
    }
    fn union(&mut self, _other: &Self) -> Result<(), Error> {
        panic!("union")
    }
    fn other(&mut self, verb: &str, args: &[&str]) -> String;
}

impl<M: Model> Subject for M {
    fn make(args: &[&str], _: Backend) -> Result<Self, Error> {
        M::make(args)
    }
    fn open(bytes: &[u8]) -> Result<Self, Error> {
        Ok(M::open(bytes))
    }
    fn reopen(&mut self) {
        M::reopen(self);
    }
    fn copy(&self) -> Self {
        self.clone()
    }
    fn bytes(&self) -> Vec<u8> {
        M::bytes(self)
    }
    fn contains(&self, keys: &Keys) -> Vec<bool> {
        keys.hashes(self.seed()).into_iter().map(|hash| M::has(self, hash)).collect()
    }
    fn insert(&mut self, key: &Keys) -> String {
        M::insert(self, key.hashes(self.seed())[0]).said()
    }
    /// Up to the first that there is no room for.
    fn insert_all(&mut self, keys: &Keys) -> String {
        let mut hashes = keys.hashes(self.seed()).into_iter();
        hashes.try_for_each(|hash| M::insert(self, hash).map(|_| ())).said()
    }
    fn insert_new(&mut self, keys: &Keys) -> Result<Vec<bool>, Error> {
        keys.hashes(self.seed()).into_iter().map(|hash| M::insert(self, hash)).collect()
    }
    fn remove(&mut self, keys: &Keys, one: bool) -> String {
        let hashes = keys.hashes(self.seed()).into_iter();
        let removed: Vec<bool> = hashes.map(|hash| M::remove(self, hash)).collect();
        if one { removed[0].then_some(()).ok_or(Error::Absent).said() } else { said_all(&removed) }
    }
    fn union(&mut self, other: &Self) -> Result<(), Error> {
        M::union(self, other)
    }
    fn other(&mut self, verb: &str, args: &[&str]) -> String {
        M::other(self, verb, args)
    }
}

/// Plain (1) and classic (6) filters, and those that threads share (0), of which a copy has no
/// number of keys.
#[derive(Clone)]
pub(crate) struct Lines<const LAYOUT: u16> {
    line_count: usize,
    k: u32,
    seed: u64,
    hashes: Vec<u64>,
    lines: Vec<u8>,
}

impl<const LAYOUT: u16> Lines<LAYOUT> {
    fn of(line_count: usize, k: u32, seed: u64, hashes: &[u64]) -> Self {
        let mut lines = vec![0; line_count * 64];
        let insert = if LAYOUT == 6 { classic::insert } else { line::insert };
        hashes.iter().for_each(|&hash| insert(&mut lines, k, hash));
        Lines { line_count, k, seed, hashes: hashes.to_vec(), lines }
    }
}

impl<const LAYOUT: u16> Model for Lines<LAYOUT> {
    fn make(args: &[&str]) -> Result<Self, Error> {
        match arg(args, 1) {
            k @ 1..=16 => Ok(Lines::of(arg(args, 0), k, arg(args, 2), &[])),
            k => Err(Error::K(k)),
        }
    }
    fn open(_: &[u8]) -> Self {
        panic!("the keys of encoded lines are not known")
    }
    fn reopen(&mut self) {}
    fn seed(&self) -> u64 {
        self.seed
    }
    fn bytes(&self) -> Vec<u8> {
        let count = if LAYOUT == 0 { 0 } else { self.hashes.len() };
        let mut bytes = encode(&self.lines, self.k, self.seed, count as u64);
        put(&mut bytes, crate::definition::LAYOUT, LAYOUT.max(1).into());
        seal(&mut bytes);
        bytes
    }
    fn has(&self, hash: u64) -> bool {
        let contains = if LAYOUT == 6 { classic::contains } else { line::contains };
        contains(&self.lines, self.k, hash)
    }
    fn insert(&mut self, hash: u64) -> Result<bool, Error> {
        let new = !self.has(hash);
        let insert = if LAYOUT == 6 { classic::insert } else { line::insert };
        insert(&mut self.lines, self.k, hash);
        self.hashes.push(hash);
        Ok(new)
    }
    fn union(&mut self, other: &Self) -> Result<(), Error> {
        let shape = |of: &Self| (of.line_count, of.k, of.seed);
        if shape(self) != shape(other) {
            return Err(Error::Mismatch);
        }
        let hashes = [&self.hashes[..], &other.hashes].concat();
        *self = Lines::of(self.line_count, self.k, self.seed, &hashes);
        Ok(())
    }
    fn other(&mut self, verb: &str, _: &[&str]) -> String {
        let again = |lines: usize, of: &Self| Lines::of(lines, of.k, of.seed, &of.hashes);
        match verb {
            "key_count" => (self.hashes.len() as u64).said(),
            "clear" => {
                self.hashes.clear();
                *self = again(self.line_count, self);
                ().said()
            }
            "fold" if LAYOUT == 6 => Err::<(), _>(Error::Classic).said(),
            "fold" if self.line_count % 2 == 1 => Err::<(), _>(Error::OddLineCount(0)).said(),
            "fold" => {
                *self = again(self.line_count / 2, self);
                ().said()
            }
            "params" => format!("{} {} {}", self.line_count, self.k, self.seed),
            _ => panic!("{verb}"),
        }
    }
}

/// Counters, a byte for each, and as many lines as have any.
#[derive(Clone)]
pub(crate) struct Counting {
    k: u32,
    seed: u64,
    counters: Vec<u8>,
    key_count: u64,
}

impl Counting {
    fn bits(&self, hash: u64) -> Vec<usize> {
        Counting::bits_of(self.counters.len() / 512, self.k, hash)
    }
    fn bits_of(line_count: usize, k: u32, hash: u64) -> Vec<usize> {
        let line = line::line_index(hash, line_count as u64) as usize * 512;
        let mask = line::mask(hash, k);
        (0..512).filter(|bit| mask[bit / 64] >> (bit % 64) & 1 == 1).map(|bit| line + bit).collect()
    }
    /// With a hash for each time that a key is in.
    pub(crate) fn of(line_count: usize, k: u32, seed: u64, hashes: &[u64]) -> Counting {
        let mut made = Counting { counters: vec![0; line_count * 512], k, seed, key_count: 0 };
        hashes.iter().for_each(|&hash| _ = Model::insert(&mut made, hash));
        made
    }
    /// How often the key of a hash is in, at most: the least of its counters.
    pub(crate) fn count(&self, hash: u64) -> u8 {
        self.bits(hash).into_iter().map(|bit| self.counters[bit]).min().unwrap()
    }
    /// The same of a filter's bytes.
    pub(crate) fn count_in(bytes: &[u8], hash: u64) -> u8 {
        let lines = get(bytes, LINE_COUNT) as usize;
        let counter = |bit| bytes[64 * lines + bit / 2] >> (4 * (bit % 2)) & 15;
        let bits = Counting::bits_of(lines, get(bytes, K) as u32, hash);
        bits.into_iter().map(counter).min().unwrap()
    }
    fn lines(&self) -> Vec<u8> {
        let byte = |eight: &[u8]| (0..8).map(|bit| u8::from(eight[bit] > 0) << bit).sum();
        self.counters.chunks(8).map(byte).collect()
    }
}

impl Model for Counting {
    fn make(args: &[&str]) -> Result<Self, Error> {
        Ok(Counting::of(arg(args, 0), arg(args, 1), arg(args, 2), &[]))
    }
    fn open(bytes: &[u8]) -> Self {
        let lines = get(bytes, LINE_COUNT) as usize;
        let nibbles = bytes[64 * lines..320 * lines].iter();
        let counters = nibbles.flat_map(|byte| [byte & 15, byte >> 4]).collect();
        let (k, seed, key_count) = (get(bytes, K) as u32, get(bytes, SEED), get(bytes, KEY_COUNT));
        Counting { k, seed, counters, key_count }
    }
    fn seed(&self) -> u64 {
        self.seed
    }
    fn bytes(&self) -> Vec<u8> {
        let nibbles: Vec<u8> = self.counters.chunks(2).map(|two| two[0] | two[1] << 4).collect();
        encode_counting(&self.lines(), &nibbles, self.k, self.seed, self.key_count)
    }
    fn has(&self, hash: u64) -> bool {
        self.count(hash) > 0
    }
    fn insert(&mut self, hash: u64) -> Result<bool, Error> {
        let new = !self.has(hash);
        for bit in self.bits(hash) {
            self.counters[bit] = (self.counters[bit] + 1).min(15);
        }
        self.key_count += 1;
        Ok(new)
    }
    fn remove(&mut self, hash: u64) -> bool {
        if !self.has(hash) {
            return false;
        }
        for bit in self.bits(hash) {
            self.counters[bit] -= u8::from(self.counters[bit] < 15);
        }
        self.key_count = self.key_count.saturating_sub(1);
        true
    }
    fn union(&mut self, other: &Self) -> Result<(), Error> {
        let shape = |of: &Self| (of.counters.len(), of.k, of.seed);
        if shape(self) != shape(other) {
            return Err(Error::Mismatch);
        }
        for (into, from) in self.counters.iter_mut().zip(&other.counters) {
            *into = (*into + from).min(15);
        }
        self.key_count += other.key_count;
        Ok(())
    }
    fn other(&mut self, verb: &str, args: &[&str]) -> String {
        match verb {
            "key_count" => self.key_count.said(),
            "count" => u64::from(self.count(Keys::parse(args).0.hashes(self.seed)[0])).said(),
            "clear" => {
                self.counters.fill(0);
                self.key_count = 0;
                ().said()
            }
            "plain" => {
                let bytes = encode(&self.lines(), self.k, self.seed, self.key_count);
                format!("{} {:016x}", bytes.len(), hash(&bytes, 0))
            }
            "params" => format!("{} {} {}", self.counters.len() / 512, self.k, self.seed),
            _ => panic!("{verb}"),
        }
    }
}

#[derive(Clone)]
pub(crate) struct Cuckoo {
    bits: u32,
    seed: u64,
    lines: Vec<u8>,
    budget: cuckoo::Budget,
}

impl Model for Cuckoo {
    fn make(args: &[&str]) -> Result<Self, Error> {
        let lines = vec![0; arg::<usize>(args, 0) * 64];
        match arg(args, 1) {
            bits @ (8 | 12 | 16) => {
                Ok(Cuckoo { bits, seed: arg(args, 2), lines, budget: Default::default() })
            }
            bits => Err(Error::FingerprintBits(bits)),
        }
    }
    fn open(bytes: &[u8]) -> Self {
        let lines = bytes[..bytes.len() - FOOTER_BYTES].to_vec();
        let (bits, seed) = (get(bytes, K) as u32, get(bytes, SEED));
        Cuckoo { bits, seed, lines, budget: Default::default() }
    }
    fn seed(&self) -> u64 {
        self.seed
    }
    fn bytes(&self) -> Vec<u8> {
        let taken = cuckoo::taken(&self.lines, self.bits);
        encode_cuckoo(&self.lines, self.bits, self.seed, taken)
    }
    fn has(&self, hash: u64) -> bool {
        cuckoo::contains(&self.lines, self.bits, hash)
    }
    fn insert(&mut self, hash: u64) -> Result<bool, Error> {
        let keys = cuckoo::taken(&self.lines, self.bits);
        let most = self.budget.kicks(keys);
        let done = cuckoo::insert_within(&mut self.lines, self.bits, hash, most);
        if done.new.is_none() && done.kicks != 0 {
            self.budget.waste(done.kicks, keys);
        }
        done.new.ok_or(Error::Full)
    }
    fn remove(&mut self, hash: u64) -> bool {
        cuckoo::remove(&mut self.lines, self.bits, hash)
    }
    fn other(&mut self, verb: &str, _: &[&str]) -> String {
        match verb {
            "key_count" => cuckoo::taken(&self.lines, self.bits).said(),
            "clear" => {
                self.lines.fill(0);
                self.budget = Default::default();
                ().said()
            }
            "params" => format!("{} {} {}", self.lines.len() / 64, self.bits, self.seed),
            _ => panic!("{verb}"),
        }
    }
}

/// The rules of `src/filter/scalable.rs`, one key after the other.
#[derive(Clone)]
pub(crate) struct Scalable {
    rate: f64,
    seed: u64,
    stages: Vec<StageOf>,
}

impl Scalable {
    fn add_stage(&mut self, capacity: u64) {
        let mut rate = self.rate * 0.15;
        for _ in &self.stages {
            rate *= 0.85;
        }
        let params = Params::for_rate(capacity, rate).unwrap();
        self.stages.push(StageOf::new(params.line_count() as usize, params.k(), capacity, &[]));
    }
}

impl Model for Scalable {
    fn make(args: &[&str]) -> Result<Self, Error> {
        let (rate, seed) = (arg(args, 1), arg(args, 2));
        let mut made = Scalable { rate, seed, stages: Vec::new() };
        made.add_stage(arg::<u64>(args, 0).max(32));
        Ok(made)
    }
    fn open(bytes: &[u8]) -> Self {
        let body = &bytes[..bytes.len() - FOOTER_BYTES];
        let (mut lines, table) = body.split_at(64 * get(bytes, LINE_COUNT) as usize);
        let stage = |record: &[u8]| {
            let own;
            (own, lines) = lines.split_at(64 * get(record, LINE_COUNT) as usize);
            let (capacity, key_count) = (get(record, CAPACITY), get(record, KEY_COUNT));
            StageOf { lines: own.to_vec(), k: get(record, K) as u32, capacity, key_count }
        };
        let stages = table.chunks(64).map(stage).collect();
        Scalable { rate: f64::from_bits(get(bytes, RESERVED)), seed: get(bytes, SEED), stages }
    }
    fn seed(&self) -> u64 {
        self.seed
    }
    fn bytes(&self) -> Vec<u8> {
        encode_scalable(&self.stages, self.rate, self.seed)
    }
    fn has(&self, hash: u64) -> bool {
        self.stages.iter().any(|stage| line::contains(&stage.lines, stage.k, hash))
    }
    fn insert(&mut self, hash: u64) -> Result<bool, Error> {
        if self.has(hash) {
            return Ok(false);
        }
        let newest = self.stages.last().unwrap();
        if newest.key_count >= newest.capacity {
            self.add_stage(newest.capacity * 2);
        }
        let newest = self.stages.last_mut().unwrap();
        line::insert(&mut newest.lines, newest.k, hash);
        newest.key_count += 1;
        Ok(true)
    }
    fn other(&mut self, verb: &str, _: &[&str]) -> String {
        match verb {
            "key_count" => self.stages.iter().map(|stage| stage.key_count).sum::<u64>().said(),
            "stages" => (self.stages.len() as u64).said(),
            _ => panic!("{verb}"),
        }
    }
}

#[derive(Clone)]
pub(super) struct Window(WindowState);

impl Model for Window {
    fn make(args: &[&str]) -> Result<Self, Error> {
        let generations: u32 = arg(args, 0);
        if generations == 0 {
            return Err(Error::Generations(0));
        }
        let each = bloomline::sizing::rate_of_each(arg(args, 2), generations);
        let params = Params::for_rate(arg(args, 1), each)?;
        let (lines, k) = (params.line_count() as usize, params.k());
        Ok(Window(WindowState::new(generations as usize, lines, k, arg(args, 3))))
    }
    fn open(bytes: &[u8]) -> Self {
        Window(WindowState::decode(bytes))
    }
    fn seed(&self) -> u64 {
        self.0.seed
    }
    fn bytes(&self) -> Vec<u8> {
        self.0.encode()
    }
    fn has(&self, hash: u64) -> bool {
        self.0.contains(hash)
    }
    fn insert(&mut self, hash: u64) -> Result<bool, Error> {
        Ok(self.0.insert(hash))
    }
    fn other(&mut self, verb: &str, args: &[&str]) -> String {
        let state = &mut self.0;
        let count = state.lines.len();
        match verb {
            "key_count" => {
                let age: usize = arg(args, 0);
                let place = (state.place() + count).checked_sub(age).map(|place| place % count);
                place.filter(|_| age < count).map_or(0, |place| state.key_counts[place]).said()
            }
            "rotate" => done!(state.rotate()),
            "advance" => done!(state.advance_to(arg(args, 0))),
            "rotate_after" => {
                done!(state.limit = arg(args, 0))
            }
            "slice" => state.slice.said(),
            "params" => format!("{} {} {}", state.lines[0].len() / 64, state.k, state.seed),
            _ => panic!("{verb}"),
        }
    }
}
