/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_rocksdb_no_backend.cc - BLOOMLINE_BACKEND names a backend that there is not: both adapters
 * leave filters to the engine, since what is written then stays in files. Uses both engines.
 */
#include "rocksdb_filters.hpp"

#include "../leveldb/bloomline_leveldb.h"

#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

namespace {

void rocksdb_makes_its_own_filters()
{
    const filters::Policies both = filters::Both(10);
    const std::vector<std::string> keys = filters::RandomKeys(1000, 1);
    std::string made[2];
    for (int ours = 0; ours < 2; ours++) {
        auto builder = filters::BuilderOf(ours != 0 ? *both.second : *both.first);
        CHECK(builder != nullptr);
        for (const std::string &key : keys)
            builder->AddKey(key);
        made[ours] = filters::Finish(*builder);
    }
    CHECK_SAME(made[0].size(), made[1].size());
    CHECK(made[0].size() > 1000 && made[0] == made[1]);
    auto reader = filters::ReaderOf(*both.second, made[1]);
    CHECK(reader != nullptr);
    for (const std::string &key : keys)
        CHECK(reader->MayMatch(key));
    CHECK(!reader->MayMatch("none of them"));
}

/* Asked for static filters, RocksDB makes Bloom filters of the same rate. */
void rocksdb_makes_its_own_filters_for_static_ones()
{
    const std::vector<std::string> keys = filters::RandomKeys(1000, 1);
    for (double wanted : {10.0, 9.9, 0.01}) {
        const filters::Policies both = filters::Both(wanted < 1 ? 9.9 : wanted);
        const auto policy = bloomline::NewStaticFilterPolicy(wanted, -1);
        auto theirs = filters::BuilderOf(*both.first), ours = filters::BuilderOf(*policy);
        for (const std::string &key : keys) {
            theirs->AddKey(key);
            ours->AddKey(key);
        }
        const std::string filter = filters::Finish(*ours);
        CHECK(filter.size() > 1000 && filter == filters::Finish(*theirs));
        CHECK(!filters::ReaderOf(*policy, filter)->MayMatch("none of them"));
        /* A static filter that was written before matches all. */
        const std::string of_static = std::string(128, '\0') + "\xB5" + std::string(4, '\0');
        CHECK(filters::ReaderOf(*policy, of_static)->MayMatch("none of them"));
    }
}

void leveldb_makes_its_own_filters()
{
    /* In C a policy is a type that begins with that of C++. */
    std::unique_ptr<leveldb::FilterPolicy> ours(
        reinterpret_cast<leveldb::FilterPolicy *>(bloomline_leveldb_filterpolicy(10)));
    std::unique_ptr<const leveldb::FilterPolicy> theirs(leveldb::NewBloomFilterPolicy(10));
    const std::vector<std::string> keys = filters::RandomKeys(1000, 2);
    const std::vector<leveldb::Slice> slices(keys.begin(), keys.end());
    std::string made, wanted;
    ours->CreateFilter(slices.data(), static_cast<int>(slices.size()), &made);
    theirs->CreateFilter(slices.data(), static_cast<int>(slices.size()), &wanted);
    CHECK(std::strcmp(ours->Name(), theirs->Name()) == 0);
    CHECK(made.size() > 1000 && made == wanted);
    for (const leveldb::Slice &key : slices)
        CHECK(ours->KeyMayMatch(key, made));
}

}  // namespace

int main(int, char **argv)
{
    /* The library reads the variable when it is loaded. */
    const char *const name = "none that there is";
    const char *const now = std::getenv("BLOOMLINE_BACKEND");
    if (now == nullptr || std::strcmp(now, name) != 0) {
        setenv("BLOOMLINE_BACKEND", name, 1);
        execv("/proc/self/exe", argv);
        std::perror("test_rocksdb_no_backend: execv");
        return 1;
    }
    harness::Begin("test_rocksdb_no_backend");
    CHECK(std::strcmp(bloomline_backend(), "none") == 0);
    RUN(rocksdb_makes_its_own_filters);
    RUN(rocksdb_makes_its_own_filters_for_static_ones);
    RUN(leveldb_makes_its_own_filters);
    return harness::End();
}
