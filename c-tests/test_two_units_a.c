/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_two_units_a.c - the header in two translation units of one program: no symbol is
 * defined twice, and handles and views pass from one to the other. The other one is
 * test_two_units_b.c.
 */
#include "test_two_units.h"

#include "check.h"

static void a_filter_made_there_is_used_here(void)
{
    bloomline_params params = {10, 6, 0, 0};
    bloomline_filter *filter = other_unit_makes_a_filter(&params);
    REQUIRE(filter != NULL);
    CHECK(bloomline_filter_contains(filter, "apple", 5));
    CHECK(!bloomline_filter_contains(filter, "plum", 4));
    uint8_t data[11 * 64];
    CHECK_OK(bloomline_filter_encode(filter, data, sizeof data, NULL));
    bloomline_view view = other_unit_opens(data, sizeof data);
    CHECK(bloomline_view_contains(&view, "apple", 5));
    CHECK(!bloomline_view_contains(&view, "plum", 4));
    CHECK_U64(sizeof view, other_unit_view_size());
    bloomline_filter_free(filter);
}

int main(void)
{
    check_begin("test_two_units");
    RUN(a_filter_made_there_is_used_here);
    return check_end();
}
