//! Views of filters of other engines.

use super::owned::OwnedView;
use super::view::View;
use crate::engines::{leveldb, parquet, rocksdb};
use crate::error::Error;
use crate::kernel::{Backend, Kernels};

impl<'a> View<'a> {
    /// Opens a filter block of RocksDB: a full filter, or one partition of a filter, without the
    /// block's own trailer. It takes a few nanoseconds whatever the size, and verifies no checksum:
    /// there is none.
    ///
    /// It reads FastLocalBloom (format version 5 and later) and legacy Bloom filters with lines of
    /// 64, 128 or 256 bytes. A block that RocksDB treats as "always true", or cannot parse, answers
    /// "maybe" to every key; one without keys answers "no".
    ///
    /// # Errors
    /// [`Error::Layout`] for Ribbon filters and newer kinds: treat every key as present.
    /// [`Error::Backend`].
    pub fn open_rocksdb(bytes: &'a [u8]) -> Result<View<'a>, Error> {
        Ok(View::found(rocksdb::parse(bytes, Kernels::active()?)?))
    }

    /// As [`View::open_rocksdb`], probing with a given backend.
    ///
    /// # Errors
    /// As [`View::open_rocksdb`]; [`Error::Backend`] if this CPU lacks the backend.
    pub fn open_rocksdb_with_backend(bytes: &'a [u8], backend: Backend) -> Result<View<'a>, Error> {
        Ok(View::found(rocksdb::parse(bytes, backend.kernels().ok_or(Error::Backend)?)?))
    }

    /// Opens one filter of a table's filter block of LevelDB or goleveldb. It takes a few
    /// nanoseconds, and verifies no checksum: there is none.
    ///
    /// # Errors
    /// [`Error::Backend`].
    pub fn open_leveldb(bytes: &'a [u8]) -> Result<View<'a>, Error> {
        Ok(View::found(leveldb::parse(bytes, Kernels::active()?)))
    }

    /// Opens a Bloom filter of a Parquet file: the header, and the bits behind it. What is behind these is
    /// not looked at. It takes a few nanoseconds whatever the size, and verifies no checksum: there is
    /// none. [`engines::parquet`](crate::engines::parquet) says how values are hashed.
    ///
    /// # Errors
    /// As [`parquet::read_header`]; [`Error::Truncated`] also if the bits go on behind the end;
    /// [`Error::Backend`]. At any of them, treat every key as present.
    pub fn open_parquet(bytes: &'a [u8]) -> Result<View<'a>, Error> {
        Ok(View::found(parquet::parse(bytes, Kernels::active()?)?))
    }

    /// Opens the bits of such a filter without the header: 32-byte blocks with Parquet's salts, as they are
    /// in memory in many libraries. Nothing in the bytes shows which library wrote them. Bits of Kudu, Impala,
    /// Doris and Velox, which choose bits otherwise, would give false negatives: they have views of their own,
    /// [`KuduView`](crate::KuduView) and [`VeloxView`](crate::VeloxView).
    ///
    /// # Errors
    /// As [`parquet::insert_hashes`].
    pub fn open_parquet_bits(bits: &'a [u8]) -> Result<View<'a>, Error> {
        Ok(View::found(parquet::parse_bits(bits, Kernels::active()?)?))
    }

    /// As [`View::open_parquet_bits`], probing with a given backend.
    ///
    /// # Errors
    /// As [`View::open_parquet_bits`]; [`Error::Backend`] if this CPU lacks the backend.
    pub fn open_parquet_bits_with_backend(
        bits: &'a [u8],
        backend: Backend,
    ) -> Result<View<'a>, Error> {
        Ok(View::found(parquet::parse_bits(bits, backend.kernels().ok_or(Error::Backend)?)?))
    }
}

impl<B: AsRef<[u8]>> OwnedView<B> {
    /// Opens a filter block of RocksDB: as [`View::open_rocksdb`].
    ///
    /// # Errors
    /// As [`View::open_rocksdb`].
    pub fn open_rocksdb(bytes: B) -> Result<OwnedView<B>, Error> {
        OwnedView::opened(bytes, |bytes| View::open_rocksdb(bytes))
    }

    /// Opens a filter of LevelDB or goleveldb: as [`View::open_leveldb`].
    ///
    /// # Errors
    /// As [`View::open_leveldb`].
    pub fn open_leveldb(bytes: B) -> Result<OwnedView<B>, Error> {
        OwnedView::opened(bytes, |bytes| View::open_leveldb(bytes))
    }

    /// Opens a Bloom filter of a Parquet file: as [`View::open_parquet`].
    ///
    /// # Errors
    /// As [`View::open_parquet`].
    pub fn open_parquet(bytes: B) -> Result<OwnedView<B>, Error> {
        OwnedView::opened(bytes, |bytes| View::open_parquet(bytes))
    }

    /// Opens the bits of one: as [`View::open_parquet_bits`].
    ///
    /// # Errors
    /// As [`View::open_parquet_bits`].
    pub fn open_parquet_bits(bytes: B) -> Result<OwnedView<B>, Error> {
        OwnedView::opened(bytes, |bytes| View::open_parquet_bits(bytes))
    }
}
