/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* scalable.h - filters that grow with their keys. A part of kinds.h. */

STORED(scalable)
PROBED(scalable)
CLEARED(scalable)
CREATED(scalable, scalable, bloomline_scalable_new(params->line_count > 1000 ? 1 << 20 : 32, 0.01, 3, &filter))
ADDED(scalable, (void)!bloomline_scalable_insert_hash(filter, hash, NULL))

static bloomline_status scalable_make(char **args, size_t count, void **out)
{
    (void)count;
    return bloomline_scalable_new(golden_number(args[0], 10), strtod(args[1], NULL), golden_number(args[2], 10), (bloomline_scalable **)out);
}
static bloomline_status scalable_insert(void *handle, bool *is_new)
{
    bloomline_scalable *filter = (bloomline_scalable *)handle;
    return asked.bytes ? bloomline_scalable_insert(filter, asked.keys[0].data, asked.keys[0].len, is_new)
                      : bloomline_scalable_insert_hash(filter, asked.hashes[0], is_new);
}
static bloomline_status scalable_insert_all(void *handle, uint64_t *is_new, size_t *count)
{
    bloomline_scalable *filter = (bloomline_scalable *)handle;
    uint64_t before = scalable_key_count(filter);
    bloomline_status status = asked.bytes ? bloomline_scalable_insert_keys(filter, asked.keys, asked.n, is_new)
                                         : bloomline_scalable_insert_hashes(filter, asked.hashes, asked.n, is_new);
    *count = (size_t)(scalable_key_count(filter) - before);
    return status;
}
static void scalable_other(char *answer, void *handle, char **words)
{
    bloomline_scalable *filter = (bloomline_scalable *)handle;
    history_number(answer, is(words[0], "stages") ? scalable_about(filter).stage_count : scalable_key_count(filter));
}

#define SCALABLE_LACKS(NOT, OTHER)                                                                        \
    NOT(scalable, remove, "other keys have the same bits")                                                \
    NOT(scalable, remove_hashes, "other keys have the same bits")                                         \
    NOT(scalable, count_hash, "a bit is set or not: a counting or growing filter counts")                 \
    NOT(scalable, union, "stages of different sizes cannot be combined: probe both")                      \
    NOT(scalable, intersect, "stages of different sizes cannot be combined: probe both")                  \
    NOT(scalable, snapshot, "nobody probes it while it changes: a clone is one")                          \
    OTHER(scalable, map, "views are of one filter, its bytes have several: load them")                    \
    NOT(scalable, equal, "equal filters have equal bytes: compare those")
