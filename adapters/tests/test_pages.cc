/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_pages.cc - the lines of C and C++ that docs/ENGINES.md shows, each in a database that is written
 * and read. tests/pages compares the lines. Uses both engines.
 */
#include <bloomline_leveldb.h>
#include <bloomline_rocksdb.h>

#include "harness.hpp"

#include <leveldb/c.h>
#include <rocksdb/c.h>
#include <rocksdb/db.h>
#include <rocksdb/table.h>

/* Before 7.10 RocksDB's C interface has no such function. */
extern "C" __attribute__((weak)) void rocksdb_block_based_options_set_optimize_filters_for_memory(
    rocksdb_block_based_table_options_t *options, unsigned char on);

namespace {

const harness::Directory *folder;

std::string PathOf(const char *name)
{
    return *folder / name;
}

/* A key that is there is found, and one that is not is not. */
void OfRocksDb(const rocksdb::Options &options, const std::string &path)
{
    rocksdb::DB *db = nullptr;
    CHECK(rocksdb::DB::Open(options, path, &db).ok());
    if (db == nullptr) return;
    CHECK(db->Put({}, "apple", "red").ok() && db->Flush({}).ok());
    std::string value;
    CHECK(db->Get({}, "apple", &value).ok() && value == "red");
    CHECK(db->Get({}, "plum", &value).IsNotFound());
    delete db;
}

void rocksdb_cpp()
{
    rocksdb::Options options;
    options.create_if_missing = true;

    rocksdb::BlockBasedTableOptions table_options;
    table_options.optimize_filters_for_memory = false; // on by default since RocksDB 9.2
    table_options.filter_policy = bloomline::NewRocksDbFilterPolicy(10); // was NewBloomFilterPolicy(10)
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table_options));
    OfRocksDb(options, PathOf("cpp"));

    table_options.filter_policy = bloomline::NewStaticFilterPolicy(10); // was NewBloomFilterPolicy(10)
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table_options));
    OfRocksDb(options, PathOf("cpp-static"));
}

/* The same by the C interface. */
void OfRocksDbInC(rocksdb_options_t *options, const std::string &path)
{
    char *error = nullptr;
    rocksdb_t *db = rocksdb_open(options, path.c_str(), &error);
    CHECK(db != nullptr && error == nullptr);
    if (db == nullptr) return;
    rocksdb_writeoptions_t *write = rocksdb_writeoptions_create();
    rocksdb_readoptions_t *read = rocksdb_readoptions_create();
    rocksdb_flushoptions_t *flush = rocksdb_flushoptions_create();
    rocksdb_put(db, write, "apple", 5, "red", 3, &error);
    rocksdb_flush(db, flush, &error);
    size_t len = 0;
    char *value = rocksdb_get(db, read, "apple", 5, &len, &error);
    CHECK(value != nullptr && len == 3 && error == nullptr);
    rocksdb_free(value);
    CHECK(rocksdb_get(db, read, "plum", 4, &len, &error) == nullptr);
    rocksdb_flushoptions_destroy(flush);
    rocksdb_readoptions_destroy(read);
    rocksdb_writeoptions_destroy(write);
    rocksdb_close(db);
}

void rocksdb_c()
{
    rocksdb_options_t *options = rocksdb_options_create();
    rocksdb_options_set_create_if_missing(options, 1);

    rocksdb_block_based_table_options_t *table_options = rocksdb_block_based_options_create();
    if (rocksdb_block_based_options_set_optimize_filters_for_memory != nullptr)
        rocksdb_block_based_options_set_optimize_filters_for_memory(table_options, 0); /* 9.2 and later */
    rocksdb_filterpolicy_t *policy = bloomline_rocksdb_filterpolicy(10); /* was ..._create_bloom_full(10) */
    rocksdb_block_based_options_set_filter_policy(table_options, policy); /* which now owns the policy */
    rocksdb_options_set_block_based_table_factory(options, table_options);
    OfRocksDbInC(options, PathOf("c"));

    policy = bloomline_rocksdb_static_filterpolicy(10, 0);
    rocksdb_block_based_options_set_filter_policy(table_options, policy);
    rocksdb_options_set_block_based_table_factory(options, table_options);
    OfRocksDbInC(options, PathOf("c-static"));
    rocksdb_block_based_options_destroy(table_options);
    rocksdb_options_destroy(options);
}

void leveldb_c()
{
    const std::string name = PathOf("leveldb");
    const char *path = name.c_str();
    char *error = nullptr;
    leveldb_options_t *options = leveldb_options_create();
    leveldb_options_set_create_if_missing(options, 1);

    leveldb_filterpolicy_t *policy = bloomline_leveldb_filterpolicy(10); /* was ..._create_bloom(10) */
    leveldb_options_set_filter_policy(options, policy);
    leveldb_t *db = leveldb_open(options, path, &error);
    CHECK(db != nullptr && error == nullptr);
    if (db == nullptr) return;
    leveldb_writeoptions_t *write = leveldb_writeoptions_create();
    leveldb_readoptions_t *read = leveldb_readoptions_create();
    leveldb_put(db, write, "apple", 5, "red", 3, &error);
    leveldb_compact_range(db, nullptr, 0, nullptr, 0);
    size_t len = 0;
    char *value = leveldb_get(db, read, "apple", 5, &len, &error);
    CHECK(value != nullptr && len == 3 && error == nullptr);
    leveldb_free(value);
    CHECK(leveldb_get(db, read, "plum", 4, &len, &error) == nullptr);
    leveldb_readoptions_destroy(read);
    leveldb_writeoptions_destroy(write);
    leveldb_close(db); /* when you have done your work with it, */
    leveldb_filterpolicy_destroy(policy); /* and only then this */
    leveldb_options_destroy(options);
}

} // namespace

int main()
{
    harness::Begin("test_pages");
    const harness::Directory here;
    folder = &here;
    RUN(rocksdb_cpp);
    RUN(rocksdb_c);
    RUN(leveldb_c);
    return harness::End();
}
