/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_golden.c DIRECTORY - the golden files, read from C: vectors.txt (what a hash sets),
 * keys.txt (the hashes of keys), MANIFEST (encoded filters that are accepted, with their
 * probes, or rejected, with their status). Everything is compared with the file and with definition.h.
 *
 *     vectors.txt     hash line_count k line_index lane0 .. lane7     (hash and lanes in hex)
 *     MANIFEST        accepted NAME line_count k seed key_count
 *                     rejected NAME status
 *     NAME.probes     hash 0|1                                        (hash in hex)
 *     classic/        the same of classic filters
 *     counting/       the same of counting filters: MANIFEST, and in NAME.probes how often
 *                     the key is in at most, instead of 0|1
 *     keys.txt        key seed hash       (key and hash in hex; "-" is the empty key)
 */
#define _XOPEN_SOURCE 700

#include "check.h"
#include "definition.h"
#include "files.h"

enum { LINE_ROOM = 8192 };

static const char *directory;
static const char *part = ""; /* of the directory: "", "counting/" or "classic/" */

static file_name golden(const char *name, const char *suffix)
{
    file_name path;
    int length = snprintf(path.text, sizeof path.text, "%s/%s%s%s", directory, part, name, suffix);
    REQUIRE(length > 0 && (size_t)length < sizeof path.text);
    return path;
}

static FILE *open_text(const char *name, const char *suffix)
{
    file_name path = golden(name, suffix);
    FILE *file = fopen(path.text, "r");
    if (file == NULL) printf("    cannot open %s\n", path.text);
    REQUIRE(file != NULL);
    return file;
}

/* The next line that is neither empty nor a comment, cut into words. Returns how many;
   0 at the end. */
static size_t next_words(FILE *file, char line[LINE_ROOM], char *words[], size_t most)
{
    while (fgets(line, LINE_ROOM, file) != NULL) {
        size_t n = 0;
        REQUIRE(strchr(line, '\n') != NULL || feof(file)); /* it had room */
        for (char *word = strtok(line, " \t\r\n"); word != NULL; word = strtok(NULL, " \t\r\n")) {
            REQUIRE(n < most);
            words[n++] = word;
        }
        if (n > 0 && words[0][0] != '#') return n;
    }
    return 0;
}

static uint64_t number(const char *word, int base)
{
    char *end;
    if (word[0] == '0' && (word[1] == 'x' || word[1] == 'X')) base = 16;
    uint64_t value = strtoull(word, &end, base);
    REQUIRE(end != word && *end == '\0');
    return value;
}

static void vectors(void)
{
    char line[LINE_ROOM], *words[16];
    size_t n, count = 0, ks = 0;
    FILE *file = open_text("vectors.txt", "");
    while ((n = next_words(file, line, words, 16)) > 0) {
        REQUIRE(n == 12);
        uint64_t hash = number(words[0], 16), line_count = number(words[1], 10), k = number(words[2], 10);
        uint64_t index = number(words[3], 10), mask[8];
        uint8_t lanes[LINE_BYTES];
        for (unsigned i = 0; i < 8; i++) put_le(lanes + 8 * i, 8, number(words[4 + i], 16));

        CHECK_U64(index, definition_line_index(hash, line_count));
        definition_mask(hash, (unsigned)k, mask);
        for (unsigned i = 0; i < 8; i++) CHECK_U64(get_le(lanes + 8 * i, 8), mask[i]);
        /* The library, where the filter is small enough to be made: the line, and no other. */
        if (line_count <= 4096) {
            bloomline_params params = {line_count, (uint32_t)k, 0, 0};
            size_t len = bloomline_block_len(&params);
            uint8_t *block = malloc(len);
            REQUIRE(block != NULL);
            CHECK_OK(bloomline_block_build(&params, &hash, 1, block, len));
            for (uint64_t i = 0; i < line_count; i++) {
                const uint8_t *at = block + i * LINE_BYTES;
                static const uint8_t empty[LINE_BYTES];
                CHECK_WITH(memcmp(at, i == index ? lanes : empty, LINE_BYTES) == 0,
                           "hash %s, line %" PRIu64 " of %" PRIu64, words[0], i, line_count);
            }
            free(block);
        }
        if (k < 32) ks |= (size_t)1 << k;
        count++;
    }
    fclose(file);
    CHECK_U64(0x1FFFE, ks); /* 1 to 16 all occur */
    printf("    %zu vectors\n", count);
}

