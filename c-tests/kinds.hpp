// SPDX-License-Identifier: MIT OR Apache-2.0
//
// kinds.hpp - the classes of filters in bloomline.hpp, a row for each: how one is made, which histories it replays, what
// they ask of this class alone, and why it lacks a verb that others have. kinds.h is the same in C.
#ifndef KINDS_HPP
#define KINDS_HPP

#include <bloomline.hpp>

#include "check.h"
#include "definition.h"
#include "history.h"

#include <cmath>
#include <sstream>
#include <tuple>

namespace {

using namespace bloomline;

// ---- the verbs ----

template <class F>
F &a();
/// What it can be combined with.
template <class F>
using Other = std::conditional_t<std::is_same_v<F, ConcurrentFilter>, Filter, F>;

using Hashes = Span<const uint64_t>;

/// Inserts keys and tells which were new.
inline auto insert_new(Filter &filter, Span<const bloomline_bytes> some, Bitmap &is_new) { return filter.insert_new_keys(some, is_new); }
inline auto insert_new(Filter &filter, Hashes hashes, Bitmap &is_new) { return filter.insert_new_hashes(hashes, is_new); }
template <class F>
auto insert_new(F &filter, Hashes hashes, Bitmap &is_new) -> decltype(filter.insert_hashes(hashes, is_new))
{
    return filter.insert_hashes(hashes, is_new);
}
template <class F>
auto insert_new(F &filter, Span<const bloomline_bytes> some, Bitmap &is_new) { return filter.insert_keys(some, is_new); }

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

/// What others of the class take, to be combined with this one.
template <class F>
decltype(auto) combinable(const F &filter)
{
    if constexpr (has_snapshot<F>) return Other<F>(*filter.snapshot());
    else return (filter);
}

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

// ---- a line of a history ----

history_keys asked; // of the line
char *answer;
char **words;

inline uint64_t number(size_t at) { return golden_number(words[at], 10); }
inline bool is(const char *verb) { return strcmp(words[0], verb) == 0; }
inline void say(const Status &status) { history_status(answer, status.code()); }
inline Bytes key(size_t i) { return {asked.keys[i].data, asked.keys[i].len}; }
inline std::vector<uint64_t> hashes_of_keys(uint64_t seed)
{
    if (asked.bytes) return hash_batch(Span<const bloomline_bytes>(asked.keys, asked.n), seed);
    return std::vector<uint64_t>(asked.hashes, asked.hashes + asked.n);
}
/// Keys up to the arrow, as hashes.
inline std::vector<uint64_t> hashes_from(size_t at, uint64_t seed)
{
    size_t count = 0;
    while (strcmp(words[at + count], "->") != 0) count++;
    history_read(&asked, words + at, count);
    return hashes_of_keys(seed);
}

template <class F, class... Kinds>
constexpr bool any_of = (std::is_same_v<F, Kinds> || ...);

// ---- what the classes have not in common ----

/// A static filter: its bytes, and the view of them.
class Static : public OwnedView<> {
public:
    explicit Static(OwnedView<> &&view = {}) : OwnedView(std::move(view)) {}
    static Result<Static> create(Span<const uint64_t> hashes, double rate, uint64_t seed)
    {
        auto block = static_block_build(hashes, rate, seed);
        return block ? decode(*std::move(block)) : Result<Static>(block.status());
    }
    static Result<Static> decode(Buffer block)
    {
        auto view = open(std::move(block));
        return view ? Result<Static>(Static(*std::move(view))) : Result<Static>(view.status());
    }
    static Result<Static> load(const char *path)
    {
        size_t len = 0;
        uint8_t *data = files_read(path, &len);
        REQUIRE(data != nullptr);
        Buffer block(data, data + len);
        free(data);
        return decode(std::move(block));
    }
    Result<Static> clone() const { return decode(*bytes()); }
    Result<Buffer> encode() const { return *bytes(); }
    Status save(const char *path) const { return block_save(*bytes(), path); }
};

/// As the line `new` of the history says.
template <class F>
auto make(const char *history)
{
    if constexpr (any_of<F, Filter, CountingFilter, ConcurrentFilter>) {
        const uint32_t layout = strcmp(history, "classic") == 0 ? BLOOMLINE_KIND_CLASSIC : 0;
        return F::create(Params{number(1), static_cast<uint32_t>(number(2)), layout, number(3)});
    }
    else if constexpr (any_of<F, CuckooFilter>) return F::create(CuckooParams{number(1), static_cast<uint32_t>(number(2)), 0, number(3)});
    else if constexpr (any_of<F, GrowingFilter>) {
        if (strcmp(words[1], "unbounded") != 0) return F::create(number(1), strtod(words[2], nullptr), number(3));
        return F::unbounded(number(2), strtod(words[3], nullptr), number(4));
    } else if constexpr (any_of<F, ScalableFilter>) return F::create(number(1), strtod(words[2], nullptr), number(3));
    else if constexpr (any_of<F, Matrix>) return F::create(Params{number(1), static_cast<uint32_t>(number(2)), 0, number(3)}, number(4));
    else if constexpr (any_of<F, Window>) return F::create(static_cast<uint32_t>(number(1)), number(2), strtod(words[3], nullptr), number(4));
    else if constexpr (any_of<F, Static>) return F::create(hashes_from(3, number(2)), std::ldexp(1, -static_cast<int>(number(1))), number(2));
    else {
        std::vector<uint64_t> sets[2];
        for (size_t i = 0; i < 2; i++) {
            history_read(&asked, words + 3 + i, 1);
            sets[i] = hashes_of_keys(number(2));
        }
        return F::create(sets[0], sets[1], strtod(words[1], nullptr), number(2));
    }
}

/// Inserts the key of the line.
template <class F>
Status insert_one(F &filter, bool &is_new)
{
    if constexpr (any_of<F, ScalableFilter, GrowingFilter>) {
        return asked.bytes ? filter.insert(key(0), &is_new) : filter.insert_hash(asked.hashes[0], &is_new);
    } else if constexpr (any_of<F, CuckooFilter>) {
        is_new = !(asked.bytes ? filter.contains(key(0)) : filter.contains_hash(asked.hashes[0]));
        return asked.bytes ? filter.insert(key(0)) : filter.insert_hash(asked.hashes[0]);
    } else {
        is_new = asked.bytes ? filter.insert(key(0)) : filter.insert_hash(asked.hashes[0]);
        return {};
    }
}

/// A verb that is not in EACH_VERB.
template <class F>
void say_other(F &filter)
{
    if constexpr (any_of<F, Cascade>) {
        history_number(answer, is("layers") ? filter.about().layer_count : filter.about().included_count);
    } else if constexpr (any_of<F, Static>) {
        history_number(answer, filter.key_count());
    } else if constexpr (any_of<F, ScalableFilter>) {
        history_number(answer, is("stages") ? filter.about().stage_count : filter.key_count());
    } else if constexpr (any_of<F, GrowingFilter>) {
        if (is("key_count")) return history_number(answer, filter.key_count());
        if (is("clear")) return filter.clear();
        history_read(&asked, words + 1, 1);
        history_number(answer, asked.bytes ? filter.count(key(0)) : filter.count_hash(asked.hashes[0]));
    } else if (is("params")) {
        const auto params = filter.params();
        if constexpr (any_of<F, CuckooFilter>) history_params(answer, params->line_count, params->fingerprint_bits, params->seed);
        else history_params(answer, params->line_count, params->k, params->seed);
    } else if constexpr (any_of<F, Window>) {
        if (is("key_count")) history_number(answer, filter.key_count(static_cast<uint32_t>(number(1))));
        else if (is("slice")) history_number(answer, filter.about().time_slice);
        else if (is("rotate")) filter.rotate();
        else if (is("advance")) filter.advance_to(number(1));
        else filter.rotate_after(number(1));
    } else if constexpr (!any_of<F, ConcurrentFilter>) {
        if (is("key_count")) return history_number(answer, filter.key_count());
        if (is("clear")) return filter.clear();
        if constexpr (any_of<F, Filter>) say(filter.fold());
        if constexpr (any_of<F, CountingFilter>) {
            if (is("plain")) {
                const auto plain = filter.to_filter();
                const auto bytes = plain->encode();
                return history_digest(answer, bytes->size(), bytes->data(), bytes->size());
            }
            history_read(&asked, words + 1, 1);
            history_number(answer, asked.bytes ? filter.count(key(0)) : filter.count_hash(asked.hashes[0]));
        }
    }
}

// ---- the rows ----

struct Lack {
    const char *verb, *why;
};
template <class F>
struct Row {
    const char *name;
    std::vector<const char *> histories;
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

inline Result<Params> params() { return Params{20, 6, 0, 3}; }

const auto classes = std::make_tuple(
    Row<Filter>{"Filter", {"filter", "classic"}, [] { return Filter::create(params()); },
                {{"remove", a_bit}, {"remove_hashes", a_bit}, {"count", counts}, {"snapshot", alone}, {"equal", bytes_say}}},
    Row<ConcurrentFilter>{"ConcurrentFilter", {"concurrent"}, [] { return ConcurrentFilter::create(params()); },
                          {{"remove", a_bit}, {"remove_hashes", a_bit}, {"count", counts},
                           {"intersect", "it takes bits away, which a thread may have set meanwhile: intersect a snapshot()"},
                           {"key_count", "threads would wait for each other to count: see estimated_keys()"},
                           {"equal", bytes_say}}},
    Row<CountingFilter>{"CountingFilter", {"counting"}, [] { return CountingFilter::create(params()); },
                        {{"intersect", "intersect its to_filter()"}, {"snapshot", alone}, {"equal", bytes_say}}},
    Row<CuckooFilter>{"CuckooFilter", {"cuckoo"}, [] { return CuckooFilter::create(CuckooParams{20, 12, 0, 3}); },
                      {{"insert_new", "its batch tells how many it had room for: probe it before, for the new ones"},
                       {"count", "it has 8 slots for a key: a counting or growing filter counts"},
                       {"merge", "there may be no room for the keys of another: insert them"},
                       {"intersect", "a key may lie in either of two lines, beside others of its fingerprint"},
                       {"snapshot", alone},
                       {"equal", "its bytes depend on the order of inserts"}}},
    Row<ScalableFilter>{"ScalableFilter", {"scalable"}, [] { return ScalableFilter::create(32, 0.01, 3); },
                        {{"remove", a_bit}, {"remove_hashes", a_bit}, {"count", counts},
                         {"merge", "stages of different sizes cannot be combined: probe both"},
                         {"intersect", "stages of different sizes cannot be combined: probe both"},
                         {"snapshot", alone}, {"equal", bytes_say}}},
    Row<Window>{"Window", {"window"}, [] { return Window::create(3, 300, 0.01, 3); },
                {{"remove", "keys leave with their generation"}, {"remove_hashes", "keys leave with their generation"},
                 {"count", counts},
                 {"merge", "generations of two windows begin at different times: probe both"},
                 {"intersect", "generations of two windows begin at different times: probe both"},
                 {"snapshot", alone}, {"equal", bytes_say}}},
    Row<GrowingFilter>{"GrowingFilter", {"growing", "unbounded"}, [] { return GrowingFilter::create(500, 0.01, 3); },
                       {{"snapshot", alone}, {"equal", bytes_say}}},
    Row<Cascade>{"Cascade", {"cascade"}, [] {
                     static const std::uint64_t in[] = {1, 2, 3}, out[] = {4, 5};
                     return Cascade::create(in, out, 0, 3);
                 },
                 {{"insert", at_once}, {"insert_hashes", at_once}, {"insert_new", at_once}, {"insert_range", at_once},
                  {"remove", at_once}, {"remove_hashes", at_once},
                  {"count", "a key is included or excluded, however often it is given"},
                  {"clear", at_once}, {"merge", at_once}, {"intersect", at_once}, {"snapshot", "nobody changes it"},
                  {"equal", bytes_say}}},
    Row<OwnedView<>>{"OwnedView, static", {"static"}, [] {
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
    Row<Matrix>{"Matrix", {"matrix"}, [] { return Matrix::create(params(), 3); },
                {{"contains", "a key has an answer for each column"}, {"view", "a view is of one column: column_view()"},
                 {"insert", columns}, {"insert_hashes", columns}, {"insert_new", columns}, {"insert_range", columns},
                 {"remove", a_bit}, {"remove_hashes", a_bit}, {"count", "count_hash() says how many columns may have a key"},
                 {"merge", "column by column: column(), set_column()"},
                 {"intersect", "column by column: column(), set_column()"}, {"snapshot", alone},
                 {"key_count", "columns do not keep theirs"}, {"equal", bytes_say}}});

template <class Test>
void each_class(Test test)
{
    std::apply([&test](const auto &...row) { (test(row), ...); }, classes);
}

} // namespace

#endif // KINDS_HPP
