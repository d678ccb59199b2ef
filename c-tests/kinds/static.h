/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* static.h - static filters: encoded bytes behind their length, probed through a view. A part of kinds.h. */

static bloomline_status static_decode(const void *data, size_t len, void **out)
{
    bloomline_view view;
    bloomline_status status = bloomline_view_open(data, len, 0, &view);
    if (status != BLOOMLINE_OK) return status;
    size_t *block = (size_t *)malloc(sizeof *block + len);
    REQUIRE(block != NULL);
    *block = len;
    memcpy(block + 1, data, len);
    *out = block;
    return BLOOMLINE_OK;
}
static size_t static_len(const void *handle) { return *(const size_t *)handle; }
static bloomline_status static_encode(const void *handle, void *out, size_t cap, size_t *written)
{
    REQUIRE(cap >= static_len(handle));
    *written = static_len(handle);
    memcpy(out, (const size_t *)handle + 1, *written);
    return BLOOMLINE_OK;
}
static bloomline_status static_clone(const void *handle, void **out)
{
    return static_decode((const size_t *)handle + 1, static_len(handle), out);
}
static bloomline_status static_save(const void *handle, const char *path)
{
    files_write(path, (const size_t *)handle + 1, static_len(handle));
    return BLOOMLINE_OK;
}
static bloomline_status static_load(const char *path, void **out)
{
    size_t len;
    uint8_t *data = files_read(path, &len);
    REQUIRE(data != NULL);
    bloomline_status status = static_decode(data, len, out);
    free(data);
    return status;
}
static bloomline_status static_make(char **args, size_t count, void **out)
{
    uint64_t seed = golden_number(args[1], 10), rows = golden_number(args[0], 10);
    history_read(&asked, args + 2, count - 2);
    if (asked.bytes) bloomline_hash_batch(asked.keys, asked.n, seed, asked.hashes);
    double rate = 1.0 / (double)(UINT64_C(1) << rows);
    size_t cap = bloomline_static_block_len(asked.n, rate), len = 0;
    uint8_t *data = (uint8_t *)malloc(cap > 0 ? cap : 1);
    REQUIRE(data != NULL);
    bloomline_status status = bloomline_static_block_build(asked.hashes, asked.n, rate, seed, 1, data, cap, &len);
    if (status == BLOOMLINE_OK) status = static_decode(data, len, out);
    free(data);
    return status;
}
static bloomline_view static_seen(const void *handle)
{
    bloomline_view view;
    REQUIRE_OK(bloomline_view_open((const size_t *)handle + 1, static_len(handle), 0, &view));
    return view;
}
static bool static_has(const void *handle, size_t i)
{
    bloomline_view view = static_seen(handle);
    return asked.bytes ? bloomline_view_contains(&view, asked.keys[i].data, asked.keys[i].len)
                      : bloomline_view_contains_hash(&view, asked.hashes[i]);
}
static size_t static_has_all(const void *handle, uint64_t *bitmap)
{
    bloomline_view view = static_seen(handle);
    return asked.bytes ? bloomline_view_contains_keys(&view, asked.keys, asked.n, bitmap)
                      : bloomline_view_contains_hashes(&view, asked.hashes, asked.n, bitmap);
}
static void static_other(char *answer, void *handle, char **words)
{
    bloomline_view view = static_seen(handle);
    REQUIRE(is(words[0], "key_count"));
    history_number(answer, bloomline_view_key_count(&view));
}

/* A copy of the bytes is a clone, and they can be written anywhere. */
#define STATIC_LACKS(NOT, OTHER)                                                                          \
    NOT(static, memory, "its bytes are the caller's")                                                     \
    NOT(static, write, "its bytes are the caller's")                                                      \
    NOT(static, insert, "it is built of all keys at once")                                                \
    NOT(static, insert_hashes, "it is built of all keys at once")                                         \
    NOT(static, insert_new_hashes, "it is built of all keys at once")                                     \
    NOT(static, remove, "it is built of all keys at once")                                                \
    NOT(static, remove_hashes, "it is built of all keys at once")                                         \
    NOT(static, count_hash, "a key counts once, however often it is given")                               \
    NOT(static, clear, "it is built of all keys at once")                                                 \
    NOT(static, union, "its lines solve equations of all keys: build it of both sets")                    \
    NOT(static, intersect, "its lines solve equations of all keys: build it of the common ones")          \
    NOT(static, snapshot, "nobody changes it")                                                            \
    NOT(static, equal, "the same keys make the same lines: compare the bytes")
