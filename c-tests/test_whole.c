/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_whole.c DIRECTORY - what every kind of filter has as a whole: copies are equal and apart; a buffer,
 * a file and a callback get the encoded bytes, or say why not; no damage is read; NULL; and the kind of
 * each golden file in DIRECTORY is told, or 0 of those that are rejected.
 */
#define _XOPEN_SOURCE 700

#include "check.h"
#include "definition.h"
#include "files.h"
#include "golden.h"
#include "kinds.h"

static void copies_are_equal_and_apart(void)
{
    EACH_WHOLE(kind) {
        void *first = filled(kind), *copy = NULL;
        REQUIRE(first != NULL);
        REQUIRE_OK(kind->clone(first, &copy));
        size_t len, len_of_copy, len_after;
        uint8_t *before = encoded_by(kind, first, &len), *same = encoded_by(kind, copy, &len_of_copy);
        CHECK_WITH(len == len_of_copy && memcmp(before, same, len) == 0, "%s", kind->name);
        free(same);
        if (kind->add == NULL) {
            kind->destroy(first);
            same = encoded_by(kind, copy, &len_after); /* the copy stays */
            CHECK_WITH(len == len_after && memcmp(before, same, len) == 0, "%s", kind->name);
            kind->destroy(copy);
            free(before), free(same);
            continue;
        }
        /* What goes into one is not in the other, and both go on alike. */
        for (uint64_t key = 1000; key < 1200; key++) kind->add(copy, bloomline_hash_u64(key, 1));
        same = encoded_by(kind, first, &len_after);
        CHECK_WITH(len == len_after && memcmp(before, same, len) == 0, "%s", kind->name);
        free(same);
        for (uint64_t key = 1000; key < 1200; key++) kind->add(first, bloomline_hash_u64(key, 1));
        uint8_t *grown = encoded_by(kind, first, &len);
        same = encoded_by(kind, copy, &len_after);
        CHECK_WITH(len == len_after && memcmp(grown, same, len) == 0, "%s", kind->name);
        CHECK_WITH(memcmp(before, same, len < len_of_copy ? len : len_of_copy) != 0, "%s", kind->name);
        kind->destroy(first); /* the copy stays */
        free(same);
        same = encoded_by(kind, copy, &len_after);
        CHECK_WITH(memcmp(grown, same, len) == 0, "%s", kind->name);
        kind->destroy(copy);
        free(before), free(same), free(grown);
    }
}

typedef struct {
    uint8_t *data;
    size_t len, calls, fail_at; /* 0: never */
} sink;

static bool collect(void *context, const void *data, size_t len)
{
    sink *to = context;
    if (++to->calls == to->fail_at) return false;
    to->data = realloc(to->data, to->len + len + 1);
    REQUIRE(to->data != NULL);
    memcpy(to->data + to->len, data, len);
    to->len += len;
    return true;
}

static void callbacks_get_the_encoded_bytes(void)
{
    EACH_WHOLE(kind) {
        void *filter = filled(kind);
        REQUIRE(filter != NULL);
        size_t len;
        uint8_t *expected = encoded_by(kind, filter, &len);
        sink all = {0};
        CHECK_OK(kind->write(filter, collect, &all));
        CHECK_WITH(all.len == len && memcmp(all.data, expected, len) == 0, "%s", kind->name);
        for (size_t fail_at = 1; fail_at <= all.calls; fail_at++) {
            sink some = {.fail_at = fail_at};
            CHECK_STATUS(BLOOMLINE_ERR_IO, kind->write(filter, collect, &some));
            CHECK_U64(fail_at, some.calls); /* not called again */
            CHECK(some.len < len && (some.len == 0 || memcmp(some.data, expected, some.len) == 0));
            free(some.data);
        }
        sink none = {0};
        CHECK_STATUS(BLOOMLINE_ERR_NULL, kind->write(NULL, collect, &none));
        CHECK_STATUS(BLOOMLINE_ERR_NULL, kind->write(filter, NULL, &none));
        CHECK_U64(0, none.calls);
        size_t after;
        uint8_t *same = encoded_by(kind, filter, &after);
        CHECK(after == len && memcmp(same, expected, len) == 0);
        printf("    %s: %zu bytes in %zu calls\n", kind->name, len, all.calls);
        free(all.data), free(expected), free(same);
        kind->destroy(filter);
    }
}

