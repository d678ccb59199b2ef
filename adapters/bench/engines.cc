/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * engines.cc - how fast RocksDB and LevelDB are with their own filter policies and with
 * ours, in one process. Prints a table in Markdown: measure.hpp says how. Uses tests/harness.hpp.
 */
#include "../leveldb/bloomline_leveldb.h"
#include "../rocksdb/bloomline_rocksdb.h"
#include "../rocksdb/filter_bits.h"
#include "../tests/harness.hpp"
#include "measure.hpp"

#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/statistics.h>
#include <rocksdb/table.h>

#include <leveldb/c.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>

using namespace ROCKSDB_NAMESPACE;
using harness::Random;
using measure::kThree;
using measure::kOurs;
using measure::Row;
using measure::Rounds;
using measure::Seconds;

namespace {

constexpr size_t kBatch = 32;

volatile uint64_t sink;

std::shared_ptr<const FilterPolicy> Policy(bool ours)
{
    return ours ? bloomline::NewRocksDbFilterPolicy(10) :
                  std::shared_ptr<const FilterPolicy>(NewBloomFilterPolicy(10));
}

BlockBasedTableOptions TableOptions(bool ours)
{
    BlockBasedTableOptions table;
    table.format_version = 5;
    table.optimize_filters_for_memory = false;
    table.filter_policy = Policy(ours);
    return table;
}

Slice KeySlice(const uint64_t &key)
{
    return Slice(reinterpret_cast<const char *>(&key), sizeof key);
}

std::unique_ptr<bloomline::BitsBuilder> Builder(bool ours)
{
    BlockBasedTableOptions table = TableOptions(ours);
    return std::unique_ptr<bloomline::BitsBuilder>(bloomline::FromRocksDb(
        table.filter_policy->GetBuilderWithContext(FilterBuildingContext(table))));
}

/* `probes` of `reader`, in calls of N. */
template <size_t N>
uint64_t Batches(bloomline::BitsReader &reader, const std::vector<uint64_t> &probes)
{
    uint64_t yes = 0;
    for (size_t from = 0; from < probes.size(); from += N) {
        Slice slices[N], *pointers[N];
        bool match[N];
        for (size_t i = 0; i < N; i++) {
            slices[i] = KeySlice(probes[from + i]);
            pointers[i] = &slices[i];
        }
        reader.MayMatch(static_cast<int>(N), pointers, match);
        for (bool one : match)
            yes += one;
    }
    return yes;
}

uint64_t Singles(bloomline::BitsReader &reader, const std::vector<uint64_t> &probes)
{
    uint64_t yes = 0;
    for (const uint64_t &probe : probes)
        yes += reader.MayMatch(KeySlice(probe));
    return yes;
}

/* The readers alone, of one filter: keys of 8 bytes, half of them present, in no order. */
void BareReader(const std::string &size, size_t keys)
{
    std::vector<uint64_t> present(keys);
    Random random(keys);
    for (uint64_t &key : present)
        key = random.Next();
    auto builder = Builder(false);
    for (const uint64_t &key : present)
        builder->AddKey(KeySlice(key));
    std::unique_ptr<const char[]> memory;
    Slice filter = builder->Finish(&memory);
    /* As in RocksDB: not at the start of a line. */
    std::vector<char> place(filter.size() + 64 + 24);
    char *data = place.data() + (64 - reinterpret_cast<uintptr_t>(place.data()) % 64) + 24;
    std::memcpy(data, filter.data(), filter.size());

    std::vector<uint64_t> probes(1 << 19);
    for (size_t i = 0; i < probes.size(); i++)
        probes[i] = random.Next() % 2 == 0 ? present[random.Next() % keys] : random.Next();
    std::unique_ptr<bloomline::BitsReader> readers[kThree];
    for (int which = 0; which < kThree; which++)
        readers[which].reset(bloomline::FromRocksDb(
            Policy(which == kOurs)->GetFilterBitsReader(Slice(data, filter.size()))));
    using Ask = uint64_t (*)(bloomline::BitsReader &, const std::vector<uint64_t> &);
    const std::pair<const char *, Ask> ways[] = {
        {"single", Singles},        {"batch of 1", Batches<1>}, {"batch of 2", Batches<2>}, {"batch of 3", Batches<3>},
        {"batch of 4", Batches<4>},   {"batch of 8", Batches<8>}, {"batch of 32", Batches<kBatch>},
    };
    for (const auto &[name, ask] : ways) {
        std::function<void()> run[kThree];
        for (int which = 0; which < kThree; which++)
            run[which] = [reader = readers[which].get(), ask = ask, &probes] { sink = sink + ask(*reader, probes); };
        Row(std::string("reader, ") + name + ", " + size, static_cast<double>(probes.size()), run);
    }
}

void BareBuilder()
{
    constexpr size_t kKeys = 1000000;
    std::vector<uint64_t> keys(kKeys);
    Random random(7);
    for (uint64_t &key : keys)
        key = random.Next();
    /* Only Finish() is the building; before it, the keys are hashed and kept. */
    for (bool whole : {false, true})
        Rounds(std::string("builder, 1,000,000 ") + (whole ? "keys (AddKey and Finish)" : "hashes (Finish)"),
               kKeys, 1, 11, [&](int which) {
                   auto builder = Builder(which == kOurs);
                   std::unique_ptr<const char[]> memory;
                   const double add = Seconds([&] {
                       for (const uint64_t &key : keys)
                           builder->AddKey(KeySlice(key));
                   });
                   const double finish = Seconds([&] { sink = sink + builder->Finish(&memory).size(); });
                   return whole ? add + finish : finish;
               });
}

std::string UserKey(uint64_t number)
{
    char key[24];
    std::snprintf(key, sizeof key, "user%016" PRIx64, number * 0x9E3779B97F4A7C15u);
    return key;
}

/* Fills `db`: as `files` files that overlap, or, if that is 0, in levels as RocksDB's compaction
 * makes them of keys that come in no order. */
void Fill(DB &db, uint64_t keys, uint64_t files)
{
    WriteOptions write;
    write.disableWAL = true;
    const uint64_t flushes = files == 0 ? 16 : files;
    for (uint64_t file = 0; file < flushes; file++) {
        for (uint64_t i = file; i < keys; i += flushes)
            REQUIRE_OK(db.Put(write, UserKey(i), "a value of thirty-two bytes long"));
        REQUIRE_OK(db.Flush(FlushOptions()));
    }
    uint64_t running = 1, pending = 1;
    while (files == 0 && running + pending > 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        db.GetIntProperty("rocksdb.num-running-compactions", &running);
        db.GetIntProperty("rocksdb.compaction-pending", &pending);
    }
}

/* The files of each level: "3+12+80". */
std::string Levels(DB &db)
{
    std::string levels, value;
    for (int level = 0; level < 7; level++)
        if (db.GetProperty("rocksdb.num-files-at-level" + std::to_string(level), &value) && value != "0")
            levels += (levels.empty() ? "" : "+") + value;
    return levels;
}

/* One database of `keys` keys, all of it in the block cache, in `files` files that overlap, or in
 * levels (0). It is opened twice for each of the three, and asked in turn: one that is opened later
 * has its blocks elsewhere in memory, and that alone is some percent. */
void EndToEnd(const char *size, uint64_t keys, uint64_t files)
{
    harness::Directory directory;
    std::string path = directory / "db";
    std::unique_ptr<DB> dbs[kThree][2];
    Options options;
    options.create_if_missing = true;
    options.disable_auto_compactions = files != 0;
    if (files != 0)
        options.level0_slowdown_writes_trigger = options.level0_stop_writes_trigger = 1000;
    options.write_buffer_size = size_t{1} << 30;
    options.target_file_size_base = 2 << 20;
    options.max_bytes_for_level_base = 8 << 20;
    options.compression = kNoCompression;
    options.max_open_files = -1;
    std::string shape;
    for (int opened = -1; opened < 2 * kThree; opened++) {
        const int which = opened % kThree;
        BlockBasedTableOptions table = TableOptions(which == kOurs);
        table.block_cache = NewLRUCache(size_t{1} << 30);
        options.table_factory.reset(NewBlockBasedTableFactory(table));
        DB *db = nullptr;
        if (opened < 0) {
            REQUIRE_OK(DB::Open(options, path, &db));
            Fill(*db, keys, files);
            shape = Levels(*db);
            delete db;
            continue;
        }
        REQUIRE_OK(DB::OpenForReadOnly(options, path, &db));
        dbs[which][opened / kThree].reset(db);
    }
    std::vector<std::string> hits, misses;
    Random random(keys);
    for (int i = 0; i < 1 << 15; i++) {
        hits.push_back(UserKey(random.Next() % keys));
        misses.push_back(UserKey(keys + random.Next() % keys));
    }
    auto get = [&](const std::vector<std::string> &from, int which) {
        return [&from, db_of = &dbs[which], turn = 0]() mutable {
            DB *db = (*db_of)[turn++ % 2].get();
            PinnableSlice value;
            uint64_t found = 0;
            for (const std::string &key : from) {
                found += db->Get(ReadOptions(), db->DefaultColumnFamily(), key, &value).ok();
                value.Reset();
            }
            sink = sink + found;
        };
    };
    auto multi_get = [&](const std::vector<std::string> &from, int which) {
        return [&from, db_of = &dbs[which], turn = 0]() mutable {
            DB *db = (*db_of)[turn++ % 2].get();
            uint64_t found = 0;
            PinnableSlice values[kBatch];
            Status status[kBatch];
            for (size_t at = 0; at + kBatch <= from.size(); at += kBatch) {
                Slice slices[kBatch];
                for (size_t i = 0; i < kBatch; i++)
                    slices[i] = from[at + i];
                db->MultiGet(ReadOptions(), db->DefaultColumnFamily(), kBatch, slices, values, status);
                for (size_t i = 0; i < kBatch; i++) {
                    found += status[i].ok();
                    values[i].Reset();
                }
            }
            sink = sink + found;
        };
    };
    const double operations = static_cast<double>(hits.size());
    auto row = [&](const char *what, auto &ask, const std::vector<std::string> &from) {
        Row(std::string("RocksDB, ") + what + ", " + size + " in " + shape + " files", operations,
            {ask(from, 0), ask(from, 1), ask(from, 2)}, 2 * measure::kRounds);
    };
    row("Get, missing", get, misses);
    row("Get, present", get, hits);
    row("MultiGet of 32, missing", multi_get, misses);
    row("MultiGet of 32, present", multi_get, hits);
}

void TableWriting(const char *size, uint64_t keys)
{
    harness::Directory directory;
    std::vector<std::string> sorted;
    for (uint64_t i = 0; i < keys; i++)
        sorted.push_back(UserKey(i));
    std::sort(sorted.begin(), sorted.end());
    std::function<void()> write[kThree];
    for (int which = 0; which < kThree; which++)
        write[which] = [&, which] {
            Options options;
            options.table_factory.reset(NewBlockBasedTableFactory(TableOptions(which == kOurs)));
            SstFileWriter writer(EnvOptions(), options);
            REQUIRE_OK(writer.Open(directory / "table"));
            for (const std::string &key : sorted)
                REQUIRE_OK(writer.Put(key, "a value of thirty-two bytes long"));
            REQUIRE_OK(writer.Finish());
        };
    Row(std::string("RocksDB, writing a table with its filter, ") + size, static_cast<double>(keys), write, 5);
}

void LevelDb(const char *size, uint64_t keys)
{
    harness::Directory directory;
    std::string path = directory / "db";
    std::vector<std::string> misses;
    Random random(9);
    for (int i = 0; i < 100000; i++)
        misses.push_back(UserKey(keys + random.Next() % keys));
    leveldb_filterpolicy_t *policies[2] = {leveldb_filterpolicy_create_bloom(10),
                                           bloomline_leveldb_filterpolicy(10)};
    leveldb_readoptions_t *read = leveldb_readoptions_create();
    leveldb_writeoptions_t *write = leveldb_writeoptions_create();
    leveldb_cache_t *cache = leveldb_cache_create_lru(size_t{1} << 30);
    char *error = nullptr;
    auto open = [&](int ours) {
        leveldb_options_t *options = leveldb_options_create();
        leveldb_options_set_create_if_missing(options, 1);
        leveldb_options_set_cache(options, cache);
        leveldb_options_set_filter_policy(options, policies[ours]);
        leveldb_t *db = leveldb_open(options, path.c_str(), &error);
        leveldb_options_destroy(options);
        if (error != nullptr) {
            std::printf("leveldb_open: %s\n", error);
            std::exit(2);
        }
        return db;
    };
    leveldb_t *db = open(0);
    for (uint64_t i = 0; i < keys; i++) {
        std::string key = UserKey(i);
        leveldb_put(db, write, key.data(), key.size(), "a value of thirty-two bytes long", 32, &error);
    }
    leveldb_compact_range(db, nullptr, 0, nullptr, 0);
    leveldb_close(db);
    /* Only one process, and once, can have it open: each round opens it, reads all once to
     * fill the caches, and is measured in the middle. */
    Rounds(std::string("LevelDB, get, missing, ") + size, static_cast<double>(misses.size()), 0, 11, [&](int which) {
        db = open(which == kOurs);
        auto all = [&] {
            for (const std::string &key : misses) {
                size_t len;
                char *value = leveldb_get(db, read, key.data(), key.size(), &len, &error);
                sink = sink + (value != nullptr);
                leveldb_free(value);
            }
        };
        all();
        const double seconds = Seconds(all);
        leveldb_close(db);
        return seconds;
    });
    leveldb_cache_destroy(cache);
    leveldb_readoptions_destroy(read);
    leveldb_writeoptions_destroy(write);
    for (leveldb_filterpolicy_t *policy : policies)
        leveldb_filterpolicy_destroy(policy);
}

}  // namespace

