// SPDX-License-Identifier: MIT OR Apache-2.0
//
// test_hpp_columns.cpp - bloomline.hpp with columns: their rows as selections, bytes and bits, also of columns with
// nulls, and filters built of them.
#include "hpp.h"

namespace {

// Some rows of a column, as bits by bitmaps; each is held to a single probe.
void bits_that_are_set()
{
    Filter filter = make_filter(100);
    for (std::uint64_t i = 0; i < 200; i += 3) filter.insert_hash(hash(IntegerKey(i), 7));
    Bitmap bitmap;
    for (const std::size_t n : {0, 1, 63, 64, 65, 128, 200}) {
        std::vector<std::uint64_t> hashes;
        for (std::uint64_t i = 0; i < n; i++) hashes.push_back(hash(IntegerKey(i), 7));
        filter.contains_hashes(hashes, bitmap);
        std::vector<std::size_t> expected, found, absent, unset;
        for (std::size_t i = 0; i < n; i++) {
            (filter.contains_hash(hashes[i]) ? expected : absent).push_back(i);
        }
        bitmap.for_each([&](std::size_t i) { found.push_back(i); });
        bitmap.for_each_unset([&](std::size_t i) { unset.push_back(i); });
        CHECK(found == expected && found.size() == bitmap.count() && unset == absent);
    }
}

// Columns of every type, and what single probes say of their rows.
struct Columns {
    std::vector<std::uint64_t> u64, hashes;
    std::vector<std::uint32_t> u32;
    // The same bits, with a sign.
    std::vector<std::int64_t> i64;
    std::vector<long long> wide;
    std::vector<std::int32_t> i32;
    std::vector<std::int32_t> offsets = {3};
    std::vector<std::int64_t> large_offsets = {3};
    std::string data = "not";

