/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * filter_bits.h - the two classes by which RocksDB talks to a filter of a FilterPolicy: its
 * FilterBitsBuilder and FilterBitsReader. RocksDB names them in rocksdb/filter_policy.h and does
 * not install their declaration, so it is made here, once for each order that their virtual
 * functions have had. A version with an order that is not known here does not compile: its calls
 * would reach the wrong functions.
 *
 *     7.0.3 to 9.5       the first
 *     9.6.1 to 10.8      AddKeyAndAlt() after AddKey()
 *     10.9.1 to 11.8     CalculateSpace() and EstimatedFpRate() at the end
 *
 * The classes have names of their own, in a namespace for each order. By RocksDB's names they would
 * be second definitions of its classes: their weak symbols (vtables, type information, inline
 * functions) could replace RocksDB's in the whole program. ToRocksDb() and FromRocksDb() change the
 * type of a pointer to RocksDB's and back. Not an anonymous namespace: of a class in one the
 * compiler knows all that derive from it, and it would not call those of RocksDB.
 *
 * Only bloomline_rocksdb.cc, its tests and the benchmark include this. Uses RocksDB's public
 * headers.
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

#define BLOOMLINE_ROCKSDB_NUMBER(major, minor, patch) \
    ((major) * 1000000 + (minor) * 1000 + (patch))
#define BLOOMLINE_ROCKSDB_VERSION \
    BLOOMLINE_ROCKSDB_NUMBER(ROCKSDB_MAJOR, ROCKSDB_MINOR, ROCKSDB_PATCH)

/* Which of the orders above a version has: 1 to 3, or 0 if it is not known. 9.6.0 and 10.9.0 are
 * RocksDB's source before their release, in which the order changed. */
#define BLOOMLINE_ROCKSDB_ORDER(version) \
    ((version) < 7000003   ? 0 : \
     (version) < 9006000   ? 1 : \
     (version) == 9006000  ? 0 : \
     (version) < 10009000  ? 2 : \
     (version) == 10009000 ? 0 : \
     (version) < 11009000  ? 3 : \
                             0)

#define BLOOMLINE_ROCKSDB_ADD_ALT (BLOOMLINE_ROCKSDB_ORDER(BLOOMLINE_ROCKSDB_VERSION) >= 2)
#define BLOOMLINE_ROCKSDB_SPACE (BLOOMLINE_ROCKSDB_ORDER(BLOOMLINE_ROCKSDB_VERSION) >= 3)

#if BLOOMLINE_ROCKSDB_VERSION < 7000003
#error "bloomline: RocksDB before 7.0.3 is not supported (filters had another interface)"
#elif BLOOMLINE_ROCKSDB_VERSION >= 11009000
#error "bloomline: RocksDB after 11.8 is not known here; see docs/ENGINES.md before you change this"
#elif BLOOMLINE_ROCKSDB_ORDER(BLOOMLINE_ROCKSDB_VERSION) == 0
#error "bloomline: this RocksDB is from before its release; its filter interface is not known"
#endif

#if BLOOMLINE_ROCKSDB_SPACE
#define BLOOMLINE_ROCKSDB_BITS rocksdb_bits_3
#elif BLOOMLINE_ROCKSDB_ADD_ALT
#define BLOOMLINE_ROCKSDB_BITS rocksdb_bits_2
#else
#define BLOOMLINE_ROCKSDB_BITS rocksdb_bits_1
#endif

namespace bloomline {
inline namespace BLOOMLINE_ROCKSDB_BITS {

/* FilterBitsBuilder. */
class BitsBuilder {
public:
    virtual ~BitsBuilder() {}
    virtual void AddKey(const ROCKSDB_NAMESPACE::Slice &key) = 0;
#if BLOOMLINE_ROCKSDB_ADD_ALT
    virtual void AddKeyAndAlt(const ROCKSDB_NAMESPACE::Slice &key,
                              const ROCKSDB_NAMESPACE::Slice &alt) = 0;
#endif
    virtual size_t EstimateEntriesAdded() = 0;
    virtual ROCKSDB_NAMESPACE::Slice Finish(std::unique_ptr<const char[]> *buf) = 0;
    virtual ROCKSDB_NAMESPACE::Slice Finish(std::unique_ptr<const char[]> *buf,
                                            ROCKSDB_NAMESPACE::Status *status) = 0;
    virtual ROCKSDB_NAMESPACE::Status MaybePostVerify(const ROCKSDB_NAMESPACE::Slice &filter) = 0;
    virtual size_t ApproximateNumEntries(size_t bytes) = 0;
#if BLOOMLINE_ROCKSDB_SPACE
    virtual size_t CalculateSpace(size_t num_entries) = 0;
    virtual double EstimatedFpRate(size_t num_entries, size_t bytes) = 0;
#endif
};

/* FilterBitsReader. */
class BitsReader {
public:
    virtual ~BitsReader() {}
    virtual bool MayMatch(const ROCKSDB_NAMESPACE::Slice &entry) = 0;
    virtual void MayMatch(int num_keys, ROCKSDB_NAMESPACE::Slice **keys, bool *may_match) = 0;
};

inline ROCKSDB_NAMESPACE::FilterBitsBuilder *ToRocksDb(BitsBuilder *builder)
{
    return reinterpret_cast<ROCKSDB_NAMESPACE::FilterBitsBuilder *>(builder);
}
inline ROCKSDB_NAMESPACE::FilterBitsReader *ToRocksDb(BitsReader *reader)
{
    return reinterpret_cast<ROCKSDB_NAMESPACE::FilterBitsReader *>(reader);
}
inline BitsBuilder *FromRocksDb(ROCKSDB_NAMESPACE::FilterBitsBuilder *builder)
{
    return reinterpret_cast<BitsBuilder *>(builder);
}
inline BitsReader *FromRocksDb(ROCKSDB_NAMESPACE::FilterBitsReader *reader)
{
    return reinterpret_cast<BitsReader *>(reader);
}

}  // namespace BLOOMLINE_ROCKSDB_BITS
}  // namespace bloomline

#endif
