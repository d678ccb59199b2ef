/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* test_two_units_b.c - the other unit of test_two_units_a.c. */
#include "test_two_units.h"

#include <bloomline.h> /* again, as it happens */

bloomline_filter *other_unit_makes_a_filter(const bloomline_params *params)
{
    bloomline_filter *filter = NULL;
    if (bloomline_filter_new(params, &filter) == BLOOMLINE_OK) bloomline_filter_insert(filter, "apple", 5);
    return filter;
}

bloomline_view other_unit_opens(const void *data, size_t len)
{
    bloomline_view view;
    const bloomline_view unopened = {{0}};
    return bloomline_view_open(data, len, 0, &view) == BLOOMLINE_OK ? view : unopened;
}

size_t other_unit_view_size(void)
{
    return sizeof(bloomline_view);
}
