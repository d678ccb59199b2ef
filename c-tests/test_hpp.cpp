// SPDX-License-Identifier: MIT OR Apache-2.0
//
// test_hpp.cpp - the filters of bloomline.hpp beside what test_hpp_histories.cpp replays: what each class
// does with no handle, with ranges, as a copy, to a stream and a file; how full it is. It compiles and runs
// without exceptions and RTTI (the Makefile builds it both ways).
#include "hpp.h"

#include <filesystem>
#include <iterator>
#include <list>
#include <sstream>

// Clang before 16 does not compile libstdc++'s.
#if __cplusplus >= 202002L && !(defined(__clang__) && __clang_major__ < 16)
#include <ranges>
#define HAS_RANGES 1
#else
#define HAS_RANGES 0
#endif

namespace {

void batches()
{
    Filter filter = make_filter();
    const auto strings = some_strings(200);
    const auto batch = keys(strings);
    const std::vector<std::uint64_t> integers = {7, 5};
    filter.insert_keys(Span<const bloomline_bytes>(batch.data(), 100));
    CHECK_U64(bloomline_hash("key 5", 5, 7), hash_batch(batch, 7)[5]);
    CHECK_U64(bloomline_hash_u64(5, 7), hash_u64_batch(integers, 7)[1]);
    CHECK_U64(bloomline_hash_u64(5, 7), hash_u64(5, 7));
    Bitmap by_key, by_view;
    const std::size_t found = filter.contains_keys(batch, by_key);
    CHECK_U64(found, filter.view().contains_keys(batch, by_view));
    CHECK_U64(200, by_key.size());
    CHECK_U64(4, by_key.words().size());
    CHECK(by_key.words() == by_view.words() && found >= 100 && found < 120);
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
}

// Filters of each class for so many keys at 1 %, with seed 7.
template <class Test>
void each_class(std::uint64_t keys, Test test)
{
    const auto params = params_for_rate(keys, 0.01, 7);
    auto plain = Filter::create(params), classic = Filter::create(classic_params_for_rate(keys, 0.01, 7));
    auto shared = ConcurrentFilter::create(params);
    auto counting = CountingFilter::create(params);
    auto cuckoo = CuckooFilter::create(cuckoo_params_for_rate(keys, 0.01, 7));
    auto scalable = ScalableFilter::create(keys / 100, 0.01, 7); auto growing = GrowingFilter::create(keys, 0.01, 7);
    auto window = Window::create(2, keys, 0.01, 7);
    REQUIRE(plain && classic && shared && counting && cuckoo && scalable && growing && window);
    test(*plain, Kind::filter);
    test(*classic, Kind::classic);
    test(*shared, Kind::filter);
    test(*counting, Kind::counting);
    test(*cuckoo, Kind::cuckoo);
    test(*scalable, Kind::scalable), test(*growing, Kind::growing);
    test(*window, Kind::window);
}

// Without a handle all may be present, and nothing is inserted.
template <class F>
void without_a_handle(F &filter)
{
    const std::vector<std::uint64_t> two = {1, 2};
    Bitmap bits;
    CHECK(filter.contains("a"sv) && filter.contains_u64(1) && filter.contains_hash(1));
    CHECK_U64(2, filter.contains_hashes(two, bits));
    if constexpr (std::is_same_v<decltype(filter.insert_u64(1)), Status>) {
        CHECK_STATUS(BLOOMLINE_ERR_NULL, filter.insert("a"sv).code());
        CHECK_STATUS(BLOOMLINE_ERR_NULL, filter.insert_range(two).code());
    } else {
        (void)filter.insert("a"sv);
        (void)filter.insert_range(two);
    }
    CHECK_U64(0, filter.memory_usage());
    filter.clear();
    CHECK_U64(0, filter.encoded_len());
    CHECK_STATUS(BLOOMLINE_ERR_NULL, filter.clone().code());
    CHECK_STATUS(BLOOMLINE_ERR_NULL, filter.write_to([](const void *, std::size_t) { return true; }).code());
}

void moves_and_empty_handles()
{
    each_class(1000, [](auto &filter, Kind) {
        using F = std::decay_t<decltype(filter)>;
        static_assert(!std::is_copy_constructible_v<F> && !std::is_copy_assignable_v<F>);
        static_assert(std::is_nothrow_move_constructible_v<F> && std::is_nothrow_move_assignable_v<F>);
        (void)filter.insert("apple"sv);
        F moved = std::move(filter);
        CHECK(moved && moved.contains("apple"sv) && !moved.contains("plum"sv));
        CHECK(!filter); // NOLINT: what is left after a move is promised to be empty
        without_a_handle(filter);
        filter = std::move(moved);
        CHECK(filter.contains("apple"sv) && !filter.contains("plum"sv));
        F released(filter.release());
        CHECK(!filter && released && released.contains("apple"sv));
        filter = F(); /* frees nothing */
    });
    static_assert(!std::is_copy_constructible_v<Map> && !std::is_copy_constructible_v<Builder>);
    Filter filter = make_filter();
    filter.insert("apple"sv);
    filter = make_filter(); /* frees the old one */
    CHECK(!filter.contains("apple"sv));
    CHECK(!Filter().params() && !View().params() && View().contains("anything"sv));
    CHECK_STATUS(BLOOMLINE_ERR_NOT_A_FILTER, View().params().code());
    Map no_map;
    CHECK(no_map.view().contains("anything"sv));
    CHECK(Filter().key_count() == 0 && Builder().key_count() == 0);
}

void how_full_and_folded()
{
    Filter filter = make_filter();
    CHECK(filter.fill() == 0);
    filter.insert("apple"sv);
    filter.insert("pear"sv);
    CHECK(filter.fill() > 0 && filter.estimated_keys() > 1.5 && filter.estimated_keys() < 2.5 && filter.estimated_rate() < 0.01);
    auto large = Filter::create(Params{1024, 6, 0, 0});
    REQUIRE(large);
    large->insert("apple"sv);
    auto folds = large->fold_to_rate(0.01);
    CHECK(folds && *folds > 0 && large->contains("apple"sv));
    CHECK(expected_rate(*params_for_rate(1000, 0.01), 1000) <= 0.01);
    const Params classic = *classic_params_for_rate(1000, 0.01, 3);
    CHECK(classic.k == 7 && classic.layout == BLOOMLINE_KIND_CLASSIC && expected_rate(classic, 1000) <= 0.01);
    CHECK_U64(20, classic_params_for_bits(1000, 10)->line_count);
}

void concurrent_filters()
{
    const Params params{20, 6, 0, 3};
    auto filter = Filter::create(params);
    REQUIRE(filter);
    filter->insert("apple"sv);
    auto shared = ConcurrentFilter::from(std::move(*filter));
    REQUIRE(shared);
    CHECK(!*filter && shared->contains("apple"sv) && !shared->contains("pear"sv));
    CHECK(shared->insert("pear"sv) && !shared->insert("pear"sv) && shared->insert_u64(7) && shared->contains_u64(7));
    auto snapshot = shared->snapshot();
    CHECK(snapshot && snapshot->contains("pear"sv) && shared->params()->line_count == 20);
    CHECK(shared->merge(*snapshot) && shared->estimated_keys() > 2);
    CHECK(ConcurrentFilter::create(Params{0, 6, 0, 0}).code() == BLOOMLINE_ERR_NO_LINES);
}

void counting_filters()
{
    auto made = CountingFilter::create(*params_for_rate(1000, 0.01, 7));
    REQUIRE(made);
    CountingFilter filter = std::move(*made);
    for (int i = 0; i < 3; i++) filter.insert_u64(42);
    CHECK_U64(3, filter.count_u64(42));
    CHECK_U64(3, filter.count(IntegerKey(42)));
    CHECK_OK(filter.remove_u64(42).code());
    CHECK(filter.contains_u64(42) && filter.view().contains_u64(42) && !filter.view().contains("z"sv));
    auto plain = filter.to_filter();
    CHECK(plain && plain->contains_u64(42) && plain->key_count() == 2);
    CHECK_U64(7, filter.params()->seed);

    const std::uint64_t hash = 1;
    Bitmap removed;
    CountingFilter empty;
    CHECK(empty.view().contains("a"sv));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, empty.remove("a"sv).code());
    CHECK_U64(BLOOMLINE_COUNTING_MOST, empty.count("a"sv));
    CHECK_U64(0, empty.remove_hashes({&hash, 1}, removed));
}

