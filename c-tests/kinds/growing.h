/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* growing.h - filters that grow and shrink with their keys. A part of kinds.h. */

STORED(growing)
PROBED(growing)
REMOVED(growing)
REMOVED_ALL(growing)
COUNTED(growing)
CLEARED(growing)
INTERSECTED(growing)
UNITED(growing)
CREATED(unbounded, growing, bloomline_growing_new_unbounded(500, 0.01, 3, &filter))
CREATED(growing, growing, bloomline_growing_new(params->line_count > 1000 ? 1 << 20 : 500, 0.01, 3, &filter))
ADDED(growing, (void)!bloomline_growing_insert_hash(filter, hash, NULL))

static bloomline_status growing_make(char **args, size_t count, void **out)
{
    bloomline_growing **filter = (bloomline_growing **)out;
    bool bounded = !is(args[0], "unbounded");
    char **numbers = bounded ? args : args + 1;
    REQUIRE(count == (bounded ? 3 : 4));
    uint64_t keys = golden_number(numbers[0], 10), seed = golden_number(numbers[2], 10);
    double rate = strtod(numbers[1], NULL);
    return bounded ? bloomline_growing_new(keys, rate, seed, filter) : bloomline_growing_new_unbounded(keys, rate, seed, filter);
}
static bloomline_status growing_insert(void *handle, bool *is_new)
{
    bloomline_growing *filter = (bloomline_growing *)handle;
    return asked.bytes ? bloomline_growing_insert(filter, asked.keys[0].data, asked.keys[0].len, is_new)
                      : bloomline_growing_insert_hash(filter, asked.hashes[0], is_new);
}
static bloomline_status growing_insert_all(void *handle, uint64_t *is_new, size_t *count)
{
    bloomline_growing *filter = (bloomline_growing *)handle;
    uint64_t before = growing_key_count(filter);
    bloomline_status status = asked.bytes ? bloomline_growing_insert_keys(filter, asked.keys, asked.n, is_new)
                                         : bloomline_growing_insert_hashes(filter, asked.hashes, asked.n, is_new);
    CHECK_U64(before + asked.n, growing_key_count(filter));
    *count = 0;
    for (size_t i = 0; is_new != NULL && i < asked.n; i++) *count += bit_of(is_new, i);
    return status;
}
static void growing_other(char *answer, void *handle, char **words)
{
    bloomline_growing *filter = (bloomline_growing *)handle;
    if (is(words[0], "key_count")) history_number(answer, growing_key_count(filter));
    else if (is(words[0], "clear")) bloomline_growing_clear(filter);
    else {
        REQUIRE(is(words[0], "count"));
        growing_count(answer, filter, words + 1);
    }
}

#define GROWING_LACKS(NOT, OTHER)                                                                         \
    NOT(growing, snapshot, "nobody probes it while it changes: a clone is one")                           \
    NOT(growing, equal, "equal bounded filters have equal bytes: compare those")
#define UNBOUNDED_LACKS(NOT, OTHER)                                                                       \
    GROWING_LACKS(NOT, OTHER)                                                                             \
    OTHER(growing, intersect, "prefixes of different lengths cannot be compared: BLOOMLINE_ERR_UNBOUNDED")
