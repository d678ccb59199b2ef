/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_rocksdb_static_blocks.cc - blocks of static filters: what our policies read in them, valid and
 * damaged, and that the reader of the RocksDB that is linked says "maybe" to all of them. Uses Linux and
 * glibc.
 */
#include "harness.hpp"
#include "rocksdb_filters.hpp"

#include <climits>
#include <cmath>
#include <fstream>
#include <limits>

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

using namespace ROCKSDB_NAMESPACE;
using namespace filters;

namespace {

constexpr size_t kTrailer = 5;
constexpr int kMarker = -75;

using Keys = std::vector<std::string>;
using Shared = std::shared_ptr<const FilterPolicy>;

/* Static filters at all levels. */
Shared Static(double bits_per_key_or_rate)
{
    return bloomline::NewStaticFilterPolicy(bits_per_key_or_rate, -1);
}

std::string Build(const FilterPolicy &policy, const Keys &keys, const BlockBasedTableOptions &options = Options5())
{
    auto builder = BuilderOf(policy, options);
    CHECK(builder != nullptr);
    for (const std::string &key : keys)
        builder->AddKey(key);
    CHECK_SAME(keys.size(), builder->EstimateEntriesAdded());
    std::string filter = Finish(*builder);
    CHECK_SAME(0, builder->EstimateEntriesAdded());
    return filter;
}

int MarkerOf(const std::string &filter)
{
    return filter.size() <= kTrailer ? 0 : static_cast<signed char>(filter[filter.size() - kTrailer]);
}

/* How many of the keys may be present, one by one and in batches of all sizes, which must agree. */
size_t Matches(const FilterPolicy &policy, const Slice &filter, const Keys &keys)
{
    auto reader = filters::ReaderOf(policy, filter);
    CHECK(reader != nullptr);
    size_t yes = 0, differ = 0;
    for (size_t from = 0, n = 0; from < keys.size(); from += n) {
        n = std::min<size_t>(n % 32 + 1, keys.size() - from);
        std::vector<Slice> slices(keys.begin() + static_cast<std::ptrdiff_t>(from),
                                  keys.begin() + static_cast<std::ptrdiff_t>(from + n));
        Slice *pointers[32];
        bool match[32];
        for (size_t i = 0; i < n; i++)
            pointers[i] = &slices[i];
        reader->MayMatch(static_cast<int>(n), pointers, match);
        for (size_t i = 0; i < n; i++) {
            const bool one = reader->MayMatch(slices[i]);
            yes += one;
            differ += one != match[i];
        }
    }
    CHECK_SAME(0, differ);
    return yes;
}

Keys Some(const char *prefix, size_t n)
{
    Keys keys;
    for (size_t i = 0; i < n; i++)
        keys.push_back(prefix + std::to_string(i));
    return keys;
}

double RateOf(const FilterPolicy &policy, const std::string &filter, const Keys &others)
{
    return static_cast<double>(Matches(policy, filter, others)) / static_cast<double>(others.size());
}

/* All keys, by the readers of both policies, whatever number of keys and rate. */
void all_keys_match()
{
    const Shared plain(NewBloomFilterPolicy(10)), ours = bloomline::NewRocksDbFilterPolicy(10);
    for (double wanted : {1.0, 3.0, 9.9, 10.0, 14.0, 20.0, 100.0, 0.9, 0.05, 0.01, 1.0 / 128, 1e-3, 1e-9})
        for (size_t n : {1, 2, 3, 10, 51, 100, 1000, 20011}) {
            const Keys keys = Some("key", n);
            const std::string filter = Build(*Static(wanted), keys);
            CHECK_SAME(static_cast<uint64_t>(kMarker), static_cast<uint64_t>(MarkerOf(filter)));
            for (const Shared &policy : {plain, ours, Static(0.3), Static(wanted)})
                CHECK_SAME(n, Matches(*policy, filter, keys));
            CHECK_SAME(2000, Matches(*plain, filter, Some("other", 2000)));
            /* The block is a file of bloomline's and a trailer. */
            bloomline_view view;
            CHECK_SAME(BLOOMLINE_OK, bloomline_view_open(filter.data(), filter.size() - kTrailer, 0, &view));
            CHECK_SAME(n, bloomline_view_key_count(&view));
        }
}

/* Bits per key are those of RocksDB's Bloom filter of at least this rate, which takes more memory. */
void rates()
{
    const Keys keys = Some("key", 100000), others = Some("other", 400000);
    const Shared ours = bloomline::NewRocksDbFilterPolicy(10);
    for (double bits : {5.0, 8.0, 9.9, 10.0, 12.0, 16.0, 20.0}) {
        const Shared plain(NewBloomFilterPolicy(bits));
        const std::string theirs = Build(*plain, keys), filter = Build(*Static(bits), keys);
        const double want = RateOf(*plain, theirs, others), rate = RateOf(*ours, filter, others);
        std::printf("    %.1f bits: Bloom %.4f %%, %zu bytes; static %.4f %%, %zu bytes\n", bits, 100 * want,
                    theirs.size(), 100 * rate, filter.size());
        CHECK(rate <= want + 4 * std::sqrt(want / static_cast<double>(others.size())));
        /* The rate is the next lower power of 2, which is nearer at some bits than at others. */
        CHECK(filter.size() < theirs.size() * 87 / 100);
    }
    for (double want : {0.0625, 0.02, 0.01, 1.0 / 128, 0.001, 1.0 / 4096}) {
        const std::string filter = Build(*Static(want), keys);
        const double rate = RateOf(*ours, filter, others);
        const double noise = 4 * std::sqrt(want / static_cast<double>(others.size()));
        std::printf("    rate %.4f %%: %.4f %%, %.2f bits per key\n", 100 * want, 100 * rate,
                    8.0 * static_cast<double>(filter.size()) / static_cast<double>(keys.size()));
        CHECK(rate <= want + noise && rate >= want / 2 - noise);
    }
    /* No higher rate than the highest. */
    CHECK(Build(*Static(0.9), keys) == Build(*Static(1.0 / 16), keys));
    CHECK(Build(*Static(1.0), keys) == Build(*Static(1.0 / 16), keys));
    CHECK(Build(*Static(1e-9), keys) == Build(*Static(1.0 / 65536), keys));
    CHECK(Build(*Static(100), keys) == Build(*Static(1.0 / 65536), keys));
}

void no_bits_are_no_filter()
{
    for (double bits : {0.0, -1.0, -std::numeric_limits<double>::infinity()})
        CHECK(BuilderOf(*Static(bits)) == nullptr);
    for (double bits : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
        CHECK(Build(*Static(bits), Some("key", 3000)) == Build(*Static(100), Some("key", 3000)));
}

void repeated_keys_and_no_keys()
{
    auto builder = BuilderOf(*Static(10));
    for (int i = 0; i < 1000; i++)
        builder->AddKey("one");
    CHECK_SAME(1, builder->EstimateEntriesAdded());
    CHECK_SAME(2, Matches(*Static(10), Finish(*builder), {"one", "one"}));
    /* What is left by Finish() is the filter of no keys, as RocksDB has it. */
    CHECK_SAME(Finish(*BuilderOf(*Shared(NewBloomFilterPolicy(10)))).size(), Finish(*builder).size());
}

void other_options()
{
    const Keys keys = Some("key", 5000);
    BlockBasedTableOptions options = Options5();
    options.detect_filter_construct_corruption = true;
    CHECK(Build(*Static(10), keys, options) == Build(*Static(10), keys));
    options = Options5();
    options.optimize_filters_for_memory = true;
    CHECK(Build(*Static(10), keys, options) == Build(*Static(10), keys));
    /* Filters of old tables are RocksDB's. */
    options = Options5();
    options.format_version = 4;
    CHECK(Build(*Static(10), keys, options) == Build(*Shared(NewBloomFilterPolicy(10)), keys, options));
}

/* A filter that changed between being built and being written is not written. */
void changed_filters_are_found()
{
    BlockBasedTableOptions options = Options5();
    options.detect_filter_construct_corruption = true;
    const Keys keys = Some("key", 1000);
    for (size_t at : {SIZE_MAX, size_t{0}, size_t{100}, size_t{500}}) {
        auto builder = BuilderOf(*Static(10), options);
        for (const std::string &key : keys)
            builder->AddKey(key);
        std::unique_ptr<const char[]> memory;
        const Slice filter = builder->Finish(&memory);
        CHECK(filter.size() > 600);
        if (at != SIZE_MAX)
            const_cast<char *>(filter.data())[at] ^= 1;
        const Status status = builder->MaybePostVerify(filter);
        CHECK(at == SIZE_MAX ? status.ok() : status.IsCorruption());
    }
    /* Of no keys. */
    auto builder = BuilderOf(*Static(10), options);
    std::unique_ptr<const char[]> memory;
    CHECK(builder->MaybePostVerify(builder->Finish(&memory)).ok());
}

/* How many keys a partition takes: its size comes out as asked, nearly. */
void approximate_entries()
{
    for (double wanted : {5.0, 10.0, 16.0, 0.001}) {
        const auto builder = BuilderOf(*Static(wanted));
        for (size_t bytes : {0, 1, 5, 64, 127})
            CHECK_SAME(0, builder->ApproximateNumEntries(bytes));
        size_t last = 0;
        for (size_t bytes : {200, 1000, 4096, 16384, 65536, 1000000}) {
            const size_t n = builder->ApproximateNumEntries(bytes);
            const std::string filter = Build(*Static(wanted), Some("key", n));
            CHECK(n > last);
            if (bytes >= 4096)
                CHECK(filter.size() > bytes * 90 / 100 && filter.size() < bytes * 105 / 100);
            last = n;
        }
        CHECK(builder->ApproximateNumEntries(SIZE_MAX) > size_t{1} << 30);
    }
}

/* RocksDB's own reader, and ours for the markers that nothing has. */
void all_markers()
{
    const Shared plain(NewBloomFilterPolicy(10)), ours = bloomline::NewRocksDbFilterPolicy(10);
    const Keys keys = Some("key", 500), others = Some("other", 500);
    for (double wanted : {5.0, 10.0, 16.0}) {
        std::string filter = Build(*Static(wanted), keys);
        for (int marker = -128; marker <= -3; marker++) {
            filter[filter.size() - kTrailer] = static_cast<char>(marker);
            CHECK_SAME(keys.size(), Matches(*plain, filter, keys));
            CHECK_SAME(others.size(), Matches(*plain, filter, others));
            CHECK_SAME(keys.size(), Matches(*ours, filter, keys));
            CHECK((Matches(*ours, filter, others) < others.size()) == (marker == kMarker));
        }
    }
}

/* Every byte, each in several ways, one at a time. Only the marker makes another filter of it. */
void damaged_blocks()
{
    const Shared plain(NewBloomFilterPolicy(10)), ours = bloomline::NewRocksDbFilterPolicy(10);
    const Keys keys = Some("key", 300), others = Some("other", 40);
    size_t damaged = 0;
    for (double wanted : {10.0, 0.001}) {
        const std::string filter = Build(*Static(wanted), keys);
        for (size_t at = 0; at < filter.size(); at++)
            for (int flip : {1, 0x80, 0xFF}) {
                std::string bad = filter;
                bad[at] = static_cast<char>(bad[at] ^ flip);
                const int marker = MarkerOf(bad);
                if (marker >= -2)
                    continue;
                CHECK_SAME(keys.size(), Matches(*plain, bad, keys));
                CHECK_SAME(others.size(), Matches(*plain, bad, others));
                CHECK_SAME(keys.size(), Matches(*ours, bad, keys));
                CHECK_SAME(others.size(), Matches(*ours, bad, others));
                damaged++;
            }
    }
    std::printf("    %zu blocks\n", damaged);
}

/* Cut at the front, and cut with the trailer put behind: all "maybe". Cut at the end the trailer is
 * gone, and RocksDB's rules say what the bytes in its place are: ours must say the same. */
void truncated_blocks()
{
    const Shared plain(NewBloomFilterPolicy(10)), ours = bloomline::NewRocksDbFilterPolicy(10);
    const Keys keys = Some("key", 300), others = Some("other", 20);
    size_t ended = 0, denied = 0;
    for (double wanted : {10.0, 0.001}) {
        const std::string filter = Build(*Static(wanted), keys);
        const std::string trailer = filter.substr(filter.size() - kTrailer);
        for (size_t cut = 1; filter.size() - cut > kTrailer; cut++) {
            for (const std::string &bad :
                 {filter.substr(cut), filter.substr(0, filter.size() - kTrailer - cut) + trailer})
                for (const Shared &policy : {plain, ours}) {
                    CHECK_SAME(keys.size(), Matches(*policy, bad, keys));
                    CHECK_SAME(others.size(), Matches(*policy, bad, others));
                }
            const std::string bad = filter.substr(0, filter.size() - cut);
            const size_t found = Matches(*plain, bad, keys);
            CHECK_SAME(found, Matches(*ours, bad, keys));
            if (MarkerOf(bad) <= -3)
                CHECK_SAME(keys.size(), found);
            /* As long as most of the footer is there, nothing looks like another filter. */
            if (cut < 64)
                CHECK_SAME(keys.size(), found);
            ended++;
            denied += found < keys.size();
        }
    }
    std::printf("    cut at the end: %zu of %zu look like another filter\n", denied, ended);
}

/* Valid bytes of bloomline in the wrong place. */
void other_contents()
{
    const Shared plain(NewBloomFilterPolicy(10)), ours = bloomline::NewRocksDbFilterPolicy(10);
    const Keys keys = Some("key", 300);
    const std::string filter = Build(*Static(10), keys);
    std::string trailer(kTrailer, '\0');
    trailer[0] = static_cast<char>(kMarker);
    bloomline_params params;
    CHECK_SAME(BLOOMLINE_OK, bloomline_params_for_rate(1000, 0.01, &params));
    std::string block(bloomline_block_len(&params), '\0');
    CHECK_SAME(BLOOMLINE_OK, bloomline_block_build(&params, nullptr, 0, block.data(), block.size()));
    for (const std::string &bad : {block + trailer, filter + trailer, "x" + filter, std::string(1, '\0') + trailer,
                                   std::string(4096, '\0') + trailer, std::string(4096, '\xFF') + trailer})
        for (const Shared &policy : {plain, ours, Static(10)})
            CHECK_SAME(keys.size(), Matches(*policy, bad, keys));
    /* Without anything before the trailer there are no keys, whatever the marker. */
    CHECK_SAME(0, Matches(*plain, trailer, keys));
    CHECK_SAME(0, Matches(*ours, trailer, keys));
}

/* Blocks start anywhere in memory. */
void any_alignment()
{
    const Keys keys = Some("key", 3000), others = Some("other", 3000);
    for (double wanted : {10.0, 16.0}) {
        const std::string filter = Build(*Static(wanted), keys);
        const size_t want = Matches(*Static(wanted), filter, others);
        for (size_t shift = 0; shift < 128; shift += 7) {
            const std::string moved = std::string(shift, '?') + filter;
            const Slice block(moved.data() + shift, filter.size());
            CHECK_SAME(keys.size(), Matches(*Static(wanted), block, keys));
            CHECK_SAME(want, Matches(*Static(wanted), block, others));
        }
    }
}

/* Where RocksDB's Ribbon policy makes a Bloom filter, and nowhere else. */
void bloom_before_level()
{
    const Keys keys = Some("key", 4000);
    const BlockBasedTableOptions options = Options5();
    size_t blooms = 0, statics = 0;
    for (int before : {-1, 0, 1, 2, 6})
        for (CompactionStyle style :
             {kCompactionStyleLevel, kCompactionStyleUniversal, kCompactionStyleFIFO, kCompactionStyleNone})
            for (TableFileCreationReason reason :
                 {TableFileCreationReason::kFlush, TableFileCreationReason::kCompaction,
                  TableFileCreationReason::kRecovery, TableFileCreationReason::kMisc})
                for (int level = -1; level < 7; level++) {
                    const bool flush = reason == TableFileCreationReason::kFlush;
                    if (flush != (level == 0) && (flush || reason != TableFileCreationReason::kCompaction))
                        continue;
                    FilterBuildingContext context(options);
                    context.compaction_style = style;
                    context.reason = reason;
                    context.level_at_creation = level;
                    std::string made[2];
                    const Shared policies[2] = {Shared(NewRibbonFilterPolicy(10, before)),
                                                bloomline::NewStaticFilterPolicy(10, before)};
                    for (int ours = 0; ours < 2; ours++) {
                        std::unique_ptr<BitsBuilder> builder(
                            bloomline::FromRocksDb(policies[ours]->GetBuilderWithContext(context)));
                        for (const std::string &key : keys)
                            builder->AddKey(key);
                        made[ours] = Finish(*builder);
                    }
                    if (MarkerOf(made[0]) == -1) {
                        CHECK(made[0] == made[1]);
                        blooms++;
                    } else {
                        CHECK(MarkerOf(made[0]) == -2 && MarkerOf(made[1]) == kMarker);
                        statics++;
                    }
                }
    std::printf("    %zu Bloom filters, %zu static ones\n", blooms, statics);
    CHECK(blooms > 10 && statics > 10);
    /* The Bloom filter of a rate has about that rate. */
    const Keys others = Some("other", 100000);
    const std::string bloom = Build(*bloomline::NewStaticFilterPolicy(0.01, INT_MAX), keys);
    const double rate = RateOf(*Shared(NewBloomFilterPolicy(10)), bloom, others);
    CHECK(MarkerOf(bloom) == -1 && rate > 0.007 && rate < 0.012);
}

/* Finish() with ever more memory: first a filter that matches all, and in the end one of all keys. To
 * run before other tests leave memory behind, which is taken first. */
void out_of_memory()
{
#ifdef __SANITIZE_ADDRESS__
    std::printf("    not with a sanitizer, which has no memory to spare\n");
    CHECK(true);
#else
    /* Large memory comes from the system and goes back to it, where the limit counts it. */
    mallopt(M_MMAP_THRESHOLD, 1 << 16);
    const Keys keys = Some("key", 300000);
    rlimit before;
    CHECK(getrlimit(RLIMIT_AS, &before) == 0);
    size_t all = 0, built = 0;
    for (size_t more = 0; more < size_t{12} << 20; more += size_t{1} << 18) {
        auto builder = BuilderOf(*Static(10));
        for (const std::string &key : keys)
            builder->AddKey(key);
        size_t pages = 0;
        std::ifstream("/proc/self/statm") >> pages;
        rlimit limit = before;
        limit.rlim_cur = pages * static_cast<size_t>(sysconf(_SC_PAGESIZE)) + more;
        CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
        std::unique_ptr<const char[]> memory;
        Status status;
        const Slice filter = builder->Finish(&memory, &status);
        CHECK(setrlimit(RLIMIT_AS, &before) == 0);
        CHECK(status.ok());
        CHECK_SAME(keys.size(), Matches(*Static(10), filter, keys));
        CHECK(filter.size() == 6 || MarkerOf(filter.ToString()) == kMarker);
        (filter.size() == 6 ? all : built)++;
    }
    std::printf("    %zu match all, %zu are static\n", all, built);
    CHECK(all > 0 && built > 0);
#endif
}

void names()
{
    for (double wanted : {10.0, 9.9, 0.01}) {
        const Shared policy = Static(wanted);
        const Shared bloom(NewBloomFilterPolicy(wanted == 10.0 ? 10 : 9.9));
        CHECK(std::string(policy->Name()) == "bloomline.StaticFilter");
        CHECK(std::string(policy->CompatibilityName()) == bloom->CompatibilityName());
        std::printf("    %g: %s\n", wanted, policy->GetId().c_str());
        CHECK(policy->GetId() == bloom->GetId());
    }
    std::unique_ptr<FilterPolicy> of_c(
        reinterpret_cast<FilterPolicy *>(bloomline_rocksdb_static_filterpolicy(10, -1)));
    const Keys keys = Some("key", 2000);
    CHECK(Build(*of_c, keys) == Build(*Static(10), keys));
}

}  // namespace

int main()
{
    harness::Begin("test_rocksdb_static_blocks");
    RUN(out_of_memory);
    RUN(all_keys_match);
    RUN(rates);
    RUN(no_bits_are_no_filter);
    RUN(repeated_keys_and_no_keys);
    RUN(other_options);
    RUN(changed_filters_are_found);
    RUN(approximate_entries);
    RUN(all_markers);
    RUN(damaged_blocks);
    RUN(truncated_blocks);
    RUN(other_contents);
    RUN(any_alignment);
    RUN(bloom_before_level);
    RUN(names);
    return harness::End();
}
