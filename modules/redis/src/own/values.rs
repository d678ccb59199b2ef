//! The values of the kinds that only this module has: counting filters, windows, static and growing
//! filters.

use crate::added::Stop;
use crate::allocator::{measured, memory_of};
use crate::api::now;
use crate::arrived::{Arrived, Taken};
use crate::image::{File, Header, Kind};
use crate::items::{BLOCK, WORDS, answers};
use crate::limit::Limit;
use bloomline::hash::hash;
use bloomline::{CountingFilter, Error, GrowingFilter, StaticFilter, Window};

/// A counting filter.
pub(crate) struct Counting {
    pub(crate) filter: CountingFilter,
    /// The items it is made for.
    pub(crate) capacity: u64,
}

impl Counting {
    /// The bytes it asks for: the same on every server.
    pub(crate) fn size(&self) -> usize {
        self.filter.encoded_len()
    }

    /// The bytes it takes.
    pub(crate) fn memory(&self) -> usize {
        memory_of(self.filter.filter().lines()) + memory_of(self.filter.counters())
    }

    pub(crate) fn try_clone(&self) -> Result<Counting, Error> {
        Ok(Counting { filter: self.filter.try_clone()?, capacity: self.capacity })
    }

    /// Its number: the capacity.
    pub(crate) fn header(&self) -> Header {
        Header::new(Kind::Counting, vec![self.capacity], &self.files())
    }

    pub(crate) fn files(&self) -> Vec<File<'_>> {
        vec![File::Counting(&self.filter)]
    }

    pub(crate) fn from_image(header: &Header, body: &mut Arrived) -> Result<Counting, Error> {
        let &[capacity] = header.numbers.as_slice() else { return Err(Error::NotAFilter) };
        Ok(Counting { filter: CountingFilter::load_from(body.take(body.left())?)?, capacity })
    }
}

/// A window and its clock.
pub(crate) struct Timed {
    pub(crate) window: Window,
    /// Milliseconds of a generation; 0: no clock turns it.
    pub(super) period: u64,
    /// The items of a generation.
    pub(crate) capacity: u64,
}

impl Timed {
    /// A window of a file, which no clock turns.
    pub(crate) fn of_file(window: Window, capacity: u64) -> Timed {
        Timed { window, period: 0, capacity }
    }

    /// The present slice, by this server's clock, but never before one that was written in.
    pub(crate) fn slice(&self) -> u64 {
        let written = self.window.time_slice();
        let slice = (self.period > 0).then(now).and_then(|now| now.checked_div(self.period));
        written.max(slice.unwrap_or(0))
    }

    /// Answers hashes as of now. Readers change nothing: a replica may not, and a primary may not
    /// while its writes are paused.
    pub(crate) fn probe(&self, hashes: &[u64], words: &mut [u64]) {
        self.window.contains_hashes_at(self.slice(), hashes, words);
    }

    /// The answer to one item.
    pub(crate) fn contains(&self, item: &[u8]) -> bool {
        let mut words = [0];
        self.probe(&[hash(item, self.window.params().seed())], &mut words);
        words[0] & 1 != 0
    }

    /// The bytes it asks for: the same on every server.
    pub(crate) fn size(&self) -> usize {
        self.window.encoded_len()
    }

    /// The bytes it takes.
    pub(crate) fn memory(&self) -> usize {
        let lines = self.window.lines();
        memory_of(lines) + self.size().saturating_sub(lines.len())
    }

    pub(crate) fn try_clone(&self) -> Result<Timed, Error> {
        let Timed { period, capacity, .. } = *self;
        Ok(Timed { window: self.window.try_clone()?, period, capacity })
    }

    /// Its numbers: period and capacity.
    pub(crate) fn header(&self) -> Header {
        Header::new(Kind::Window, vec![self.period, self.capacity], &self.files())
    }

    pub(crate) fn files(&self) -> Vec<File<'_>> {
        vec![File::Window(&self.window)]
    }

    pub(crate) fn from_image(header: &Header, body: &mut Arrived) -> Result<Timed, Error> {
        let &[period, capacity] = header.numbers.as_slice() else { return Err(Error::NotAFilter) };
        Ok(Timed { window: Window::load_from(body.take(body.left())?)?, period, capacity })
    }
}

/// A static filter. `BL.IMPORT` makes it of a file. The commands of Bloom filters probe it; none
/// changes it.
pub(crate) struct Fixed {
    pub(crate) filter: StaticFilter,
}

impl Fixed {
    /// The bytes it asks for: the same on every server.
    pub(crate) fn size(&self) -> usize {
        self.filter.encoded_len()
    }

