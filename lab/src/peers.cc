/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * peers.cc - the contenders in C++, behind functions for cpp.rs. The loops are compiled into each.
 *
 * Boost.Bloom (LAB_BOOST): an identity hash that says it is avalanching, so that the hashes are taken
 * as they are. insert() and may_contain() of one key, and of ranges, its "bulk operations". With k = 8,
 * as its documentation has it, for which it is fastest, and with the k of the lowest rate.
 *
 * RocksDB as it is installed (LAB_ROCKSDB): the reader and the builder of its own filter policy,
 * format_version 5. Keys are the 8 bytes of a hash, which it hashes by itself; a call takes 32 keys at
 * most, as MultiGet's do. Debian compiles it for any CPU, without the AVX2 that its reader has.
 *
 * RocksDB's source (LAB_ROCKSDB_SOURCE): rocksdb_source.cc.
 */
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "peer.h"

namespace {

using lab::Looping;
using lab::Peer;

}  // namespace

#ifdef LAB_BOOST
#include <boost/bloom.hpp>
#include <boost/version.hpp>

namespace {

struct Identity {
    using is_avalanching = void;
    std::size_t operator()(std::uint64_t hash) const { return hash; }
};

template <class Subfilter, size_t K = 1>
class Boost final : public Looping<Boost<Subfilter, K>> {
public:
    using Filter = boost::bloom::filter<std::uint64_t, K, Subfilter, 0, Identity>;
    explicit Boost(size_t bits) : filter_(bits) {}
    size_t Bytes() const override { return filter_.capacity() / 8; }
    bool InsertBatch(const uint64_t *hashes, size_t n) override
    {
        filter_.insert(hashes, hashes + n);
        return true;
    }
    void InsertEach(const uint64_t *hashes, size_t n) override
    {
        for (size_t i = 0; i < n; i++)
            filter_.insert(hashes[i]);
    }
    bool One(uint64_t hash) const { return filter_.may_contain(hash); }
    size_t Batches(const uint64_t *hashes, size_t n, size_t each) const override
    {
        size_t sum = 0;
        for (size_t from = 0; from < n; from += each) {
            const size_t to = n - from < each ? n : from + each;
            filter_.may_contain(hashes + from, hashes + to,
                                [&sum](const std::uint64_t &, bool maybe) { sum += maybe; });
        }
        return sum;
    }

    size_t Select(const uint64_t *hashes, size_t n, uint32_t *rows) const override
    {
        /* What fits in the cache it probes faster one by one, what does not as a range. */
        if (Bytes() < kRangesFrom)
            return Looping<Boost>::Select(hashes, n, rows);
        size_t count = 0;
        uint32_t row = 0;
        filter_.may_contain(hashes, hashes + n, [&](const std::uint64_t &, bool maybe) {
            rows[count] = row++;
            count += maybe;
        });
        return count;
    }

private:
    static constexpr size_t kRangesFrom = size_t{1} << 20;

    Filter filter_;
};

/* The filter of that k, 4 to 16, with the lowest rate in so many bits. */
template <template <size_t> class Make, size_t... K>
Peer *BestK(uint64_t keys, size_t room, std::index_sequence<K...>)
{
    size_t best = 0;
    double lowest = 2;
    ((Make<K + 4>::Filter::fpr_for(keys, room) < lowest ?
          (void)(lowest = Make<K + 4>::Filter::fpr_for(keys, room), best = K + 4) :
          (void)0),
     ...);
    Peer *peer = nullptr;
    ((K + 4 == best ? (void)(peer = new Make<K + 4>(room)) : (void)0), ...);
    return peer;
}

/* Bits for that rate, by the k that needs the fewest. */
template <template <size_t> class Make, size_t... K>
size_t BitsFor(uint64_t keys, double rate, std::index_sequence<K...>)
{
    return std::min({Make<K + 4>::Filter::capacity_for(keys, rate)...});
}

template <size_t K>
using Fast64 = Boost<boost::bloom::fast_multiblock64<K>>;
template <size_t K>
using Fast32 = Boost<boost::bloom::fast_multiblock32<K>>;
template <size_t K>
using Standard = Boost<boost::bloom::block<unsigned char, 1>, K>;

size_t Room(uint64_t keys, double bits)
{
    return static_cast<size_t>(static_cast<double>(keys) * bits);
}

template <template <size_t> class Make>
Peer *WithBestK(uint64_t keys, double bits, double rate)
{
    const auto all = std::make_index_sequence<13>();
    return BestK<Make>(keys, bits > 0 ? Room(keys, bits) : BitsFor<Make>(keys, rate, all), all);
}

template <class Of>
Peer *With(uint64_t keys, double bits, double rate)
{
    return new Of(bits > 0 ? Room(keys, bits) : Of::Filter::capacity_for(keys, rate));
}

}  // namespace
#endif

#ifdef LAB_ROCKSDB
#include "../../adapters/rocksdb/filter_bits.h"

#include <rocksdb/table.h>

