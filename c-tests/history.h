/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * history.h - reads golden/histories/: golden/README.md has the format. history_replay() has what
 * is the same for all kinds and languages; a program gives it a function that answers.
 *
 * C or C++. Uses golden.h.
 */
#ifndef HISTORY_H
#define HISTORY_H

#include "golden.h"

/* The words: those of a row for each key, if a matrix answers. */
enum { HISTORY_KEYS = 13000, HISTORY_WORDS = 2048, HISTORY_ANSWER = 128 };

/* The keys of a line: hashes, or byte keys. */
typedef struct {
    bool bytes, one; /* one: for the call that takes one */
    size_t n;
    uint64_t hashes[HISTORY_KEYS];
    bloomline_bytes keys[HISTORY_KEYS];
    char texts[HISTORY_KEYS][16];
} history_keys;

/* Takes in the items in 'words'. */
static inline void history_read(history_keys *keys, char **words, size_t count)
{
    keys->n = 0;
    keys->bytes = count > 0 && strncmp(words[0], "key", 3) == 0;
    keys->one = count == 1 && strchr(words[0], '*') == NULL &&
                (strncmp(words[0], "key:", 4) == 0 || strncmp(words[0], "hash:", 5) == 0);
    for (size_t i = 0; i < count; i++) {
        char item[64];
        REQUIRE(strlen(words[i]) < sizeof item);
        strcpy(item, words[i]);
        char *times = strchr(item, '*'), *first = strchr(item, ':'), *second = NULL;
        REQUIRE(first != NULL);
        if (times != NULL) *times++ = '\0';
        *first++ = '\0';
        if ((second = strchr(first, ':')) != NULL) *second++ = '\0';
        for (uint64_t left = times != NULL ? golden_number(times, 10) : 1; left > 0; left--) {
            bool many = second != NULL;
            uint64_t a = golden_number(first, strcmp(item, "hash") == 0 ? 16 : 10), b = many ? golden_number(second, 10) : 1;
            uint64_t n = strcmp(item, "hashes") == 0 ? a : b;
            REQUIRE(n <= HISTORY_KEYS - keys->n && keys->bytes == (item[0] == 'k'));
            for (uint64_t j = 0; j < n; j++, keys->n++) {
                if (!keys->bytes) {
                    keys->hashes[keys->n] = item[0] == 'n' ? a + j : many ? next_random(&b) : a;
                    continue;
                }
                char *text = keys->texts[keys->n];
                keys->keys[keys->n].len = (size_t)snprintf(text, sizeof keys->texts[0], "key %u", (unsigned)(a + j));
                keys->keys[keys->n].data = (const uint8_t *)text;
            }
        }
    }
}

/* ---- answers as text ---- */

static inline void history_status(char *answer, bloomline_status status)
{
    static const struct {
        bloomline_status status;
        const char *name;
    } names[] = {
        {BLOOMLINE_OK, "ok"}, {BLOOMLINE_ERR_RATE, "rate"}, {BLOOMLINE_ERR_K, "k"},
        {BLOOMLINE_ERR_FINGERPRINT_BITS, "k"}, {BLOOMLINE_ERR_MISMATCH, "mismatch"},
        {BLOOMLINE_ERR_ODD_LINE_COUNT, "odd_line_count"}, {BLOOMLINE_ERR_CLASSIC, "classic"},
        {BLOOMLINE_ERR_ABSENT, "absent"}, {BLOOMLINE_ERR_FULL, "full"}, {BLOOMLINE_ERR_GENERATIONS, "generations"},
        {BLOOMLINE_ERR_OVERLAP, "overlap"}, {BLOOMLINE_ERR_COLUMNS, "columns"}, {BLOOMLINE_ERR_COLUMN, "column"},
        {BLOOMLINE_ERR_COLUMN_SHAPE, "column_shape"},
    };
    snprintf(answer, HISTORY_ANSWER, "status %u", (unsigned)status);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i].status == status) strcpy(answer, names[i].name);
    }
}

static inline void history_number(char *answer, uint64_t number)
{
    snprintf(answer, HISTORY_ANSWER, "%" PRIu64, number);
}

static inline void history_params(char *answer, uint64_t line_count, uint32_t k, uint64_t seed)
{
    snprintf(answer, HISTORY_ANSWER, "%" PRIu64 " %" PRIu32 " %" PRIu64, line_count, k, seed);
}

static inline void history_digest(char *answer, uint64_t number, const void *data, size_t len)
{
    snprintf(answer, HISTORY_ANSWER, "%" PRIu64 " %016" PRIx64, number, bloomline_hash(data, len, 0));
}

/* Answers to 'n' keys, of which the call counted 'count'. */
static inline void history_bitmap(char *answer, size_t count, const uint64_t *bitmap, size_t n)
{
    static uint8_t bytes[HISTORY_WORDS * 8];
    size_t words = (n + 63) / 64, set = 0;
    REQUIRE(words <= HISTORY_WORDS);
    for (size_t i = 0; i < words; i++) put_le(bytes + 8 * i, 8, bitmap[i]);
    for (size_t i = 0; i < n; i++) set += bit_of(bitmap, i);
    CHECK_U64(set, count);
    history_digest(answer, count, bytes, words * 8);
}

/* ---- the lines ---- */

/* Answers an operation, 'words' of it. */
typedef void history_answers(char *answer, char **words, size_t count);

/* Compares the answers to the history of a kind. */
static inline void history_replay(const char *kind, history_answers *answers)
{
    golden_text text;
    size_t line = 0;
    char answer[HISTORY_ANSWER], expected[HISTORY_ANSWER];
    golden_open(&text, "histories/", kind, ".txt");
    while (golden_line(&text)) {
        size_t count = 0;
        while (count < text.count && strcmp(text.words[count], "->") != 0) count++;
        REQUIRE(count > 0 && count + 1 < text.count);
        expected[0] = '\0';
        for (size_t i = count + 1; i < text.count; i++) {
            REQUIRE(strlen(expected) + strlen(text.words[i]) + 2 < sizeof expected);
            if (expected[0] != '\0') strcat(expected, " ");
            strcat(expected, text.words[i]);
        }
        strcpy(answer, "ok");
        answers(answer, text.words, count);
        line++;
        CHECK_WITH(strcmp(answer, expected) == 0, "%s.txt:%zu: %s is %s, not %s", kind, line, text.words[0], answer, expected);
    }
    printf("    %s: %zu lines\n", kind, line);
    CHECK(line > 100);
}

#endif /* HISTORY_H */