/* Exactly the encoded bytes, or nothing. */
static void buffers(void)
{
    EACH_WHOLE(kind) {
        void *filter = filled(kind);
        REQUIRE(filter != NULL);
        size_t len, written = 99;
        uint8_t *expected = encoded_by(kind, filter, &len), *out = malloc(len + 1);
        REQUIRE(out != NULL);
        memset(out, 0xEE, len + 1);
        for (size_t cap = 0; cap < len; cap += cap < 64 ? 63 : len - 1 - cap > 64 ? len - 65 - cap : 1) {
            CHECK_STATUS(BLOOMLINE_ERR_BUFFER_TOO_SMALL, kind->encode(filter, out, cap, &written));
        }
        for (size_t at = 0; at <= len; at++) CHECK(out[at] == 0xEE);
        CHECK_U64(99, written);
        CHECK_OK(kind->encode(filter, out, len + 1, &written));
        CHECK_WITH(written == len && out[len] == 0xEE && memcmp(out, expected, len) == 0, "%s", kind->name);
        CHECK_OK(kind->encode(filter, out, len, NULL));
        free(expected), free(out);
        kind->destroy(filter);
    }
}

/* Saved, loaded, and mapped if there is a view of it; by its own kind alone. */
static void saved_and_loaded(void)
{
    file_name directory = files_begin(), path = files_in(&directory, "filter"), missing = files_in(&directory, "no/filter");
    EACH_WHOLE(kind) {
        void *filter = filled(kind), *other = NULL;
        REQUIRE(filter != NULL);
        size_t len, len_of_file;
        uint8_t *expected = encoded_by(kind, filter, &len), *data;
        CHECK_OK(kind->save(filter, path.text));
        data = files_read(path.text, &len_of_file);
        CHECK_WITH(data != NULL && len == len_of_file && memcmp(data, expected, len) == 0, "%s", kind->name);
        free(data);
        REQUIRE_OK(kind->load(path.text, &other));
        data = encoded_by(kind, other, &len_of_file);
        CHECK_WITH(len == len_of_file && memcmp(data, expected, len) == 0, "%s", kind->name);
        kind->destroy(other);
        EACH_WHOLE(as) {
            /* The lines of a counting filter are a filter, which threads can share; and the functions of classic ones are
               theirs. */
            bool lines = kind->load == filter_load || kind->load == concurrent_load || kind->load == counting_load;
            bool reads = as == kind || (lines && (as->load == filter_load || as->load == concurrent_load));
            other = NULL;
            CHECK_STATUS(reads ? BLOOMLINE_OK : BLOOMLINE_ERR_LAYOUT, as->load(path.text, &other));
            CHECK(reads == (other != NULL));
            as->destroy(other);
        }
        bloomline_map *map = NULL;
        bloomline_view view;
        CHECK_STATUS(kind->mapped ? BLOOMLINE_OK : BLOOMLINE_ERR_LAYOUT, bloomline_map_open(path.text, 0, &map));
        if (kind->kind == BLOOMLINE_KIND_MATRIX) {
            CHECK_STATUS(BLOOMLINE_ERR_LAYOUT, bloomline_map_view(map, &view));
            CHECK(bloomline_map_matrix(map) != NULL);
        } else if (kind->mapped) {
            REQUIRE_OK(bloomline_map_view(map, &view));
            for (uint64_t key = 0; key < WHOLE_KEYS; key++) CHECK(bloomline_view_contains_hash(&view, bloomline_hash_u64(key, 1)));
        }
        bloomline_map_close(map);
        other = NULL;
        CHECK(unlink(path.text) == 0);
        CHECK_STATUS(BLOOMLINE_ERR_NOT_FOUND, kind->load(path.text, &other));
        CHECK_STATUS(BLOOMLINE_ERR_NOT_FOUND, kind->save(filter, missing.text));
        CHECK(other == NULL);
        free(expected), free(data);
        kind->destroy(filter);
    }
    CHECK(rmdir(directory.text) == 0);
}

static void null(void)
{
    EACH_WHOLE(kind) {
        void *filter = filled(kind), *made = NULL;
        REQUIRE(filter != NULL);
        size_t len, after, written = 99;
        uint8_t *data = encoded_by(kind, filter, &len), *same;
        kind->destroy(NULL);
        CHECK(kind->len(NULL) == 0 && kind->memory(NULL) == 0 && kind->memory(filter) > 0);
        CHECK_STATUS(BLOOMLINE_ERR_NULL, kind->clone(NULL, &made));
        CHECK_STATUS(BLOOMLINE_ERR_NULL, kind->clone(filter, NULL));
        CHECK_STATUS(BLOOMLINE_ERR_NULL, kind->encode(NULL, data, len, &written));
        CHECK_STATUS(BLOOMLINE_ERR_NULL, kind->encode(filter, NULL, len, &written));
        CHECK_STATUS(BLOOMLINE_ERR_BUFFER_TOO_SMALL, kind->encode(filter, NULL, 0, &written));
        CHECK_STATUS(BLOOMLINE_ERR_NULL, kind->decode(data, len, NULL));
        CHECK_STATUS(BLOOMLINE_ERR_NULL, kind->decode(NULL, len, &made));
        CHECK_STATUS(BLOOMLINE_ERR_TRUNCATED, kind->decode(NULL, 0, &made));
        CHECK_STATUS(BLOOMLINE_ERR_NULL, kind->save(NULL, "nowhere"));
        CHECK_STATUS(BLOOMLINE_ERR_NULL, kind->save(filter, NULL));
        CHECK_STATUS(BLOOMLINE_ERR_NULL, kind->load(NULL, &made));
        CHECK_STATUS(BLOOMLINE_ERR_NULL, kind->load("nowhere", NULL));
        CHECK(made == NULL && written == 99);
        same = encoded_by(kind, filter, &after);
        CHECK_WITH(len == after && memcmp(data, same, len) == 0, "%s", kind->name);
        free(data), free(same);
        kind->destroy(filter);
    }
}

