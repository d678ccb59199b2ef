/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_golden.c DIRECTORY - the golden files, read from C: vectors.txt (what a hash sets),
 * keys.txt (the hashes of keys), the encoded filters of every kind, and matrices.
 *
 *     vectors.txt     hash line_count k line_index lane0 .. lane7     (hash and lanes in hex)
 *     keys.txt        key seed hash       (key and hash in hex; "-" is the empty key)
 */
#define _XOPEN_SOURCE 700

#include "kinds.h"

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

static void hashes_of_keys(void)
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

/* What a view says of an accepted file: plain, classic or counting. */
static void viewed(const golden_files *files)
{
    REQUIRE(files->count == 4);
    bloomline_view views[2];
    bloomline_filter *filter = NULL;
    bloomline_params params;
    CHECK_OK(bloomline_view_open(files->data, files->len, 0, &views[0]));
    CHECK_OK(bloomline_view_open(files->data, files->len, BLOOMLINE_VIEW_UNVERIFIED, &views[1]));
    REQUIRE_OK(bloomline_filter_decode(files->data, files->len, &filter));
    bool counts = strcmp(files->part, "counting/") == 0, classic = strcmp(files->part, "classic/") == 0;
    for (int i = 0; i < 2; i++) {
        memset(&params, 0, sizeof params);
        CHECK_OK(i == 0 ? filter_params(filter, &params) : bloomline_view_shape(&views[1], &params));
        CHECK_U64(classic ? BLOOMLINE_KIND_CLASSIC : 0, params.layout);
        CHECK_U64(files->numbers[0], params.line_count);
        CHECK_U64(files->numbers[1], params.k);
        CHECK_U64(files->numbers[2], params.seed);
        CHECK_U64(files->numbers[3], bloomline_view_key_count(&views[i]));
    }
    CHECK_U64(files->numbers[3], filter_key_count(filter));
    bloomline_filter_free(filter);
    bloomline_counting *counting = NULL;
    CHECK_STATUS(counts ? BLOOMLINE_OK : BLOOMLINE_ERR_LAYOUT, bloomline_counting_decode(files->data, files->len, &counting));
    bloomline_counting_free(counting);
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
        CHECK_WITH(whole == (bloomline_view_open(front, cut, 0, &view) == BLOOMLINE_OK), "cut to %zu", cut);
        free(front);
    }
    uint8_t *altered = malloc(len);
    REQUIRE(altered != NULL);
    memcpy(altered, data, len);
    for (size_t i = 0; i < len; i++) {
        for (size_t m = 0; m < sizeof masks; m++) {
            altered[i] ^= masks[m];
            CHECK_WITH(bloomline_view_open(altered, len, 0, &view) != BLOOMLINE_OK, "byte %zu ^ 0x%02x", i, masks[m]);
            altered[i] ^= masks[m];
        }
    }
    free(altered);
}

static void not_viewed(const golden_files *files)
{
    const uint8_t *data = files->data;
    const size_t len = files->len;
    bloomline_view view, untouched;
    bloomline_filter *filter = NULL;
    memset(&untouched, 0x5A, sizeof untouched);
    view = untouched;
    CHECK_STATUS(files->status, bloomline_view_open(data, len, 0, &view));
    CHECK_STATUS(files->status, bloomline_filter_decode(data, len, &filter));
    CHECK(filter == NULL && memcmp(&view, &untouched, sizeof view) == 0);
    /* Without the checksum of the lines, only what is wrong with the lines passes. */
    bloomline_status unverified = bloomline_view_open(data, len, BLOOMLINE_VIEW_UNVERIFIED, &view);
    if (unverified == BLOOMLINE_OK) {
        CHECK_STATUS(BLOOMLINE_ERR_CHECKSUM, files->status);
        const uint8_t *footer = data + len - FOOTER_BYTES;
        bool sound = get_le(footer + AT_LINES_CHECKSUM, 8) == bloomline_hash(data, len - FOOTER_BYTES, 0);
        CHECK(!sound || strstr(files->name, "/counters-") != NULL);
    } else {
        CHECK_STATUS(files->status, unverified);
        CHECK(memcmp(&view, &untouched, sizeof view) == 0);
    }
}

static const row *kind;

/* Decoded and encoded again it is the same, but for a key count that is counted anew, and its answers
   are those of the file, one by one and in a batch. */
