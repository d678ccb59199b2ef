/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_rocksdb_db.cc - databases written with RocksDB's policy and read with ours, and the
 * reverse: no key is lost, the tables have the same filters, and the counters of RocksDB say
 * that both have filtered the same. Whole keys, prefixes, partitioned filters, MultiGet.
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
#include <rocksdb/version.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>

using namespace ROCKSDB_NAMESPACE;

namespace {

std::vector<std::string> keys, missing;

enum class Who { kRocksDb, kBloomline, kRibbon };

struct Config {
    const char *name;
    std::function<void(Options &, BlockBasedTableOptions &)> set;
};

Options OptionsOf(const Config &config, Who who)
{
    BlockBasedTableOptions table;
    table.format_version = 5;
    table.optimize_filters_for_memory = false;
    table.filter_policy = who == Who::kBloomline ? bloomline::NewRocksDbFilterPolicy(9.9) :
                          who == Who::kRibbon    ? std::shared_ptr<const FilterPolicy>(NewRibbonFilterPolicy(9.9, -1)) :
                                                   std::shared_ptr<const FilterPolicy>(NewBloomFilterPolicy(9.9));
    Options options;
    options.create_if_missing = true;
    options.disable_auto_compactions = true;
    options.statistics = CreateDBStatistics();
    options.write_buffer_size = 256 << 20;
    config.set(options, table);
    options.table_factory.reset(NewBlockBasedTableFactory(table));
    return options;
}

void Write(const Config &config, Who who, const std::string &path)
{
    DB *opened = nullptr;
    REQUIRE_OK(DB::Open(OptionsOf(config, who), path, &opened));
    std::unique_ptr<DB> db(opened);
    WriteOptions write;
    write.disableWAL = true;
    /* In two halves that overlap, so that files are asked one after the other; and flushed
     * here, since RocksDB does it a little earlier or later each time. */
    size_t written = 0;
    for (size_t half : {0, 1})
        for (size_t i = half; i < keys.size(); i += 2) {
            REQUIRE_OK(db->Put(write, keys[i], keys[i]));
            if (++written % 40000 == 0)
                REQUIRE_OK(db->Flush(FlushOptions()));
        }
    REQUIRE_OK(db->Flush(FlushOptions()));
}

const std::pair<const char *, Tickers> kTickers[] = {
    {"useful", BLOOM_FILTER_USEFUL},
    {"full positive", BLOOM_FILTER_FULL_POSITIVE},
    {"full true positive", BLOOM_FILTER_FULL_TRUE_POSITIVE},
    {"prefix checked", BLOOM_FILTER_PREFIX_CHECKED},
    {"prefix useful", BLOOM_FILTER_PREFIX_USEFUL},
};
using Counters = std::map<std::string, uint64_t>;

/* Reads all keys and as many missing ones, and returns what the filters have done. */
Counters Read(const Config &config, Who who, const std::string &path)
{
    Options options = OptionsOf(config, who);
    options.create_if_missing = false;
    DB *opened = nullptr;
    REQUIRE_OK(DB::OpenForReadOnly(options, path, &opened));
    std::unique_ptr<DB> db(opened);
    uint64_t lost = 0, found = 0;

    std::string value;
    for (const std::string &key : keys)
        lost += !db->Get(ReadOptions(), key, &value).ok() || value != key;
    for (const std::string &key : missing)
        found += db->Get(ReadOptions(), key, &value).ok();
    for (bool present : {true, false}) {
        const std::vector<std::string> &from = present ? keys : missing;
        for (size_t at = 0; at < from.size(); at += 32) {
            size_t n = std::min<size_t>(32, from.size() - at);
            std::vector<Slice> slices(from.begin() + static_cast<std::ptrdiff_t>(at),
                                      from.begin() + static_cast<std::ptrdiff_t>(at + n));
            PinnableSlice values[32];
            Status status[32];
            db->MultiGet(ReadOptions(), db->DefaultColumnFamily(), n, slices.data(), values, status);
            for (size_t i = 0; i < n; i++) {
                lost += present && (!status[i].ok() || values[i] != slices[i]);
                found += !present && status[i].ok();
            }
        }
    }
    if (options.prefix_extractor != nullptr) {
        ReadOptions read;
        read.prefix_same_as_start = true;
        std::unique_ptr<Iterator> iterator(db->NewIterator(read));
        for (size_t i = 0; i < keys.size(); i += 4) {
            iterator->Seek(keys[i]);
            lost += !iterator->Valid() || iterator->key() != keys[i];
        }
        for (size_t i = 0; i < missing.size(); i += 4) {
            iterator->Seek(missing[i]);
            found += iterator->Valid() && iterator->key() == missing[i];
        }
        REQUIRE_OK(iterator->status());
    }
    CHECK_SAME(0, lost);
    CHECK_SAME(0, found);
    Counters counters;
    for (auto [name, ticker] : kTickers)
        counters[name] = options.statistics->getTickerCount(ticker);
    return counters;
}

/* What was read of a database, and its tables by their number. */
struct Outcome {
    Counters counters;
    std::vector<table::UpToFilters> tables;
};

std::vector<table::UpToFilters> Tables(const std::string &path)
{
    std::vector<std::string> files;
    for (const auto &file : std::filesystem::directory_iterator(path))
        if (file.path().extension() == ".sst")
            files.push_back(file.path().string());
    std::sort(files.begin(), files.end());
    std::vector<table::UpToFilters> tables;
    for (const std::string &file : files) {
        std::optional<table::UpToFilters> table = table::RocksDbUpToFilters(file);
        CHECK(table.has_value());
        tables.push_back(table.value_or(table::UpToFilters()));
    }
    return tables;
}

/* Both policies on the database that `writer` has made. */
Outcome SameReading(const Config &config, Who writer)
{
    harness::Directory directory;
    std::string path = directory / "db";
    Write(config, writer, path);
    Counters theirs = Read(config, Who::kRocksDb, path), ours = Read(config, Who::kBloomline, path);
    const char *by = writer == Who::kBloomline ? "ours" : writer == Who::kRibbon ? "Ribbon" : "RocksDB's";
    std::printf("    %s, written by %s:", config.name, by);
    for (auto [name, count] : ours)
        std::printf(" %s %" PRIu64 ",", name.c_str(), count);
    std::printf(" same read by RocksDB's: %s\n", theirs == ours ? "yes" : "NO");
    CHECK(theirs == ours);
    CHECK(ours["useful"] + ours["prefix useful"] > missing.size() / 2);
    return {ours, Tables(path)};
}

/* The same bytes, so the same counters, whoever has written. */
Outcome BothWays(const Config &config)
{
    Outcome theirs = SameReading(config, Who::kRocksDb), ours = SameReading(config, Who::kBloomline);
    CHECK(theirs.counters == ours.counters);
    CHECK(theirs.tables.size() > 1);
    CHECK_SAME(theirs.tables.size(), ours.tables.size());
    for (size_t i = 0; i < theirs.tables.size() && i < ours.tables.size(); i++) {
        CHECK(theirs.tables[i].bytes == ours.tables[i].bytes);
        CHECK_SAME(theirs.tables[i].partitions, ours.tables[i].partitions);
    }
    return ours;
}

/* How many partitions the table with the fewest has. */
size_t Partitions(const Outcome &outcome)
{
    size_t least = outcome.tables.empty() ? 0 : outcome.tables[0].partitions;
    for (const table::UpToFilters &table : outcome.tables)
        least = std::min(least, table.partitions);
    return least;
}

void enough_keys()
{
    harness::CheckKeys(keys);
}

void whole_keys()
{
    Outcome outcome = BothWays({"whole keys", [](Options &, BlockBasedTableOptions &) {}});
    CHECK_SAME(0, Partitions(outcome));
    CHECK_SAME(0, outcome.counters["prefix checked"]);
}

void SetPrefix(Options &options)
{
    options.prefix_extractor.reset(NewCappedPrefixTransform(24));
}

void prefixes()
{
    Outcome outcome = BothWays({"prefixes", [](Options &options, BlockBasedTableOptions &table) {
                                    SetPrefix(options);
                                    table.whole_key_filtering = false;
                                }});
    CHECK(outcome.counters["prefix useful"] > 0);
}

void whole_keys_and_prefixes()
{
    Outcome outcome = BothWays(
        {"whole keys and prefixes", [](Options &options, BlockBasedTableOptions &) { SetPrefix(options); }});
    CHECK(outcome.counters["useful"] > 0 && outcome.counters["prefix useful"] > 0);
}

void SetPartitioned(BlockBasedTableOptions &table)
{
    table.index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
    table.partition_filters = true;
    table.metadata_block_size = 512;
    table.cache_index_and_filter_blocks = true;
}

void partitioned_filters()
{
    Outcome outcome =
        BothWays({"partitioned", [](Options &, BlockBasedTableOptions &table) { SetPartitioned(table); }});
    std::printf("    at least %zu partitions in each table\n", Partitions(outcome));
    CHECK(Partitions(outcome) > 1);
}

void partitioned_prefix_filters()
{
    Outcome outcome =
        BothWays({"partitioned, whole keys and prefixes", [](Options &options, BlockBasedTableOptions &table) {
                      SetPrefix(options);
                      SetPartitioned(table);
                  }});
    CHECK(Partitions(outcome) > 1);
    CHECK(outcome.counters["prefix useful"] > 0);
}

void old_format_version()
{
    BothWays({"format_version 4", [](Options &, BlockBasedTableOptions &table) { table.format_version = 4; }});
}

void filters_in_the_block_cache()
{
    BothWays({"filters in a small block cache", [](Options &, BlockBasedTableOptions &table) {
                  table.cache_index_and_filter_blocks = true;
                  table.block_cache = NewLRUCache(1 << 20);
              }});
}

void options_left_to_rocksdb()
{
    /* The size of these depends on the allocator, so that only one database is compared. */
    for (Who writer : {Who::kRocksDb, Who::kBloomline})
        SameReading({"optimize_filters_for_memory",
                     [](Options &, BlockBasedTableOptions &table) { table.optimize_filters_for_memory = true; }},
                    writer);
    BothWays({"detect_filter_construct_corruption",
              [](Options &, BlockBasedTableOptions &table) { table.detect_filter_construct_corruption = true; }});
#if ROCKSDB_MAJOR > 7 || ROCKSDB_MINOR >= 3
    BothWays({"memory of filter building charged", [](Options &, BlockBasedTableOptions &table) {
                  CacheEntryRoleOptions charged;
                  charged.charged = CacheEntryRoleOptions::Decision::kEnabled;
                  table.cache_usage_options.options_overrides[CacheEntryRole::kFilterConstruction] = charged;
              }});
#endif
}

void ribbon_filters_are_read()
{
    Config config{"Ribbon", [](Options &, BlockBasedTableOptions &) {}};
    /* Other bytes than a Bloom filter, so other false positives. */
    CHECK(SameReading(config, Who::kRibbon).counters != SameReading(config, Who::kRocksDb).counters);
}

/* By which names a table knows its policy: docs/ENGINES.md says what is whose. */
void names_in_tables()
{
    for (Who who : {Who::kRocksDb, Who::kBloomline}) {
        const std::vector<std::string> few(keys.begin(), keys.begin() + 100);
        harness::Directory directory;
        const Options options = OptionsOf({"names", [](Options &, BlockBasedTableOptions &) {}}, who);
        DB *opened = nullptr;
        REQUIRE_OK(DB::Open(options, directory / "db", &opened));
        std::unique_ptr<DB> db(opened);
        for (const std::string &key : few)
            REQUIRE_OK(db->Put(WriteOptions(), key, key));
        REQUIRE_OK(db->Flush(FlushOptions()));
        TablePropertiesCollection all;
        REQUIRE_OK(db->GetPropertiesOfAllTables(&all));
        CHECK_SAME(1, all.size());
        for (const auto &[path, properties] : all) {
            std::printf("    property: %s\n", properties->filter_policy_name.c_str());
            CHECK(properties->filter_policy_name ==
                  (who == Who::kBloomline ? "bloomline.BloomFilter" :
                                            std::unique_ptr<const FilterPolicy>(NewBloomFilterPolicy(9.9))->Name()));
            std::ifstream file(path, std::ios::binary);
            const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
            CHECK(bytes.find("fullfilter.rocksdb.BuiltinBloomFilter") != std::string::npos);
        }
    }
}

/* A database goes to our policy and is compacted; its OPTIONS load without us. */
void switch_over_and_back()
{
    Config config{"switched", [](Options &, BlockBasedTableOptions &) {}};
    harness::Directory directory;
    std::string path = directory / "db";
    Write(config, Who::kRocksDb, path);
    for (Who who : {Who::kBloomline, Who::kRocksDb}) {
        DB *opened = nullptr;
        REQUIRE_OK(DB::Open(OptionsOf(config, who), path, &opened));
        std::unique_ptr<DB> db(opened);
        REQUIRE_OK(db->CompactRange(CompactRangeOptions(), nullptr, nullptr));
        db.reset();
        Counters theirs = Read(config, Who::kRocksDb, path), ours = Read(config, Who::kBloomline, path);
        CHECK(theirs == ours);

        DBOptions db_options;
        std::vector<ColumnFamilyDescriptor> families;
        REQUIRE_OK(LoadLatestOptions(ConfigOptions(), path, &db_options, &families));
        const auto *table = families[0].options.table_factory->GetOptions<BlockBasedTableOptions>();
        CHECK(table != nullptr && table->filter_policy != nullptr);
        if (table != nullptr && table->filter_policy != nullptr) {
            CHECK(table->filter_policy->GetId() == bloomline::NewRocksDbFilterPolicy(9.9)->GetId());
            CHECK(std::string(table->filter_policy->CompatibilityName()) ==
                  bloomline::NewRocksDbFilterPolicy(9.9)->CompatibilityName());
        }
    }
}

void Thin(std::vector<std::string> &from)
{
    for (size_t i = 0; 3 * i < from.size(); i++)
        from[i].swap(from[3 * i]);
    from.resize((from.size() + 2) / 3);
}

}  // namespace

int main()
{
    harness::Begin("test_rocksdb_db");
    std::printf("  RocksDB %d.%d.%d\n", ROCKSDB_MAJOR, ROCKSDB_MINOR, ROCKSDB_PATCH);
    keys = harness::Keys();
    missing = harness::Missing(keys);
    RUN(enough_keys);
    RUN(whole_keys);
    /* Further options, on a third of them. */
    Thin(keys);
    Thin(missing);
    RUN(prefixes);
    RUN(whole_keys_and_prefixes);
    RUN(partitioned_filters);
    RUN(partitioned_prefix_filters);
    RUN(old_format_version);
    RUN(filters_in_the_block_cache);
    RUN(options_left_to_rocksdb);
    RUN(ribbon_filters_are_read);
    RUN(names_in_tables);
    RUN(switch_over_and_back);
    return harness::End();
}
