/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_alloc.c - every single allocation that a function makes is failed once, alone and
 * with all that follow: each time the answer is BLOOMLINE_ERR_OUT_OF_MEMORY, outputs are
 * untouched and the call works when it is repeated. (The one exception that the header makes
 * is checked to be the only one.)
 */
#define _DEFAULT_SOURCE
#define _XOPEN_SOURCE 700

#include "check.h"
#include "definition.h"
#include "files.h"
#include "kinds.h"
#include "failing.h"

#include <glob.h>

/* ---- the kinds: each function that a handle is made by ---- */

static const bloomline_params small_params = {10, 6, 0, 0}, large_params = {1 << 17, 6, 0, 0}; /* 640 bytes, 8 MiB */

/* What calls work on. */
static struct {
    const row *kind;
    bool large;
    const char *path;
    uint8_t *data; /* the encoded source */
    size_t len;
    void *source, *made;
} it;

/* Small, and large: that memory comes from mmap(), where checkers look for no leak, and takes most of the time. */
static int sizes(void) { return check_fewer() ? 1 : 2; }

static const bloomline_params *params(void) { return it.large ? &large_params : &small_params; }

/* A call that gives a handle exactly if it succeeds. */
#define GIVES(name, call)                                         \
    static bloomline_status name(void)                            \
    {                                                             \
        it.made = NULL;                                           \
        bloomline_status status = call;                           \
        CHECK((status == BLOOMLINE_OK) == (it.made != NULL));     \
        return status;                                            \
    }
GIVES(make, it.kind->create(params(), &it.made))
GIVES(copy, it.kind->clone(it.source, &it.made))
GIVES(decode, it.kind->decode(it.data, it.len, &it.made))
GIVES(load, it.kind->load(it.path, &it.made))
static void destroy(void) { it.kind->destroy(it.made); }
static bloomline_status save(void) { return it.kind->save(it.source, it.path); }
static void nothing(void) {}

/* Full of the keys of so many stages; the fifth needs a longer list of them. */
static bloomline_scalable *full_scalable(void)
{
    uint64_t random = 7, full = it.large ? 1 << 20 : 32 * 15;
    bloomline_scalable *filter = NULL;
    REQUIRE_OK(bloomline_scalable_new(it.large ? 1 << 20 : 32, 0.01, 0, &filter));
    while (scalable_key_count(filter) < full) REQUIRE_OK(bloomline_scalable_insert_hash(filter, next_random(&random), NULL));
    return filter;
}

static void begin(const row *of, bool large)
{
    it.kind = of;
    it.large = large;
    it.source = of->kind == BLOOMLINE_KIND_SCALABLE ? full_scalable() : NULL;
    if (it.source == NULL) REQUIRE_OK(of->create(params(), &it.source));
    it.len = of->len(it.source);
    it.data = malloc(it.len);
    REQUIRE_OK(of->encode(it.source, it.data, it.len, NULL));
}
static void end(void)
{
    it.kind->destroy(it.source);
    free(it.data);
}

static void each_fails(const char *what, call function, void (*undo)(void), unsigned long fewest)
{
    char name[64];
    snprintf(name, sizeof name, "bloomline_%s_%s", it.kind->name, what);
    CHECK(fail_each(name, function, undo) >= fewest);
}

static void each_kind(void)
{
    file_name directory = files_begin(), path = files_in(&directory, "filter");
    it.path = path.text;
    for (size_t i = 0; i < 2 * ROWS; i++) {
        const int large = i % 2;
        if (rows[i / 2].fewest == 0 || large >= sizes()) continue;
        begin(&rows[i / 2], large);
        /* For each layer its keys, memory to sort them in, lines; and the keys that it passes. */
        may_succeed = it.kind->kind == BLOOMLINE_KIND_CASCADE;
        each_fails("new", make, destroy, may_succeed ? 12 : it.kind->fewest);
        may_succeed = false;
        each_fails("clone", copy, destroy, it.kind->fewest);
        each_fails("decode", decode, destroy, it.kind->fewest);
        each_fails("save", save, nothing, 0);
        CHECK_OK(save());
        each_fails("load", load, destroy, it.kind->fewest);
        CHECK(unlink(it.path) == 0);
        end();
    }
    CHECK(rmdir(directory.text) == 0); /* nothing left beside */
}

