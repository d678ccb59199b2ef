// SPDX-License-Identifier: MIT OR Apache-2.0
//
// test_hpp_histories.cpp DIRECTORY - the histories in DIRECTORY/histories through bloomline.hpp: one
// table of verbs for all classes that filters have there.
#include <bloomline.hpp>

#include "check.h"
#include "definition.h"
#include "history.h"

#include <cmath>
#include <string>

namespace {

using namespace bloomline;

history_keys keys; // of the line
char *answer;
char **words;

uint64_t number(size_t at) { return golden_number(words[at], 10); }
bool is(const char *verb) { return strcmp(words[0], verb) == 0; }
void say(const Status &status) { history_status(answer, status.code()); }
Span<const uint64_t> hashes() { return {keys.hashes, keys.n}; }
Span<const bloomline_bytes> byte_keys() { return {keys.keys, keys.n}; }
Bytes key(size_t i) { return {keys.keys[i].data, keys.keys[i].len}; }
void say_bitmap(const Bitmap &bitmap) { history_bitmap(answer, bitmap.count(), bitmap.words().data(), bitmap.size()); }

template <class F, class... Kinds>
constexpr bool any_of = (std::is_same_v<F, Kinds> || ...);

// ---- what the classes have not in common ----

/// A filter of classic parameters.
class Classic : public Filter {
public:
    explicit Classic(Filter &&filter) : Filter(std::move(filter)) {}
};

/// Keys up to the arrow, as hashes.
std::vector<uint64_t> hashes_from(size_t at, uint64_t seed)
{
    size_t count = 0;
    while (strcmp(words[at + count], "->") != 0) count++;
    history_read(&keys, words + at, count);
    return keys.bytes ? hash_batch(byte_keys(), seed) : std::vector<uint64_t>(keys.hashes, keys.hashes + keys.n);
}

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

template <class F>
auto make()
{
    if constexpr (any_of<F, Filter, CountingFilter, ConcurrentFilter>) return F::create(Params{number(1), static_cast<uint32_t>(number(2)), 0, number(3)});
    else if constexpr (any_of<F, Classic>) return Filter::create(Params{number(1), static_cast<uint32_t>(number(2)), BLOOMLINE_KIND_CLASSIC, number(3)});
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
            history_read(&keys, words + 3 + i, 1);
            sets[i] = keys.bytes ? hash_batch(byte_keys(), number(2)) : std::vector<uint64_t>(keys.hashes, keys.hashes + keys.n);
        }
        return F::create(sets[0], sets[1], strtod(words[1], nullptr), number(2));
    }
}

template <class F>
F opened(const Buffer &bytes)
{
    if constexpr (any_of<F, Classic>) return Classic(*Filter::decode(bytes));
    else return *F::decode(bytes);
}

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
        history_read(&keys, words + 1, 1);
        history_number(answer, keys.bytes ? filter.count(key(0)) : filter.count_hash(keys.hashes[0]));
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
        if constexpr (any_of<F, Filter, Classic>) say(filter.fold());
        if constexpr (any_of<F, CountingFilter>) {
            if (is("plain")) {
                const auto plain = filter.to_filter();
                const auto bytes = plain->encode();
                return history_digest(answer, bytes->size(), bytes->data(), bytes->size());
            }
            history_read(&keys, words + 1, 1);
            history_number(answer, keys.bytes ? filter.count(key(0)) : filter.count_hash(keys.hashes[0]));
        }
    }
}

// ---- the verbs ----

template <class F>
void say_contains(const F &filter)
{
    Bitmap bitmap;
    const size_t count = keys.bytes ? filter.contains_keys(byte_keys(), bitmap) : filter.contains_hashes(hashes(), bitmap);
    CHECK_U64(count, bitmap.count());
    for (size_t i = 0; i < keys.n; i++) CHECK(bitmap[i] == (keys.bytes ? filter.contains(key(i)) : filter.contains_hash(keys.hashes[i])));
    if (keys.one) strcpy(answer, bitmap[0] ? "maybe" : "absent");
    else say_bitmap(bitmap);
}

template <class F>
void say_insert(F &filter)
{
    if (is("insert_new")) {
        if constexpr (any_of<F, ConcurrentFilter, ScalableFilter, GrowingFilter, Window>) {
            Bitmap is_new;
            (void)(keys.bytes ? filter.insert_keys(byte_keys(), is_new) : filter.insert_hashes(hashes(), is_new));
            say_bitmap(is_new);
        }
    } else if (!keys.one) {
        if constexpr (any_of<F, CuckooFilter>) {
            size_t inserted = 0;
            say(keys.bytes ? filter.insert_keys(byte_keys(), &inserted) : filter.insert_hashes(hashes(), &inserted));
        } else if constexpr (any_of<F, Filter, Classic, CountingFilter>) {
            keys.bytes ? filter.insert_keys(byte_keys()) : filter.insert_hashes(hashes());
        } else {
            Bitmap untold;
            (void)(keys.bytes ? filter.insert_keys(byte_keys(), untold) : filter.insert_hashes(hashes(), untold));
        }
    } else {
        bool is_new = false;
        if constexpr (any_of<F, ScalableFilter, GrowingFilter>) {
            CHECK(keys.bytes ? filter.insert(key(0), &is_new) : filter.insert_hash(keys.hashes[0], &is_new));
        } else if constexpr (any_of<F, CuckooFilter>) {
            is_new = !(keys.bytes ? filter.contains(key(0)) : filter.contains_hash(keys.hashes[0]));
            const Status status = keys.bytes ? filter.insert(key(0)) : filter.insert_hash(keys.hashes[0]);
            if (!status) return say(status);
        } else {
            is_new = keys.bytes ? filter.insert(key(0)) : filter.insert_hash(keys.hashes[0]);
        }
        strcpy(answer, is_new ? "new" : "old");
    }
}