static void keys(void)
{
    char line[LINE_ROOM], *words[4];
    size_t n, count = 0;
    FILE *file = open_text("keys.txt", "");
    while ((n = next_words(file, line, words, 4)) > 0) {
        uint8_t key[LINE_ROOM / 2];
        size_t len = 0;
        REQUIRE(n == 3);
        for (const char *digits = words[0]; *digits != '\0' && strcmp(words[0], "-") != 0; digits += 2) {
            char byte[3] = {digits[0], digits[1], '\0'};
            REQUIRE(digits[1] != '\0');
            key[len++] = (uint8_t)number(byte, 16);
        }
        uint64_t seed = number(words[1], 10), hash = number(words[2], 16);
        CHECK_WITH(bloomline_hash(key, len, seed) == hash, "key %s, seed %s", words[0], words[1]);
        if (len == 8) CHECK_U64(hash, bloomline_hash_u64(get_le(key, 8), seed));
        count++;
    }
    fclose(file);
    CHECK(count > 0);
    printf("    %zu keys\n", count);
}

static void accepted(const char *name, const uint8_t *data, size_t len, const bloomline_params *expected,
                     uint64_t key_count)
{
    char line[LINE_ROOM], *words[4];
    bloomline_view views[2];
    bloomline_filter *filter = NULL;
    bloomline_params params;
    CHECK_OK(bloomline_view_open(data, len, &views[0]));
    CHECK_OK(bloomline_view_open_unverified(data, len, &views[1]));
    REQUIRE_OK(bloomline_filter_decode(data, len, &filter));
    bool counts = strcmp(part, "counting/") == 0, classic = strcmp(part, "classic/") == 0;
    for (int i = 0; i < 2; i++) {
        memset(&params, 0, sizeof params);
        CHECK_STATUS(classic ? BLOOMLINE_ERR_LAYOUT : BLOOMLINE_OK, bloomline_view_params(&views[i], &params));
        CHECK_OK(bloomline_filter_params(filter, &params));
        CHECK_U64(expected->line_count, params.line_count);
        CHECK_U64(expected->k, params.k);
        CHECK_U64(expected->seed, params.seed);
        CHECK_U64(key_count, bloomline_view_key_count(&views[i]));
    }
    CHECK_U64(key_count, bloomline_filter_key_count(filter));
    bloomline_counting *counting = NULL;
    CHECK_STATUS(counts ? BLOOMLINE_OK : BLOOMLINE_ERR_LAYOUT, bloomline_counting_decode(data, len, &counting));
    REQUIRE(counts == (counting != NULL));

    /* The same bytes when it is written again. */
    uint8_t *again = malloc(len);
    REQUIRE(again != NULL);
    if (counts) {
        CHECK_U64(key_count, bloomline_counting_key_count(counting));
        CHECK_U64(len, bloomline_counting_encoded_len(counting));
        CHECK_OK(bloomline_counting_encode(counting, again, len, NULL));
    } else {
        CHECK_U64(len, bloomline_filter_encoded_len(filter));
        CHECK_OK(bloomline_filter_encode(filter, again, len, NULL));
    }
    CHECK_WITH(memcmp(data, again, len) == 0, "%s", name);
    free(again);

    enum { BATCH = 64 };
    uint64_t hashes[BATCH], answers = 0, bitmap = 0;
    size_t probes = 0, present = 0, n = 0, word_count;
    FILE *file = open_text(name, ".probes");
    do {
        word_count = next_words(file, line, words, 4);
        if (word_count > 0) {
            REQUIRE(word_count == 2);
            uint64_t count = number(words[1], 10);
            bool answer = count != 0;
            hashes[n] = number(words[0], 16);
            if (counts) {
                const uint8_t *counters = data + expected->line_count * LINE_BYTES;
                CHECK_U64(count, bloomline_counting_count_hash(counting, hashes[n]));
                CHECK_U64(count, definition_count(counters, expected->line_count, expected->k, hashes[n]));
            }
            CHECK_WITH(bloomline_filter_contains_hash(filter, hashes[n]) == answer, "%s: %s", name, words[0]);
            CHECK_WITH(bloomline_view_contains_hash(&views[0], hashes[n]) == answer, "%s: %s", name, words[0]);
            bool defined = (classic ? definition_classic_contains : definition_contains)(
                data, expected->line_count, expected->k, hashes[n]);
            CHECK(defined == answer);
            answers |= (uint64_t)answer << n;
            n++;
            probes++;
            present += answer;
        }
        if (n == BATCH || (word_count == 0 && n > 0)) {
            bloomline_filter_contains_hashes(filter, hashes, n, &bitmap);
            CHECK_WITH(bitmap == answers, "%s: a batch", name);
            bloomline_view_contains_hashes(&views[0], hashes, n, &bitmap);
            CHECK_WITH(bitmap == answers, "%s: a batch", name);
            n = 0;
            answers = 0;
        }
    } while (word_count > 0);
    fclose(file);
    CHECK(probes > 0);
    bloomline_filter_free(filter);
    bloomline_counting_free(counting);
    printf("    accepted %s: %zu probes, %zu of them present\n", name, probes, present);
}

