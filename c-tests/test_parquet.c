/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_parquet.c - filters of Parquet files: those that another program wrote (golden/parquet), their
 * headers, hashes of columns, and bits without a header, against the format written down once more in
 * plain C. How such filters answer, as blocks of an engine: test_engine_views.c.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */

#include "check.h"
#include "engine_blocks.h"
#include "fenced.h"
#include "golden.h"

enum { BLOCK = 32, MOST_VALUES = 32, MOST_BYTES = 64, ROOM = 2048 };

static block_shape shape_of(uint8_t *bits, size_t len)
{
    return (block_shape){bits, len, BLOCK, 8, PARQUET};
}

/* The bits of so many bytes, by the definition. */
static void plain(uint8_t *bits, size_t len, const uint64_t *hashes, size_t n)
{
    block_shape s = shape_of(bits, len);
    memset(bits, 0, len);
    for (size_t i = 0; i < n; i++) block_insert(&s, hashes[i]);
}

/* What pyarrow wrote, of every type that it makes filters of: read, and made again. */
static void filters_of_a_file(void)
{
    golden_text text;
    size_t filters = 0;
    golden_open(&text, "parquet/", "filters", ".txt");
    while (golden_line(&text)) {
        static uint8_t block[ROOM], values[MOST_VALUES * MOST_BYTES], again[ROOM];
        uint64_t hashes[MOST_VALUES], fixed[MOST_VALUES];
        size_t len = golden_bytes(text.words[2], block, sizeof block), n = text.count - 3;
        size_t header_len = 0, bits_len = 0, width = 0, written = 0;
        bool of_one_width = strcmp(text.words[1], "BYTE_ARRAY") != 0;
        REQUIRE(n > 0 && n <= MOST_VALUES);
        bloomline_view view, bits;
        REQUIRE_OK(bloomline_view_open_engine(BLOOMLINE_ENGINE_PARQUET, block, len, &view));
        REQUIRE_OK(bloomline_parquet_read_header(block, len, &header_len, &bits_len));
        CHECK_U64(len, header_len + bits_len);
        REQUIRE_OK(bloomline_view_open_parquet_bits(block + header_len, bits_len, &bits));
        for (size_t i = 0; i < n; i++) {
            uint8_t *value = values + i * width;
            width = golden_bytes(text.words[3 + i], value, MOST_BYTES);
            hashes[i] = bloomline_engine_hash(BLOOMLINE_ENGINE_PARQUET, value, width);
            CHECK_U64(hashes[i], bloomline_view_hash(&view, value, width));
            CHECK(bloomline_view_contains(&view, value, width) && bloomline_view_contains(&bits, value, width));
            if (!of_one_width) width = 0;
        }
        if (of_one_width) {
            memset(fixed, 0, sizeof fixed);
            bloomline_parquet_hash_fixed(values, width, n, fixed);
            CHECK(memcmp(hashes, fixed, n * sizeof *hashes) == 0);
        }
        memset(again, 0, sizeof again);
        CHECK_OK(bloomline_parquet_write_header(bits_len, again, sizeof again, &written));
        CHECK_U64(header_len, written);
        CHECK_OK(bloomline_parquet_insert_hashes(again + written, bits_len, hashes, n));
        CHECK_WITH(memcmp(again, block, len) == 0, "%s", text.words[1]);
        filters++;
    }
    CHECK_U64(21, filters);
}

/* Headers with fields that nobody knows, and what is no header: also cut at every byte, before memory
 * that may not be touched. */