/* `engines WORD`: only what that word names. */
int main(int argc, char **argv)
{
    auto wanted = [&](const char *what) { return argc < 2 || std::strcmp(argv[1], what) == 0; };
    setvbuf(stdout, nullptr, _IOLBF, 0);
    std::printf("RocksDB %d.%d.%d, LevelDB %d.%d, bloomline %s (%s), 10 bits per key; CPU time, medians of "
                "interleaved rounds\n\n",
                ROCKSDB_MAJOR, ROCKSDB_MINOR, ROCKSDB_PATCH, leveldb_major_version(), leveldb_minor_version(),
                bloomline_version(), bloomline_backend());
    measure::Head();
    if (wanted("reader")) {
        BareReader("12.5 KB", 10000);
        BareReader("1.25 MB", 1000000);
        BareReader("62.5 MB", 50000000);
    }
    if (wanted("builder"))
        BareBuilder();
    if (wanted("rocksdb")) {
        EndToEnd("100,000 keys", 100000, 4);
        EndToEnd("4,000,000 keys", 4000000, 0);
        TableWriting("100,000 keys", 100000);
        TableWriting("2,000,000 keys", 2000000);
    }
    if (wanted("leveldb")) {
        LevelDb("100,000 keys", 100000);
        LevelDb("1,000,000 keys", 1000000);
    }
    return 0;
}
