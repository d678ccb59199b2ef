// SPDX-License-Identifier: MIT OR Apache-2.0
//
// test_hpp_parquet.cpp - filters of Parquet files by bloomline.hpp: numbers as keys, and the calls of C,
// which test_parquet.c holds to the format.
#include "hpp.h"

#include <array>
#include <list>

namespace {

const std::vector<std::int64_t> ids = {5, -1, 7000000000};

// A column has the hashes of its values.
template <class C>
void one_by_one(const C &values)
{
    std::vector<std::uint64_t> expected;
    for (const auto value : values) expected.push_back(Parquet::hash(value));
    CHECK(Parquet::hashes(values) == expected);
}

// Of 1 as an INT32 and as an INT64 other programs publish the hashes.
void numbers()
{
    CHECK_U64(0xf42f94001fcb5351, Parquet::hash(std::int32_t{1}));
    CHECK_U64(0x9f29cb17a2a49995, Parquet::hash(std::int64_t{1}));
    CHECK_U64(Parquet::hash("\0\0\0\x80"sv), Parquet::hash(-0.0f));
    CHECK_U64(Parquet::hash("\0\0\0\0\0\0\xf8\x3f"sv), Parquet::hash(1.5));
    CHECK_U64(Parquet::hash("\1"sv), Parquet::hash(true));

    const auto hashes = Parquet::hashes(ids);
    CHECK(hashes.size() == 3 && hashes[1] == Parquet::hash("\xff\xff\xff\xff\xff\xff\xff\xff"sv));
    CHECK(Parquet::hashes(some_strings(3))[2] == Parquet::hash("key 2"sv));
    one_by_one(std::vector<std::int64_t>{});
    one_by_one(std::vector<std::int32_t>(70, -3));
    one_by_one(std::array<float, 3>{1.5f, -0.0f, 0});
    one_by_one(std::list<double>{1.5, -0.0, 0}); // not side by side in memory
    const std::uint64_t array[] = {1, std::uint64_t(-1)};
    one_by_one(array);
    CHECK(Parquet::hashes(std::vector<bool>{false, true})[1] == Parquet::hash(true));
}

// The lines of docs/PARQUET.md, which tests/pages compares.
void as_the_page_shows()
{
    const std::int64_t id = -1;
    auto block = Parquet::block_build(Parquet::hashes(ids), Parquet::bits_per_key(0.01)); // of a vector of int64_t
    CHECK(block);
    auto view = View::open_parquet(*block);
    CHECK(view);
    bool maybe = view->contains(ParquetValue(id)); // a byte array as it is: view->contains(name)
    CHECK(maybe && !view->contains(ParquetValue(6)));
}

void a_filter_in_parts()
{
    const auto hashes = Parquet::hashes(ids);
    const double bits_per_key = Parquet::bits_per_key(0.01);
    CHECK_U64(9681, std::uint64_t(1000 * bits_per_key));
    Buffer bits(Parquet::bits_len(1000, bits_per_key));
    CHECK(bits.size() == 2048 && Parquet::insert_hashes(bits, hashes) && Parquet::fold(bits, 0.01));
    CHECK_U64(32, bits.size());
    Buffer block = *Parquet::header(bits.size());
    const auto header = Parquet::read_header(block);
    CHECK(header && header->header_len == block.size() && header->bits_len == 32);
    CHECK_STATUS(BLOOMLINE_ERR_TRUNCATED, View::open_parquet(block).code());
    block.insert(block.end(), bits.begin(), bits.end());
    CHECK(block == *Parquet::block_build(hashes, bits_per_key));
    for (const View &view : {*View::open_parquet(block), *View::open_parquet_bits(bits)}) {
        for (const std::int64_t id : ids) CHECK(view.contains(ParquetValue(id)));
        CHECK(!view.contains(ParquetValue(5)) && view.contains_hash(Parquet::hash(ids[0])));
    }

    block[0] = 0;
    CHECK_STATUS(BLOOMLINE_ERR_NOT_A_FILTER, Parquet::read_header(block).code());
    CHECK((*View::open_parquet(block)).contains(ParquetValue(5)));
    CHECK_STATUS(BLOOMLINE_ERR_TRUNCATED, Parquet::header(33).code());
    CHECK_STATUS(BLOOMLINE_ERR_RATE, Parquet::fold(bits, 1).code());
    bits.push_back(0);
    CHECK_STATUS(BLOOMLINE_ERR_TRUNCATED, Parquet::insert_hashes(bits, hashes).code());
    CHECK_STATUS(BLOOMLINE_ERR_TRUNCATED, Parquet::fold(bits, 0.5).code());
    CHECK_U64(33, bits.size());
}

// test_split_blocks.c holds the calls of C to the golden files.
void blocks_of_others()
{
    Buffer bits(64);
    bits[0] = bits[40] = 255;
    const auto kudu = KuduView::open(bits);
    const auto velox = VeloxView::open(bits, 32);
    CHECK(kudu && velox && !kudu->contains_hash32(1) && !velox->contains_hash(1));
    Bitmap answers;
    CHECK_U64(0, kudu->contains_hashes32(std::array<std::uint32_t, 3>{1, 2, 3}, answers));
    CHECK(answers.size() == 3);
    CHECK_U64(0, velox->contains_hashes(std::array<std::uint64_t, 2>{1, 2}, answers));
    std::fill(bits.begin(), bits.end(), std::uint8_t{255});
    CHECK(kudu->contains_hash32(1) && !velox->contains_hash(1)); // a copy
    VeloxView copy = *velox, moved = std::move(copy);
    CHECK(!moved.contains_hash(1) && copy.contains_hash(1));
    CHECK(KuduView().contains_hash32(1) && VeloxView().contains_hash(1));
    CHECK_U64(2, VeloxView().contains_hashes(std::array<std::uint64_t, 2>{1, 2}, answers));
    bits.resize(96);
    CHECK_STATUS(BLOOMLINE_ERR_LINE_COUNT, KuduView::open(bits).code());
    CHECK_STATUS(BLOOMLINE_ERR_LAYOUT, VeloxView::open(bits, 16).code());
    CHECK((*VeloxView::open(bits, 16)).contains_hash(1));
}

} // namespace

int main()
{
    check_begin("test_hpp_parquet");
    RUN(numbers);
    RUN(as_the_page_shows);
    RUN(a_filter_in_parts);
    RUN(blocks_of_others);
    return check_end();
}