    explicit Columns(std::size_t n)
    {
        for (std::size_t i = 0; i < n; i++) {
            u64.push_back(i % 2 == 0 ? i * 977 : ~(i * 977));
            u32.push_back(static_cast<std::uint32_t>(i % 2 == 0 ? i * 31 : ~(i * 31)));
            i64.push_back(static_cast<std::int64_t>(u64[i]));
            wide.push_back(static_cast<long long>(u64[i]));
            i32.push_back(static_cast<std::int32_t>(u32[i]));
            data += string(i);
            offsets.push_back(static_cast<std::int32_t>(data.size()));
            large_offsets.push_back(static_cast<std::int64_t>(data.size()));
        }
        hashes = hash_u64_batch(u64, 7);
        CHECK(hash_u64_batch(i64, 7) == hashes && hash_u64_batch(wide, 7) == hashes);
        CHECK(hash_u64_batch({i64.data(), n}, 7) == hashes && hash_u32_batch(i32, 7) == hash_u32_batch(u32, 7));
    }
    static std::string string(std::size_t i) { return std::string(i % 5, 'x') + std::to_string(i); }
};

static std::uint64_t hash_of_u32(std::uint32_t value)
{
    const unsigned char bytes[4] = {static_cast<unsigned char>(value), static_cast<unsigned char>(value >> 8),
                                    static_cast<unsigned char>(value >> 16), static_cast<unsigned char>(value >> 24)};
    return hash(bytes, 7);
}

// Selects by 'select(column, rows)' and refines by 'refine(column, rows)'; 'there(i)' says whether row i may be present.
template <class Row, class There, class Select, class Refine>
void check_rows(std::size_t n, There there, Select select, Refine refine)
{
    std::vector<Row> expected, rows = {9, 9, 9};
    for (std::size_t i = 0; i < n; i++) {
        if (there(i)) expected.push_back(static_cast<Row>(i));
    }
    CHECK_U64(expected.size(), select(rows));
    CHECK(rows == expected);
    rows.clear();
    expected.clear();
    for (std::size_t i = n; i-- > 0;) {
        if (i % 3 != 0) rows.push_back(static_cast<Row>(i));
        if (i % 3 != 0 && there(i)) expected.push_back(static_cast<Row>(i));
    }
    CHECK_U64(expected.size(), refine(rows));
    CHECK(rows == expected);
}

template <class Row, class F>
void check_columns(const F &filter, const Columns &column)
{
    const std::size_t n = column.u64.size();
    const auto has_u64 = [&](std::size_t i) { return filter.contains_u64(column.u64[i]); };
    const auto has_u32 = [&](std::size_t i) { return filter.contains_hash(hash_of_u32(column.u32[i])); };
    const auto has_string = [&](std::size_t i) { return filter.contains(Columns::string(i)); };
    check_rows<Row>(n, has_u64, [&](auto &rows) { return filter.select_hashes(column.hashes, rows); },
                    [&](auto &rows) { return filter.refine_hashes(column.hashes, rows); });
    check_rows<Row>(n, has_u64, [&](auto &rows) { return filter.select_u64(column.u64, rows); },
                    [&](auto &rows) { return filter.refine_u64(column.u64, rows); });
    check_rows<Row>(n, has_u32, [&](auto &rows) { return filter.select_u32(column.u32, rows); },
                    [&](auto &rows) { return filter.refine_u32(column.u32, rows); });
    check_rows<Row>(n, has_u64, [&](auto &rows) { return filter.select_u64(column.i64, rows); },
                    [&](auto &rows) { return filter.refine_u64(column.wide, rows); });
    check_rows<Row>(n, has_u32, [&](auto &rows) { return filter.select_u32(column.i32, rows); },
                    [&](auto &rows) { return filter.refine_u32({column.i32.data(), n}, rows); });
    check_rows<Row>(n, has_string, [&](auto &rows) { return filter.select_strings(column.offsets, column.data, rows); },
                    [&](auto &rows) { return filter.refine_strings(column.offsets, column.data, rows); });
    check_rows<Row>(n, has_string, [&](auto &rows) { return filter.select_strings(column.large_offsets, column.data, rows); },
                    [&](auto &rows) { return filter.refine_strings(column.large_offsets, column.data, rows); });
}

void columns()
{
    for (const std::size_t n : {0, 1, 16, 64, 65, 1100}) {
        const Columns column(n);
        Filter filter = make_filter(400);
        for (std::size_t i = 0; i < n; i += 9) {
            filter.insert_u64(column.u64[i]);
            filter.insert_hash(hash_of_u32(column.u32[i]));
            filter.insert(Columns::string(i));
        }
        const std::vector<std::uint64_t> hashes = hash_u32_batch(column.u32, 7);
        for (std::size_t i = 0; i < n; i++) CHECK_U64(hash_of_u32(column.u32[i]), hashes[i]);
        check_columns<std::uint32_t>(filter, column);
        check_columns<std::uint16_t>(filter, column);
        check_columns<std::uint32_t>(filter.view(), column);
        auto counting = CountingFilter::create(params_for_bits(100, 10, 7));
        REQUIRE(counting);
        if (n > 0) counting->insert_u64(column.u64[0]);
        check_columns<std::uint16_t>(*counting, column);
        check_columns<std::uint32_t>(Filter(), column); // all rows
        check_columns<std::uint32_t>(View(), column);
    }
    const std::int64_t minus[] = {-1, 7};
    CHECK(hash_u64_batch(minus)[0] == hash_u64(UINT64_MAX) && hash_u64_batch({}).empty());
    // Without offsets there are no strings; and rows that a type cannot count.
    std::vector<std::uint16_t> rows = {1, 2};
    const std::vector<std::int32_t> none;
    CHECK_U64(0, View().select_strings(none, Bytes(), rows));
    CHECK(rows.empty());
    const std::vector<std::uint64_t> many(65537);
    rows = {1, 2};
    CHECK_U64(SIZE_MAX, make_filter().select_u64(many, rows));
    CHECK(rows.empty());
    CHECK_U64(65536, View().select_u64({many.data(), 65536}, rows));
    CHECK(rows.size() == 65536 && rows[65535] == 65535);
}

// A filter built of columns has the bytes of one that keys are inserted into.
void built_of_columns()
{
    const Columns column(3000);
    const std::vector<std::uint8_t> bits(3000 / 8 + 1, 0x5A);
    const auto params = foldable(params_for_rate(9000, 0.01, 7), 5);
    auto builder = ConcurrentBuilder::create(params);
    Result expected = Filter::create(params);
    REQUIRE(builder && expected);
    CHECK(builder->insert_hashes(column.hashes) && builder->insert_u64(column.i64, {bits, 1}));
    CHECK(builder->insert_u32(column.i32) && builder->insert_u32(column.u32, {bits}));
    CHECK(builder->insert_strings(column.offsets, column.data, {bits, 1}));
    CHECK(builder->insert_strings(column.large_offsets, column.data));
    expected->insert_hashes(column.hashes);
    for (std::size_t i = 0; i < 3000; i++) {
        const bool has = (0x5A >> (i % 8)) & 1, next = (0x5A >> ((i + 1) % 8)) & 1;
        expected->insert_hash(hash_of_u32(column.u32[i]));
        expected->insert(Columns::string(i));
        if (has) expected->insert_hash(hash_of_u32(column.u32[i]));
        if (next) expected->insert_u64(column.u64[i]);
        if (next) expected->insert(Columns::string(i));
    }
    CHECK(builder->merge(*expected));
    CHECK_U64(2 * expected->key_count(), builder->key_count());
    auto twin = expected->clone();
    CHECK(twin && expected->merge(*twin));
    CHECK_STATUS(BLOOMLINE_ERR_MISMATCH, builder->merge(make_filter()).code());

    // What is refused inserts nothing.
    const std::vector<std::int32_t> behind = {0, 3}, descends = {2, 1}, none;
    CHECK_STATUS(BLOOMLINE_ERR_TRUNCATED, builder->insert_u64(column.u64, {bits, 9}).code());
    CHECK_STATUS(BLOOMLINE_ERR_TRUNCATED, builder->insert_u64(column.u64, {bits, SIZE_MAX}).code());
    CHECK_STATUS(BLOOMLINE_ERR_TRUNCATED, builder->insert_strings(behind, "ab"sv).code());
    CHECK_STATUS(BLOOMLINE_ERR_NULL, builder->insert_strings(descends, "ab"sv).code());
    CHECK(builder->insert_strings(none, Bytes()));
    CHECK_U64(expected->key_count(), builder->key_count());

    CHECK_STATUS(BLOOMLINE_ERR_RATE, std::move(*builder).finish_to_rate(0, 1).code());
    auto made = std::move(*builder).finish_to_rate(0.01, 0.3);
    REQUIRE(made && *made && !*builder);
    CHECK(expected->fold_to_rate(0.01));
    CHECK(*made->encode() == *expected->encode());

    // What is not worth it, and an empty builder, say that every key may be present.
    builder = ConcurrentBuilder::create(params);
    REQUIRE(builder && builder->merge(*Filter::create(params)));
    CHECK(builder->insert_hashes(column.hashes));
    auto nothing = std::move(*builder).finish_to_rate(0.01, 0);
    CHECK(nothing && !*nothing && nothing->contains("apple"sv));
    auto failed = std::move(*builder).finish();
    CHECK_STATUS(BLOOMLINE_ERR_NULL, failed.code());
    CHECK(failed->contains("apple"sv));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, ConcurrentBuilder().insert_hashes(column.hashes).code());
    CHECK_STATUS(BLOOMLINE_ERR_RATE, ConcurrentBuilder::create(params_for_rate_within(1, 2, 64)).code());
    CHECK_U64(8, params_for_rate_within(100000, 0.01, 512, 3)->line_count);
    CHECK_U64(3, params_for_rate_within(100000, 0.01, 512, 3)->seed);
    auto plain = ConcurrentBuilder::create(params);
    auto finished = std::move(*plain).finish();
    CHECK(finished && !finished->contains("apple"sv));
    // One that is not finished is freed.
    const auto dropped = ConcurrentBuilder::create(params);
    CHECK(dropped && dropped->insert_hashes(column.hashes) && dropped->key_count() == column.hashes.size());
}

