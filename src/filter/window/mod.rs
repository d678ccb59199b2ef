//! The sliding-window filter: a ring of generations, the oldest of which expires. Its probes
//! are in `probe.rs`, its encoded form in `bytes.rs`.

mod bytes;
mod probe;

use super::insert::inserting;
use crate::bitmap::Answers;
use crate::error::Error;
use crate::format::window::Shape;
use crate::hash::KeyHash;
use crate::kernel::{ADJACENT, Backend, Kernel, Layout, Probed, TILE, ahead, prefetch_all};
use crate::line::{LINE_BYTES, line_index};
use crate::os::memory::Zeroed;
use crate::shape::Params;
use crate::shape::sizing;
use crate::shape::sizing::stats::line_rate;
use std::ops::Range;

/// A Bloom filter whose keys expire: it answers whether a key was inserted in one of the last
/// **generations**. A generation is a time slice, a day for instance, or a number of keys. Keys go
/// into the newest. [`rotate`](Window::rotate) begins a new one and drops the oldest, in a time
/// that does not depend on their size.
///
/// # How long a key is in
///
/// With G generations, a key is present for the rest of the generation of its last insert and for
/// the G - 1 that follow; then it expires. So **"seen in the last 7 days" takes 8 daily
/// generations**: the current day and 7 whole ones before it. A key is then present for at least 7
/// days and at most 8. While present it is never a false negative; an expired key may be a false
/// positive.
///
/// # Whose clock
///
/// The caller's. [`advance_to`](Window::advance_to) takes the number of the current slice of
/// time, such as the seconds since 1970 divided by 86400. Call it before the first insert, too: a
/// new window is in slice 0, and the step from there to a day drops all keys. The same calls give
/// the same answers and the same bytes, whenever they are made. For generations of a number of keys
/// there is [`rotate_after`](Window::rotate_after).
///
/// # What it takes
///
/// Each generation is a plain filter. For 1 % over all of eight, each has 0.126 %: 15 bits for each
/// key that it is sized for. A probe reads eight lines, which are in one page of 4 KiB and whose
/// cache misses overlap.
///
/// ```
/// let mut window = bloomline::Window::new(8, 1000, 0.01, 0)?; // 8 generations of 1000 keys, seed 0
/// window.advance_to(20_000); // the day
/// window.insert("ann");
/// window.advance_to(20_007);
/// assert!(window.contains("ann")); // seen in the last 7 days
/// window.advance_to(20_008);
/// assert!(!window.contains("ann"));
/// # Ok::<(), bloomline::Error>(())
/// ```
pub struct Window {
    /// The lines, in pieces of [`PIECE`]: the first piece of each place, then the second of each,
    /// and so on. So the lines of a key in up to eight generations are in one page. (If places have
    /// fewer lines, these are their only pieces.)
    lines: Zeroed,
    /// For each place and each [`CHUNK`] of its lines, the slice for which these were last cleared.
    /// If it is not the generation's, they are an older one's and count as empty. So advancing
    /// clears nothing.
    cleared: Zeroed,
    shape: Shape,
    /// By place: that of the generation of slice `t` is `t` mod their number.
    generations: Vec<Generation>,
    /// A bit for each place, [`ADJACENT`] to a byte: whether it has chunks that were not cleared
    /// yet.
    stale: Vec<u8>,
    /// The current slice, that of the newest generation.
    slice: u64,
    /// Keys after which the newest generation is full; 0 if it never is.
    limit: u64,
    kernel: &'static Kernel,
}

#[derive(Clone, Copy)]
struct Generation {
    slice: u64,
    key_count: u64,
    /// The number of chunks of its place not yet cleared for it.
    stale_chunks: usize,
}

/// Lines of a generation that lie together.
const PIECE: usize = 8;

/// Lines that are cleared together, before the first key of a generation goes into one of them: 4
/// KiB. Fewer would need a larger table, more a longer wait.
const CHUNK: usize = 64;

