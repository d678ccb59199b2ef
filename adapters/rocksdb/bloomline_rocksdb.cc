/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * bloomline_rocksdb.cc - RocksDB's filter policies on top of bloomline.h. Uses bloomline.h,
 * filter_bits.h and RocksDB's public headers. C++17 or later, with or without exceptions and RTTI.
 *
 * RocksDB's own policy is kept beside ours, for all that is not done here: reading filters
 * of other kinds, and building them where options ask for what depends on the inside of
 * RocksDB (see `Policy::GetBuilderWithContext`). So no option means something else.
 */
#include "bloomline_rocksdb.h"

#include <atomic>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include <rocksdb/table.h>

#include <bloomline.h>

#include "filter_bits.h"

namespace {

using namespace ROCKSDB_NAMESPACE;

constexpr size_t kLine = 64;
/* Bytes behind the lines of a filter, and the most that the lines are. */
constexpr size_t kTrailer = 5;
constexpr size_t kMaxBytes = 0xFFFFFFC0;

/* The first byte of the trailer of a static filter; the other four are 0. RocksDB takes a filter with
 * a marker of -128 to -3 for one that matches every key. Its own markers go down from -1. */
constexpr char kStaticMarker = -75;
/* The rates that static filters have. */
constexpr double kHighestRate = 1.0 / 16, kLowestRate = 1.0 / 65536;

/* RocksDB's mark for a filter that matches every key: no probes. */
Slice MatchAll()
{
    return Slice("\0\0\0\0\0\0", 6);
}

/* Thousandths of a bit per key, as RocksDB rounds them. */
uint64_t Millibits(double bits_per_key)
{
    if (bits_per_key < 0.5)
        return 0;
    if (bits_per_key < 1.0)
        return 1000;
    if (!(bits_per_key < 100.0))
        return 100000;
    return static_cast<uint64_t>(bits_per_key * 1000.0 + 0.500001);
}

/* The rate of a line of 512 bits in which each key has k: averaged over how many keys a line gets, if
 * they fall where they like and 'keys' is the mean. */
double LineRate(double keys, double k)
{
    double rate = 0, seen = 0, spread = 8 * std::sqrt(keys) + 16;
    for (double j = std::fmax(0, std::floor(keys - spread)); j <= keys + spread; j++) {
        double weight = std::exp(j * std::log(keys) - keys - std::lgamma(j + 1));
        rate += weight * std::pow(1 - std::pow(1 - 1.0 / 512, k * j), k);
        seen += weight;
    }
    return seen > 0 ? std::fmin(1.0, rate / seen) : 1.0;
}

/* The rate of RocksDB's Bloom filter, which has the best k for its bits. */
double BloomRate(double bits_per_key)
{
    double best = 1.0;
    for (double k = 1; k <= 24; k++)
        best = std::fmin(best, LineRate(512 / bits_per_key, k));
    return best;
}

/* The bits per key, in tenths, at which RocksDB's Bloom filter has at most this rate. */
double BloomBits(double rate)
{
    int low = 10, high = 1000;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (BloomRate(middle / 10.0) <= rate)
            high = middle;
        else
            low = middle + 1;
    }
    return high / 10.0;
}

/* What a policy is asked for. */
struct Wanted {
    double bits_per_key; /* of Bloom filters */
    double rate;         /* of static filters; 0: there are none */
    int bloom_before_level;
};

Wanted WantedBloom(double bits_per_key)
{
    return {bits_per_key, 0.0, INT_MAX};
}

Wanted WantedStatic(double bits_per_key_or_rate, int bloom_before_level)
{
    const bool is_rate = bits_per_key_or_rate > 0 && bits_per_key_or_rate < 1;
    const uint64_t millibits = Millibits(bits_per_key_or_rate);
    if (!is_rate && millibits == 0)
        return WantedBloom(0);
    const double asked =
        is_rate ? bits_per_key_or_rate : BloomRate(static_cast<double>(millibits) / 1000.0);
    const double rate = std::fmax(kLowestRate, asked);
    return {is_rate ? BloomBits(rate) : bits_per_key_or_rate, std::fmin(kHighestRate, rate),
            bloom_before_level};
}

/* The hashes of the keys, until the filter is built. Grows by realloc(), which moves pages
 * rather than bytes; when there is no memory it says so, once for all. */
