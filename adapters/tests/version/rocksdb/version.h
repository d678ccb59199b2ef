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
/* Of the standard that other headers of that version need. */
#if (ROCKSDB_MAJOR > 10 || (ROCKSDB_MAJOR == 10 && ROCKSDB_MINOR >= 7)) && __cplusplus < 202002L
#error "RocksDB from 10.7 on is C++20"
#endif
