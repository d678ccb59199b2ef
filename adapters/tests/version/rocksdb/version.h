/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* version.h - in place of RocksDB's own: versions.sh says which version it is. */
#define ROCKSDB_MAJOR TEST_MAJOR
#define ROCKSDB_MINOR TEST_MINOR
#define ROCKSDB_PATCH TEST_PATCH