class Hashes {
public:
    Hashes() = default;
    Hashes(const Hashes &) = delete;
    Hashes &operator=(const Hashes &) = delete;
    ~Hashes()
    {
        std::free(data_);
    }

    void Push(uint64_t hash)
    {
        if (size_ == capacity_ && !Grow())
            return;
        data_[size_++] = hash;
    }
    void Reset()
    {
        std::free(data_);
        data_ = nullptr;
        size_ = capacity_ = 0;
        lost_ = false;
    }
    /* Whether one is missing for lack of memory. */
    bool lost() const
    {
        return lost_;
    }
    bool empty() const
    {
        return size_ == 0;
    }
    size_t size() const
    {
        return size_;
    }
    const uint64_t *data() const
    {
        return data_;
    }
    uint64_t back() const
    {
        return data_[size_ - 1];
    }

private:
    bool Grow()
    {
        const size_t capacity = capacity_ == 0 ? 1024 : capacity_ + capacity_ / 2;
        const bool fits = !lost_ && capacity <= SIZE_MAX / sizeof(uint64_t);
        void *data = fits ? std::realloc(data_, capacity * sizeof(uint64_t)) : nullptr;
        if (data == nullptr) {
            lost_ = true;
            return false;
        }
        data_ = static_cast<uint64_t *>(data);
        capacity_ = capacity;
        return true;
    }

    uint64_t *data_ = nullptr;
    size_t size_ = 0;
    size_t capacity_ = 0;
    bool lost_ = false;
};

bool IsStatic(const Slice &filter)
{
    return filter.size() > kTrailer && filter[filter.size() - kTrailer] == kStaticMarker;
}

/* Opens a filter that bloomline reads. A static one has a checksum, which is checked: RocksDB makes a
 * reader once for each time it reads a block, and what is damaged then matches every key. */
bool Open(const Slice &filter, bloomline_view *view)
{
    if (IsStatic(filter)) {
        const size_t len = filter.size() - kTrailer;
        return std::memcmp(filter.data() + len + 1, "\0\0\0\0", kTrailer - 1) == 0 &&
               bloomline_encoded_kind(filter.data(), len) == BLOOMLINE_KIND_STATIC &&
               bloomline_view_open(filter.data(), len, 0, view) == BLOOMLINE_OK;
    }
    /* RocksDB's empty slice may have no pointer. */
    const char *data = filter.size() == 0 ? "" : filter.data();
    return bloomline_view_open_engine(BLOOMLINE_ENGINE_ROCKSDB, data, filter.size(), view) == BLOOMLINE_OK;
}

/* The Bloom filter of format_version 5 and later, or a static filter. They differ in the hash, and
 * in what is made of the hashes at the end. */
class Builder final : public bloomline::BitsBuilder {
public:
    /* A static filter if 'rate' is not 0. */
    Builder(double bits_per_key, double rate, bool verify)
        : bits_per_key_(static_cast<double>(Millibits(bits_per_key)) / 1000.0), rate_(rate), verify_(verify)
    {
    }

    void AddKey(const Slice &key) override
    {
        uint64_t hash = Hash(key);
        /* Keys come in order: what repeats repeats at once. */
        if (hashes_.empty() || hash != hashes_.back())
            Add(hash);
    }

#if BLOOMLINE_ROCKSDB_ADD_ALT
    /* A key and its prefix. The prefix goes in first, so that the last hash is always that
     * of a key. */
    void AddKeyAndAlt(const Slice &key, const Slice &alt) override
    {
        uint64_t hash = Hash(key);
        uint64_t alt_hash = Hash(alt);
        bool any = !hashes_.empty();
        uint64_t last = any ? hashes_.back() : 0;
        bool same_alt = any_alt_ && alt_hash == last_alt_;
        bool key_was_alt = any_alt_ && hash == last_alt_;

        if (!same_alt && alt_hash != hash && !(any && alt_hash == last))
            Add(alt_hash);
        any_alt_ = true;
        last_alt_ = alt_hash;
        if (!(any && hash == last) && !key_was_alt)
            Add(hash);
    }
#endif

    /* May be called by another thread than the one that adds keys. */
    size_t EstimateEntriesAdded() override
    {
        return count_.load(std::memory_order_relaxed);
    }