static void headers_of_the_golden_file(void)
{
    golden_text text;
    size_t accepted = 0, rejected = 0;
    fenced memory = fenced_new(ROOM);
    golden_open(&text, "parquet/", "headers", ".txt");
    while (golden_line(&text)) {
        static uint8_t whole[ROOM];
        size_t len = golden_bytes(text.words[0], whole, sizeof whole), header_len = 7, bits_len = 7;
        uint8_t *bytes = at_fence(memory, 1, len);
        memcpy(bytes, whole, len);
        bloomline_status status = bloomline_parquet_read_header(bytes, len, &header_len, &bits_len);
        bloomline_view view;
        if (strcmp(text.words[1], "accepted") == 0) {
            CHECK_OK(status);
            CHECK_U64(golden_number(text.words[2], 10), header_len);
            CHECK_U64(golden_number(text.words[3], 10), bits_len);
            CHECK_STATUS(BLOOMLINE_ERR_TRUNCATED, bloomline_view_open_engine(BLOOMLINE_ENGINE_PARQUET, bytes, len, &view));
            for (size_t given = 0; given < header_len; given++) {
                bytes = at_fence(memory, 1, given);
                memcpy(bytes, whole, given);
                CHECK_STATUS(BLOOMLINE_ERR_TRUNCATED,
                             bloomline_parquet_read_header(bytes, given, &header_len, &bits_len));
            }
            accepted++;
        } else {
            bloomline_status expected = (bloomline_status)golden_number(text.words[2], 10);
            CHECK_STATUS(expected, status);
            CHECK(header_len == 7 && bits_len == 7);
            CHECK_STATUS(expected, bloomline_view_open_engine(BLOOMLINE_ENGINE_PARQUET, bytes, len, &view));
            if (expected == BLOOMLINE_ERR_LAYOUT) CHECK(bloomline_view_contains(&view, "plum", 4));
            rejected++;
        }
    }
    fenced_free(memory);
    CHECK(accepted > 40 && rejected > 30);
}

/* The header that the specification gives, in a buffer of its length and one too short. */
static void headers_that_are_written(void)
{
    static const struct { size_t bits_len; const char *hex; } headers[] = {
        {32, "15401c1c00001c1c00001c1c000000"},
        {64, "1580011c1c00001c1c00001c1c000000"},
        {1024, "1580101c1c00001c1c00001c1c000000"},
        {134217728, "1580808080011c1c00001c1c00001c1c000000"},
    };
    for (size_t h = 0; h < sizeof headers / sizeof headers[0]; h++) {
        uint8_t expected[20], out[20];
        size_t len = golden_bytes(headers[h].hex, expected, 19), written = 7;
        expected[len] = 0xA5;
        memset(out, 0xA5, sizeof out);
        CHECK_STATUS(BLOOMLINE_ERR_BUFFER_TOO_SMALL,
                     bloomline_parquet_write_header(headers[h].bits_len, out, len - 1, &written));
        CHECK(written == 7 && out[0] == 0xA5);
        CHECK_OK(bloomline_parquet_write_header(headers[h].bits_len, out, len, &written));
        CHECK_U64(len, written);
        CHECK(memcmp(out, expected, len + 1) == 0);
        CHECK_OK(bloomline_parquet_write_header(headers[h].bits_len, out, len, NULL));
    }
}

/* The lines of docs/PARQUET.md, which tests/pages compares. */
static void as_the_page_shows(void)
{
    enum { n = 3 };
    static const int64_t ids[n] = {1, -2, 1234567890123}, id = -2;
    uint8_t block[64];
    uint64_t hashes[n];
    bloomline_status status;

    const uint32_t engine = BLOOMLINE_ENGINE_PARQUET;
    const double bits_per_key = bloomline_parquet_bits_per_key(0.01);
    const size_t len = bloomline_engine_block_len(engine, n, bits_per_key); /* the room for 'block' */
    REQUIRE(len <= sizeof block);
    bloomline_parquet_hash_fixed(ids, sizeof *ids, n, hashes); /* ids are int64_t, little-endian */
    status = bloomline_engine_block_build(engine, hashes, n, bits_per_key, block, len, NULL);
    CHECK_OK(status);

    bloomline_view view;
    status = bloomline_view_open_engine(engine, block, len, &view);
    CHECK_OK(status);
    bool maybe = bloomline_view_contains(&view, &id, sizeof id);
    /* 'ids' are not little-endian everywhere, but the same bytes were hashed. */
    CHECK(maybe && !bloomline_view_contains(&view, "plum", 4));
}

