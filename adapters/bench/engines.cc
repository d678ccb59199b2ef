/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * engines.cc - how fast RocksDB and LevelDB are with their own filter policies and with
 * ours, in one process. Prints a table in Markdown.
 *
 * Each row is measured in rounds, the two policies in turn and in changing order, and is
 * the median of the rounds; the ratio is the median of the ratios of each round, so that
 * what else the machine does in a while hits both. Uses tests/harness.hpp.
 */
#include "../leveldb/bloomline_leveldb.h"
#include "../rocksdb/bloomline_rocksdb.h"
#include "../rocksdb/filter_bits.h"
#include "../tests/harness.hpp"

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

using namespace ROCKSDB_NAMESPACE;
using harness::Random;

namespace {

constexpr size_t kBatch = 32;
constexpr int kRounds = 11;

volatile uint64_t sink;

double Seconds(const std::function<void()> &run)
{
    auto start = std::chrono::steady_clock::now();
    run();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double Median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

int missed;

/* `run[0]` is the engine's own, `run[1]` ours; each does `operations`. The ratio is to be at
 * least `target`, unless that is 0. */
void Row(const char *name, double operations, double target, const std::function<void()> (&run)[2],
         int rounds = kRounds)
{
    std::vector<double> seconds[2], ratios;
    /* Twice, since a database is opened twice. */
    for (int warm_up = 0; warm_up < 2; warm_up++)
        for (const auto &one : run)
            one();
    for (int round = 0; round < rounds; round++) {
        double both[2];
        for (int turn : {0, 1}) {
            int which = (turn + round) % 2;
            both[which] = Seconds(run[which]);
            seconds[which].push_back(both[which]);
        }
        ratios.push_back(both[0] / both[1]);
    }
    double ratio = Median(ratios);
    char goal[64] = "report";
    if (target > 0) {
        bool reached = ratio >= target;
        missed += !reached;
        std::snprintf(goal, sizeof goal, "%.1fx: %s", target, reached ? "reached" : "missed");
    }
    std::printf("| %s | %.1f | %.1f | %.2fx | %s |\n", name, 1e9 * Median(seconds[0]) / operations,
                1e9 * Median(seconds[1]) / operations, ratio, goal);
}

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

/* The readers alone, of one filter: keys of 8 bytes, half of them present, in no order. */
void BareReader(const char *size, size_t keys, double single_target, double batch_target)
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

    std::vector<uint64_t> probes(1 << 20);
    for (size_t i = 0; i < probes.size(); i++)
        probes[i] = random.Next() % 2 == 0 ? present[random.Next() % keys] : random.Next();
    std::unique_ptr<bloomline::BitsReader> readers[2];
    std::function<void()> single[2], batch[2];
    for (int ours : {0, 1}) {
        readers[ours].reset(
            bloomline::FromRocksDb(Policy(ours)->GetFilterBitsReader(Slice(data, filter.size()))));
        bloomline::BitsReader *reader = readers[ours].get();
        single[ours] = [reader, &probes] {
            uint64_t yes = 0;
            for (const uint64_t &probe : probes)
                yes += reader->MayMatch(KeySlice(probe));
            sink = sink + yes;
        };
        batch[ours] = [reader, &probes] {
            uint64_t yes = 0;
            for (size_t from = 0; from < probes.size(); from += kBatch) {
                Slice slices[kBatch], *pointers[kBatch];
                bool match[kBatch];
                for (size_t i = 0; i < kBatch; i++) {
                    slices[i] = KeySlice(probes[from + i]);
                    pointers[i] = &slices[i];
                }
                reader->MayMatch(kBatch, pointers, match);
                for (bool one : match)
                    yes += one;
            }
            sink = sink + yes;
        };
    }
    const double operations = static_cast<double>(probes.size());
    Row((std::string("reader, single, ") + size).c_str(), operations, single_target, single);
    Row((std::string("reader, batch of 32, ") + size).c_str(), operations, batch_target, batch);
}

void BareBuilder()
{
    constexpr size_t kKeys = 1000000;
    std::vector<uint64_t> keys(kKeys);
    Random random(7);
    for (uint64_t &key : keys)
        key = random.Next();
    /* Only Finish() is the building; before it, the keys are hashed and kept. */
    std::vector<double> seconds[2], ratios, whole[2], whole_ratios;
    for (int round = 0; round <= kRounds; round++) {
        double finish[2], all[2];
        for (int turn : {0, 1}) {
            int ours = (turn + round) % 2;
            auto builder = Builder(ours);
            std::unique_ptr<const char[]> memory;
            double add = Seconds([&] {
                for (const uint64_t &key : keys)
                    builder->AddKey(KeySlice(key));
            });
            finish[ours] = Seconds([&] { sink = sink + builder->Finish(&memory).size(); });
            all[ours] = add + finish[ours];
        }
        if (round == 0)
            continue;
        for (int ours : {0, 1}) {
            seconds[ours].push_back(finish[ours]);
            whole[ours].push_back(all[ours]);
        }
        ratios.push_back(finish[0] / finish[1]);
        whole_ratios.push_back(all[0] / all[1]);
    }
    double ratio = Median(ratios);
    missed += ratio < 2;
    std::printf("| builder, 1,000,000 hashes (Finish) | %.1f | %.1f | %.2fx | 2.0x: %s |\n",
                1e9 * Median(seconds[0]) / kKeys, 1e9 * Median(seconds[1]) / kKeys, ratio,
                ratio >= 2 ? "reached" : "missed");
    std::printf("| builder, 1,000,000 keys (AddKey and Finish) | %.1f | %.1f | %.2fx | report |\n",
                1e9 * Median(whole[0]) / kKeys, 1e9 * Median(whole[1]) / kKeys, Median(whole_ratios));
}

std::string UserKey(uint64_t number)
{
    char key[24];
    std::snprintf(key, sizeof key, "user%016" PRIx64, number * 0x9E3779B97F4A7C15u);
    return key;
}

/* One database of `keys` keys in `files` files that overlap, all of it in the block cache. It
 * is opened twice with each policy, and asked in turn: one that is opened later has its
 * blocks elsewhere in memory, and that alone is some percent. */
void EndToEnd(const char *size, uint64_t keys, uint64_t files)
{
    harness::Directory directory;
    std::string path = directory / "db";
    std::unique_ptr<DB> dbs[2][2];
    Options options;
    options.create_if_missing = true;
    options.disable_auto_compactions = true;
    options.level0_slowdown_writes_trigger = options.level0_stop_writes_trigger = 1000;
    options.write_buffer_size = size_t{1} << 30;
    for (int opened = 0; opened < 4; opened++) {
        const int ours = opened == 1 || opened == 2;
        BlockBasedTableOptions table = TableOptions(ours);
        table.block_cache = NewLRUCache(size_t{1} << 30);
        options.table_factory.reset(NewBlockBasedTableFactory(table));
        DB *db = nullptr;
        if (opened == 0) {
            REQUIRE_OK(DB::Open(options, path, &db));
            WriteOptions write;
            write.disableWAL = true;
            for (uint64_t file = 0; file < files; file++) {
                for (uint64_t i = file; i < keys; i += files)
                    REQUIRE_OK(db->Put(write, UserKey(i), "a value of thirty-two bytes long"));
                REQUIRE_OK(db->Flush(FlushOptions()));
            }
            delete db;
        }
        REQUIRE_OK(DB::OpenForReadOnly(options, path, &db));
        dbs[ours][opened / 2].reset(db);
    }
    std::vector<std::string> hits, misses;
    Random random(keys);
    for (int i = 0; i < 100000; i++) {
        hits.push_back(UserKey(random.Next() % keys));
        misses.push_back(UserKey(keys + random.Next() % keys));
    }
    auto get = [&](const std::vector<std::string> &from, int ours) {
        return [&from, db_of = &dbs[ours], turn = 0]() mutable {
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
    auto multi_get = [&](const std::vector<std::string> &from, int ours) {
        return [&from, db_of = &dbs[ours], turn = 0]() mutable {
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
    auto row = [&](const char *what, const std::function<void()> (&run)[2]) {
        char name[128];
        std::snprintf(name, sizeof name, "RocksDB, %s, %s in %d files", what, size, static_cast<int>(files));
        Row(name, operations, 0, run);
    };
    row("Get, missing", {get(misses, 0), get(misses, 1)});
    row("Get, present", {get(hits, 0), get(hits, 1)});
    row("MultiGet of 32, missing", {multi_get(misses, 0), multi_get(misses, 1)});
    row("MultiGet of 32, present", {multi_get(hits, 0), multi_get(hits, 1)});
}

void TableWriting(const char *size, uint64_t keys)
{
    harness::Directory directory;
    std::vector<std::string> sorted;
    for (uint64_t i = 0; i < keys; i++)
        sorted.push_back(UserKey(i));
    std::sort(sorted.begin(), sorted.end());
    std::function<void()> write[2];
    for (int ours : {0, 1})
        write[ours] = [&, ours] {
            Options options;
            options.table_factory.reset(NewBlockBasedTableFactory(TableOptions(ours)));
            SstFileWriter writer(EnvOptions(), options);
            REQUIRE_OK(writer.Open(directory / "table"));
            for (const std::string &key : sorted)
                REQUIRE_OK(writer.Put(key, "a value of thirty-two bytes long"));
            REQUIRE_OK(writer.Finish());
        };
    Row((std::string("RocksDB, writing a table with its filter, ") + size).c_str(), static_cast<double>(keys),
        0, write, 5);
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
    std::vector<double> seconds[2], ratios;
    for (int round = 0; round < kRounds; round++) {
        double both[2];
        for (int turn : {0, 1}) {
            int ours = (turn + round) % 2;
            db = open(ours);
            auto all = [&] {
                for (const std::string &key : misses) {
                    size_t len;
                    char *value = leveldb_get(db, read, key.data(), key.size(), &len, &error);
                    sink = sink + (value != nullptr);
                    leveldb_free(value);
                }
            };
            all();
            both[ours] = Seconds(all);
            seconds[ours].push_back(both[ours]);
            leveldb_close(db);
        }
        ratios.push_back(both[0] / both[1]);
    }
    const double operations = static_cast<double>(misses.size());
    std::printf("| LevelDB, get, missing, %s | %.1f | %.1f | %.2fx | report |\n", size,
                1e9 * Median(seconds[0]) / operations, 1e9 * Median(seconds[1]) / operations, Median(ratios));
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
    std::printf("RocksDB %d.%d.%d, LevelDB %d.%d, bloomline %s (%s), 10 bits per key; nanoseconds per key, "
                "medians of interleaved rounds\n\n",
                ROCKSDB_MAJOR, ROCKSDB_MINOR, ROCKSDB_PATCH, leveldb_major_version(), leveldb_minor_version(),
                bloomline_version(), bloomline_backend());
    std::printf("| what | engine's own | bloomline | faster | at least |\n|---|---:|---:|---:|---|\n");
    if (wanted("reader")) {
        BareReader("12.5 KB", 10000, 3, 2.5);
        BareReader("1.25 MB", 1000000, 0, 0);
        BareReader("62.5 MB", 50000000, 0, 1.5);
    }
    if (wanted("builder"))
        BareBuilder();
    if (wanted("rocksdb")) {
        EndToEnd("100,000 keys", 100000, 4);
        EndToEnd("4,000,000 keys", 4000000, 8);
        TableWriting("100,000 keys", 100000);
        TableWriting("2,000,000 keys", 2000000);
    }
    if (wanted("leveldb")) {
        LevelDb("100,000 keys", 100000);
        LevelDb("1,000,000 keys", 1000000);
    }
    std::printf("\n%d targets missed\n", missed);
    return 0;
}
