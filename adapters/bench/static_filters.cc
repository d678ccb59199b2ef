/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * static_filters.cc - static filters in RocksDB beside its own Bloom and Ribbon filters of the same
 * rate or a higher one: memory, flush, compaction, and reads of keys that are missing. Prints a table in
 * Markdown: CPU time, medians of rounds in which each has its turn. Uses tests/harness.hpp.
 *
 *     static_filters [KEYS [ROUNDS [statistics]]]
 *
 * With `statistics` RocksDB counts what it does, as many servers have it.
 */
#include "../rocksdb/bloomline_rocksdb.h"
#include "../rocksdb/filter_bits.h"
#include "../tests/harness.hpp"

#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/statistics.h>
#include <rocksdb/table.h>

#include <cstring>
#include <functional>
#include <memory>

#include <time.h>

using namespace ROCKSDB_NAMESPACE;

namespace {

constexpr size_t kBatch = 32, kKinds = 4, kFlushes = 5;
const char *const kNames[kKinds] = {"Bloom, 10 bits", "Ribbon, 10.5", "static, 10", "Bloom again"};

volatile uint64_t sink;
bool counts;

/* Ribbon and static filters at all levels. At 10.5 bits Ribbon has 0.75 %, static 0.78 % at 10. */
std::shared_ptr<const FilterPolicy> Policy(size_t kind)
{
    return kind == 1 ? std::shared_ptr<const FilterPolicy>(NewRibbonFilterPolicy(10.5, -1)) :
           kind == 2 ? bloomline::NewStaticFilterPolicy(10, -1) :
                       std::shared_ptr<const FilterPolicy>(NewBloomFilterPolicy(10));
}

/* Of all threads: flushes and compactions have their own. */
double Seconds(const std::function<void()> &run)
{
    auto now = [] {
        timespec time;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
        return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
    };
    const double start = now();
    run();
    return now() - start;
}

double Median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values.empty() ? 0 : values[values.size() / 2];
}

/* The seconds of each kind, a value for each round; a ratio is the median of the rounds' ratios. */
struct Times {
    std::vector<double> of[kKinds];

    void Print(const char *what, double operations) const
    {
        std::printf("| %s, ns |", what);
        for (const auto &seconds : of)
            std::printf(" %.1f |", 1e9 * Median(seconds) / operations);
        for (size_t kind = 1; kind < kKinds; kind++) {
            std::vector<double> ratios;
            for (size_t round = 0; round < of[0].size() && round < of[kind].size(); round++)
                ratios.push_back(of[kind][round] / of[0][round]);
            std::printf(" %.2f |", Median(ratios));
        }
        std::printf("\n");
    }
};

/* `once(kind)` for each kind in each round, in changing order; the first round is not counted. */
void Rounds(const char *what, double operations, int rounds, const std::function<double(size_t)> &once)
{
    Times times;
    for (int round = -1; round < rounds; round++)
        for (size_t turn = 0; turn < kKinds; turn++) {
            const size_t kind = (turn + static_cast<size_t>(round + 1)) % kKinds;
            const double seconds = once(kind);
            if (round >= 0)
                times.of[kind].push_back(seconds);
        }
    times.Print(what, operations);
}

std::string UserKey(uint64_t number)
{
    char key[24];
    std::snprintf(key, sizeof key, "user%016" PRIx64, number * 0x9E3779B97F4A7C15u);
    return key;
}

/* The builders and readers alone, of one filter. */
void Bare(size_t keys, int rounds)
{
    std::vector<std::string> present, others;
    for (size_t i = 0; i < keys; i++)
        present.push_back(UserKey(i));
    for (size_t i = 0; i < 1 << 16; i++)
        others.push_back(UserKey(keys + i));
    BlockBasedTableOptions table;
    table.format_version = 5;
    table.optimize_filters_for_memory = false;
    std::string filters[kKinds];
    Rounds("builder, AddKey and Finish", static_cast<double>(keys), rounds, [&](size_t kind) {
        const auto policy = Policy(kind);
        std::unique_ptr<bloomline::BitsBuilder> builder(
            bloomline::FromRocksDb(policy->GetBuilderWithContext(FilterBuildingContext(table))));
        std::unique_ptr<const char[]> memory;
        Slice filter;
        const double seconds = Seconds([&] {
            for (const std::string &key : present)
                builder->AddKey(key);
            filter = builder->Finish(&memory);
        });
        filters[kind] = filter.ToString();
        return seconds;
    });
    std::unique_ptr<bloomline::BitsReader> readers[kKinds];
    Rounds("making a reader, for each filter", 1, rounds, [&](size_t kind) {
        const auto policy = Policy(kind);
        return Seconds(
            [&] { readers[kind].reset(bloomline::FromRocksDb(policy->GetFilterBitsReader(filters[kind]))); });
    });
    Rounds("reader, one by one, missing", static_cast<double>(others.size()), rounds, [&](size_t kind) {
        return Seconds([&] {
            for (const std::string &key : others)
                sink = sink + readers[kind]->MayMatch(key);
        });
    });
    Rounds("reader, 32 at once, missing", static_cast<double>(others.size()), rounds, [&](size_t kind) {
        return Seconds([&] {
            for (size_t at = 0; at < others.size(); at += kBatch) {
                Slice slices[kBatch], *pointers[kBatch];
                bool match[kBatch];
                for (size_t i = 0; i < kBatch; i++) {
                    slices[i] = others[at + i];
                    pointers[i] = &slices[i];
                }
                readers[kind]->MayMatch(static_cast<int>(kBatch), pointers, match);
                for (bool one : match)
                    sink = sink + one;
            }
        });
    });
}

