/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_group.c - groups: the answers of native filters by the definition, of others by their views,
 * in the order of the views; one key, many keys, pairs; what cannot be answered.
 */
#include "check.h"
#include "definition.h"

enum { MOST = 200, LINES = 20, KEYS = 300, WORDS = (MOST + 63) / 64, PAIRS = 200 };
static const uint64_t SEED = 7;

static struct {
    uint8_t lines[MOST][64 * LINES];
    bloomline_cuckoo *cuckoo;
    bloomline_filter *classic;
    bloomline_view views[MOST];
} members;

static uint64_t hashes[KEYS];

/* What a view is of: native lines, mostly; with 'mixed', others among them. */
enum { NATIVE, NOT_OPENED, CUCKOO, CLASSIC };

static int kind_of(size_t i, bool mixed)
{
    return !mixed ? NATIVE : i % 11 == 0 ? NOT_OPENED : i % 13 == 1 ? CUCKOO : i % 17 == 2 ? CLASSIC : NATIVE;
}

static uint32_t k_of(size_t i, bool mixed)
{
    return !mixed ? 6 : 3 + (uint32_t)(i % 5) * 3;
}

static uint64_t lines_of(size_t i)
{
    return 1 + i % LINES;
}

static void make(bool mixed)
{
    bloomline_params params = {LINES, 6, 0, SEED};
    bloomline_cuckoo_params cuckoo;
    REQUIRE_OK(bloomline_cuckoo_params_for_rate(1000, 0.01, &cuckoo));
    cuckoo.seed = SEED;
    REQUIRE_OK(bloomline_cuckoo_new(&cuckoo, &members.cuckoo));
    params.layout = BLOOMLINE_KIND_CLASSIC;
    REQUIRE_OK(bloomline_filter_new(&params, &members.classic));
    params.layout = 0;
    fill_hashes(hashes, KEYS, 99);
    memset(members.lines, 0, sizeof members.lines);
    for (size_t key = 0; key < KEYS; key++) {
        if (key % 2 == 0) REQUIRE_OK(bloomline_cuckoo_insert_hash(members.cuckoo, hashes[key]));
        if (key % 3 == 0) bloomline_filter_insert_hash(members.classic, hashes[key]);
    }
    for (size_t i = 0; i < MOST; i++) {
        for (size_t key = 0; key < KEYS; key++) {
            if (key % (i + 2) == 0) definition_insert(members.lines[i], lines_of(i), k_of(i, mixed), hashes[key]);
        }
        params.line_count = lines_of(i);
        params.k = k_of(i, mixed);
        switch (kind_of(i, mixed)) {
        case NATIVE:
            REQUIRE_OK(bloomline_lines_view(&params, members.lines[i], (size_t)(64 * lines_of(i)), &members.views[i]));
            break;
        case NOT_OPENED: memset(&members.views[i], i % 2 == 0 ? 0 : 0x5A, sizeof members.views[i]); break;
        case CUCKOO: REQUIRE_OK(bloomline_cuckoo_view(members.cuckoo, &members.views[i])); break;
        default: REQUIRE_OK(bloomline_filter_view(members.classic, &members.views[i])); break;
        }
    }
}

static void drop(void)
{
    bloomline_cuckoo_free(members.cuckoo);
    bloomline_filter_free(members.classic);
}

static bool expected(size_t i, bool mixed, uint64_t hash)
{
    switch (kind_of(i, mixed)) {
    case NATIVE: return definition_contains(members.lines[i], lines_of(i), k_of(i, mixed), hash);
    case NOT_OPENED: return true;
    case CUCKOO: return bloomline_view_contains_hash(&members.views[i], hash);
    default: return bloomline_filter_contains_hash(members.classic, hash);
    }
}

