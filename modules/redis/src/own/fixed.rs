//! Static filters: `BL.IMPORT` makes them of files. The commands of Bloom filters probe them; none
//! changes them.

use crate::allocator::memory_of;
use crate::arrived::Arrived;
use crate::command::{Fail, fail};
use crate::image::{File, Header, Kind};
use bloomline::{Error, StaticFilter};

/// A static filter.
pub(crate) struct Fixed {
    pub(crate) filter: StaticFilter,
}

/// What adding to one returns.
pub(crate) fn read_only<T>() -> Result<T, Fail> {
    fail("ERR a static filter is read-only: build another and import it")
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
