/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_split_blocks.c - bloomline_kudu_view and bloomline_velox_view: the golden files, which the plain
 * definitions made, blocks before a forbidden page, and doubt.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */

#include "check.h"
#include "fenced.h"
#include "golden.h"

enum { MOST_BITS = 64 * 32, MOST = 30 };

/* A line of a golden file: bits before a forbidden page, and what is answered of each hash. */
typedef struct {
    fenced memory;
    uint8_t *bits;
    size_t len, n, present;
    const char *answers;
    uint64_t hashes[MOST];
    uint32_t short_hashes[MOST];
} golden_blocks;

static bool next_blocks(golden_text *text, golden_blocks *it)
{
    static uint8_t bits[MOST_BITS];
    if (!golden_line(text)) return false;
    it->len = golden_bytes(text->words[0], bits, sizeof bits);
    it->bits = at_fence(it->memory, 1, it->len);
    memcpy(it->bits, bits, it->len);
    it->answers = text->words[1];
    it->n = text->count - 2;
    it->present = 0;
    REQUIRE(it->n <= MOST && strlen(it->answers) == it->n);
    for (size_t i = 0; i < it->n; i++) {
        it->hashes[i] = golden_number(text->words[2 + i], 16);
        it->short_hashes[i] = (uint32_t)it->hashes[i];
        it->present += it->answers[i] == '1';
    }
    return true;
}

static void check_bitmap(const golden_blocks *it, size_t count, uint64_t bitmap)
{
    CHECK_U64(it->present, count);
    for (size_t i = 0; i < it->n; i++) CHECK((bitmap >> i & 1) == (it->answers[i] == '1'));
    CHECK_U64(0, bitmap >> it->n);
}

static void kudu(void)
{
    golden_blocks it = {.memory = fenced_new(MOST_BITS)};
    golden_text text;
    size_t filters = 0, lost = 0;
    golden_open(&text, "split-blocks/", "kudu", ".txt");
    while (next_blocks(&text, &it)) {
        bloomline_kudu_view view;
        bloomline_view parquet;
        uint64_t bitmap;
        REQUIRE_OK(bloomline_kudu_view_open(it.bits, it.len, &view));
        REQUIRE_OK(bloomline_view_open_parquet_bits(it.bits, it.len, &parquet));
        for (size_t i = 0; i < it.n; i++) {
            bool expected = it.answers[i] == '1';
            CHECK(bloomline_kudu_view_contains_hash32(&view, it.short_hashes[i]) == expected);
            lost += expected && !bloomline_view_contains_hash(&parquet, it.hashes[i]);
        }
        size_t count = bloomline_kudu_view_contains_hashes32(&view, it.short_hashes, it.n, &bitmap);
        check_bitmap(&it, count, bitmap);
        filters++;
    }
    CHECK_U64(4, filters);
    CHECK(lost > 0); /* by a view of Parquet's */
    fenced_free(it.memory);
}

static void velox(void)
{
    golden_blocks it = {.memory = fenced_new(MOST_BITS)};
    golden_text text;
    size_t filters = 0, lost = 0;
    fenced memory = fenced_new(MOST_BITS);
    golden_open(&text, "split-blocks/", "velox", ".txt");
    while (next_blocks(&text, &it)) {
        bloomline_velox_view view;
        bloomline_view parquet;
        uint64_t bitmap;
        uint8_t *copy = at_fence(memory, 1, it.len);
        memset(copy, 0xEE, it.len);
        REQUIRE_OK(bloomline_velox_view_open(it.bits, it.len, 32, copy, &view));
        REQUIRE_OK(bloomline_view_open_parquet_bits(it.bits, it.len, &parquet));
        for (size_t i = 0; i < it.n; i++) {
            bool expected = it.answers[i] == '1';
            CHECK(bloomline_velox_view_contains_hash(&view, it.hashes[i]) == expected);
            lost += expected && !bloomline_view_contains_hash(&parquet, it.hashes[i]);
        }
        size_t count = bloomline_velox_view_contains_hashes(&view, it.hashes, it.n, &bitmap);
        check_bitmap(&it, count, bitmap);
        filters++;
    }
    CHECK_U64(4, filters);
    CHECK(lost > 0); /* by a view of Parquet's */
    fenced_free(it.memory);
    fenced_free(memory);
}