static void accepted(golden_files *files, const void *filter)
{
    size_t len, present = 0;
    uint64_t count = 0, bitmap[HISTORY_WORDS];
    uint8_t *again = encoded_by(kind, filter, &len);
    put_le(again + len - FOOTER_BYTES + AT_KEY_COUNT, 8, get_le(files->data + files->len - FOOTER_BYTES + AT_KEY_COUNT, 8));
    definition_seal_footer(again, len);
    /* Readers take growing filters of other widths than a writer chooses. */
    bool same = len == files->len && memcmp(files->data, again, len) == 0;
    CHECK_WITH(same == (strstr(files->name, "/other-") == NULL), "%s", files->name);
    free(again);
    for (asked.n = 0, asked.bytes = false; golden_probe(files, &asked.hashes[asked.n], &count); asked.n++) {
        REQUIRE(asked.n + 1 < HISTORY_KEYS);
        CHECK_WITH(kind->contains(filter, asked.n) == (count != 0), "%s: %" PRIx64, files->name, asked.hashes[asked.n]);
        if (strcmp(kind->name, "counting") == 0) {
            CHECK_U64(count, bloomline_counting_count_hash((const bloomline_counting *)filter, asked.hashes[asked.n]));
        }
        present += count != 0;
    }
    CHECK_U64(present, kind->contains_all(filter, bitmap));
    for (size_t i = 0; i < asked.n; i++) CHECK(kind->contains(filter, i) == bit_of(bitmap, i));
}

static void read_all(void)
{
    golden_files files;
    bool plain = strstr("filter classic counting", kind->name) != NULL;
    golden_files_open(&files, kind->golden);
    while (golden_next(&files)) {
        void *filter = NULL;
        CHECK_WITH(kind->decode(files.data, files.len, &filter) == files.status, "%s", files.name);
        CHECK((filter != NULL) == (files.status == BLOOMLINE_OK));
        if (filter != NULL) accepted(&files, filter);
        kind->destroy(filter);
        if (plain && filter != NULL) {
            viewed(&files);
            damaged(files.data, files.len);
        } else if (plain) {
            not_viewed(&files);
        }
    }
    golden_files_end(&files, 9, 20);
}

/* Matrices: the words of their columns, from memory and where the bytes are; and columns as views. */
static void matrices(void)
{
    golden_files files;
    golden_files_open(&files, "matrix/");
    while (golden_next(&files)) {
        bloomline_matrix *matrix = NULL;
        bloomline_map *map = NULL;
        CHECK_STATUS(files.status, bloomline_matrix_decode(files.data, files.len, &matrix));
        CHECK_STATUS(files.status, bloomline_map_bytes(files.data, files.len, 0, &map));
        if (files.status != BLOOMLINE_OK) {
            CHECK(matrix == NULL && map == NULL);
            continue;
        }
        bloomline_matrix_shape about;
        REQUIRE_OK(bloomline_matrix_about(matrix, &about));
        REQUIRE(files.count == 5);
        CHECK(about.params.line_count == files.numbers[0] && about.params.k == files.numbers[1]);
        CHECK_U64(files.numbers[2], about.params.seed);
        CHECK_U64(files.numbers[4] & UINT32_MAX, about.columns);
        size_t columns = (size_t)about.columns, words = (columns + 63) / 64;
        CHECK_U64(files.len, bloomline_matrix_encoded_len(matrix));
        bloomline_group *group = NULL;
        bloomline_view *views = malloc(columns * sizeof *views);
        REQUIRE(views != NULL);
        for (size_t i = 0; i < columns; i++) REQUIRE_OK(bloomline_matrix_column_view(matrix, i, &views[i]));
        REQUIRE_OK(bloomline_group_new(views, columns, &group));
        golden_open(&files.probes, files.part, files.name, ".probes");
        while (golden_line(&files.probes)) {
            uint64_t expected[GOLDEN_WORDS], bitmap[GOLDEN_WORDS], hash = golden_number(files.probes.words[0], 16);
            REQUIRE(files.probes.count == words + 1);
            for (size_t i = 0; i < words; i++) expected[i] = golden_number(files.probes.words[i + 1], 16);
            bloomline_matrix_contains_hash(matrix, hash, NULL, bitmap);
            CHECK_WITH(memcmp(bitmap, expected, 8 * words) == 0, "%s: %" PRIx64, files.name, hash);
            bloomline_matrix_contains_hash(bloomline_map_matrix(map), hash, NULL, bitmap);
            CHECK_WITH(memcmp(bitmap, expected, 8 * words) == 0, "%s, mapped: %" PRIx64, files.name, hash);
            bloomline_group_contains_hash(group, hash, bitmap);
            CHECK_WITH(memcmp(bitmap, expected, 8 * words) == 0, "%s, a group: %" PRIx64, files.name, hash);
            for (size_t i = 0; i < columns; i++) CHECK(bloomline_view_contains_hash(&views[i], hash) == bit_of(expected, i));
            files.probed++;
        }
        CHECK(files.probed > 0);
        bloomline_group_free(group);
        free(views);
        bloomline_map_close(map);
        bloomline_matrix_free(matrix);
    }
    golden_files_end(&files, 20, 49);
}

int main(int argc, char **argv)
{
    golden_begin(argc, argv);
    check_begin("test_golden");
    RUN(vectors);
    RUN(hashes_of_keys);
    RUN(matrices);
    for (size_t i = 0; i < ROWS; i++) {
        kind = &rows[i];
        if (kind->golden != NULL && kind->contains != NULL) check_run(read_all, kind->name);
    }
    return check_end();
}
