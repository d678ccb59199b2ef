/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * rocksdb_filters.hpp - filters as RocksDB has them built: both policies, and one filter of
 * either. Uses harness.hpp, the adapter and RocksDB.
 */
#ifndef BLOOMLINE_ROCKSDB_FILTERS_HPP
#define BLOOMLINE_ROCKSDB_FILTERS_HPP

#include "harness.hpp"

#include "../rocksdb/bloomline_rocksdb.h"
#include "../rocksdb/filter_bits.h"

#include <rocksdb/table.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace filters {

using namespace ROCKSDB_NAMESPACE;
using bloomline::BitsBuilder;
using bloomline::BitsReader;

using Policies = std::pair<std::shared_ptr<const FilterPolicy>, std::shared_ptr<const FilterPolicy>>;

/* RocksDB's policy and ours. */
inline Policies Both(double bits_per_key)
{
    return {std::shared_ptr<const FilterPolicy>(NewBloomFilterPolicy(bits_per_key)),
            bloomline::NewRocksDbFilterPolicy(bits_per_key)};
}

inline BlockBasedTableOptions Options5()
{
    BlockBasedTableOptions options;
    options.format_version = 5;
    options.optimize_filters_for_memory = false;
    return options;
}

inline std::unique_ptr<BitsBuilder> BuilderOf(const FilterPolicy &policy,
                                              const BlockBasedTableOptions &options = Options5())
{
    FilterBuildingContext context(options);
    return std::unique_ptr<BitsBuilder>(bloomline::FromRocksDb(policy.GetBuilderWithContext(context)));
}

inline std::unique_ptr<BitsReader> ReaderOf(const FilterPolicy &policy, const Slice &filter)
{
    return std::unique_ptr<BitsReader>(bloomline::FromRocksDb(policy.GetFilterBitsReader(filter)));
}

inline std::string Finish(BitsBuilder &builder)
{
    std::unique_ptr<const char[]> memory;
    Status status;
    Slice filter = builder.Finish(&memory, &status);
    CHECK(status.ok());
    CHECK(builder.MaybePostVerify(filter).ok());
    return filter.ToString();
}

inline std::vector<std::string> RandomKeys(size_t n, uint64_t seed)
{
    std::vector<std::string> keys;
    harness::Random random(seed);
    for (size_t i = 0; i < n; i++)
        keys.push_back(random.Bytes(1 + random.Next() % 32));
    return keys;
}

/* The same keys as bloomline's batches take them. They must outlive it. */
inline std::vector<bloomline_bytes> Bytes(const std::vector<std::string> &keys)
{
    std::vector<bloomline_bytes> bytes;
    for (const std::string &key : keys)
        bytes.push_back({reinterpret_cast<const uint8_t *>(key.data()), key.size()});
    return bytes;
}

}  // namespace filters

#endif
