//! Parquet's filters: what they have beside those of other engines, a header apart from the bits, sizes
//! by rate, hashes of columns, folding.

use super::boundary::*;
use super::hash::write_hashes;
use super::view::{bloomline_view, pack};
use crate::engines::parquet;
use crate::{Key, View};

/// The most bytes that a header of a Parquet filter may have; reading a longer one fails.
pub const BLOOMLINE_PARQUET_MAX_HEADER_LEN: usize = 1024;
const _: () = assert!(BLOOMLINE_PARQUET_MAX_HEADER_LEN == parquet::MAX_HEADER_LEN);

exports! {
/// bloomline_view_open_parquet_bits() opens the 'len' bytes of bits at 'data' of a Parquet filter,
/// without the header, as other libraries keep them in memory: blocks of 32 bytes. With the header:
/// bloomline_view_open_engine(). No byte says whose bits they are: read as Parquet's, those of
/// Kudu, Impala, Doris and Velox would lose keys. For these: bloomline_kudu_view_open(),
/// bloomline_velox_view_open().
///
/// Errors: BLOOMLINE_ERR_LINE_COUNT if 'len' is 0 or above 2^31 - 1, BLOOMLINE_ERR_TRUNCATED unless
/// it is a multiple of 32; BLOOMLINE_ERR_BACKEND.
fn bloomline_view_open_parquet_bits(
    data: *const c_void, len: usize, out: *mut bloomline_view,
) -> bloomline_status {
    guard(|| {
        let out = output(out)?;
        let data = bytes(data, len).ok_or(NULL)?;
        out.write(pack(&View::open_parquet_bits(data)?));
        Ok(())
    })
}

/// bloomline_parquet_read_header() reads the header of a Parquet filter at the start of the 'len'
/// bytes at 'data', and writes its length and that of the bits behind it. The bits need not be
/// there. If the file does not state the length of a filter, read BLOOMLINE_PARQUET_MAX_HEADER_LEN
/// bytes, or what the file has.
///
/// Errors: BLOOMLINE_ERR_TRUNCATED if the header goes on behind the end; BLOOMLINE_ERR_NOT_A_FILTER
/// if it is none, or states a length of bits that is negative, 0 or no multiple of 32;
/// BLOOMLINE_ERR_LAYOUT if it names another algorithm, hash or compression. At any error, treat
/// every key as present.
fn bloomline_parquet_read_header(
    data: *const c_void, len: usize, header_len: *mut usize, bits_len: *mut usize,
) -> bloomline_status {
    guard(|| {
        let (header_len, bits_len) = (output(header_len)?, output(bits_len)?);
        let header = parquet::read_header(bytes(data, len).ok_or(NULL)?)?;
        header_len.write(header.header_len);
        bits_len.write(header.bits_len);
        Ok(())
    })
}

/// bloomline_parquet_write_header() writes the header of 'bits_len' bytes of bits to the 'cap' bytes
/// at 'out', and its length to 'written', unless that is NULL. 19 bytes are enough.
///
/// Errors: BLOOMLINE_ERR_BUFFER_TOO_SMALL; BLOOMLINE_ERR_LINE_COUNT and BLOOMLINE_ERR_TRUNCATED for
/// a length that bloomline_view_open_parquet_bits() refuses.
fn bloomline_parquet_write_header(
    bits_len: usize, out: *mut c_void, cap: usize, written: *mut usize,
) -> bloomline_status {
    guard(|| {
        let len = parquet::write_header_in(bits_len, room_at(out, cap)?)?;
        write_optional(written, len);
        Ok(())
    })
}

/// bloomline_parquet_bits_per_key() returns the bits per key that give a false-positive rate, by
/// Parquet's own advice; 0 unless 'rate' is between 0 and 1. bloomline_parquet_bits_len() returns
/// how many bytes of bits so many different keys take: a power of two, from 32 to 128 MiB; 0 unless
/// the bits per key are positive and finite.
fn bloomline_parquet_bits_per_key(rate: f64) -> f64 {
    guard_or(0.0, || parquet::bits_per_key(rate).unwrap_or(0.0))
}
fn bloomline_parquet_bits_len(keys: u64, bits_per_key: f64) -> usize {
    guard_or(0, || parquet::bits_len(keys, bits_per_key).unwrap_or(0))
}

/// bloomline_parquet_hash_fixed() hashes 'n' values of 'width' bytes each, which lie side by side at
/// 'values' as in a page of Parquet's plain encoding, and writes 'n' hashes to 'out', in order.
/// INT32 and FLOAT have 4 bytes, INT64 and DOUBLE 8, INT96 12, little-endian, as memory has them on
/// most CPUs; a FIXED_LEN_BYTE_ARRAY has as many as its column says. A BOOLEAN is hashed as one
/// byte, 0 or 1. For a BYTE_ARRAY: bloomline_engine_hash(). Does nothing if 'values' or 'out' is
/// NULL.
fn bloomline_parquet_hash_fixed(values: *const c_void, width: usize, n: usize, out: *mut u64) {
    let Some(values) = width.checked_mul(n).and_then(|len| bytes(values, len)) else {
        return;
    };
    if !is_there(out) {
        return;
    }
    match width {
        4 => hash_numbers(values, out, u32::from_le_bytes),
        8 => hash_numbers(values, out, u64::from_le_bytes),
        _ => write_hashes(out, n, |range, hashes| {
            for (i, hash) in range.zip(hashes) {
                *hash = parquet::hash(&values[i * width..][..width]);
            }
        }),
    }
}

/// bloomline_parquet_insert_hashes() inserts the keys of 'n' hashes into the 'len' bytes of bits at
/// 'bits': zeroed, or those of another filter, in any number of blocks of 32 bytes.
///
/// Errors: BLOOMLINE_ERR_LINE_COUNT and BLOOMLINE_ERR_TRUNCATED for a length that
/// bloomline_view_open_parquet_bits() refuses; BLOOMLINE_ERR_BACKEND. Nothing is inserted.
fn bloomline_parquet_insert_hashes(
    bits: *mut c_void, len: usize, hashes: *const u64, n: usize,
) -> bloomline_status {
    guard(|| {
        let hashes = slice(hashes, n).ok_or(NULL)?;
        parquet::insert_hashes(lines_at(bits, len).ok_or(NULL)?, hashes)?;
        Ok(())
    })
}

/// bloomline_parquet_fold() folds bits to a half, a quarter and so on, for as long as their
/// false-positive rate stays at 'rate' or below. It writes to 'folded_len' how many bytes are left,
/// which are the first ones. The bytes behind them are undefined. All keys stay. If the rate is
/// above 'rate' already, or the number of blocks is odd, nothing changes.
///
/// Errors: BLOOMLINE_ERR_RATE unless it is between 0 and 1; BLOOMLINE_ERR_LINE_COUNT and
/// BLOOMLINE_ERR_TRUNCATED for a length that bloomline_view_open_parquet_bits() refuses. Nothing is
/// changed.
fn bloomline_parquet_fold(
    bits: *mut c_void, len: usize, rate: f64, folded_len: *mut usize,
) -> bloomline_status {
    guard(|| {
        let folded_len = output(folded_len)?;
        folded_len.write(parquet::fold(lines_at(bits, len).ok_or(NULL)?, rate)?);
        Ok(())
    })
}
}

/// Hashes numbers, at any address, several at once.
///
/// # Safety
/// `out` as for [`write_hashes`].
unsafe fn hash_numbers<const WIDTH: usize, N: Key + Copy + Default>(
    values: &[u8],
    out: *mut u64,
    number: impl Fn([u8; WIDTH]) -> N,
) {
    let (values, _) = values.as_chunks();
    // SAFETY: the caller's promise.
    unsafe {
        write_hashes(out, values.len(), |range, hashes| {
            let mut numbers = [N::default(); 64];
            for (number_at, &bytes) in numbers.iter_mut().zip(&values[range]) {
                *number_at = number(bytes);
            }
            parquet::hash_batch(&numbers[..hashes.len()], hashes);
        });
    }
}