std::unique_ptr<DB> Open(size_t kind, const std::string &path, bool read_only)
{
    BlockBasedTableOptions table;
    table.format_version = 5;
    table.optimize_filters_for_memory = false;
    table.filter_policy = Policy(kind);
    table.block_cache = NewLRUCache(size_t{1} << 30);
    Options options;
    options.create_if_missing = true;
    options.disable_auto_compactions = true;
    options.write_buffer_size = size_t{1} << 30;
    options.compression = kNoCompression;
    if (counts) options.statistics = CreateDBStatistics();
    options.max_open_files = -1;
    options.table_factory.reset(NewBlockBasedTableFactory(table));
    DB *db = nullptr;
    REQUIRE_OK(read_only ? DB::OpenForReadOnly(options, path, &db) : DB::Open(options, path, &db));
    return std::unique_ptr<DB>(db);
}

void Databases(size_t keys, int rounds)
{
    harness::Directory directory;
    std::unique_ptr<DB> dbs[kKinds];
    std::string paths[kKinds];
    for (size_t kind = 0; kind < kKinds; kind++) {
        paths[kind] = directory / ("db" + std::to_string(kind));
        dbs[kind] = Open(kind, paths[kind], false);
    }
    WriteOptions write;
    write.disableWAL = true;
    Times flush, compact;
    for (size_t part = 0; part < kFlushes; part++)
        for (size_t turn = 0; turn < kKinds; turn++) {
            const size_t kind = (turn + part) % kKinds;
            for (size_t i = part; i < keys; i += kFlushes)
                REQUIRE_OK(dbs[kind]->Put(write, UserKey(i), "a value of thirty-two bytes long"));
            flush.of[kind].push_back(Seconds([&] { REQUIRE_OK(dbs[kind]->Flush(FlushOptions())); }));
        }
    flush.Print("flush, a fifth of the keys", static_cast<double>(keys / kFlushes));
    CompactRangeOptions all;
    all.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    Rounds("compaction of all keys", static_cast<double>(keys), rounds, [&](size_t kind) {
        return Seconds([&] { REQUIRE_OK(dbs[kind]->CompactRange(all, nullptr, nullptr)); });
    });
    std::printf("| filters, MB |");
    for (size_t kind = 0; kind < kKinds; kind++) {
        TablePropertiesCollection tables;
        REQUIRE_OK(dbs[kind]->GetPropertiesOfAllTables(&tables));
        uint64_t bytes = 0;
        for (const auto &[name, properties] : tables)
            bytes += properties->filter_size;
        std::printf(" %.3f |", static_cast<double>(bytes) / 1e6);
    }
    std::printf(" | | |\n");
    for (size_t kind = 0; kind < kKinds; kind++) {
        dbs[kind].reset();
        dbs[kind] = Open(kind, paths[kind], true);
    }
    std::vector<std::string> missing;
    harness::Random random(keys);
    for (int i = 0; i < 1 << 17; i++)
        missing.push_back(UserKey(keys + random.Next() % keys));
    const auto operations = static_cast<double>(missing.size());
    Rounds("Get, missing", operations, 5 * rounds, [&](size_t kind) {
        return Seconds([&] {
            PinnableSlice value;
            for (const std::string &key : missing) {
                sink = sink + dbs[kind]->Get(ReadOptions(), dbs[kind]->DefaultColumnFamily(), key, &value).ok();
                value.Reset();
            }
        });
    });
    Rounds("MultiGet of 32, missing", operations, 5 * rounds, [&](size_t kind) {
        return Seconds([&] {
            PinnableSlice values[kBatch];
            Status status[kBatch];
            for (size_t at = 0; at + kBatch <= missing.size(); at += kBatch) {
                const std::vector<Slice> slices(missing.begin() + static_cast<std::ptrdiff_t>(at),
                                                missing.begin() + static_cast<std::ptrdiff_t>(at + kBatch));
                dbs[kind]->MultiGet(ReadOptions(), dbs[kind]->DefaultColumnFamily(), kBatch, slices.data(), values,
                                    status);
                for (size_t i = 0; i < kBatch; i++) {
                    sink = sink + status[i].ok();
                    values[i].Reset();
                }
            }
        });
    });
}

}  // namespace

int main(int argc, char **argv)
{
    const size_t keys = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 5000000;
    const int rounds = argc > 2 ? std::atoi(argv[2]) : 5;
    counts = argc > 3 && std::strcmp(argv[3], "statistics") == 0;
    setvbuf(stdout, nullptr, _IOLBF, 0);
    std::printf("RocksDB %d.%d.%d, bloomline %s (%s), %zu keys%s; CPU time, medians of interleaved rounds; "
                "ratios to Bloom\n\n| what |",
                ROCKSDB_MAJOR, ROCKSDB_MINOR, ROCKSDB_PATCH, bloomline_version(), bloomline_backend(), keys,
                counts ? ", statistics on" : "");
    for (const char *name : kNames)
        std::printf(" %s |", name);
    std::printf(" Ribbon | static | control |\n|---|---:|---:|---:|---:|---:|---:|---:|\n");
    Bare(keys / kFlushes, rounds);
    Databases(keys, rounds);
    return 0;
}