    Slice Finish(std::unique_ptr<const char[]> *buf) override
    {
        return Finish(buf, nullptr);
    }

    Slice Finish(std::unique_ptr<const char[]> *buf, Status *status) override
    {
        if (status != nullptr)
            *status = Status::OK();
#if BLOOMLINE_ROCKSDB_ADD_ALT
        /* Since 9.6 RocksDB leaves it to the builder to say that there is no filter. */
        if (count_.load(std::memory_order_relaxed) == 0)
            return Slice(nullptr, 0);
#endif
        if (verify_ && !hashes_.lost() && Sum() != sum_) {
            if (status != nullptr)
                *status = Status::Corruption("Hashes of a filter's keys changed in memory");
            Reset();
            return MatchAll();
        }
        std::unique_ptr<const char[]> memory;
        Slice filter;
        if (!hashes_.lost())
            filter = Build(&memory);
        if (filter.empty()) {
            Reset();
            return MatchAll();
        }
        if (!verify_)
            Reset();
        *buf = std::move(memory);
        return filter;
    }

    Status MaybePostVerify(const Slice &filter) override
    {
        Status status;
        bloomline_view view;
        /* Without hashes the filter is one of no keys, or says "maybe" to all. */
        if (verify_ && !hashes_.empty() && !Open(filter, &view)) {
            status = Status::Corruption("A filter changed in memory");
        } else if (verify_ && !hashes_.empty()) {
            for (size_t i = 0; i < hashes_.size(); i++) {
                if (!bloomline_view_contains_hash(&view, hashes_.data()[i])) {
                    status = Status::Corruption("A key is missing from its filter");
                    break;
                }
            }
        }
        if (verify_)
            Reset();
        return status;
    }

    size_t ApproximateNumEntries(size_t bytes) override
    {
        if (bytes < kTrailer)
            return 0;
        if (rate_ > 0)
            return StaticEntries(bytes);
        size_t lines = bytes - kTrailer;
        lines = (lines < kMaxBytes ? lines : kMaxBytes) / kLine * kLine;
        return static_cast<size_t>(uint64_t{8000} * lines / Millibits(bits_per_key_));
    }

#if BLOOMLINE_ROCKSDB_SPACE
    size_t CalculateSpace(size_t num_entries) override
    {
        return num_entries > 0 && rate_ > 0 ? StaticSpace(num_entries) : Room(num_entries);
    }

    double EstimatedFpRate(size_t num_entries, size_t bytes) override
    {
        if (num_entries == 0 || bytes < kTrailer + kLine)
            return num_entries == 0 ? 0.0 : 1.0;
        /* The rate of a static filter is a power of 2, whatever its size. */
        if (rate_ > 0)
            return std::exp2(std::floor(std::log2(rate_)));
        return LineRate(static_cast<double>(num_entries) /
                            (static_cast<double>(bytes - kTrailer) / static_cast<double>(kLine)),
                        Probes());
    }
#endif

private:
    /* A static filter is probed by its view, which has bloomline's hash: no reader of its own, and it
     * opens outside RocksDB as any file does. Nothing is lost: readers share no hashes. */
    uint64_t Hash(const Slice &key) const
    {
        return rate_ > 0 ? bloomline_hash(key.data(), key.size(), 0) :
                           bloomline_engine_hash(BLOOMLINE_ENGINE_ROCKSDB, key.data(), key.size());
    }

    void Add(uint64_t hash)
    {
        hashes_.Push(hash);
        sum_ ^= hash;
        count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }

    uint64_t Sum() const
    {
        uint64_t sum = 0;
        for (size_t i = 0; i < hashes_.size(); i++)
            sum ^= hashes_.data()[i];
        return sum;
    }

    /* The number of probes of these bits per key: what the trailer of any filter says. */
    unsigned char Probes() const
    {
        const uint64_t hash = 0;
        unsigned char filter[16 * kLine + kTrailer];
        size_t len = 0;
        /* One key of at most 100 bits is in one line. */
        if (bloomline_engine_block_build(BLOOMLINE_ENGINE_ROCKSDB, &hash, 1, bits_per_key_, filter, sizeof filter, &len) !=
                BLOOMLINE_OK ||
            len < kTrailer)
            return 0;
        return filter[len - 3];
    }