static void check_pairs(const bloomline_group *group, size_t n, bool mixed)
{
    static const size_t counts[] = {0, 1, 16, 63, 64, 65, PAIRS};
    uint32_t numbers[PAIRS];
    uint64_t asked[PAIRS], bitmap[(PAIRS + 63) / 64];
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        size_t count = counts[c], found = 0;
        for (size_t i = 0; i < count; i++) {
            numbers[i] = i % 50 == 49 ? UINT32_MAX - (uint32_t)i : (uint32_t)(i * 31 % (n + 1));
            asked[i] = hashes[i * 7 % KEYS];
        }
        memset(bitmap, 0xFF, sizeof bitmap);
        size_t present = bloomline_group_contains_pairs(group, numbers, asked, count, bitmap);
        for (size_t i = 0; i < count; i++) {
            bool maybe = numbers[i] >= n || expected(numbers[i], mixed, asked[i]);
            CHECK(maybe == bit_of(bitmap, i));
            found += maybe;
        }
        CHECK_U64(found, present);
        CHECK(count % 64 == 0 || bitmap[count / 64] >> (count % 64) == 0);
        CHECK_U64(count, bloomline_group_contains_pairs(group, numbers, asked, count, NULL));
        uint32_t rows[PAIRS + 1];
        uint16_t narrow[PAIRS + 1];
        rows[count] = narrow[count] = 0xBEEF;
        CHECK_U64(found, bloomline_group_select_pairs(group, numbers, asked, count, rows));
        CHECK_U64(found, bloomline_group_select16_pairs(group, numbers, asked, count, narrow));
        CHECK(rows[count] == 0xBEEF && narrow[count] == 0xBEEF);
        for (size_t i = 0, at = 0; i < count; i++) {
            if (!bit_of(bitmap, i)) continue;
            CHECK(rows[at] == i && narrow[at] == i);
            at++;
        }
        /* In no order, with repetitions. */
        size_t left = 0;
        uint32_t expected_rows[PAIRS];
        for (size_t i = 0; i < count; i++) {
            uint32_t row = (uint32_t)(i * 7 % count);
            rows[i] = row;
            narrow[i] = (uint16_t)row;
            if (bit_of(bitmap, row)) expected_rows[left++] = row;
        }
        CHECK_U64(left, bloomline_group_refine_pairs(group, numbers, asked, rows, count));
        CHECK_U64(left, bloomline_group_refine16_pairs(group, numbers, asked, narrow, count));
        for (size_t i = 0; i < left; i++) CHECK(rows[i] == expected_rows[i] && narrow[i] == expected_rows[i]);
    }
}

/* Filter by filter, and any of the keys: those from 'first' on, so many. */
static void check_many(const bloomline_group *group, size_t n, bool mixed, size_t first, size_t keys)
{
    enum { EACH = (KEYS + 63) / 64 };
    static uint64_t rows[MOST * EACH];
    uint64_t some[WORDS + 1];
    size_t each = (keys + 63) / 64, total = 0, maybe = 0;
    memset(rows, 0xFF, sizeof rows);
    memset(some, 0xFF, sizeof some);
    size_t all = bloomline_group_contains_hashes_by_member(group, hashes + first, keys, rows);
    size_t any = bloomline_group_contains_any_hash(group, hashes + first, keys, some);
    for (size_t i = 0; i < n; i++) {
        size_t found = 0;
        for (size_t key = 0; key < keys; key++) {
            bool is_in = expected(i, mixed, hashes[first + key]);
            CHECK(is_in == bit_of(rows + i * each, key));
            found += is_in;
        }
        CHECK(keys % 64 == 0 || rows[i * each + keys / 64] >> (keys % 64) == 0);
        CHECK(bit_of(some, i) == (found > 0));
        maybe += found > 0;
        total += found;
    }
    CHECK_U64(total, all);
    CHECK_U64(maybe, any);
    CHECK(n % 64 == 0 || some[n / 64] >> (n % 64) == 0);
    CHECK_U64(UINT64_MAX, some[(n + 63) / 64]);
}

static void check(bool mixed)
{
    static const size_t counts[] = {0, 1, 2, 63, 64, 65, 128, MOST};
    static uint64_t rows[KEYS * WORDS];
    make(mixed);
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        size_t n = counts[c], words = (n + 63) / 64, total = 0;
        bloomline_view views[MOST];
        bloomline_group *group = NULL;
        memcpy(views, members.views, sizeof views);
        REQUIRE_OK(bloomline_group_new(views, n, &group));
        memset(views, 0, sizeof views); /* they were copied */
        CHECK_U64(n, bloomline_group_view_count(group));
        memset(rows, 0xFF, sizeof rows);
        size_t all = bloomline_group_contains_hashes(group, hashes, KEYS, rows);
        for (size_t key = 0; key < KEYS; key++) {
            uint64_t bitmap[WORDS + 1];
            memset(bitmap, 0xFF, sizeof bitmap);
            size_t found = 0, present = bloomline_group_contains_hash(group, hashes[key], bitmap);
            for (size_t i = 0; i < n; i++) {
                bool maybe = expected(i, mixed, hashes[key]);
                CHECK(maybe == bit_of(bitmap, i));
                found += maybe;
            }
            CHECK_U64(found, present);
            CHECK(n % 64 == 0 || bitmap[n / 64] >> (n % 64) == 0);
            CHECK_U64(UINT64_MAX, bitmap[words]);
            CHECK(memcmp(bitmap, rows + key * words, 8 * words) == 0);
            total += found;
        }
        CHECK_U64(total, all);
        check_pairs(group, n, mixed);
        static const size_t many[] = {0, 1, 4, 5, 64, 65, KEYS - 1};
        for (size_t m = 0; m < sizeof many / sizeof many[0]; m++) check_many(group, n, mixed, m % 2, many[m]);
        bloomline_group_free(group);
    }
    drop();
}

