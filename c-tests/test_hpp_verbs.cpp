// SPDX-License-Identifier: MIT OR Apache-2.0
//
// test_hpp_verbs.cpp - the same verbs on every class: each class has a verb, or its row says why not; and a verb does
// the same for all that have it. Batches and the rest are held to single inserts, which the histories hold to the
// definitions.
#include "hpp.h"

#include <filesystem>
#include <sstream>
#include <tuple>

namespace {

// ---- the verbs ----

template <class F>
F &a();
template <class F>
using Other = std::conditional_t<std::is_same_v<F, ConcurrentFilter>, Filter, F>; // what it can be combined with

using Hashes = Span<const uint64_t>;

/// Inserts keys and tells which were new.
auto insert_new(Filter &filter, Hashes hashes, Bitmap &is_new) { return filter.insert_new_hashes(hashes, is_new); }
template <class F>
auto insert_new(F &filter, Hashes hashes, Bitmap &is_new) -> decltype(filter.insert_hashes(hashes, is_new))
{
    return filter.insert_hashes(hashes, is_new);
}

#define EACH_VERB(VERB)                                              \
    VERB(contains, a<F>().contains(Bytes()))                         \
    VERB(view, a<F>().view())                                        \
    VERB(insert, a<F>().insert(Bytes()))                             \
    VERB(insert_hashes, a<F>().insert_hashes(Hashes()))              \
    VERB(insert_new, insert_new(a<F>(), Hashes(), a<Bitmap>()))      \
    VERB(insert_range, a<F>().insert_range(a<std::vector<uint64_t>>())) \
    VERB(remove, a<F>().remove(Bytes()))                             \
    VERB(remove_hashes, a<F>().remove_hashes(Hashes(), a<Bitmap>())) \
    VERB(count, a<F>().count(Bytes()))                               \
    VERB(clear, a<F>().clear())                                      \
    VERB(merge, a<F>().merge(a<Other<F>>()))                         \
    VERB(intersect, a<F>().intersect(a<Other<F>>()))                 \
    VERB(clone, a<F>().clone())                                      \
    VERB(snapshot, a<F>().snapshot())                                \
    VERB(encoded_len, a<F>().encoded_len())                          \
    VERB(encode, a<F>().encode())                                    \
    VERB(write_to, a<F>().write_to(a<std::ostringstream>()))         \
    VERB(decode, F::decode(Bytes()))                                 \
    VERB(save, a<F>().save(""))                                      \
    VERB(load, F::load(""))                                          \
    VERB(memory_usage, a<F>().memory_usage())                        \
    VERB(key_count, a<F>().key_count())                              \
    VERB(equal, a<F>() == a<F>())

template <class F, template <class> class Verb, class = void>
constexpr bool detected = false;
template <class F, template <class> class Verb>
constexpr bool detected<F, Verb, std::void_t<Verb<F>>> = true;

#define DETECTED(name, call)          \
    template <class F>                \
    using name##_of = decltype(call); \
    template <class F>                \
    constexpr bool has_##name = detected<F, name##_of>;
EACH_VERB(DETECTED)

struct Verb {
    const char *name;
    bool is_there;
};
template <class F>
std::vector<Verb> verbs_of()
{
#define NAME_AND_WHETHER(name, call) {#name, has_##name<F>},
    return {EACH_VERB(NAME_AND_WHETHER)};
}

// ---- the classes ----

struct Lack {
    const char *verb, *why;
};
template <class F>
struct Row {
    const char *name;
    Result<F> (*make)();
    std::vector<Lack> lacks;
};

constexpr const char *a_bit = "other keys have the same bits";
constexpr const char *counts = "a bit is set or not: a counting or growing filter counts";
constexpr const char *alone = "nobody probes it while it changes: a clone is one";
constexpr const char *bytes_say = "equal filters encode to equal bytes";
constexpr const char *at_once = "it is built of all keys at once";
constexpr const char *columns = "of a column, whose number comes first";
constexpr const char *in_bytes = "it is its bytes(), which block_save() writes and open() takes";

Result<Params> params() { return Params{20, 6, 0, 3}; }

const auto rows = std::make_tuple(
    Row<Filter>{"Filter", [] { return Filter::create(params()); },
                {{"remove", a_bit}, {"remove_hashes", a_bit}, {"count", counts}, {"snapshot", alone}, {"equal", bytes_say}}},
    Row<ConcurrentFilter>{"ConcurrentFilter", [] { return ConcurrentFilter::create(params()); },
                          {{"remove", a_bit}, {"remove_hashes", a_bit}, {"count", counts},
                           {"intersect", "it takes bits away, which a thread may have set meanwhile: intersect a snapshot()"},
                           {"key_count", "threads would wait for each other to count: see estimated_keys()"},
                           {"equal", bytes_say}}},
    Row<CountingFilter>{"CountingFilter", [] { return CountingFilter::create(params()); },
                        {{"intersect", "intersect its to_filter()"}, {"snapshot", alone}, {"equal", bytes_say}}},
    Row<CuckooFilter>{"CuckooFilter", [] { return CuckooFilter::create(CuckooParams{20, 12, 0, 3}); },
                      {{"insert_new", "its batch tells how many it had room for: probe it before, for the new ones"},
                       {"count", "it has 8 slots for a key: a counting or growing filter counts"},
                       {"merge", "there may be no room for the keys of another: insert them"},
                       {"intersect", "a key may lie in either of two lines, beside others of its fingerprint"},
                       {"snapshot", alone},
                       {"equal", "its bytes depend on the order of inserts"}}},
    Row<ScalableFilter>{"ScalableFilter", [] { return ScalableFilter::create(32, 0.01, 3); },
                        {{"remove", a_bit}, {"remove_hashes", a_bit}, {"count", counts},
                         {"merge", "stages of different sizes cannot be combined: probe both"},
                         {"intersect", "stages of different sizes cannot be combined: probe both"},
                         {"snapshot", alone}, {"equal", bytes_say}}},
    Row<Window>{"Window", [] { return Window::create(3, 300, 0.01, 3); },
                {{"remove", "keys leave with their generation"}, {"remove_hashes", "keys leave with their generation"},
                 {"count", counts},
                 {"merge", "generations of two windows begin at different times: probe both"},
                 {"intersect", "generations of two windows begin at different times: probe both"},
                 {"snapshot", alone}, {"equal", bytes_say}}},
    Row<GrowingFilter>{"GrowingFilter", [] { return GrowingFilter::create(500, 0.01, 3); },
                       {{"snapshot", alone}, {"equal", bytes_say}}},
    Row<Cascade>{"Cascade", [] {
                     static const std::uint64_t in[] = {1, 2, 3}, out[] = {4, 5};
                     return Cascade::create(in, out, 0, 3);
                 },
                 {{"insert", at_once}, {"insert_hashes", at_once}, {"insert_new", at_once}, {"insert_range", at_once},
                  {"remove", at_once}, {"remove_hashes", at_once},
                  {"count", "a key is included or excluded, however often it is given"},
                  {"clear", at_once}, {"merge", at_once}, {"intersect", at_once}, {"snapshot", "nobody changes it"},
                  {"equal", bytes_say}}},
    Row<OwnedView<>>{"OwnedView, static", [] {
                         static const std::uint64_t in[] = {1, 2, 3};
                         auto block = static_block_build(in, 0.01, 3);
                         return OwnedView<>::open(*std::move(block));
                     },
                     {{"insert", at_once}, {"insert_hashes", at_once}, {"insert_new", at_once}, {"insert_range", at_once},
                      {"remove", at_once}, {"remove_hashes", at_once},
                      {"count", "a key counts once, however often it is given"}, {"clear", at_once},
                      {"merge", "build it of both sets"}, {"intersect", "build it of the keys of both"},
                      {"clone", in_bytes}, {"snapshot", "nobody changes it"}, {"encoded_len", in_bytes}, {"encode", in_bytes},
                      {"write_to", in_bytes}, {"decode", in_bytes}, {"save", in_bytes}, {"load", in_bytes},
                      {"memory_usage", in_bytes}, {"equal", "equal sets have equal bytes"}}},
    Row<Matrix>{"Matrix", [] { return Matrix::create(params(), 3); },
                {{"contains", "a key has an answer for each column"}, {"view", "a view is of one column: column_view()"},
                 {"insert", columns}, {"insert_hashes", columns}, {"insert_new", columns}, {"insert_range", columns},
                 {"remove", a_bit}, {"remove_hashes", a_bit}, {"count", "count_hash() says how many columns may have a key"},
                 {"merge", "column by column: column(), set_column()"},
                 {"intersect", "column by column: column(), set_column()"}, {"snapshot", alone},
                 {"key_count", "columns do not keep theirs"}, {"equal", bytes_say}}});

template <class Test>
void each_class(Test test)
{
    std::apply([&test](const auto &...row) { (test(row), ...); }, rows);
}

template <class F>
void is_there_or_has_a_reason(const Row<F> &row)
{
    std::size_t reasons = 0;
    for (const Verb &verb : verbs_of<F>()) {
        const Lack *found = nullptr;
        for (const Lack &lack : row.lacks) {
            if (std::string_view(lack.verb) == verb.name) found = &lack;
        }
        CHECK_WITH(verb.is_there == (found == nullptr), "%s, %s", row.name, verb.name);
        CHECK_WITH(found == nullptr || std::strlen(found->why) > 10, "%s, %s", row.name, verb.name);
        reasons += found != nullptr;
    }
    CHECK_WITH(reasons == row.lacks.size(), "%s has a reason for what is no verb", row.name);
}

void each_verb_is_there_or_has_a_reason()
{
    each_class([](const auto &row) { is_there_or_has_a_reason(row); });
}

// ---- what they do ----

constexpr std::uint64_t keys_in_all = 300;

std::vector<std::uint64_t> some_hashes(std::uint64_t first, std::uint64_t end)
{
    std::vector<std::uint64_t> hashes;
    for (std::uint64_t key = first; key < end; key++) hashes.push_back(bloomline_hash_u64(key, 1));
    return hashes;
}

template <class F>
F with_keys(const Row<F> &row, std::uint64_t first, std::uint64_t end)
{
    auto filter = row.make();
    REQUIRE(filter);
    for (const std::uint64_t hash : some_hashes(first, end)) (void)filter->insert_hash(hash);
    return *std::move(filter);
}

template <class F>
F full_one(const Row<F> &row)
{
    if constexpr (has_insert<F>) return with_keys(row, 0, keys_in_all);
    else return *row.make();
}

template <class F, class G>
bool same(const F &one, const G &two)
{
    return *one.encode() == *two.encode();
}

const auto all = some_hashes(0, 2000);

template <class F>
void inserts(const Row<F> &row)
{
    if constexpr (has_insert<F>) {
        const F filter = full_one(row);
        F batch = with_keys(row, 0, 0);
        (void)batch.insert_hashes(some_hashes(0, keys_in_all));
        CHECK_WITH(same(filter, batch), "%s", row.name);
        Bitmap bits;
        const View view = filter.view();
        CHECK(filter.contains_hashes(all, bits) >= keys_in_all);
        for (std::size_t i = 0; i < all.size(); i++) {
            CHECK(filter.contains_hash(all[i]) == bits[i] && view.contains_hash(all[i]) == bits[i]);
            CHECK_WITH(i >= keys_in_all || bits[i], "%s lost key %zu", row.name, i);
        }
    }
    if constexpr (has_insert_new<F>) {
        F batch = with_keys(row, 0, 100), single = with_keys(row, 0, 100);
        const auto some = some_hashes(50, keys_in_all);
        for (int round = 0; round < 2; round++) {
            Bitmap is_new;
            (void)insert_new(batch, some, is_new);
            for (std::size_t i = 0; i < some.size(); i++) {
                CHECK_WITH(is_new[i] == !single.contains_hash(some[i]), "%s, key %zu", row.name, i);
                (void)single.insert_hash(some[i]);
            }
        }
        CHECK_WITH(same(batch, single), "%s", row.name);
    }
    if constexpr (has_insert_range<F>) {
        F ranged = with_keys(row, 0, 0), single = with_keys(row, 0, 0);
        std::vector<std::uint64_t> integers;
        for (std::uint64_t key = 0; key < keys_in_all; key++) integers.push_back(key), (void)single.insert_u64(key);
        (void)ranged.insert_range(integers);
        CHECK_WITH(same(ranged, single), "%s", row.name);
    }
}

template <class F>
void removes(const Row<F> &row)
{
    if constexpr (has_remove<F>) {
        F one = full_one(row), many = full_one(row);
        Bitmap removed;
        const auto hashes = some_hashes(0, keys_in_all);
        for (const std::uint64_t hash : hashes) CHECK(one.remove_hash(hash));
        CHECK_STATUS(BLOOMLINE_ERR_ABSENT, one.remove_hash(hashes[0]).code());
        CHECK_U64(keys_in_all, many.remove_hashes(hashes, removed));
        CHECK_U64(0, many.remove_hashes(hashes, removed));
        CHECK_WITH(same(one, *row.make()) && same(many, *row.make()), "%s", row.name);
    }
    if constexpr (has_count<F>) {
        F filter = full_one(row);
        CHECK(filter.count_hash(all[0]) == 1 && filter.count_hash(all[1000]) == 0);
        (void)filter.insert_hash(all[0]);
        CHECK_U64(2, filter.count_hash(all[0]));
    }
    if constexpr (has_clear<F>) {
        F filter = full_one(row);
        filter.clear();
        CHECK_WITH(same(filter, *row.make()), "%s", row.name);
        if constexpr (has_insert_hashes<F>) {
            CHECK_WITH(!filter.contains_hash(all[0]), "%s", row.name);
            (void)filter.insert_hashes(some_hashes(0, keys_in_all));
            CHECK_WITH(same(filter, full_one(row)), "%s", row.name);
        }
    }
}

template <class F>
void combines(const Row<F> &row)
{
    const auto other = [](F &&filter) -> Other<F> {
        if constexpr (has_snapshot<F>) return *filter.snapshot();
        else return std::move(filter);
    };
    if constexpr (has_merge<F>) {
        F one = with_keys(row, 0, 200), both = with_keys(row, 0, 200);
        for (const std::uint64_t hash : some_hashes(100, 300)) (void)both.insert_hash(hash);
        CHECK(one.merge(other(with_keys(row, 100, 300))));
        CHECK_WITH(same(one, both), "%s", row.name);
    }
    if constexpr (has_intersect<F>) {
        const F one = with_keys(row, 0, 200), two = with_keys(row, 100, 300);
        F both = with_keys(row, 0, 200);
        CHECK(both.intersect(two));
        for (const std::uint64_t hash : all) {
            CHECK_WITH(both.contains_hash(hash) == (one.contains_hash(hash) && two.contains_hash(hash)), "%s", row.name);
        }
    }
}

template <class F>
std::enable_if_t<has_encode<F>> copies(const Row<F> &row)
{
    const F filter = full_one(row);
    const auto bytes = filter.encode();
    REQUIRE(bytes);
    CHECK(filter.memory_usage() >= 64);
    CHECK_U64(bytes->size(), filter.encoded_len());
    const auto copy = filter.clone(), decoded = F::decode(*bytes);
    REQUIRE(copy && decoded);
    CHECK_WITH(same(filter, *copy) && same(filter, *decoded), "%s", row.name);
    std::ostringstream stream;
    CHECK(filter.write_to(stream));
    CHECK_WITH(stream.str() == std::string(bytes->begin(), bytes->end()), "%s", row.name);
    const std::filesystem::path path = file_name("verbs");
    CHECK(filter.save(path));
    const auto loaded = F::load(path);
    std::filesystem::remove(path);
    REQUIRE(loaded);
    CHECK_WITH(same(filter, *loaded), "%s", row.name);
    if constexpr (has_snapshot<F>) CHECK_WITH(same(filter, *filter.snapshot()), "%s", row.name);
}

/// The bytes are the copy.
void copies(const Row<OwnedView<>> &row)
{
    const auto view = row.make();
    const auto again = OwnedView<>::open(*view->bytes());
    REQUIRE(view && again);
    CHECK(*again->bytes() == *view->bytes() && again->key_count() == 3);
    for (const std::uint64_t hash : all) CHECK(again->contains_hash(hash) == view->contains_hash(hash));
}

void every_insert() { each_class([](const auto &row) { inserts(row); }); }
void every_removal() { each_class([](const auto &row) { removes(row); }); }
void every_combination() { each_class([](const auto &row) { combines(row); }); }
void every_copy() { each_class([](const auto &row) { copies(row); }); }

} // namespace

int main()
{
    check_begin("test_hpp_verbs");
    RUN(each_verb_is_there_or_has_a_reason);
    RUN(every_insert);
    RUN(every_removal);
    RUN(every_combination);
    RUN(every_copy);
    return check_end();
}
