/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* matrix.h - many filters of one shape: it answers in a bit for each, and so has no history. A part of kinds.h. */

STORED(matrix)

/* Names and checksums are written and read too. */
static bloomline_status matrix_with_names(bloomline_matrix **out)
{
    static const uint64_t names[] = {1, 2, 3};
    bloomline_status status = bloomline_matrix_new(&whole_params, 3, out);
    if (status != BLOOMLINE_OK) return status;
    bloomline_matrix_set_checksums(*out, true);
    status = bloomline_matrix_set_names(*out, names, 3);
    if (status == BLOOMLINE_OK) return status;
    bloomline_matrix_free(*out);
    *out = NULL;
    return status;
}
CREATED(matrix, matrix, matrix_with_names(&filter))
ADDED(matrix, (void)!bloomline_matrix_insert_hash(filter, (size_t)(hash % 3), hash))
