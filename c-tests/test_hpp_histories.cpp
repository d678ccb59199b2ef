// SPDX-License-Identifier: MIT OR Apache-2.0
//
// test_hpp_histories.cpp DIRECTORY - the histories in DIRECTORY/histories through bloomline.hpp: one
// table of verbs for all classes of kinds.hpp.
#include "kinds.hpp"

namespace {

Span<const uint64_t> hashes() { return {asked.hashes, asked.n}; }
Span<const bloomline_bytes> byte_keys() { return {asked.keys, asked.n}; }
void say_bitmap(const Bitmap &bitmap) { history_bitmap(answer, bitmap.count(), bitmap.words().data(), bitmap.size()); }

// ---- the verbs ----

template <class F>
void say_contains(const F &filter)
{
    Bitmap bitmap;
    const size_t count = asked.bytes ? filter.contains_keys(byte_keys(), bitmap) : filter.contains_hashes(hashes(), bitmap);
    CHECK_U64(count, bitmap.count());
    for (size_t i = 0; i < asked.n; i++) CHECK(bitmap[i] == (asked.bytes ? filter.contains(key(i)) : filter.contains_hash(asked.hashes[i])));
    if (asked.one) strcpy(answer, bitmap[0] ? "maybe" : "absent");
    else say_bitmap(bitmap);
}

template <class F>
void say_insert(F &filter)
{
    if (is("insert_new")) {
        if constexpr (has_insert_new<F>) {
            Bitmap is_new;
            (void)(asked.bytes ? insert_new(filter, byte_keys(), is_new) : insert_new(filter, hashes(), is_new));
            say_bitmap(is_new);
        }
    } else if (!asked.one) {
        if constexpr (std::is_same_v<decltype(filter.insert_hashes(hashes())), Status>) {
            say(asked.bytes ? filter.insert_keys(byte_keys()) : filter.insert_hashes(hashes()));
        } else {
            (void)(asked.bytes ? filter.insert_keys(byte_keys()) : filter.insert_hashes(hashes()));
        }
    } else {
        bool is_new = false;
        const Status status = insert_one(filter, is_new);
        if (!status) return say(status);
        strcpy(answer, is_new ? "new" : "old");
    }
}

template <class F>
void say_remove(F &filter)
{
    if (asked.one) return say(asked.bytes ? filter.remove(key(0)) : filter.remove_hash(asked.hashes[0]));
    Bitmap removed;
    (void)(asked.bytes ? filter.remove_keys(byte_keys(), removed) : filter.remove_hashes(hashes(), removed));
    say_bitmap(removed);
}

// ---- matrices ----

/// The row of a key, of the columns in 'among' or of all.
template <class M>
size_t ask_row(const M &matrix, size_t i, uint64_t hash, const std::vector<uint64_t> *among, Bitmap &row)
{
    const Span<const uint64_t> some = among != nullptr ? Span<const uint64_t>(*among) : Span<const uint64_t>();
    const size_t present = asked.bytes ? matrix.contains(key(i), row, some) : matrix.contains_hash(hash, row, some);
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
        const auto hashed = hashes_from(2, seed);
        std::vector<uint32_t> numbers;
        for (size_t i = 0; i < hashed.size(); i++) numbers.push_back(static_cast<uint32_t>(next_random(&state) % (matrix.columns() + 1)));
        const size_t count = matrix.contains_pairs(numbers, hashed, pairs);
        CHECK_U64(count, pairs.count());
        return say_bitmap(pairs);
    }
    const bool some = is("among");
    if (some) {
        history_read(&asked, words + 1, 1);
        among.assign(asked.hashes, asked.hashes + asked.n);
    }
    const auto hashed = hashes_from(some ? 2 : 1, seed);
    size_t count = 0;
    Bitmap row, batch;
    for (size_t i = 0; i < hashed.size(); i++) {
        count += ask_row(matrix, i, hashed[i], some ? &among : nullptr, row);
        for (const uint64_t word : row.words()) rows.push_back(word);
    }
    const Span<const uint64_t> live = some ? Span<const uint64_t>(among) : Span<const uint64_t>();
    CHECK_U64(count, matrix.contains_hashes(hashed, batch, live));
    CHECK(rows == batch.words());
    if (asked.bytes) {
        CHECK_U64(count, matrix.contains_keys(byte_keys(), batch, live));
        CHECK(rows == batch.words());
    }
    std::vector<MatrixPair> pairs;
    CHECK(matrix.select_hashes(hashed, pairs, live) && pairs.size() == count);
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
        if (asked.one) say(asked.bytes ? matrix.insert(number(1), key(0)) : matrix.insert_hash(number(1), all[0]));
        else say(asked.bytes ? matrix.insert_keys(number(1), byte_keys()) : matrix.insert_hashes(number(1), all));
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
    static inline const char *history;
    static inline std::unique_ptr<F> first, second;

    static void replay()
    {
        history_replay(history, answers);
        first.reset();
        second.reset();
    }
    static void answers(char *out, char **line, size_t count)
    {
        answer = out;
        words = line;
        if (is("new")) {
            auto made = make<F>(history);
            say(made.status());
            if (made) first = std::make_unique<F>(std::move(*made));
        } else if (is("open")) {
            size_t len = 0;
            uint8_t *data = files_read(golden_path("", words[1], "").text, &len);
            REQUIRE(data != nullptr);
            first = std::make_unique<F>(*F::decode(Buffer(data, data + len)));
            free(data);
        } else if (is("swap")) {
            first.swap(second);
        } else if (is("copy")) {
            second = std::make_unique<F>(*first->clone());
        } else if (is("reopen")) {
            first = std::make_unique<F>(*F::decode(*first->encode()));
        } else if (is("union")) {
            if constexpr (has_merge<F>) say(first->merge(combinable(*second)));
        } else if (is("encode")) {
            const auto bytes = first->encode();
            history_digest(answer, bytes->size(), bytes->data(), bytes->size());
        } else if (is("save")) {
            saved();
        } else if constexpr (!has_contains<F>) {
            say_columns(*first);
        } else if (is("insert") || is("insert_new") || is("contains") || is("remove")) {
            history_read(&asked, words + 1, count - 1);
            if (is("contains")) return say_contains(*first);
            if constexpr (has_remove<F>) {
                if (is("remove")) return say_remove(*first);
            }
            if constexpr (has_insert<F>) say_insert(*first);
        } else {
            say_other(*first);
        }
    }
    static void saved()
    {
        file_name directory = files_begin(), path = files_in(&directory, "filter");
        say(first->save(path.text));
        first = std::make_unique<F>(*F::load(path.text));
        CHECK(unlink(path.text) == 0 && rmdir(directory.text) == 0);
    }
};

template <class F>
void replay(const Row<F> &row)
{
    using Replays = Two<std::conditional_t<any_of<F, OwnedView<>>, Static, F>>;
    for (const char *history : row.histories) {
        Replays::history = history;
        check_run(Replays::replay, history);
    }
}

}  // namespace

int main(int argc, char **argv)
{
    golden_begin(argc, argv);
    check_begin("test_hpp_histories");
    each_class([](const auto &row) { replay(row); });
    return check_end();
}