/* ---- what else allocates ---- */

GIVES(open_map, bloomline_map_open(it.path, 0, (bloomline_map **)&it.made))
GIVES(copy_map, bloomline_map_open(it.path, BLOOMLINE_MAP_COPY, (bloomline_map **)&it.made))
GIVES(map_bytes, bloomline_map_bytes(it.data, it.len, BLOOMLINE_MAP_COPY, (bloomline_map **)&it.made))
static void close_map(void) { bloomline_map_close(it.made); }

static bloomline_status fold(void)
{
    bloomline_status status = bloomline_filter_fold(it.source);
    bloomline_params folded;
    CHECK_OK(filter_params(it.source, &folded));
    CHECK_U64(params()->line_count / (status == BLOOMLINE_OK ? 2 : 1), folded.line_count);
    CHECK(bloomline_filter_contains_hash(it.source, 12345));
    return status;
}
static void new_source(void)
{
    bloomline_filter_free(it.source);
    REQUIRE_OK(bloomline_filter_new(params(), (bloomline_filter **)&it.source));
    bloomline_filter_insert_hash(it.source, 12345);
}

static void maps_and_folds(void)
{
    for (int large = 0; large < sizes(); large++) {
        begin(row_of(BLOOMLINE_KIND_FILTER), large);
        new_source();
        each_fails("save", save, nothing, 0);
        CHECK_OK(save());
        each_fails("load", load, destroy, 2);
        CHECK(fail_each("bloomline_map_open", open_map, close_map) >= 2);
        CHECK(fail_each("bloomline_map_open of a copy", copy_map, close_map) >= 2);
        CHECK(fail_each("bloomline_map_bytes", map_bytes, close_map) >= 2);
        each_fails("fold", fold, new_source, 1);
        end();
        CHECK(unlink(it.path) == 0);
    }
}

static void maps_and_files(void)
{
    file_name directory = files_begin(), path = files_in(&directory, "filter");
    it.path = path.text;
    maps_and_folds();
    CHECK(rmdir(directory.text) == 0);
}

static bloomline_status double_counting(void)
{
    uint32_t before = bloomline_counting_count_hash(it.source, 12345);
    bloomline_status status = bloomline_counting_union(it.source, it.source);
    uint32_t twice = before < 8 ? 2 * before : BLOOMLINE_COUNTING_MOST;
    CHECK_U64(status == BLOOMLINE_OK ? twice : before, bloomline_counting_count_hash(it.source, 12345));
    return status;
}

enum { GROWING_KEYS = 1000 };
static size_t stages; /* of a filter that is full */

/* The filter is full at first: the key is in, and new, whether it can grow or not. */
static bloomline_status grow_scalable(void)
{
    size_t before = scalable_about(it.source).stage_count;
    uint64_t keys = scalable_key_count(it.source), random = keys, hash = next_random(&random);
    bool is_new = false;
    bloomline_status status = bloomline_scalable_insert_hash(it.source, hash, &is_new);
    bool grows = status == BLOOMLINE_OK && before == stages;
    CHECK_U64(before + grows, scalable_about(it.source).stage_count);
    CHECK_U64(keys + 1, scalable_key_count(it.source));
    CHECK(is_new && scalable_contains_hash(it.source, hash));
    return status;
}

static bloomline_status unite_growing(void)
{
    uint64_t keys = growing_key_count(it.source);
    bloomline_status status = bloomline_growing_union(it.source, it.source);
    CHECK_U64(status == BLOOMLINE_OK ? 2 * keys : keys, growing_key_count(it.source));
    CHECK_U64(status == BLOOMLINE_OK ? 2 * keys / GROWING_KEYS : keys / GROWING_KEYS, bloomline_growing_count_hash(it.source, 1));
    return status;
}
static bloomline_growing *halves[2];
static bloomline_status split_growing(void)
{
    halves[0] = halves[1] = NULL;
    bloomline_status status = bloomline_growing_split(it.source, 2, halves);
    CHECK((status == BLOOMLINE_OK) == (halves[0] != NULL) && (status == BLOOMLINE_OK) == (halves[1] != NULL));
    return status;
}
static void free_halves(void)
{
    bloomline_growing_free(halves[0]);
    bloomline_growing_free(halves[1]);
}
/* Until lines are needed. Each key is in, or the filter is as before. */
static bloomline_status grow_growing(void)
{
    bloomline_status status = BLOOMLINE_OK;
    for (size_t i = 0; i < 5 * GROWING_KEYS && status == BLOOMLINE_OK; i++) {
        uint64_t before = growing_key_count(it.source), random = before, hash = next_random(&random);
        status = bloomline_growing_insert_hash(it.source, hash, NULL);
        CHECK_U64(before + (status == BLOOMLINE_OK), growing_key_count(it.source));
        CHECK(status != BLOOMLINE_OK || growing_contains_hash(it.source, hash));
    }
    CHECK(growing_contains_hash(it.source, 1));
    return status;
}

