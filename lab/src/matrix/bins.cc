/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * bins.cc - SeqAn's interleaved Bloom filter, behind functions for bins.rs: one value asked of many bins.
 *
 * It multiplies values by five constants to hash them, so hashes are given as they are.
 */
#include <bit>
#include <cstddef>
#include <cstdint>

#include <seqan3/search/dream_index/interleaved_bloom_filter.hpp>

using Filter = seqan3::interleaved_bloom_filter<>;

struct Bins {
    Filter filter;
    Filter::membership_agent_type agent;
};

extern "C" {

Bins *lab_bins_new(size_t bins, size_t bits, size_t functions)
{
    Bins *all = new Bins{Filter{seqan3::bin_count{bins}, seqan3::bin_size{bits},
                                seqan3::hash_function_count{functions}},
                         {}};
    all->agent = all->filter.membership_agent();
    return all;
}

void lab_bins_free(Bins *bins) { delete bins; }
size_t lab_bins_bytes(const Bins *bins) { return bins->filter.bit_size() / 8; }
const void *lab_bins_data(const Bins *bins) { return bins->filter.raw_data().data(); }

void lab_bins_insert(Bins *bins, size_t bin, const uint64_t *hashes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        bins->filter.emplace(hashes[i], seqan3::bin_index{bin});
}

/* The answers for one value: a bit for each bin. Returns how many are set. */
size_t lab_bins_answer(Bins *bins, uint64_t hash, uint64_t *words)
{
    const auto &found = bins->agent.bulk_contains(hash).raw_data();
    size_t sum = 0;
    for (size_t i = 0; i < (bins->filter.bin_count() + 63) / 64; i++)
        sum += std::popcount(words[i] = found.data()[i]);
    return sum;
}

/* The loops take a bit of each answer. */
size_t lab_bins_singles(Bins *bins, const uint64_t *hashes, size_t n)
{
    size_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += bins->agent.bulk_contains(hashes[i]).raw_data().data()[0] & 1;
    return sum;
}

size_t lab_bins_chain(Bins *bins, const uint64_t (*pairs)[2], size_t n)
{
    size_t sum = 0, pick = 0;
    for (size_t i = 0; i < n; i++)
        sum += pick = bins->agent.bulk_contains(pairs[i][pick]).raw_data().data()[0] & 1;
    return sum;
}

const char *lab_bins_version() { return seqan3::seqan3_version_cstring; }
}
