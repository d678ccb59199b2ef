//! Matrices by the definition: their encoded form, and what a reader says of any bytes.

use crate::definition::*;
use bloomline::definition::matrix::{self, group_bytes, row_bytes};

/// The field at offset 32 is the number of columns, and these.
pub(crate) const NAMED: u64 = 1 << 32;
pub(crate) const SUMMED: u64 = 1 << 33;

/// Groups, names if there are any, checksums if there are to be any, and footer of layout 10.
pub(crate) fn encode_matrix(
    groups: &[u8],
    columns: u32,
    k: u32,
    seed: u64,
    names: &[u64],
    summed: bool,
) -> Vec<u8> {
    let lines = groups.len() / group_bytes(columns);
    let names = names.iter().flat_map(|name| name.to_le_bytes());
    let mut body: Vec<u8> = groups.iter().copied().chain(names).collect();
    let flags = if body.len() > groups.len() { NAMED } else { 0 };
    body.resize(body.len() + if summed { 8 * lines } else { 0 }, 0);
    let mut bytes = encode(&body, k, seed, 0);
    put(&mut bytes, LINE_COUNT, lines as u64);
    put(&mut bytes, LAYOUT, 10);
    put(&mut bytes, RESERVED, u64::from(columns) | flags | if summed { SUMMED } else { 0 });
    seal_matrix(&mut bytes);
    bytes
}

/// Where the groups, the names and the checksums of an encoded matrix end, whose footer fits.
pub(crate) fn matrix_ends(bytes: &[u8]) -> [usize; 3] {
    let (shape, lines) = (get(bytes, RESERVED), get(bytes, LINE_COUNT) as usize);
    let groups = lines * group_bytes(shape as u32);
    let names = groups + if shape & NAMED > 0 { 8 * shape as u32 as usize } else { 0 };
    [groups, names, names + if shape & SUMMED > 0 { 8 * lines } else { 0 }]
}

/// As [`seal`], with the checksums of the groups, if it has these.
pub(crate) fn seal_matrix(bytes: &mut [u8]) {
    let [groups, names, end] = matrix_ends(bytes);
    let group = group_bytes(get(bytes, RESERVED) as u32);
    let (groups, rest) = bytes.split_at_mut(groups);
    let sums = rest[names - groups.len()..end - groups.len()].chunks_mut(8);
    for (line, (group, sum)) in groups.chunks(group).zip(sums).enumerate() {
        sum.copy_from_slice(&hash(group, line as u64).to_le_bytes());
    }
    seal(bytes);
}

/// Which columns of an intact matrix may have the key of a hash: a bit for each.
pub(crate) fn columns_with(bytes: &[u8], hash: u64) -> Vec<u64> {
    let (columns, [groups, ..]) = (get(bytes, RESERVED) as u32, matrix_ends(bytes));
    let mut words = vec![0; columns.div_ceil(64) as usize];
    for column in 0..columns {
        let k = get(bytes, K) as u32;
        if matrix::contains(&bytes[..groups], columns, k, column, hash) {
            words[column as usize / 64] |= 1 << (column % 64);
        }
    }
    words
}

/// As [`check`], for matrices.
pub(crate) fn check_matrix(bytes: &[u8], verify: bool) -> u32 {
    if let Err(status) = check_layout(bytes, 10) {
        return status;
    }
    let (shape, line_count) = (get(bytes, RESERVED), get(bytes, LINE_COUNT));
    let columns = shape as u32;
    if shape & !(u64::from(u32::MAX) | NAMED | SUMMED) != 0 {
        return status::RESERVED;
    }
    if columns == 0 {
        return status::COLUMNS;
    }
    if !(1..=16).contains(&get(bytes, K)) {
        return status::K;
    }
    // In 128 bits nothing overflows.
    let (lines, group) = (u128::from(line_count), 4096 * u128::from(columns.div_ceil(64)));
    let names = 8 * u128::from(columns);
    if line_count == 0 || lines * (group + 8) + names + 64 > isize::MAX as u128 {
        return status::LINE_COUNT;
    }
    let names = if shape & NAMED > 0 { names } else { 0 };
    let sums = if shape & SUMMED > 0 { 8 * lines } else { 0 };
    if lines * group + names + sums + 64 != bytes.len() as u128 {
        return status::TRUNCATED;
    }
    let body = &bytes[..bytes.len() - FOOTER_BYTES];
    if verify && get(bytes, LINES_CHECKSUM) != hash(body, 0) {
        return status::CHECKSUM;
    }
    if verify {
        let [groups, names, end] = matrix_ends(bytes);
        let sums = bytes[names..end].chunks(8);
        for (line, (group, sum)) in body.chunks(group as usize).zip(sums).enumerate() {
            if sum != hash(group, line as u64).to_le_bytes() {
                return status::CHECKSUM;
            }
        }
        for row in bytes[..groups].chunks(row_bytes(columns)) {
            for bit in columns as usize..8 * row.len() {
                if row[bit / 8] >> (bit % 8) & 1 == 1 {
                    return status::CHECKSUM;
                }
            }
        }
    }
    status::OK
}