    /* The most bytes that a filter of so many keys takes while it is built, and at least a trailer. */
    size_t Room(size_t keys) const
    {
        if (rate_ > 0)
            return bloomline_static_block_len(keys, rate_) + kTrailer;
        const size_t len = bloomline_engine_block_len(BLOOMLINE_ENGINE_ROCKSDB, keys, bits_per_key_);
        return len == 0 ? kTrailer : len;
    }

    /* What a static filter takes in the end, within some percent from 1,000 keys on: a footer, a line
     * of the last level, and what Room() adds for each key without its reserve of 15 %. */
    size_t StaticSpace(size_t keys) const
    {
        return 2 * kLine + kTrailer + (Room(keys) - Room(0)) / 23 * 20;
    }

    /* For how many keys that is at most 'bytes'. */
    size_t StaticEntries(size_t bytes) const
    {
        size_t low = 0, high = bytes < kMaxBytes ? 2 * bytes : 2 * kMaxBytes;
        while (low < high) {
            const size_t middle = high - (high - low) / 2;
            if (StaticSpace(middle) <= bytes)
                low = middle;
            else
                high = middle - 1;
        }
        return low;
    }

    bool BuildStatic(char *data, size_t room, size_t *written) const
    {
        if (bloomline_static_block_build(hashes_.data(), hashes_.size(), rate_, 0, 1, data, room - kTrailer,
                                         written) != BLOOMLINE_OK)
            return false;
        std::memset(data + *written, 0, kTrailer);
        data[*written] = kStaticMarker;
        *written += kTrailer;
        return true;
    }

    /* The filter, somewhere in 'memory'; empty if there is none to be had. */
    Slice Build(std::unique_ptr<const char[]> *memory)
    {
        const size_t len = Room(hashes_.size());
        /* It begins where a cache line does, so that no key's bits lie in two of them. What
         * new[] gives begins 16 bytes behind a page if it is large. */
        memory->reset(new (std::nothrow) char[len + kLine - 1]);
        if (*memory == nullptr)
            return Slice();
        char *data = const_cast<char *>(memory->get());
        data += -reinterpret_cast<uintptr_t>(data) % kLine;
        if (hashes_.empty()) {
            /* RocksDB before 9.6 does not ask for the filter of no keys, and makes a trailer
             * if it is asked. */
            data[0] = static_cast<char>(0xFF);
            data[1] = 0;
            data[2] = static_cast<char>(Probes());
            data[3] = data[4] = 0;
            return Slice(data, kTrailer);
        }
        size_t written = 0;
        if (rate_ > 0)
            return BuildStatic(data, len, &written) ? Slice(data, written) : Slice();
        if (bloomline_engine_block_build(BLOOMLINE_ENGINE_ROCKSDB, hashes_.data(), hashes_.size(), bits_per_key_, data, len,
                                          &written) != BLOOMLINE_OK)
            return Slice();
        return Slice(data, written);
    }

    void Reset()
    {
        hashes_.Reset();
        sum_ = 0;
#if BLOOMLINE_ROCKSDB_ADD_ALT
        any_alt_ = false;
#endif
        count_.store(0, std::memory_order_relaxed);
    }

    const double bits_per_key_;
    const double rate_;
    const bool verify_; /* detect_filter_construct_corruption */
    Hashes hashes_;
    uint64_t sum_ = 0;
#if BLOOMLINE_ROCKSDB_ADD_ALT
    uint64_t last_alt_ = 0;
    bool any_alt_ = false;
#endif
    std::atomic<size_t> count_{0};
};

/* The first byte of the trailer says which filter it is. */
unsigned char Marker(const Slice &filter)
{
    return filter.size() < kTrailer ? 0 : static_cast<unsigned char>(filter[filter.size() - kTrailer]);
}

bool IsLegacy(const Slice &filter)
{
    return Marker(filter) >= 1 && Marker(filter) <= 127;
}

/* RocksDB's keys lie in memory as bloomline's do, so that they need not be copied. */
static_assert(sizeof(Slice) == sizeof(bloomline_bytes) &&
                  offsetof(Slice, data_) == offsetof(bloomline_bytes, data) &&
                  offsetof(Slice, size_) == offsetof(bloomline_bytes, len),
              "bloomline: this RocksDB's Slice is not known");