/* Bit by bit: damage of the last 64 bytes tells no kind, and none is read. */
static void kinds_of_what_is_encoded(void)
{
    const size_t step = check_fewer() ? 7 : 1;
    EACH_WHOLE(kind) {
        void *filter = filled(kind), *again = NULL;
        REQUIRE(filter != NULL);
        size_t len;
        uint8_t *data = encoded_by(kind, filter, &len);
        CHECK_U64((uint64_t)kind->kind, (uint64_t)bloomline_encoded_kind(data, len));
        CHECK_U64(get_le(data + len - FOOTER_BYTES + AT_LAYOUT, 2), (uint64_t)kind->kind);
        for (size_t cut = 0; cut < len; cut += step) {
            CHECK(bloomline_encoded_kind(data, cut) == 0 && kind->decode(data, cut, &again) != BLOOMLINE_OK);
            if (cut == 0) continue;
            CHECK(bloomline_encoded_kind(data + cut, len - cut) == 0 && kind->decode(data + cut, len - cut, &again) != BLOOMLINE_OK);
        }
        for (size_t bit = 0; bit < 8 * len; bit += step) {
            data[bit / 8] ^= (uint8_t)(1u << bit % 8);
            CHECK_WITH(kind->decode(data, len, &again) != BLOOMLINE_OK, "%s, bit %zu", kind->name, bit);
            data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        CHECK(again == NULL);
        for (size_t bit = 0; bit < 8 * FOOTER_BYTES; bit++) {
            uint8_t *at = data + len - FOOTER_BYTES + bit / 8;
            *at ^= (uint8_t)(1u << bit % 8);
            CHECK_WITH(bloomline_encoded_kind(data, len) == 0, "%s, bit %zu", kind->name, bit);
            *at ^= (uint8_t)(1u << bit % 8);
        }
        data[0] ^= 1; /* it does not look at the lines */
        CHECK_U64((uint64_t)kind->kind, (uint64_t)bloomline_encoded_kind(data, len));
        CHECK_STATUS(BLOOMLINE_ERR_CHECKSUM, kind->decode(data, len, &again));
        /* A layout that there is not. */
        put_le(data + len - FOOTER_BYTES + AT_LAYOUT, 2, 99);
        definition_seal(data, len);
        CHECK(bloomline_encoded_kind(data, len) == 0);
        free(data);
        kind->destroy(filter);
    }
    CHECK(bloomline_encoded_kind(NULL, 0) == 0 && bloomline_encoded_kind(NULL, 64) == 0);
}

static void kinds_of_golden_files(void)
{
    static const char *const before_the_footer[] = {"/lines", "/counters", "/groups", "record", "/order-lines", "/order-10-11",
                                                     "/filter-", "/region-", "/order-filter", "/order-region", "/order-rate"};
    EACH_WHOLE(kind) {
        golden_files files;
        size_t undecided = 0;
        golden_files_open(&files, kind->golden);
        while (golden_next(&files)) {
            int32_t found = bloomline_encoded_kind(files.data, files.len);
            bool wrong_before = false;
            for (size_t j = 0; j < sizeof before_the_footer / sizeof *before_the_footer; j++) {
                wrong_before = wrong_before || strstr(files.name, before_the_footer[j]) != NULL;
            }
            bool of_the_kind = files.status == BLOOMLINE_OK || wrong_before;
            CHECK_WITH(found == (of_the_kind ? kind->kind : 0), "%s%s is %d", kind->golden, files.name, (int)found);
            if (files.status != BLOOMLINE_OK && wrong_before) {
                void *made = NULL;
                CHECK_STATUS(files.status, kind->decode(files.data, files.len, &made));
                undecided++;
            }
        }
        printf("    %s: %zu damaged before the footer\n", kind->name, undecided);
        CHECK(undecided > 0);
        golden_files_end(&files, 1, undecided + 1);
    }
}

int main(int argc, char **argv)
{
    golden_begin(argc, argv);
    check_begin("test_whole");
    RUN(copies_are_equal_and_apart);
    RUN(callbacks_get_the_encoded_bytes);
    RUN(buffers);
    RUN(saved_and_loaded);
    RUN(null);
    RUN(kinds_of_what_is_encoded);
    RUN(kinds_of_golden_files);
    return check_end();
}
