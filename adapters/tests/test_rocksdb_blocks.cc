/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_rocksdb_blocks.cc - hashes and filter blocks against those of the RocksDB that is
 * linked: its hash function, its builder and its reader, on the same keys and bytes.
 */
#include "harness.hpp"
#include "rocksdb_filters.hpp"
#include "table.hpp"

#include <rocksdb/options.h>
#include <rocksdb/sst_file_writer.h>

#include <limits>

using namespace ROCKSDB_NAMESPACE;
using namespace filters;

namespace ROCKSDB_NAMESPACE {
/* Exported by the library, declared in none of its public headers. */
uint64_t Hash64(const char *data, size_t n);
}  // namespace ROCKSDB_NAMESPACE

namespace {

/* What RocksDB and we make of the same keys. Returns RocksDB's filter. */
std::string SameBlocks(double bits_per_key, const std::vector<std::string> &keys,
                       const BlockBasedTableOptions &options = Options5())
{
    auto [theirs, ours] = Both(bits_per_key);
    auto a = BuilderOf(*theirs, options), b = BuilderOf(*ours, options);
    CHECK((a == nullptr) == (b == nullptr));
    if (a == nullptr || b == nullptr)
        return {};
    for (const std::string &key : keys) {
        a->AddKey(key);
        b->AddKey(key);
    }
    CHECK_SAME(a->EstimateEntriesAdded(), b->EstimateEntriesAdded());
    for (size_t bytes : {1, 4, 5, 6, 68, 69, 70, 1000, 4096, 1000000})
        CHECK_SAME(a->ApproximateNumEntries(bytes), b->ApproximateNumEntries(bytes));
    std::string filter = Finish(*a);
    CHECK(filter == Finish(*b));
    CHECK_SAME(0, b->EstimateEntriesAdded());
    /* And again with what Finish() has left. */
    CHECK(Finish(*a) == Finish(*b));
    return filter;
}

void hashes()
{
    harness::Random random(3);
    for (size_t len = 0; len <= 5000; len++) {
        std::string key = random.Bytes(len);
        CHECK_SAME(Hash64(key.data(), len), bloomline_engine_hash(BLOOMLINE_ENGINE_ROCKSDB, key.data(), len));
    }
    for (int i = 0; i < 200000; i++) {
        std::string key = random.Bytes(random.Next() % 64);
        CHECK_SAME(Hash64(key.data(), key.size()), bloomline_engine_hash(BLOOMLINE_ENGINE_ROCKSDB, key.data(), key.size()));
    }
}

const double kBits[] = {-1,    0,     0.3,  0.49,   0.5,  0.7,  1,    1.5,  2,    2.08, 2.081, 3,
                        3.3,   3.581, 5,    5.1005, 6.64, 7.9,  8,    9.5,  9.9,  10,   10.499,
                        11.72, 12,    14,   14.001, 15.2, 16,   16.1, 18.3, 20,   22,   25.501,
                        25.6,  33.3,  49.9, 50,     50.1, 77.7, 99.9, 99.9999, 100, 1e9};

void same_bytes_by_bits_and_count()
{
    int combinations = 0;
    for (double bits : kBits)
        for (size_t n : {0, 1, 2, 3, 7, 51, 100, 1000, 20011}) {
            SameBlocks(bits, RandomKeys(n, n));
            combinations++;
        }
    SameBlocks(std::numeric_limits<double>::quiet_NaN(), RandomKeys(100, 4));
    SameBlocks(std::numeric_limits<double>::infinity(), RandomKeys(100, 4));
    std::printf("    %d combinations of bits per key and count\n", combinations + 2);
}

void same_bytes_of_a_million_keys()
{
    std::vector<std::string> keys = RandomKeys(1000000, 5);
    for (double bits : {1.0, 8.0, 9.9, 10.0, 16.0, 23.45})
        SameBlocks(bits, keys);
}

void same_bytes_by_key_length()
{
    harness::Random random(6);
    std::vector<std::string> all;
    for (size_t len = 0; len <= 5000; len++)
        all.push_back(random.Bytes(len));
    SameBlocks(10, all);
    for (size_t len : {0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 64, 65, 100, 128, 129, 240, 241,
                       255, 256, 1023, 1024, 1025, 2048, 4999, 5000}) {
        std::vector<std::string> keys;
        for (int i = 0; i < 500; i++)
            keys.push_back(random.Bytes(len));
        SameBlocks(9.9, keys);
    }
}

void neighbours_that_repeat_count_once()
{
    std::vector<std::string> keys;
    for (int i = 0; i < 3000; i++)
        keys.push_back("prefix" + std::to_string(i / 7 % 100));
    SameBlocks(10, keys);
    SameBlocks(3.7, std::vector<std::string>(1000, "one"));
}

void other_options_give_the_same_bytes()
{
    std::vector<std::string> keys = RandomKeys(5000, 7);
    BlockBasedTableOptions options = Options5();
    options.detect_filter_construct_corruption = true;
    for (double bits : kBits)
        SameBlocks(bits, keys, options);
}

/* What a view makes of a filter: it reads it, or it says that every key may be present,
 * because it makes no sense of it or is told that it is of a kind that is not read. */
enum class Viewed { kRead, kMaybe, kOther };

/* Both readers on the same bytes, with any alignment, one by one and in batches. Returns how many
 * keys may be present. */
uint64_t SameAnswers(const std::string &filter, const std::vector<std::string> &keys, Viewed viewed)
{
    auto [theirs, ours] = Both(10);
    std::string shifted = "?" + filter;
    Slice bytes(shifted.data() + 1, filter.size());
    auto a = filters::ReaderOf(*theirs, bytes);
    auto b = filters::ReaderOf(*ours, bytes);
    bloomline_view view;
    CHECK_SAME(viewed == Viewed::kOther ? BLOOMLINE_ERR_LAYOUT : BLOOMLINE_OK,
               bloomline_view_open_engine(BLOOMLINE_ENGINE_ROCKSDB, bytes.data(), bytes.size(), &view));
    std::vector<uint64_t> bitmap((keys.size() + 63) / 64);
    bloomline_view_contains_keys(&view, Bytes(keys).data(), keys.size(), bitmap.data());
    uint64_t yes = 0;
    for (size_t from = 0, n = 0; from < keys.size(); from += n) {
        n = std::min<size_t>(n % 32 + 1, keys.size() - from);
        std::vector<Slice> slices(keys.begin() + static_cast<std::ptrdiff_t>(from),
                                  keys.begin() + static_cast<std::ptrdiff_t>(from + n));
        Slice *pointers[32];
        bool match[32];
        for (size_t i = 0; i < n; i++)
            pointers[i] = &slices[i];
        b->MayMatch(static_cast<int>(n), pointers, match);
        for (size_t i = 0; i < n; i++) {
            bool want = a->MayMatch(slices[i]);
            CHECK_SAME(want, b->MayMatch(slices[i]));
            CHECK_SAME(want, match[i]);
            yes += want;
            bool of_view = want || viewed != Viewed::kRead;
            CHECK_SAME(of_view, bloomline_view_contains(&view, slices[i].data(), slices[i].size()));
            CHECK_SAME(of_view, bitmap[(from + i) / 64] >> (from + i) % 64 & 1);
        }
    }
    return yes;
}

void same_answers_on_good_filters()
{
    std::vector<std::string> keys = RandomKeys(20000, 8), probes = RandomKeys(100000, 9);
    probes.insert(probes.end(), keys.begin(), keys.end());
    for (double bits : {1.0, 5.0, 9.9, 16.0, 30.0, 100.0})
        for (uint32_t version : {4u, 5u}) {
            BlockBasedTableOptions options = Options5();
            options.format_version = version;
            CHECK(SameAnswers(SameBlocks(bits, keys, options), probes, Viewed::kRead) > 5000);
        }
    std::shared_ptr<const FilterPolicy> ribbon(NewRibbonFilterPolicy(10));
    auto builder = BuilderOf(*ribbon);
    for (const std::string &key : keys)
        builder->AddKey(key);
    uint64_t yes = SameAnswers(Finish(*builder), probes, Viewed::kOther);
    CHECK(yes > 5000 && yes < probes.size() / 2);
}

/* A row of the table of trailers: bytes of lines, the first byte of the trailer, the other
 * four, and what is made of it. */
enum Meaning {
    kProbed, /* by RocksDB and by us */
    kAll,    /* every key may be present */
    kNone,   /* no key is */
    kOdd,    /* probed by RocksDB; a view takes it for kAll */
    kNewer,  /* kAll, with the status of a kind that is not read */
    kRibbon, /* probed by RocksDB, and not read by a view */
};
struct Row {
    size_t bytes;
    unsigned char marker;
    uint32_t rest;
    Meaning meaning;
};

const Row kRows[] = {
    /* Legacy: lines of 64, 128, 256 bytes; 1, 30, and more probes than any version sets. */
    {64, 6, 1, kProbed}, {192, 6, 3, kProbed}, {384, 6, 3, kProbed}, {768, 6, 3, kProbed},
    {64, 1, 1, kProbed}, {64, 30, 1, kProbed}, {64, 31, 1, kProbed}, {64, 127, 1, kProbed},
    /* Lines that are a power of two that no version writes. */
    {32, 6, 1, kOdd}, {96, 6, 3, kOdd}, {1024, 6, 2, kOdd}, {3, 6, 3, kOdd},
    /* No probes; no lines; lines that do not fit, or of 65 and 97 bytes. */
    {64, 0, 1, kAll}, {64, 6, 0, kAll}, {4, 6, 3, kAll}, {291, 6, 3, kAll}, {195, 6, 3, kAll},
    {64, 6, 0xFFFFFFFF, kAll},
    /* No bytes but the trailer: no keys, whatever it says. */
    {0, 6, 0, kNone}, {0, 6, 37, kNone}, {0, 0, 0, kNone}, {0, 255, 6 << 8, kNone},
    {0, 254, 2 << 8, kNone}, {0, 128, 0, kNone},
    /* Markers that nothing has. */
    {64, 128, 1, kNewer}, {64, 129, 1, kNewer}, {64, 253, 1, kNewer}, {64, 200, 6 << 8, kNewer},
    /* Lines since format_version 5: k from 1 to 30. */
    {64, 255, 6 << 8, kProbed}, {64, 255, 1 << 8, kProbed}, {64, 255, 30 << 8, kProbed},
    {640, 255, 12 << 8, kProbed}, {64, 255, 0, kNewer}, {64, 255, 31 << 8, kNewer},
    /* Another kind of lines, lines of 128 bytes and more, a seed. */
    {64, 255, 6 << 8 | 1, kNewer}, {64, 255, 6 << 8 | 255, kNewer}, {64, 255, 33 << 8, kNewer},
    {64, 255, 66 << 8, kNewer}, {64, 255, 130 << 8, kNewer}, {64, 255, 230u << 8, kNewer},
    {64, 255, 6 << 8 | 1 << 16, kNewer}, {64, 255, 6 << 8 | 1 << 24, kNewer},
    /* Lines with something behind them. */
    {65, 255, 6 << 8, kProbed}, {127, 255, 6 << 8, kProbed}, {200, 255, 6 << 8, kProbed},
    /* Ribbon: blocks of a number that makes sense, and not. */
    {128, 254, 2 << 8 | 123, kRibbon}, {256, 254, 2 << 8 | 123, kRibbon}, {128, 254, 5000 << 8 | 123, kRibbon},
    {128, 254, 1 << 8 | 123, kNewer}, {128, 254, 123, kNewer},
};

std::string Filter(const Row &row, int fill)
{
    std::string filter;
    for (size_t i = 0; i < row.bytes; i++)
        filter += static_cast<char>(fill == 2 ? 0x7B7B >> i % 7 : fill == 1 ? 0xFF : 0);
    filter += static_cast<char>(row.marker);
    for (int shift = 0; shift < 32; shift += 8)
        filter += static_cast<char>(row.rest >> shift);
    return filter;
}

Viewed ViewOf(Meaning meaning)
{
    return meaning == kOdd                          ? Viewed::kMaybe :
           meaning == kNewer || meaning == kRibbon ? Viewed::kOther :
                                                      Viewed::kRead;
}

void trailers()
{
    std::vector<std::string> keys = RandomKeys(1000, 10);
    keys.push_back("hello");
    keys.push_back("world");
    for (const Row &row : kRows)
        for (int fill : {0, 1, 2}) {
            uint64_t yes = SameAnswers(Filter(row, fill), keys, ViewOf(row.meaning));
            bool probed = row.meaning == kProbed || row.meaning == kOdd;
            if (row.meaning == kAll || row.meaning == kNewer || (probed && fill == 1))
                CHECK_SAME(keys.size(), yes);
            if (row.meaning == kNone || (probed && fill == 0))
                CHECK_SAME(0, yes);
        }
    std::printf("    %zu rows, 3 contents each\n", std::size(kRows));
    /* Less than a trailer. */
    for (size_t len = 0; len <= 5; len++)
        CHECK_SAME(0, SameAnswers(std::string(len, '\xFF'), keys, Viewed::kRead));
}

void all_markers()
{
    std::vector<std::string> keys = RandomKeys(64, 11);
    for (int marker = 0; marker < 256; marker++)
        for (uint32_t rest : {0u, 1u, 2u, 3u, 6u, 12u, 6u << 8, 6u << 8 | 7, 1u << 31})
            for (size_t bytes : {64, 128, 192, 768, 769}) {
                if (marker == 254)
                    continue;
                size_t line = rest != 0 && bytes % rest == 0 ? bytes / rest : 0;
                bool of_rocksdb = line == 64 || line == 128 || line == 256;
                bool legacy = marker > 0 && marker < 128;
                /* A marker with 6 probes and nothing else is that of the present kind. */
                Meaning meaning = marker == 255 && rest == 6u << 8 ? kProbed :
                                  marker > 127                     ? kNewer :
                                  legacy && of_rocksdb             ? kProbed :
                                                                     kOdd;
                SameAnswers(Filter({bytes, static_cast<unsigned char>(marker), rest, meaning}, 2), keys,
                            ViewOf(meaning));
            }
}

/* More keys in one batch than RocksDB ever asks for. */
void large_batches()
{
    std::vector<std::string> keys = RandomKeys(1000, 12);
    std::string filter = SameBlocks(8, std::vector<std::string>(keys.begin(), keys.begin() + 500));
    auto ours = Both(8).second;
    auto reader = filters::ReaderOf(*ours, filter);
    std::vector<Slice> slices(keys.begin(), keys.end());
    std::vector<Slice *> pointers;
    for (Slice &slice : slices)
        pointers.push_back(&slice);
    for (int n = 0; n <= 1000; n++) {
        std::unique_ptr<bool[]> match(new bool[1001]());
        reader->MayMatch(n, pointers.data(), match.get());
        for (int i = 0; i < n; i++)
            CHECK_SAME(reader->MayMatch(slices[static_cast<size_t>(i)]), match[static_cast<size_t>(i)]);
    }
}

/* RocksDB reads 64 bytes where there are 1 to 63; it is not asked. */
void less_than_a_line_matches_all()
{
    auto ours = Both(10).second;
    for (size_t bytes = 1; bytes < 64; bytes++) {
        std::string filter = Filter({bytes, 255, 6 << 8, kAll}, 0);
        auto reader = filters::ReaderOf(*ours, filter);
        for (const std::string &key : RandomKeys(20, bytes))
            CHECK(reader->MayMatch(key));
    }
}

void filters_of_real_tables()
{
    harness::Directory directory;
    std::vector<std::string> keys = harness::Keys(), missing = harness::Missing(keys);
    harness::CheckKeys(keys);
    for (uint32_t version : {3u, 5u})
        for (bool ours : {false, true}) {
            BlockBasedTableOptions table_options = Options5();
            table_options.format_version = version;
            auto policies = Both(10);
            table_options.filter_policy = ours ? policies.second : policies.first;
            Options options;
            options.table_factory.reset(NewBlockBasedTableFactory(table_options));
            SstFileWriter writer(EnvOptions(), options);
            std::string path = directory / ("of" + std::to_string(version) + (ours ? "ours" : "theirs"));
            REQUIRE_OK(writer.Open(path));
            for (const std::string &key : keys)
                REQUIRE_OK(writer.Put(key, "value"));
            REQUIRE_OK(writer.Finish());

            std::optional<std::string> filter = table::RocksDbFilter(path);
            if (!CHECK(filter.has_value()))
                continue;
            CHECK(*filter == SameBlocks(10, keys, table_options));
            bloomline_view view;
            CHECK_SAME(BLOOMLINE_OK, bloomline_view_open_engine(BLOOMLINE_ENGINE_ROCKSDB, filter->data(), filter->size(), &view));
            uint64_t lost = 0, wrong = 0;
            for (const std::string &key : keys)
                lost += !bloomline_view_contains(&view, key.data(), key.size());
            for (const std::string &key : missing)
                wrong += bloomline_view_contains(&view, key.data(), key.size());
            CHECK_SAME(0, lost);
            double rate = static_cast<double>(wrong) / static_cast<double>(missing.size());
            std::printf("    format_version %u, %s: %zu bytes, %zu keys, %.2f %% false positives\n", version,
                        ours ? "ours" : "RocksDB's", filter->size(), keys.size(), 100 * rate);
            CHECK(rate < 0.02);
        }
}

}  // namespace

int main()
{
    harness::Begin("test_rocksdb_blocks");
    std::printf("  RocksDB %d.%d.%d\n", ROCKSDB_MAJOR, ROCKSDB_MINOR, ROCKSDB_PATCH);
    RUN(hashes);
    RUN(same_bytes_by_bits_and_count);
    RUN(same_bytes_of_a_million_keys);
    RUN(same_bytes_by_key_length);
    RUN(neighbours_that_repeat_count_once);
    RUN(other_options_give_the_same_bytes);
    RUN(same_answers_on_good_filters);
    RUN(trailers);
    RUN(all_markers);
    RUN(large_batches);
    RUN(less_than_a_line_matches_all);
    RUN(filters_of_real_tables);
    return harness::End();
}