impl Window {
    /// Creates an empty window of at least one generation, in slice 0. While each has at most
    /// `keys_per_generation` keys, the false-positive rate over all of them is at most `rate`,
    /// between 0 and 1. `seed` is that of the hash of byte keys.
    ///
    /// # Errors
    /// [`Error::Generations`] for no generation; [`Error::Rate`] if the rate is not a number
    /// between 0 and 1; [`Error::RateTooSmall`]; [`Error::LineCount`] if memory cannot address the
    /// size; [`Error::OutOfMemory`]; [`Error::Backend`].
    pub fn new(
        generations: u32,
        keys_per_generation: u64,
        rate: f64,
        seed: u64,
    ) -> Result<Window, Error> {
        if generations == 0 {
            return Err(Error::Generations(0));
        }
        let each = sizing::rate_of_each(rate, generations);
        let params = Params::for_rate(keys_per_generation, each).map_err(|error| match error {
            Error::Rate(_) | Error::RateTooSmall(_) => Error::rate(rate),
            other => other,
        })?;
        let params = params.with_seed(seed);
        Window::with_params(generations, params)
    }

    /// Creates an empty window of generations with these parameters, in slice 0.
    ///
    /// # Errors
    /// [`Error::Generations`] for no generation; [`Error::LineCount`] if memory cannot address all
    /// lines; [`Error::Classic`] if the parameters are classic; [`Error::OutOfMemory`];
    /// [`Error::Backend`].
    pub fn with_params(generations: u32, params: Params) -> Result<Window, Error> {
        Window::with_kernel(Shape::new(params, generations)?, Kernel::active(Layout::Native)?)
    }

    /// The same, with a given backend.
    ///
    /// # Errors
    /// As [`Window::with_params`]; [`Error::Backend`] if this CPU lacks the backend.
    pub fn with_backend(
        generations: u32,
        params: Params,
        backend: Backend,
    ) -> Result<Window, Error> {
        let kernels = backend.kernels().ok_or(Error::Backend)?;
        Window::with_kernel(Shape::new(params, generations)?, kernels.of(Layout::Native))
    }

    fn with_kernel(shape: Shape, kernel: &'static Kernel) -> Result<Window, Error> {
        let count = shape.generations() as usize;
        let lines = shape.params().line_count() as usize;
        let bytes = lines.checked_next_multiple_of(piece(shape));
        let bytes = bytes.and_then(|lines| lines.checked_mul(count * LINE_BYTES));
        let mut generations = Vec::new();
        generations.try_reserve_exact(count).map_err(|_| Error::OutOfMemory)?;
        generations.resize(count, Generation { slice: 0, key_count: 0, stale_chunks: 0 });
        let mut stale = Vec::new();
        stale.try_reserve_exact(count.div_ceil(ADJACENT)).map_err(|_| Error::OutOfMemory)?;
        stale.resize(count.div_ceil(ADJACENT), 0);
        Ok(Window {
            lines: Zeroed::new(bytes.ok_or(Error::OutOfMemory)?)?,
            cleared: Zeroed::new(8 * count * chunks(shape.params()))?,
            shape,
            generations,
            stale,
            slice: 0,
            limit: 0,
            kernel,
        })
    }

    // ---- turning the ring ----

    /// Begins the next slice: starts a new generation and drops the oldest.
    pub fn rotate(&mut self) {
        self.advance_to(self.slice.saturating_add(1));
    }

    /// Sets the current time slice. Each slice begun since the last call starts a generation and
    /// drops the oldest; as many slices as generations drop all keys. Does nothing if `slice` is
    /// not later than the current one.
    pub fn advance_to(&mut self, slice: u64) {
        if slice <= self.slice {
            return;
        }
        // If more slices begin than there are generations, only the last matter.
        let kept = slice.saturating_sub(self.generations.len() as u64 - 1);
        for new in kept.max(self.slice + 1)..=slice {
            self.slice = new;
            let place = self.newest();
            let stale_chunks = chunks(self.params());
            self.generations[place] = Generation { slice: new, key_count: 0, stale_chunks };
            self.stale[place / ADJACENT] |= 1 << (place % ADJACENT);
        }
    }

    /// From now on, an insert first rotates if the newest generation has `keys` keys, also within a
    /// batch. With 0, the default, only [`rotate`](Window::rotate) and
    /// [`advance_to`](Window::advance_to) do. A key that the newest generation already has does not
    /// count.
    pub fn rotate_after(&mut self, keys: u64) {
        self.limit = keys;
    }