GIVES(make_concurrent, concurrent_new(params(), (bloomline_concurrent **)&it.made))
static void free_concurrent(void) { bloomline_concurrent_free(it.made); }
static bloomline_concurrent *many;
static bloomline_status take_snapshot(void)
{
    it.made = NULL;
    bloomline_status status = bloomline_concurrent_snapshot(many, (bloomline_filter **)&it.made);
    CHECK((status == BLOOMLINE_OK) == (it.made != NULL));
    CHECK(concurrent_contains_hash(many, 12345));
    return status;
}

static bloomline_concurrent_builder *threads_builder;
static bloomline_status make_threads_builder(void)
{
    threads_builder = NULL;
    bloomline_status status = bloomline_concurrent_builder_new(params(), &threads_builder);
    CHECK((status == BLOOMLINE_OK) == (threads_builder != NULL));
    return status;
}
static void free_threads_builder(void) { bloomline_concurrent_builder_free(threads_builder); }
static bloomline_status finish_threads_builder(void)
{
    const uint64_t hash = 12345;
    const bloomline_column column = {BLOOMLINE_COLUMN_HASHES, &hash, NULL, 1, NULL, 0};
    CHECK_OK(bloomline_concurrent_builder_insert(threads_builder, &column, 1)); /* while allocations fail */
    it.made = NULL;
    bloomline_status status = bloomline_concurrent_builder_finish(&threads_builder, (bloomline_filter **)&it.made);
    CHECK((status == BLOOMLINE_OK) == (threads_builder == NULL) && (status == BLOOMLINE_OK) == (it.made != NULL));
    return status;
}
static void begin_again(void)
{
    CHECK(bloomline_filter_contains_hash(it.made, 12345));
    destroy();
    REQUIRE_OK(make_threads_builder());
}

static void counts_growth_and_snapshots(void)
{
    for (int large = 0; large < sizes(); large++) {
        begin(row_of(BLOOMLINE_KIND_COUNTING), large);
        bloomline_counting_insert_hash(it.source, 12345);
        each_fails("union", double_counting, nothing, 2);
        end();
        begin(row_of(BLOOMLINE_KIND_SCALABLE), large);
        stages = scalable_about(it.source).stage_count;
        each_fails("insert_hash", grow_scalable, nothing, 1);
        end();
        begin(row_of(BLOOMLINE_KIND_GROWING), large);
        for (uint64_t i = 0; i < GROWING_KEYS; i++) {
            uint64_t random = i, hash = i == 0 ? 1 : next_random(&random);
            REQUIRE_OK(bloomline_growing_insert_hash(it.source, hash, NULL));
        }
        each_fails("union", unite_growing, nothing, 2);
        each_fails("split", split_growing, free_halves, 4);
        may_succeed = true; /* a key finds room in the lines that are there */
        each_fails("insert_hash", grow_growing, nothing, 1);
        may_succeed = false;
        end();
        begin(row_of(BLOOMLINE_KIND_FILTER), large);
        CHECK(fail_each("bloomline_concurrent_new", make_concurrent, free_concurrent) >= 2);
        REQUIRE_OK(make_concurrent());
        many = it.made;
        bloomline_concurrent_insert_hash(many, 12345);
        CHECK(fail_each("bloomline_concurrent_snapshot", take_snapshot, destroy) >= 2);
        bloomline_concurrent_free(many);
        CHECK(fail_each("bloomline_concurrent_builder_new", make_threads_builder, free_threads_builder) >= 3);
        REQUIRE_OK(make_threads_builder());
        CHECK_U64(1, fail_each("bloomline_concurrent_builder_finish", finish_threads_builder, begin_again));
        free_threads_builder();
        end();
    }
}

