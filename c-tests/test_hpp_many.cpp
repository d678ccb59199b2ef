// SPDX-License-Identifier: MIT OR Apache-2.0
//
// test_hpp_many.cpp - bloomline.hpp with many answers: many views, groups and matrices asked for a key at once. It is
// built without exceptions and RTTI, too.
#include "hpp.h"

namespace {

// Filters with seeds of their own, one key in all of them, and an empty view.
void views_of_different_seeds()
{
    std::vector<Filter> filters;
    std::vector<View> views;
    for (std::uint64_t i = 0; i < 70; i++) {
        auto filter = Filter::create(i % 7 == 0 ? params_for_bits(100, 20, i / 2)
                                                : with_random_seed(params_for_bits(100, 20)));
        REQUIRE(filter);
        if (i % 3 == 0) filter->insert("apple"sv);
        filters.push_back(*std::move(filter));
    }
    for (const Filter &filter : filters) views.push_back(filter.view());
    views.push_back(View());
    Bitmap bitmap;
    CHECK_U64(25, views_contain(views, "apple"sv, bitmap));
    CHECK_U64(71, bitmap.size());
    for (std::size_t i = 0; i < 70; i++) CHECK(bitmap[i] == (i % 3 == 0));
    CHECK_U64(71, views_contain_hash(views, views[0].hash("apple"sv), bitmap)); /* of one seed: in doubt, all */
    const std::uint64_t hashes[] = {1, 2, 3};
    CHECK_U64(3, shards_contain_hashes({views.data(), 70}, hashes, bitmap));
    CHECK_U64(71, views_contain(views, text(nullptr), bitmap));
    CHECK_U64(0, views_contain({}, "apple"sv, bitmap));
}

void groups()
{
    Filter filter = make_filter(), empty = make_filter();
    filter.insert("apple"sv);
    const std::vector<View> views = {filter.view(), empty.view(), View()};
    auto group = Group::create(views);
    REQUIRE(group);
    CHECK_U64(3, group->view_count());
    const std::vector<std::uint64_t> hashes = {views[0].hash("apple"sv), views[0].hash("pear"sv)};
    Bitmap bitmap;
    CHECK_U64(3, group->contains_hashes(hashes, bitmap)); /* a row for each hash */
    CHECK(bitmap.size() == 128 && bitmap[0] && !bitmap[1] && bitmap[2] && !bitmap[64] && bitmap[66]);
    CHECK_U64(3, group->contains_hashes_by_member(hashes, bitmap)); /* a row for each view */
    CHECK(bitmap.size() == 192 && bitmap[0] && !bitmap[1] && !bitmap[64] && bitmap[128] && bitmap[129]);
    CHECK_U64(2, group->contains_any_hash(hashes, bitmap));
    CHECK(bitmap.size() == 3 && bitmap[0] && !bitmap[1] && bitmap[2]);
    CHECK_U64(1, group->contains_hash(hashes[1], bitmap));
    CHECK(bitmap.size() == 3 && bitmap[2]);
    CHECK_U64(2, group->contains("apple"sv, bitmap));
    CHECK_U64(group->contains(IntegerKey(42), bitmap), group->contains_u64(42, bitmap));
    const std::vector<std::uint32_t> members = {0, 0, 2, 1, 99};
    const std::vector<std::uint64_t> asked = {hashes[0], hashes[1], hashes[0], hashes[0], hashes[0]};
    CHECK_U64(3, group->contains_pairs(members, asked, bitmap));
    CHECK(bitmap.size() == 5 && bitmap[0] && bitmap[2] && bitmap[4]);
    std::vector<std::uint32_t> rows;
    std::vector<std::uint16_t> narrow{9};
    CHECK_U64(3, group->select_pairs(members, asked, rows));
    CHECK(rows == std::vector<std::uint32_t>({0, 2, 4}));
    CHECK_U64(5, group->select_pairs({members.data(), 2}, asked, narrow));
    CHECK(narrow == std::vector<std::uint16_t>({0, 1, 2, 3, 4}));
    CHECK_U64(5, group->refine_pairs({members.data(), 2}, asked, narrow));
    CHECK_U64(3, group->refine_pairs(members, asked, narrow));
    CHECK(narrow == std::vector<std::uint16_t>({0, 2, 4}));
    rows = {3, 2, 1, 0, 0};
    CHECK_U64(3, group->refine_pairs(members, asked, rows));
    CHECK(rows == std::vector<std::uint32_t>({2, 0, 0}));
    CHECK_U64(3, Group().refine_pairs(members, asked, rows));
    Group moved = *std::move(group);
    CHECK_U64(5, moved.contains_pairs({members.data(), 2}, asked, bitmap));
    CHECK_U64(5, Group().contains_pairs(members, asked, bitmap));
    CHECK_U64(SIZE_MAX, Group().contains_hash(1, bitmap));
    CHECK_U64(SIZE_MAX, Group().contains_any_hash(hashes, bitmap));
    CHECK_U64(SIZE_MAX, Group().contains_hashes_by_member(hashes, bitmap));
}

// The columns of a matrix are the filters, in memory, in bytes, and in single ranges of them.
void matrices()
{
    const auto shape = params_for_bits(100, 20, 7);
    auto made = Matrix::create(shape, 70);
    REQUIRE(made);
    Matrix matrix = *std::move(made);
    std::vector<Filter> filters;
    std::vector<View> views;
    std::vector<std::uint64_t> names;
    for (std::uint64_t i = 0; i < 70; i++) {
        auto filter = Filter::create(i % 2 == 0 ? shape : foldable_to(params_for_bits(150, 20), *shape));
        REQUIRE(filter);
        filter->insert("key " + std::to_string(i));
        if (i % 3 == 0) filter->insert("apple"sv);
        filters.push_back(*std::move(filter));
        names.push_back(i + 1000);
    }
    for (const Filter &filter : filters) views.push_back(filter.view());
    CHECK(matrix.set_columns(0, views, 2) && matrix.set_names(names));
    matrix.set_checksums(true);
    const std::uint64_t apple = matrix.hash("apple"sv), other = matrix.hash("key 5"sv);
    CHECK(apple == views[0].hash("apple"sv) && matrix.columns() == 70 && matrix.name(69) == 1069);
    auto encoded = matrix.encode();
    REQUIRE(encoded && kind_of(*encoded) == Kind::matrix);
    auto map = Map::of_bytes(*encoded), load = Map::of_bytes_unverified(*encoded);
    REQUIRE(map && load);
    const MatrixView opened = map->matrix();
    REQUIRE(opened);
    auto clone = opened.clone(), decoded = Matrix::decode(*encoded);
    REQUIRE(clone && decoded);
    const auto check = [&](const auto &one) {
        Bitmap bitmap, rows, among;
        const std::vector<std::uint64_t> hashes = {apple, other};
        std::size_t total = one.contains_hashes(hashes, rows), shared = 0;
        CHECK_U64(256, rows.size());
        for (std::size_t i = 0; i < 70; i++) shared += rows[i] && rows[128 + i];
        for (std::size_t j = 0; j < 2; j++) {
            const std::size_t count = one.contains_hash(hashes[j], bitmap);
            CHECK(count == bitmap.count() && count == one.count_hash(hashes[j]) && bitmap.size() == 70);
            for (std::size_t i = 0; i < 70; i++) {
                CHECK(rows[128 * j + i] == bitmap[i] && (bitmap[i] || !views[i].contains_hash(hashes[j])));
            }
            total -= count;
        }
        CHECK_U64(0, total);
        const std::vector<std::string_view> texts = {"apple"sv, "key 5"sv};
        CHECK_U64(rows.count(), one.contains_keys(keys(texts), bitmap));
        CHECK(bitmap.size() == 256 && bitmap.words() == rows.words());
        CHECK(one.contains("apple"sv, bitmap) >= 24 && bitmap[69] && one.any_hash(apple));
        const std::vector<std::uint64_t> live = {8, 0};
        CHECK_U64(1, one.contains_hash(apple, among, live));
        CHECK(among[3] && one.any_hash(apple, live) && one.count_hash(apple, live) == 1);
        CHECK_U64(1, one.contains_hash(apple, among, among.words()));
        CHECK_U64(1, one.contains("apple"sv, among, live));
        CHECK_U64(bitmap.count(), one.contains_hash(apple, among, {live.data(), 1}));
        CHECK_U64(bitmap.count(), one.count_hash(apple, {live.data(), 1}));
        // In batches; of some, also where the answers go.
        CHECK_U64(rows.count(), one.contains_hashes(hashes, among, {live.data(), 1}));
        CHECK(among.words() == rows.words());
        CHECK_U64(1 + (rows[128 + 3] ? 1 : 0), one.contains_hashes(hashes, among, live));
        const std::vector<std::uint64_t> all(2, ~std::uint64_t{0});
        CHECK_U64(bitmap.count(), one.contains_hash(apple, among, all));
        CHECK_U64(bitmap.count() + shared, one.contains_hashes(hashes, among, among.words()));
        std::vector<MatrixPair> pairs(3);
        CHECK(one.select_hashes(hashes, pairs) && pairs.size() == rows.count());
        std::size_t at = 0;
        rows.for_each([&](std::size_t bit) {
            CHECK(pairs[at].key == bit / 128 && pairs[at].column == bit % 128);
            at++;
        });
        CHECK(one.select_hashes({&apple, 1}, pairs, live) && pairs.size() == 1 && pairs[0].key == 0 && pairs[0].column == 3);
        CHECK(one.select_hashes({}, pairs) && pairs.empty());
        // More than there is room for at first.
        const std::vector<std::uint64_t> many(100, apple);
        CHECK(one.select_hashes(many, pairs) && pairs.size() == 100 * bitmap.count());
        for (std::size_t i = 0; i < pairs.size(); i++) CHECK(pairs[i].key == i / bitmap.count() && bitmap[pairs[i].column]);
        const std::vector<std::uint32_t> numbers = {3, 5, 70};
        const std::vector<std::uint64_t> asked = {apple, other, apple};
        CHECK_U64(3, one.contains_pairs(numbers, asked, bitmap));
        CHECK_U64(3, one.contains_pairs({numbers.data(), 1}, asked, bitmap));
        auto column = one.column(2);
        REQUIRE(column);
        const Bytes lines = views[2].lines();
        const View taken = column->view();
        CHECK(taken.lines().size() == lines.size() && memcmp(taken.lines().data(), lines.data(), lines.size()) == 0);
        auto more = one.with_columns(71);
        REQUIRE(more);
        CHECK(more->columns() == 71 && more->name(70) == 0 && more->name(0) == 1000);
        CHECK_STATUS(BLOOMLINE_ERR_COLUMN, one.column(70).code());
        CHECK(one.about().flags == (BLOOMLINE_MATRIX_NAMES | BLOOMLINE_MATRIX_CHECKSUMS));
    };
    check(matrix);
    check(opened);
    check(load->matrix());
    // A column as a view, alone and in a group.
    std::vector<View> columns;
    for (std::size_t i = 70; i-- > 0;) {
        auto view = i % 2 == 0 ? matrix.column_view(i) : opened.column_view(i);
        REQUIRE(view);
        CHECK(view->contains_hash(apple) >= views[i].contains_hash(apple) && view->params()->line_count == shape->line_count);
        columns.push_back(*view);
    }
    auto group = Group::create(columns);
    REQUIRE(group);
    Bitmap backwards, forwards;
    group->contains_hash(apple, backwards);
    matrix.contains_hash(apple, forwards);
    for (std::size_t i = 0; i < 70; i++) CHECK(backwards[69 - i] == forwards[i]);
    CHECK_STATUS(BLOOMLINE_ERR_COLUMN, matrix.column_view(70).code());
    CHECK_STATUS(BLOOMLINE_ERR_NULL, MatrixView().column_view(0).code());
    check(*clone);
    check(*decoded);
    // Single ranges.
    const std::size_t len = encoded->size();
    auto read = matrix_shape({encoded->data() + len - 64, 64}, len);
    REQUIRE(read);
    auto range = matrix_range(*read, apple);
    REQUIRE(range && range->checksum != 0);
    Bitmap bitmap, expected;
    const Bytes part(encoded->data() + range->offset, range->len), sum(encoded->data() + range->checksum, 8);
    CHECK(matrix_contains_in(*read, apple, part, bitmap, sum));
    CHECK_U64(matrix.contains_hash(apple, expected), bitmap.count());
    CHECK(bitmap.words() == expected.words());
    CHECK(matrix_contains_in(*read, apple, part, bitmap, std::string()) && bitmap.words() == expected.words());
    // In doubt all may have it.
    CHECK_STATUS(BLOOMLINE_ERR_CHECKSUM, matrix_contains_in(*read, apple, part, bitmap, {encoded->data(), 8}).code());
    CHECK(bitmap.count() == 70 && bitmap.size() == 70 && bitmap[69] && bitmap.words()[1] == 63);
    matrix.contains_hash(apple, bitmap);
    CHECK_STATUS(BLOOMLINE_ERR_TRUNCATED, matrix_contains_in(*read, apple, {part.data(), 64}, bitmap).code());
    CHECK_U64(70, bitmap.count());
    CHECK_STATUS(BLOOMLINE_ERR_NO_LINES, matrix_contains_in(MatrixShape{}, apple, part, bitmap).code());
    CHECK_U64(0, bitmap.size());
    CHECK_STATUS(BLOOMLINE_ERR_TRUNCATED, matrix_shape({encoded->data(), 63}, len).code());
    // Single rows, and the ranges of a batch.
    auto rows = matrix_row_ranges(*read, apple);
    REQUIRE(rows && !rows->empty() && rows->size() <= shape->k);
    std::vector<std::uint8_t> row_bytes;
    for (const ByteRange &row : *rows) {
        CHECK(row.len == 16 && row.offset >= range->offset && row.offset + row.len <= range->offset + range->len);
        row_bytes.insert(row_bytes.end(), encoded->data() + row.offset, encoded->data() + row.offset + row.len);
    }
    CHECK(matrix_contains_in_rows(*read, apple, row_bytes, bitmap) && bitmap.words() == expected.words());
    CHECK_U64(expected.count(), bitmap.count());
    const Bytes cut(row_bytes.data(), row_bytes.size() - 1);
    CHECK_STATUS(BLOOMLINE_ERR_TRUNCATED, matrix_contains_in_rows(*read, apple, cut, bitmap).code());
    CHECK(bitmap.count() == 70 && bitmap.size() == 70);
    const std::vector<std::uint64_t> asked = {other, apple, apple, other + 1};
    auto ranges = matrix_ranges(*read, asked, 0), all = matrix_ranges(*read, asked, len);
    REQUIRE(ranges && all && all->size() == 1 && ranges->size() <= 2);
    for (const std::uint64_t one : asked) {
        std::size_t found = 0;
        auto own = matrix_range(*read, one);
        for (const ByteRange &near : *ranges) found += own->offset >= near.offset && own->offset + own->len <= near.offset + near.len;
        CHECK_U64(1, found);
    }
    auto no_ranges = matrix_ranges(*read, {}, 0);
    CHECK(no_ranges && no_ranges->empty());
    auto parts = matrix_parts(*read);
    REQUIRE(parts && parts->names.len == 8 * 70 && parts->checksums.len == 8 * shape->line_count);
    CHECK(parts->checksums.offset + parts->checksums.len + 64 == len && encoded->data()[parts->names.offset] == (1000 & 255));
    for (const Status status : {matrix_ranges(MatrixShape{}, asked, 0).status(), matrix_row_ranges(MatrixShape{}, apple).status(),
                                matrix_parts(MatrixShape{}).status(), matrix_contains_in_rows(MatrixShape{}, apple, row_bytes, bitmap)}) {
        CHECK_STATUS(BLOOMLINE_ERR_NO_LINES, status.code());
    }
    CHECK_U64(0, bitmap.size());
    // One at a time, and errors.
    CHECK(matrix.clear_column(3) && !(matrix.contains_hash(apple, bitmap), bitmap[3]));
    CHECK(matrix.set_column(3, views[3]) && (matrix.contains_hash(apple, bitmap), bitmap[3]));
    CHECK(matrix.insert(4, "pear"sv) && matrix.insert_u64(4, 42) && matrix.insert_hash(4, 43));
    CHECK((matrix.contains_u64(42, bitmap), bitmap[4]));
    CHECK_STATUS(BLOOMLINE_ERR_COLUMN, matrix.insert(70, "pear"sv).code());
    bool is_new = true;
    CHECK(matrix.insert(4, "pear"sv, &is_new) && !is_new && matrix.insert_u64(4, 44, &is_new) && is_new);
    CHECK(matrix.insert_hash(4, 43, &is_new) && !is_new);
    const std::vector<std::string_view> texts = {"pear"sv, "plum"sv, "plum"sv};
    CHECK(matrix.insert_keys(5, keys(texts), bitmap) && bitmap.size() == 3 && bitmap[0] && bitmap[1] && !bitmap[2]);
    CHECK(matrix.insert_hashes(5, asked, bitmap) && bitmap.size() == 4 && bitmap[1] && !bitmap[2]);
    CHECK(matrix.insert_keys(6, keys(texts)) && matrix.insert_hashes(6, asked) && matrix.insert_hash(6, apple, &is_new) && !is_new);
    CHECK((matrix.contains("plum"sv, bitmap), bitmap[5] && bitmap[6]));
    CHECK_STATUS(BLOOMLINE_ERR_COLUMN, matrix.insert_keys(70, keys(texts), bitmap).code());
    CHECK_STATUS(BLOOMLINE_ERR_COLUMN, matrix.insert_hashes(70, asked).code());
    CHECK_STATUS(BLOOMLINE_ERR_NULL, Matrix().insert_keys(0, keys(texts)).code());
    CHECK_STATUS(BLOOMLINE_ERR_NOT_A_FILTER, matrix.set_column(3, View()).code());
    CHECK_STATUS(BLOOMLINE_ERR_COLUMNS, Matrix::create(shape, 0).code());
    CHECK_STATUS(BLOOMLINE_ERR_RATE, Matrix::create(params_for_rate(1, 2), 1).code());
    matrix.clear();
    CHECK(matrix.contains_hash(apple, bitmap) == 0 && matrix.name(69) == 1069);
    CHECK(matrix.memory_usage() > 0 && matrix.set_names({}) && matrix.name(0) == 0);
    // Empty ones.
    CHECK(!MatrixView() && Matrix().any_hash(1) && Matrix().columns() == 0);
    CHECK_U64(SIZE_MAX, Matrix().contains_hash(1, bitmap));
    std::vector<MatrixPair> none(3);
    CHECK_STATUS(BLOOMLINE_ERR_NULL, Matrix().select_hashes({&apple, 1}, none).code());
    CHECK(none.empty());
    CHECK_STATUS(BLOOMLINE_ERR_NULL, MatrixView().clone().code());
    auto block = filters[0].encode();
    auto of_filter = Map::of_bytes(*block);
    REQUIRE(of_filter);
    CHECK(!of_filter->matrix());
}

// As many columns as 16 bits number: at both ends and in the middle.
void wide_matrix()
{
    constexpr std::uint32_t inside[] = {0, 32767, 32768, 65535};
    const Params shape{2, 6, 0, 7};
    auto made = Matrix::create(shape, 65536);
    REQUIRE(made);
    auto filter = Filter::create(shape);
    REQUIRE(filter && filter->insert("apple"sv));
    for (const std::uint32_t column : inside) {
        CHECK(column == 32768 ? made->set_column(column, filter->view()) : made->insert(column, "apple"sv));
    }
    const std::uint64_t apple = made->hash("apple"sv);
    std::vector<std::uint64_t> live(1024, ~std::uint64_t{0});
    live[65535 / 64] >>= 1;
    std::vector<MatrixPair> pairs;
    CHECK(made->select_hashes({&apple, 1}, pairs) && pairs.size() == 4);
    for (std::size_t i = 0; i < 4; i++) CHECK(pairs[i].key == 0 && pairs[i].column == inside[i]);
    CHECK(made->select_hashes({&apple, 1}, pairs, live) && pairs.size() == 3 && pairs[2].column == 32768);
    Bitmap bitmap;
    CHECK_U64(4, made->contains_hash(apple, bitmap));
    CHECK(bitmap[0] && bitmap[32767] && bitmap[32768] && bitmap[65535] && bitmap.size() == 65536);
    CHECK_U64(3, made->contains_hashes({&apple, 1}, bitmap, live));
    for (const std::uint32_t number : inside) {
        auto column = made->column(number);
        REQUIRE(column);
        const View taken = column->view(), own = filter->view();
        CHECK(memcmp(taken.lines().data(), own.lines().data(), own.lines().size()) == 0);
    }
    CHECK(made->clear_column(65535) && made->count_hash(apple) == 3);
}

} // namespace

int main()
{
    check_begin("test_hpp_many");
    RUN(views_of_different_seeds);
    RUN(groups);
    RUN(matrices);
    RUN(wide_matrix);
    return check_end();
}
