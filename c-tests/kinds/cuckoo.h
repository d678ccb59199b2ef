/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cuckoo.h - filters that keys can be removed from, and that can be full. A part of kinds.h. */

STORED(cuckoo)
PROBED(cuckoo)
REMOVED(cuckoo)
REMOVED_ALL(cuckoo)
CLEARED(cuckoo)
CREATED(cuckoo, cuckoo, bloomline_cuckoo_new(&(bloomline_cuckoo_params){2 * params->line_count, 12, 0, 3}, &filter))
ADDED(cuckoo, (void)!bloomline_cuckoo_insert_hash(filter, hash))

static bloomline_status cuckoo_make(char **args, size_t count, void **out)
{
    bloomline_params shape = params_of(args);
    bloomline_cuckoo_params params = {shape.line_count, shape.k, 0, shape.seed};
    (void)count;
    return bloomline_cuckoo_new(&params, (bloomline_cuckoo **)out);
}
static bloomline_status cuckoo_insert(void *handle, bool *is_new)
{
    bloomline_cuckoo *filter = (bloomline_cuckoo *)handle;
    *is_new = !cuckoo_has(handle, 0);
    return asked.bytes ? bloomline_cuckoo_insert(filter, asked.keys[0].data, asked.keys[0].len)
                      : bloomline_cuckoo_insert_hash(filter, asked.hashes[0]);
}
static bloomline_status cuckoo_insert_all(void *handle, uint64_t *is_new, size_t *count)
{
    bloomline_cuckoo *filter = (bloomline_cuckoo *)handle;
    uint64_t before = cuckoo_key_count(filter);
    bloomline_status status = asked.bytes ? bloomline_cuckoo_insert_keys(filter, asked.keys, asked.n, count)
                                         : bloomline_cuckoo_insert_hashes(filter, asked.hashes, asked.n, count);
    (void)is_new;
    CHECK_U64(before + *count, cuckoo_key_count(filter));
    return status;
}
static void cuckoo_other(char *answer, void *handle, char **words)
{
    bloomline_cuckoo *filter = (bloomline_cuckoo *)handle;
    if (is(words[0], "key_count")) history_number(answer, cuckoo_key_count(filter));
    else if (is(words[0], "clear")) bloomline_cuckoo_clear(filter);
    else {
        bloomline_view view = cuckoo_view_of(filter);
        bloomline_params params;
        REQUIRE(is(words[0], "params"));
        REQUIRE_OK(bloomline_view_shape(&view, &params));
        history_params(answer, params.line_count, params.k, params.seed);
    }
}

#define CUCKOO_LACKS(NOT, OTHER)                                                                          \
    NOT(cuckoo, insert_new_hashes, "its batch tells how many it had room for; probe it before, for the new ones") \
    NOT(cuckoo, count_hash, "it has 8 slots for a key: a counting or growing filter counts")              \
    NOT(cuckoo, union, "there may be no room for the keys of another: insert them")                       \
    NOT(cuckoo, intersect, "a key may lie in either of two lines, beside others of its fingerprint")      \
    NOT(cuckoo, snapshot, "nobody probes it while it changes: a clone is one")                            \
    NOT(cuckoo, equal, "its bytes depend on the order of inserts: no function says that two have the same keys")
