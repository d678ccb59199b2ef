// SPDX-License-Identifier: MIT OR Apache-2.0
//
// test_hpp_verbs.cpp - the same verbs on every class: each class has a verb, or its row in kinds.hpp says why not; and
// a verb does the same for all that have it. Batches and the rest are held to single inserts, which the histories hold
// to the definitions.
#include "kinds.hpp"

#include <filesystem>

namespace {

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
    if constexpr (has_merge<F>) {
        F one = with_keys(row, 0, 200), both = with_keys(row, 0, 200);
        const F two = with_keys(row, 100, 300);
        for (const std::uint64_t hash : some_hashes(100, 300)) (void)both.insert_hash(hash);
        CHECK(one.merge(combinable(two)));
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
    const file_name directory = files_begin();
    const std::filesystem::path path = files_in(&directory, "filter").text;
    CHECK(filter.save(path));
    const auto loaded = F::load(path);
    std::filesystem::remove_all(directory.text);
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