namespace {

using namespace ROCKSDB_NAMESPACE;

class Rocks final : public Looping<Rocks> {
public:
    explicit Rocks(double bits) : policy_(NewBloomFilterPolicy(bits))
    {
        BlockBasedTableOptions table;
        table.format_version = 5;
        table.optimize_filters_for_memory = false;
        table.filter_policy = policy_;
        builder_.reset(bloomline::FromRocksDb(policy_->GetBuilderWithContext(FilterBuildingContext(table))));
    }
    size_t Bytes() const override { return block_.size(); }
    void InsertEach(const uint64_t *hashes, size_t n) override
    {
        for (size_t i = 0; i < n; i++)
            builder_->AddKey(Key(hashes[i]));
    }
    void Filled() override
    {
        block_ = builder_->Finish(&memory_);
        reader_.reset(bloomline::FromRocksDb(policy_->GetFilterBitsReader(block_)));
    }
    bool One(uint64_t hash) const { return reader_->MayMatch(Key(hash)); }
    size_t Batches(const uint64_t *hashes, size_t n, size_t each) const override
    {
        constexpr size_t kMost = 32;
        Slice slices[kMost], *pointers[kMost];
        bool maybe[kMost];
        for (size_t i = 0; i < kMost; i++)
            pointers[i] = &slices[i];
        each = each < kMost ? each : kMost;
        size_t sum = 0;
        for (size_t from = 0; from < n; from += each) {
            const size_t some = n - from < each ? n - from : each;
            for (size_t i = 0; i < some; i++)
                slices[i] = Key(hashes[from + i]);
            reader_->MayMatch(static_cast<int>(some), pointers, maybe);
            for (size_t i = 0; i < some; i++)
                sum += maybe[i];
        }
        return sum;
    }

private:
    static Slice Key(const uint64_t &hash) { return Slice(reinterpret_cast<const char *>(&hash), sizeof hash); }

    std::shared_ptr<const FilterPolicy> policy_;
    std::unique_ptr<bloomline::BitsBuilder> builder_;
    std::unique_ptr<const char[]> memory_;
    Slice block_;
    std::unique_ptr<bloomline::BitsReader> reader_;
};

}  // namespace
#endif

extern "C" {

/* A filter for so many keys: of that many bits per key, or, if they are 0, of that rate. The number is
 * that of kinds() in cpp.rs. NULL if there is none. */
Peer *lab_peer_new(int which, uint64_t keys, double bits, double rate)
{
    (void)keys, (void)bits, (void)rate;
    switch (which) {
#ifdef LAB_BOOST
    case 0: return With<Fast64<8>>(keys, bits, rate);
    case 1: return With<Fast32<8>>(keys, bits, rate);
    case 2: return WithBestK<Fast64>(keys, bits, rate);
    case 3: return WithBestK<Fast32>(keys, bits, rate);
    case 4: return WithBestK<Standard>(keys, bits, rate);
#endif
#ifdef LAB_ROCKSDB
    case 5: return new Rocks(bits);
#endif
#ifdef LAB_ROCKSDB_SOURCE
    case 6: return lab::NewRocksDbSource(keys, bits);
#endif
    default: return nullptr;
    }
}

/* The version of Boost (0), of RocksDB as it is installed (1) or of its source (2), or "". */
const char *lab_peer_version(int which)
{
#ifdef LAB_BOOST
    if (which == 0)
        return BOOST_LIB_VERSION;
#endif
#ifdef LAB_ROCKSDB
    static const std::string version = std::to_string(ROCKSDB_MAJOR) + "." + std::to_string(ROCKSDB_MINOR) +
                                       "." + std::to_string(ROCKSDB_PATCH);
    if (which == 1)
        return version.c_str();
#endif
#ifdef LAB_ROCKSDB_SOURCE
    if (which == 2)
        return lab::RocksDbSourceVersion();
#endif
    return "";
}

void lab_peer_free(Peer *peer) { delete peer; }
size_t lab_peer_bytes(const Peer *peer) { return peer->Bytes(); }
bool lab_peer_insert_batch(Peer *peer, const uint64_t *hashes, size_t n) { return peer->InsertBatch(hashes, n); }
void lab_peer_insert_each(Peer *peer, const uint64_t *hashes, size_t n) { peer->InsertEach(hashes, n); }
void lab_peer_filled(Peer *peer) { peer->Filled(); }
bool lab_peer_contains(const Peer *peer, uint64_t hash) { return peer->Contains(hash); }
size_t lab_peer_singles(const Peer *peer, const uint64_t *hashes, size_t n) { return peer->Singles(hashes, n); }
size_t lab_peer_batches(const Peer *peer, const uint64_t *hashes, size_t n, size_t each)
{
    return peer->Batches(hashes, n, each);
}
size_t lab_peer_select(const Peer *peer, const uint64_t *hashes, size_t n, uint32_t *rows)
{
    return peer->Select(hashes, n, rows);
}
size_t lab_peer_chain(const Peer *peer, const uint64_t (*pairs)[2], size_t n) { return peer->Chain(pairs, n); }
}
