/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * bloomline_rocksdb.h - filter policies for an installed, unmodified RocksDB, 7.0.3 to 11.8: RocksDB's
 * Bloom filter, made and read by bloomline, and bloomline's static filter.
 *
 *     C++   table_options.filter_policy = bloomline::NewRocksDbFilterPolicy(10);
 *     C     rocksdb_block_based_options_set_filter_policy(options,
 *               bloomline_rocksdb_filterpolicy(10));
 *
 * The first policy has the CompatibilityName of RocksDB's own, "rocksdb.BuiltinBloomFilter", and writes
 * and reads the same bytes. Ribbon filters, and kinds to come, it leaves to RocksDB's reader. A database
 * goes from one to the other, and back, as it is, its OPTIONS files included.
 *
 * A static filter takes a quarter less memory than a Bloom filter:
 *
 *     C++   table_options.filter_policy = bloomline::NewStaticFilterPolicy(10);
 *     C     rocksdb_block_based_options_set_filter_policy(options,
 *               bloomline_rocksdb_static_filterpolicy(10, 0));
 *
 * Both policies read static filters, and all others. An unmodified RocksDB opens such a database too,
 * but reads a static filter as one that matches every key: tables that have one are not filtered until
 * a compaction writes them anew. See docs/ENGINES.md.
 *
 * Compile bloomline_rocksdb.cc with the program, as C++17, or as C++20 with RocksDB 10.7 and later,
 * and link with bloomline and rocksdb. Compile it with -fno-rtti if RocksDB was.
 *
 * Compile it with the headers of the RocksDB that the program runs with. If that has another major or
 * minor version, you get RocksDB's own policy, the one of NewBloomFilterPolicy(), and standard error
 * says so, once in a process. RocksDB's classes differ between versions; with a policy of other headers
 * it would crash. Bloomline's policies have the Name() "bloomline.BloomFilter" and
 * "bloomline.StaticFilter".
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
 * rocksdb_filterpolicy_create_bloom_full(bits_per_key) does: RocksDB's own if another RocksDB runs (see
 * above), or NULL if there is no memory. rocksdb_block_based_options_set_filter_policy() takes it over;
 * otherwise it is freed by rocksdb_filterpolicy_destroy().
 */
rocksdb_filterpolicy_t *bloomline_rocksdb_filterpolicy(double bits_per_key);

/**
 * bloomline_rocksdb_static_filterpolicy() returns a policy that stores static filters.
 *
 * 'bits_per_key_or_rate' from 1 on is bits per key as RocksDB counts them for a Bloom filter. You get
 * the static filter with at most the false-positive rate of that Bloom filter; it takes fewer bits.
 * Below 1 it is the highest false-positive rate. Static filters have the rates 1/16, 1/32 and so on to
 * 1/65,536, and you get the next lower one: 10 bits, or 0.01, take 1/128 in 7.4 bits per key. 1/65,536
 * is the lowest. 0, or less: no filters.
 *
 * 'bloom_before_level' is that of NewRibbonFilterPolicy(): files above this level have Bloom filters,
 * which are built faster. Flushes count as level -1, and files whose level is not known as the last.
 * 0: flushes only; -1: no Bloom filters; INT_MAX: no static filters. Without static filters too it
 * reads them.
 *
 * A Bloom filter takes the bits per key given or, for a rate, the bits at which it has at most that.
 * Otherwise as bloomline_rocksdb_filterpolicy(): if another RocksDB runs, it is RocksDB's own policy
 * for Bloom filters.
 */
rocksdb_filterpolicy_t *bloomline_rocksdb_static_filterpolicy(double bits_per_key_or_rate,
                                                              int bloom_before_level);

#ifdef __cplusplus
}

namespace bloomline {

/// A policy for BlockBasedTableOptions::filter_policy, as NewBloomFilterPolicy() returns
/// one: RocksDB's own if another RocksDB runs (see above). It may be used by many databases at
/// once. Empty if the system has not got the memory.
std::shared_ptr<const ROCKSDB_NAMESPACE::FilterPolicy> NewRocksDbFilterPolicy(double bits_per_key);

/// A policy that stores static filters: see bloomline_rocksdb_static_filterpolicy(). Otherwise as
/// NewRocksDbFilterPolicy().
std::shared_ptr<const ROCKSDB_NAMESPACE::FilterPolicy>
NewStaticFilterPolicy(double bits_per_key_or_rate, int bloom_before_level = 0);

}  // namespace bloomline
#endif

#endif
