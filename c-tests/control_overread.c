/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * control_overread.c - lets the library read one hash more than there are. Not a test of the
 * library but of the checker: AddressSanitizer in the Rust code and valgrind must report
 * it, or their silence about the tests means nothing.
 */
#include <bloomline.h>

#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    const bloomline_params params = {10, 6, 0, 0};
    bloomline_filter *filter = NULL;
    uint64_t *hashes = calloc(5, sizeof *hashes), bitmap;
    if (hashes == NULL || bloomline_filter_new(&params, &filter) != BLOOMLINE_OK) return 1;
    size_t found = bloomline_filter_contains_hashes(filter, hashes, 6, &bitmap);
    printf("nobody stopped the read; %zu found\n", found);
    bloomline_filter_free(filter);
    free(hashes);
    return 0;
}
