/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_mutations.c - damaged bytes: an encoded filter cut at every length, every byte of it
 * altered in many ways, numbers that lie under right checksums, noise; and filters at every
 * address modulo 64. Nothing may crash or read past its buffer (each is malloced at its exact
 * length, for AddressSanitizer and valgrind), and what is accepted has lost no key. Filters of
 * every layout are cut and altered so, and offered to the readers of all kinds.
 */
#include "check.h"
#include "definition.h"
#include "probes.h"

enum { KEYS = 40, MOST_LINES = 9, CLASSIC = 6, CUCKOO = 7, STATIC = 8, GROWING = 11 /* layouts */ };

static uint64_t hashes[KEYS];
static uint64_t accepted, rejected;

/* Lets a view answer everything, to see that it reads nothing it should not. */
static size_t probe_all(const bloomline_view *view)
{
    uint64_t bitmap[1] = {0};
    size_t count = bloomline_view_contains_hashes(view, hashes, KEYS, bitmap), single = 0;
    for (size_t i = 0; i < KEYS; i++) {
        bool present = bloomline_view_contains_hash(view, hashes[i]);
        CHECK(present == bit_of(bitmap, i));
        single += present;
    }
    CHECK_U64(count, single);
    bool first = bloomline_view_contains_hash(view, hashes[0]);
    CHECK_U64(first, bloomline_views_contain_hash(view, 1, hashes[0], bitmap));
    return count;
}

/* Offers bytes to all three readers. Returns whether they passed for a sound filter; then
   all keys are in it. 'lines_are_sound': an unverified view has lost none either. */
static bool offer(const uint8_t *data, size_t len, bool lines_are_sound)
{
    uint8_t *exact = malloc(len > 0 ? len : 1);
    REQUIRE(exact != NULL);
    memcpy(exact, data, len);
    bloomline_view view;
    bloomline_filter *filter = NULL;
    bloomline_status opened = bloomline_view_open(exact, len, 0, &view);
    if (opened == BLOOMLINE_OK) CHECK_U64(KEYS, probe_all(&view));
    bloomline_status unverified = bloomline_view_open(exact, len, BLOOMLINE_VIEW_UNVERIFIED, &view);
    if (unverified == BLOOMLINE_OK) {
        size_t count = probe_all(&view);
        if (lines_are_sound) CHECK_U64(KEYS, count);
    }
    bloomline_status decoded = bloomline_filter_decode(exact, len, &filter);
    free(exact);
    if (decoded == BLOOMLINE_OK) {
        for (size_t i = 0; i < KEYS; i++) CHECK(bloomline_filter_contains_hash(filter, hashes[i]));
        bloomline_filter_free(filter);
    }
    /* A view can be one of a cuckoo filter or a static one, a filter cannot. */
    uint64_t layout = len >= FOOTER_BYTES ? get_le(data + len - FOOTER_BYTES + AT_LAYOUT, 2) : 0;
    if ((layout != CUCKOO && layout != STATIC) || decoded != BLOOMLINE_ERR_LAYOUT) CHECK_STATUS(opened, decoded);
    if (opened == BLOOMLINE_OK) CHECK_OK(unverified);
    if (opened == BLOOMLINE_OK) accepted++;
    else rejected++;
    return opened == BLOOMLINE_OK;
}

/* An encoded filter of 'line_count' lines with all keys. Returns its length. */
static size_t make(uint8_t *data, uint64_t line_count, uint32_t k)
{
    bloomline_params params = {line_count, k, 0, 9};
    REQUIRE_OK(bloomline_block_build(&params, hashes, KEYS, data, (MOST_LINES + 1) * LINE_BYTES));
    return bloomline_block_len(&params);
}

static void cut_at_every_length(void)
{
    uint8_t data[(MOST_LINES + 1) * LINE_BYTES + 1] = {0};
    for (uint64_t lines = 1; lines <= MOST_LINES; lines += 2) {
        size_t len = make(data, lines, 6);
        for (size_t cut = 0; cut < len; cut++) {
            CHECK_WITH(!offer(data, cut, false), "cut to %zu of %zu", cut, len);
            CHECK_WITH(cut == 0 || !offer(data + cut, len - cut, false), "%zu missing in front", cut);
        }
        CHECK(offer(data, len, true));
        data[len] = data[len - 1];
        CHECK(!offer(data, len + 1, false));
    }
}

static void every_byte_altered(void)
{
    static const uint8_t masks[] = {0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xFF, 0x55, 0x7F};
    uint8_t data[(MOST_LINES + 1) * LINE_BYTES];
    for (uint64_t lines = 1; lines <= 3; lines++) {
        for (uint32_t k = 6; k <= 12; k += 6) {
            size_t len = make(data, lines, k);
            for (size_t i = 0; i < len; i++) {
                for (size_t m = 0; m < sizeof masks; m++) {
                    data[i] ^= masks[m];
                    CHECK_WITH(!offer(data, len, i >= len - FOOTER_BYTES), "byte %zu ^ 0x%02x", i, masks[m]);
                    data[i] ^= masks[m];
                }
            }
            CHECK(offer(data, len, true));
        }
    }
}