    /// The bytes it takes.
    pub(crate) fn memory(&self) -> usize {
        memory_of(self.filter.lines())
    }

    pub(crate) fn try_clone(&self) -> Result<Fixed, Error> {
        Ok(Fixed { filter: self.filter.try_clone()? })
    }

    /// It has no numbers: the file says all.
    pub(crate) fn header(&self) -> Header {
        Header::new(Kind::Static, Vec::new(), &self.files())
    }

    pub(crate) fn files(&self) -> Vec<File<'_>> {
        vec![File::Static(&self.filter)]
    }

    pub(crate) fn from_image(header: &Header, body: &mut Arrived) -> Result<Fixed, Error> {
        if !header.numbers.is_empty() {
            return Err(Error::NotAFilter);
        }
        Ok(Fixed { filter: StaticFilter::load_from(body.take(body.left())?)? })
    }
}

/// A growing filter.
pub(crate) struct Growing {
    filter: GrowingFilter,
    /// The bytes it takes; 0 where the server does not say.
    taken: usize,
    /// Whether it is as its file has it, so that parts of that can be read.
    is_settled: bool,
}

impl Growing {
    /// A filter that `make` makes.
    ///
    /// # Errors
    /// Those of `make`.
    pub(crate) fn new(
        make: impl FnOnce() -> Result<GrowingFilter, Error>,
    ) -> Result<Growing, Error> {
        let (filter, taken) = measured(make);
        Ok(Growing { filter: filter?, taken: taken.max(0).cast_unsigned(), is_settled: false })
    }

    pub(crate) fn filter(&self) -> &GrowingFilter {
        &self.filter
    }

    /// Changes the filter.
    pub(crate) fn change<T>(&mut self, change: impl FnOnce(&mut GrowingFilter) -> T) -> T {
        self.is_settled = false;
        let (result, more) = measured(|| change(&mut self.filter));
        self.taken = self.taken.saturating_add_signed(more);
        result
    }

    /// Adds the items of these hashes in order. `answer` gets, for each, whether it was new. At an error
    /// it has had the answers of all items before.
    pub(crate) fn insert(
        &mut self,
        hashes: &[u64],
        limit: Limit,
        mut answer: impl FnMut(bool),
    ) -> Result<(), Stop> {
        // How many were added before an error, the number of keys says, unless it is as high as it can be.
        let is_counted = hashes.len() as u64 <= u64::MAX - self.filter.key_count();
        for hashes in hashes.chunks(if is_counted { BLOCK } else { 1 }) {
            // It grows by little at a time: a block takes hardly more than there is.
            limit.allows(self.memory(), 0).map_err(|_| Stop::Memory)?;
            let (mut words, before) = ([0; WORDS], self.filter.key_count());
            let result =
                self.change(|filter| filter.insert_new_hashes(hashes, words.as_mut_slice()));
            let done = match result {
                Ok(_) => hashes.len(),
                Err(_) => (self.filter.key_count() - before) as usize,
            };
            answers(&words, done).for_each(&mut answer);
            result.map_err(|_| Stop::Memory)?;
        }
        Ok(())
    }

    /// Makes it as its file has it. Its answers stay.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; nothing has changed.
    pub(crate) fn settle(&mut self) -> Result<(), Error> {
        if !self.is_settled {
            *self = self.try_clone()?;
        }
        Ok(())
    }

    /// The bytes it takes.
    pub(crate) fn memory(&self) -> usize {
        if self.taken == 0 { self.filter.memory_usage() } else { self.taken }
    }

    /// A copy, as the file has it.
    pub(crate) fn try_clone(&self) -> Result<Growing, Error> {
        Ok(Growing { is_settled: true, ..Growing::new(|| self.filter.try_clone())? })
    }

    /// What is before its file, and the file. It has no numbers: the file says all.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]: it is written as a copy, if it is not settled.
    pub(crate) fn image(&self) -> Result<(Header, Vec<File<'_>>), Error> {
        let file = match self.is_settled {
            true => File::Growing(&self.filter),
            false => File::Copy(Box::new(self.filter.try_clone()?)),
        };
        let files = vec![file];
        Ok((Header::new(Kind::Growing, Vec::new(), &files), files))
    }

    pub(crate) fn from_image(header: &Header, body: &mut Arrived) -> Result<Growing, Error> {
        if !header.numbers.is_empty() {
            return Err(Error::NotAFilter);
        }
        Growing::of_file(body.take(body.left())?)
    }

