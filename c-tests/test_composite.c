/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_composite.c - views of scalable filters, windows and cascades: the answers of all that takes a
 * view against the definition, part by part; what they tell besides; what is changed after one was
 * made; words that are damaged; NULL.
 */
#include "check.h"
#include "definition.h"
#include "probes.h"

enum { SEED = 9, MOST = 1025, KINDS = 3, EXCLUDED = 4000 };

/* Key i is the text of a number. Those below 'present' are in. */
static char texts[MOST][12];
static bloomline_bytes keys[MOST];
static const bloomline_bytes *pointers[MOST];
static uint64_t hashes[MOST];
static bool expected[MOST];

static bloomline_scalable *scalable;
static bloomline_window *window;
static bloomline_cascade *cascade;

/* Keys of which every second one is in. */
static void make_keys(void)
{
    for (size_t i = 0; i < MOST; i++) {
        keys[i].len = (size_t)snprintf(texts[i], sizeof texts[i], "%0*zu", (int)(i % 9), i);
        keys[i].data = (const uint8_t *)texts[i];
        pointers[i] = &keys[i];
    }
    bloomline_hash_batch(keys, MOST, SEED, hashes);
}

static bool lines_contain(const bloomline_filter *filter, uint64_t hash)
{
    bloomline_view view;
    bloomline_params params;
    size_t len;
    REQUIRE_OK(bloomline_filter_view(filter, &view));
    REQUIRE_OK(filter_params(filter, &params));
    return definition_contains(bloomline_view_lines(&view, &len), params.line_count, params.k, hash);
}

static bool scalable_expected(uint64_t hash)
{
    for (size_t i = 0; i < scalable_about(scalable).stage_count; i++) {
        if (lines_contain(bloomline_scalable_stage(scalable, i), hash)) return true;
    }
    return false;
}

/* The bytes of a window begin with the lines of each generation. */
static bool window_expected(const uint8_t *data, uint64_t hash)
{
    bloomline_window_facts facts = window_about(window);
    bloomline_params params = facts.params;
    for (uint64_t i = 0; i < facts.generations; i++) {
        const uint8_t *lines = data + i * params.line_count * LINE_BYTES;
        if (definition_contains(lines, params.line_count, params.k, hash)) return true;
    }
    return false;
}

/* Many keys, so that stages and generations are full enough for false positives. */
static void make(void)
{
    enum { OTHERS = 3000 };
    uint64_t excluded[EXCLUDED], included[MOST];
    REQUIRE_OK(bloomline_scalable_new(100, 0.2, SEED, &scalable));
    REQUIRE_OK(bloomline_window_new(11, 300, 0.3, SEED, &window));
    size_t n = 0;
    for (size_t i = 0; i < MOST; i += 2) {
        CHECK_OK(bloomline_scalable_insert_hash(scalable, hashes[i], NULL));
        if (i % 100 == 0) bloomline_window_rotate(window);
        bloomline_window_insert_hash(window, hashes[i]);
        included[n++] = hashes[i];
    }
    for (uint64_t i = 0; i < OTHERS; i++) {
        if (i % 300 == 0) bloomline_window_rotate(window);
        CHECK_OK(bloomline_scalable_insert_hash(scalable, bloomline_hash_u64(i, 1), NULL));
        bloomline_window_insert_hash(window, bloomline_hash_u64(i, 1));
    }
    for (uint64_t i = 0; i < EXCLUDED; i++) excluded[i] = bloomline_hash_u64(i, 2);
    REQUIRE_OK(bloomline_cascade_new(included, n, excluded, EXCLUDED, 0, SEED, 1, &cascade));
    CHECK_U64(0, cascade_contains_hashes(cascade, excluded, EXCLUDED, (uint64_t[EXCLUDED / 64 + 1]){0}));
}

static void free_all(void)
{
    bloomline_scalable_free(scalable);
    bloomline_window_free(window);
    bloomline_cascade_free(cascade);
}

/* The view of a kind, and its answers by the definition. Of a cascade the definition is in Rust's
   tests; here each key that is in has its answer, and others the one of a single probe. */