void scalable_filters()
{
    auto made = ScalableFilter::create(40, 0.01, 7);
    REQUIRE(made);
    ScalableFilter filter = std::move(*made);
    const auto strings = some_strings(3);
    const auto three = keys(strings);
    const auto hashed = hash_batch(three, 7);
    CHECK_OK(filter.insert_u64(42).code());
    CHECK(filter.insert_hashes(hashed) && filter.insert_keys(three)); /* no bitmap */
    CHECK_U64(4, filter.key_count());
    CHECK(filter.contains_u64(42) && filter.contains_hash(hashed[2]));
    for (std::uint64_t i = 0; i < 1000; i++) CHECK_OK(filter.insert_u64(i).code());
    const auto facts = filter.about();
    CHECK(facts.stage_count == 5 && facts.expected_rate > 0 && facts.expected_rate < 0.01 && facts.target_rate == 0.01 && facts.seed == 7);
    CHECK_U64(40, filter_key_count(bloomline_scalable_stage(filter.get(), 0)));
    CHECK_STATUS(BLOOMLINE_ERR_RATE, ScalableFilter::create(40, 1).code());

    ScalableFilter empty;
    Bitmap bits;
    CHECK_STATUS(BLOOMLINE_ERR_NULL, empty.insert_hashes(hashed, bits).code());
    CHECK(empty.about().expected_rate == 1);
}

