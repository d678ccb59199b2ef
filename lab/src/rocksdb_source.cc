/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * rocksdb_source.cc - the filter of RocksDB's tables, FastLocalBloomImpl, as its source has it: compiled for
 * this CPU and into the loops, so with AVX2 where that is. It gets the hashes as they are, over aligned
 * memory. A call takes 32 keys at most, as MultiGet's do, and prefetches all of them before it probes the
 * first. Inserts by batches prefetch eight keys ahead, as RocksDB's builder does.
 *
 * Of RocksDB only headers, by a name of their own for its namespace: the installed library, of another
 * version, is in this program, too.
 */
#define ROCKSDB_NAMESPACE rocksdb_source
#define ROCKSDB_PLATFORM_POSIX

#include <util/bloom_impl.h>

#include <rocksdb/version.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "peer.h"

namespace {

using Impl = rocksdb_source::FastLocalBloomImpl;

constexpr size_t kLine = 64;
constexpr size_t kMost = 32;
constexpr size_t kAhead = 8;

uint32_t Low(uint64_t hash) { return static_cast<uint32_t>(hash); }
uint32_t High(uint64_t hash) { return static_cast<uint32_t>(hash >> 32); }

struct Free {
    void operator()(char *memory) const { std::free(memory); }
};

class Source final : public lab::Looping<Source> {
public:
    Source(uint64_t keys, double bits)
        : bytes_(static_cast<uint32_t>(std::ceil(static_cast<double>(keys) * bits / 512) * kLine)),
          probes_(Impl::ChooseNumProbes(static_cast<int>(std::lround(bits * 1000)))),
          memory_(static_cast<char *>(std::aligned_alloc(kLine, bytes_)))
    {
        if (!memory_)
            throw std::bad_alloc();
        std::memset(memory_.get(), 0, bytes_);
    }
    size_t Bytes() const override { return bytes_; }
    bool InsertBatch(const uint64_t *hashes, size_t n) override
    {
        uint32_t offsets[kAhead];
        for (size_t i = 0; i < n + kAhead; i++) {
            uint32_t &offset = offsets[i % kAhead];
            if (i >= kAhead)
                Impl::AddHashPrepared(High(hashes[i - kAhead]), probes_, memory_.get() + offset);
            if (i < n)
                Impl::PrepareHash(Low(hashes[i]), bytes_, memory_.get(), &offset);
        }
        return true;
    }
    void InsertEach(const uint64_t *hashes, size_t n) override
    {
        for (size_t i = 0; i < n; i++)
            Impl::AddHash(Low(hashes[i]), High(hashes[i]), bytes_, probes_, memory_.get());
    }
    bool One(uint64_t hash) const
    {
        return Impl::HashMayMatch(Low(hash), High(hash), bytes_, probes_, memory_.get());
    }
    size_t Batches(const uint64_t *hashes, size_t n, size_t each) const override
    {
        uint32_t offsets[kMost];
        each = each < kMost ? each : kMost;
        size_t sum = 0;
        for (size_t from = 0; from < n; from += each) {
            const size_t some = n - from < each ? n - from : each;
            for (size_t i = 0; i < some; i++)
                Impl::PrepareHash(Low(hashes[from + i]), bytes_, memory_.get(), &offsets[i]);
            for (size_t i = 0; i < some; i++)
                sum += Impl::HashMayMatchPrepared(High(hashes[from + i]), probes_, memory_.get() + offsets[i]);
        }
        return sum;
    }

private:
    const uint32_t bytes_;
    const int probes_;
    const std::unique_ptr<char, Free> memory_;
};

}  // namespace

namespace lab {

Peer *NewRocksDbSource(uint64_t keys, double bits) { return new Source(keys, bits); }

const char *RocksDbSourceVersion()
{
#define LAB_TEXT(number) #number
#define LAB_VERSION(major, minor, patch) LAB_TEXT(major) "." LAB_TEXT(minor) "." LAB_TEXT(patch)
    return LAB_VERSION(ROCKSDB_MAJOR, ROCKSDB_MINOR, ROCKSDB_PATCH);
}

}  // namespace lab
