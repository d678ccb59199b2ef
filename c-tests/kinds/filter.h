/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* filter.h - plain filters, and those of classic parameters. A part of kinds.h. */

STORED(filter)
PROBED(filter)
INSERTED(filter)
INSERTED_ALL(filter)
UNITED(filter)
CLEARED(filter)
INTERSECTED(filter)
CREATED(filter, filter, bloomline_filter_new(params, &filter))
CREATED(classic, filter, classic_new(params, &filter))
ADDED(filter, bloomline_filter_insert_hash(filter, hash))

static bloomline_status filter_insert_new(void *handle, uint64_t *is_new, size_t *count)
{
    bloomline_filter *filter = (bloomline_filter *)handle;
    *count = asked.bytes ? bloomline_filter_insert_new_keys(filter, asked.keys, asked.n, 1, is_new)
                         : bloomline_filter_insert_new_hashes(filter, asked.hashes, asked.n, 1, is_new);
    return BLOOMLINE_OK;
}
static bloomline_status filter_make(char **args, size_t count, void **out)
{
    bloomline_params params = params_of(args);
    (void)count;
    return bloomline_filter_new(&params, (bloomline_filter **)out);
}
static bloomline_status classic_make(char **args, size_t count, void **out)
{
    bloomline_params params = params_of(args);
    (void)count;
    return classic_new(&params, (bloomline_filter **)out);
}
static void filter_other(char *answer, void *handle, char **words)
{
    bloomline_filter *filter = (bloomline_filter *)handle;
    bloomline_params params;
    if (is(words[0], "key_count")) history_number(answer, filter_key_count(filter));
    else if (is(words[0], "clear")) bloomline_filter_clear(filter);
    else if (is(words[0], "fold")) history_status(answer, bloomline_filter_fold(filter));
    else say_params(answer, filter_params(filter, &params), &params);
}

#define FILTER_LACKS(NOT, OTHER)                                                                          \
    NOT(filter, remove, "other keys have the same bits")                                                  \
    NOT(filter, remove_hashes, "other keys have the same bits")                                           \
    NOT(filter, count_hash, "a bit is set or not: a counting or growing filter counts")                   \
    NOT(filter, snapshot, "nobody probes it while it changes: a clone is one")                            \
    NOT(filter, equal, "equal filters have equal bytes: compare those")
