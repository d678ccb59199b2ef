//! Maps of files that belong to a test.
#![allow(unsafe_code, dead_code, reason = "not every test opens maps both ways")]

use bloomline::{Error, MappedCascade, MappedFilter, MappedGrowing, MappedMatrix};
use std::path::Path;

/// The file is one that the test writes to only while nothing maps it.
pub(crate) fn open(path: &Path) -> Result<MappedFilter, Error> {
    // SAFETY: the tests keep to what is said above.
    unsafe { MappedFilter::open(path) }
}

/// As [`open`], its lines unverified.
pub(crate) fn open_unverified(path: &Path) -> Result<MappedFilter, Error> {
    // SAFETY: as above.
    unsafe { MappedFilter::open_unverified(path) }
}

/// As [`open`], a cascade.
pub(crate) fn open_cascade(path: &Path) -> Result<MappedCascade, Error> {
    // SAFETY: as above.
    unsafe { MappedCascade::open(path) }
}

/// As [`open_cascade`], its lines unverified.
pub(crate) fn open_cascade_unverified(path: &Path) -> Result<MappedCascade, Error> {
    // SAFETY: as above.
    unsafe { MappedCascade::open_unverified(path) }
}

/// As [`open`], a matrix.
pub(crate) fn open_matrix(path: &Path) -> Result<MappedMatrix, Error> {
    // SAFETY: as above.
    unsafe { MappedMatrix::open(path) }
}

/// As [`open_matrix`], its groups unverified.
pub(crate) fn open_matrix_unverified(path: &Path) -> Result<MappedMatrix, Error> {
    // SAFETY: as above.
    unsafe { MappedMatrix::open_unverified(path) }
}

/// As [`open`], a growing filter.
pub(crate) fn open_growing(path: &Path) -> Result<MappedGrowing, Error> {
    // SAFETY: as above.
    unsafe { MappedGrowing::open(path) }
}
