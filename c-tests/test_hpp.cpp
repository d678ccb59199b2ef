// SPDX-License-Identifier: MIT OR Apache-2.0
//
// test_hpp.cpp - bloomline.hpp does what the C functions do, frees what it makes, and
// compiles and runs without exceptions and RTTI (the Makefile builds it both ways). Its
// numbers are those of test_api.c, so here only the face is tested.
#include <bloomline_inline.h>
#include <bloomline.hpp>

#include "check.h"
#include "probes.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <list>
#include <sstream>
#include <type_traits>
#include <vector>

// Clang before 16 does not compile libstdc++'s.
#if __cplusplus >= 202002L && !(defined(__clang__) && __clang_major__ < 16)
#include <ranges>
#define HAS_RANGES 1
#else
#define HAS_RANGES 0
#endif

#include <unistd.h>

namespace {

using namespace bloomline;
using namespace std::literals;

Filter make_filter(std::uint64_t keys = 1000)
{
    auto params = params_for_rate(keys, 0.01, 7);
    REQUIRE(params);
    auto filter = Filter::create(*params);
    REQUIRE(filter);
    return *std::move(filter);
}

std::string file_name(const char *what)
{
    const char *directory = std::getenv("TMPDIR");
    return std::string(directory != nullptr ? directory : "/tmp") + "/bloomline-test-hpp-" + what + "-" +
           std::to_string(getpid());
}

void version_and_abi()
{
    static_assert(version_number == BLOOMLINE_VERSION);
    CHECK(abi_matches());
    CHECK_U64(BLOOMLINE_ABI_VERSION, abi_version);
    CHECK(std::string_view(version()) == bloomline_version());
    CHECK(std::string_view(backend()) == bloomline_backend());
}

void keys_that_lie_anywhere_and_a_function()
{
    Filter filter = make_filter();
    filter.insert("apple"sv);
    const bloomline_bytes apple = Bytes("apple"sv), pear = Bytes("pear"sv);
    const std::vector<const bloomline_bytes *> keys = {&pear, nullptr, &apple};
    bool present[3] = {true, false, false};
    filter.contains_each(keys, present);
    CHECK_U64(SIZE_MAX, filter.fewest_each()); // a small one
    CHECK(!present[0] && present[1] && present[2]);
    const View view = filter.view();
    const bloomline_contains_fn contains = view.contains_fn();
    CHECK(contains(&view.get(), "apple", 5) && !contains(&view.get(), "pear", 4));
    CHECK(View().contains_fn()(&view.get(), "apple", 5));
    bool all[3] = {};
    View().contains_each(keys, all);
    CHECK(all[0] && all[1] && all[2]);
}

void lines_united()
{
    auto params = params_for_rate(100, 0.01, 7);
    auto one = Filter::create(params), other = Filter::create(params);
    one->insert("apple"sv);
    other->insert("pear"sv);
    const View view = one->view();
    std::vector<std::uint8_t> lines(other->view().lines().size());
    CHECK(lines_union(*params, lines.data(), lines.size(), view.lines()));
    CHECK(lines_union(*params, lines.data(), lines.size(), other->view().lines()));
    auto both = lines_view(*params, lines.data(), lines.size());
    CHECK(both->contains("apple"sv) && both->contains("pear"sv) && !both->contains("plum"sv));
    CHECK(lines_union(*params, lines.data(), lines.size() - 1, view.lines()).code() == BLOOMLINE_ERR_BUFFER_TOO_SMALL);
    CHECK(lines_intersect(*params, lines.data(), lines.size(), view.lines()));
    CHECK(both->contains("apple"sv) && !both->contains("pear"sv));
    CHECK(lines_intersect(*params, lines.data(), lines.size() - 1, view.lines()).code() == BLOOMLINE_ERR_BUFFER_TOO_SMALL);
}

void keys_of_every_kind()
{
    Filter filter = make_filter();
    std::string string = "string";
    std::string_view text_with_zero("with\0zero", 9);
    std::vector<std::uint8_t> bytes = {1, 2, 3};
    std::array<char, 2> array = {'a', 'b'};
    filter.insert("literal"sv);
    filter.insert(string);
    filter.insert(text_with_zero);
    filter.insert(bytes);
    filter.insert(array);
    filter.insert({bytes.data(), 2});
    filter.insert(Bytes());
    filter.insert_u64(42);
    filter.insert_hash(hash("hashed"sv, 7));
    CHECK_U64(9, filter.key_count());
    CHECK(filter.contains("literal"sv));
    CHECK(filter.contains(std::string("literal")));
    CHECK(filter.contains(string));
    CHECK(filter.contains(text_with_zero));
    CHECK(filter.contains(bytes));
    CHECK(filter.contains(array));
    CHECK(filter.contains({bytes.data(), 2}));
    CHECK(filter.contains(""sv));
    CHECK(filter.contains_u64(42));
    CHECK(filter.contains("hashed"sv));
    CHECK(filter.contains_hash(hash("literal"sv, 7)));
    CHECK(!filter.contains("with"sv));
    CHECK(!filter.contains_u64(43));
    CHECK(!filter.contains_hash(hash("literal"sv, 8)));
    CHECK_U64(bloomline_hash("literal", 7, 3), hash("literal"sv, 3));
    CHECK_U64(bloomline_hash_u64(42, 3), hash_u64(42, 3));
}

void batches()
{
    Filter filter = make_filter();
    std::vector<std::string> strings;
    std::vector<std::uint64_t> integers;
    for (std::uint64_t i = 0; i < 200; i++) {
        strings.push_back("key " + std::to_string(i));
        integers.push_back(i);
    }
    auto batch = keys(strings);
    filter.insert_keys(Span<const bloomline_bytes>(batch.data(), 100));
    auto hashes = hash_batch(batch, 7);
    CHECK_U64(200, hashes.size());
    CHECK_U64(bloomline_hash("key 5", 5, 7), hashes[5]);
    CHECK_U64(bloomline_hash_u64(5, 7), hash_u64_batch(integers, 7)[5]);

    Bitmap by_key, by_hash, by_view;
    std::size_t found = filter.contains_keys(batch, by_key);
    CHECK_U64(found, filter.contains_hashes(hashes, by_hash));
    CHECK_U64(found, filter.view().contains_keys(batch, by_view));
    CHECK_U64(found, by_key.count());
    CHECK_U64(200, by_key.size());
    CHECK_U64(4, by_key.words().size());
    CHECK(by_key.words() == by_hash.words() && by_key.words() == by_view.words());
    CHECK(found >= 100 && found < 120);
    for (std::size_t i = 0; i < 200; i++) CHECK(by_key[i] == filter.contains(strings[i]));
    std::size_t visited = 0;
    by_key.for_each([&](std::size_t i) {
        CHECK(by_key[i]);
        visited++;
    });
    CHECK_U64(found, visited);
    /* The same bitmap for a smaller batch: nothing of the larger one is left. */
    CHECK_U64(3, filter.contains_keys({batch.data(), 3}, by_key));
    CHECK_U64(3, by_key.size());
    CHECK_U64(7, by_key.words()[0]);
    CHECK_U64(0, filter.contains_keys({}, by_key));

    Filter other = make_filter();
    other.insert_hashes({hashes.data(), 100});
    CHECK(*other.encode() == *filter.encode());
}

void moves_and_empty_handles()
{
    static_assert(!std::is_copy_constructible_v<Filter> && !std::is_copy_assignable_v<Filter>);
    static_assert(!std::is_copy_constructible_v<Map> && !std::is_copy_constructible_v<Builder>);
    static_assert(std::is_nothrow_move_constructible_v<Filter> && std::is_nothrow_move_assignable_v<Filter>);
    Filter filter = make_filter();
    filter.insert("apple"sv);
    Filter moved = std::move(filter);
    CHECK(moved && moved.contains("apple"sv) && !moved.contains("plum"sv));
    CHECK(!filter); // NOLINT: what is left after a move is promised to be empty
    CHECK(filter.contains("plum"sv)); /* in doubt: true */
    filter.insert("plum"sv);
    CHECK_U64(0, filter.key_count());
    CHECK(!filter.params());
    filter = std::move(moved);
    CHECK(filter.contains("apple"sv));
    filter = make_filter(); /* frees the old one */
    CHECK(!filter.contains("apple"sv));

    Filter released(filter.release());
    CHECK(!filter && released);
    CHECK(View().contains("anything"sv));
    CHECK(!View().params());
    CHECK_U64(BLOOMLINE_ERR_NOT_A_FILTER, static_cast<std::uint64_t>(View().params().code()));
    Map no_map;
    CHECK(no_map.view().contains("anything"sv));
    CHECK_U64(0, Builder().key_count());
}

void statuses()
{
    CHECK(Status());
    CHECK(!Status(BLOOMLINE_ERR_K));
    CHECK(std::string_view(Status(BLOOMLINE_ERR_K).message()) == bloomline_status_message(BLOOMLINE_ERR_K));
    auto rate = params_for_rate(10, 2.0);
    CHECK(!rate && rate.code() == BLOOMLINE_ERR_RATE && rate.status().code() == BLOOMLINE_ERR_RATE);
    CHECK(params_for_bits(10, -1).code() == BLOOMLINE_ERR_BITS_PER_KEY);
    CHECK(Filter::create(Params{1, 99, 0, 0}).code() == BLOOMLINE_ERR_K);
    /* What was wrong with the parameters, and not with those that a failed Result has. */
    CHECK(Filter::create(params_for_rate(10, 2.0)).code() == BLOOMLINE_ERR_RATE);
    CHECK(Filter::create(classic_params_for_bits(10, -1)).code() == BLOOMLINE_ERR_BITS_PER_KEY);
    CHECK(ConcurrentFilter::create(params_for_rate(10, 2.0)).code() == BLOOMLINE_ERR_RATE);
    CHECK(CountingFilter::create(params_for_rate(10, 2.0)).code() == BLOOMLINE_ERR_RATE);
    CHECK(CuckooFilter::create(cuckoo_params_for_rate(10, 2.0)).code() == BLOOMLINE_ERR_RATE);
    CHECK(CuckooFilter::create(cuckoo_params_for_rate(10, 0.01)));
    CHECK(!*Filter::create(Params{1, 99, 0, 0}));
    CHECK(Filter::decode("no filter"sv).code() == BLOOMLINE_ERR_TRUNCATED);
    CHECK(Filter::load("/no/such/file").code() == BLOOMLINE_ERR_NOT_FOUND);
    CHECK(Map::open("/no/such/file").code() == BLOOMLINE_ERR_NOT_FOUND);
    CHECK(Map::open_unverified("/no/such/file").code() == BLOOMLINE_ERR_NOT_FOUND);
    CHECK(View::open("no filter"sv).code() == BLOOMLINE_ERR_TRUNCATED);
    CHECK(View::open_unverified("no filter"sv).code() == BLOOMLINE_ERR_TRUNCATED);
    CHECK(Builder::create(0).code() == BLOOMLINE_ERR_BITS_PER_KEY);
    CHECK(make_filter(1000).merge(make_filter(2000)).code() == BLOOMLINE_ERR_MISMATCH);
    CHECK(make_filter().fold_to_rate(0).code() == BLOOMLINE_ERR_RATE);
}

void bytes_files_and_views()
{
    Filter filter = make_filter();
    filter.insert("apple"sv);
    auto data = filter.encode();
    CHECK(data && data->size() == filter.encoded_len());
    auto view = View::open(*data);
    CHECK(view && view->contains("apple"sv) && !view->contains("plum"sv));
    CHECK(view->contains_hash(view->hash("apple"sv)));
    CHECK_U64(hash_u64(5, 7), view->hash_u64(5));
    CHECK(!view->contains_u64(5));
    CHECK_U64(1, view->key_count());
    CHECK(view->params() && view->params()->line_count == filter.params()->line_count);
    CHECK((*View::open_unverified(*data)).contains("apple"sv));
    auto decoded = Filter::decode(*data);
    CHECK(decoded && decoded->contains("apple"sv) && *decoded->encode() == *data);
    std::size_t written = 0;
    CHECK(!filter.encode(data->data(), data->size() - 1, &written) && written == 0);
    CHECK(filter.encode(data->data(), data->size(), &written) && written == data->size());

    std::string path = file_name("plain");
    CHECK(filter.save(path));
    auto loaded = Filter::load(path);
    CHECK(loaded && loaded->contains("apple"sv));
    auto map = Map::open(path), unverified = Map::open_unverified(path);
    CHECK(std::remove(path.c_str()) == 0);
    CHECK(map && map->view().contains("apple"sv) && !map->view().contains("plum"sv));
    CHECK(unverified && unverified->view().contains("apple"sv));

    Filter empty = make_filter();
    std::vector<View> views = {filter.view(), empty.view(), map->view(), View()};
    Bitmap bitmap;
    const std::vector<const View *> anywhere = {&views[2], nullptr, &views[1]};
    CHECK_U64(2, views_contain_each(anywhere, "apple"sv, bitmap));
    CHECK(bitmap[0] && bitmap[1] && !bitmap[2]);
    CHECK_U64(2, views_contain_hash_each(anywhere, filter.view().hash("apple"sv), bitmap));
    CHECK_U64(3, views_contain_hash(views, filter.view().hash("apple"sv), bitmap));
    CHECK(bitmap[0] && !bitmap[1] && bitmap[2] && bitmap[3]);
}

// A filter that goes where its bytes go, and a block that goes to a file and comes back.
template <class B>
B bytes_as(const Buffer &bytes)
{
    return B(bytes.begin(), bytes.end());
}

template <class B>
void check_owner(const Buffer &encoded, std::uint64_t hash, std::uint64_t absent)
{
    auto opened = OwnedView<B>::open(bytes_as<B>(encoded)), unverified = OwnedView<B>::open_unverified(bytes_as<B>(encoded));
    REQUIRE(opened && unverified);
    CHECK(opened->contains_hash(hash) && !opened->contains_hash(absent) && unverified->contains_hash(hash));
    OwnedView<B> owner = *std::move(opened); /* the bytes go along, those of a short std::string too */
    const View view = owner.view();
    OwnedView<B> other = std::move(owner);
    CHECK(other && view.contains_hash(hash) && !view.contains_hash(absent) && !other.contains_hash(absent));
    CHECK(other.bytes()->size() == encoded.size());
    CHECK(!owner && owner.bytes() == nullptr && owner.contains_hash(absent)); // NOLINT: empty after a move
    other = OwnedView<B>();
    CHECK(!other && other.contains_hash(absent));
    B damaged = bytes_as<B>(encoded);
    damaged[0] = static_cast<typename B::value_type>(damaged[0] ^ 1);
    auto refused = OwnedView<B>::open(std::move(damaged));
    CHECK(refused.code() == BLOOMLINE_ERR_CHECKSUM && !*refused && refused->contains_hash(absent));
    CHECK(OwnedView<B>::open(B()).code() == BLOOMLINE_ERR_TRUNCATED);
}

void owners_and_blocks()
{
    Filter filter = make_filter();
    filter.insert_hash(hash_u64(1, 7));
    const std::vector<std::uint64_t> included = {hash_u64(1, 7)}, excluded = hash_u64_batch(std::vector<std::uint64_t>{2, 3}, 7);
    const auto cascade = Cascade::create(included, excluded, 0, 7);
    const Buffer block = *static_block_build(included, 0.01, 7);
    for (const Buffer &encoded : {*filter.encode(), block, *cascade->encode()}) {
        check_owner<Buffer>(encoded, included[0], excluded[0]);
        check_owner<std::string>(encoded, included[0], excluded[0]);

        auto over = Map::of_bytes(encoded), unverified = Map::of_bytes_unverified(encoded);
        CHECK(over && over->contains_u64(1) && !over->contains_hash(excluded[0]) && unverified->contains_u64(1));
        std::string path = file_name("block");
        CHECK(block_save(encoded, path));
        CHECK(block_save({encoded.data(), encoded.size() - 1}, path).code() == BLOOMLINE_ERR_NOT_A_FILTER);
        auto map = Map::open(path), loaded = Map::load(path);
        CHECK(std::remove(path.c_str()) == 0);
        REQUIRE(map && loaded);
        Map moved = *std::move(map);
        CHECK(moved.contains_u64(1) && !moved.contains_hash(excluded[0]) && loaded->contains_u64(1));
        CHECK(!loaded->contains_hash(excluded[0]) && loaded->estimated_keys() == moved.estimated_keys());
    }
    const View of_cascade = cascade->view();
    CHECK(of_cascade.contains_u64(1) && !of_cascade.contains_hash(excluded[0]));
    const auto scalable = ScalableFilter::create(10, 0.01);
    const auto window = Window::create(2, 10, 0.01);
    CHECK(!scalable->view().contains("apple"sv) && !window->view().contains("apple"sv));
    CHECK(Map::load("/no/such/file").code() == BLOOMLINE_ERR_NOT_FOUND);
    CHECK(block_save(block, "/no/such/directory/file").code() == BLOOMLINE_ERR_NOT_FOUND);

    const std::uint64_t apple = RocksDb::hash("apple"sv);
    auto rocksdb = OwnedView<>::open_rocksdb(*RocksDb::block_build({&apple, 1}, 10));
    CHECK(rocksdb && rocksdb->contains("apple"sv) && !rocksdb->contains("pear"sv));
    const std::uint64_t pear = LevelDb::hash("pear"sv);
    auto leveldb = OwnedView<>::open_leveldb(*LevelDb::block_build({&pear, 1}, 10));
    CHECK(leveldb && leveldb->contains("pear"sv) && !leveldb->contains("apple"sv));
}

// Filters with seeds of their own, one key in all of them.
void views_of_different_seeds()
{
    std::vector<Filter> filters;
    std::vector<View> views;
    std::vector<std::string> strings;
    for (std::uint64_t i = 0; i < 70; i++) {
        auto filter = Filter::create(i % 7 == 0 ? params_for_bits(100, 20, i / 2)
                                                : with_random_seed(params_for_bits(100, 20)));
        REQUIRE(filter);
        strings.push_back("key " + std::to_string(i));
        filter->insert(strings.back());
        if (i % 3 == 0) filter->insert("apple"sv);
        filters.push_back(*std::move(filter));
    }
    for (const Filter &filter : filters) views.push_back(filter.view());
    views.push_back(View());
    strings.push_back("apple");
    Bitmap all, bitmap;
    for (std::size_t key = 0; key < strings.size(); key++) {
        std::size_t expected = 0;
        CHECK_U64(views.size(), views_contain_hash(views, views[0].hash(strings[key]), all));
        CHECK_U64(views.size(), all.size());
        std::size_t count = views_contain(views, strings[key], bitmap);
        for (std::size_t i = 0; i < views.size(); i++) {
            CHECK(bitmap[i] == views[i].contains(strings[key]) && all[i]);
            CHECK(bitmap[i] || (key != i && !(key == 70 && i % 3 == 0)));
            expected += bitmap[i];
        }
        CHECK_U64(expected, count);
        CHECK(count >= 2 && (key == 70 || count < 10));
    }
    const std::uint64_t hashes[] = {1, 2, 3};
    CHECK_U64(3, shards_contain_hashes({views.data(), 70}, hashes, bitmap));
    CHECK_U64(71, views_contain(views, text(nullptr), bitmap));
    CHECK_U64(0, views_contain({}, "apple"sv, bitmap));
}

// Filters of one seed and of others, prepared.
void groups()
{
    std::vector<Filter> filters;
    std::vector<View> views;
    for (std::uint64_t i = 0; i < 70; i++) {
        auto filter = Filter::create(params_for_bits(100, 20));
        REQUIRE(filter);
        filter->insert("key " + std::to_string(i));
        if (i % 3 == 0) filter->insert("apple"sv);
        filters.push_back(*std::move(filter));
    }
    for (const Filter &filter : filters) views.push_back(filter.view());
    views.push_back(View());
    auto group = Group::create(views);
    REQUIRE(group);
    CHECK_U64(71, group->view_count());
    const std::vector<std::uint64_t> hashes = {views[0].hash("apple"sv), views[0].hash("key 5"sv)};
    const std::vector<std::uint32_t> members = {3, 5, 70, 4, 99};
    Bitmap bitmap, rows;
    const std::size_t total = group->contains_hashes(hashes, rows);
    CHECK_U64(256, rows.size());
    std::size_t found = 0;
    for (std::size_t j = 0; j < 2; j++) {
        const std::size_t count = group->contains_hash(hashes[j], bitmap);
        for (std::size_t i = 0; i < 71; i++) {
            CHECK(bitmap[i] == views[i].contains_hash(hashes[j]) && rows[128 * j + i] == bitmap[i]);
        }
        CHECK_U64(count, bitmap.count());
        found += count;
    }
    CHECK_U64(found, total);
    CHECK(group->contains("apple"sv, bitmap) >= 25 && bitmap.size() == 71 && bitmap[69] && bitmap[70]);
    const std::vector<std::uint64_t> asked = {hashes[0], hashes[1], hashes[0], hashes[0], hashes[0]};
    CHECK_U64(4, group->contains_pairs(members, asked, bitmap));
    CHECK(bitmap.size() == 5 && !bitmap[3] && bitmap[4]);
    Group moved = *std::move(group);
    CHECK_U64(5, moved.contains_pairs({members.data(), 2}, asked, bitmap));
    CHECK_U64(5, Group().contains_pairs(members, asked, bitmap));
    CHECK_U64(SIZE_MAX, Group().contains_hash(1, bitmap));
}

void seeds_and_sizes()
{
    auto a = with_random_seed(params_for_rate(1000, 0.01)), b = with_random_seed(*a);
    REQUIRE(a && b);
    CHECK(a->seed != b->seed && a->seed != 0 && a->line_count == b->line_count && a->k == b->k);
    auto cuckoo = with_random_seed(cuckoo_params_for_rate(1000, 0.01));
    CHECK(cuckoo && cuckoo->seed != 0 && CuckooFilter::create(cuckoo));
    auto seed = random_seed();
    CHECK(seed && *seed != a->seed && *seed != *random_seed());
    CHECK(with_random_seed(params_for_rate(10, 2.0)).code() == BLOOMLINE_ERR_RATE);
    CHECK(with_random_seed(cuckoo_params_for_rate(10, 2.0)).code() == BLOOMLINE_ERR_RATE);

    auto params = foldable(params_for_rate(5000, 0.01), 5);
    REQUIRE(params);
    CHECK_U64(0, params->line_count % 32);
    auto filter = Filter::create(params);
    REQUIRE(filter);
    filter->insert("apple"sv);
    for (int i = 0; i < 5; i++) CHECK(filter->fold());
    CHECK_U64(params->line_count / 32, filter->params()->line_count);
    CHECK(filter->contains("apple"sv));
    CHECK(foldable(params_for_rate(10, 2.0), 5).code() == BLOOMLINE_ERR_RATE);
    CHECK(foldable(*params, 64).code() == BLOOMLINE_ERR_LINE_COUNT);
}

void a_flooded_line_shows()
{
    auto made = Filter::create(Params{100, 6, 0, 0});
    REQUIRE(made);
    Filter filter = *std::move(made);
    CHECK(filter.worst_line_rate() == 0 && Filter().worst_line_rate() == 1 && View().worst_line_rate() == 1);
    for (std::uint64_t i = 0; i < 2000; i++) filter.insert_hash(hash_u64(i) >> 8 | 1); // the first line
    CHECK(filter.worst_line_rate() > 0.99 && filter.estimated_rate() < 0.02);
    CHECK(filter.view().worst_line_rate() == filter.worst_line_rate());
}

void whole_filters()
{
    Filter a = make_filter(), b = make_filter();
    a.insert("apple"sv);
    b.insert("pear"sv);
    CHECK(a.merge(b));
    CHECK(a.contains("apple"sv) && a.contains("pear"sv) && !b.contains("apple"sv));
    CHECK(a.fill() > 0 && a.estimated_keys() > 1.5 && a.estimated_keys() < 2.5 && a.estimated_rate() < 0.01);
    a.clear();
    CHECK(!a.contains("apple"sv) && a.fill() == 0);

    auto large = Filter::create(Params{1024, 6, 0, 0});
    REQUIRE(large);
    large->insert("apple"sv);
    CHECK(large->fold());
    CHECK_U64(512, large->params()->line_count);
    auto folds = large->fold_to_rate(0.01);
    CHECK(folds && *folds > 0 && large->contains("apple"sv));
    CHECK(expected_rate(*params_for_rate(1000, 0.01), 1000) <= 0.01);
}

void blocks_and_builders()
{
    auto params = params_for_bits(100, 10, 7);
    std::vector<std::uint64_t> hashes;
    auto builder = Builder::create(10, 7);
    REQUIRE(params && builder);
    for (std::uint64_t i = 0; i < 100; i++) {
        hashes.push_back(i == 0 ? hash("apple"sv, 7) : hash_u64(i, 7));
        CHECK(i == 0 ? builder->add("apple"sv) : i % 2 ? builder->add_u64(i) : builder->add_hash(hashes[i]));
    }
    CHECK_U64(100, builder->key_count());
    auto block = block_build(*params, hashes);
    REQUIRE(block);
    CHECK_U64(block_len(*params), block->size());
    CHECK_U64(block->size(), builder->block_len());
    auto finished = builder->finish();
    CHECK(finished && *finished == *block);
    CHECK_U64(0, builder->key_count());
    auto view = View::open(*block);
    CHECK(view && view->contains("apple"sv) && view->contains_u64(99));
    CHECK(block_build(*params, hashes, block->data(), 10).code() == BLOOMLINE_ERR_BUFFER_TOO_SMALL);
    CHECK(block_build(Params{0, 1, 0, 0}, hashes).code() != BLOOMLINE_OK);

    std::vector<std::uint8_t> lines(params->line_count * 64);
    CHECK(lines_insert_hashes(*params, lines.data(), lines.size(), hashes));
    CHECK(std::equal(lines.begin(), lines.end(), block->begin()));
    CHECK((*lines_view(*params, lines.data(), lines.size())).contains("apple"sv));
    CHECK(lines_view(*params, lines.data(), 63).code() == BLOOMLINE_ERR_BUFFER_TOO_SMALL);
}

void concurrent_filters()
{
    const Params params{20, 6, 0, 3};
    auto filter = Filter::create(params);
    REQUIRE(filter);
    filter->insert("apple"sv);
    auto shared = ConcurrentFilter::from(std::move(*filter));
    REQUIRE(shared);
    CHECK(shared->contains("apple"sv) && !shared->contains("pear"sv));
    CHECK(shared->insert("pear"sv) && !shared->insert("pear"sv) && shared->insert_u64(7) && shared->contains_u64(7));
    std::vector<std::uint64_t> hashes = {hash("apple"sv, 3), hash("plum"sv, 3)};
    Bitmap is_new, maybe;
    CHECK_U64(1, shared->insert_hashes(hashes, is_new));
    CHECK(!is_new[0] && is_new[1] && shared->contains_hash(hashes[1]));
    CHECK_U64(2, shared->contains_hashes(hashes, maybe));
    std::vector<std::string> names = {"plum", "cherry"};
    CHECK_U64(1, shared->insert_keys(keys(names), is_new));
    CHECK_U64(2, shared->contains_keys(keys(names), maybe));
    auto snapshot = shared->snapshot();
    CHECK(snapshot && snapshot->contains("cherry"sv) && shared->params()->line_count == 20);
    CHECK(shared->merge(*snapshot) && shared->estimated_keys() > 4);
    CHECK(!shared->insert_hash(hashes[0]) && ConcurrentFilter().contains("anything"sv));
    CHECK(ConcurrentFilter::create(Params{0, 6, 0, 0}).code() == BLOOMLINE_ERR_NO_LINES);
    CHECK((*ConcurrentFilter::create(params)).estimated_keys() == 0);
}

void counting_filters()
{
    auto made = CountingFilter::create(*params_for_rate(1000, 0.01, 7));
    REQUIRE(made);
    CountingFilter filter = std::move(*made);
    std::vector<std::string> strings = {"a", "b", "c"};
    std::vector<bloomline_bytes> three = keys(strings);
    std::vector<std::uint64_t> hashed = hash_batch(three, 7);
    filter.insert("a"sv);
    filter.insert_u64(42);
    filter.insert_hash(hash("b"sv, 7));
    filter.insert_hashes(hashed);
    filter.insert_keys(three);
    CHECK_U64(9, filter.key_count());
    CHECK_U64(3, filter.count("a"sv));
    CHECK_U64(1, filter.count_u64(42));
    CHECK_U64(2, filter.count_hash(hash("c"sv, 7)));
    CHECK(filter.contains("a"sv) && filter.contains_u64(42) && filter.contains_hash(hashed[2]));
    CHECK(filter.view().contains("b"sv) && !filter.view().contains("z"sv));
    CHECK(filter.fill() > 0 && filter.estimated_rate() < 0.01 && filter.estimated_keys() > 3);
    CHECK_U64(7, filter.params()->seed);

    auto bytes = filter.encode();
    REQUIRE(bytes);
    CHECK_U64(filter.encoded_len(), bytes->size());
    auto decoded = CountingFilter::decode(*bytes);
    REQUIRE(decoded);
    CHECK_OK(decoded->merge(filter).code());
    CHECK_U64(6, decoded->count("a"sv));
    std::string path = file_name("counting");
    CHECK_OK(decoded->save(path).code());
    auto loaded = CountingFilter::load(path);
    REQUIRE(loaded);
    CHECK_U64(18, loaded->key_count());
    unlink(path.c_str());
    CHECK_STATUS(BLOOMLINE_ERR_NOT_FOUND, CountingFilter::load(path).code());

    Bitmap removed;
    CHECK_OK(filter.remove("a"sv).code());
    CHECK_OK(filter.remove_u64(42).code());
    CHECK_OK(filter.remove_hash(hash("b"sv, 7)).code());
    CHECK_U64(3, filter.remove_hashes(hashed, removed));
    CHECK(removed[0] && removed[1] && removed[2]);
    CHECK_U64(3, filter.remove_keys(three, removed));
    CHECK_U64(3, removed.size());
    CHECK_U64(0, filter.remove_keys(three, removed));
    CHECK(!removed[0] && !removed[1] && !removed[2]);
    CHECK_STATUS(BLOOMLINE_ERR_ABSENT, filter.remove("a"sv).code());
    CHECK_U64(0, filter.key_count());
    CHECK(!filter.contains("a"sv));
    auto plain = decoded->to_filter();
    REQUIRE(plain);
    CHECK(plain->contains("a"sv) && !plain->contains("z"sv));
    decoded->clear();
    CHECK_U64(0, decoded->key_count());

    CountingFilter empty;
    empty.insert("a"sv);
    CHECK(empty.contains("a"sv) && empty.view().contains("a"sv));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, empty.remove("a"sv).code());
    CHECK_U64(BLOOMLINE_COUNTING_MOST, empty.count("a"sv));
    CHECK_U64(0, empty.remove_hashes(Span<const std::uint64_t>(hashed.data(), 1), removed));
    CHECK_U64(0, empty.encoded_len());
}