template <class F>
void say_remove(F &filter)
{
    if (keys.one) return say(keys.bytes ? filter.remove(key(0)) : filter.remove_hash(keys.hashes[0]));
    Bitmap removed;
    (void)(keys.bytes ? filter.remove_keys(byte_keys(), removed) : filter.remove_hashes(hashes(), removed));
    say_bitmap(removed);
}

// ---- matrices ----

/// The row of a key, of the columns in 'among' or of all.
template <class M>
size_t ask_row(const M &matrix, size_t i, uint64_t hash, const std::vector<uint64_t> *among, Bitmap &row)
{
    const Span<const uint64_t> some = among != nullptr ? Span<const uint64_t>(*among) : Span<const uint64_t>();
    const size_t present = keys.bytes ? matrix.contains(key(i), row, some) : matrix.contains_hash(hash, row, some);
    CHECK(matrix.any_hash(hash, some) == (present > 0));
    CHECK_U64(present, matrix.count_hash(hash, some));
    return present;
}

/// Asks the matrix, or the one in its bytes.
template <class M>
void say_rows(const M &matrix)
{
    const uint64_t seed = matrix.about().params.seed;
    std::vector<uint64_t> among, rows;
    if (is("pairs")) {
        Bitmap pairs;
        uint64_t state = number(1);
        const auto asked = hashes_from(2, seed);
        std::vector<uint32_t> numbers;
        for (size_t i = 0; i < asked.size(); i++) numbers.push_back(static_cast<uint32_t>(next_random(&state) % (matrix.columns() + 1)));
        const size_t count = matrix.contains_pairs(numbers, asked, pairs);
        CHECK_U64(count, pairs.count());
        return say_bitmap(pairs);
    }
    const bool some = is("among");
    if (some) {
        history_read(&keys, words + 1, 1);
        among.assign(keys.hashes, keys.hashes + keys.n);
    }
    const auto asked = hashes_from(some ? 2 : 1, seed);
    size_t count = 0;
    Bitmap row, batch;
    for (size_t i = 0; i < asked.size(); i++) {
        count += ask_row(matrix, i, asked[i], some ? &among : nullptr, row);
        for (const uint64_t word : row.words()) rows.push_back(word);
    }
    const Span<const uint64_t> live = some ? Span<const uint64_t>(among) : Span<const uint64_t>();
    CHECK_U64(count, matrix.contains_hashes(asked, batch, live));
    CHECK(rows == batch.words());
    if (keys.bytes) {
        CHECK_U64(count, matrix.contains_keys(byte_keys(), batch, live));
        CHECK(rows == batch.words());
    }
    std::vector<MatrixPair> pairs;
    CHECK(matrix.select_hashes(asked, pairs, live) && pairs.size() == count);
    size_t at = 0;
    batch.for_each([&](size_t bit) {
        CHECK(bit == 64 * row.words().size() * pairs[at].key + pairs[at].column);
        at++;
    });
    history_bitmap(answer, count, rows.data(), 64 * rows.size());
}

/// Keys are dealt out to filters, one after the other, which become columns.
void say_set(Matrix &matrix)
{
    const uint64_t seed = matrix.about().params.seed;
    const auto all = hashes_from(5, seed);
    std::vector<Filter> filters;
    std::vector<View> views;
    const size_t count = number(2);
    for (size_t i = 0; i < count; i++) {
        auto filter = Filter::create(Params{number(3), static_cast<uint32_t>(number(4)), 0, seed});
        for (size_t j = i; j < all.size(); j += count) filter->insert_hash(all[j]);
        filters.push_back(std::move(*filter));
    }
    for (const Filter &filter : filters) views.push_back(filter.view());
    say(count == 1 ? matrix.set_column(number(1), views[0]) : matrix.set_columns(number(1), views, 2));
}