static void native_filters(void) { check(false); }

static void kinds_by_turns(void) { check(true); }

/* Filters of several seeds: by a key each gives its own answer, by a hash all say "maybe". */
static void filters_that_hash_differently(void)
{
    bloomline_filter *filters[70];
    bloomline_view views[71];
    bloomline_group *group;
    for (size_t i = 0; i < 70; i++) {
        bloomline_params params = {10, 6, 0, i / 8};
        REQUIRE_OK(bloomline_filter_new(&params, &filters[i]));
        for (uint64_t key = i; key < 80; key += i + 1) bloomline_filter_insert(filters[i], &key, sizeof key);
        REQUIRE_OK(bloomline_filter_view(filters[i], &views[i]));
    }
    memset(&views[70], 0, sizeof views[70]);
    REQUIRE_OK(bloomline_group_new(views, 71, &group));
    for (uint64_t key = 0; key < 160; key++) {
        uint64_t bitmap[2] = {UINT64_MAX, UINT64_MAX};
        size_t found = 0, present = bloomline_group_contains(group, &key, sizeof key, bitmap);
        for (size_t i = 0; i < 71; i++) {
            CHECK(bit_of(bitmap, i) == bloomline_view_contains(&views[i], &key, sizeof key));
            found += bit_of(bitmap, i);
        }
        CHECK_U64(found, present);
        CHECK(found < 40 && found > 0);
        CHECK_U64(71, bloomline_group_contains_hash(group, bloomline_hash(&key, sizeof key, 0), bitmap));
        CHECK(bitmap[0] == UINT64_MAX && bitmap[1] == 0x7F);
    }
    uint64_t rows[6];
    CHECK_U64(213, bloomline_group_contains_hashes(group, hashes, 3, rows));
    CHECK(rows[4] == UINT64_MAX && rows[5] == 0x7F);
    uint64_t by_member[71];
    CHECK_U64(213, bloomline_group_contains_hashes_by_member(group, hashes, 3, by_member));
    CHECK(by_member[0] == 7 && by_member[70] == 7);
    CHECK_U64(71, bloomline_group_contains_any_hash(group, hashes, 3, rows));
    CHECK(rows[0] == UINT64_MAX && rows[1] == 0x7F);
    CHECK_U64(0, bloomline_group_contains_any_hash(group, hashes, 0, rows));
    CHECK(rows[0] == 0 && rows[1] == 0);
    bloomline_group_free(group);
    /* One seed, and a view that was not opened: alike. */
    uint64_t bitmap, hash = bloomline_hash("none", 4, 0);
    views[8] = views[70];
    REQUIRE_OK(bloomline_group_new(views, 9, &group));
    size_t present = bloomline_group_contains_hash(group, hash, &bitmap);
    CHECK(present < 9 && bitmap >> 8 == 1);
    bloomline_group_free(group);
    for (size_t i = 0; i < 70; i++) bloomline_filter_free(filters[i]);
}

/* Later inserts are seen: a group has no copy of the lines. */
static void a_group_is_of_the_filters_themselves(void)
{
    bloomline_params params = {10, 6, 0, 0};
    bloomline_filter *filter;
    bloomline_view view;
    bloomline_group *group;
    uint64_t bitmap;
    REQUIRE_OK(bloomline_filter_new(&params, &filter));
    REQUIRE_OK(bloomline_filter_view(filter, &view));
    REQUIRE_OK(bloomline_group_new(&view, 1, &group));
    CHECK_U64(0, bloomline_group_contains_hash(group, 5, &bitmap));
    bloomline_filter_insert_hash(filter, 5);
    CHECK_U64(1, bloomline_group_contains_hash(group, 5, &bitmap));
    bloomline_group_free(group);
    bloomline_filter_free(filter);
}

static void check_all_rows(const bloomline_group *group, const uint32_t *numbers, const uint64_t *asked)
{
    uint32_t rows[70] = {0};
    uint16_t narrow[70] = {0};
    CHECK_U64(70, bloomline_group_select_pairs(group, numbers, asked, 70, rows));
    CHECK_U64(70, bloomline_group_select16_pairs(group, numbers, asked, 70, narrow));
    for (size_t i = 0; i < 70; i++) CHECK(rows[i] == i && narrow[i] == i);
    CHECK_U64(70, bloomline_group_refine_pairs(group, numbers, asked, rows, 70));
    CHECK_U64(70, bloomline_group_refine16_pairs(group, numbers, asked, narrow, 70));
    for (size_t i = 0; i < 70; i++) CHECK(rows[i] == i && narrow[i] == i);
}

