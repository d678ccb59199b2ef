/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* counting.h - filters that keys can be removed from. A part of kinds.h. */

STORED(counting)
PROBED(counting)
INSERTED(counting)
INSERTED_ALL(counting)
REMOVED(counting)
UNITED(counting)
CREATED(counting, counting, bloomline_counting_new(params, &filter))
ADDED(counting, bloomline_counting_insert_hash(filter, hash))

static bloomline_status counting_make(char **args, size_t count, void **out)
{
    bloomline_params params = params_of(args);
    (void)count;
    return bloomline_counting_new(&params, (bloomline_counting **)out);
}
static size_t counting_remove_all(void *handle, uint64_t *removed)
{
    bloomline_counting *filter = (bloomline_counting *)handle;
    return asked.bytes ? bloomline_counting_remove_keys(filter, asked.keys, asked.n, removed)
                      : bloomline_counting_remove_hashes(filter, asked.hashes, asked.n, removed);
}
static void counting_other(char *answer, void *handle, char **words)
{
    bloomline_counting *filter = (bloomline_counting *)handle;
    bloomline_params params;
    if (is(words[0], "key_count")) history_number(answer, counting_key_count(filter));
    else if (is(words[0], "clear")) bloomline_counting_clear(filter);
    else if (is(words[0], "params")) say_params(answer, counting_params(filter, &params), &params);
    else if (is(words[0], "count")) {
        history_read(&asked, words + 1, 1);
        uint64_t hash = asked.hashes[0];
        bloomline_view view = counting_view_of(filter);
        if (asked.bytes) hash = bloomline_view_hash(&view, asked.keys[0].data, asked.keys[0].len);
        history_number(answer, bloomline_counting_count_hash(filter, hash));
    } else {
        static uint8_t bytes[4096];
        size_t written;
        REQUIRE(is(words[0], "plain"));
        REQUIRE_OK(bloomline_filter_encode(bloomline_counting_filter(filter), bytes, sizeof bytes, &written));
        history_digest(answer, written, bytes, written);
    }
}