static bloomline_view view_of(int kind)
{
    bloomline_view view;
    uint8_t *data = NULL;
    memset(&view, 0xAA, sizeof view);
    CHECK_OK(kind == 0 ? bloomline_scalable_view(scalable, &view) :
             kind == 1 ? bloomline_window_view(window, &view) :
                         bloomline_cascade_view(cascade, &view));
    if (kind == 1) {
        size_t len = bloomline_window_encoded_len(window);
        data = malloc(len);
        REQUIRE(data != NULL);
        REQUIRE_OK(bloomline_window_encode(window, data, len, NULL));
    }
    size_t right = 0, wrong = 0;
    for (size_t i = 0; i < MOST; i++) {
        expected[i] = kind == 0 ? scalable_expected(hashes[i]) :
                      kind == 1 ? window_expected(data, hashes[i]) :
                                  i % 2 == 0 || bloomline_view_contains_hash(&view, hashes[i]);
        right += i % 2 == 0 && expected[i];
        wrong += i % 2 == 1 && expected[i];
    }
    free(data);
    if (kind != 1) CHECK_U64((MOST + 1) / 2, right);
    CHECK(wrong > 5 && wrong < 300);
    return view;
}

static void check_bits(const uint64_t *bitmap, size_t n)
{
    size_t unlike = 0;
    for (size_t i = 0; i < n; i++) unlike += bit_of(bitmap, i) != expected[i];
    CHECK_U64(0, unlike);
    if (n % 64 != 0) CHECK_U64(0, bitmap[n / 64] >> (n % 64));
}

static void answers(void)
{
    static uint64_t bitmap[MOST / 64 + 1];
    bool present[MOST];
    for (int kind = 0; kind < KINDS; kind++) {
        bloomline_view view = view_of(kind);
        bloomline_contains_fn contains = bloomline_view_contains_fn(&view);
        for (size_t i = 0; i < MOST; i++) {
            CHECK(bloomline_view_contains_hash(&view, hashes[i]) == expected[i]);
            CHECK(bloomline_view_contains(&view, keys[i].data, keys[i].len) == expected[i]);
            CHECK(contains(&view, keys[i].data, keys[i].len) == expected[i]);
            CHECK_U64(hashes[i], bloomline_view_hash(&view, keys[i].data, keys[i].len));
        }
        for (size_t n = 1; n <= MOST; n += n < 70 || n > 1022 ? 1 : n == 70 ? 953 : 1) {
            size_t count = 0;
            for (size_t i = 0; i < n; i++) count += expected[i];
            memset(bitmap, 0xAA, sizeof bitmap);
            CHECK_U64(count, bloomline_view_contains_hashes(&view, hashes, n, bitmap));
            check_bits(bitmap, n);
            memset(bitmap, 0xAA, sizeof bitmap);
            CHECK_U64(count, bloomline_view_contains_keys(&view, keys, n, bitmap));
            check_bits(bitmap, n);
            bloomline_view_contains_each(&view, pointers, n, present);
            size_t unlike = 0;
            for (size_t i = 0; i < n; i++) unlike += present[i] != expected[i];
            CHECK_U64(0, unlike);
        }
        /* Keys that are not there may be in. */
        bloomline_bytes broken[3] = {{NULL, 3}, {(const uint8_t *)"plum", SIZE_MAX}, {keys[1].data, keys[1].len}};
        CHECK_U64(2u + expected[1], bloomline_view_contains_keys(&view, broken, 3, bitmap));
        CHECK_U64(3u | (uint64_t)expected[1] << 2, bitmap[0]);
        CHECK(bloomline_view_contains(&view, NULL, 1));
        CHECK_U64(5, bloomline_view_contains_hashes(&view, NULL, 5, bitmap));
        CHECK_U64(5, bloomline_view_contains_hashes(&view, hashes, 5, NULL));
    }
}

