/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * filter_bits.h - the two classes by which RocksDB talks to a filter that it has got from
 * a FilterPolicy. RocksDB names them in rocksdb/filter_policy.h and does not install their
 * declaration, so it is made here, once for each order that their virtual functions have
 * had. A version with an order that is not known here does not compile: its calls would
 * reach the wrong functions.
 *
 *     7.0.3 to 9.5       the first
 *     9.6.1 to 10.8      AddKeyAndAlt() after AddKey()
 *     10.9.1 to 11.8     CalculateSpace() and EstimatedFpRate() at the end
 *
 * Only bloomline_rocksdb.cc and its tests include this. Uses RocksDB's public headers.
 */
#ifndef BLOOMLINE_ROCKSDB_FILTER_BITS_H
#define BLOOMLINE_ROCKSDB_FILTER_BITS_H

#include <cstddef>
#include <cstdint>
#include <memory>

#include <rocksdb/filter_policy.h>
#include <rocksdb/slice.h>
#include <rocksdb/status.h>
#include <rocksdb/version.h>

#define BLOOMLINE_ROCKSDB_VERSION \
    (ROCKSDB_MAJOR * 1000000 + ROCKSDB_MINOR * 1000 + ROCKSDB_PATCH)

#if BLOOMLINE_ROCKSDB_VERSION < 7000003
#error "bloomline: RocksDB before 7.0.3 is not supported (filters had another interface)"
#elif BLOOMLINE_ROCKSDB_VERSION < 9006000
#define BLOOMLINE_ROCKSDB_ADD_ALT 0
#define BLOOMLINE_ROCKSDB_SPACE 0
#elif BLOOMLINE_ROCKSDB_VERSION == 9006000
#error "bloomline: this RocksDB is from before the release of 9.6; its filter interface is not known"
#elif BLOOMLINE_ROCKSDB_VERSION < 10009000
#define BLOOMLINE_ROCKSDB_ADD_ALT 1
#define BLOOMLINE_ROCKSDB_SPACE 0
#elif BLOOMLINE_ROCKSDB_VERSION == 10009000
#error "bloomline: this RocksDB is from before the release of 10.9; its filter interface is not known"
#elif BLOOMLINE_ROCKSDB_VERSION < 11009000
#define BLOOMLINE_ROCKSDB_ADD_ALT 1
#define BLOOMLINE_ROCKSDB_SPACE 1
#else
#error "bloomline: RocksDB after 11.8 is not known here; see docs/ENGINES.md before you change this"
#endif

namespace ROCKSDB_NAMESPACE {

class FilterBitsBuilder {
public:
    virtual ~FilterBitsBuilder() {}
    virtual void AddKey(const Slice &key) = 0;
#if BLOOMLINE_ROCKSDB_ADD_ALT
    virtual void AddKeyAndAlt(const Slice &key, const Slice &alt) = 0;
#endif
    virtual size_t EstimateEntriesAdded() = 0;
    virtual Slice Finish(std::unique_ptr<const char[]> *buf) = 0;
    virtual Slice Finish(std::unique_ptr<const char[]> *buf, Status *)
    {
        return Finish(buf);
    }
    virtual Status MaybePostVerify(const Slice &)
    {
        return Status::OK();
    }
    virtual size_t ApproximateNumEntries(size_t bytes) = 0;
#if BLOOMLINE_ROCKSDB_SPACE
    virtual size_t CalculateSpace(size_t num_entries) = 0;
    virtual double EstimatedFpRate(size_t num_entries, size_t bytes) = 0;
#endif
};

class FilterBitsReader {
public:
    virtual ~FilterBitsReader() {}
    virtual bool MayMatch(const Slice &entry) = 0;
    virtual void MayMatch(int num_keys, Slice **keys, bool *may_match)
    {
        for (int i = 0; i < num_keys; i++)
            may_match[i] = MayMatch(*keys[i]);
    }
};

}  // namespace ROCKSDB_NAMESPACE

#endif
