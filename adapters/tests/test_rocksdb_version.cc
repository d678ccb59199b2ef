/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_rocksdb_version.cc - the adapter compiled with the headers of another RocksDB than the one
 * that runs. The program is linked with an adapter that took its headers for the version that
 * kCompiledFor names: of another major or minor version it must return RocksDB's own policy and
 * say so once; of another patch it must not. Either way a database loses no key.
 */
#include "rocksdb_filters.hpp"

#include <rocksdb/db.h>
#include <rocksdb/statistics.h>
#include <rocksdb/version.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include <fcntl.h>
#include <unistd.h>

using namespace ROCKSDB_NAMESPACE;

/* Of compiled_for.cc: all else is compiled once for all versions. */
extern const int kCompiledFor[3];

namespace {

std::string Number(int major, int minor, int patch)
{
    return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

const std::string kCompiled = Number(kCompiledFor[0], kCompiledFor[1], kCompiledFor[2]);
const std::string kRunning = Number(ROCKSDB_MAJOR, ROCKSDB_MINOR, ROCKSDB_PATCH);
const bool kSame = kCompiledFor[0] == ROCKSDB_MAJOR && kCompiledFor[1] == ROCKSDB_MINOR;

/* What goes to standard error, from here to Text(). */
class StandardError {
public:
    StandardError()
        : path_(directory_ / "stderr"), saved_(dup(2))
    {
        int file = open(path_.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_APPEND, 0600);
        CHECK(saved_ >= 0 && file >= 0 && dup2(file, 2) == 2);
        close(file);
    }
    ~StandardError()
    {
        Restore();
    }
    std::string Text()
    {
        Restore();
        std::ifstream file(path_);
        return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    }

private:
    void Restore()
    {
        if (saved_ < 0)
            return;
        dup2(saved_, 2);
        close(saved_);
        saved_ = -1;
    }

    harness::Directory directory_;
    std::string path_;
    int saved_;
};

using Policy = std::shared_ptr<const FilterPolicy>;

/* By both ways to one, and twice: C's type of policies begins with that of C++. */
std::vector<Policy> policies;

void it_is_said_once()
{
    StandardError error;
    for (int i = 0; i < 2; i++) {
        policies.push_back(bloomline::NewRocksDbFilterPolicy(10));
        policies.emplace_back(reinterpret_cast<FilterPolicy *>(bloomline_rocksdb_filterpolicy(10)));
    }
    const std::string text = error.Text();
    std::printf("    standard error: %s", text.empty() ? "nothing\n" : text.c_str());
    const auto lines = static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
    CHECK_SAME(kSame ? 0 : 1, lines);
    CHECK((text.find(kCompiled) != std::string::npos) == !kSame);
    CHECK((text.find(kRunning) != std::string::npos) == !kSame);
}

void the_policy_is_rocksdbs_own()
{
    const Policy own(NewBloomFilterPolicy(10));
    for (const Policy &policy : policies) {
        CHECK(policy != nullptr);
        CHECK(std::strcmp(policy->Name(), kSame ? "bloomline.BloomFilter" : own->Name()) == 0);
        CHECK(policy->GetId() == own->GetId());
        CHECK(std::strcmp(policy->CompatibilityName(), own->CompatibilityName()) == 0);
    }
}

/* The same for static filters, with the bits of their rate. It is not said again. */
void no_static_filters_either()
{
    StandardError error;
    const Policy own(NewBloomFilterPolicy(9.9));
    policies.push_back(bloomline::NewStaticFilterPolicy(0.01, -1));
    policies.emplace_back(reinterpret_cast<FilterPolicy *>(bloomline_rocksdb_static_filterpolicy(0.01, -1)));
    for (size_t i = policies.size() - 2; i < policies.size(); i++) {
        CHECK(std::strcmp(policies[i]->Name(), kSame ? "bloomline.StaticFilter" : own->Name()) == 0);
        CHECK(policies[i]->GetId() == own->GetId());
        CHECK(std::strcmp(policies[i]->CompatibilityName(), own->CompatibilityName()) == 0);
    }
    CHECK(error.Text().empty());
}

void no_key_is_lost()
{
    const std::vector<std::string> keys = filters::RandomKeys(20000, 1), missing = filters::RandomKeys(20000, 2);
    for (const Policy &policy : policies) {
        harness::Directory directory;
        BlockBasedTableOptions table = filters::Options5();
        table.filter_policy = policy;
        Options options;
        options.create_if_missing = true;
        options.statistics = CreateDBStatistics();
        options.table_factory.reset(NewBlockBasedTableFactory(table));
        for (bool written : {false, true}) {
            DB *opened = nullptr;
            REQUIRE_OK(DB::Open(options, directory / "db", &opened));
            std::unique_ptr<DB> db(opened);
            if (!written) {
                for (const std::string &key : keys)
                    REQUIRE_OK(db->Put(WriteOptions(), key, key));
                REQUIRE_OK(db->Flush(FlushOptions()));
            }
            std::string value;
            for (const std::string &key : keys)
                CHECK(db->Get(ReadOptions(), key, &value).ok() && value == key);
            std::vector<std::string> values;
            const std::vector<Slice> slices(keys.begin(), keys.end());
            for (const Status &status : db->MultiGet(ReadOptions(), slices, &values))
                CHECK(status.ok());
            for (const std::string &key : missing)
                db->Get(ReadOptions(), key, &value);
        }
        /* There was a filter, and it was asked. */
        CHECK(options.statistics->getTickerCount(BLOOM_FILTER_USEFUL) > missing.size());
    }
}

}  // namespace

int main()
{
    harness::Begin("test_rocksdb_version");
    std::printf("  compiled for RocksDB %s, %s runs\n", kCompiled.c_str(), kRunning.c_str());
    CHECK(GetRocksVersionAsString() == kRunning);
    RUN(it_is_said_once);
    RUN(the_policy_is_rocksdbs_own);
    RUN(no_static_filters_either);
    RUN(no_key_is_lost);
    policies.clear();
    return harness::End();
}