/* Among views of all kinds, in any order; and as the shards of a set. */
static void many_views(void)
{
    enum { VIEWS = 70 };
    bloomline_filter *plain = NULL;
    bloomline_view views[VIEWS];
    const bloomline_params params = {40, 6, 0, SEED};
    uint64_t bitmap[VIEWS / 64 + 1], shards[MOST / 64 + 1], random = 4;
    bool all[KINDS + 1][MOST];
    REQUIRE_OK(bloomline_filter_new(&params, &plain));
    for (size_t i = 0; i < MOST; i += 3) bloomline_filter_insert_hash(plain, hashes[i]);
    for (size_t i = 0; i < MOST; i++) all[KINDS][i] = lines_contain(plain, hashes[i]);
    bloomline_view of[KINDS + 1];
    for (int kind = 0; kind < KINDS; kind++) {
        of[kind] = view_of(kind);
        memcpy(all[kind], expected, sizeof expected);
    }
    REQUIRE_OK(bloomline_filter_view(plain, &of[KINDS]));
    for (size_t n = 1; n <= VIEWS; n += n < 5 ? 1 : 13) {
        size_t kinds[VIEWS];
        for (size_t i = 0; i < n; i++) {
            kinds[i] = next_random(&random) % (n < 4 ? KINDS : KINDS + 1);
            views[i] = of[kinds[i]];
        }
        for (size_t key = 0; key < MOST; key += 7) {
            size_t count = 0;
            for (size_t i = 0; i < n; i++) count += all[kinds[i]][key];
            CHECK_U64(count, bloomline_views_contain_hash(views, n, hashes[key], bitmap));
            for (size_t i = 0; i < n; i++) CHECK(bit_of(bitmap, i) == all[kinds[i]][key]);
            CHECK_U64(count, bloomline_views_contain(views, n, keys[key].data, keys[key].len, bitmap));
            for (size_t i = 0; i < n; i++) CHECK(bit_of(bitmap, i) == all[kinds[i]][key]);
        }
        for (size_t of_keys = 3; of_keys <= MOST; of_keys += 511) {
            bloomline_shards_contain_hashes(views, n, hashes, of_keys, shards);
            for (size_t i = 0; i < of_keys; i++) {
                CHECK(bit_of(shards, i) == all[kinds[bloomline_shard_of(hashes[i], n)]][i]);
            }
        }
    }
    bloomline_filter_free(plain);
}

/* What they tell is that of their parts. No parameters of one filter, and no lines, are theirs. */
static void facts(void)
{
    for (int kind = 0; kind < KINDS; kind++) {
        bloomline_view view = view_of(kind);
        bloomline_params params;
        size_t len = 99;
        CHECK_STATUS(BLOOMLINE_ERR_LAYOUT, bloomline_view_shape(&view, &params));
        CHECK(bloomline_view_lines(&view, &len) == NULL && len == 0);
        double rate = view_about(&view).estimated_rate, worst = view_about(&view).worst_line_rate;
        CHECK(rate > 0 && rate < 0.5 && worst <= 1);
        double fill = view_about(&view).fill, estimated = view_about(&view).estimated_keys;
        uint64_t counted = bloomline_view_key_count(&view);
        if (kind == 0) {
            double filled = 0, lines = 0, keys_in_all = 0, none = 1, worst_of_all = 0;
            uint64_t count = 0;
            for (size_t i = 0; i < scalable_about(scalable).stage_count; i++) {
                bloomline_view stage;
                REQUIRE_OK(bloomline_filter_view(bloomline_scalable_stage(scalable, i), &stage));
                REQUIRE_OK(bloomline_view_shape(&stage, &params));
                filled += view_about(&stage).fill * (double)params.line_count;
                lines += (double)params.line_count;
                keys_in_all += view_about(&stage).estimated_keys;
                count += bloomline_view_key_count(&stage);
                none *= 1 - view_about(&stage).estimated_rate;
                double of_stage = view_about(&stage).worst_line_rate;
                if (of_stage > worst_of_all) worst_of_all = of_stage;
            }
            CHECK_NEAR(filled / lines, fill, 1e-12);
            CHECK_NEAR(keys_in_all, estimated, 1e-6);
            CHECK_NEAR(1 - none, rate, 1e-12);
            CHECK_NEAR(worst_of_all, worst, 1e-12);
            CHECK_U64(count, counted);
        } else if (kind == 1) {
            uint64_t count = 0;
            for (uint32_t age = 0; age < window_about(window).generations; age++) {
                count += bloomline_window_key_count(window, age);
            }
            CHECK_U64(count, counted);
            CHECK_NEAR((double)count, estimated, (double)count * 0.1);
            CHECK(fill > 0.2 && fill < 0.6 && worst > rate / 11);
        } else {
            CHECK_U64((MOST + 1) / 2, counted);
            CHECK_NEAR((MOST + 1) / 2, estimated, 0);
            bloomline_cascade_facts facts;
            REQUIRE_OK(bloomline_cascade_about(cascade, &facts));
            CHECK_NEAR(facts.unknown_rate, rate, 0);
            CHECK(worst == rate && fill > 0 && fill < 1);
        }
    }
}