    /// Removes all keys. The slice, and what [`rotate_after`](Window::rotate_after) set, stay.
    pub fn clear(&mut self) {
        self.lines.fill(0);
        self.generations.iter_mut().for_each(|generation| generation.key_count = 0);
    }

    // ---- inserting ----

    /// As [`insert`](Window::insert), for the hash of a key. The hash must be uniform over all 64
    /// bits.
    ///
    /// The key goes into the newest generation, even if an older one has it, so it stays present as
    /// long as any other. It is new if no generation has it.
    pub fn insert_hash(&mut self, hash: u64) -> bool {
        self.room();
        let new = !self.contains_hash(hash);
        self.put(hash);
        new
    }

    /// As [`insert_keys`](Window::insert_keys), for the hashes of keys.
    pub fn insert_hashes(&mut self, hashes: &[u64]) {
        for (i, &hash) in hashes.iter().enumerate() {
            self.room();
            if let Some(&later) = hashes.get(i + ahead::WINDOW_INSERT) {
                let at = self.first_of(self.line_of(later)) + self.newest() * self.stride();
                prefetch_all(&self.lines[at..at + LINE_BYTES]);
            }
            self.put(hash);
        }
    }

    /// As [`insert_new_keys`](Window::insert_new_keys), for the hashes of keys.
    ///
    /// # Panics
    /// If `answers` is too short: see [`Answers`]. Nothing is inserted.
    pub fn insert_new_hashes(
        &mut self,
        hashes: &[u64],
        answers: &mut (impl Answers + ?Sized),
    ) -> usize {
        let words = answers.words(hashes.len());
        words.fill(0);
        let (mut done, mut count) = (0, 0);
        while done < hashes.len() {
            let room = self.room().min(TILE as u64) as usize;
            let len = room.min(hashes.len() - done);
            // The older generations do not change meanwhile.
            let older = self.find(&hashes[done..], len, Some(self.newest()), 0);
            for (i, &hash) in hashes[done..][..len].iter().enumerate() {
                let new = self.put(hash) && older >> i & 1 == 0;
                words[(done + i) / TILE] |= u64::from(new) << ((done + i) % TILE);
                count += usize::from(new);
            }
            done += len;
        }
        count
    }

    pub(super) fn key_hash(&self) -> KeyHash {
        KeyHash::Xxh3(self.params().seed())
    }

    /// Rotates if the newest generation is full. Returns how many keys it then has room for.
    fn room(&mut self) -> u64 {
        if self.limit == 0 {
            return u64::MAX;
        }
        if self.key_count(0) >= self.limit {
            self.rotate();
        }
        // In the last of all slices it no longer rotates.
        self.limit.saturating_sub(self.key_count(0)).max(1)
    }

    /// Inserts a key into the newest generation. Returns whether it was new to that.
    fn put(&mut self, hash: u64) -> bool {
        let (newest, line, k) = (self.newest(), self.line_of(hash), self.params().k());
        self.clear_for(newest, line);
        let at = self.first_of(line) + newest * self.stride();
        let new = self.kernel.insert(&mut self.lines[at..at + LINE_BYTES], k, hash);
        if new {
            let count = &mut self.generations[newest].key_count;
            *count = count.saturating_add(1);
        }
        new
    }

    /// Clears the chunk of a line of a place, if it is that of an older generation.
    fn clear_for(&mut self, place: usize, line: usize) {
        let stamp = self.stamp_of(place, line);
        let (stamps, _) = self.cleared.as_chunks_mut();
        if u64::from_ne_bytes(stamps[stamp]) == self.generations[place].slice {
            return;
        }
        stamps[stamp] = self.generations[place].slice.to_ne_bytes();
        self.generations[place].stale_chunks -= 1;
        if self.generations[place].stale_chunks == 0 {
            self.stale[place / ADJACENT] ^= 1 << (place % ADJACENT);
        }
        // A chunk is several whole pieces, or all lines.
        for (_, piece) in pieces(self.shape, place, line / CHUNK * CHUNK).take(CHUNK / PIECE) {
            self.lines[piece].fill(0);
        }
    }

