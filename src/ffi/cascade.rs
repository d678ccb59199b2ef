//! `bloomline_cascade`: exact answers for the keys of two sets that no longer change.

use super::boundary::*;
use super::handle::handle;
use super::view::{bloomline_view, write_view_of};
use crate::Cascade;

/// What bloomline_encoded_kind() returns for a filter that bloomline_cascade_decode() reads, and
/// bloomline_map_open() opens.
pub const BLOOMLINE_KIND_CASCADE: i32 = 9;
const _: () = assert!(BLOOMLINE_KIND_CASCADE == crate::Kind::Cascade as i32);

/// Tells for every key of two sets, the included and the excluded one, which of the two it is in.
/// It is never wrong for these keys, and takes a fraction of the memory of either set. Both sets
/// are given at once and no longer change. Probes, through bloomline_cascade_view(), return true
/// for each included key and false for each excluded one; for a key of neither set, true at the
/// 'unknown_rate' of bloomline_cascade_about(). It is a series of static filters, its layers. Each
/// holds the keys for which the layer before wrongly answers true.
pub struct bloomline_cascade(pub(super) Cascade);

const _: () = shared_between_threads::<bloomline_cascade>();

/// What bloomline_cascade_about() writes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct bloomline_cascade_facts {
    /// How many included keys it was built of, repeated ones counted.
    pub included_count: u64,
    /// How many excluded keys it was built of, repeated ones counted.
    pub excluded_count: u64,
    /// How many layers it has, 1 or more.
    pub layer_count: u64,
    /// How many lines of 64 bytes all layers have.
    pub line_count: u64,
    /// The seed of the hash of keys.
    pub seed: u64,
    /// How often a key of neither set is reported as included, 0 to 1, to expect.
    pub unknown_rate: f64,
}

exports! {
/// bloomline_cascade_new() builds the cascade of 'n' included and 'm' excluded keys by their
/// hashes, in any order; repeated ones change no answer. 'rate' is 0 for the smallest cascade, or
/// the rate at which keys of neither set may be reported as included, 2^-16 or more; 'seed' is
/// that of the hash of keys. Meanwhile it takes 8 bytes for each included key, 8 for each
/// excluded one that the first layer passes, and twice the cascade.
///
/// It runs on up to 'threads' threads, as bloomline_static_block_build(): 1: on the caller's alone;
/// 0: on as many as there are CPUs. The cascade does not depend on 'threads'.
///
/// With ten excluded keys for each included one the smallest takes 7.0 bits per included key,
/// with a hundred 10.5.
///
/// Errors: BLOOMLINE_ERR_OVERLAP if a hash is in both arrays; BLOOMLINE_ERR_LAYERS if 32 layers
/// do not tell the sets apart, which happens only if somebody chose the hashes for it;
/// BLOOMLINE_ERR_RATE, BLOOMLINE_ERR_RATE_TOO_SMALL; BLOOMLINE_ERR_LINE_COUNT if it would not fit
/// in memory; BLOOMLINE_ERR_OUT_OF_MEMORY, BLOOMLINE_ERR_BACKEND.
fn bloomline_cascade_new(
    included: *const u64, n: usize, excluded: *const u64, m: usize, rate: f64, seed: u64,
    threads: usize, out: *mut *mut bloomline_cascade,
) -> bloomline_status {
    new_handle(out, || {
        let (included, excluded) = (slice(included, n), slice(excluded, m));
        let (included, excluded) = (included.ok_or(NULL)?, excluded.ok_or(NULL)?);
        Ok(bloomline_cascade(match rate {
            0.0 => Cascade::build(included, excluded, seed, threads)?,
            _ => Cascade::build_for_rate(included, excluded, rate, seed, threads)?,
        }))
    })
}
}

handle! { bloomline_cascade(Cascade) filter;
/// bloomline_cascade_clone() and the functions under it are those of bloomline_filter, for all
/// layers together. Encoded it takes 64 bytes for each line, 64 for each layer, and 64 more.
/// bloomline_map_bytes() probes these bytes where they are.
clone bloomline_cascade_clone; free bloomline_cascade_free; memory bloomline_cascade_memory;
encoded_len bloomline_cascade_encoded_len; encode bloomline_cascade_encode;
write bloomline_cascade_write; decode bloomline_cascade_decode; save bloomline_cascade_save;
load bloomline_cascade_load;
}

exports! {
/// bloomline_cascade_view() writes a view of the cascade to 'out', to probe it: contains functions
/// return true for each included key and false for each excluded one. Valid until the cascade is
/// freed.
fn bloomline_cascade_view(
    filter: *const bloomline_cascade, out: *mut bloomline_view,
) -> bloomline_status {
    write_view_of(filter, |filter| &raw const (*filter).0, out)
}

/// bloomline_cascade_about() writes key counts, size, seed and rate of the cascade to 'out'.
fn bloomline_cascade_about(
    filter: *const bloomline_cascade, out: *mut bloomline_cascade_facts,
) -> bloomline_status {
    write_result(filter, out, |bloomline_cascade(cascade)| {
        Ok(bloomline_cascade_facts {
            included_count: cascade.included_count(),
            excluded_count: cascade.excluded_count(),
            layer_count: cascade.layers().len() as u64,
            line_count: cascade.line_count(),
            seed: cascade.seed(),
            unknown_rate: cascade.unknown_rate(),
        })
    })
}
}
