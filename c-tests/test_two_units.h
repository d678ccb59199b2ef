/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* test_two_units.h - what test_two_units_a.c and test_two_units_b.c share. */
#ifndef TEST_TWO_UNITS_H
#define TEST_TWO_UNITS_H

#include <bloomline.h>

bloomline_filter *other_unit_makes_a_filter(const bloomline_params *params);
bloomline_view other_unit_opens(const void *data, size_t len);
size_t other_unit_view_size(void);

#endif
