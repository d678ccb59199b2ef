// SPDX-License-Identifier: MIT OR Apache-2.0
//
// test_hpp_keys.cpp - a key is the same key in every form that bloomline.hpp takes: inserted as
// one, it is present as each other. The keys are what engines have: big-endian integers, with NUL
// bytes in every place and in none; text; nothing. must_not_compile.sh has the forms that are
// refused.
#include <bloomline.hpp>

#include "check.h"

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <list>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace bloomline;
using namespace std::literals;

// As engines have it.
struct Slice {
    const char *data() const { return data_; }
    std::size_t size() const { return size_; }
    const char *data_;
    std::size_t size_;
};

// One key of 8 bytes in each form.
struct Forms {
    explicit Forms(std::uint64_t value)
    {
        for (int i = 0; i < 8; i++) {
            chars[i] = static_cast<char>(value >> (56 - 8 * i));
            unsigned_chars[i] = static_cast<unsigned char>(chars[i]);
            signed_chars[i] = static_cast<signed char>(chars[i]);
            octets[i] = static_cast<std::uint8_t>(chars[i]);
            bytes[i] = static_cast<std::byte>(chars[i]);
        }
        std::memcpy(array.data(), chars, 8);
        std::memcpy(byte_array.data(), chars, 8);
        string.assign(chars, 8);
        vector.assign(octets, octets + 8);
        char_vector.assign(chars, chars + 8);
    }
    // Calls f with each of them.
    template <class F>
    void each(F f) const
    {
        f({chars, sizeof chars});
        f({chars, 8});
        f(unsigned_chars);
        f(signed_chars);
        f(octets);
        f(bytes);
        f(array);
        f(byte_array);
        f(string);
        f(vector);
        f(char_vector);
        f(std::string_view(chars, 8));
        f(std::string(chars, 8));
        f(Slice{chars, 8});
        f(Span<const char>(chars, 8));
        f(bloomline::Bytes(chars, 8));
    }

    char chars[8];
    unsigned char unsigned_chars[8];
    signed char signed_chars[8];
    std::uint8_t octets[8];
    std::byte bytes[8];
    std::array<char, 8> array;
    std::array<std::byte, 8> byte_array;
    std::string string;
    std::vector<std::uint8_t> vector;
    std::vector<char> char_vector;
};

std::vector<std::uint64_t> integers()
{
    std::vector<std::uint64_t> values = {0, 1, 0x0102030405060708, ~std::uint64_t{0}};
    for (std::uint64_t i = 1; i < 300; i++) {
        for (int shift = 0; shift < 56; shift += 8) values.push_back(i << shift);
        values.push_back(0x0101010101010101 * (i & 255));
    }
    return values;
}

Filter make_filter()
{
    auto filter = Filter::create(params_for_bits(100000, 16, 7));
    REQUIRE(filter);
    return *std::move(filter);
}

void an_integer_is_the_same_key_in_every_form()
{
    std::size_t form_count = 0;
    Forms(0).each([&](Bytes) { form_count++; });
    CHECK(form_count >= 16);
    // Inserted as each form, in a filter of its own.
    for (std::size_t inserted_as = 0; inserted_as < form_count; inserted_as++) {
        Filter filter = make_filter();
        const View view = filter.view();
        std::size_t missing = 0;
        for (std::uint64_t value : integers()) {
            const Forms forms(value);
            std::size_t form = 0;
            forms.each([&](Bytes key) {
                if (form++ == inserted_as) filter.insert(key);
            });
            forms.each([&](Bytes key) {
                CHECK_U64(8, key.size());
                missing += !filter.contains(key) + !view.contains(key) +
                           !filter.contains_hash(hash(key, 7)) +
                           !bloomline_filter_contains(filter.get(), forms.chars, 8);
            });
        }
        CHECK_U64(0, missing);
    }
}

