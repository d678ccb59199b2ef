/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_leveldb.cc - our filter policy against the one of the LevelDB that is linked:
 * databases written with one and read with the other.
 */
#include "harness.hpp"
#include "table.hpp"

#include "../leveldb/bloomline_leveldb.h"

#include <leveldb/c.h>
#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>

#include <memory>

using leveldb::Slice;

namespace {

std::vector<std::string> keys, missing;

void enough_keys()
{
    harness::CheckKeys(keys);
}

/* What a machine with few files gets. */
void derived_paths()
{
    std::vector<std::string> paths = {"/a", "/b/c"};
    harness::DerivePaths(paths, 5);
    CHECK((paths == std::vector<std::string>{"/a", "/b/c", "/copy-1/a", "/copy-1/b/c", "/copy-2/a"}));
}

/* LevelDB through its C interface, with either policy; it counts nothing, so that our
 * policy counts, and asks LevelDB's own for the same. */
struct Counted {
    int bits_per_key;
    leveldb_filterpolicy_t *builtin;
    uint64_t asked, denied, different;
};

char *CountedCreate(void *state, const char *const *key, const size_t *len, int n, size_t *filter_len)
{
    return bloomline_leveldb_create_filter(&static_cast<Counted *>(state)->bits_per_key, key, len, n, filter_len);
}

uint8_t CountedMatch(void *state, const char *key, size_t len, const char *filter, size_t filter_len)
{
    auto *counted = static_cast<Counted *>(state);
    uint8_t match = bloomline_leveldb_key_may_match(state, key, len, filter, filter_len);
    /* The type of the C interface is a FilterPolicy. */
    const auto *policy = reinterpret_cast<const leveldb::FilterPolicy *>(counted->builtin);
    counted->different += policy->KeyMayMatch(Slice(key, len), Slice(filter, filter_len)) != (match != 0);
    counted->asked++;
    counted->denied += match == 0;
    return match;
}

const char *CountedName(void *state)
{
    return bloomline_leveldb_name(state);
}

void KeepState(void *) {}

struct Database {
    leveldb_options_t *options = leveldb_options_create();
    leveldb_t *db = nullptr;

