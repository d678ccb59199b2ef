//! A filter that arrives in chunks. Nobody can probe it until its last byte is there and its
//! checksums hold.

use crate::api::Aof;
use crate::image::{CHUNK, File, Header, Kind};
use crate::object::Value;
use bloomline::Error;

/// What has arrived of a filter.
pub(crate) struct Loading {
    source: Source,
    /// The bytes that it has, those of the header not counted.
    total: u64,
    arrived: Vec<u8>,
}

/// What the bytes are.
#[derive(Clone)]
enum Source {
    /// An image behind this header, which is kept as it came, too.
    Image(Header, Vec<u8>),
    /// A file of the library; how many items it is to take, 0 if that follows from the file.
    File { capacity: u64 },
}

impl Loading {
    /// For the image of this header.
    pub(crate) fn image(header: &[u8]) -> Result<Loading, Error> {
        let parsed = Header::parse(header)?;
        if parsed.kind == Kind::Loading || parsed.body == 0 {
            return Err(Error::NotAFilter);
        }
        let total = parsed.body;
        Ok(Loading { source: Source::Image(parsed, header.to_vec()), total, arrived: Vec::new() })
    }

    /// For a file of so many bytes.
    pub(crate) fn file(total: u64, capacity: u64) -> Loading {
        Loading { source: Source::File { capacity }, total, arrived: Vec::new() }
    }

    pub(crate) fn is_image(&self) -> bool {
        self.image_kind().is_some()
    }

    /// The kind of the image that arrives; None: it is a file.
    pub(crate) fn image_kind(&self) -> Option<Kind> {
        match &self.source {
            Source::Image(header, _) => Some(header.kind),
            Source::File { .. } => None,
        }
    }

    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// The bytes that have arrived.
    pub(crate) fn arrived(&self) -> u64 {
        self.arrived.len() as u64
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.arrived() == self.total
    }

    /// Takes the next bytes.
    ///
    /// # Errors
    /// [`Error::Truncated`] if they are more than is left; [`Error::OutOfMemory`]. Then nothing
    /// has changed.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let given = self.arrived().saturating_add(bytes.len() as u64);
        if given > self.total {
            return Err(Error::Truncated { needed: self.total, given });
        }
        self.arrived.try_reserve(bytes.len()).map_err(|_| Error::OutOfMemory)?;
        self.arrived.extend_from_slice(bytes);
        Ok(())
    }

    /// The filter, once it is complete.
    pub(crate) fn finish(&self) -> Result<Value, Error> {
        match &self.source {
            Source::Image(header, _) => Value::from_image(header, &self.arrived),
            Source::File { capacity } => crate::own::from_file(&self.arrived, *capacity),
        }
    }

    pub(crate) fn memory(&self) -> usize {
        self.arrived.capacity()
    }

    pub(crate) fn try_clone(&self) -> Result<Loading, Error> {
        let mut arrived = Vec::new();
        arrived.try_reserve_exact(self.arrived.len()).map_err(|_| Error::OutOfMemory)?;
        arrived.extend_from_slice(&self.arrived);
        Ok(Loading { source: self.source.clone(), total: self.total, arrived })
    }

    /// The commands that have it as it is.
    pub(crate) fn rewrite(&self, aof: &mut Aof) {
        let mut end = 0;
        match &self.source {
            Source::Image(_, header) => {
                aof.emit(c"BL.LOADCHUNK", 1, header);
                for chunk in self.arrived.chunks(CHUNK) {
                    end += chunk.len() as u64;
                    aof.emit(c"BL.LOADCHUNK", 1 + end, chunk);
                }
            }
            Source::File { capacity } => {
                for chunk in self.arrived.chunks(CHUNK) {
                    aof.emit_import(end, self.total, chunk, *capacity);
                    end += chunk.len() as u64;
                }
            }
        }
    }

    /// Its numbers: which source, capacity, total, bytes of the header of an image.
    pub(crate) fn header(&self) -> Header {
        let numbers = match &self.source {
            Source::Image(_, bytes) => vec![0, 0, self.total, bytes.len() as u64],
            Source::File { capacity } => vec![1, *capacity, self.total, 0],
        };
        Header::new(Kind::Loading, numbers, &self.files())
    }

    pub(crate) fn files(&self) -> Vec<File<'_>> {
        match &self.source {
            Source::Image(_, bytes) => vec![File::Raw(bytes), File::Raw(&self.arrived)],
            Source::File { .. } => vec![File::Raw(&self.arrived)],
        }
    }

    pub(crate) fn from_image(header: &Header, body: &[u8]) -> Result<Loading, Error> {
        let &[source, capacity, total, header_len] = header.numbers.as_slice() else {
            return Err(Error::NotAFilter);
        };
        let header_len = usize::try_from(header_len).unwrap_or(usize::MAX);
        let (header, arrived) = body.split_at_checked(header_len).ok_or(Error::NotAFilter)?;
        let mut loading = match source {
            0 => Loading::image(header)?,
            1 if header.is_empty() => Loading::file(total, capacity),
            _ => return Err(Error::NotAFilter),
        };
        if loading.total != total {
            return Err(Error::NotAFilter);
        }
        loading.push(arrived)?;
        Ok(loading)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Object;

    #[test]
    fn half_a_filter_can_be_saved_and_goes_on() {
        let mut loading = Loading::file(10, 5);
        loading.push(b"0123").unwrap();
        let header = loading.header();
        let mut body = Vec::new();
        loading.files()[0].write_to(&mut body).unwrap();
        assert_eq!(header.body, body.len() as u64);
        let mut again = Loading::from_image(&header, &body).unwrap();
        assert_eq!((again.arrived(), again.total()), (4, 10));
        assert!(again.push(b"4567890").is_err(), "more than is left");
        again.push(b"456789").unwrap();
        assert!(again.is_complete() && again.finish().is_err(), "no filter at all");
        drop(Object::new(Value::Loading(again)));
    }
}
