/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* concurrent.h - filters that threads insert into: their bytes are those of a snapshot. A part of kinds.h. */

PROBED(concurrent)
INSERTED(concurrent)
INSERTED_NEW(concurrent)

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
static void concurrent_destroy(void *handle) { bloomline_concurrent_free((bloomline_concurrent *)handle); }
static bloomline_status concurrent_clone(const void *handle, void **out)
{
    bloomline_filter *snapshot = snapshot_of(handle);
    return bloomline_concurrent_new(&snapshot, (bloomline_concurrent **)out);
}
static size_t concurrent_len(const void *handle)
{
    bloomline_filter *snapshot = snapshot_of(handle);
    size_t len = bloomline_filter_encoded_len(snapshot);
    bloomline_filter_free(snapshot);
    return len;
}
static bloomline_status concurrent_encode(const void *handle, void *out, size_t cap, size_t *written)
{
    bloomline_filter *snapshot = snapshot_of(handle);
    bloomline_status status = bloomline_filter_encode(snapshot, out, cap, written);
    bloomline_filter_free(snapshot);
    return status;
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