enum { BATCH_KEYS = 2 * 32768 + 100, BATCH_WORDS = (BATCH_KEYS + 63) / 64 };
static uint64_t batch_hashes[BATCH_KEYS], new_alone[BATCH_WORDS];

/* On two threads, or on one: the same answers. */
static bloomline_status insert_new(void)
{
    static uint64_t bitmap[BATCH_WORDS];
    bloomline_filter_clear(it.source);
    bloomline_filter_insert_new_hashes(it.source, batch_hashes, BATCH_KEYS, 2, bitmap);
    CHECK(memcmp(bitmap, new_alone, sizeof bitmap) == 0);
    CHECK_U64(BATCH_KEYS, filter_key_count(it.source));
    CHECK_U64(BATCH_KEYS, bloomline_filter_contains_hashes(it.source, batch_hashes, BATCH_KEYS, bitmap));
    return BLOOMLINE_OK;
}

static void inserts_on_threads(void)
{
    fill_hashes(batch_hashes, BATCH_KEYS, 5);
    memcpy(batch_hashes + 60000, batch_hashes, 1000 * sizeof *batch_hashes);
    begin(row_of(BLOOMLINE_KIND_FILTER), true);
    size_t count = bloomline_filter_insert_new_hashes(it.source, batch_hashes, BATCH_KEYS, 1, new_alone);
    CHECK(count <= BATCH_KEYS - 1000 && count > BATCH_KEYS - 1100);
    /* Hashes, numbers, ends, answers; lists of what the threads do. */
    may_succeed = true;
    each_fails("insert_new_hashes", insert_new, nothing, 5);
    may_succeed = false;
    end();
}

/* The copy of a path of 384 bytes or more is the one allocation that may end the process. */
static void long_paths(void)
{
    file_name directory = files_begin();
    char path[4000];
    int length = snprintf(path, sizeof path, "%s", directory.text);
    while (length < 3000) length += snprintf(path + length, sizeof path - (size_t)length, "/.");
    documented.from = (size_t)length;
    documented.to = (size_t)length + 100;
    snprintf(path + length, sizeof path - (size_t)length, "/filter");
    it.path = path;
    maps_and_folds();
    /* A process that was ended while it saved has left its temporary file. */
    file_name pattern = files_in(&directory, ".bloomline-*.tmp");
    glob_t left;
    if (glob(pattern.text, 0, NULL, &left) == 0) {
        for (size_t i = 0; i < left.gl_pathc; i++) CHECK(unlink(left.gl_pathv[i]) == 0);
        globfree(&left);
    }
    CHECK(rmdir(directory.text) == 0);
    printf("    %lu of them were copies of the path, and ended the process, as documented\n", documented.seen);
    documented.from = documented.to = 0;
}

GIVES(make_builder, bloomline_builder_new(10, 0, (bloomline_builder **)&it.made))
GIVES(make_static_builder, bloomline_builder_new_static(0.01, 0, (bloomline_builder **)&it.made))
static void free_builder(void) { bloomline_builder_free(it.made); }
static bloomline_builder *building;
static bloomline_status add_to_builder(void)
{
    bloomline_status status = BLOOMLINE_OK;
    uint64_t before = bloomline_builder_key_count(building);
    for (uint64_t i = 0; i < 5000 && status == BLOOMLINE_OK; i++) {
        status = bloomline_builder_add_hash(building, before + i);
        CHECK_U64(before + i + (status == BLOOMLINE_OK), bloomline_builder_key_count(building));
    }
    return status;
}
/* A failed build keeps the keys for the next. */
static bloomline_status finish_static(void)
{
    bloomline_view view;
    size_t written = 0, keys = bloomline_builder_key_count(building), cap = bloomline_builder_block_len(building);
    bloomline_status status = bloomline_builder_finish(building, it.data, cap, &written);
    CHECK_U64(status == BLOOMLINE_OK ? 0 : keys, bloomline_builder_key_count(building));
    if (status != BLOOMLINE_OK) return status;
    REQUIRE_OK(bloomline_view_open(it.data, written, 0, &view));
    for (uint64_t i = 0; i < keys; i++) CHECK(bloomline_view_contains_hash(&view, bloomline_hash_u64(i, 0)));
    return status;
}