/* Whoever writes checksums can also write lies. Some are sound filters (another key count);
   the rest is refused; no number makes a reader leave the bytes. */
static void altered_footers_with_right_checksums(void)
{
    uint8_t data[(MOST_LINES + 1) * LINE_BYTES];
    size_t len = make(data, 4, 6);
    uint8_t *footer = data + len - FOOTER_BYTES;
    for (int i = 0; i < AT_LINES_CHECKSUM; i++) {
        for (unsigned value = 0; value <= 255; value++) {
            uint8_t kept = footer[i];
            footer[i] = (uint8_t)value;
            definition_seal_footer(data, len);
            bool hint = i < AT_LINE_COUNT || (i >= AT_SEED && i < AT_K);
            /* The bits of keys with a smaller k are a part of those that are set; one with a
               larger k, or of another layout of as many bytes, may be missed, as the writer of
               such a footer wants it. */
            bool harmless = hint || value == kept;
            bloomline_view view;
            if (harmless) {
                CHECK_WITH(offer(data, len, true), "byte %d of the footer = %u", i, value);
            } else if ((i == AT_K && value >= 1 && value <= MAX_K) || (i == AT_LAYOUT && (value == CLASSIC || value == STATIC))) {
                CHECK_OK(bloomline_view_open(data, len, 0, &view));
                probe_all(&view);
            } else {
                CHECK_WITH(!offer(data, len, true), "byte %d of the footer = %u", i, value);
            }
            footer[i] = kept;
        }
    }
    definition_seal_footer(data, len);
    CHECK(offer(data, len, true));
}

static void line_counts_that_lie(void)
{
    uint8_t data[(MOST_LINES + 1) * LINE_BYTES];
    size_t len = make(data, 4, 6);
    for (unsigned shift = 0; shift < 64; shift++) {
        for (uint64_t near = 0; near < 9; near++) {
            uint64_t count = ((uint64_t)1 << shift) + near - 4;
            put_le(data + len - FOOTER_BYTES + AT_LINE_COUNT, 8, count);
            definition_seal_footer(data, len);
            CHECK_WITH(offer(data, len, count == 4) == (count == 4), "line count 0x%" PRIx64, count);
        }
    }
}

static void noise(void)
{
    uint64_t state = 77;
    uint8_t data[(MOST_LINES + 1) * LINE_BYTES], sound[(MOST_LINES + 1) * LINE_BYTES];
    size_t len = make(sound, 5, 6);
    for (int round = 0; round < 3000; round++) {
        /* Noise that ends as a filter does, behind more and more of what is checked. */
        size_t size = round % 2 ? len : next_random(&state) % sizeof data;
        for (size_t i = 0; i < size; i++) data[i] = (uint8_t)next_random(&state);
        if (size >= FOOTER_BYTES) {
            uint8_t *footer = data + size - FOOTER_BYTES;
            if (round % 3 > 0) memcpy(footer + AT_MAGIC, sound + len - 8, 8);
            if (round % 3 > 1) memcpy(footer + AT_LAYOUT, sound + len - FOOTER_BYTES + AT_LAYOUT, 12);
            if (round % 5 > 1) put_le(footer + AT_K, 4, next_random(&state) % 20);
            if (round % 5 > 3) put_le(footer + AT_LINE_COUNT, 8, next_random(&state) % 12);
            definition_seal(data, size);
        }
        /* Sound by chance: then not these keys. */
        bloomline_view view;
        if (bloomline_view_open(data, size, 0, &view) == BLOOMLINE_OK) probe_all(&view);
        else CHECK(!offer(data, size, false));
    }
}

