//! Windows by the definition: what changes them, their encoded form, and what a reader says of any bytes.

use crate::definition::*;
use bloomline::definition::line;

/// What a window is, by the page: the lines and key counts of its generations, by place.
#[derive(Clone)]
pub(crate) struct WindowState {
    pub(crate) k: u32,
    pub(crate) seed: u64,
    pub(crate) slice: u64,
    pub(crate) limit: u64,
    pub(crate) lines: Vec<Vec<u8>>,
    pub(crate) key_counts: Vec<u64>,
}

impl WindowState {
    pub(crate) fn new(generations: usize, line_count: usize, k: u32, seed: u64) -> WindowState {
        let lines = vec![vec![0; line_count * line::LINE_BYTES]; generations];
        WindowState { k, seed, slice: 0, limit: 0, lines, key_counts: vec![0; generations] }
    }

    /// Of intact bytes.
    pub(crate) fn decode(bytes: &[u8]) -> WindowState {
        let (generations, lines) = (get(bytes, RESERVED) as usize, get(bytes, LINE_COUNT) as usize);
        let (k, seed) = (get(bytes, K) as u32, get(bytes, SEED));
        let (all, rest) = bytes.split_at(generations * lines * 64);
        let mut numbers = rest.chunks(8).map(|eight| u64::from_le_bytes(eight.try_into().unwrap()));
        let [slice, limit] = [(); 2].map(|()| numbers.next().unwrap());
        let lines = all.chunks(lines * 64).map(<[u8]>::to_vec).collect();
        WindowState {
            k,
            seed,
            slice,
            limit,
            lines,
            key_counts: numbers.take(generations).collect(),
        }
    }

    pub(crate) fn place(&self) -> usize {
        (self.slice % self.lines.len() as u64) as usize
    }

    pub(crate) fn rotate(&mut self) {
        if self.slice == u64::MAX {
            return;
        }
        self.slice += 1;
        let place = self.place();
        self.lines[place].fill(0);
        self.key_counts[place] = 0;
    }

    pub(crate) fn advance_to(&mut self, slice: u64) {
        let ahead = slice.saturating_sub(self.slice);
        if ahead > self.lines.len() as u64 {
            self.slice = slice - self.lines.len() as u64;
        }
        while self.slice < slice {
            self.rotate();
        }
    }

    pub(crate) fn contains(&self, hash: u64) -> bool {
        self.lines.iter().any(|lines| line::contains(lines, self.k, hash))
    }

    /// Whether it was new.
    pub(crate) fn insert(&mut self, hash: u64) -> bool {
        if self.limit > 0 && self.key_counts[self.place()] >= self.limit {
            self.rotate();
        }
        let (new, place) = (!self.contains(hash), self.place());
        if !line::contains(&self.lines[place], self.k, hash) {
            line::insert(&mut self.lines[place], self.k, hash);
            self.key_counts[place] = self.key_counts[place].saturating_add(1);
        }
        new
    }

    pub(crate) fn insert_all(&mut self, hashes: &[u64]) {
        for &hash in hashes {
            self.insert(hash);
        }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut body = self.lines.concat();
        for number in [self.slice, self.limit].iter().chain(&self.key_counts) {
            body.extend(number.to_le_bytes());
        }
        let key_count = self.key_counts.iter().fold(0u64, |sum, count| sum.saturating_add(*count));
        let mut bytes = encode(&body, self.k, self.seed, key_count);
        put(&mut bytes, LINE_COUNT, (self.lines[0].len() / line::LINE_BYTES) as u64);
        put(&mut bytes, LAYOUT, 4);
        put(&mut bytes, RESERVED, self.lines.len() as u64);
        seal(&mut bytes);
        bytes
    }
}

/// As [`check`] with `verify`, of a reader that knows layout 4 and no other.
pub(crate) fn check_window(bytes: &[u8]) -> u32 {
    let first = check(bytes, false);
    if matches!(first, status::NOT_A_FILTER | status::VERSION) || bytes.len() < FOOTER_BYTES {
        return first;
    }
    let (body, footer) = bytes.split_at(bytes.len() - FOOTER_BYTES);
    let (generations, line_count) = (get(footer, RESERVED), get(footer, LINE_COUNT));
    if get(footer, FOOTER_CHECKSUM) != hash(&footer[..FOOTER_CHECKSUM.start], 0) {
        return status::CHECKSUM;
    }
    if get(footer, LAYOUT) != 4 {
        return status::LAYOUT;
    }
    if generations == 0 || generations > u32::MAX.into() {
        return status::GENERATIONS;
    }
    if !(1..=16).contains(&get(footer, K)) {
        return status::K;
    }
    let each = u128::from(line_count) * 64 + 8;
    let len = each * u128::from(generations) + 16 + 64;
    if line_count == 0 || len > isize::MAX as u128 {
        return status::LINE_COUNT;
    }
    if len != bytes.len() as u128 {
        return status::TRUNCATED;
    }
    if get(footer, LINES_CHECKSUM) != hash(body, 0) { status::CHECKSUM } else { status::OK }
}