/* A view leads to the handle: what comes in later is seen, in stages that were not there, too. */
static void later_changes_are_seen(void)
{
    enum { LATER = 5000 };
    static uint64_t later[LATER], bitmap[LATER / 64 + 1];
    bloomline_scalable *growing = NULL;
    bloomline_window *turning = NULL;
    bloomline_view view, same;
    for (uint64_t i = 0; i < LATER; i++) later[i] = bloomline_hash_u64(i, 5);
    REQUIRE_OK(bloomline_scalable_new(32, 0.01, SEED, &growing));
    REQUIRE_OK(bloomline_scalable_view(growing, &view));
    for (size_t i = 0; i < LATER; i++) {
        CHECK_OK(bloomline_scalable_insert_hash(growing, later[i], NULL));
        CHECK(bloomline_view_contains_hash(&view, later[i]));
    }
    CHECK(scalable_about(growing).stage_count > 7);
    CHECK_U64(LATER, bloomline_view_contains_hashes(&view, later, LATER, bitmap));
    REQUIRE_OK(bloomline_scalable_view(growing, &same));
    CHECK_U64(bloomline_view_key_count(&same), bloomline_view_key_count(&view));
    CHECK(bloomline_view_key_count(&view) > LATER * 98 / 100);
    CHECK(view_about(&view).fill == view_about(&same).fill);
    bloomline_scalable_free(growing);

    REQUIRE_OK(bloomline_window_new(3, LATER, 0.001, SEED, &turning));
    REQUIRE_OK(bloomline_window_view(turning, &view));
    CHECK_U64(LATER, bloomline_window_insert_hashes(turning, later, LATER, NULL) > 4950 ? LATER : 0);
    for (int slice = 0; slice < 3; slice++) {
        CHECK_U64(LATER, bloomline_view_contains_hashes(&view, later, LATER, bitmap));
        bloomline_window_rotate(turning);
    }
    CHECK_U64(0, bloomline_view_contains_hashes(&view, later, LATER, bitmap));
    CHECK_U64(0, bloomline_view_key_count(&view));
    bloomline_window_free(turning);
}

/* A change of any word but the key count's is seen, by all that takes a view. */
static void damaged_words(void)
{
    uint64_t bitmap[2];
    const bloomline_bytes *key = &keys[1];
    for (int kind = 0; kind < KINDS; kind++) {
        const bloomline_view view = view_of(kind);
        for (unsigned bit = 0; bit < 512; bit++) {
            bloomline_view damaged = view;
            bool present[5] = {false, false, false, false, false};
            const bloomline_bytes *each[5] = {key, key, key, key, key};
            ((unsigned char *)&damaged)[bit / 8] ^= (unsigned char)(1u << bit % 8);
            if (sizeof(void *) != 8 && memcmp(&damaged, &view, 48) == 0) continue; /* nothing is there */
            CHECK(bloomline_view_contains_hash(&damaged, hashes[1]));
            CHECK(bloomline_view_contains(&damaged, key->data, key->len));
            CHECK_U64(5, bloomline_view_contains_hashes(&damaged, hashes, 5, bitmap));
            CHECK_U64(70, bloomline_view_contains_hashes(&damaged, hashes, 70, bitmap));
            CHECK_U64(5, bloomline_view_contains_keys(&damaged, keys, 5, bitmap));
            CHECK_U64(70, bloomline_view_contains_keys(&damaged, keys, 70, bitmap));
            bloomline_view_contains_each(&damaged, each, 5, present);
            CHECK(present[0] && present[1] && present[2] && present[3] && present[4]);
            CHECK_U64(1, bloomline_views_contain(&damaged, 1, key->data, key->len, bitmap));
            CHECK(view_about(&damaged).fill == 1 && bloomline_view_key_count(&damaged) == 0);
        }
    }
}

static void null(void)
{
    bloomline_view view, before;
    memset(&view, 0x55, sizeof view);
    before = view;
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_scalable_view(NULL, &view));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_window_view(NULL, &view));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_cascade_view(NULL, &view));
    CHECK(memcmp(&view, &before, sizeof view) == 0);
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_scalable_view(scalable, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_window_view(window, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_cascade_view(cascade, NULL));
}

int main(void)
{
    check_begin("test_composite");
    make_keys();
    make();
    RUN(answers);
    RUN(many_views);
    RUN(facts);
    RUN(later_changes_are_seen);
    RUN(damaged_words);
    RUN(null);
    free_all();
    return check_end();
}