static void every_address_modulo_64(void)
{
    enum { ROOM = (MOST_LINES + 1) * LINE_BYTES };
    uint8_t data[ROOM], *buffer = malloc(ROOM + 2 * LINE_BYTES);
    REQUIRE(buffer != NULL);
    size_t len = make(data, MOST_LINES, 8);
    uintptr_t misfit = (uintptr_t)buffer % LINE_BYTES;
    for (size_t offset = 0; offset < LINE_BYTES; offset++) {
        uint8_t *at = buffer + (LINE_BYTES - misfit) % LINE_BYTES + offset;
        memcpy(at, data, len);
        bloomline_view view;
        bloomline_filter *filter = NULL;
        CHECK_OK(bloomline_view_open(at, len, 0, &view));
        CHECK_U64(KEYS, probe_all(&view));
        CHECK_OK(bloomline_view_open(at, len, BLOOMLINE_VIEW_UNVERIFIED, &view));
        uint64_t absent[200], bitmap[4];
        fill_hashes(absent, 200, 55);
        bloomline_view_contains_hashes(&view, absent, 200, bitmap);
        for (size_t i = 0; i < 200; i++) {
            CHECK(bit_of(bitmap, i) == definition_contains(data, MOST_LINES, 8, absent[i]));
        }
        CHECK_OK(bloomline_filter_decode(at, len, &filter));
        /* Written there, with what is around untouched. */
        bloomline_params params = {MOST_LINES, 8, 0, 9};
        memset(buffer, 0xC3, ROOM + 2 * LINE_BYTES);
        CHECK_OK(bloomline_block_build(&params, hashes, KEYS, at, len));
        CHECK(memcmp(at, data, len) == 0);
        memset(at, 0xC3, len);
        CHECK_OK(bloomline_filter_encode(filter, at, len, NULL));
        CHECK(memcmp(at, data, len) == 0);
        memset(at, 0xC3, len);
        size_t same = 0;
        while (same < ROOM + 2 * LINE_BYTES && buffer[same] == 0xC3) same++;
        CHECK_U64(ROOM + 2 * LINE_BYTES, same);
        bloomline_filter_free(filter);
    }
    free(buffer);
}

/* ---- every layout ---- */

#define READER(kind)                                                                    \
    static bloomline_status read_##kind(const uint8_t *data, size_t len)                \
    {                                                                                   \
        bloomline_##kind *made = NULL;                                                  \
        bloomline_status status = bloomline_##kind##_decode(data, len, &made);          \
        CHECK((status == BLOOMLINE_OK) == (made != NULL));                              \
        bloomline_##kind##_free(made);                                                  \
        return status;                                                                  \
    }
READER(filter)
READER(counting)
READER(scalable)
READER(window)
READER(cuckoo)
READER(growing)

static bloomline_status read_view(const uint8_t *data, size_t len)
{
    bloomline_view view;
    return bloomline_view_open(data, len, 0, &view);
}

/* What it opens is probed, in altered lines too. */
static bloomline_status read_unverified(const uint8_t *data, size_t len)
{
    bloomline_view view;
    bloomline_status status = bloomline_view_open(data, len, BLOOMLINE_VIEW_UNVERIFIED, &view);
    if (status == BLOOMLINE_OK) CHECK(probe_all(&view) <= KEYS);
    return status;
}

#define LAYOUT(number) (1u << (number))

/* All readers, each with the layouts that it takes. */
static const struct {
    const char *name;
    bloomline_status (*read)(const uint8_t *data, size_t len);
    unsigned takes;
} readers[] = {
    {"view", read_view, LAYOUT(1) | LAYOUT(2) | LAYOUT(CLASSIC) | LAYOUT(CUCKOO)},
    {"unverified view", read_unverified, LAYOUT(1) | LAYOUT(2) | LAYOUT(CLASSIC) | LAYOUT(CUCKOO)},
    {"filter", read_filter, LAYOUT(1) | LAYOUT(2) | LAYOUT(CLASSIC)},
    {"counting", read_counting, LAYOUT(2)},
    {"scalable", read_scalable, LAYOUT(3)},
    {"window", read_window, LAYOUT(4)},
    {"cuckoo", read_cuckoo, LAYOUT(CUCKOO)},
    {"growing", read_growing, LAYOUT(GROWING)},
};

/* Those of which 'encoded' makes a filter. */
static const unsigned layouts[] = {1, 2, 3, 4, CLASSIC, CUCKOO, GROWING};
enum { LAYOUTS = sizeof layouts / sizeof layouts[0] };

/* Offers bytes to all readers: those that take the layout give this status, the unverified
   view 'unverified', and the others 'elsewhere'. */
static void offer_to_all(const uint8_t *data, size_t len, unsigned layout, bloomline_status status,
                         bloomline_status unverified, bloomline_status elsewhere, const char *what, size_t at)
{
    for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++) {
        bloomline_status expected = readers[i].read == read_unverified ? unverified : status;
        if ((readers[i].takes & LAYOUT(layout)) == 0) expected = elsewhere;
        bloomline_status given = readers[i].read(data, len);
        CHECK_WITH(given == expected, "layout %u, %s %d: %s gives %d, not %d", layout, what, (int)at, readers[i].name,
                   (int)given, (int)expected);
    }
}

