/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_leveldb_blocks.cc - filters against those of the LevelDB that is linked: the same
 * bytes, and the same answers on any bytes.
 */
#include "harness.hpp"

#include "../leveldb/bloomline_leveldb.h"

#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>

#include <cstring>
#include <memory>

using leveldb::Slice;

namespace {

/* Filters that our policy has been asked for, made from what it is given. */
std::string Ours(int bits_per_key, const std::vector<std::string> &of)
{
    std::vector<const char *> pointers;
    std::vector<size_t> lengths;
    for (const std::string &key : of) {
        pointers.push_back(key.data());
        lengths.push_back(key.size());
    }
    size_t len = 0;
    char *filter = bloomline_leveldb_create_filter(&bits_per_key, pointers.data(), lengths.data(),
                                                   static_cast<int>(of.size()), &len);
    std::string bytes(filter, len);
    free(filter);
    return bytes;
}

std::string Theirs(int bits_per_key, const std::vector<std::string> &of)
{
    std::unique_ptr<const leveldb::FilterPolicy> policy(leveldb::NewBloomFilterPolicy(bits_per_key));
    std::vector<Slice> slices(of.begin(), of.end());
    std::string filter;
    policy->CreateFilter(slices.data(), static_cast<int>(slices.size()), &filter);
    return filter;
}

std::vector<std::string> RandomKeys(size_t n, uint64_t seed)
{
    std::vector<std::string> random_keys;
    harness::Random random(seed);
    for (size_t i = 0; i < n; i++)
        random_keys.push_back(random.Bytes(random.Next() % 40));
    return random_keys;
}

void same_bytes_by_bits_and_count()
{
    int combinations = 0;
    for (int bits : {0, 1, 2, 3, 5, 7, 8, 9, 10, 12, 14, 15, 16, 20, 29, 30, 43, 44, 50, 100, 1000})
        for (size_t n : {0, 1, 2, 3, 6, 7, 30, 255, 256, 257, 1000, 20011}) {
            std::vector<std::string> of = RandomKeys(n, n);
            CHECK(Theirs(bits, of) == Ours(bits, of));
            combinations++;
        }
    std::vector<std::string> million = RandomKeys(1000000, 1);
    for (int bits : {1, 10, 17}) {
        CHECK(Theirs(bits, million) == Ours(bits, million));
        combinations++;
    }
    std::printf("    %d combinations of bits per key and count\n", combinations);
}

void same_bytes_by_key_length()
{
    harness::Random random(2);
    std::vector<std::string> all;
    for (size_t len = 0; len <= 5000; len++) {
        all.push_back(random.Bytes(len));
        CHECK(Theirs(10, {all.back()}) == Ours(10, {all.back()}));
    }
    CHECK(Theirs(10, all) == Ours(10, all));
}

void keys_that_repeat_count()
{
    std::vector<std::string> repeated(1000, "one");
    CHECK_SAME(1251, Ours(10, repeated).size());
    CHECK(Theirs(10, repeated) == Ours(10, repeated));
}

void same_answers_on_any_bytes()
{
    std::unique_ptr<const leveldb::FilterPolicy> theirs(leveldb::NewBloomFilterPolicy(10));
    std::vector<std::string> probes = RandomKeys(50, 3);
    harness::Random random(4);
    uint64_t yes = 0, no = 0;
    for (size_t len = 0; len < 200; len++)
        for (int k = 0; k < 256; k += len % 20 == 0 ? 1 : 9)
            for (int fill : {0, 1, 2}) {
                std::string filter = random.Bytes(len);
                if (fill < 2)
                    filter.assign(len, fill == 0 ? '\0' : '\xFF');
                if (len > 0)
                    filter.back() = static_cast<char>(k);
                for (const std::string &key : probes) {
                    bool want = theirs->KeyMayMatch(key, filter);
                    CHECK_SAME(want, bloomline_leveldb_key_may_match(nullptr, key.data(), key.size(),
                                                                     filter.data(), filter.size()));
                    (want ? yes : no)++;
                }
            }
    CHECK(yes > 1000 && no > 1000);
    CHECK_SAME(0, bloomline_leveldb_key_may_match(nullptr, "key", 3, nullptr, 0));
    CHECK(strcmp(theirs->Name(), bloomline_leveldb_name(nullptr)) == 0);
}

}  // namespace

int main()
{
    harness::Begin("test_leveldb_blocks");
    RUN(same_bytes_by_bits_and_count);
    RUN(same_bytes_by_key_length);
    RUN(keys_that_repeat_count);
    RUN(same_answers_on_any_bytes);
    return harness::End();
}
