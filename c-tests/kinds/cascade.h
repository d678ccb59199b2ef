/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cascade.h - exact answers for two sets. A part of kinds.h. */

STORED(cascade)
PROBED(cascade)

static bloomline_status cascade_of_hashes(bloomline_cascade **out)
{
    static uint64_t hashes[WHOLE_KEYS + WHOLE_OTHERS];
    for (uint64_t i = 0; i < WHOLE_KEYS + WHOLE_OTHERS; i++) hashes[i] = bloomline_hash_u64(i, 1);
    return bloomline_cascade_new(hashes, WHOLE_KEYS, hashes + WHOLE_KEYS, WHOLE_OTHERS, 0, 3, 1, out);
}
CREATED(cascade, cascade, cascade_of_hashes(&filter))

#define CASCADE_LACKS(NOT, OTHER)                                                                         \
    NOT(cascade, insert, "it is built of all keys at once")                                               \
    NOT(cascade, insert_hashes, "it is built of all keys at once")                                        \
    NOT(cascade, insert_new_hashes, "it is built of all keys at once")                                    \
    NOT(cascade, remove, "it is built of all keys at once")                                               \
    NOT(cascade, remove_hashes, "it is built of all keys at once")                                        \
    NOT(cascade, count_hash, "a key is included or excluded, however often it is given")                  \
    NOT(cascade, clear, "it is built of all keys at once")                                                \
    NOT(cascade, union, "its lines solve equations of all keys: build it of both sets")                   \
    NOT(cascade, intersect, "its lines solve equations of all keys: build it of the common ones")         \
    NOT(cascade, snapshot, "nobody changes it")                                                           \
    NOT(cascade, equal, "the same keys make the same lines: compare the bytes")

static bloomline_status cascade_make(char **args, size_t count, void **out)
{
    static uint64_t included[HISTORY_KEYS];
    uint64_t seed = golden_number(args[1], 10);
    REQUIRE(count == 4);
    size_t n = 0;
    for (int set = 0; set < 2; set++) {
        history_read(&asked, args + 2 + set, 1);
        if (asked.bytes) bloomline_hash_batch(asked.keys, asked.n, seed, asked.hashes);
        if (set == 0) memcpy(included, asked.hashes, (n = asked.n) * sizeof *included);
    }
    return bloomline_cascade_new(included, n, asked.hashes, asked.n, strtod(args[0], NULL), seed, 1, (bloomline_cascade **)out);
}
static void cascade_other(char *answer, void *handle, char **words)
{
    bloomline_cascade_facts facts;
    REQUIRE_OK(bloomline_cascade_about((const bloomline_cascade *)handle, &facts));
    history_number(answer, is(words[0], "layers") ? facts.layer_count : facts.included_count);
}
