/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_rocksdb_static_db.cc - databases with static filters: read by both of our policies and by
 * RocksDB's own, taken from one to the other by compactions, beside Bloom and Ribbon filters, by level,
 * and in partitions. No key is lost, and the counters of RocksDB say what was filtered.
 */
#include "harness.hpp"
#include "table.hpp"

#include "../rocksdb/bloomline_rocksdb.h"

#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/statistics.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/options_util.h>

#include <functional>
#include <map>
#include <memory>

using namespace ROCKSDB_NAMESPACE;

namespace {

using Shared = std::shared_ptr<const FilterPolicy>;
using Change = std::function<void(Options &, BlockBasedTableOptions &)>;

constexpr size_t kKeys = 20000;
constexpr int kStatic = -75, kBloom = -1, kRibbon = -2;

std::string Key(size_t i)
{
    return "key" + std::to_string(i * 0x9E3779B97F4A7C15u);
}
std::string Other(size_t i)
{
    return Key(i) + "?";
}

Shared Plain()
{
    return Shared(NewBloomFilterPolicy(10));
}
Shared Ribbon()
{
    return Shared(NewRibbonFilterPolicy(10, -1));
}
Shared Ours()
{
    return bloomline::NewRocksDbFilterPolicy(10);
}
Shared Static(int before = -1)
{
    return bloomline::NewStaticFilterPolicy(10, before);
}

Options OptionsOf(const Shared &policy, const Change &change)
{
    BlockBasedTableOptions table;
    table.format_version = 5;
    table.optimize_filters_for_memory = false;
    table.filter_policy = policy;
    Options options;
    options.create_if_missing = true;
    options.disable_auto_compactions = true;
    options.statistics = CreateDBStatistics();
    options.write_buffer_size = 256 << 20;
    options.compression = kNoCompression;
    if (change)
        change(options, table);
    options.table_factory.reset(NewBlockBasedTableFactory(table));
    return options;
}

std::unique_ptr<DB> OpenDb(const Options &options, const std::string &path)
{
    DB *db = nullptr;
    REQUIRE_OK(DB::Open(options, path, &db));
    return std::unique_ptr<DB>(db);
}

/* Every `step`th key from `first` on, in one table. */
void Write(const Shared &policy, const std::string &path, size_t first = 0, size_t step = 1, const Change &change = {})
{
    auto db = OpenDb(OptionsOf(policy, change), path);
    WriteOptions write;
    write.disableWAL = true;
    for (size_t i = first; i < kKeys; i += step)
        REQUIRE_OK(db->Put(write, Key(i), Key(i)));
    REQUIRE_OK(db->Flush(FlushOptions()));
}

void Compact(const Shared &policy, const std::string &path, const Change &change = {})
{
    auto db = OpenDb(OptionsOf(policy, change), path);
    CompactRangeOptions compact;
    compact.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    REQUIRE_OK(db->CompactRange(compact, nullptr, nullptr));
}

/* Reads all keys and as many others, and returns how many look-ups into tables the filters saved. */
uint64_t Read(const Shared &policy, const std::string &path, const Change &change = {})
{
    Options options = OptionsOf(policy, change);
    auto db = OpenDb(options, path);
    size_t lost = 0, found = 0;
    std::string value;
    for (size_t i = 0; i < kKeys; i++) {
        lost += !db->Get(ReadOptions(), Key(i), &value).ok() || value != Key(i);
        found += db->Get(ReadOptions(), Other(i), &value).ok();
    }
    for (bool present : {true, false})
        for (size_t from = 0; from < kKeys; from += 32) {
            std::vector<std::string> keys, values;
            for (size_t i = from; i < from + 32 && i < kKeys; i++)
                keys.push_back(present ? Key(i) : Other(i));
            const std::vector<Slice> slices(keys.begin(), keys.end());
            for (const Status &status : db->MultiGet(ReadOptions(), slices, &values))
                (present ? lost : found) += status.ok() != present;
        }
    if (options.prefix_extractor != nullptr) {
        ReadOptions read;
        read.prefix_same_as_start = true;
        std::unique_ptr<Iterator> iterator(db->NewIterator(read));
        for (size_t i = 0; i < kKeys; i += 4) {
            iterator->Seek(Key(i));
            lost += !iterator->Valid() || iterator->key() != Key(i);
        }
    }
    CHECK_SAME(0, lost);
    CHECK_SAME(0, found);
    return options.statistics->getTickerCount(BLOOM_FILTER_USEFUL);
}

/* How many tables have a filter of each marker. */
std::map<int, size_t> Markers(const std::string &path)
{
    std::map<int, size_t> markers;
    for (const auto &file : std::filesystem::directory_iterator(path))
        if (file.path().extension() == ".sst") {
            const auto filter = table::RocksDbFilter(file.path().string());
            if (CHECK(filter.has_value() && filter->size() > 5))
                markers[static_cast<signed char>((*filter)[filter->size() - 5])]++;
        }
    return markers;
}

using Counts = std::map<int, size_t>;

/* All of the missing keys but those that the rate lets through, by Get and by MultiGet. */
bool Filters(uint64_t useful)
{
    return useful > 2 * kKeys * 98 / 100;
}

void to_rocksdb_and_back()
{
    harness::Directory directory;
    const std::string path = directory / "db";
    Write(Static(), path);
    CHECK(Markers(path) == (Counts{{kStatic, 1}}));
    const uint64_t useful = Read(Static(), path);
    std::printf("    %" PRIu64 " of %zu filtered\n", useful, 2 * kKeys);
    CHECK(Filters(useful));
    CHECK_SAME(useful, Read(Ours(), path));
    /* Unfiltered, but for keys out of the table's range: all are found. */
    CHECK_SAME(0, Read(Plain(), path));
    CHECK_SAME(0, Read(Ribbon(), path));

    Compact(Plain(), path);
    CHECK(Markers(path) == (Counts{{kBloom, 1}}));
    CHECK(Filters(Read(Plain(), path)));
    CHECK(Filters(Read(Static(), path)));

    Compact(Static(), path);
    CHECK(Markers(path) == (Counts{{kStatic, 1}}));
    CHECK(Filters(Read(Ours(), path)));
}

void all_kinds_in_one_database()
{
    harness::Directory directory;
    const std::string path = directory / "db";
    const Change old = [](Options &, BlockBasedTableOptions &table) { table.format_version = 4; };
    Write(Plain(), path, 0, 5);
    Write(Ribbon(), path, 1, 5);
    Write(Static(), path, 2, 5);
    Write(Plain(), path, 3, 5, old);
    Write(Ours(), path, 4, 5);
    CHECK(Markers(path) == (Counts{{kBloom, 2}, {kRibbon, 1}, {kStatic, 1}, {6, 1}}));
    const uint64_t useful = Read(Static(), path), theirs = Read(Plain(), path);
    std::printf("    useful: %" PRIu64 ", with RocksDB's policy %" PRIu64 "\n", useful, theirs);
    CHECK_SAME(useful, Read(Ours(), path));
    CHECK_SAME(theirs, Read(Ribbon(), path));
    /* One table in five is not filtered. */
    CHECK(theirs < useful * 82 / 100 && theirs > useful * 78 / 100);
}

void by_level()
{
    harness::Directory directory;
    const std::string path = directory / "db";
    /* By default flushes are Bloom filters, and compactions not. */
    const Shared policy = bloomline::NewStaticFilterPolicy(10);
    Write(policy, path, 0, 2);
    Write(policy, path, 1, 2);
    CHECK(Markers(path) == (Counts{{kBloom, 2}}));
    Compact(policy, path);
    CHECK(Markers(path) == (Counts{{kStatic, 1}}));
    CHECK(Filters(Read(policy, path)));
    /* What is compacted goes to level 1 here. */
    Compact(Static(2), path);
    CHECK(Markers(path) == (Counts{{kBloom, 1}}));
    Compact(Static(1), path);
    CHECK(Markers(path) == (Counts{{kStatic, 1}}));
    CHECK(Filters(Read(policy, path)));
}

void partitions()
{
    for (bool prefixes : {false, true}) {
        const Change change = [&](Options &options, BlockBasedTableOptions &table) {
            if (prefixes)
                options.prefix_extractor.reset(NewCappedPrefixTransform(12));
            table.index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
            table.partition_filters = true;
            table.metadata_block_size = 512;
            table.cache_index_and_filter_blocks = true;
        };
        harness::Directory directory;
        const std::string path = directory / "db";
        Write(Static(), path, 0, 1, change);
        size_t least = SIZE_MAX;
        for (const auto &file : std::filesystem::directory_iterator(path))
            if (file.path().extension() == ".sst")
                least = std::min(least, table::RocksDbUpToFilters(file.path().string())->partitions);
        std::printf("    %zu partitions\n", least);
        CHECK(least > 10 && least != SIZE_MAX);
        const uint64_t useful = Read(Static(), path, change);
        CHECK(Filters(useful));
        CHECK_SAME(useful, Read(Ours(), path, change));
        CHECK_SAME(0, Read(Plain(), path, change));
        Compact(Plain(), path, change);
        CHECK(Filters(Read(Static(), path, change)));
    }
}

/* OPTIONS files name RocksDB's own policy, so that they load everywhere. */
void options_files()
{
    harness::Directory directory;
    const std::string path = directory / "db";
    Write(Static(), path);
    DBOptions db_options;
    std::vector<ColumnFamilyDescriptor> families;
    REQUIRE_OK(LoadLatestOptions(ConfigOptions(), path, &db_options, &families));
    const auto *table = families[0].options.table_factory->GetOptions<BlockBasedTableOptions>();
    CHECK(table != nullptr && table->filter_policy != nullptr);
    CHECK(table->filter_policy->GetId() == Plain()->GetId());
    CHECK_SAME(0, Read(table->filter_policy, path));
}

}  // namespace

int main()
{
    harness::Begin("test_rocksdb_static_db");
    RUN(to_rocksdb_and_back);
    RUN(all_kinds_in_one_database);
    RUN(by_level);
    RUN(partitions);
    RUN(options_files);
    return harness::End();
}