void cascades()
{
    const auto blocked = some_strings(3);
    std::vector<std::uint64_t> included = hash_batch(keys(blocked), 7), excluded;
    for (std::uint64_t i = 0; i < 1000; i++) excluded.push_back(hash_u64(i, 7));
    auto made = Cascade::create(included, excluded, 0, 7), by_threads = Cascade::create(included, excluded, 0, 7, 2);
    REQUIRE(made && by_threads);
    const auto bytes = made->encode(), same = by_threads->encode();
    REQUIRE(bytes && same);
    CHECK(*bytes == *same && kind_of(*bytes) == Kind::cascade);
    CHECK(made->contains("key 0"sv) && !made->contains_u64(42));
    const CascadeFacts facts = made->about();
    CHECK_U64(3, facts.included_count);
    CHECK_U64(1000, facts.excluded_count);
    CHECK_U64(7, facts.seed);
    CHECK(facts.unknown_rate > 0 && facts.unknown_rate < 0.07);
    CHECK_U64(64 * (facts.line_count + facts.layer_count + 1), made->encoded_len());
    CHECK_STATUS(BLOOMLINE_ERR_NOT_FOUND, Cascade::load("/no/such/file").code());

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

void windows()
{
    auto made = Window::create(8, 1000, 0.01, 7);
    REQUIRE(made);
    Window window = std::move(*made);
    CHECK(window.insert("a"sv) && !window.insert("a"sv) && window.insert_u64(42));
    CHECK_U64(2, window.key_count()); /* of the newest */
    window.rotate();
    CHECK_U64(0, window.key_count());
    CHECK_U64(2, window.key_count(1));
    CHECK(window.contains_u64(42) && window.estimated_rate() < 0.01);
    CHECK_U64(8, window.about().generations);
    CHECK_U64(7, window.params()->seed);
    CHECK(Window::create(0, 10, 0.01).code() == BLOOMLINE_ERR_GENERATIONS);
    CHECK(Window::create(8, 10, 1.0).code() == BLOOMLINE_ERR_RATE);

    Window empty;
    empty.rotate();
    CHECK(empty.insert("a"sv) && empty.params().code() == BLOOMLINE_ERR_NULL);
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
    each_class(10000, [](auto &filter, Kind) { ranges_into(filter); });
}

void how_many_of_a_range_were_new()
{
    std::vector<std::uint64_t> integers(2000);
    for (std::size_t i = 0; i < integers.size(); i++) integers[i] = i;
    auto fresh = Window::create(2, 10000, 0.0001, 7);
    REQUIRE(fresh);
    CHECK(fresh->insert_range(integers) >= 1990);
    CHECK_U64(0, fresh->insert(integers.begin(), integers.end()));
    /* A full filter stops. */
    auto small = CuckooFilter::create(cuckoo_params_for_rate(100, 0.01, 7));
    REQUIRE(small);
    CHECK_STATUS(BLOOMLINE_ERR_FULL, small->insert_range(integers).code());
    const std::size_t count = small->key_count();
    CHECK(count >= 100 && count < 256);
    for (std::size_t i = 0; i < count; i++) CHECK(small->contains_u64(i));
}

void inserts_on_threads()
{
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
    each_class(1000, [](auto &filter, Kind kind) {
        (void)filter.insert_range(std::vector<std::uint64_t>{1, 2, 3, 1000000});
        copies_of(filter, kind);
    });
    CHECK(kind_of("no filter"sv) == Kind::none && kind_of({}) == Kind::none);
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

} // namespace

int main()
{
    check_begin("test_hpp");
    RUN(batches);
    RUN(moves_and_empty_handles);
    RUN(how_full_and_folded);
    RUN(concurrent_filters);
    RUN(counting_filters);
    RUN(scalable_filters);
    RUN(cascades);
    RUN(windows);
    RUN(ranges);
    RUN(how_many_of_a_range_were_new);
    RUN(inserts_on_threads);
    RUN(merging_by_operator);
    RUN(copies_and_streams);
    RUN(every_view);
    return check_end();
}