void scalable_filters()
{
    auto made = ScalableFilter::create(40, 0.01, 7);
    REQUIRE(made);
    ScalableFilter filter = std::move(*made);
    std::vector<std::string> strings = {"a", "b", "c"};
    std::vector<bloomline_bytes> three = keys(strings);
    std::vector<std::uint64_t> hashed = hash_batch(three, 7);
    bool is_new = false;
    CHECK_OK(filter.insert("a"sv, &is_new).code());
    CHECK(is_new);
    CHECK_OK(filter.insert_u64(42).code());
    CHECK_OK(filter.insert_hash(hashed[0], &is_new).code());
    CHECK(!is_new);
    Bitmap bits;
    CHECK_OK(filter.insert_hashes(hashed, bits).code());
    CHECK(!bits[0] && bits[1] && bits[2]);
    CHECK_OK(filter.insert_keys(three, bits).code());
    CHECK(!bits[0] && !bits[1] && !bits[2]);
    CHECK_OK(filter.insert_hashes(hashed).code());
    CHECK_OK(filter.insert_keys(three).code());
    CHECK_U64(4, filter.key_count());
    CHECK(filter.contains("a"sv) && filter.contains_u64(42) && filter.contains_hash(hashed[2]));
    CHECK_U64(3, filter.contains_hashes(hashed, bits));
    CHECK_U64(3, filter.contains_keys(three, bits));
    CHECK(!filter.contains("z"sv));
    for (std::uint64_t i = 0; i < 1000; i++) CHECK_OK(filter.insert_u64(i).code());
    const auto facts = filter.about();
    CHECK(facts.stage_count == 5 && facts.expected_rate > 0 && facts.expected_rate < facts.target_rate);
    CHECK(facts.target_rate == 0.01 && facts.seed == 7);
    CHECK_U64(40, filter_key_count(bloomline_scalable_stage(filter.get(), 0)));

    auto bytes = filter.encode();
    REQUIRE(bytes);
    CHECK_U64(filter.encoded_len(), bytes->size());
    auto decoded = ScalableFilter::decode(*bytes);
    REQUIRE(decoded);
    CHECK_U64(filter.key_count(), decoded->key_count());
    std::string path = file_name("scalable");
    CHECK_OK(decoded->save(path).code());
    auto loaded = ScalableFilter::load(path);
    REQUIRE(loaded);
    CHECK(loaded->contains_u64(999));
    unlink(path.c_str());
    CHECK_STATUS(BLOOMLINE_ERR_NOT_FOUND, ScalableFilter::load(path).code());
    CHECK_STATUS(BLOOMLINE_ERR_RATE, ScalableFilter::create(40, 1).code());

    ScalableFilter empty;
    CHECK_STATUS(BLOOMLINE_ERR_NULL, empty.insert("a"sv).code());
    CHECK_STATUS(BLOOMLINE_ERR_NULL, empty.insert_hashes(hashed, bits).code());
    CHECK(empty.contains("a"sv) && empty.about().expected_rate == 1);
    CHECK_U64(0, empty.encoded_len());
}

