/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* concurrent.h - filters that threads insert into. A part of kinds.h. */

STORED(concurrent)
PROBED(concurrent)
INSERTED(concurrent)
INSERTED_NEW(concurrent)
CLEARED(concurrent)
CREATED(concurrent, concurrent, concurrent_new(params, &filter))
ADDED(concurrent, bloomline_concurrent_insert_hash(filter, hash))

static bloomline_filter *snapshot_of(const void *handle)
{
    bloomline_filter *snapshot = NULL;
    REQUIRE_OK(bloomline_concurrent_snapshot((const bloomline_concurrent *)handle, &snapshot));
    return snapshot;
}
static bloomline_status concurrent_make(char **args, size_t count, void **out)
{
    bloomline_params params = params_of(args);
    (void)count;
    return concurrent_new(&params, (bloomline_concurrent **)out);
}
static bloomline_status concurrent_unite(void *into, const void *from)
{
    bloomline_filter *snapshot = snapshot_of(from);
    bloomline_status status = bloomline_concurrent_union((bloomline_concurrent *)into, snapshot);
    bloomline_filter_free(snapshot);
    return status;
}
static void concurrent_other(char *answer, void *handle, char **words)
{
    bloomline_params params;
    REQUIRE(is(words[0], "params"));
    say_params(answer, concurrent_params((const bloomline_concurrent *)handle, &params), &params);
}

#define CONCURRENT_LACKS(NOT, OTHER)                                                                      \
    NOT(concurrent, remove, "other keys have the same bits")                                              \
    NOT(concurrent, remove_hashes, "other keys have the same bits")                                       \
    NOT(concurrent, count_hash, "a bit is set or not: a counting or growing filter counts")               \
    NOT(concurrent, intersect, "it takes bits away, which a thread may have set meanwhile: intersect a snapshot") \
    NOT(concurrent, equal, "equal filters have equal bytes: compare those")
