// SPDX-License-Identifier: MIT OR Apache-2.0
// rocksdb.cc - a program outside of the project that uses the adapter for RocksDB: it writes and
// reads a database in the directory that it is given.
#include <bloomline_rocksdb.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>

int main(int, char **arguments)
{
    rocksdb::BlockBasedTableOptions table;
    table.filter_policy = bloomline::NewRocksDbFilterPolicy(10);
    rocksdb::Options options;
    options.create_if_missing = true;
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    rocksdb::DB *opened = nullptr;
    if (!rocksdb::DB::Open(options, arguments[1], &opened).ok())
        return 1;
    std::unique_ptr<rocksdb::DB> db(opened);
    bool right = std::strcmp(table.filter_policy->Name(), "bloomline.BloomFilter") == 0 &&
                 db->Put({}, "apple", "red").ok() && db->Flush({}).ok();
    std::string value;
    right = right && db->Get({}, "apple", &value).ok() && value == "red" &&
            db->Get({}, "plum", &value).IsNotFound();
    std::printf("consumer of bloomline::rocksdb: %s\n", right ? "right" : "WRONG");
    return !right;
}
