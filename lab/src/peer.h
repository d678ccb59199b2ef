/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * peer.h - what the contenders in C++ have in common: peers.cc and rocksdb_source.cc.
 */
#pragma once

#include <cstddef>
#include <cstdint>

namespace lab {

class Peer {
public:
    virtual ~Peer() {}
    virtual size_t Bytes() const = 0;
    /* False if it has no such call. */
    virtual bool InsertBatch(const uint64_t *, size_t) { return false; }
    virtual void InsertEach(const uint64_t *hashes, size_t n) = 0;
    virtual void Filled() {}
    virtual bool Contains(uint64_t hash) const = 0;
    virtual size_t Singles(const uint64_t *hashes, size_t n) const = 0;
    virtual size_t Batches(const uint64_t *hashes, size_t n, size_t each) const = 0;
    /* Writes the numbers of those that may be present, for which there is room. */
    virtual size_t Select(const uint64_t *hashes, size_t n, uint32_t *rows) const = 0;
    virtual size_t Chain(const uint64_t (*pairs)[2], size_t n) const = 0;
};

/* The loops over one(hash) of a derived class. */
template <class Of>
class Looping : public Peer {
    const Of &Self() const { return static_cast<const Of &>(*this); }

public:
    bool Contains(uint64_t hash) const override { return Self().One(hash); }
    size_t Singles(const uint64_t *hashes, size_t n) const override
    {
        size_t sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += Self().One(hashes[i]);
        return sum;
    }
    /* Without a branch on the answers. */
    size_t Select(const uint64_t *hashes, size_t n, uint32_t *rows) const override
    {
        size_t count = 0;
        for (size_t i = 0; i < n; i++) {
            rows[count] = static_cast<uint32_t>(i);
            count += Self().One(hashes[i]);
        }
        return count;
    }
    size_t Chain(const uint64_t (*pairs)[2], size_t n) const override
    {
        size_t sum = 0, pick = 0;
        for (size_t i = 0; i < n; i++)
            sum += pick = Self().One(pairs[i][pick]);
        return sum;
    }
};

/* A filter of RocksDB's source for so many keys, of so many bits per key, and the version of the source. */
Peer *NewRocksDbSource(uint64_t keys, double bits);
const char *RocksDbSourceVersion();

}  // namespace lab