void cascades()
{
    std::vector<std::string> blocked = {"a", "b", "c"};
    std::vector<std::uint64_t> included = hash_batch(keys(blocked), 7), excluded;
    for (std::uint64_t i = 0; i < 1000; i++) excluded.push_back(hash_u64(i, 7));
    auto made = Cascade::create(included, excluded, 0, 7), by_threads = Cascade::create(included, excluded, 0, 7, 2);
    CHECK(made && by_threads && *made->encode() == *by_threads->encode());
    REQUIRE(made);
    Cascade cascade = std::move(*made);
    CHECK(cascade.contains("a"sv) && cascade.contains_hash(included[2]) && !cascade.contains_u64(42));
    Bitmap bits;
    CHECK_U64(3, cascade.contains_hashes(included, bits));
    CHECK_U64(0, cascade.contains_hashes(excluded, bits));
    CHECK_U64(3, cascade.contains_keys(keys(blocked), bits));
    const CascadeFacts facts = cascade.about();
    CHECK_U64(3, facts.included_count);
    CHECK_U64(1000, facts.excluded_count);
    CHECK_U64(7, facts.seed);
    CHECK(facts.unknown_rate > 0 && facts.unknown_rate < 0.07);
    CHECK_U64(64 * (facts.line_count + facts.layer_count + 1), cascade.encoded_len());

    auto bytes = cascade.encode();
    REQUIRE(bytes);
    CHECK(kind_of(*bytes) == Kind::cascade);
    auto decoded = Cascade::decode(*bytes);
    auto copy = cascade.clone();
    REQUIRE(decoded && copy);
    CHECK(*decoded->encode() == *bytes && *copy->encode() == *bytes);
    std::string path = file_name("cascade");
    CHECK_OK(decoded->save(path).code());
    auto loaded = Cascade::load(path);
    REQUIRE(loaded);
    CHECK(loaded->contains("b"sv) && !loaded->contains_u64(999));
    unlink(path.c_str());
    CHECK_STATUS(BLOOMLINE_ERR_NOT_FOUND, Cascade::load(path).code());

    excluded.push_back(included[1]);
    CHECK_STATUS(BLOOMLINE_ERR_OVERLAP, Cascade::create(included, excluded).code());
    CHECK_STATUS(BLOOMLINE_ERR_RATE, Cascade::create(included, {}, 1).code());
    auto rare = Cascade::create(included, {}, 0.001);
    REQUIRE(rare);
    CHECK(rare->about().unknown_rate < 0.001 && rare->about().layer_count == 1);

    Cascade empty;
    CHECK(empty.contains("a"sv) && empty.about().unknown_rate == 1);
    CHECK_U64(0, empty.about().layer_count + empty.about().included_count + empty.encoded_len());
    CHECK_STATUS(BLOOMLINE_ERR_NULL, empty.clone().code());
}