bool is_null(const Validity &validity, std::size_t row)
{
    if (!validity.bits) return false;
    const auto *bits = static_cast<const std::uint8_t *>(validity.bits->data());
    const std::size_t at = validity.first_bit + row;
    return (bits[at / 8] >> (at % 8) & 1) == 0;
}

// The rows of a Column, some of which are null.
template <class F>
void check_nullable(const F &filter, const Column &column, const Validity &validity, const std::vector<bool> &there)
{
    std::vector<bool> maybe = there;
    for (std::size_t i = 0; i < there.size(); i++) {
        if (is_null(validity, i)) maybe[i] = validity.nulls == Nulls::present;
    }
    const auto select = [&](auto &rows) { return filter.select_column(column, rows); };
    const auto refine = [&](auto &rows) { return filter.refine_column(column, rows); };
    const auto is_there = [&](std::size_t i) { return maybe[i]; };
    check_rows<std::uint32_t>(there.size(), is_there, select, refine);
    check_rows<std::uint16_t>(there.size(), is_there, select, refine);
    std::vector<std::uint8_t> mask = {7};
    Bitmap bitmap;
    const std::size_t count = filter.mask_column(column, mask);
    CHECK_U64(count, filter.contains_column(column, bitmap));
    CHECK(mask.size() == there.size() && bitmap.size() == there.size() && bitmap.count() == count);
    for (std::size_t i = 0; i < there.size(); i++) CHECK(mask[i] == maybe[i] && bitmap[i] == maybe[i]);
}

