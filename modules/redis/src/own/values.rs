//! The values of the kinds that only this module has: counting filters, windows, static filters.

use crate::allocator::memory_of;
use crate::api::now;
use crate::arrived::Arrived;
use crate::image::{File, Header, Kind};
use bloomline::hash::hash;
use bloomline::{CountingFilter, Error, StaticFilter, Window};

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