void classic_filters()
{
    Params params = *classic_params_for_rate(1000, 0.01, 3);
    CHECK_U64(7, params.k);
    CHECK(expected_rate(params, 1000) <= 0.01);
    CHECK_U64(20, classic_params_for_bits(1000, 10)->line_count);
    auto filter = Filter::create(params);
    REQUIRE(filter);
    filter->insert("apple"sv);
    auto decoded = Filter::decode(*filter->encode());
    REQUIRE(decoded);
    CHECK(decoded->contains("apple"sv) && !decoded->contains("pear"sv));
    CHECK_OK(filter->merge(*decoded).code());
    CHECK_U64(BLOOMLINE_KIND_CLASSIC, filter->params()->layout);
    params.layout = 0;
    CHECK_STATUS(BLOOMLINE_ERR_MISMATCH, filter->merge(*Filter::create(params)).code());
    CHECK_STATUS(BLOOMLINE_ERR_LAYOUT, filter->fold().code());
    CHECK_STATUS(BLOOMLINE_ERR_K, Filter::create(Params{1, 17, BLOOMLINE_KIND_CLASSIC, 0}).code());
}

void swaps()
{
    const Params params{20, 6, 0, 3};
    auto first = Filter::create(params), next = Filter::create(Params{20, 6, BLOOMLINE_KIND_CLASSIC, 3});
    REQUIRE(first && next);
    first->insert("apple"sv);
    next->insert("pear"sv);
    next->insert_u64(7);
    auto swap = Swap::create(std::move(*first));
    REQUIRE(swap);
    CHECK(!*first && swap->snapshot().contains("apple"sv) && !swap->snapshot().contains("pear"sv));
    Snapshot old = swap->snapshot(), same = swap->snapshot();
    CHECK(old.get() == same.get());
    CHECK_OK(swap->publish(std::move(*next)).code());
    CHECK(!*next && swap->snapshot().contains("pear"sv) && swap->snapshot().contains_u64(7) && !swap->snapshot().contains("apple"sv));
    CHECK(old.view().contains("apple"sv) && !old.view().contains("pear"sv));
    Snapshot moved = std::move(old);
    CHECK(old.get() == nullptr && old.view().contains("anything"sv) && moved.view().contains("apple"sv));
    std::vector<std::string> names = {"apple", "pear"};
    std::vector<std::uint64_t> hashes = hash_batch(keys(names), 3);
    Bitmap maybe;
    CHECK_U64(1, swap->snapshot().contains_keys(keys(names), maybe));
    CHECK_U64(1, swap->snapshot().contains_hashes(hashes, maybe));
    CHECK(!maybe[0] && maybe[1] && swap->snapshot().contains_hash(hashes[1]));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, swap->publish(Filter()).code());
    CHECK_STATUS(BLOOMLINE_ERR_NULL, Swap::create(Filter()).code());
    Swap none;
    const Snapshot nothing = none.snapshot();
    CHECK(none.snapshot().contains("anything"sv) && nothing.view().contains("anything"sv));
    Filter kept = *Filter::create(params);
    CHECK_STATUS(BLOOMLINE_ERR_NULL, none.publish(std::move(kept)).code());
    CHECK(bool(kept));
}