static void what_cannot_be_answered(void)
{
    bloomline_view views[70];
    bloomline_group *group = NULL;
    uint64_t bitmap[140] = {0}, asked[70] = {0};
    uint32_t numbers[70] = {0};
    memset(views, 0, sizeof views);
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_group_new(views, 70, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_group_new(NULL, 70, &group));
    CHECK(group == NULL);
    REQUIRE_OK(bloomline_group_new(views, 70, &group));
    CHECK_U64(70, bloomline_group_contains_hash(group, 1, bitmap));
    CHECK(bitmap[0] == UINT64_MAX && bitmap[1] == 63 && bitmap[2] == 0);
    CHECK_U64(70, bloomline_group_contains(group, NULL, 1, bitmap));
    CHECK_U64(70, bloomline_group_contains(group, NULL, 0, NULL));
    CHECK_U64(70, bloomline_group_contains_hash(group, 1, NULL));
    CHECK_U64(140, bloomline_group_contains_hashes(group, NULL, 2, bitmap));
    CHECK(bitmap[2] == UINT64_MAX && bitmap[3] == 63 && bitmap[4] == 0);
    CHECK_U64(140, bloomline_group_contains_hashes(group, asked, 2, NULL));
    CHECK_U64(0, bloomline_group_contains_hashes(group, NULL, 0, NULL));
    CHECK_U64(140, bloomline_group_contains_hashes_by_member(group, NULL, 2, bitmap));
    CHECK(bitmap[0] == 3 && bitmap[69] == 3);
    CHECK_U64(140, bloomline_group_contains_hashes_by_member(group, asked, 2, NULL));
    CHECK_U64(0, bloomline_group_contains_hashes_by_member(group, NULL, 0, NULL));
    CHECK_U64(70, bloomline_group_contains_any_hash(group, NULL, 2, bitmap));
    CHECK(bitmap[0] == UINT64_MAX && bitmap[1] == 63);
    CHECK_U64(70, bloomline_group_contains_any_hash(group, asked, 2, NULL));
    CHECK_U64(70, bloomline_group_contains_pairs(group, NULL, asked, 70, bitmap));
    CHECK_U64(70, bloomline_group_contains_pairs(group, numbers, NULL, 70, bitmap));
    CHECK_U64(70, bloomline_group_contains_pairs(NULL, numbers, asked, 70, bitmap));
    CHECK(bitmap[0] == UINT64_MAX && bitmap[1] == 63);
    check_all_rows(group, NULL, asked);
    check_all_rows(group, numbers, NULL);
    check_all_rows(NULL, numbers, asked);
    CHECK_U64(70, bloomline_group_select_pairs(group, numbers, asked, 70, NULL));
    CHECK_U64(SIZE_MAX, bloomline_group_select16_pairs(group, numbers, asked, 65537, NULL));
    CHECK_U64(0, bloomline_group_select_pairs(group, NULL, NULL, 0, NULL));
    CHECK_U64(70, bloomline_group_refine_pairs(group, numbers, asked, NULL, 70));
    CHECK_U64(0, bloomline_group_refine16_pairs(group, NULL, NULL, NULL, 0));
    bloomline_group_free(group);
    /* How many filters there are is not known. */
    memset(bitmap, 0, sizeof bitmap);
    CHECK_U64(SIZE_MAX, bloomline_group_contains_hash(NULL, 1, bitmap));
    CHECK_U64(SIZE_MAX, bloomline_group_contains(NULL, "a", 1, bitmap));
    CHECK_U64(SIZE_MAX, bloomline_group_contains_hashes(NULL, asked, 2, bitmap));
    CHECK_U64(SIZE_MAX, bloomline_group_contains_hashes_by_member(NULL, asked, 2, bitmap));
    CHECK_U64(SIZE_MAX, bloomline_group_contains_any_hash(NULL, asked, 2, bitmap));
    CHECK(bitmap[0] == 0);
    CHECK_U64(0, bloomline_group_view_count(NULL));
    bloomline_group_free(NULL);
    REQUIRE_OK(bloomline_group_new(NULL, 0, &group));
    CHECK_U64(0, bloomline_group_contains_hash(group, 1, NULL));
    CHECK_U64(0, bloomline_group_contains_hashes(group, asked, 70, NULL));
    CHECK_U64(0, bloomline_group_contains_hashes_by_member(group, asked, 70, NULL));
    CHECK_U64(0, bloomline_group_contains_any_hash(group, asked, 70, NULL));
    CHECK_U64(70, bloomline_group_contains_pairs(group, numbers, asked, 70, bitmap));
    bloomline_group_free(group);
}

int main(void)
{
    check_begin("test_group");
    RUN(native_filters);
    RUN(kinds_by_turns);
    RUN(filters_that_hash_differently);
    RUN(a_group_is_of_the_filters_themselves);
    RUN(what_cannot_be_answered);
    return check_end();
}
