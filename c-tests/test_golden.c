/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_golden.c DIRECTORY - the golden files, read from C: vectors.txt (what a hash sets),
 * keys.txt (the hashes of keys), and the encoded filters of DIRECTORY (plain), classic/ and
 * counting/. Everything is compared with the file and with definition.h.
 *
 *     vectors.txt     hash line_count k line_index lane0 .. lane7     (hash and lanes in hex)
 *     keys.txt        key seed hash       (key and hash in hex; "-" is the empty key)
 *     MANIFEST        accepted NAME line_count k seed key_count
 */
#define _XOPEN_SOURCE 700

#include "check.h"
#include "definition.h"
#include "golden.h"

static void vectors(void)
{
    golden_text text;
    size_t count = 0, ks = 0;
    golden_open(&text, "", "vectors.txt", "");
    while (golden_line(&text)) {
        REQUIRE(text.count == 12);
        uint64_t hash = golden_number(text.words[0], 16), line_count = golden_number(text.words[1], 10);
        uint64_t k = golden_number(text.words[2], 10), index = golden_number(text.words[3], 10), mask[8];
        uint8_t lanes[LINE_BYTES];
        for (unsigned i = 0; i < 8; i++) put_le(lanes + 8 * i, 8, golden_number(text.words[4 + i], 16));

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
                           "hash %s, line %" PRIu64 " of %" PRIu64, text.words[0], i, line_count);
            }
            free(block);
        }
        if (k < 32) ks |= (size_t)1 << k;
        count++;
    }
    CHECK_U64(0x1FFFE, ks); /* 1 to 16 all occur */
    printf("    %zu vectors\n", count);
}

static void keys(void)
{
    golden_text text;
    size_t count = 0;
    golden_open(&text, "", "keys.txt", "");
    while (golden_line(&text)) {
        uint8_t key[GOLDEN_LINE / 2];
        size_t len = 0;
        REQUIRE(text.count == 3);
        for (const char *digits = text.words[0]; *digits != '\0' && strcmp(text.words[0], "-") != 0; digits += 2) {
            char byte[3] = {digits[0], digits[1], '\0'};
            REQUIRE(digits[1] != '\0');
            key[len++] = (uint8_t)golden_number(byte, 16);
        }
        uint64_t seed = golden_number(text.words[1], 10), hash = golden_number(text.words[2], 16);
        CHECK_WITH(bloomline_hash(key, len, seed) == hash, "key %s, seed %s", text.words[0], text.words[1]);
        if (len == 8) CHECK_U64(hash, bloomline_hash_u64(get_le(key, 8), seed));
        count++;
    }
    CHECK(count > 0);
    printf("    %zu keys\n", count);
}

static void accepted(golden_files *files)
{
    REQUIRE(files->count == 4);
    const uint64_t line_count = files->numbers[0], seed = files->numbers[2], key_count = files->numbers[3];
    const unsigned k = (unsigned)files->numbers[1];
    const uint8_t *data = files->data;
    size_t len = files->len;
    bloomline_view views[2];
    bloomline_filter *filter = NULL;
    bloomline_params params;
    CHECK_OK(bloomline_view_open(data, len, &views[0]));
    CHECK_OK(bloomline_view_open_unverified(data, len, &views[1]));
    REQUIRE_OK(bloomline_filter_decode(data, len, &filter));
    bool counts = strcmp(files->part, "counting/") == 0, classic = strcmp(files->part, "classic/") == 0;
    for (int i = 0; i < 2; i++) {
        memset(&params, 0, sizeof params);
        CHECK_STATUS(classic ? BLOOMLINE_ERR_LAYOUT : BLOOMLINE_OK, bloomline_view_params(&views[i], &params));
        CHECK_OK(bloomline_filter_params(filter, &params));
        CHECK_U64(line_count, params.line_count);
        CHECK_U64(k, params.k);
        CHECK_U64(seed, params.seed);
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
    CHECK_WITH(memcmp(data, again, len) == 0, "%s", files->name);
    free(again);

    enum { BATCH = 64 };
    uint64_t hashes[BATCH], count = 0, answers = 0, bitmap = 0;
    size_t present = 0, n = 0;
    bool more;
    do {
        more = golden_probe(files, &hashes[n], &count);
        if (more) {
            bool answer = count != 0;
            if (counts) {
                CHECK_U64(count, bloomline_counting_count_hash(counting, hashes[n]));
                CHECK_U64(count, definition_count(data + line_count * LINE_BYTES, line_count, k, hashes[n]));
            }
            bool one = bloomline_filter_contains_hash(filter, hashes[n]);
            CHECK_WITH(one == answer, "%s: %" PRIx64, files->name, hashes[n]);
            one = bloomline_view_contains_hash(&views[0], hashes[n]);
            CHECK_WITH(one == answer, "%s: %" PRIx64, files->name, hashes[n]);
            bool defined = (classic ? definition_classic_contains : definition_contains)(data, line_count, k, hashes[n]);
            CHECK(defined == answer);
            answers |= (uint64_t)answer << n;
            n++;
            present += answer;
        }
        if (n == BATCH || (!more && n > 0)) {
            bloomline_filter_contains_hashes(filter, hashes, n, &bitmap);
            CHECK_WITH(bitmap == answers, "%s: a batch", files->name);
            bloomline_view_contains_hashes(&views[0], hashes, n, &bitmap);
            CHECK_WITH(bitmap == answers, "%s: a batch", files->name);
            n = 0;
            answers = 0;
        }
    } while (more);
    bloomline_filter_free(filter);
    bloomline_counting_free(counting);
    printf("    accepted %s: %zu probes, %zu of them present\n", files->name, files->probed, present);
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

static void rejected(const golden_files *files)
{
    const uint8_t *data = files->data;
    const size_t len = files->len;
    const bloomline_status status = files->status;
    bloomline_view view, untouched;
    bloomline_filter *filter = NULL;
    memset(&untouched, 0x5A, sizeof untouched);
    view = untouched;
    CHECK_STATUS(status, bloomline_view_open(data, len, &view));
    CHECK_STATUS(status, bloomline_filter_decode(data, len, &filter));
    CHECK(filter == NULL && memcmp(&view, &untouched, sizeof view) == 0);
    bool counts = strcmp(files->part, "counting/") == 0;
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
        CHECK(!sound || (counts && strstr(files->name, "/counters-") != NULL));
    } else {
        CHECK_STATUS(status, unverified);
    }
    printf("    rejected %s: %s\n", files->name, bloomline_status_message(status));
}

static void manifest(const char *part)
{
    golden_files files;
    golden_files_open(&files, part);
    while (golden_next(&files)) {
        if (files.status == BLOOMLINE_OK) {
            accepted(&files);
            damaged(files.data, files.len);
        } else {
            rejected(&files);
        }
    }
    golden_files_end(&files, 1, 1);
}

static void plain_filters(void) { manifest(""); }
static void counting_filters(void) { manifest("counting/"); }
static void classic_filters(void) { manifest("classic/"); }

int main(int argc, char **argv)
{
    golden_begin(argc, argv);
    check_begin("test_golden");
    RUN(vectors);
    RUN(keys);
    RUN(plain_filters);
    RUN(counting_filters);
    RUN(classic_filters);
    return check_end();
}