class Reader final : public bloomline::BitsReader {
public:
    explicit Reader(const bloomline_view &view)
        : view_(view), contains_(bloomline_view_contains_fn(&view)), fewest_each_(bloomline_view_fewest_each(&view))
    {
    }

    bool MayMatch(const Slice &key) override
    {
        return contains_(&view_, key.data(), key.size());
    }

    void MayMatch(int num_keys, Slice **keys, bool *may_match) override
    {
        /* The keys of one file come together: where there are many files, few. One by one is the
         * shortest way, unless lines are far. */
        if (static_cast<size_t>(num_keys) < fewest_each_)
            for (int i = 0; i < num_keys; i++)
                may_match[i] = MayMatch(*keys[i]);
        else
            bloomline_view_contains_each(&view_, reinterpret_cast<bloomline_bytes **>(keys),
                                         static_cast<size_t>(num_keys), may_match);
    }

private:
    const bloomline_view view_;
    const bloomline_contains_fn contains_;
    const size_t fewest_each_; /* so many keys or more are asked for at once */
};

/* Whether RocksDB reads a filter that bloomline takes for one that matches all: one with
 * lines of a size that no RocksDB has written, but that could have been. */
bool HasOddLines(const Slice &filter)
{
    if (filter.size() <= kTrailer || !IsLegacy(filter))
        return false;
    const auto *trailer =
        reinterpret_cast<const unsigned char *>(filter.data()) + filter.size() - kTrailer;
    const uint64_t lines = uint64_t{trailer[1]} | uint64_t{trailer[2]} << 8 |
                           uint64_t{trailer[3]} << 16 | uint64_t{trailer[4]} << 24;
    const uint64_t bytes = filter.size() - kTrailer;
    return bytes != lines * 64 && bytes != lines * 128 && bytes != lines * 256;
}

/* The level of a file that is about to be written, as RocksDB's Ribbon policy counts: a flush comes
 * before level 0, and what has no level is the last. */
int LevelOf(const FilterBuildingContext &context)
{
    const bool levels = context.compaction_style == kCompactionStyleLevel ||
                        context.compaction_style == kCompactionStyleUniversal;
    if (levels && context.reason == TableFileCreationReason::kFlush)
        return -1;
    return levels && context.level_at_creation >= 0 ? context.level_at_creation : INT_MAX;
}

/* Either policy. They differ in what they build, and read the same. */
class Policy final : public FilterPolicy {
public:
    explicit Policy(const Wanted &wanted)
        : wanted_(wanted), builtin_(NewBloomFilterPolicy(wanted.bits_per_key))
    {
    }

    const char *Name() const override
    {
        return wanted_.rate > 0 ? "bloomline.StaticFilter" : "bloomline.BloomFilter";
    }
    /* What is written into OPTIONS files: there it is RocksDB's own policy, so that every
     * RocksDB can load them. */
    std::string GetId() const override
    {
        return builtin_->GetId();
    }
    const char *CompatibilityName() const override
    {
        return "rocksdb.BuiltinBloomFilter";
    }

    FilterBitsBuilder *GetBuilderWithContext(const FilterBuildingContext &context) const override
    {
        const BlockBasedTableOptions &options = context.table_options;
        const bool is_static = wanted_.rate > 0 && wanted_.bloom_before_level != INT_MAX &&
                               LevelOf(context) >= wanted_.bloom_before_level;
        /* Left to RocksDB: filters of old format versions; Bloom filters with sizes that depend on the
         * memory allocator; charging the block cache. And everything, if BLOOMLINE_BACKEND is wrong:
         * filters stay in their files when it has long been put right. */
        if (Millibits(wanted_.bits_per_key) == 0 || options.format_version < 5 ||
            (options.optimize_filters_for_memory && !is_static) || ChargesCache(options) ||
            std::strcmp(bloomline_backend(), "none") == 0)
            return builtin_->GetBuilderWithContext(context);
        /* Without a builder a table has no filter, and every key may be in it. */
        return bloomline::ToRocksDb(
            new (std::nothrow) Builder(wanted_.bits_per_key, is_static ? wanted_.rate : 0.0,
                                       options.detect_filter_construct_corruption));
    }