void every_class_takes_every_form()
{
    auto concurrent = ConcurrentFilter::create(params_for_bits(1000, 16));
    auto counting = CountingFilter::create(params_for_bits(1000, 16));
    auto cuckoo = CuckooFilter::create(cuckoo_params_for_rate(1000, 0.001));
    auto scalable = ScalableFilter::create(100, 0.001);
    auto window = Window::create(4, 1000, 0.001);
    auto builder = Builder::create(16);
    REQUIRE(concurrent && counting && cuckoo && scalable && window && builder);
    const std::uint64_t value = std::uint64_t{'a'} << 56 | 256; // bytes a 0 0 0 0 0 1 0
    const Forms forms(value);
    forms.each([&](Bytes key) {
        concurrent->insert(key);
        counting->insert(key);
        CHECK(cuckoo->key_count() >= 8 || cuckoo->insert(key));
        CHECK(scalable->insert(key));
        window->insert(key);
        CHECK(builder->add(key));
    });
    auto block = builder->finish();
    REQUIRE(block);
    auto view = View::open(*block);
    REQUIRE(view);
    forms.each([&](Bytes key) {
        CHECK(concurrent->contains(key) && counting->contains(key) && cuckoo->contains(key) &&
              scalable->contains(key) && window->contains(key) && view->contains(key));
    });
    CHECK_U64(1, view->key_count());
    // Neither the key before its first NUL nor the one without the last is any of these.
    for (Bytes other : {Bytes("a"sv), Bytes(forms.chars, 7)}) {
        CHECK(!concurrent->contains(other) && !counting->contains(other) && !cuckoo->contains(other) &&
              !scalable->contains(other) && !window->contains(other) && !view->contains(other));
    }
}

void text_is_the_same_key_in_every_form()
{
    Filter filter = make_filter();
    char buffer[64] = "apple";
    std::memset(buffer + 6, 'x', sizeof buffer - 6); // what was in the buffer before
    const char *pointer = buffer;
    filter.insert(text("apple"));
    CHECK(filter.contains("apple"sv) && filter.contains("apple"s) && filter.contains(text(buffer)));
    CHECK(filter.contains(text(pointer)) && filter.contains({"apple", 5}) && filter.contains({pointer, 5}));
    CHECK(bloomline_filter_contains(filter.get(), "apple", 5));
    CHECK(!filter.contains({"apple", 6}) && !filter.contains({buffer, sizeof buffer}));
    CHECK_U64(5, text("apple").size());
    CHECK_U64(bloomline_hash("apple", 5, 3), hash(text(buffer), 3));
    static_assert(text("apple").size() == 5 && text("").size() == 0);

    CHECK(!filter.contains(text("")));
    filter.insert(text(""));
    CHECK(filter.contains(""sv) && filter.contains(Bytes()) && filter.contains(std::string()));
    CHECK(filter.contains(std::string_view()) && filter.contains(std::vector<std::uint8_t>()));
}

void a_null_pointer_may_be_present()
{
    const char *none = nullptr;
    Filter filter = make_filter();
    CHECK(filter.contains(text(none)) && filter.view().contains(text(none)));
    CHECK(!filter.contains(""sv));
    const bloomline_bytes batch[] = {text("plum"), text(none)};
    Bitmap maybe;
    CHECK_U64(1, filter.contains_keys(batch, maybe));
    CHECK(!maybe[0] && maybe[1]);
    filter.insert(text(none));
    CHECK(filter.contains(""sv));
    CHECK_U64(hash(""sv), hash(text(none)));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, View::open(text(none)).code());
    CHECK_STATUS(BLOOMLINE_ERR_NULL, Filter::decode(text(none)).code());
}

// The hashes of a batch are those of its keys one by one.
template <class C>
void batch_is(const C &expected, const std::vector<bloomline_bytes> &batch)
{
    std::vector<std::uint64_t> hashes = hash_batch(batch, 7);
    REQUIRE(hashes.size() == std::size(expected));
    std::size_t i = 0;
    for (const auto &key : expected) CHECK_U64(hash(key, 7), hashes[i++]);
}

void batches_of_every_kind()
{
    const std::vector<std::string> strings = {"a\0b"s, "", "plum"};
    const std::set<std::string> set(strings.begin(), strings.end());
    const std::list<std::array<char, 8>> list = {Forms(256).array, Forms(1).array};
    const std::uint8_t table[2][8] = {{0, 0, 0, 0, 0, 0, 1, 0}, {1, 2, 3}};
    const std::vector<std::string_view> views(strings.begin(), strings.end());
    std::vector<Slice> slices;
    for (const auto &string : strings) slices.push_back({string.data(), string.size()});
    batch_is(strings, keys(strings));
    batch_is(set, keys(set));
    batch_is(list, keys(list));
    batch_is(views, keys(views));
    batch_is(slices, keys(slices));
    batch_is(table, keys(table));
    batch_is(strings, keys(Span<const std::string>(strings)));
    // A temporary of what only borrows is as good as one with a name.
    batch_is(strings, keys(std::vector<std::string_view>(views)));
    batch_is(strings, keys(std::vector<Slice>(slices)));
    std::vector<std::array<char, 8>> empty;
    batch_is(empty, keys(empty));
}