void windows()
{
    auto made = Window::create(8, 1000, 0.01, 7);
    REQUIRE(made);
    Window window = std::move(*made);
    std::vector<std::string> strings = {"a", "b", "c"};
    std::vector<bloomline_bytes> three = keys(strings);
    std::vector<std::uint64_t> hashed = hash_batch(three, 7);
    Bitmap out;
    window.advance_to(100);
    CHECK(window.insert("a"sv) && !window.insert("a"sv));
    CHECK(window.insert_u64(42) && window.insert_hash(hash("b"sv, 7)));
    CHECK_U64(1, window.insert_keys(three, out));
    CHECK(!out[0] && !out[1] && out[2]);
    CHECK_U64(0, window.insert_hashes(hashed, out));
    CHECK_U64(3, out.size());
    CHECK_U64(4, window.key_count());
    window.rotate();
    CHECK(window.insert("d"sv));
    CHECK_U64(101, window.about().time_slice);
    CHECK_U64(1, window.key_count());
    CHECK_U64(4, window.key_count(1));
    CHECK(window.contains("a"sv) && window.contains_u64(42) && window.contains_hash(hashed[2]));
    CHECK_U64(3, window.contains_keys(three, out));
    CHECK_U64(3, window.contains_hashes(hashed, out));
    CHECK(window.estimated_rate() < 0.01);
    CHECK_U64(8, window.about().generations);
    CHECK_U64(7, window.params()->seed);

    auto bytes = window.encode();
    REQUIRE(bytes);
    CHECK_U64(window.encoded_len(), bytes->size());
    auto decoded = Window::decode(*bytes);
    REQUIRE(decoded);
    decoded->advance_to(108);
    CHECK(!decoded->contains("a"sv) && decoded->contains("d"sv));
    decoded->rotate_after(1);
    CHECK(decoded->insert("e"sv) && decoded->insert("f"sv));
    CHECK_U64(109, decoded->about().time_slice);
    CHECK(Window::create(0, 10, 0.01).code() == BLOOMLINE_ERR_GENERATIONS);
    CHECK(Window::create(8, 10, 1.0).code() == BLOOMLINE_ERR_RATE);

    Window empty;
    empty.rotate();
    CHECK(empty.insert("a"sv) && empty.contains("a"sv));
    CHECK_U64(3, empty.contains_hashes(hashed, out));
    CHECK_U64(0, empty.encoded_len());
    CHECK(empty.params().code() == BLOOMLINE_ERR_NULL);
}