void nullable_columns()
{
    for (const std::size_t n : {0, 1, 64, 1100}) {
        const Columns of(n);
        const std::vector<std::uint8_t> bits(n / 8 + 2, 0x5A);
        Filter filter = make_filter(400);
        for (std::size_t i = 0; i < n; i += 9) {
            filter.insert_u64(of.u64[i]);
            filter.insert_hash(hash_of_u32(of.u32[i]));
            filter.insert(Columns::string(i));
        }
        std::vector<bool> u64, u32, string;
        for (std::size_t i = 0; i < n; i++) {
            u64.push_back(filter.contains_u64(of.u64[i]));
            u32.push_back(filter.contains_hash(hash_of_u32(of.u32[i])));
            string.push_back(filter.contains(Columns::string(i)));
        }
        for (const Validity &validity :
             {Validity{}, Validity{bits}, Validity{bits, 3}, Validity{bits, 3, Nulls::present}}) {
            check_nullable(filter, Column::hashes(of.hashes, validity), validity, u64);
            check_nullable(filter.view(), Column::u64(of.u64, validity), validity, u64);
            check_nullable(filter, Column::u32(of.u32, validity), validity, u32);
            check_nullable(filter, Column::u64(of.i64, validity), validity, u64);
            check_nullable(filter, Column::u32(of.i32, validity), validity, u32);
            check_nullable(filter, Column::strings(of.offsets, of.data, validity), validity, string);
            check_nullable(filter, Column::strings(of.large_offsets, of.data, validity), validity, string);
            check_nullable(View(), Column::u64(of.u64), {}, std::vector<bool>(n, true));
            const Result hashed = hash_column(Column::strings(of.offsets, of.data, validity), 7);
            CHECK(hashed && hashed->size() == n);
            for (std::size_t i = 0; i < n; i++) {
                CHECK_U64(is_null(validity, i) ? 0 : hash(Columns::string(i), 7), (*hashed)[i]);
            }
            check_nullable(filter, Column::hashes(*hashed, validity), validity, string);
        }
    }
    // Of what is no column all rows may be present.
    const std::vector<std::uint64_t> values(20);
    const std::vector<std::uint8_t> few(2);
    const std::vector<std::int64_t> behind = {0, 3};
    const Column truncated = Column::u64(values, {few, 0}), outside = Column::strings(behind, "ab"sv);
    CHECK_STATUS(BLOOMLINE_ERR_TRUNCATED, truncated.status().code());
    CHECK_STATUS(BLOOMLINE_ERR_TRUNCATED, outside.status().code());
    CHECK(Column::u64(values, {few, SIZE_MAX}).status().code() == BLOOMLINE_ERR_TRUNCATED);
    const std::vector<std::uint8_t> none;
    CHECK_STATUS(BLOOMLINE_ERR_TRUNCATED, Column::u64(values, {none}).status().code());
    const std::vector<std::uint64_t> no_values;
    CHECK(Column::u64(no_values, {none}).status());
    CHECK_STATUS(BLOOMLINE_ERR_TRUNCATED, hash_column(truncated).code());
    const std::vector<std::int32_t> descends = {2, 1};
    CHECK_STATUS(BLOOMLINE_ERR_NULL, hash_column(Column::strings(descends, "ab"sv)).code());
    check_nullable(make_filter(), truncated, {}, std::vector<bool>(20, true));
    check_nullable(make_filter(), outside, {}, {true});
    std::vector<std::uint32_t> rows = {1, 20};
    CHECK_U64(2, make_filter().refine_column(Column::u64(values), rows)); // there is no row 20
    CHECK(rows.size() == 2 && rows[1] == 20);
}

} // namespace

int main()
{
    check_begin("test_hpp_columns");
    RUN(bits_that_are_set);
    RUN(columns);
    RUN(nullable_columns);
    RUN(built_of_columns);
    return check_end();
}