// An input iterator, and one that says nothing of itself: each keeps the string it is at in itself.
struct Words {
    std::istream_iterator<std::string> begin() const { return std::istream_iterator<std::string>(*stream); }
    static std::istream_iterator<std::string> end() { return {}; }
    std::istream *stream;
};
struct Numbers {
    struct Iterator {
        const std::string &operator*() const { return string; }
        Iterator &operator++()
        {
            string = std::to_string(++i);
            return *this;
        }
        bool operator!=(const Iterator &other) const { return i != other.i; }
        int i;
        std::string string = std::to_string(i);
    };
    static Iterator begin() { return {0}; }
    static Iterator end() { return {700}; }
};
// The same, each string made as it is asked for.
struct Made : Numbers {
    struct Iterator : Numbers::Iterator {
        std::string operator*() const { return string; }
    };
    static Iterator begin() { return {{0}}; }
    static Iterator end() { return {{700}}; }
};

// contains_range() answers as contains() does for each key: for ranges whose keys stay, which it
// probes by their bytes, and for others.
template <class P>
void ranges_answer_as_single_keys(const P &probed)
{
    std::vector<std::string> strings;
    std::vector<std::string_view> views;
    std::vector<Slice> slices;
    std::string words;
    for (int i = 0; i < 700; i++) { // several blocks, the last one not whole
        strings.push_back(std::to_string(i));
        words += strings.back() + " ";
    }
    for (const auto &string : strings) {
        views.push_back(string);
        slices.push_back({string.data(), string.size()});
    }
    std::vector<bool> expected;
    std::size_t yes = 0;
    for (const auto &string : strings) {
        expected.push_back(probed.contains(string));
        yes += expected.back();
    }
    CHECK(yes >= 350 && yes <= 700);
    const auto answers = [&](auto &&range) {
        std::vector<bool> got;
        probed.contains_range(range, std::back_inserter(got));
        return got;
    };
    std::istringstream stream(words);
    CHECK(answers(strings) == expected && answers(std::list<std::string>(strings.begin(), strings.end())) == expected);
    CHECK(answers(views) == expected && answers(slices) == expected && answers(keys(strings)) == expected);
    CHECK(answers(Words{&stream}) == expected);
    CHECK(answers(Numbers()) == expected && answers(Made()) == expected);

    std::vector<std::int64_t> numbers;
    std::vector<IntegerKey> integers;
    std::vector<std::array<std::uint8_t, 8>> bytes;
    for (std::int64_t i = -300; i < 300; i++) {
        numbers.push_back(i * (1 << 20));
        integers.push_back(IntegerKey(static_cast<std::uint64_t>(numbers.back())));
        bytes.emplace_back();
        for (std::size_t at = 0; at < 8; at++) {
            bytes.back()[at] = static_cast<std::uint8_t>(static_cast<std::uint64_t>(numbers.back()) >> 8 * at);
        }
    }
    expected.clear();
    for (const auto &key : bytes) expected.push_back(probed.contains(key));
    CHECK(answers(numbers) == expected && answers(integers) == expected && answers(bytes) == expected);
    for (std::size_t i = 0; i < bytes.size(); i++) {
        CHECK(probed.contains_u64(static_cast<std::uint64_t>(numbers[i])) == expected[i]);
    }
    // Where there is no key there is doubt: as an array, and as it comes.
    const char *none = nullptr;
    CHECK(answers(std::vector<bloomline_bytes>(300, text(none))) == std::vector<bool>(300, true));
    struct Nothing : Numbers {
        struct Iterator : Numbers::Iterator {
            Bytes operator*() const { return text(nullptr); }
        };
        static Iterator begin() { return {{0}}; }
        static Iterator end() { return {{300}}; }
    };
    CHECK(answers(Nothing()) == std::vector<bool>(300, true));
}

