/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* versions.cc - compiles if filter_bits.h takes the version of versions.sh for what it is. */
#include "../rocksdb/filter_bits.h"

static_assert(BLOOMLINE_ROCKSDB_ADD_ALT == TEST_ADD_ALT, "AddKeyAndAlt()");
static_assert(BLOOMLINE_ROCKSDB_SPACE == TEST_SPACE, "CalculateSpace()");
