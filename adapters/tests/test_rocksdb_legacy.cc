/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_rocksdb_legacy.cc - the filters of before format_version 5, which Pebble has still:
 * hashes and blocks against those of the RocksDB that is linked.
 */
#include "rocksdb_filters.hpp"

#include <algorithm>
#include <limits>

using namespace ROCKSDB_NAMESPACE;
using namespace filters;

namespace ROCKSDB_NAMESPACE {
/* Exported by the library, declared in none of its public headers. */
uint32_t Hash(const char *data, size_t n, uint32_t seed);
}  // namespace ROCKSDB_NAMESPACE

namespace {

uint32_t TheirHash(const std::string &key)
{
    return Hash(key.data(), key.size(), 0xbc9f1d34);
}

void hashes()
{
    harness::Random random(1);
    std::vector<std::string> keys;
    for (size_t len = 0; len <= 5000; len++)
        keys.push_back(random.Bytes(len));
    for (int i = 0; i < 200000; i++)
        keys.push_back(random.Bytes(random.Next() % 64));
    /* The bytes behind the last four are taken as signed numbers: high ones matter. */
    for (size_t len = 0; len < 16; len++)
        for (char byte : {'\x00', '\x7F', '\x80', '\xFF'})
            keys.emplace_back(len, byte);
    for (const std::string &key : keys)
        CHECK_SAME(TheirHash(key), bloomline_engine_hash(BLOOMLINE_ENGINE_ROCKSDB_LEGACY, key.data(), key.size()));
}

BlockBasedTableOptions Options4()
{
    BlockBasedTableOptions options = Options5();
    options.format_version = 4;
    return options;
}

/* RocksDB rounds bits per key to thousandths and these to whole bits, halves up, before it
 * builds such a filter: 9.4995 is 9.5, and that 10. Ours are built of the bits that are given
 * (Pebble's are), so that the caller rounds. */
double WholeBits(double bits_per_key)
{
    if (bits_per_key < 1)
        return 1;
    if (!(bits_per_key < 100))
        return 100;
    return static_cast<double>((static_cast<int>(bits_per_key * 1000 + 0.500001) + 500) / 1000);
}

std::string Theirs(double bits_per_key, const std::vector<std::string> &keys)
{
    auto builder = BuilderOf(*Both(bits_per_key).first, Options4());
    for (const std::string &key : keys)
        builder->AddKey(key);
    return Finish(*builder);
}

std::string Ours(double bits_per_key, const std::vector<std::string> &keys)
{
    std::vector<uint64_t> of;
    for (const std::string &key : keys)
        of.push_back(bloomline_engine_hash(BLOOMLINE_ENGINE_ROCKSDB_LEGACY, key.data(), key.size()));
    /* As RocksDB does: neighbours that have one hash count once. */
    of.erase(std::unique(of.begin(), of.end()), of.end());
    std::string filter(bloomline_engine_block_len(BLOOMLINE_ENGINE_ROCKSDB_LEGACY, of.size(), bits_per_key), '?');
    size_t written = 0;
    CHECK_SAME(BLOOMLINE_OK, bloomline_engine_block_build(BLOOMLINE_ENGINE_ROCKSDB_LEGACY, of.data(), of.size(), bits_per_key, filter.data(),
                                                                 filter.size(), &written));
    CHECK_SAME(filter.size(), written);
    return filter;
}

/* At the limits of k, where rounding changes, and where it does not. */
const double kBits[] = {0.5,  0.7,    0.999,  1,     1.4,   1.4994, 1.4996, 1.5,  2.5,  2.9,   3.3,   4.5,
                        5.5,  7.2,    8,      9.4,   9.499, 9.4994, 9.4996, 9.5,  9.9,  10,    10.49, 10.5,
                        12.5, 15.999, 16.001, 22.22, 33.3,  42.5,   43.4,   43.5, 60.6, 99.49, 99.9,  100, 1e9};

void same_bytes_by_bits_and_count()
{
    for (size_t n : {0, 1, 2, 3, 10, 51, 52, 1000, 5000, 100000}) {
        std::vector<std::string> keys = RandomKeys(n, n + 1);
        for (double bits : kBits)
            CHECK(Theirs(bits, keys) == Ours(WholeBits(bits), keys));
    }
    std::vector<std::string> keys = RandomKeys(5000, 2);
    for (int bits = 1; bits <= 100; bits++)
        CHECK(Theirs(bits, keys) == Ours(bits, keys));
    /* What is not a number is as many as there can be. */
    CHECK(Theirs(std::numeric_limits<double>::quiet_NaN(), keys) == Ours(100, keys));
}

void same_bytes_of_a_million_keys()
{
    std::vector<std::string> keys = RandomKeys(1000000, 3);
    for (double bits : {1.0, 9.9, 10.4, 23.5})
        CHECK(Theirs(bits, keys) == Ours(WholeBits(bits), keys));
}

void same_bytes_by_key_length()
{
    harness::Random random(4);
    std::vector<std::string> all;
    for (size_t len = 0; len <= 5000; len++) {
        all.push_back(random.Bytes(len));
        CHECK(Theirs(10, {all.back()}) == Ours(10, {all.back()}));
    }
    CHECK(Theirs(9.5, all) == Ours(10, all));
    for (size_t len : {0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 24, 31, 64, 100, 255, 256, 1000, 2048, 4999, 5000}) {
        std::vector<std::string> keys;
        for (int i = 0; i < 200; i++)
            keys.push_back(random.Bytes(len));
        CHECK(Theirs(10.4, keys) == Ours(10, keys));
    }
}

void neighbours_that_repeat_count_once()
{
    std::vector<std::string> keys;
    for (int i = 0; i < 3000; i++)
        keys.push_back("prefix" + std::to_string(i / 7 % 100));
    CHECK(Theirs(10, keys) == Ours(10, keys));
    CHECK(Theirs(10, std::vector<std::string>(1000, "one")) == Ours(10, {"one"}));
}

/* Our policy leaves these to RocksDB; below half a bit there is no filter. */
void the_policy_gives_the_same()
{
    std::vector<std::string> keys = RandomKeys(1000, 5);
    for (double bits : kBits) {
        auto builder = BuilderOf(*Both(bits).second, Options4());
        for (const std::string &key : keys)
            builder->AddKey(key);
        CHECK(Finish(*builder) == Ours(WholeBits(bits), keys));
    }
    auto [theirs, ours] = Both(0.49);
    CHECK(BuilderOf(*theirs, Options4()) == nullptr && BuilderOf(*ours, Options4()) == nullptr);
}

}  // namespace

int main()
{
    harness::Begin("test_rocksdb_legacy");
    std::printf("  RocksDB %d.%d.%d\n", ROCKSDB_MAJOR, ROCKSDB_MINOR, ROCKSDB_PATCH);
    RUN(hashes);
    RUN(same_bytes_by_bits_and_count);
    RUN(same_bytes_of_a_million_keys);
    RUN(same_bytes_by_key_length);
    RUN(neighbours_that_repeat_count_once);
    RUN(the_policy_gives_the_same);
    return harness::End();
}