    Database(const std::string &path, leveldb_filterpolicy_t *policy)
    {
        char *error = nullptr;
        leveldb_options_set_create_if_missing(options, 1);
        leveldb_options_set_filter_policy(options, policy);
        leveldb_options_set_compression(options, leveldb_no_compression);
        leveldb_options_set_write_buffer_size(options, 4 << 20);
        db = leveldb_open(options, path.c_str(), &error);
        if (error != nullptr) {
            std::printf("leveldb_open: %s\n", error);
            std::exit(2);
        }
    }
    ~Database()
    {
        leveldb_close(db);
        leveldb_options_destroy(options);
    }
    void Write()
    {
        leveldb_writeoptions_t *write = leveldb_writeoptions_create();
        char *error = nullptr;
        for (size_t half : {0, 1})
            for (size_t i = half; i < keys.size(); i += 2)
                leveldb_put(db, write, keys[i].data(), keys[i].size(), keys[i].data(), keys[i].size(), &error);
        CHECK(error == nullptr);
        leveldb_compact_range(db, nullptr, 0, nullptr, 0);
        leveldb_writeoptions_destroy(write);
    }
    uint64_t Found(const std::vector<std::string> &of)
    {
        leveldb_readoptions_t *read = leveldb_readoptions_create();
        uint64_t found = 0;
        for (const std::string &key : of) {
            size_t len = 0;
            char *error = nullptr;
            char *value = leveldb_get(db, read, key.data(), key.size(), &len, &error);
            found += value != nullptr && std::string(value, len) == key;
            leveldb_free(value);
            leveldb_free(error);
        }
        leveldb_readoptions_destroy(read);
        return found;
    }
};

std::vector<std::string> Filters(const std::string &path)
{
    std::vector<std::string> filters;
    for (const auto &file : std::filesystem::directory_iterator(path))
        if (file.path().extension() == ".ldb")
            for (std::string &filter : table::LevelDbFilters(file.path()))
                filters.push_back(std::move(filter));
    std::sort(filters.begin(), filters.end());
    return filters;
}

void databases_both_ways()
{
    harness::Directory directory;
    std::vector<std::string> filters[2];
    for (int ours : {0, 1}) {
        std::string path = directory / (ours ? "ours" : "theirs");
        leveldb_filterpolicy_t *builtin = leveldb_filterpolicy_create_bloom(10);
        leveldb_filterpolicy_t *policy = bloomline_leveldb_filterpolicy(10);
        CHECK(policy != nullptr);
        Database(path, ours ? policy : builtin).Write();
        {
            Database database(path, builtin);
            CHECK_SAME(keys.size(), database.Found(keys));
            CHECK_SAME(0, database.Found(missing));
        }
        {
            Database database(path, policy);
            CHECK_SAME(keys.size(), database.Found(keys));
            CHECK_SAME(0, database.Found(missing));
        }
        Counted counted = {10, builtin, 0, 0, 0};
        leveldb_filterpolicy_t *counting =
            leveldb_filterpolicy_create(&counted, KeepState, CountedCreate, CountedMatch, CountedName);
        {
            Database database(path, counting);
            CHECK_SAME(keys.size(), database.Found(keys));
            CHECK_SAME(0, counted.different);
            uint64_t asked = counted.asked, denied = counted.denied;
            CHECK_SAME(0, database.Found(missing));
            std::printf("    written by %s: %" PRIu64 " keys found, %" PRIu64 " of %" PRIu64
                        " missing ones denied; LevelDB's policy said the same of all\n",
                        ours ? "ours" : "LevelDB's", asked - denied, counted.denied - denied,
                        counted.asked - asked);
            CHECK_SAME(0, counted.different);
            CHECK(static_cast<double>(counted.denied - denied) > 0.97 * static_cast<double>(counted.asked - asked));
        }
        leveldb_filterpolicy_destroy(counting);
        leveldb_filterpolicy_destroy(builtin);
        leveldb_filterpolicy_destroy(policy);
        filters[ours] = Filters(path);
    }
    /* LevelDB starts a table at the same keys each time, so that the filters are the same. */
    std::printf("    %zu filters in the tables\n", filters[0].size());
    CHECK(filters[0].size() > 1000);
    CHECK(filters[0] == filters[1]);
}

/* The filters of tables, opened without LevelDB: each key is in one of them. */
void filters_of_real_tables()
{
    harness::Directory directory;
    std::string path = directory / "db";
    leveldb_filterpolicy_t *builtin = leveldb_filterpolicy_create_bloom(10);
    Database(path, builtin).Write();
    leveldb_filterpolicy_destroy(builtin);
    std::vector<std::string> filters = Filters(path);
    std::vector<bloomline_view> views(filters.size());
    for (size_t i = 0; i < filters.size(); i++)
        CHECK_SAME(BLOOMLINE_OK, bloomline_view_open_engine(BLOOMLINE_ENGINE_LEVELDB, filters[i].data(), filters[i].size(), &views[i]));
    std::vector<uint64_t> bitmap((views.size() + 63) / 64);
    uint64_t lost = 0, matches = 0, asked = 0;
    for (size_t i = 0; i < keys.size(); i += 100, asked++) {
        uint64_t hash = bloomline_engine_hash(BLOOMLINE_ENGINE_LEVELDB, keys[i].data(), keys[i].size());
        size_t n = bloomline_views_contain_hash(views.data(), views.size(), hash, bitmap.data());
        lost += n == 0;
        matches += n;
    }
    CHECK_SAME(0, lost);
    double rate = static_cast<double>(matches - asked) / static_cast<double>(asked * views.size());
    std::printf("    %zu filters, %" PRIu64 " keys asked of each: %.2f %% false positives\n", views.size(), asked,
                100 * rate);
    CHECK(rate < 0.02);
}

}  // namespace

int main()
{
    harness::Begin("test_leveldb");
    std::printf("  LevelDB %d.%d\n", leveldb_major_version(), leveldb_minor_version());
    keys = harness::Keys();
    missing = harness::Missing(keys);
    RUN(enough_keys);
    RUN(derived_paths);
    RUN(databases_both_ways);
    RUN(filters_of_real_tables);
    return harness::End();
}