/* Values side by side of any width, at any address; what is hashed is what another program hashes. */
static void hashes_of_columns(void)
{
    static const struct { size_t width; const char *value; uint64_t hash; } known[] = {
        {0, "", 0xef46db3751d8e999u},
        {4, "\1\0\0\0", 0xf42f94001fcb5351u},
        {5, "hello", 0x26c7827d889f6da3u},
        {8, "\1\0\0\0\0\0\0\0", 0x9f29cb17a2a49995u},
    };
    for (size_t k = 0; k < 4; k++) {
        uint64_t hash = 0;
        bloomline_parquet_hash_fixed(known[k].value, known[k].width, 1, &hash);
        CHECK_U64(known[k].hash, hash);
        CHECK_U64(known[k].hash, bloomline_engine_hash(BLOOMLINE_ENGINE_PARQUET, known[k].value, known[k].width));
    }
    enum { VALUES = 100 };
    static uint8_t room[VALUES * 40 + 1];
    uint64_t hashes[VALUES + 1];
    for (size_t i = 0; i < sizeof room; i++) room[i] = (uint8_t)(i * 0x9E3779B97F4A7C15u >> 40);
    for (size_t width = 0; width <= 40; width++) {
        for (size_t n = 0; n <= VALUES; n += 33) {
            memset(hashes, 0xA5, sizeof hashes);
            bloomline_parquet_hash_fixed(room + 1, width, n, hashes);
            for (size_t i = 0; i < n; i++)
                CHECK_U64(bloomline_engine_hash(BLOOMLINE_ENGINE_PARQUET, room + 1 + i * width, width), hashes[i]);
            CHECK_U64(0xA5A5A5A5A5A5A5A5u, hashes[n]);
        }
    }
    hashes[0] = 7;
    bloomline_parquet_hash_fixed(NULL, 8, 1, hashes);
    bloomline_parquet_hash_fixed(room, SIZE_MAX / 2, 3, hashes); /* more than memory has */
    bloomline_parquet_hash_fixed(room, 8, 1, NULL);
    bloomline_parquet_hash_fixed(NULL, 8, 0, NULL);
    CHECK_U64(7, hashes[0]);
}

/* Any number of blocks, also those that the size by rate never gives, between pages that may not be
 * touched. */
static void bits_without_a_header(void)
{
    static const size_t counts[] = {1, 2, 3, 7, 64, 101};
    enum { KEYS = 1000 };
    static uint64_t hashes[KEYS];
    for (uint64_t i = 0; i < KEYS; i++) hashes[i] = bloomline_engine_hash(BLOOMLINE_ENGINE_PARQUET, &i, sizeof i);
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        size_t len = counts[c] * BLOCK, added = 10 * counts[c] < KEYS / 2 ? 10 * counts[c] : KEYS / 2;
        fenced memory = fenced_new(len);
        uint8_t *expected = malloc(len);
        REQUIRE(expected != NULL);
        plain(expected, len, hashes, added);
        for (int back = 0; back < 2; back++) {
            uint8_t *bits = at_fence(memory, back, len);
            block_shape s = shape_of(bits, len);
            bloomline_view view;
            uint64_t bitmap[(KEYS + 63) / 64];
            size_t present = 0, wrong = 0;
            memset(bits, 0, len);
            /* Few and many take different ways. */
            REQUIRE_OK(bloomline_parquet_insert_hashes(bits, len, hashes, 3));
            REQUIRE_OK(bloomline_parquet_insert_hashes(bits, len, hashes + 3, added - 3));
            CHECK(memcmp(bits, expected, len) == 0);
            REQUIRE_OK(bloomline_view_open_parquet_bits(bits, len, &view));
            size_t told = bloomline_view_contains_hashes(&view, hashes, KEYS, bitmap);
            for (size_t i = 0; i < KEYS; i++) {
                bool is_in = block_contains(&s, hashes[i]);
                present += is_in;
                wrong += is_in != (bitmap[i / 64] >> (i % 64) & 1);
                wrong += is_in != bloomline_view_contains_hash(&view, hashes[i]);
            }
            CHECK_U64(0, wrong);
            CHECK_U64(present, told);
        }
        free(expected);
        fenced_free(memory);
    }
}

/* What is folded is the filter that the keys would have had in fewer blocks. */
static void folding(void)
{
    static const struct { size_t blocks, keys; double rate; size_t left; } cases[] = {
        {1024, 1, 0.01, 1}, {96, 10, 0.9, 3}, {7, 10, 0.5, 7}, {64, 3000, 0.01, 64}, {32, 320, 1e-9, 32},
    };
    static uint8_t bits[1024 * BLOCK], expected[1024 * BLOCK];
    static uint64_t hashes[3000];
    for (uint64_t i = 0; i < 3000; i++) hashes[i] = bloomline_engine_hash(BLOOMLINE_ENGINE_PARQUET, &i, sizeof i);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        size_t left = 7;
        plain(bits, cases[c].blocks * BLOCK, hashes, cases[c].keys);
        REQUIRE_OK(bloomline_parquet_fold(bits, cases[c].blocks * BLOCK, cases[c].rate, &left));
        CHECK_U64(cases[c].left * BLOCK, left);
        plain(expected, left, hashes, cases[c].keys);
        CHECK(memcmp(bits, expected, left) == 0);
    }
}