    FilterBitsReader *GetFilterBitsReader(const Slice &filter) const override
    {
        bloomline_view view;
        if (HasOddLines(filter) || !Open(filter, &view))
            return builtin_->GetFilterBitsReader(filter);
        /* Without a reader every key may be present. */
        return bloomline::ToRocksDb(new (std::nothrow) Reader(view));
    }

private:
    static bool ChargesCache(const BlockBasedTableOptions &options)
    {
#if BLOOMLINE_ROCKSDB_VERSION < 7003000
        return options.reserve_table_builder_memory;
#else
        const auto &usage = options.cache_usage_options;
        const auto found = usage.options_overrides.find(CacheEntryRole::kFilterConstruction);
        const auto charged = found == usage.options_overrides.end() ? usage.options.charged :
                                                                      found->second.charged;
        return charged == CacheEntryRoleOptions::Decision::kEnabled;
#endif
    }

    const Wanted wanted_;
    const std::unique_ptr<const FilterPolicy> builtin_;
};

/* Whether the RocksDB that runs is the one of the headers, up to the patch number. Another has other
 * classes than those compiled here: FilterPolicy and its bases, the options, the filter's own. */
bool SameRocksDb(const std::string &running)
{
    int major = 0, minor = 0, patch = 0;
    if (std::sscanf(running.c_str(), "%d.%d.%d", &major, &minor, &patch) != 3)
        return false;
    return major == ROCKSDB_MAJOR && minor == ROCKSDB_MINOR &&
           BLOOMLINE_ROCKSDB_ORDER(BLOOMLINE_ROCKSDB_NUMBER(major, minor, patch)) ==
               BLOOMLINE_ROCKSDB_ORDER(BLOOMLINE_ROCKSDB_VERSION);
}

/* Says once in a process why RocksDB's filters are used. Not through a Logger: RocksDB passes one to
 * the functions of a policy, and there is none of ours that it may call. */
void SayOtherRocksDb(const std::string &running)
{
    static std::atomic<bool> said{false};
    if (!said.exchange(true, std::memory_order_relaxed))
        std::fprintf(stderr,
                     "bloomline: compiled with the headers of RocksDB %d.%d.%d, but RocksDB %s runs: its "
                     "own Bloom filter policy is used instead\n",
                     ROCKSDB_MAJOR, ROCKSDB_MINOR, ROCKSDB_PATCH, running.c_str());
}

const FilterPolicy *PolicyFor(const Wanted &wanted)
{
    const std::string running = GetRocksVersionAsString();
    if (SameRocksDb(running))
        return new (std::nothrow) Policy(wanted);
    SayOtherRocksDb(running);
    return NewBloomFilterPolicy(wanted.bits_per_key);
}

/* A policy; nullptr if the system has not got the memory. RocksDB's part of it may throw. */
const FilterPolicy *NewPolicy(const Wanted &wanted)
{
#ifdef __cpp_exceptions
    try {
        return PolicyFor(wanted);
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
#else
    return PolicyFor(wanted);
#endif
}

/* RocksDB's C interface has a type of its own for policies, which begins with a FilterPolicy, and
 * calls nothing but that. */
rocksdb_filterpolicy_t *ToC(const FilterPolicy *policy)
{
    return reinterpret_cast<rocksdb_filterpolicy_t *>(const_cast<FilterPolicy *>(policy));
}

}  // namespace

rocksdb_filterpolicy_t *bloomline_rocksdb_filterpolicy(double bits_per_key)
{
    return ToC(NewPolicy(WantedBloom(bits_per_key)));
}

rocksdb_filterpolicy_t *bloomline_rocksdb_static_filterpolicy(double bits_per_key_or_rate,
                                                              int bloom_before_level)
{
    return ToC(NewPolicy(WantedStatic(bits_per_key_or_rate, bloom_before_level)));
}

std::shared_ptr<const ROCKSDB_NAMESPACE::FilterPolicy>
bloomline::NewRocksDbFilterPolicy(double bits_per_key)
{
    return std::shared_ptr<const FilterPolicy>(NewPolicy(WantedBloom(bits_per_key)));
}

std::shared_ptr<const ROCKSDB_NAMESPACE::FilterPolicy>
bloomline::NewStaticFilterPolicy(double bits_per_key_or_rate, int bloom_before_level)
{
    return std::shared_ptr<const FilterPolicy>(
        NewPolicy(WantedStatic(bits_per_key_or_rate, bloom_before_level)));
}
