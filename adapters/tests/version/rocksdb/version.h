/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* version.h - RocksDB's own with another number: TEST_MAJOR, TEST_MINOR, TEST_PATCH. */
#pragma GCC system_header
#include_next <rocksdb/version.h>
#undef ROCKSDB_MAJOR
#undef ROCKSDB_MINOR
#undef ROCKSDB_PATCH
#define ROCKSDB_MAJOR TEST_MAJOR
#define ROCKSDB_MINOR TEST_MINOR
#define ROCKSDB_PATCH TEST_PATCH