/* The encoded filter of a kind, of a few keys, in memory of its length. */
#define ENCODE(kind, new_call, insert_call)                                             \
    do {                                                                                \
        bloomline_##kind *filter = NULL;                                                \
        REQUIRE_OK(new_call);                                                           \
        insert_call;                                                                    \
        *len = bloomline_##kind##_encoded_len(filter);                                  \
        data = malloc(*len);                                                            \
        REQUIRE(data != NULL);                                                          \
        REQUIRE_OK(bloomline_##kind##_encode(filter, data, *len, NULL));                \
        bloomline_##kind##_free(filter);                                                \
    } while (0)

static uint8_t *encoded(unsigned layout, size_t *len)
{
    const bloomline_params params = {2, 6, 0, 9};
    const bloomline_cuckoo_params cuckoo = {2, 12, 0, 9};
    uint8_t *data = NULL;
    if (layout == 1)
        ENCODE(filter, bloomline_filter_new(&params, &filter), bloomline_filter_insert_hashes(filter, hashes, KEYS));
    if (layout == 2)
        ENCODE(counting, bloomline_counting_new(&params, &filter), bloomline_counting_insert_hashes(filter, hashes, KEYS, NULL));
    if (layout == 3)
        ENCODE(scalable, bloomline_scalable_new(0, 0.1, 9, &filter),
               CHECK_OK(bloomline_scalable_insert_hashes(filter, hashes, KEYS, NULL)));
    if (layout == 4)
        ENCODE(window, bloomline_window_new(3, KEYS, 0.1, 9, &filter),
               bloomline_window_insert_hashes(filter, hashes, KEYS, NULL));
    if (layout == CUCKOO)
        ENCODE(cuckoo, bloomline_cuckoo_new(&cuckoo, &filter),
               CHECK_OK(bloomline_cuckoo_insert_hashes(filter, hashes, KEYS, NULL)));
    if (layout == GROWING)
        ENCODE(growing, bloomline_growing_new(KEYS, 0.1, 9, &filter),
               CHECK_OK(bloomline_growing_insert_hashes(filter, hashes, KEYS, NULL)));
    if (layout == CLASSIC)
        ENCODE(filter, classic_new(&params, &filter), bloomline_filter_insert_hashes(filter, hashes, KEYS));
    return data;
}

static void every_layout_cut_at_every_length(void)
{
    for (size_t i = 0; i < LAYOUTS; i++) {
        const unsigned layout = layouts[i];
        size_t len;
        uint8_t *data = encoded(layout, &len);
        offer_to_all(data, len, layout, BLOOMLINE_OK, BLOOMLINE_OK, BLOOMLINE_ERR_LAYOUT, "whole", len);
        for (size_t left = 0; left < len; left++) {
            const bloomline_status truncated = BLOOMLINE_ERR_TRUNCATED;
            bloomline_status end = left < FOOTER_BYTES ? truncated : BLOOMLINE_ERR_NOT_A_FILTER;
            bloomline_status elsewhere = left < FOOTER_BYTES ? truncated : BLOOMLINE_ERR_LAYOUT;
            uint8_t *exact = malloc(left > 0 ? left : 1);
            REQUIRE(exact != NULL);
            memcpy(exact, data, left);
            offer_to_all(exact, left, layout, end, end, end, "cut to", left);
            memcpy(exact, data + len - left, left);
            offer_to_all(exact, left, layout, truncated, truncated, elsewhere, "the last", left);
            free(exact);
        }
        free(data);
    }
}

static void every_bit_of_every_layout_altered(void)
{
    for (size_t i = 0; i < LAYOUTS; i++) {
        const unsigned layout = layouts[i];
        size_t len;
        uint8_t *data = encoded(layout, &len);
        for (size_t bit = 0; bit < 8 * len; bit++) {
            size_t at = bit / 8, in_footer = at + FOOTER_BYTES - len;
            bool before = at < len - FOOTER_BYTES;
            bloomline_status status = BLOOMLINE_ERR_CHECKSUM;
            if (!before && in_footer >= AT_MAGIC) status = BLOOMLINE_ERR_NOT_A_FILTER;
            if (!before && (in_footer == AT_VERSION || in_footer == AT_VERSION + 1)) status = BLOOMLINE_ERR_VERSION;
            data[at] ^= (uint8_t)(1 << bit % 8);
            offer_to_all(data, len, layout, status, before ? BLOOMLINE_OK : status,
                         before ? BLOOMLINE_ERR_LAYOUT : status, "bit", bit);
            data[at] ^= (uint8_t)(1 << bit % 8);
        }
        free(data);
    }
}

int main(void)
{
    check_begin("test_mutations");
    fill_hashes(hashes, KEYS, 1);
    RUN(cut_at_every_length);
    RUN(every_byte_altered);
    RUN(altered_footers_with_right_checksums);
    RUN(line_counts_that_lie);
    RUN(noise);
    RUN(every_address_modulo_64);
    RUN(every_layout_cut_at_every_length);
    RUN(every_bit_of_every_layout_altered);
    printf("  %" PRIu64 " inputs accepted, %" PRIu64 " rejected\n", accepted, rejected);
    return check_end();
}
