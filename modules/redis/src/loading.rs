//! A filter that arrives in chunks. Nobody can probe it until its last byte is there and its
//! checksums hold.

use crate::api::Aof;
use crate::arrived::Arrived;
use crate::bloom::{Layout, MAX_OWN_CAPACITY};
use crate::image::{CHUNK, File, Header, Kind};
use bloomline::Error;
use std::io::Read;

/// What has arrived of a filter.
pub(crate) struct Loading {
    source: Source,
    /// The bytes that it has, those of the header not counted.
    total: u64,
    arrived: Arrived,
}

/// What the bytes are.
#[derive(Clone)]
pub(crate) enum Source {
    /// An image behind this header, which is kept as it came, too.
    Image(Header, Vec<u8>),
    /// A file of the library; how many items it is to take, 0 if that follows from the file; its
    /// layout, unless the file says all.
    File { capacity: u64, layout: Option<Layout> },
}

impl Loading {
    /// For the image of this header.
    pub(crate) fn image(header: &[u8]) -> Result<Loading, Error> {
        let parsed = Header::parse(header)?;
        if parsed.kind == Kind::Loading || parsed.body == 0 {
            return Err(Error::NotAFilter);
        }
        let total = parsed.body;
        Ok(Loading {
            source: Source::Image(parsed, header.to_vec()),
            total,
            arrived: Arrived::default(),
        })
    }

    /// For a file of so many bytes.
    pub(crate) fn file(total: u64, capacity: u64, layout: Option<Layout>) -> Loading {
        Loading { source: Source::File { capacity, layout }, total, arrived: Arrived::default() }
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
        self.arrived.len()
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
        self.arrived.push(bytes, self.total)
    }

    /// What its bytes are.
    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    /// The bytes that have arrived, which are gone from here then.
    pub(crate) fn take(&mut self) -> Arrived {
        std::mem::take(&mut self.arrived)
    }

    pub(crate) fn memory(&self) -> usize {
        self.arrived.memory()
    }

    pub(crate) fn try_clone(&self) -> Result<Loading, Error> {
        let arrived = self.arrived.try_clone()?;
        Ok(Loading { source: self.source.clone(), total: self.total, arrived })
    }

    /// The commands that have it as it is.
    pub(crate) fn rewrite(&self, aof: &mut Aof) {
        let mut end = 0;
        match &self.source {
            Source::Image(_, header) => {
                aof.emit(c"BL.LOADCHUNK", 1, header);
                for chunk in self.arrived.parts().flat_map(|part| part.chunks(CHUNK)) {
                    end += chunk.len() as u64;
                    aof.emit(c"BL.LOADCHUNK", 1 + end, chunk);
                }
            }
            Source::File { capacity, layout } => {
                for chunk in self.arrived.parts().flat_map(|part| part.chunks(CHUNK)) {
                    aof.emit_import([end, self.total], chunk, *capacity, layout.map(Layout::name));
                    end += chunk.len() as u64;
                }
            }
        }
    }

    /// Its numbers: which source, capacity, total, bytes of the header of an image. The source is 0
    /// for an image, 1 for a file, and 2 more than its number for one of a layout.
    pub(crate) fn header(&self) -> Header {
        let numbers = match &self.source {
            Source::Image(_, bytes) => vec![0, 0, self.total, bytes.len() as u64],
            Source::File { capacity, layout } => {
                let source = layout.map_or(1, |layout| 2 + layout as u64);
                vec![source, *capacity, self.total, 0]
            }
        };
        Header::new(Kind::Loading, numbers, &self.files())
    }

    pub(crate) fn files(&self) -> Vec<File<'_>> {
        let header: &[u8] = match &self.source {
            Source::Image(_, bytes) => bytes,
            Source::File { .. } => &[],
        };
        [header].into_iter().chain(self.arrived.parts()).map(File::Raw).collect()
    }

    pub(crate) fn from_image(header: &Header, body: &mut Arrived) -> Result<Loading, Error> {
        let &[source, capacity, total, header_len] = header.numbers.as_slice() else {
            return Err(Error::NotAFilter);
        };
        if capacity > MAX_OWN_CAPACITY {
            return Err(Error::NotAFilter);
        }
        let mut header = Vec::new();
        body.take(header_len)?.read_to_end(&mut header)?;
        let mut loading = match source {
            0 => Loading::image(&header)?,
            1 if header.is_empty() => Loading::file(total, capacity, None),
            2.. if header.is_empty() => {
                let layout = Layout::of_number(source - 2).ok_or(Error::NotAFilter)?;
                Loading::file(total, capacity, Some(layout))
            }
            _ => return Err(Error::NotAFilter),
        };
        if loading.total != total {
            return Err(Error::NotAFilter);
        }
        let (mut piece, mut arrived) = ([0; 4096], body.take(body.left())?);
        loop {
            match arrived.read(&mut piece)? {
                0 => return Ok(loading),
                len => loading.push(&piece[..len])?,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_filter_can_be_saved_and_goes_on() {
        for layout in [None, Some(Layout::Twice)] {
            save_and_go_on(Loading::file(10, 5, layout));
        }
    }

    fn save_and_go_on(mut loading: Loading) {
        loading.push(b"0123").unwrap();
        let header = loading.header();
        let mut body = Vec::new();
        loading.files().iter().for_each(|file| file.write_to(&mut body).unwrap());
        assert_eq!(header.body, body.len() as u64);
        let mut again = Loading::from_image(&header, &mut Arrived::of(&body)).unwrap();
        assert_eq!((again.arrived(), again.total(), again.header()), (4, 10, header));
        assert!(again.push(b"4567890").is_err(), "more than is left");
        again.push(b"456789").unwrap();
        assert!(again.is_complete() && again.take().len() == 10);
    }

    #[test]
    fn a_capacity_that_no_command_takes_is_refused() {
        for (capacity, is_good) in [(MAX_OWN_CAPACITY, true), (MAX_OWN_CAPACITY + 1, false)] {
            let header = Loading::file(10, capacity, None).header();
            assert_eq!(Loading::from_image(&header, &mut Arrived::of(&[])).is_ok(), is_good);
        }
    }
}