void ranges_of_every_kind()
{
    Filter filter = make_filter();
    auto cuckoo = CuckooFilter::create(cuckoo_params_for_rate(1000, 0.001, 7));
    auto counting = CountingFilter::create(params_for_bits(1000, 16));
    auto shared = ConcurrentFilter::create(params_for_bits(1000, 16));
    REQUIRE(cuckoo && counting && shared);
    for (int i = 0; i < 700; i += 2) {
        filter.insert(std::to_string(i));
        CHECK(cuckoo->insert(std::to_string(i)));
        counting->insert(std::to_string(i));
        shared->insert(std::to_string(i));
        filter.insert_u64(static_cast<std::uint64_t>(i) << 20);
    }
    ranges_answer_as_single_keys(filter);
    ranges_answer_as_single_keys(filter.view());
    ranges_answer_as_single_keys(*cuckoo);
    ranges_answer_as_single_keys(*counting);
    ranges_answer_as_single_keys(*shared);
    ranges_answer_as_single_keys(View());
    bool found[2] = {};
    CHECK(filter.contains_range(std::vector<std::string>{"2", "no such key"}, found) == found + 2 && found[0]);
    CHECK(filter.contains_range(std::vector<std::string>(), found) == found);
    // By the hash of another engine.
    std::vector<std::uint64_t> hashes;
    for (int i = 0; i < 700; i += 2) hashes.push_back(LevelDb::hash(std::to_string(i)));
    auto block = LevelDb::block_build(hashes, 10);
    REQUIRE(block);
    auto view = View::open_leveldb(*block);
    REQUIRE(view);
    ranges_answer_as_single_keys(*view);
}

// What docs/how-to/move.md says that calls of Boost.Bloom become: each call of its right column stands here.
void calls_of_boost()
{
    const std::uint64_t n = 1000, number = 7;
    const auto key = "apple"s;
    const char *directory = std::getenv("TMPDIR");
    const auto path = std::string(directory != nullptr ? directory : "/tmp") + "/bloomline-test-hpp-boost";
    auto filter = Filter::create(params_for_rate(n, 0.01));
    auto other = Filter::create(params_for_rate(n, 0.01));
    REQUIRE(filter && other);
    CHECK(filter->insert_u64(number) && filter->contains_u64(number));
    CHECK(filter->insert(key) && filter->contains(key));
    CHECK(other->insert("pear"s) && other->insert_u64(number) && !filter->contains("pear"s));
    CHECK(filter->merge(*other) && filter->contains(key) && filter->contains("pear"s));
    CHECK(filter->intersect(*other) && !filter->contains(key) && filter->contains_u64(number));
    CHECK(*filter |= *other);
    CHECK(*filter &= *other);
    CHECK(filter->save(path));
    auto loaded = Filter::load(path);
    CHECK(loaded && loaded->contains_u64(number));
    CHECK_U64(0, std::remove(path.c_str()));
    filter->clear();
    CHECK(!filter->contains_u64(number));
}

// What still works with a temporary: it is read before it goes, or moved.
void temporaries_that_are_safe()
{
    auto path = "/no/such/file"s;
    Filter filter = *Filter::create(params_for_rate(1000, 0.01));
    CHECK(bool(filter) && filter.contains(std::string("x")) == filter.contains("x"sv));
    auto &&extended = *filter.encode(); // its life is as long as the name's
    CHECK_U64(filter.encoded_len(), extended.size());
    for (std::uint8_t byte : *filter.encode()) {
        CHECK_U64(extended[0], byte);
        break;
    }
    CHECK_U64((*filter.params()).line_count, filter.params()->line_count);
    auto view = View::open(std::string_view(reinterpret_cast<const char *>(extended.data()), extended.size()));
    CHECK(view);
    auto again = View::open({extended.data(), extended.size()});
    CHECK(again && Filter::decode(*filter.encode()) && Filter::load(path).code() == BLOOMLINE_ERR_NOT_FOUND);
    bloomline_filter_free(Filter::create(params_for_rate(1000, 0.01)).operator*().release());
    auto file = Map::open(path);
    CHECK(!file && file->view().contains("x"sv));
}

} // namespace

int main()
{
    check_begin("test_hpp_keys");
    RUN(an_integer_is_the_same_key_in_every_form);
    RUN(every_class_takes_every_form);
    RUN(text_is_the_same_key_in_every_form);
    RUN(a_null_pointer_may_be_present);
    RUN(batches_of_every_kind);
    RUN(ranges_of_every_kind);
    RUN(calls_of_boost);
    RUN(temporaries_that_are_safe);
    return check_end();
}