/* What is no filter is refused, and nothing is written; a view that was not opened says yes. */
static void doubt(void)
{
    static const uint8_t bits[96];
    uint8_t copy[96];
    uint64_t bitmap = 0;
    static const uint32_t short_hashes[2] = {1, 2};
    static const uint64_t hashes[2] = {1, 2};
    bloomline_kudu_view kudu_view;
    bloomline_velox_view velox_view;
    memset(&kudu_view, 0, sizeof kudu_view);
    memset(&velox_view, 0, sizeof velox_view);
    memset(copy, 0xEE, sizeof copy);
    CHECK_STATUS(BLOOMLINE_ERR_LINE_COUNT, bloomline_kudu_view_open(bits, 0, &kudu_view));
    CHECK_STATUS(BLOOMLINE_ERR_LINE_COUNT, bloomline_kudu_view_open(bits, 96, &kudu_view));
    CHECK_STATUS(BLOOMLINE_ERR_TRUNCATED, bloomline_kudu_view_open(bits, 65, &kudu_view));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_kudu_view_open(NULL, 64, &kudu_view));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_kudu_view_open(bits, 64, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_LAYOUT, bloomline_velox_view_open(bits, 96, 16, copy, &velox_view));
    CHECK_STATUS(BLOOMLINE_ERR_LINE_COUNT, bloomline_velox_view_open(bits, 0, 32, copy, &velox_view));
    CHECK_STATUS(BLOOMLINE_ERR_TRUNCATED, bloomline_velox_view_open(bits, 95, 32, copy, &velox_view));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_velox_view_open(NULL, 96, 32, copy, &velox_view));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_velox_view_open(bits, 96, 32, NULL, &velox_view));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_velox_view_open(bits, 96, 32, copy, NULL));
    for (size_t i = 0; i < sizeof copy; i++) CHECK(copy[i] == 0xEE);

    const bloomline_kudu_view *no_kudu[] = {NULL, &kudu_view};
    const bloomline_velox_view *no_velox[] = {NULL, &velox_view};
    for (size_t v = 0; v < 2; v++) {
        CHECK(bloomline_kudu_view_contains_hash32(no_kudu[v], 1));
        CHECK(bloomline_velox_view_contains_hash(no_velox[v], 1));
        bitmap = 0;
        CHECK(bloomline_kudu_view_contains_hashes32(no_kudu[v], short_hashes, 2, &bitmap) == 2 && bitmap == 3);
        bitmap = 0;
        CHECK(bloomline_velox_view_contains_hashes(no_velox[v], hashes, 2, &bitmap) == 2 && bitmap == 3);
    }
    REQUIRE_OK(bloomline_kudu_view_open(bits, 64, &kudu_view));
    REQUIRE_OK(bloomline_velox_view_open(bits, 96, 32, copy, &velox_view));
    CHECK(!bloomline_kudu_view_contains_hash32(&kudu_view, 1));
    CHECK(!bloomline_velox_view_contains_hash(&velox_view, 1));
    CHECK_U64(2, bloomline_kudu_view_contains_hashes32(&kudu_view, NULL, 2, &bitmap));
    CHECK_U64(2, bloomline_kudu_view_contains_hashes32(&kudu_view, short_hashes, 2, NULL));
    CHECK_U64(0, bloomline_kudu_view_contains_hashes32(&kudu_view, NULL, 0, NULL));
    CHECK_U64(0, bloomline_kudu_view_contains_hashes32(&kudu_view, short_hashes, 2, &bitmap));
}

int main(int argc, char **argv)
{
    check_begin("test_split_blocks");
    golden_begin(argc, argv);
    RUN(kudu);
    RUN(velox);
    RUN(doubt);
    return check_end();
}
