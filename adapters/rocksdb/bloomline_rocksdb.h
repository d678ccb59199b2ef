/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * bloomline_rocksdb.h - the Bloom filter of RocksDB, made and read by bloomline: a filter
 * policy for an installed, unmodified RocksDB, 7.0.3 to 11.8.
 *
 *     C++   table_options.filter_policy = bloomline::NewRocksDbFilterPolicy(10);
 *     C     rocksdb_block_based_options_set_filter_policy(options,
 *               bloomline_rocksdb_filterpolicy(10));
 *
 * It has the CompatibilityName of RocksDB's own, "rocksdb.BuiltinBloomFilter", writes the
 * same bytes and reads them; what it does not read itself (Ribbon filters, and kinds to
 * come) it gives to RocksDB's reader. A database goes from one to the other, and back, as
 * it is, its OPTIONS files included.
 *
 * Compile bloomline_rocksdb.cc (C++17) with the program, and link with bloomline and
 * rocksdb. Compile it with -fno-rtti if RocksDB was.
 *
 * Compile it with the headers of the RocksDB that the program runs with. If that has another
 * major or minor version, you get RocksDB's own policy, the one of NewBloomFilterPolicy(), and
 * standard error says so, once in a process: RocksDB's classes differ between versions, and
 * with a policy of other headers it would crash. Bloomline's policy has the Name()
 * "bloomline.BloomFilter".
 */
#ifndef BLOOMLINE_ROCKSDB_H
#define BLOOMLINE_ROCKSDB_H

#ifdef __cplusplus
#include <memory>

#include <rocksdb/filter_policy.h>

extern "C" {
#endif

typedef struct rocksdb_filterpolicy_t rocksdb_filterpolicy_t;

/**
 * bloomline_rocksdb_filterpolicy() returns a policy, as
 * rocksdb_filterpolicy_create_bloom_full(bits_per_key) does: RocksDB's own if another RocksDB
 * runs (see above), or NULL if the system has not got the memory. rocksdb_block_based_options_set_filter_policy() takes it over; otherwise
 * it is freed by rocksdb_filterpolicy_destroy().
 */
rocksdb_filterpolicy_t *bloomline_rocksdb_filterpolicy(double bits_per_key);

#ifdef __cplusplus
}

namespace bloomline {

/// A policy for BlockBasedTableOptions::filter_policy, as NewBloomFilterPolicy() returns
/// one: RocksDB's own if another RocksDB runs (see above). It may be used by many databases at
/// once. Empty if the system has not got the memory.
std::shared_ptr<const ROCKSDB_NAMESPACE::FilterPolicy> NewRocksDbFilterPolicy(double bits_per_key);

}  // namespace bloomline
#endif

#endif
