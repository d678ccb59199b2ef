/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_hostile.c - keys that somebody chose to do harm: seeds that nobody knows beforehand, and
 * the rate of the line that such keys flood. Also sizes that can be folded, for sets whose size
 * nobody knows.
 */
#include "check.h"
#include "definition.h"
#include "probes.h"

enum { LINES = 100 };

static void random_seeds_are_random(void)
{
    uint64_t seeds[100], set = 0, clear = 0;
    for (size_t i = 0; i < 100; i++) {
        CHECK_OK(bloomline_random_seed(&seeds[i]));
        for (size_t j = 0; j < i; j++) CHECK(seeds[i] != seeds[j]);
        set |= seeds[i];
        clear |= ~seeds[i];
    }
    CHECK(set == UINT64_MAX && clear == UINT64_MAX); /* each bit is either */
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_random_seed(NULL));
}

static bloomline_view view_of(const bloomline_filter *filter)
{
    bloomline_view view;
    REQUIRE_OK(bloomline_filter_view(filter, &view));
    return view;
}

static void a_flooded_line_shows(void)
{
    const bloomline_params params = {LINES, 6, 0, 0};
    bloomline_filter *filter;
    REQUIRE_OK(bloomline_filter_new(&params, &filter));
    bloomline_view view = view_of(filter);
    CHECK(view_about(&view).worst_line_rate == 0);
    uint64_t number = 0;
    for (; number < 5000; number++) bloomline_filter_insert_hash(filter, bloomline_hash_u64(number, 0));
    view = view_of(filter);
    const double before = view_about(&view).estimated_rate, worst = view_about(&view).worst_line_rate;
    CHECK(before > 0.005 && before < 0.02);
    CHECK(worst > before && worst < 20 * before);

    /* 150 keys for line 3, as an attacker finds them who knows the seed. */
    for (int found = 0; found < 150; number++) {
        uint64_t hash = bloomline_hash_u64(number, 0);
        if (definition_line_index(hash, LINES) != 3) continue;
        bloomline_filter_insert_hash(filter, hash);
        found++;
    }
    view = view_of(filter);
    const double flooded = view_about(&view).worst_line_rate;
    CHECK(flooded > 0.3 && flooded <= 1);
    CHECK(view_about(&view).estimated_rate < before + 0.02);
    /* It is the share of other keys of that line that may be present. */
    unsigned maybe = 0, asked = 0;
    for (; asked < 5000; number++) {
        uint64_t hash = bloomline_hash_u64(number, 0);
        if (definition_line_index(hash, LINES) != 3) continue;
        maybe += bloomline_view_contains_hash(&view, hash);
        asked++;
    }
    CHECK_NEAR(flooded, (double)maybe / asked, 0.05);
    bloomline_filter_free(filter);

    CHECK(view_about(NULL).worst_line_rate == 1);
    memset(&view, 0, sizeof view);
    CHECK(view_about(&view).worst_line_rate == 1);
}

static void where_bits_lie_anywhere_the_worst_line_is_the_whole(void)
{
    const bloomline_params params = {LINES, 6, 0, 0};
    bloomline_filter *filter;
    REQUIRE_OK(classic_new(&params, &filter));
    for (uint64_t i = 0; i < 5000; i++) bloomline_filter_insert_hash(filter, bloomline_hash_u64(i, 0));
    const bloomline_view view = view_of(filter);
    CHECK(view_about(&view).worst_line_rate == view_about(&view).estimated_rate);
    bloomline_filter_free(filter);
}

static void foldable_sizes_can_be_folded(void)
{
    static const uint64_t keys[] = {1, 1000, 123456, 5000000, 10000000, 50000000};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        for (uint32_t folds = 0; folds <= 12; folds += 3) {
            bloomline_params made, params;
            REQUIRE_OK(bloomline_params_for_rate(keys[i], 0.01, &made));
            params = made;
            CHECK_OK(bloomline_params_foldable(&params, folds));
            CHECK_U64(0, params.line_count % (UINT64_C(1) << folds));
            CHECK(params.line_count >= made.line_count && params.line_count - made.line_count < UINT64_C(1) << folds);
            CHECK(params.k == made.k && params.seed == made.seed && params.layout == 0);
        }
    }
    bloomline_params params = {1000, 6, 0, 5};
    REQUIRE_OK(bloomline_params_foldable(&params, 7));
    CHECK_U64(1024, params.line_count);
    bloomline_filter *filter;
    REQUIRE_OK(bloomline_filter_new(&params, &filter));
    bloomline_filter_insert(filter, "apple", 5);
    for (int i = 0; i < 7; i++) CHECK_OK(bloomline_filter_fold(filter));
    CHECK_OK(filter_params(filter, &params));
    CHECK_U64(8, params.line_count);
    CHECK(bloomline_filter_contains(filter, "apple", 5));
    bloomline_filter_free(filter);
}

static void what_cannot_be_folded_is_left_alone(void)
{
    static const struct {
        bloomline_params params;
        uint32_t folds;
        bloomline_status status;
    } cases[] = {
        {{10, 6, 0, 1}, 63, BLOOMLINE_ERR_LINE_COUNT}, {{10, 6, 0, 1}, 64, BLOOMLINE_ERR_LINE_COUNT},
        {{10, 6, 0, 1}, UINT32_MAX, BLOOMLINE_ERR_LINE_COUNT}, {{UINT64_MAX, 6, 0, 1}, 1, BLOOMLINE_ERR_LINE_COUNT},
        {{0, 6, 0, 1}, 1, BLOOMLINE_ERR_NO_LINES}, {{10, 0, 0, 1}, 1, BLOOMLINE_ERR_K},
        {{10, 17, 0, 1}, 1, BLOOMLINE_ERR_K}, {{10, 6, 9, 1}, 1, BLOOMLINE_ERR_LAYOUT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bloomline_params params = cases[i].params;
        CHECK_STATUS(cases[i].status, bloomline_params_foldable(&params, cases[i].folds));
        CHECK(memcmp(&params, &cases[i].params, sizeof params) == 0);
    }
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_params_foldable(NULL, 1));
}

int main(void)
{
    check_begin("test_hostile");
    RUN(random_seeds_are_random);
    RUN(a_flooded_line_shows);
    RUN(where_bits_lie_anywhere_the_worst_line_is_the_whole);
    RUN(foldable_sizes_can_be_folded);
    RUN(what_cannot_be_folded_is_left_alone);
    return check_end();
}
