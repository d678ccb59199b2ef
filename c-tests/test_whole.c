/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_whole.c DIRECTORY - clone, write and bloomline_encoded_kind() for every kind of filter: copies
 * are equal and apart, a callback gets the encoded bytes and may fail at any call, and the kind of
 * each golden file in DIRECTORY is told, or 0 of those that are rejected.
 */
#define _XOPEN_SOURCE 700

#include "check.h"
#include "definition.h"
#include "golden.h"
#include "whole.h"

static void copies_are_equal_and_apart(void)
{
    for (size_t i = 0; i < WHOLE_KINDS; i++) {
        const whole_kind *kind = &wholes[i];
        void *first = kind->make(), *copy = NULL;
        REQUIRE(first != NULL);
        REQUIRE_OK(kind->clone(first, &copy));
        size_t len, len_of_copy, len_after;
        uint8_t *before = whole_bytes(kind, first, &len), *same = whole_bytes(kind, copy, &len_of_copy);
        CHECK_WITH(len == len_of_copy && memcmp(before, same, len) == 0, "%s", kind->name);
        free(same);
        /* What goes into one is not in the other, and both go on alike. */
        for (uint64_t key = 1000; key < 1200; key++) kind->insert(copy, bloomline_hash_u64(key, 1));
        same = whole_bytes(kind, first, &len_after);
        CHECK_WITH(len == len_after && memcmp(before, same, len) == 0, "%s", kind->name);
        free(same);
        for (uint64_t key = 1000; key < 1200; key++) kind->insert(first, bloomline_hash_u64(key, 1));
        uint8_t *grown = whole_bytes(kind, first, &len);
        same = whole_bytes(kind, copy, &len_after);
        CHECK_WITH(len == len_after && memcmp(grown, same, len) == 0, "%s", kind->name);
        CHECK_WITH(memcmp(before, same, len < len_of_copy ? len : len_of_copy) != 0, "%s", kind->name);
        kind->destroy(first); /* the copy stays */
        free(same);
        same = whole_bytes(kind, copy, &len_after);
        CHECK_WITH(memcmp(grown, same, len) == 0, "%s", kind->name);
        kind->destroy(copy);
        free(before), free(same), free(grown);

        first = kind->make(), copy = NULL;
        CHECK_STATUS(BLOOMLINE_ERR_NULL, kind->clone(NULL, &copy));
        CHECK_STATUS(BLOOMLINE_ERR_NULL, kind->clone(first, NULL));
        CHECK(copy == NULL);
        kind->destroy(first);
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
    for (size_t i = 0; i < WHOLE_KINDS; i++) {
        const whole_kind *kind = &wholes[i];
        void *filter = kind->make();
        REQUIRE(filter != NULL);
        size_t len;
        uint8_t *expected = whole_bytes(kind, filter, &len);
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
        uint8_t *same = whole_bytes(kind, filter, &after);
        CHECK(after == len && memcmp(same, expected, len) == 0);
        printf("    %s: %zu bytes in %zu calls\n", kind->name, len, all.calls);
        free(all.data), free(expected), free(same);
        kind->destroy(filter);
    }
}

/* Bit by bit: damage of the last 64 bytes is seen, or tells of another number of keys only. */
static void kinds_of_what_is_encoded(void)
{
    for (size_t i = 0; i < WHOLE_KINDS; i++) {
        const whole_kind *kind = &wholes[i];
        void *filter = kind->make(), *again = NULL;
        REQUIRE(filter != NULL);
        size_t len;
        uint8_t *data = whole_bytes(kind, filter, &len);
        CHECK_U64((uint64_t)kind->kind, (uint64_t)bloomline_encoded_kind(data, len));
        for (size_t cut = 0; cut < len; cut++) CHECK(bloomline_encoded_kind(data, cut) == 0);
        for (size_t cut = 1; cut < len; cut++) CHECK(bloomline_encoded_kind(data + cut, len - cut) == 0);
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
    static const char *const parts[WHOLE_KINDS] = {"", "classic/", "counting/", "cuckoo/", "scalable/", "window/"};
    static const char *const before_the_footer[] = {"/lines", "/counters", "record", "/order-lines", "/order-10-11"};
    for (size_t i = 0; i < WHOLE_KINDS; i++) {
        const whole_kind *kind = &wholes[i];
        golden_files files;
        size_t undecided = 0;
        golden_files_open(&files, parts[i]);
        while (golden_next(&files)) {
            int32_t found = bloomline_encoded_kind(files.data, files.len);
            bool wrong_before = false;
            for (size_t j = 0; j < sizeof before_the_footer / sizeof *before_the_footer; j++) {
                wrong_before = wrong_before || strstr(files.name, before_the_footer[j]) != NULL;
            }
            bool of_the_kind = files.status == BLOOMLINE_OK || wrong_before;
            CHECK_WITH(found == (of_the_kind ? kind->kind : 0), "%s%s is %d", parts[i], files.name, (int)found);
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
    RUN(kinds_of_what_is_encoded);
    RUN(kinds_of_golden_files);
    return check_end();
}