/* A sound file with any byte altered, or cut anywhere, is no sound file; unless what is left
   is a whole filter again (one golden file is made so). */
static void damaged(const uint8_t *data, size_t len)
{
    static const uint8_t masks[] = {0x01, 0x80, 0xFF};
    bloomline_view view;
    for (size_t cut = 0; cut < len; cut++) {
        uint8_t *front = malloc(cut > 0 ? cut : 1); /* exact, for the checkers of memory */
        REQUIRE(front != NULL);
        memcpy(front, data, cut);
        bool whole = cut >= FOOTER_BYTES && memcmp(front + cut - 8, data + len - 8, 8) == 0;
        CHECK_WITH(whole == (bloomline_view_open(front, cut, &view) == BLOOMLINE_OK), "cut to %zu", cut);
        free(front);
    }
    uint8_t *altered = malloc(len);
    REQUIRE(altered != NULL);
    memcpy(altered, data, len);
    for (size_t i = 0; i < len; i++) {
        for (size_t m = 0; m < sizeof masks; m++) {
            altered[i] ^= masks[m];
            CHECK_WITH(bloomline_view_open(altered, len, &view) != BLOOMLINE_OK, "byte %zu ^ 0x%02x", i, masks[m]);
            altered[i] ^= masks[m];
        }
    }
    free(altered);
}

static void rejected(const char *name, const uint8_t *data, size_t len, bloomline_status status)
{
    bloomline_view view, untouched;
    bloomline_filter *filter = NULL;
    memset(&untouched, 0x5A, sizeof untouched);
    view = untouched;
    CHECK_STATUS(status, bloomline_view_open(data, len, &view));
    CHECK_STATUS(status, bloomline_filter_decode(data, len, &filter));
    CHECK(filter == NULL && memcmp(&view, &untouched, sizeof view) == 0);
    bool counts = strcmp(part, "counting/") == 0;
    if (counts) {
        bloomline_counting *counting = NULL;
        CHECK_STATUS(status, bloomline_counting_decode(data, len, &counting));
        CHECK(counting == NULL);
    }
    /* Without the checksum of the lines, only what is wrong with the lines passes. */
    bloomline_status unverified = bloomline_view_open_unverified(data, len, &view);
    if (unverified == BLOOMLINE_OK) {
        CHECK_STATUS(BLOOMLINE_ERR_CHECKSUM, status);
        const uint8_t *footer = data + len - FOOTER_BYTES;
        bool sound = get_le(footer + AT_LINES_CHECKSUM, 8) == bloomline_hash(data, len - FOOTER_BYTES, 0);
        CHECK(!sound || (counts && strstr(name, "/counters-") != NULL));
    } else {
        CHECK_STATUS(status, unverified);
    }
    printf("    rejected %s: %s\n", name, bloomline_status_message(status));
}

static void manifest(void)
{
    char line[LINE_ROOM], *words[8];
    size_t n, files = 0, rejects = 0;
    FILE *file = open_text("MANIFEST", "");
    while ((n = next_words(file, line, words, 8)) > 0) {
        REQUIRE(n >= 2);
        size_t len = 0;
        file_name path = golden(words[1], "");
        uint8_t *data = files_read(path.text, &len);
        if (data == NULL) printf("    cannot read %s\n", path.text);
        REQUIRE(data != NULL);
        if (strcmp(words[0], "accepted") == 0) {
            REQUIRE(n == 6);
            bloomline_params params = {number(words[2], 10), (uint32_t)number(words[3], 10), 0, number(words[4], 10)};
            uint64_t key_count = number(words[5], 10);
            char name[512];
            snprintf(name, sizeof name, "%s", words[1]);
            accepted(name, data, len, &params, key_count);
            damaged(data, len);
        } else {
            REQUIRE(strcmp(words[0], "rejected") == 0 && n == 3);
            rejected(words[1], data, len, (bloomline_status)number(words[2], 10));
            rejects++;
        }
        free(data);
        files++;
    }
    fclose(file);
    CHECK(files > rejects && rejects > 0);
}

static void counting_manifest(void)
{
    part = "counting/";
    manifest();
    part = "";
}

static void classic_manifest(void)
{
    part = "classic/";
    manifest();
    part = "";
}

int main(int argc, char **argv)
{
    check_begin("test_golden");
    directory = argc > 1 ? argv[1] : "../golden";
    RUN(vectors);
    RUN(keys);
    RUN(manifest);
    RUN(counting_manifest);
    RUN(classic_manifest);
    return check_end();
}
