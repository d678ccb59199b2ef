/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* counting.h - filters that keys can be removed from. A part of kinds.h. */

STORED(counting)
PROBED(counting)
INSERTED(counting)
INSERTED_NEW(counting)
REMOVED(counting)
REMOVED_ALL(counting)
COUNTED(counting)
CLEARED(counting)
UNITED(counting)
CREATED(counting, counting, bloomline_counting_new(params, &filter))
ADDED(counting, bloomline_counting_insert_hash(filter, hash))

static bloomline_status counting_make(char **args, size_t count, void **out)
{
    bloomline_params params = params_of(args);
    (void)count;
    return bloomline_counting_new(&params, (bloomline_counting **)out);
}
static void counting_other(char *answer, void *handle, char **words)
{
    bloomline_counting *filter = (bloomline_counting *)handle;
    bloomline_params params;
    if (is(words[0], "key_count")) history_number(answer, counting_key_count(filter));
    else if (is(words[0], "clear")) bloomline_counting_clear(filter);
    else if (is(words[0], "params")) say_params(answer, counting_params(filter, &params), &params);
    else if (is(words[0], "count")) counting_count(answer, filter, words + 1);
    else {
        static uint8_t bytes[4096];
        size_t written;
        REQUIRE(is(words[0], "plain"));
        REQUIRE_OK(bloomline_filter_encode(bloomline_counting_filter(filter), bytes, sizeof bytes, &written));
        history_digest(answer, written, bytes, written);
    }
}

#define COUNTING_LACKS(NOT, OTHER)                                                                        \
    NOT(counting, intersect, "clone its bloomline_counting_filter() and intersect that")                  \
    NOT(counting, snapshot, "nobody probes it while it changes: a clone is one")                          \
    NOT(counting, equal, "equal filters have equal bytes: compare those")
