/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* compiled_for.cc - for test_rocksdb_version: the version of RocksDB that the adapter in its program is
 * compiled for. */
extern const int kCompiledFor[3];
const int kCompiledFor[3] = {TEST_MAJOR, TEST_MINOR, TEST_PATCH};
