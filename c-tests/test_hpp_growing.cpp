// SPDX-License-Identifier: MIT OR Apache-2.0
//
// test_hpp_growing.cpp - GrowingFilter of bloomline.hpp beside what its histories have: sets, parts, prefixes and
// static filters by their methods, as the C functions give them; journals, in memory and in files; empty handles.
#include <bloomline.hpp>

#include "check.h"
#include "files.h"

#include <sstream>
#include <string_view>
#include <utility>

namespace {

using namespace bloomline;
using namespace std::literals;

constexpr std::size_t keys = 1000;

std::vector<std::uint64_t> some_hashes(std::uint64_t first)
{
    std::vector<std::uint64_t> hashes;
    for (std::uint64_t i = first; i < first + keys; i++) hashes.push_back(hash_u64(i, 7));
    return hashes;
}

GrowingFilter filled(const std::vector<std::uint64_t> &hashes)
{
    auto made = GrowingFilter::create(keys, 0.001, 7);
    REQUIRE(made && made->insert_hashes(hashes));
    return std::move(*made);
}

// All prefixes and counts, a few at a time.
std::vector<std::pair<std::uint64_t, std::uint64_t>> listed(const GrowingFilter &filter)
{
    std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
    std::uint64_t prefixes[100], counts[100], next = 0;
    for (std::size_t got = 100; got == 100;) {
        got = filter.prefixes(next, prefixes, counts, 100);
        for (std::size_t i = 0; i < got; i++) all.emplace_back(prefixes[i], counts[i]);
        if (got > 0) next = prefixes[got - 1] + 1;
    }
    return all;
}

void sets()
{
    const auto some = some_hashes(0), others = some_hashes(keys / 2);
    GrowingFilter both = filled(some), common = filled(some), rest = filled(some);
    const GrowingFilter other = filled(others);
    const View live = both.view();
    CHECK(both |= other);
    CHECK_U64(2 * keys, both.key_count());
    CHECK_U64(2 * keys, live.key_count());
    CHECK(common &= other);
    CHECK(rest.difference(filled({some.begin() + keys / 2, some.end()})));
    CHECK_U64(keys / 2, rest.key_count());
    for (std::size_t i = 0; i < keys; i++) {
        CHECK(both.contains_hash(some[i]) && both.contains_hash(others[i]) && live.contains_hash(others[i]));
        CHECK(i < keys / 2 ? rest.contains_hash(some[i]) : common.contains_hash(some[i]) && both.count_hash(some[i]) >= 2);
    }
    std::uint64_t all = 0, before = 0;
    for (const auto &[prefix, count] : listed(both)) {
        CHECK(all == 0 || prefix > before);
        before = prefix;
        all += count;
    }
    CHECK_U64(2 * keys, all);
    CHECK_STATUS(BLOOMLINE_ERR_MISMATCH, both.merge(*GrowingFilter::create(keys, 0.01, 7)).code());

    Bitmap removed;
    CHECK_U64(keys, both.remove_hashes(others, removed));
    CHECK(removed[0] && removed.count() == keys);
    CHECK(listed(both) == listed(filled(some)));
    CHECK_OK(both.remove_hash(some[0]).code());
    both.clear();
    CHECK_STATUS(BLOOMLINE_ERR_ABSENT, both.remove("apple"sv).code());
    bool is_new = false;
    CHECK(both.insert("apple"sv, &is_new) && is_new && both.insert_u64(7) && both.count("apple"sv) == 1);
    CHECK(both.insert("apple"sv) && both.count("apple"sv) == 2 && both.count_u64(7) == 1 && both.seed() == 7);
    CHECK_U64(2, both.remove_keys(std::vector<bloomline_bytes>{Bytes("apple"sv), Bytes("apple"sv)}, removed));
}

void parts_and_static_filters()
{
    const auto hashes = some_hashes(0);
    const GrowingFilter filter = filled(hashes);
    const auto parts = filter.split(3);
    REQUIRE(parts && parts->size() == 3);
    for (const std::uint64_t hash : hashes) {
        // hash * 3 / 2^64, from its high half: none of these lies so near to a border that it matters.
        CHECK((*parts)[(hash >> 32) * 3 >> 32].contains_hash(hash));
    }
    const auto frozen = filter.freeze(0.01);
    REQUIRE(frozen && frozen->size() < filter.encoded_len());
    const auto view = View::open(*frozen);
    const std::uint64_t count = filter.about().prefix_count;
    for (const std::uint64_t hash : hashes) CHECK(view->contains_hash(GrowingFilter::frozen_hash(count, hash)));
    // A key that repeats takes no more room.
    auto often = *filter.clone();
    for (std::size_t i = 0; i < 4 * hashes.size(); i++) REQUIRE(often.insert_hash(hashes[0]));
    const auto as_large = often.freeze(0.01);
    CHECK_U64(frozen->size(), as_large->size());
}

void unbounded()
{
    auto filter = GrowingFilter::unbounded(10, 0.01, 7);
    REQUIRE(filter && filter->insert_hashes(some_hashes(0)));
    CHECK(filter->about().is_unbounded == 1 && filter->about().expected_keys == 10 && filter->estimated_rate() <= 0.01);
    const auto copy = filter->clone();
    CHECK_OK(filter->intersect(*copy).code());
    for (const std::uint64_t hash : some_hashes(0)) CHECK(filter->contains_hash(hash));
    CHECK_STATUS(BLOOMLINE_ERR_UNBOUNDED, filter->difference(*copy).code());
    CHECK_STATUS(BLOOMLINE_ERR_UNBOUNDED, filter->freeze(0.01).code());
    CHECK_STATUS(BLOOMLINE_ERR_RATE, GrowingFilter::unbounded(10, 1).code());
    for (const std::uint64_t hash : some_hashes(0)) CHECK(copy->contains_hash(hash));
}

void built_at_once()
{
    const auto hashes = some_hashes(0);
    auto bounded = GrowingFilter::build(keys, 0.001, hashes, 7);
    REQUIRE(bounded && *bounded->encode() == *filled(hashes).encode());
    auto filter = GrowingFilter::build_unbounded(10, 0.01, hashes, 7);
    REQUIRE(filter && filter->about().is_unbounded == 1 && filter->seed() == 7 && filter->key_count() == keys);
    auto inserted = GrowingFilter::unbounded(10, 0.01, 7);
    REQUIRE(inserted && inserted->insert_hashes(hashes) && filter->encoded_len() < inserted->encoded_len());
    for (const std::uint64_t hash : hashes) CHECK(filter->contains_hash(hash));
    CHECK_STATUS(BLOOMLINE_ERR_RATE, GrowingFilter::build(keys, 0, hashes).code());
    CHECK_STATUS(BLOOMLINE_ERR_RATE, GrowingFilter::build_unbounded(10, 1, hashes).code());
}

void inserted_in_parallel()
{
    std::vector<std::uint64_t> hashes(70000);
    for (std::size_t i = 0; i < hashes.size(); i++) hashes[i] = hash_u64(i % 60000, 3);
    std::vector<bloomline_bytes> some;
    for (const std::uint64_t &hash : hashes) some.push_back(Bytes(&hash, sizeof hash));
    auto one = GrowingFilter::create(hashes.size(), 0.01), several = GrowingFilter::create(hashes.size(), 0.01);
    Bitmap expected, is_new;
    REQUIRE(one && several && one->insert_hashes(hashes, expected));
    CHECK(several->insert_hashes_parallel(hashes, is_new, 2));
    CHECK(is_new.count() == expected.count() && is_new.count() <= 60000 && listed(*several) == listed(*one));
    CHECK(one->insert_hashes(hashes) && several->insert_hashes_parallel(hashes, 0));
    CHECK(one->insert_keys(some, expected) && several->insert_keys_parallel(some, is_new, 3));
    CHECK(is_new.count() == expected.count() && is_new.count() > 0);
    CHECK(one->insert_keys(some) && several->insert_keys_parallel(some, 1));
    CHECK(*one->encode() == *several->encode());
}

void journals_in_memory()
{
    const auto hashes = some_hashes(0);
    GrowingFilter filter = filled(hashes);
    CHECK(!filter.saved_sequence());
    std::ostringstream out;
    std::string journal;
    const auto append = [&](const void *data, std::size_t len) {
        journal.append(static_cast<const char *>(data), len);
        return true;
    };
    CHECK_OK(filter.save_whole(out, 7).code());
    CHECK(filter.saved_sequence() == 7);
    journal = out.str();
    auto copy = GrowingFilter::replay(journal);
    REQUIRE(copy && copy->sequence == 7 && copy->whole_len == journal.size());
    CHECK_OK(filter.insert("apple"sv).code());
    CHECK_STATUS(BLOOMLINE_ERR_SEQUENCE, filter.save_changed(append, 7).code());
    CHECK_OK(filter.save_changed(append, 8).code());
    const auto patch = GrowingFilter::patch_since(journal, 7);
    REQUIRE(patch && patch->size() == journal.size() - out.str().size());
    CHECK(!copy->filter.contains("apple"sv));
    const auto sequence = copy->filter.apply_patch(*patch);
    CHECK(sequence && *sequence == 8 && copy->filter.saved_sequence() == 8);
    CHECK(copy->filter.contains("apple"sv) && *copy->filter.encode() == *filter.encode());
    const auto torn = GrowingFilter::replay(Bytes(journal.data(), journal.size() - 1));
    CHECK(torn && torn->sequence == 7 && torn->whole_len == out.str().size());
    CHECK_STATUS(BLOOMLINE_ERR_SEQUENCE, GrowingFilter::patch_since(journal, 9).code());
    CHECK_STATUS(BLOOMLINE_ERR_CHECKSUM, copy->filter.apply_patch(std::string(64, 'x').insert(0, "BLMJRNL\n")).code());
    CHECK_STATUS(BLOOMLINE_ERR_TRUNCATED, GrowingFilter::replay(""sv).code());
    CHECK_STATUS(BLOOMLINE_ERR_IO, filter.save_changed([](const void *, std::size_t) { return false; }, 9).code());
}

void journals_in_files()
{
    const file_name directory = files_begin(), path = files_in(&directory, "journal");
    const auto file = std::string(path.text);
    GrowingFilter filter = filled(some_hashes(0));
    {
        auto journal = Journal::create(file, filter, 1);
        REQUIRE(journal);
        CHECK_OK(filter.insert("apple"sv).code());
        CHECK_OK(journal->save_changed(filter, 2).code());
        CHECK_STATUS(BLOOMLINE_ERR_SEQUENCE, journal->save_changed(filter, 2).code());
        CHECK_STATUS(BLOOMLINE_ERR_LOCKED, Journal::open(file).code());
        CHECK_U64(2, journal->sequence());
    }
    auto opened = Journal::open(file);
    REQUIRE(opened && opened->journal.sequence() == 2);
    CHECK(opened->filter.contains("apple"sv) && *opened->filter.encode() == *filter.encode());
    const std::uint64_t before = opened->journal.file_len();
    CHECK_OK(opened->journal.restart(opened->filter, 2).code());
    CHECK(opened->journal.file_len() < before);
    // A copy of it follows.
    std::ostringstream records;
    CHECK_OK(filter.save_whole(records, 5).code());
    const auto sequence = opened->journal.apply_patch(opened->filter, records.str());
    CHECK(sequence && *sequence == 5 && opened->journal.sequence() == 5);
    CHECK_U64(records.str().size(), opened->journal.file_len());
    CHECK(unlink(path.text) == 0 && rmdir(directory.text) == 0);
    CHECK_STATUS(BLOOMLINE_ERR_NOT_FOUND, opened->journal.save_changed(opened->filter, 6).code());
    CHECK_STATUS(BLOOMLINE_ERR_NOT_FOUND, Journal::open(file).code());
}

void empty_handles()
{
    Journal none;
    GrowingFilter of_none;
    CHECK(none.sequence() == 0 && none.file_len() == 0);
    CHECK_STATUS(BLOOMLINE_ERR_NULL, none.save_changed(of_none, 1).code());
    CHECK_STATUS(BLOOMLINE_ERR_NULL, none.restart(of_none, 1).code());
    CHECK_STATUS(BLOOMLINE_ERR_NULL, none.apply_patch(of_none, {}).code());
    CHECK_STATUS(BLOOMLINE_ERR_NULL, Journal::create("no/such/file", of_none, 1).code());
    CHECK_STATUS(BLOOMLINE_ERR_NULL, of_none.apply_patch({}).code());
    CHECK(!of_none.saved_sequence());
    GrowingFilter empty;
    const std::uint64_t hash = 1;
    Bitmap bits;
    std::uint64_t prefix = 0;
    CHECK(empty.contains("a"sv) && empty.contains_hash(1) && empty.count_hash(1) == UINT64_MAX);
    CHECK(empty.about().prefix_count == 0 && empty.prefixes(0, &prefix, nullptr, 1) == 0);
    CHECK_STATUS(BLOOMLINE_ERR_NULL, empty.insert_hash(1).code());
    CHECK_STATUS(BLOOMLINE_ERR_NULL, empty.insert_hashes_parallel({&hash, 1}, 2).code());
    CHECK_STATUS(BLOOMLINE_ERR_NULL, empty.insert_hashes_parallel({&hash, 1}, bits, 2).code());
    CHECK(bits.count() == 0);
    CHECK_STATUS(BLOOMLINE_ERR_NULL, empty.remove_hash(1).code());
    CHECK_STATUS(BLOOMLINE_ERR_NULL, empty.merge(empty).code());
    CHECK_STATUS(BLOOMLINE_ERR_NULL, empty.split(2).code());
    CHECK_STATUS(BLOOMLINE_ERR_NULL, empty.freeze(0.01).code());
    CHECK_U64(0, empty.remove_hashes({&hash, 1}, bits));
}

// A growing filter that cannot tell its length is no vector of so many bytes, which would be an exception.
void lengths_without_memory()
{
    bool called = false;
    auto bytes = detail::bytes_of(SIZE_MAX, [&](void *, std::size_t) {
        called = true;
        return Status();
    });
    CHECK_STATUS(BLOOMLINE_ERR_OUT_OF_MEMORY, bytes.status().code());
    CHECK(!called);
}

} // namespace

int main()
{
    check_begin("test_hpp_growing");
    RUN(sets);
    RUN(parts_and_static_filters);
    RUN(unbounded);
    RUN(built_at_once);
    RUN(inserted_in_parallel);
    RUN(journals_in_memory);
    RUN(journals_in_files);
    RUN(empty_handles);
    RUN(lengths_without_memory);
    return check_end();
}