    /// That of a file.
    pub(crate) fn of_file(file: Taken<'_>) -> Result<Growing, Error> {
        Ok(Growing { is_settled: true, ..Growing::new(|| GrowingFilter::load_from(file))? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bloomline::hash::hash_u64;

    fn growing(is_bounded: bool) -> Growing {
        let make = if is_bounded { GrowingFilter::new } else { GrowingFilter::unbounded };
        Growing::new(|| make(2000, 0.01, 7)).unwrap()
    }

    fn add(growing: &mut Growing, hashes: &[u64], limit: Limit) -> (Vec<bool>, Result<(), Stop>) {
        let mut answers = Vec::new();
        let result = growing.insert(hashes, limit, |new| answers.push(new));
        (answers, result)
    }

    #[test]
    fn a_batch_of_a_growing_filter_is_as_one_by_one() {
        // Repeats of items at all distances, over several blocks.
        let hashes: Vec<u64> = (0..5000).map(|i| hash_u64(i % 1700 + i / 2500 * 900, 0)).collect();
        for is_bounded in [true, false] {
            let (mut batch, mut single) = (growing(is_bounded), growing(is_bounded));
            let (answers, result) = add(&mut batch, &hashes, Limit::none());
            assert_eq!((answers.len(), result), (hashes.len(), Ok(())));
            for (hash, answer) in hashes.iter().zip(answers) {
                assert_eq!(add(&mut single, &[*hash], Limit::none()).0, [answer]);
            }
            assert!(batch.filter() == single.filter() && batch.filter().key_count() == 5000);
        }
    }

    /// Where the number of keys is as high as it can be, or gets there, each item has its answer.
    #[test]
    fn answers_where_the_number_of_keys_rises_no_more() {
        let hashes: Vec<u64> = (0..1500).map(|i| hash_u64(i % 1000, 0)).collect();
        for is_bounded in [true, false] {
            for doubled in [58, 64] {
                let mut growing = growing(is_bounded);
                add(&mut growing, &hashes[..100], Limit::none()).1.unwrap();
                for _ in 0..doubled {
                    let other = growing.try_clone().unwrap();
                    growing.change(|filter| filter.union(other.filter())).unwrap();
                }
                assert!(growing.filter().key_count() > u64::MAX / 4);
                let mut copy = growing.try_clone().unwrap();
                let (answers, result) = add(&mut growing, &hashes, Limit::none());
                let new: Vec<bool> = hashes
                    .iter()
                    .map(|&hash| copy.change(|f| f.insert_hash(hash)).unwrap())
                    .collect();
                assert!((answers, result) == (new, Ok(())));
            }
        }
    }

    #[test]
    fn at_the_limit_what_was_answered_is_there() {
        let hashes: Vec<u64> = (0..50_000).map(|i| hash_u64(i, 0)).collect();
        let (mut growing, limit) = (growing(false), Limit::bytes(20_000));
        let (answers, result) = add(&mut growing, &hashes, limit);
        assert_eq!(result, Err(Stop::Memory));
        assert!((3000..20_000).contains(&answers.len()), "{}", answers.len());
        assert_eq!(growing.filter().key_count(), answers.len() as u64);
        assert!(hashes[..answers.len()].iter().all(|&hash| growing.filter().contains_hash(hash)));
    }

    #[test]
    fn settling_and_images_keep_all_answers() {
        let hashes: Vec<u64> = (0..20_000).map(|i| hash_u64(i, 0)).collect();
        for is_bounded in [true, false] {
            let mut growing = growing(is_bounded);
            add(&mut growing, &hashes[..15_000], Limit::none()).1.unwrap();
            let all = |growing: &Growing| {
                hashes.iter().map(|&hash| growing.filter().contains_hash(hash)).collect::<Vec<_>>()
            };
            let bytes = |growing: &Growing| {
                let (header, files) = growing.image().unwrap();
                let mut body = Vec::new();
                files.iter().for_each(|file| file.write_to(&mut body).unwrap());
                assert_eq!((files.len(), header.body), (1, body.len() as u64));
                (header, body)
            };
            let (before, (header, body)) = (all(&growing), bytes(&growing));
            growing.settle().unwrap();
            assert!(all(&growing) == before && bytes(&growing).1 == body);
            let again = Growing::from_image(&header, &mut Arrived::of(&body)).unwrap();
            assert!(all(&again) == before && bytes(&again).1 == body);
            let named = Header { numbers: vec![1], ..header };
            assert!(Growing::from_image(&named, &mut Arrived::of(&body)).is_err());
        }
    }
}
