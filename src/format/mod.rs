//! The encoded forms of filters, and readers that access nothing outside of the bytes given. Which kind of
//! filter an encoded one is, its footer tells.

pub(crate) mod cascade;
pub(crate) mod cuckoo;
pub(crate) mod encoded;
#[cfg(test)]
mod encoded_tests;
pub(crate) mod growing;
pub(crate) mod journal;
pub(crate) mod matrix;
pub(crate) mod native;
pub(crate) mod scalable;
pub(crate) mod static_line;
pub(crate) mod window;

pub use matrix::MatrixShape;

use crate::error::Error;

/// The kind of an encoded filter: which `decode` reads it. The numbers are those of the layouts
/// in `docs/FORMAT.md`.
///
/// ```
/// let bytes = bloomline::Filter::from_keys(["apple"], 0.01)?.to_bytes()?;
/// assert_eq!(bloomline::Kind::of(&bytes)?, bloomline::Kind::Filter);
/// # Ok::<(), bloomline::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u16)]
pub enum Kind {
    /// [`Filter`](crate::Filter).
    Filter = native::LINES,
    /// A [classic](crate::Params::classic) [`Filter`](crate::Filter).
    Classic = native::CLASSIC,
    /// [`CountingFilter`](crate::CountingFilter).
    Counting = native::COUNTING,
    /// [`CuckooFilter`](crate::CuckooFilter).
    Cuckoo = cuckoo::LAYOUT,
    /// [`ScalableFilter`](crate::ScalableFilter).
    Scalable = scalable::LAYOUT,
    /// [`Window`](crate::Window).
    Window = window::LAYOUT,
    /// [`StaticFilter`](crate::StaticFilter).
    Static = static_line::LAYOUT,
    /// [`Cascade`](crate::Cascade).
    Cascade = cascade::LAYOUT,
    /// [`Matrix`](crate::Matrix).
    Matrix = matrix::LAYOUT,
    /// [`GrowingFilter`](crate::GrowingFilter).
    Growing = growing::LAYOUT,
}

impl Kind {
    /// The kind of an encoded filter. Reads its last 64 bytes, and checks them as its reader does;
    /// not the lines.
    ///
    /// # Errors
    /// As the `decode` of that kind; [`Error::Layout`] if there is none.
    pub fn of(bytes: &[u8]) -> Result<Kind, Error> {
        let (body, footer) = native::split(bytes)?;
        let len = body.len() as u64;
        let of_lines = |kind| native::check(footer, len, native::PROBED).map(|_| kind);
        match native::Footer::read(footer)?.layout {
            native::LINES => of_lines(Kind::Filter),
            native::CLASSIC => of_lines(Kind::Classic),
            native::COUNTING => of_lines(Kind::Counting),
            cuckoo::LAYOUT => cuckoo::check(footer, len).map(|_| Kind::Cuckoo),
            scalable::LAYOUT => scalable::check(footer, len).map(|_| Kind::Scalable),
            window::LAYOUT => window::check(footer, len).map(|_| Kind::Window),
            static_line::LAYOUT => static_line::check(footer, len).map(|_| Kind::Static),
            cascade::LAYOUT => cascade::check(footer, len).map(|_| Kind::Cascade),
            matrix::LAYOUT => matrix::check(footer, len).map(|_| Kind::Matrix),
            growing::LAYOUT => growing::check(footer, len).map(|_| Kind::Growing),
            unknown => Err(Error::Layout(unknown)),
        }
    }
}
