/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_whole.c DIRECTORY - clone, write and bloomline_encoded_kind() for every kind of filter: copies
 * are equal and apart, a callback gets the encoded bytes and may fail at any call, and the kind of
 * each golden file in DIRECTORY is told, or 0 of those that are rejected.
 */
#define _XOPEN_SOURCE 700

#include "check.h"
#include "definition.h"
#include "files.h"
#include "whole.h"

static const char *directory;

static void copies_are_equal_and_apart(void)
{
    for (size_t i = 0; i < WHOLE_KINDS; i++) {
        const whole *kind = &wholes[i];
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
        const whole *kind = &wholes[i];
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
        const whole *kind = &wholes[i];
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
    for (size_t i = 0; i < WHOLE_KINDS; i++) {
        const whole *kind = &wholes[i];
        char path[4096], line[4096], how[16], name[512];
        size_t accepted = 0, none = 0, undecided = 0;
        snprintf(path, sizeof path, "%s/%sMANIFEST", directory, parts[i]);
        FILE *manifest = fopen(path, "r");
        REQUIRE(manifest != NULL);
        while (fgets(line, sizeof line, manifest) != NULL) {
            size_t len;
            int status = 0;
            void *made = NULL;
            REQUIRE(sscanf(line, "%15s %511s %d", how, name, &status) == 3);
            snprintf(path, sizeof path, "%s/%s%s", directory, parts[i], name);
            uint8_t *data = files_read(path, &len);
            REQUIRE(data != NULL);
            int32_t found = bloomline_encoded_kind(data, len);
            if (strcmp(how, "accepted") == 0) {
                CHECK_WITH(found == kind->kind, "%s is %d", path, (int)found);
                accepted++;
            } else if (strstr(name, "/lines") != NULL || strstr(name, "/counters") != NULL ||
                       strstr(name, "record") != NULL || strstr(name, "/order-lines") != NULL || strstr(name, "/order-10-11") != NULL) {
                CHECK_WITH(found == kind->kind, "%s is %d", path, (int)found); /* wrong before the footer */
                CHECK_STATUS(status, kind->decode(data, len, &made));
                undecided++;
            } else {
                CHECK_WITH(found == 0, "%s is %d", path, (int)found);
                none++;
            }
            free(data);
        }
        fclose(manifest);
        printf("    %s: %zu accepted, %zu of no kind, %zu damaged before the footer\n", kind->name, accepted, none, undecided);
        CHECK(accepted > 0 && none > 0 && undecided > 0);
    }
}

int main(int argc, char **argv)
{
    check_begin("test_whole");
    directory = argc > 1 ? argv[1] : "../golden";
    RUN(copies_are_equal_and_apart);
    RUN(callbacks_get_the_encoded_bytes);
    RUN(kinds_of_what_is_encoded);
    RUN(kinds_of_golden_files);
    return check_end();
}
