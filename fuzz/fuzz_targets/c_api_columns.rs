//! Columns by C: the hashes and the blocks of a Parquet filter, the rows that are selected of a column and refined,
//! and what a builder for threads makes of one; against the plain definitions. The calls are sound for the reasons
//! at the head of `c_api_state`.

use crate::c_api_state::*;
use crate::definition::*;
use bloomline::definition::{line, sbbf};
use bloomline::engines::parquet;
use bloomline::ffi::*;
use std::ptr::{null, null_mut};

/// The filter of each second value: in Parquet's blocks, and by a builder of filter `slot`'s shape.
pub(crate) fn columns(state: &mut State, slot: u8, values: &[u64], picked: &[u16], blocks: u8) {
    let mut bits = vec![0; 32 * (usize::from(blocks) + 1)];
    let half: Vec<u64> = values.iter().copied().step_by(2).collect();
    parquet_filter(&mut bits, &half);
    let in_blocks = |value: &u64| sbbf::contains(&bits, parquet::hash(value));
    // SAFETY: as the head of this file says.
    unsafe {
        let mut view: bloomline_view = std::mem::zeroed();
        let opened =
            bloomline_view_open_parquet_bits(bits.as_ptr().cast(), bits.len(), &raw mut view);
        assert_eq!(opened, BLOOMLINE_OK);
        rows(&view, values, picked, &in_blocks);
    }
    built(state, slot, &half, values, picked);
}

/// What C makes of these values in bits is what the definition makes.
fn parquet_filter(bits: &mut [u8], values: &[u64]) {
    // At an address that no integer has.
    let bytes: Vec<u8> =
        std::iter::once(0).chain(values.iter().flat_map(|value| value.to_le_bytes())).collect();
    for width in [4, 8] {
        let values = bytes[1..].chunks_exact(width);
        let mut hashes = vec![0; values.len()];
        let (start, out) = (bytes[1..].as_ptr().cast(), hashes.as_mut_ptr());
        // SAFETY: as the head of this file says; there are as many values as hashes.
        unsafe { bloomline_parquet_hash_fixed(start, width, hashes.len(), out) };
        assert!(values.map(parquet::hash).eq(hashes.iter().copied()), "{width}");
        if width == 8 {
            let mut plain = bits.to_vec();
            hashes.iter().for_each(|&hash| sbbf::insert(&mut plain, hash));
            let (at, len) = (bits.as_mut_ptr().cast(), bits.len());
            // SAFETY: as above.
            let status =
                unsafe { bloomline_parquet_insert_hashes(at, len, hashes.as_ptr(), hashes.len()) };
            assert_eq!(status, BLOOMLINE_OK);
            assert!(bits == plain, "not the bits of the definition");
        }
    }
}

/// Selections and refinements say of each row what is expected of its value.
///
/// # Safety
/// The view is opened, of bytes that are there.
unsafe fn rows(
    view: &bloomline_view,
    values: &[u64],
    picked: &[u16],
    expected: &dyn Fn(&u64) -> bool,
) {
    let (column, n) = (values.as_ptr(), values.len());
    let mut all = vec![0xEEEE_EEEE; n + 1];
    // SAFETY: the caller's promise; there is room for all rows.
    let count = unsafe { bloomline_view_select_u64(view, column, n, all.as_mut_ptr()) };
    let present = (0..n as u32).filter(|&row| expected(&values[row as usize]));
    assert!(all[..count].iter().copied().eq(present));
    assert_eq!(all[n], 0xEEEE_EEEE);
    let mut rows: Vec<u16> = match n {
        0 => vec![],
        _ => picked.iter().map(|row| (usize::from(*row) % n) as u16).collect(),
    };
    let left: Vec<u16> =
        rows.iter().copied().filter(|&row| expected(&values[usize::from(row)])).collect();
    // SAFETY: as above; the rows are those of the column.
    let count = unsafe { bloomline_view_refine16_u64(view, column, rows.as_mut_ptr(), rows.len()) };
    assert_eq!(rows[..count], left);
}

/// What a builder makes of a column is the filter of the definition.
fn built(state: &mut State, slot: u8, half: &[u64], values: &[u64], picked: &[u16]) {
    let params = state.model(slot).map(|model| model.params);
    let shape = params.as_ref().map_or(null(), |params| params as *const bloomline_params);
    // SAFETY: as the head of this file says.
    unsafe {
        let (mut builder, mut filter) = (null_mut(), null_mut());
        let status = bloomline_concurrent_builder_new(shape, &mut builder);
        let column = bloomline_column {
            r#type: BLOOMLINE_COLUMN_U64,
            values: half.as_ptr().cast(),
            data: null(),
            n: half.len(),
            validity: null(),
            first_bit: 0,
        };
        let inserted = bloomline_concurrent_builder_insert(builder, &column, 1);
        let finish = |builder, out| bloomline_concurrent_builder_finish(builder, out);
        let Some(params) = params else {
            assert_eq!((status, inserted), (BLOOMLINE_ERR_NULL, BLOOMLINE_ERR_NULL));
            assert_eq!(finish(&mut builder, &mut filter), BLOOMLINE_ERR_NULL);
            return;
        };
        assert_eq!((status, inserted), (BLOOMLINE_OK, BLOOMLINE_OK));
        // After an error no key of any column is inserted.
        let unknown = [column, bloomline_column { r#type: 99, ..column }];
        let refused = bloomline_concurrent_builder_insert(builder, unknown.as_ptr(), 2);
        assert_eq!(refused, BLOOMLINE_ERR_LAYOUT);
        assert_eq!(bloomline_concurrent_builder_key_count(builder), half.len() as u64);
        assert_eq!(finish(&mut builder, &mut filter), BLOOMLINE_OK);
        assert!(builder.is_null());
        let hash = |value: &u64| hash(&value.to_le_bytes(), params.seed);
        let hashes: Vec<u64> = half.iter().map(hash).collect();
        state.put(slot, params, filter);
        state.inserted(slot, hashes);
        let lines = state.model(slot).expect("it was put there").lines();
        let mut view: bloomline_view = std::mem::zeroed();
        assert_eq!(bloomline_filter_view(filter, &raw mut view), BLOOMLINE_OK);
        let in_lines = |value: &u64| line::contains(&lines, params.k, hash(value));
        rows(&view, values, picked, &in_lines);
    }
    state.encode(slot, 0, slot, None);
}