static void builders(void)
{
    CHECK(fail_each("bloomline_builder_new", make_builder, free_builder) >= 1);
    REQUIRE_OK(bloomline_builder_new(10, 0, &building));
    CHECK(fail_each("bloomline_builder_add_hash", add_to_builder, nothing) >= 1);
    bloomline_builder_free(building);

    CHECK(fail_each("bloomline_builder_new_static", make_static_builder, free_builder) >= 1);
    REQUIRE_OK(bloomline_builder_new_static(0.01, 0, &building));
    for (uint64_t i = 0; i < 3000; i++) CHECK_OK(bloomline_builder_add_hash(building, bloomline_hash_u64(i, 0)));
    it.data = malloc(bloomline_builder_block_len(building));
    may_succeed = true;
    CHECK(fail_each("bloomline_builder_finish, static", finish_static, nothing) >= 1);
    may_succeed = false;
    bloomline_builder_free(building);
    free(it.data);
}

static bloomline_swap *swap;
static bloomline_filter *given; /* to a swap */

static bloomline_status ask_swap(void)
{
    CHECK(!swap_contains_hash(swap, 1));
    return BLOOMLINE_OK;
}
static bloomline_status make_swap(void)
{
    it.made = NULL;
    bloomline_status status = bloomline_swap_new(&given, (bloomline_swap **)&it.made);
    CHECK((status == BLOOMLINE_OK) == (it.made != NULL) && (status == BLOOMLINE_OK) == (given == NULL));
    return status;
}
static bloomline_status publish(void)
{
    bloomline_status status = bloomline_swap_publish(swap, &given);
    CHECK((status == BLOOMLINE_OK) == (given == NULL));
    return status;
}
static void new_given(void) { CHECK_OK(bloomline_filter_new(&small_params, &given)); }
static void free_swap(void)
{
    bloomline_swap_free(it.made);
    new_given(); /* the one that was given is gone */
}

static void swaps(void)
{
    new_given();
    REQUIRE_OK(bloomline_swap_new(&given, &swap));
    /* The record of a thread is the other allocation that may end the process. */
    documented.from = 64, documented.to = 1024, documented.seen = 0;
    CHECK_U64(1, fail_each("the first question of a thread", ask_swap, nothing));
    CHECK_U64(2, documented.seen);
    documented.from = documented.to = 0;
    CHECK_OK(ask_swap());
    CHECK_U64(0, fail_each("bloomline_swap_acquire", ask_swap, nothing));
    new_given();
    CHECK_U64(1, fail_each("bloomline_swap_publish", publish, new_given));
    CHECK_U64(2, fail_each("bloomline_swap_new", make_swap, free_swap));
    bloomline_filter_free(given);
    bloomline_swap_free(swap);
}

static bloomline_status make_group(void)
{
    bloomline_view views[70];
    it.made = NULL;
    for (size_t i = 0; i < 70; i++) CHECK_OK(bloomline_filter_view(it.source, &views[i]));
    memset(&views[33], 0, sizeof views[33]);
    bloomline_status status = bloomline_group_new(views, 70, (bloomline_group **)&it.made);
    CHECK((status == BLOOMLINE_OK) == (it.made != NULL));
    return status;
}
static void free_group(void) { bloomline_group_free(it.made); }

static void groups(void)
{
    begin(row_of(BLOOMLINE_KIND_FILTER), false);
    CHECK_U64(7, fail_each("bloomline_group_new", make_group, free_group));
    end();
}

int main(void)
{
    check_begin("test_alloc");
    allocations.first_failed = mmap(NULL, sizeof(size_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(allocations.first_failed != MAP_FAILED);
    RUN(each_kind);
    RUN(maps_and_files);
    RUN(counts_growth_and_snapshots);
    RUN(inserts_on_threads);
    RUN(builders);
    RUN(swaps);
    RUN(groups);
    RUN(long_paths);
    return check_end();
}