// Each kind takes ranges; what they hold is then present, hashed as by insert().
template <class F>
void ranges_into(F &filter)
{
    std::vector<std::string> strings;
    std::vector<std::uint64_t> integers;
    for (std::uint64_t i = 0; i < 700; i++) { /* more than a block, and not a whole number of blocks */
        strings.push_back("key " + std::to_string(i));
        integers.push_back(i << 40);
    }
    const std::list<std::string_view> list = {"list"sv, "a\0b"sv, ""sv};
    const std::uint8_t table[2][3] = {{0, 0, 1}, {1, 2, 3}};
    std::istringstream words("made on the way");
    /* Nothing, a Status or a number: ranges() looks at those. */
    (void)filter.insert(strings.begin(), strings.end());
    (void)filter.insert(integers.data(), integers.data() + 650);
    (void)filter.insert(list.begin(), list.end());
    (void)filter.insert(std::istream_iterator<std::string>(words), std::istream_iterator<std::string>());
    (void)filter.insert(strings.begin(), strings.begin()); /* nothing */
    (void)filter.insert_range(table);
    std::size_t missing = 0, wrong = 0;
    for (const auto &string : strings) missing += !filter.contains(string);
    for (std::size_t i = 0; i < 650; i++) missing += !filter.contains_u64(integers[i]);
    for (std::size_t i = 650; i < 700; i++) wrong += filter.contains_u64(integers[i]);
    for (auto string : list) missing += !filter.contains(string);
    for (auto string : {"made"sv, "on"sv, "the"sv, "way"sv}) missing += !filter.contains(string);
    for (const auto &key : table) missing += !filter.contains(key);
    CHECK_U64(0, missing);
    CHECK(wrong < 5);
    CHECK_U64(7, filter.seed());
    CHECK(filter.contains_hash(hash("key 7"sv, filter.seed())) && !filter.contains("other"sv));
#if HAS_RANGES
    auto made = std::views::iota(0, 300) | std::views::transform([](int i) { return "view " + std::to_string(i); });
    (void)filter.insert_range(made);
    for (auto &&key : made) CHECK(filter.contains(key));
    auto odd = std::views::iota(std::uint64_t{1}) | std::views::take_while([](std::uint64_t i) { return i < 400; });
    (void)filter.insert(odd.begin(), odd.end()); /* a sentinel of another type */
    CHECK(filter.contains_u64(399));
#endif
}

void ranges()
{
    Filter filter = make_filter(10000);
    auto concurrent = ConcurrentFilter::create(params_for_rate(10000, 0.01, 7));
    auto counting = CountingFilter::create(params_for_rate(10000, 0.01, 7));
    auto cuckoo = CuckooFilter::create(cuckoo_params_for_rate(10000, 0.01, 7));
    auto scalable = ScalableFilter::create(100, 0.01, 7);
    auto window = Window::create(2, 10000, 0.01, 7);
    REQUIRE(concurrent && counting && cuckoo && scalable && window);
    ranges_into(filter);
    ranges_into(*concurrent);
    ranges_into(*counting);
    ranges_into(*cuckoo);
    ranges_into(*scalable);
    ranges_into(*window);

    /* How many were new, and where a full filter stops. */
    std::vector<std::uint64_t> integers(2000);
    for (std::size_t i = 0; i < integers.size(); i++) integers[i] = i;
    auto fresh = Window::create(2, 10000, 0.0001, 7);
    REQUIRE(fresh);
    CHECK(scalable->insert_range(integers) && cuckoo->insert(integers.begin(), integers.end()));
    CHECK(fresh->insert_range(integers) >= 1990);
    CHECK_U64(0, fresh->insert(integers.begin(), integers.end()));
    auto small = CuckooFilter::create(cuckoo_params_for_rate(100, 0.01, 7));
    REQUIRE(small);
    CHECK_STATUS(BLOOMLINE_ERR_FULL, small->insert_range(integers).code());
    const std::size_t count = small->key_count();
    CHECK(count >= 100 && count < 256);
    for (std::size_t i = 0; i < count; i++) CHECK(small->contains_u64(i));
    Filter empty;
    empty.insert_range(integers);
    CHECK_U64(0, empty.key_count());

    /* The answers of a range, in order: of a filter, a view, other kinds; and all of nothing. */
    for (std::size_t i = 0; i < integers.size(); i++) integers[i] = i * i;
    auto answers_are_those_of_single_keys = [&](const auto &probed) {
        std::vector<bool> answers;
        probed.contains_range(integers, std::back_inserter(answers));
        CHECK_U64(integers.size(), answers.size());
        for (std::size_t i = 0; i < answers.size(); i++) CHECK(answers[i] == probed.contains_u64(integers[i]));
    };
    answers_are_those_of_single_keys(filter);
    answers_are_those_of_single_keys(filter.view());
    answers_are_those_of_single_keys(*cuckoo);
    answers_are_those_of_single_keys(*concurrent);
    answers_are_those_of_single_keys(empty);
    filter.insert("apple"sv);
    bool found[2] = {false, true};
    CHECK(filter.contains_range(std::vector<std::string>{"apple", "no such fruit"}, found) == found + 2);
    CHECK(found[0] && found[1] == filter.contains("no such fruit"sv));
    CHECK(filter.contains_range(std::vector<std::string>(), found) == found);

    /* On several threads. */
    Filter one = make_filter(200000), several = make_filter(200000);
    std::vector<std::uint64_t> hashes(200000);
    for (std::size_t i = 0; i < hashes.size(); i++) hashes[i] = bloomline::hash_u64(i);
    one.insert_hashes(hashes);
    several.insert_hashes_parallel(hashes, 3);
    const auto by_one = one.encode(), by_several = several.encode();
    REQUIRE(by_one && by_several);
    CHECK(*by_one == *by_several);
    const bloomline_bytes key = {reinterpret_cast<const std::uint8_t *>("pear"), 4};
    several.insert_keys_parallel({&key, 1}, 0);
    CHECK(several.contains("pear"sv));
    Filter again = make_filter(200000);
    Bitmap is_new;
    const std::size_t added = again.insert_new_hashes(hashes, is_new, 2);
    CHECK_U64(is_new.count(), added);
    CHECK(is_new.size() == hashes.size() && is_new[0] && is_new.count() > 190000);
    CHECK_U64(0, again.insert_new_hashes(hashes, is_new));
    CHECK_U64(1, again.insert_new_keys({&key, 1}, is_new, 0));
    CHECK(is_new[0] && again.contains("pear"sv));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, ScalableFilter().insert_range(integers).code());
}

