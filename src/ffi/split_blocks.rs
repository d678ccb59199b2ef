//! Split blocks like Parquet's that Kudu, Impala, Doris and Velox make: views of their own, as no byte
//! says whose blocks they are.

use super::batch::answer;
use super::boundary::*;
use super::view::{bloomline_view, bloomline_view_contains_hash, bloomline_view_contains_hashes};
use super::view::{opened, pack};
use crate::engines::parquet::{check_velox, from_velox, kudu_hash};
use crate::{KuduView, View};

/// A view of the split blocks of Kudu, Impala or Doris. As a bloomline_view, it owns nothing and may
/// be copied, the bytes stay in place, and one that was not opened reports every key as present.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bloomline_kudu_view {
    /// Private. Probed as a bloomline_view it would give false negatives.
    pub(super) opaque: bloomline_view,
}

/// A view of Velox' split blocks, in memory of the caller. It may be copied.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bloomline_velox_view {
    /// Private.
    pub(super) opaque: bloomline_view,
}

exports! {
/// bloomline_kudu_view_open() opens the 'len' bytes of a split-block filter of Kudu, Impala or Doris
/// at 'bits': those of the directory of their BlockBloomFilter. Only the length is looked at.
/// Opened so, bits of Parquet or Velox would lose keys.
///
/// Errors: BLOOMLINE_ERR_TRUNCATED unless 'len' is a multiple of 32; BLOOMLINE_ERR_LINE_COUNT unless
/// 'len' / 32 is a power of two, and 'len' below 2 GiB; BLOOMLINE_ERR_BACKEND. At any error, treat
/// every key as present.
fn bloomline_kudu_view_open(
    bits: *const c_void, len: usize, out: *mut bloomline_kudu_view,
) -> bloomline_status {
    guard(|| {
        let out = output(out)?;
        let view = KuduView::open(bytes(bits, len).ok_or(NULL)?)?;
        out.write(bloomline_kudu_view { opaque: pack(&view.blocks()) });
        Ok(())
    })
}

/// bloomline_kudu_view_contains_hash32() returns false if the key of a hash is definitely absent,
/// and true if it may be present. The hash is that of 32 bits by which the other program inserted
/// the key. bloomline_kudu_view_contains_hashes32() answers for 'n' hashes, as
/// bloomline_view_contains_hashes() does.
fn bloomline_kudu_view_contains_hash32(view: *const bloomline_kudu_view, hash: u32) -> bool {
    let single = shared(view).and_then(|view| view.opaque.single());
    single.is_none_or(|single| {
        // Of none it would be 64; these are for any hash.
        let log2 = single.count().trailing_zeros().min(32);
        single.contains(kudu_hash(hash, log2))
    })
}
fn bloomline_kudu_view_contains_hashes32(
    view: *const bloomline_kudu_view, hashes: *const u32, n: usize, bitmap: *mut u64,
) -> usize {
    answer(slice(hashes, n), n, bitmap, |hashes, bitmap| {
        Some(KuduView::of(opened(view.cast())?)?.contains_hashes32(hashes, bitmap))
    })
}

/// bloomline_velox_view_open() opens a split-block filter of Velox: the 'len' bytes at 'blocks'. A
/// block has 'block_len' bytes: the size of a Block of SplitBlockBloomFilter in the program that
/// made it. The blocks are copied to the 'len' bytes at 'copy', apart from 'blocks'. Keep these in
/// place, unchanged, as long as the view is used. If 'copy' is a multiple of 64, probes are faster.
/// Opened so, blocks of Parquet or Kudu would lose keys.
///
/// Errors: BLOOMLINE_ERR_LAYOUT unless 'block_len' is 32, as it is where a register has 8 words of
/// 32 bits; BLOOMLINE_ERR_LINE_COUNT if 'len' is 0 or above 2^31 - 1, BLOOMLINE_ERR_TRUNCATED unless
/// it is a multiple of 32; BLOOMLINE_ERR_BACKEND. At any error, treat every key as present.
fn bloomline_velox_view_open(
    blocks: *const c_void, len: usize, block_len: usize, copy: *mut c_void,
    out: *mut bloomline_velox_view,
) -> bloomline_status {
    guard(|| {
        let out = output(out)?;
        let blocks = bytes(blocks, len).ok_or(NULL)?;
        check_velox(len, block_len)?;
        // To be found before anything is written.
        View::open_parquet_bits(blocks)?;
        let copy = zeroed_slice(copy.cast::<u8>(), len).ok_or(NULL)?;
        from_velox(blocks, copy);
        out.write(bloomline_velox_view { opaque: pack(&View::open_parquet_bits(copy)?) });
        Ok(())
    })
}

/// bloomline_velox_view_contains_hash() returns false if the key of a hash is definitely absent, and
/// true if it may be present. bloomline_velox_view_contains_hashes() answers for 'n' hashes, as
/// bloomline_view_contains_hashes() does.
fn bloomline_velox_view_contains_hash(view: *const bloomline_velox_view, hash: u64) -> bool {
    bloomline_view_contains_hash(view.cast(), hash)
}
fn bloomline_velox_view_contains_hashes(
    view: *const bloomline_velox_view, hashes: *const u64, n: usize, bitmap: *mut u64,
) -> usize {
    bloomline_view_contains_hashes(view.cast(), hashes, n, bitmap)
}
}