void say_columns(Matrix &matrix)
{
    const uint64_t seed = matrix.about().params.seed;
    if (is("contains") || is("among") || is("pairs")) {
        char again[HISTORY_ANSWER];
        say_rows(matrix);
        strcpy(again, answer);
        const auto bytes = matrix.encode();
        const auto map = Map::of_bytes(*bytes);
        say_rows(map->matrix());
        CHECK(strcmp(answer, again) == 0);
    } else if (is("insert_into")) {
        const auto all = hashes_from(2, seed);
        if (keys.one) say(keys.bytes ? matrix.insert(number(1), key(0)) : matrix.insert_hash(number(1), all[0]));
        else say(keys.bytes ? matrix.insert_keys(number(1), byte_keys()) : matrix.insert_hashes(number(1), all));
    } else if (is("column")) {
        const auto column = matrix.column(number(1));
        if (!column) return say(column.status());
        const auto bytes = column->encode();
        history_digest(answer, bytes->size(), bytes->data(), bytes->size());
    } else if (is("set")) {
        say_set(matrix);
    } else if (is("with_columns")) {
        auto other = matrix.with_columns(number(1));
        say(other.status());
        if (other) matrix = std::move(*other);
    } else if (is("names")) {
        const auto names = hashes_from(1, seed);
        say(matrix.set_names(names));
    } else if (is("params")) {
        const auto params = matrix.about().params;
        history_params(answer, params.line_count, params.k, params.seed);
    } else if (is("columns")) {
        history_number(answer, matrix.columns());
    } else if (is("clear_column")) {
        say(matrix.clear_column(number(1)));
    } else if (is("name")) {
        history_number(answer, matrix.name(number(1)));
    } else {
        REQUIRE(is("checksums"));
        matrix.set_checksums(number(1) == 1);
    }
}

template <class F>
struct Two {
    static inline std::unique_ptr<F> first, second;

    static void answers(char *out, char **line, size_t count)
    {
        answer = out;
        words = line;
        if (is("new")) {
            auto made = make<F>();
            say(made.status());
            if (made) first = std::make_unique<F>(std::move(*made));
        } else if (is("open")) {
            size_t len = 0;
            uint8_t *data = files_read(golden_path("", words[1], "").text, &len);
            REQUIRE(data != nullptr);
            first = std::make_unique<F>(opened<F>(Buffer(data, data + len)));
            free(data);
        } else if (is("swap")) {
            first.swap(second);
        } else if (is("copy") || is("reopen")) {
            (is("copy") ? second : first) = std::make_unique<F>(copied(is("copy")));
        } else if (is("union")) {
            if constexpr (any_of<F, ConcurrentFilter>) say(first->merge(*second->snapshot()));
            if constexpr (any_of<F, Filter, Classic, CountingFilter, GrowingFilter>) say(first->merge(*second));
        } else if (is("encode")) {
            const auto bytes = first->encode();
            history_digest(answer, bytes->size(), bytes->data(), bytes->size());
        } else if (is("save")) {
            saved();
        } else if constexpr (any_of<F, Matrix>) {
            say_columns(*first);
        } else if (is("insert") || is("insert_new") || is("contains") || is("remove")) {
            history_read(&keys, words + 1, count - 1);
            if (is("contains")) return say_contains(*first);
            if constexpr (any_of<F, CountingFilter, CuckooFilter, GrowingFilter>) {
                if (is("remove")) return say_remove(*first);
            }
            if constexpr (!any_of<F, Cascade, Static>) say_insert(*first);
        } else {
            say_other(*first);
        }
    }
    static F copied(bool by_clone)
    {
        if constexpr (!any_of<F, Classic>) {
            if (by_clone) return *first->clone();
        }
        return opened<F>(*first->encode());
    }
    static void saved()
    {
        if constexpr (!any_of<F, Classic>) {
            file_name directory = files_begin(), path = files_in(&directory, "filter");
            say(first->save(path.text));
            first = std::make_unique<F>(*F::load(path.text));
            CHECK(unlink(path.text) == 0 && rmdir(directory.text) == 0);
        }
    }
};

template <class F>
void replay(const char *kind)
{
    history_replay(kind, Two<F>::answers);
    Two<F>::first.reset();
    Two<F>::second.reset();
}

void filter() { replay<Filter>("filter"); }
void classic() { replay<Classic>("classic"); }
void concurrent() { replay<ConcurrentFilter>("concurrent"); }
void counting() { replay<CountingFilter>("counting"); }
void cuckoo() { replay<CuckooFilter>("cuckoo"); }
void scalable() { replay<ScalableFilter>("scalable"); }
void window() { replay<Window>("window"); }
void growing() { replay<GrowingFilter>("growing"); }
void unbounded() { replay<GrowingFilter>("unbounded"); }
void statics() { replay<Static>("static"); }
void cascade() { replay<Cascade>("cascade"); }
void matrix() { replay<Matrix>("matrix"); }

}  // namespace

int main(int argc, char **argv)
{
    golden_begin(argc, argv);
    check_begin("test_hpp_histories");
    RUN(filter);
    RUN(classic);
    RUN(concurrent);
    RUN(counting);
    RUN(cuckoo);
    RUN(scalable);
    RUN(window);
    RUN(growing);
    RUN(unbounded);
    RUN(statics);
    RUN(cascade);
    RUN(matrix);
    return check_end();
}