void merging_by_operator()
{
    Filter a = make_filter(), b = make_filter();
    b.insert("pear"sv);
    CHECK((a |= b) && a.contains("pear"sv));
    CHECK_STATUS(BLOOMLINE_ERR_MISMATCH, (a |= make_filter(5000)).code());
    a.insert("apple"sv);
    CHECK((a &= b) && a.contains("pear"sv) && !a.contains("apple"sv));
    CHECK_STATUS(BLOOMLINE_ERR_MISMATCH, (a &= make_filter(5000)).code());
    auto shared = ConcurrentFilter::create(a.params());
    auto counting = CountingFilter::create(a.params()), other = CountingFilter::create(a.params());
    REQUIRE(shared && counting && other);
    CHECK((*shared |= b) && shared->contains("pear"sv));
    other->insert("plum"sv);
    CHECK((*counting |= *other) && (*counting |= *other));
    CHECK_U64(2, counting->count("plum"sv));
}

// A copy has the same bytes, and changes to one do not reach the other.
template <class F>
void copies_of(F &filter, Kind kind)
{
    auto copy = filter.clone();
    auto bytes = filter.encode();
    REQUIRE(copy && bytes);
    CHECK(copy->get() != filter.get() && *copy->encode() == *bytes);
    (void)copy->insert("only in the copy"sv);
    CHECK(copy->contains("only in the copy"sv) && !filter.contains("only in the copy"sv));
    CHECK(*filter.encode() == *bytes);
    CHECK(kind_of(*bytes) == kind && kind_of({bytes->data(), 10}) == Kind::none);
    CHECK_STATUS(BLOOMLINE_ERR_NULL, F().clone().code());

    std::ostringstream stream;
    CHECK(filter.write_to(stream));
    CHECK(stream.str() == std::string(bytes->begin(), bytes->end()));
    std::vector<std::uint8_t> pieces;
    const auto collect = [&pieces](const void *data, std::size_t len) {
        const auto *first = static_cast<const std::uint8_t *>(data);
        pieces.insert(pieces.end(), first, first + len);
        return true;
    };
    CHECK(filter.write_to(collect) && pieces == *bytes);
    std::size_t calls = 0;
    CHECK_STATUS(BLOOMLINE_ERR_IO, filter.write_to([&](const void *, std::size_t) { return ++calls > 1; }).code());
    CHECK_U64(1, calls);
    stream.setstate(std::ios::badbit);
    CHECK_STATUS(BLOOMLINE_ERR_IO, filter.write_to(stream).code());
    CHECK_STATUS(BLOOMLINE_ERR_NULL, F().write_to(collect).code());

    const std::filesystem::path path = file_name("kinds");
    CHECK(filter.save(path));
    CHECK(std::filesystem::file_size(path) == bytes->size());
    auto loaded = F::load(path), again = F::load(path.string()), by_pointer = F::load(path.c_str());
    std::filesystem::remove(path);
    REQUIRE(loaded && again && by_pointer);
    CHECK(*loaded->encode() == *bytes && *again->encode() == *bytes && *by_pointer->encode() == *bytes);
    CHECK_STATUS(BLOOMLINE_ERR_NOT_FOUND, F::load(path).code());
}

void copies_and_streams()
{
    Filter filter = make_filter();
    auto classic = Filter::create(classic_params_for_rate(1000, 0.01));
    auto counting = CountingFilter::create(params_for_rate(1000, 0.01));
    auto cuckoo = CuckooFilter::create(cuckoo_params_for_rate(1000, 0.01));
    auto scalable = ScalableFilter::create(100, 0.01);
    auto window = Window::create(3, 1000, 0.01);
    REQUIRE(classic && counting && cuckoo && scalable && window);
    const std::vector<std::uint64_t> integers = {1, 2, 3, 1000000};
    filter.insert_range(integers);
    classic->insert_range(integers);
    counting->insert_range(integers);
    CHECK(cuckoo->insert_range(integers) && scalable->insert_range(integers));
    window->insert_range(integers);
    copies_of(filter, Kind::filter);
    copies_of(*classic, Kind::classic);
    copies_of(*counting, Kind::counting);
    copies_of(*cuckoo, Kind::cuckoo);
    copies_of(*scalable, Kind::scalable);
    copies_of(*window, Kind::window);
    CHECK(kind_of("no filter"sv) == Kind::none && kind_of({}) == Kind::none);
}

void values_or_others()
{
    CHECK_U64(5, params_for_rate(10, 2.0).value_or(Params{5, 6, 0, 0}).line_count);
    CHECK(params_for_rate(1000, 0.01).value_or(Params{}).line_count > 0);
    const auto folds = make_filter().fold_to_rate(0);
    CHECK_U64(7, folds.value_or(7));
    Filter other = make_filter();
    other.insert("apple"sv);
    Filter loaded = Filter::load("/no/such/file").value_or(std::move(other)); /* moves what cannot be copied */
    CHECK(loaded.contains("apple"sv) && !loaded.contains("plum"sv));
}