    // ---- what it is ----

    /// The lines of all generations: for programs that count memory.
    #[doc(hidden)]
    pub fn lines(&self) -> &[u8] {
        &self.lines
    }

    /// Returns the number of generations, the newest included.
    pub fn generations(&self) -> u32 {
        self.shape.generations()
    }

    /// Returns line count, k and seed of each generation.
    pub fn params(&self) -> Params {
        self.shape.params()
    }

    /// Returns the backend that probes.
    pub fn backend(&self) -> Backend {
        self.kernel.backend()
    }

    /// Returns the number of the current slice: the number of rotations, or the latest slice passed
    /// to [`Window::advance_to`].
    pub fn time_slice(&self) -> u64 {
        self.slice
    }

    /// Returns the number of different keys in the generation of `age` rotations ago, 0 being the
    /// newest. Returns 0 if there is no such generation. Keys that were false positives when
    /// inserted are not counted.
    pub fn key_count(&self, age: u32) -> u64 {
        let count = self.generations.len();
        if age as usize >= count {
            return 0;
        }
        self.generations[(self.newest() + count - age as usize) % count].key_count
    }

    /// Returns the false-positive rate of all generations together at their present fill ratios, 0
    /// to 1. Reads the whole window.
    pub fn estimated_rate(&self) -> f64 {
        let none_wrong = (0..self.generations.len()).map(|place| {
            let (mut sum, k) = (0.0, self.params().k());
            self.each_line(place, &mut |line| sum += line_rate(line, k));
            1.0 - sum / self.params().line_count() as f64
        });
        1.0 - none_wrong.product::<f64>()
    }

    /// Passes on each line of a place that is not empty for its generation.
    pub(super) fn each_line(&self, place: usize, each: &mut dyn FnMut(&[u8; LINE_BYTES])) {
        pieces(self.shape, place, 0)
            .filter(|&(line, _)| self.is_current(place, line))
            .for_each(|(_, at)| Probed::from(&self.lines[at]).each_line(each));
    }

    // ---- where it all is ----

    /// The place of the newest generation.
    fn newest(&self) -> usize {
        (self.slice % self.generations.len() as u64) as usize
    }

    fn line_of(&self, hash: u64) -> usize {
        line_index(hash, self.params().line_count()) as usize
    }

    /// The byte offset of a line of the first place.
    fn first_of(&self, line: usize) -> usize {
        // If there are fewer lines than a piece has, they are all in the first.
        LINE_BYTES * (line / PIECE * PIECE * self.generations.len() + line % PIECE)
    }

    /// Bytes from a line to that of the next place.
    fn stride(&self) -> usize {
        LINE_BYTES * piece(self.shape)
    }

    /// The index of the slice for which the chunk of a line was last cleared.
    fn stamp_of(&self, place: usize, line: usize) -> usize {
        place * chunks(self.params()) + line / CHUNK
    }

    /// Whether a line of a place belongs to the place's present generation.
    fn is_current(&self, place: usize, line: usize) -> bool {
        let stamp = self.cleared.as_chunks().0[self.stamp_of(place, line)];
        u64::from_ne_bytes(stamp) == self.generations[place].slice
    }
}

/// The number of lines in a piece.
fn piece(shape: Shape) -> usize {
    PIECE.min(shape.params().line_count() as usize)
}

/// The pieces of a place, from the one that begins with a given line on: the first line of each,
/// and its bytes.
fn pieces(shape: Shape, place: usize, from: usize) -> impl Iterator<Item = (usize, Range<usize>)> {
    let (lines, places) = (shape.params().line_count() as usize, shape.generations() as usize);
    let piece = piece(shape);
    (from..lines).step_by(piece).map(move |line| {
        let at = LINE_BYTES * (line * places + place * piece);
        (line, at..at + LINE_BYTES * piece.min(lines - line))
    })
}

/// The number of chunks of a generation.
fn chunks(params: Params) -> usize {
    (params.line_count() as usize).div_ceil(CHUNK)
}

inserting!(Window, [mut] [keys] []);