/* The numbers that other writers have in their tests, and the sizes that follow. */
static void sizes(void)
{
    static const struct { uint64_t keys; double rate; size_t bits; } known[] = {
        {10, 0.1, 57}, {10, 0.01, 96}, {10, 0.001, 146}, {1000, 0.01, 9681}, {1000000, 0.001, 14607697},
    };
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        double per_key = bloomline_parquet_bits_per_key(known[k].rate);
        size_t len = BLOCK;
        while (len < known[k].bits / 8) len *= 2;
        CHECK_U64(known[k].bits, (uint64_t)((double)known[k].keys * per_key));
        CHECK_U64(len, bloomline_parquet_bits_len(known[k].keys, per_key));
    }
    CHECK_U64(BLOCK, bloomline_parquet_bits_len(0, 10));
    CHECK_U64(128 << 20, bloomline_parquet_bits_len(UINT64_MAX, 10));
    static const double none[] = {0, -1};
    for (size_t i = 0; i < 2; i++) {
        CHECK(!(bloomline_parquet_bits_per_key(none[i]) > 0) && !(bloomline_parquet_bits_per_key(1 - none[i]) > 0));
        CHECK_U64(0, bloomline_parquet_bits_len(10, none[i]));
        CHECK_U64(0, bloomline_engine_block_len(BLOOMLINE_ENGINE_PARQUET, 10, none[i]));
    }
}

/* Bits that are no blocks, and pointers that are none: nothing is written. */
static void bad_input(void)
{
    static const struct { size_t len; bloomline_status status; } lengths[] = {
        {0, BLOOMLINE_ERR_LINE_COUNT}, {1, BLOOMLINE_ERR_TRUNCATED}, {31, BLOOMLINE_ERR_TRUNCATED},
        {33, BLOOMLINE_ERR_TRUNCATED}, {95, BLOOMLINE_ERR_TRUNCATED},
    };
    uint8_t bits[96] = {0}, zeros[96] = {0}, header[19] = {0};
    uint64_t hash = 1;
    size_t len = 7, other = 7;
    bloomline_view view;
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        CHECK_STATUS(lengths[i].status, bloomline_view_open_parquet_bits(bits, lengths[i].len, &view));
        CHECK_STATUS(lengths[i].status, bloomline_parquet_insert_hashes(bits, lengths[i].len, &hash, 1));
        CHECK_STATUS(lengths[i].status, bloomline_parquet_fold(bits, lengths[i].len, 0.01, &len));
        CHECK_STATUS(lengths[i].status, bloomline_parquet_write_header(lengths[i].len, header, sizeof header, &len));
    }
    if (sizeof(size_t) > 4)
        CHECK_STATUS(BLOOMLINE_ERR_LINE_COUNT,
                     bloomline_parquet_write_header((size_t)INT32_MAX + 1, header, sizeof header, &len));
    CHECK_STATUS(BLOOMLINE_ERR_RATE, bloomline_parquet_fold(bits, 64, 0, &len));
    CHECK_STATUS(BLOOMLINE_ERR_RATE, bloomline_parquet_fold(bits, 64, 1, &len));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_view_open_parquet_bits(NULL, 32, &view));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_view_open_parquet_bits(bits, 32, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_parquet_insert_hashes(NULL, 32, &hash, 1));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_parquet_insert_hashes(bits, 32, NULL, 1));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_parquet_fold(NULL, 64, 0.5, &len));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_parquet_fold(bits, 64, 0.5, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_parquet_write_header(32, NULL, 19, &len));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_parquet_read_header(NULL, 19, &len, &other));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_parquet_read_header(header, 19, NULL, &other));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_parquet_read_header(header, 19, &len, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_TRUNCATED, bloomline_parquet_read_header(NULL, 0, &len, &other));
    CHECK_OK(bloomline_parquet_insert_hashes(bits, 32, NULL, 0));
    CHECK(len == 7 && other == 7 && memcmp(bits, zeros, sizeof bits) == 0 && header[0] == 0);
}

int main(int argc, char **argv)
{
    check_begin("test_parquet");
    golden_begin(argc, argv);
    RUN(filters_of_a_file);
    RUN(headers_of_the_golden_file);
    RUN(headers_that_are_written);
    RUN(as_the_page_shows);
    RUN(hashes_of_columns);
    RUN(bits_without_a_header);
    RUN(folding);
    RUN(sizes);
    RUN(bad_input);
    return check_end();
}