// What each kind with a view tells without naming the view.
void every_view()
{
    const auto params = params_for_rate(1000, 0.01, 7);
    std::vector<std::string> strings = {"apple", "pear", "plum"};
    const auto three = keys(strings);
    Filter filter = make_filter();
    filter.insert("apple"sv);
    auto counting = CountingFilter::create(params);
    auto cuckoo = CuckooFilter::create(cuckoo_params_for_rate(1000, 0.01, 7));
    auto shared = ConcurrentFilter::create(params);
    auto copy = filter.clone();
    REQUIRE(counting && cuckoo && shared && copy);
    counting->insert("apple"sv);
    CHECK(cuckoo->insert("apple"sv));
    shared->insert("apple"sv);
    auto swap = Swap::create(std::move(*copy));
    const std::string path = file_name("map");
    CHECK(filter.save(path));
    auto map = Map::open(std::filesystem::path(path));
    CHECK(std::remove(path.c_str()) == 0);
    REQUIRE(swap && map);
    const Snapshot snapshot = swap->snapshot();
    auto check = [&](const auto &probed) {
        Bitmap bits;
        CHECK_U64(1, probed.contains_keys(three, bits));
        CHECK(bits[0] && !bits[1] && !bits[2]);
        CHECK_U64(1, probed.contains_hashes(hash_batch(three, 7), bits));
        CHECK(probed.contains("apple"sv) && !probed.contains_u64(7) && probed.contains_hash(hash("apple"sv, 7)));
        CHECK_U64(hash("pear"sv, 7), probed.hash("pear"sv));
        CHECK(probed.fill() > 0 && probed.fill() < 0.01);
        CHECK(probed.estimated_keys() > 0.5 && probed.estimated_keys() < 1.5);
        CHECK(probed.view().lines().size() >= 64 && probed.view().lines().size() % 64 == 0);
    };
    check(filter);
    check(*counting);
    check(*cuckoo);
    check(*shared);
    check(*map);
    check(snapshot);
    check(filter.view());
    const std::size_t in_lines = filter.view().lines().size();
    const std::uint64_t keys_of[2] = {hash("apple"sv, 7), hash("pear"sv, 7)};
    CHECK(filter.memory_usage() == in_lines && shared->memory_usage() == in_lines && counting->memory_usage() == 5 * in_lines);
    CHECK(snapshot.memory_usage() == in_lines && cuckoo->memory_usage() == cuckoo->view().lines().size());
    CHECK(ScalableFilter::create(100, 0.01).value_or({}).memory_usage() >= 64);
    CHECK(Window::create(3, 100, 0.01).value_or({}).memory_usage() >= 3 * 64);
    const auto cascade = Cascade::create({keys_of, 1}, {keys_of + 1, 1});
    CHECK(cascade->memory_usage() == 64 * cascade->about().line_count && Filter().memory_usage() == 0);
    CHECK(counting->estimated_rate() < 0.01 && cuckoo->estimated_rate() < 0.01 && map->worst_line_rate() < 0.01);
    const auto bytes = filter.encode();
    const auto lines = static_cast<const std::uint8_t *>(filter.view().lines().data());
    CHECK(std::equal(lines, lines + filter.view().lines().size(), bytes->begin()));
    CHECK_U64(7, cuckoo->params()->seed);
    CHECK(cuckoo->params()->line_count == cuckoo->view().cuckoo_params()->line_count);
    CHECK(!filter.view().cuckoo_params() && !cuckoo->view().params() && !CuckooFilter().params());
    /* A view of a shared filter sees what is inserted after it was made. */
    const View live = shared->view();
    CHECK(shared->insert("pear"sv) && live.contains("pear"sv));
    CHECK_U64(0, View().lines().size());
}

void builders_in_batches()
{
    auto builder = Builder::create(10, 7), by_rate = Builder::create_for_rate(0.01, 7);
    REQUIRE(builder && by_rate);
    std::vector<std::string> strings;
    for (int i = 0; i < 300; i++) strings.push_back("key " + std::to_string(i));
    const auto batch = keys(strings);
    const auto hashes = hash_batch(batch, 7);
    for (const auto &string : strings) CHECK(builder->add(string));
    const auto one_by_one = builder->finish();
    CHECK(builder->add_keys(batch));
    CHECK_U64(300, builder->key_count());
    const auto by_keys = builder->finish();
    CHECK(builder->add_hashes(hashes));
    const auto by_hashes = builder->finish();
    REQUIRE(one_by_one && by_keys && by_hashes);
    CHECK(*one_by_one == *by_keys && *one_by_one == *by_hashes);
    CHECK(builder->add_hashes({hashes.data(), 100}));
    builder->clear();
    CHECK_U64(0, builder->key_count());
    CHECK(by_rate->add_keys(batch));
    CHECK_U64(block_len(*params_for_rate(300, 0.01)), by_rate->block_len());
    // A static filter is shorter than its block_len(), and the buffer as long as it is.
    auto fixed = Builder::create_static(0.01, 7);
    CHECK(fixed && fixed->add_keys(batch));
    size_t most = fixed->block_len();
    auto small = fixed->finish(), at_once = static_block_build(hashes, 0.01, 7);
    CHECK(small && at_once && *small == *at_once && small->size() <= most);
    CHECK_U64(static_block_len(hashes.size(), 0.01), most);
    CHECK(*static_block_build(hashes, 0.01, 7, 2) == *at_once);
    auto fixed_view = View::open(*small);
    CHECK(fixed_view && fixed_view->contains_hash(hashes.front()) && fixed_view->contains_hash(hashes.back()));
    CHECK(Builder::create_static(1).code() == BLOOMLINE_ERR_RATE);
    CHECK(static_block_build(hashes, 2).code() == BLOOMLINE_ERR_RATE);
    CHECK(Builder::create_for_rate(0).code() == BLOOMLINE_ERR_RATE);
    CHECK_STATUS(BLOOMLINE_ERR_NULL, Builder().add_keys(batch).code());
}

// The bytes and hashes are those of the C functions, which test_engine_views.c and the golden files
// check against the engines.
template <class Engine>
void one_engine(std::uint64_t expected_hash, Result<View> (*open)(Bytes))
{
    std::vector<std::string> strings;
    for (int i = 0; i < 300; i++) strings.push_back("key " + std::to_string(i));
    std::vector<std::uint64_t> hashes;
    for (const auto &string : strings) hashes.push_back(Engine::hash(string));
    CHECK_U64(expected_hash, Engine::hash("apple"sv));
    const auto block = Engine::block_build(hashes, 10);
    REQUIRE(block);
    CHECK_U64(Engine::block_len(300, 10), block->size());
    std::vector<std::uint8_t> own(block->size());
    std::size_t written = 0;
    CHECK(Engine::block_build(hashes, 10, own.data(), own.size(), &written) && written == own.size() && own == *block);
    CHECK_STATUS(BLOOMLINE_ERR_BUFFER_TOO_SMALL, Engine::block_build(hashes, 10, own.data(), 3).code());
    CHECK_STATUS(BLOOMLINE_ERR_BITS_PER_KEY, Engine::block_build(hashes, -1).code());
    const auto view = open(*block);
    REQUIRE(view);
    std::size_t missing = 0, wrong = 0;
    for (const auto &string : strings) missing += !view->contains(string), wrong += view->contains(string + "?");
    CHECK_U64(0, missing);
    CHECK(wrong < 20 && view->hash("apple"sv) == expected_hash);
}

void engines()
{
    one_engine<RocksDb>(bloomline_engine_hash(BLOOMLINE_ENGINE_ROCKSDB, "apple", 5), View::open_rocksdb);
    one_engine<RocksDbLegacy>(bloomline_engine_hash(BLOOMLINE_ENGINE_ROCKSDB_LEGACY, "apple", 5), View::open_rocksdb);
    one_engine<LevelDb>(bloomline_engine_hash(BLOOMLINE_ENGINE_LEVELDB, "apple", 5), View::open_leveldb);
    CHECK((*View::open_leveldb(""sv)).contains("apple"sv) == false);
}

void without_a_call()
{
    Filter filter = make_filter(), twin = make_filter();
    const View view = filter.view();
    const Inline inlined(view);
    for (std::uint64_t key = 0; key < 1000; key++) {
        twin.insert_hash(bloomline_hash_u64(key, 7));
        CHECK(inlined.insert_hash(bloomline_hash_u64(key, 7)));
    }
    for (std::uint64_t key = 0; key < 3000; key++) {
        inlined.prefetch_hash(bloomline_hash_u64(key, 7));
        CHECK(inlined.contains_hash(bloomline_hash_u64(key, 7)) == twin.contains_u64(key));
    }
    const View none;
    CHECK(Inline(none).contains_hash(1) && !Inline(none).insert_hash(1));
}

} // namespace

int main()
{
    check_begin("test_hpp");
    RUN(version_and_abi);
    RUN(keys_of_every_kind);
    RUN(keys_that_lie_anywhere_and_a_function);
    RUN(lines_united);
    RUN(batches);
    RUN(moves_and_empty_handles);
    RUN(statuses);
    RUN(bytes_files_and_views);
    RUN(owners_and_blocks);
    RUN(views_of_different_seeds);
    RUN(groups);
    RUN(seeds_and_sizes);
    RUN(a_flooded_line_shows);
    RUN(whole_filters);
    RUN(blocks_and_builders);
    RUN(concurrent_filters);
    RUN(counting_filters);
    RUN(scalable_filters);
    RUN(cascades);
    RUN(classic_filters);
    RUN(swaps);
    RUN(windows);
    RUN(ranges);
    RUN(merging_by_operator);
    RUN(copies_and_streams);
    RUN(values_or_others);
    RUN(every_view);
    RUN(without_a_call);
    RUN(builders_in_batches);
    RUN(engines);
    return check_end();
}
