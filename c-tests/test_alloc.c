/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_alloc.c - every single allocation that a function makes is failed once, alone and
 * with all that follow: each time the answer is BLOOMLINE_ERR_OUT_OF_MEMORY, outputs are
 * untouched and the call works when it is repeated. And what is said to allocate nothing
 * allocates nothing. (The one exception that the header makes is checked to be the only one.)
 *
 * It is linked with the static library and the linker's --wrap for the functions below, so
 * that the library's calls to them arrive here.
 */
#define _DEFAULT_SOURCE
#define _XOPEN_SOURCE 700

#include "check.h"
#include "probes.h"
#include "definition.h"
#include "files.h"

#include <errno.h>
#include <glob.h>
#include <signal.h>
#include <sys/wait.h>

static struct {
    bool armed, all_after;
    unsigned long count, fail_at; /* 0: none */
    size_t *first_failed;         /* its size, in memory shared with the child processes */
} allocations;

/* Sizes of allocations that may end the process, as the header says of long paths; a file
   name is the only thing of such a size here. */
static struct {
    size_t from, to;
    unsigned long seen;
} documented;

static bool fails(size_t size)
{
    if (!allocations.armed) return false;
    allocations.count++;
    bool fail = allocations.count == allocations.fail_at ||
                (allocations.all_after && allocations.fail_at != 0 && allocations.count > allocations.fail_at);
    if (allocations.count == allocations.fail_at) *allocations.first_failed = size;
    if (fail) errno = ENOMEM;
    return fail;
}

#include "wrapped.h"

/* Makes one call, into 'state', and says how it went. */
typedef bloomline_status (*call)(void *state);

/* What a child process says of one call. */
enum { RIGHT, WRONG, NO_SUCH_ALLOCATION };

/* Some allocations are for threads, without which a call does the work alone. */
static bool may_succeed;

/* Makes the call with its allocation number 'n' failing, in a process of its own: one that
   ends the process is then told like any other failure. */
static int fail_one(const char *name, unsigned long n, bool all_after, call make, void (*undo)(void *), void *state)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        /* The Rust runtime says why it ends the process, at length. */
        if (documented.to > 0 && freopen("/dev/null", "w", stderr) == NULL) exit(WRONG);
        check_state.failures = 0;
        allocations.all_after = all_after;
        allocations.count = 0;
        allocations.fail_at = n;
        allocations.armed = true;
        bloomline_status status = make(state);
        allocations.armed = false;
        bool reached = allocations.count >= n;
        CHECK_WITH(status == (reached ? BLOOMLINE_ERR_OUT_OF_MEMORY : BLOOMLINE_OK) ||
                       (may_succeed && status == BLOOMLINE_OK),
                   "%s, allocation %lu failed: %s", name, n, bloomline_status_message(status));
        if (status == BLOOMLINE_OK) undo(state);
        /* Again, with memory. */
        status = make(state);
        CHECK_OK(status);
        if (status == BLOOMLINE_OK) undo(state);
        /* Not _exit: LeakSanitizer looks for leaks at the end. */
        exit(check_state.failures > 0 ? WRONG : reached ? RIGHT : NO_SUCH_ALLOCATION);
    }
    int status = 0;
    REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
    size_t size = *allocations.first_failed;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT && size >= documented.from && size < documented.to) {
        documented.seen++;
        return RIGHT;
    }
    CHECK_WITH(WIFEXITED(status), "%s, allocation %lu failed: the process was ended by signal %d", name, n,
               WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : WRONG;
}

/* Fails the allocations of a call one after the other. 'undo' takes back a success. Returns
   how many allocations there are. */
static unsigned long fail_each(const char *name, call make, void (*undo)(void *), void *state)
{
    unsigned long n = 0;
    for (int all_after = 0; all_after < 2; all_after++) {
        int result = RIGHT;
        for (n = 0; result != NO_SUCH_ALLOCATION && n < 100; n++) {
            result = fail_one(name, n + 1, all_after, make, undo, state);
            CHECK_WITH(result == RIGHT || result == NO_SUCH_ALLOCATION, "%s, allocation %lu", name, n + 1);
        }
    }
    printf("    %s: %lu allocations failed\n", name, n - 1);
    return n - 1;
}

static bloomline_params small = {10, 6, 0, 0}, large = {1 << 17, 6, 0, 0}; /* 640 bytes, 8 MiB */

typedef struct {
    const bloomline_params *params;
    const char *path;
    uint8_t *data;
    size_t len;
    bloomline_filter *filter, *source;
    bloomline_counting *counting, *counted;
    bloomline_window *window;
    uint64_t window_keys;
    bloomline_cuckoo *cuckoo;
    bloomline_concurrent *shared, *many;
    bloomline_scalable *scalable, *grown;
    bloomline_group *group;
    bloomline_cascade *cascade;
    const uint64_t *included, *excluded;
    size_t stages; /* of the last, when it is full */
    bloomline_builder *builder;
    bloomline_map *map;
    bloomline_swap *swap, *made;
} everything;

/* A call that gives a handle, by '&it->member', exactly if it succeeds; and the one that frees it. */
#define GIVES(name, member, call)                                    \
    static bloomline_status name(void *state)                        \
    {                                                                \
        everything *it = state;                                      \
        it->member = NULL;                                           \
        bloomline_status status = call;                              \
        CHECK((status == BLOOMLINE_OK) == (it->member != NULL));     \
        return status;                                               \
    }
#define FREES(name, member, free)   \
    static void name(void *state)   \
    {                               \
        everything *it = state;     \
        free(it->member);           \
    }

GIVES(make_filter, filter, bloomline_filter_new(it->params, &it->filter))
GIVES(decode_filter, filter, bloomline_filter_decode(it->data, it->len, &it->filter))
GIVES(load_filter, filter, bloomline_filter_load(it->path, &it->filter))
FREES(free_filter, filter, bloomline_filter_free)
GIVES(make_window, window, bloomline_window_new(5, it->window_keys, 0.01, 0, &it->window))
GIVES(decode_window, window, bloomline_window_decode(it->data, it->len, &it->window))
FREES(free_window, window, bloomline_window_free)
static bloomline_status make_cuckoo(void *state)
{
    everything *it = state;
    const bloomline_cuckoo_params params = {it->params->line_count, 12, 0, 0};
    it->cuckoo = NULL;
    bloomline_status status = bloomline_cuckoo_new(&params, &it->cuckoo);
    CHECK((status == BLOOMLINE_OK) == (it->cuckoo != NULL));
    return status;
}
GIVES(decode_cuckoo, cuckoo, bloomline_cuckoo_decode(it->data, it->len, &it->cuckoo))
GIVES(load_cuckoo, cuckoo, bloomline_cuckoo_load(it->path, &it->cuckoo))
FREES(free_cuckoo, cuckoo, bloomline_cuckoo_free)
GIVES(make_classic, filter, classic_new(it->params, &it->filter))
GIVES(make_concurrent, shared, concurrent_new(it->params, &it->shared))
FREES(free_concurrent, shared, bloomline_concurrent_free)
static bloomline_status take_snapshot(void *state)
{
    everything *it = state;
    it->filter = NULL;
    bloomline_status status = bloomline_concurrent_snapshot(it->many, &it->filter);
    CHECK((status == BLOOMLINE_OK) == (it->filter != NULL));
    CHECK(concurrent_contains_hash(it->many, 12345));
    return status;
}
GIVES(make_counting, counting, bloomline_counting_new(it->params, &it->counting))
GIVES(decode_counting, counting, bloomline_counting_decode(it->data, it->len, &it->counting))
GIVES(load_counting, counting, bloomline_counting_load(it->path, &it->counting))
FREES(free_counting, counting, bloomline_counting_free)
GIVES(clone_counting, counting, bloomline_counting_clone(it->counted, &it->counting))
static bloomline_status double_counting(void *state)
{
    everything *it = state;
    uint32_t before = bloomline_counting_count_hash(it->counted, 12345);
    bloomline_status status = bloomline_counting_union(it->counted, it->counted);
    uint32_t twice = before < 8 ? 2 * before : BLOOMLINE_COUNTING_MOST;
    CHECK_U64(status == BLOOMLINE_OK ? twice : before, bloomline_counting_count_hash(it->counted, 12345));
    return status;
}
static bloomline_status save_counting(void *state)
{
    everything *it = state;
    return bloomline_counting_save(it->counted, it->path);
}
GIVES(make_scalable, scalable, bloomline_scalable_new(it->params->line_count, 0.01, 0, &it->scalable))
GIVES(decode_scalable, scalable, bloomline_scalable_decode(it->data, it->len, &it->scalable))
GIVES(load_scalable, scalable, bloomline_scalable_load(it->path, &it->scalable))
FREES(free_scalable, scalable, bloomline_scalable_free)
GIVES(make_cascade, cascade, bloomline_cascade_new(it->included, 500, it->excluded, 9000, 0, 0, 1, &it->cascade))
GIVES(decode_cascade, cascade, bloomline_cascade_decode(it->data, it->len, &it->cascade))
GIVES(load_cascade, cascade, bloomline_cascade_load(it->path, &it->cascade))
FREES(free_cascade, cascade, bloomline_cascade_free)
static bloomline_status save_scalable(void *state)
{
    everything *it = state;
    return bloomline_scalable_save(it->grown, it->path);
}
/* The filter is full at first: the key is in, and new, whether it can grow or not. */
static bloomline_status grow_scalable(void *state)
{
    everything *it = state;
    size_t before = scalable_about(it->grown).stage_count;
    uint64_t keys = scalable_key_count(it->grown), random = keys, hash = next_random(&random);
    bool is_new = false;
    bloomline_status status = bloomline_scalable_insert_hash(it->grown, hash, &is_new);
    bool grows = status == BLOOMLINE_OK && before == it->stages;
    CHECK_U64(before + grows, scalable_about(it->grown).stage_count);
    CHECK_U64(keys + 1, scalable_key_count(it->grown));
    CHECK(is_new && scalable_contains_hash(it->grown, hash));
    return status;
}
static bloomline_status save_filter(void *state)
{
    everything *it = state;
    return bloomline_filter_save(it->source, it->path);
}
static bloomline_status fold_filter(void *state)
{
    everything *it = state;
    bloomline_status status = bloomline_filter_fold(it->source);
    bloomline_params params;
    CHECK_OK(filter_params(it->source, &params));
    CHECK_U64(it->params->line_count / (status == BLOOMLINE_OK ? 2 : 1), params.line_count);
    CHECK(bloomline_filter_contains_hash(it->source, 12345));
    return status;
}
static void new_source(void *state)
{
    everything *it = state;
    bloomline_filter_free(it->source);
    REQUIRE_OK(bloomline_filter_new(it->params, &it->source));
    bloomline_filter_insert_hash(it->source, 12345);
}
GIVES(open_map, map, bloomline_map_open(it->path, 0, &it->map))
GIVES(copy_map, map, bloomline_map_open(it->path, BLOOMLINE_MAP_COPY, &it->map))
GIVES(map_bytes, map, bloomline_map_bytes(it->data, it->len, BLOOMLINE_MAP_COPY, &it->map))
FREES(close_map, map, bloomline_map_close)
GIVES(make_builder, builder, bloomline_builder_new(10, 0, &it->builder))
FREES(free_builder, builder, bloomline_builder_free)
static bloomline_status add_to_builder(void *state)
{
    everything *it = state;
    bloomline_status status = BLOOMLINE_OK;
    uint64_t before = bloomline_builder_key_count(it->builder);
    for (uint64_t i = 0; i < 5000 && status == BLOOMLINE_OK; i++) {
        status = bloomline_builder_add_hash(it->builder, before + i);
        CHECK_U64(before + i + (status == BLOOMLINE_OK), bloomline_builder_key_count(it->builder));
    }
    return status;
}
GIVES(make_static_builder, builder, bloomline_builder_new_static(0.01, 0, &it->builder))
/* A failed build keeps the keys for the next. */
static bloomline_status finish_static(void *state)
{
    everything *it = state;
    bloomline_view view;
    size_t written = 0, keys = bloomline_builder_key_count(it->builder), cap = bloomline_builder_block_len(it->builder);
    bloomline_status status = bloomline_builder_finish(it->builder, it->data, cap, &written);
    CHECK_U64(status == BLOOMLINE_OK ? 0 : keys, bloomline_builder_key_count(it->builder));
    if (status != BLOOMLINE_OK) return status;
    REQUIRE_OK(bloomline_view_open(it->data, written, &view));
    for (uint64_t i = 0; i < keys; i++) CHECK(bloomline_view_contains_hash(&view, bloomline_hash_u64(i, 0)));
    return status;
}
static void nothing(void *state)
{
    (void)state;
}

static void both_sizes(everything *it)
{
    const bloomline_params *sizes[] = {&small, &large};
    for (size_t i = 0; i < 2; i++) {
        it->params = sizes[i];
        new_source(it);
        it->len = bloomline_filter_encoded_len(it->source);
        it->data = malloc(it->len);
        REQUIRE_OK(bloomline_filter_encode(it->source, it->data, it->len, NULL));
        CHECK(fail_each("bloomline_filter_new", make_filter, free_filter, it) >= 2);
        CHECK(fail_each("bloomline_filter_decode", decode_filter, free_filter, it) >= 2);
        fail_each("bloomline_filter_save", save_filter, nothing, it);
        CHECK_OK(bloomline_filter_save(it->source, it->path));
        CHECK(fail_each("bloomline_filter_load", load_filter, free_filter, it) >= 2);
        CHECK(fail_each("bloomline_map_open", open_map, close_map, it) >= 2);
        CHECK(fail_each("bloomline_map_open of a copy", copy_map, close_map, it) >= 2);
        CHECK(fail_each("bloomline_map_bytes", map_bytes, close_map, it) >= 2);
        CHECK(fail_each("bloomline_filter_fold", fold_filter, new_source, it) >= 1);
        free(it->data);
        bloomline_filter_free(it->source);
        it->source = NULL;
        CHECK(unlink(it->path) == 0);
    }
}

static void counting_filters(void)
{
    static const bloomline_params *sizes[] = {&small, &large};
    file_name directory = files_begin(), path = files_in(&directory, "filter");
    for (size_t i = 0; i < 2; i++) {
        everything it = {0};
        it.path = path.text;
        it.params = sizes[i];
        REQUIRE_OK(bloomline_counting_new(it.params, &it.counted));
        bloomline_counting_insert_hash(it.counted, 12345);
        it.len = bloomline_counting_encoded_len(it.counted);
        it.data = malloc(it.len);
        REQUIRE_OK(bloomline_counting_encode(it.counted, it.data, it.len, NULL));
        CHECK(fail_each("bloomline_counting_new", make_counting, free_counting, &it) >= 3);
        CHECK(fail_each("bloomline_counting_decode", decode_counting, free_counting, &it) >= 3);
        CHECK(fail_each("bloomline_counting_clone", clone_counting, free_counting, &it) >= 3);
        CHECK(fail_each("bloomline_counting_union", double_counting, nothing, &it) >= 2);
        fail_each("bloomline_counting_save", save_counting, nothing, &it);
        CHECK_OK(bloomline_counting_save(it.counted, it.path));
        CHECK(fail_each("bloomline_counting_load", load_counting, free_counting, &it) >= 3);
        free(it.data);
        bloomline_counting_free(it.counted);
        CHECK(unlink(it.path) == 0);
    }
    CHECK(rmdir(directory.text) == 0);
}

static void cascades(void)
{
    static uint64_t hashes[9500];
    file_name directory = files_begin(), path = files_in(&directory, "cascade");
    everything it = {0};
    uint64_t random = 7;
    for (size_t i = 0; i < 9500; i++) hashes[i] = next_random(&random);
    it.path = path.text;
    it.included = hashes;
    it.excluded = hashes + 500;
    /* For each layer its keys, memory to sort them in, lines; and the keys that it passes. */
    may_succeed = true;
    CHECK(fail_each("bloomline_cascade_new", make_cascade, free_cascade, &it) >= 12);
    may_succeed = false;
    REQUIRE_OK(make_cascade(&it));
    it.len = bloomline_cascade_encoded_len(it.cascade);
    it.data = malloc(it.len);
    REQUIRE_OK(bloomline_cascade_encode(it.cascade, it.data, it.len, NULL));
    CHECK_OK(bloomline_cascade_save(it.cascade, it.path));
    bloomline_cascade_free(it.cascade);
    CHECK(fail_each("bloomline_cascade_decode", decode_cascade, free_cascade, &it) >= 3);
    CHECK(fail_each("bloomline_cascade_load", load_cascade, free_cascade, &it) >= 3);
    free(it.data);
    CHECK(unlink(it.path) == 0 && rmdir(directory.text) == 0);
}

static void scalable_filters(void)
{
    /* Full of the keys of so many stages; the fifth needs a longer list of them. */
    static const bloomline_params first[] = {{32, 0, 0, 0}, {1 << 20, 0, 0, 0}};
    static const uint64_t full[] = {32 * 15, 1 << 20};
    file_name directory = files_begin(), path = files_in(&directory, "filter");
    for (size_t i = 0; i < 2; i++) {
        everything it = {0};
        uint64_t random = 7;
        it.path = path.text;
        it.params = &first[i];
        REQUIRE_OK(bloomline_scalable_new(first[i].line_count, 0.01, 0, &it.grown));
        while (scalable_key_count(it.grown) < full[i]) {
            REQUIRE_OK(bloomline_scalable_insert_hash(it.grown, next_random(&random), NULL));
        }
        it.len = bloomline_scalable_encoded_len(it.grown);
        it.data = malloc(it.len);
        REQUIRE_OK(bloomline_scalable_encode(it.grown, it.data, it.len, NULL));
        CHECK(fail_each("bloomline_scalable_new", make_scalable, free_scalable, &it) >= 3);
        CHECK(fail_each("bloomline_scalable_decode", decode_scalable, free_scalable, &it) >= 3);
        it.stages = scalable_about(it.grown).stage_count;
        CHECK(fail_each("bloomline_scalable_insert_hash", grow_scalable, nothing, &it) >= 1);
        fail_each("bloomline_scalable_save", save_scalable, nothing, &it);
        CHECK_OK(bloomline_scalable_save(it.grown, it.path));
        CHECK(fail_each("bloomline_scalable_load", load_scalable, free_scalable, &it) >= 3);
        free(it.data);
        bloomline_scalable_free(it.grown);
        CHECK(unlink(it.path) == 0);
    }
    CHECK(rmdir(directory.text) == 0);
}

static void windows(void)
{
    static const uint64_t sizes[] = {100, 500000};
    for (size_t i = 0; i < 2; i++) {
        everything it = {0};
        it.window_keys = sizes[i];
        REQUIRE_OK(make_window(&it));
        bloomline_window *window = it.window;
        bloomline_window_insert_hash(window, 12345);
        it.len = bloomline_window_encoded_len(window);
        it.data = malloc(it.len);
        REQUIRE_OK(bloomline_window_encode(window, it.data, it.len, NULL));
        CHECK(fail_each("bloomline_window_new", make_window, free_window, &it) >= 4);
        CHECK(fail_each("bloomline_window_decode", decode_window, free_window, &it) >= 4);
        free(it.data);
        bloomline_window_free(window);
    }
}

static void cuckoo_filters(void)
{
    static const bloomline_params *sizes[] = {&small, &large};
    file_name directory = files_begin(), path = files_in(&directory, "filter");
    for (size_t i = 0; i < 2; i++) {
        everything it = {0};
        it.path = path.text;
        it.params = sizes[i];
        REQUIRE_OK(make_cuckoo(&it));
        bloomline_cuckoo *filter = it.cuckoo;
        REQUIRE_OK(bloomline_cuckoo_insert_hash(filter, 12345));
        REQUIRE_OK(bloomline_cuckoo_save(filter, it.path));
        it.len = bloomline_cuckoo_encoded_len(filter);
        it.data = malloc(it.len);
        REQUIRE_OK(bloomline_cuckoo_encode(filter, it.data, it.len, NULL));
        CHECK(fail_each("bloomline_cuckoo_new", make_cuckoo, free_cuckoo, &it) >= 2);
        CHECK(fail_each("bloomline_cuckoo_decode", decode_cuckoo, free_cuckoo, &it) >= 2);
        CHECK(fail_each("bloomline_cuckoo_load", load_cuckoo, free_cuckoo, &it) >= 2);
        free(it.data);
        bloomline_cuckoo_free(filter);
        CHECK(unlink(it.path) == 0);
    }
    CHECK(rmdir(directory.text) == 0);
}

static void classic_and_concurrent_filters(void)
{
    static const bloomline_params *sizes[] = {&small, &large};
    for (size_t i = 0; i < 2; i++) {
        everything it = {0};
        it.params = sizes[i];
        CHECK(fail_each("bloomline_filter_new, classic", make_classic, free_filter, &it) >= 2);
        CHECK(fail_each("bloomline_concurrent_new", make_concurrent, free_concurrent, &it) >= 2);
        REQUIRE_OK(make_concurrent(&it));
        it.many = it.shared;
        bloomline_concurrent_insert_hash(it.many, 12345);
        CHECK(fail_each("bloomline_concurrent_snapshot", take_snapshot, free_filter, &it) >= 2);
        bloomline_concurrent_free(it.many);
    }
}

enum { BATCH_KEYS = 2 * 32768 + 100, BATCH_WORDS = (BATCH_KEYS + 63) / 64 };
static uint64_t batch_hashes[BATCH_KEYS], new_alone[BATCH_WORDS];

/* On two threads, or on one: the same answers. */
static bloomline_status insert_new(void *state)
{
    everything *it = state;
    static uint64_t bitmap[BATCH_WORDS];
    bloomline_filter_clear(it->filter);
    bloomline_filter_insert_new_hashes(it->filter, batch_hashes, BATCH_KEYS, 2, bitmap);
    CHECK(memcmp(bitmap, new_alone, sizeof bitmap) == 0);
    CHECK_U64(BATCH_KEYS, filter_key_count(it->filter));
    CHECK_U64(BATCH_KEYS, bloomline_filter_contains_hashes(it->filter, batch_hashes, BATCH_KEYS, bitmap));
    return BLOOMLINE_OK;
}

static void inserts_on_threads(void)
{
    everything it = {.params = &large};
    fill_hashes(batch_hashes, BATCH_KEYS, 5);
    memcpy(batch_hashes + 60000, batch_hashes, 1000 * sizeof *batch_hashes);
    REQUIRE_OK(bloomline_filter_new(&large, &it.filter));
    size_t count = bloomline_filter_insert_new_hashes(it.filter, batch_hashes, BATCH_KEYS, 1, new_alone);
    CHECK(count <= BATCH_KEYS - 1000 && count > BATCH_KEYS - 1100);
    /* Hashes, numbers, ends, answers; lists of what the threads do. */
    may_succeed = true;
    CHECK(fail_each("bloomline_filter_insert_new_hashes", insert_new, nothing, &it) >= 5);
    may_succeed = false;
    bloomline_filter_free(it.filter);
}

static void filters_and_files(void)
{
    everything it = {0};
    file_name directory = files_begin(), path = files_in(&directory, "filter");
    it.path = path.text;
    both_sizes(&it);
    CHECK(rmdir(directory.text) == 0); /* nothing left beside */
}

/* The copy of a path of 384 bytes or more is the one allocation that may end the process. */
static void long_paths(void)
{
    everything it = {0};
    file_name directory = files_begin();
    char path[4000];
    int length = snprintf(path, sizeof path, "%s", directory.text);
    while (length < 3000) length += snprintf(path + length, sizeof path - (size_t)length, "/.");
    documented.from = (size_t)length;
    documented.to = (size_t)length + 100;
    snprintf(path + length, sizeof path - (size_t)length, "/filter");
    it.path = path;
    both_sizes(&it);
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

static void builders(void)
{
    everything it = {0};
    CHECK(fail_each("bloomline_builder_new", make_builder, free_builder, &it) >= 1);
    REQUIRE_OK(bloomline_builder_new(10, 0, &it.builder));
    CHECK(fail_each("bloomline_builder_add_hash", add_to_builder, nothing, &it) >= 1);
    bloomline_builder_free(it.builder);

    CHECK(fail_each("bloomline_builder_new_static", make_static_builder, free_builder, &it) >= 1);
    REQUIRE_OK(bloomline_builder_new_static(0.01, 0, &it.builder));
    for (uint64_t i = 0; i < 3000; i++) CHECK_OK(bloomline_builder_add_hash(it.builder, bloomline_hash_u64(i, 0)));
    it.data = malloc(bloomline_builder_block_len(it.builder));
    may_succeed = true;
    CHECK(fail_each("bloomline_builder_finish, static", finish_static, nothing, &it) >= 1);
    may_succeed = false;
    bloomline_builder_free(it.builder);
    free(it.data);
}

static bloomline_status ask_swap(void *state)
{
    everything *it = state;
    CHECK(!swap_contains_hash(it->swap, 1));
    return BLOOMLINE_OK;
}
static bloomline_status make_swap(void *state)
{
    everything *it = state;
    bloomline_filter *given = it->filter;
    it->made = NULL;
    bloomline_status status = bloomline_swap_new(&given, &it->made);
    CHECK((status == BLOOMLINE_OK) == (it->made != NULL) && (status == BLOOMLINE_OK) == (given == NULL));
    it->filter = given;
    return status;
}
static bloomline_status publish(void *state)
{
    everything *it = state;
    bloomline_filter *given = it->filter;
    bloomline_status status = bloomline_swap_publish(it->swap, &given);
    CHECK((status == BLOOMLINE_OK) == (given == NULL));
    it->filter = given;
    return status;
}
static void new_filter(void *state)
{
    everything *it = state;
    CHECK_OK(bloomline_filter_new(it->params, &it->filter));
}

static void free_swap(void *state)
{
    everything *it = state;
    bloomline_swap_free(it->made);
    new_filter(it); /* the one that was given is gone */
}

static void swaps(void)
{
    everything it = {.params = &small};
    new_filter(&it);
    REQUIRE_OK(bloomline_swap_new(&it.filter, &it.swap));
    /* The record of a thread is the other allocation that may end the process. */
    documented.from = 64;
    documented.to = 1024;
    documented.seen = 0;
    CHECK_U64(1, fail_each("the first question of a thread", ask_swap, nothing, &it));
    CHECK_U64(2, documented.seen);
    documented.from = documented.to = 0;
    CHECK_OK(ask_swap(&it));
    CHECK_U64(0, fail_each("bloomline_swap_acquire", ask_swap, nothing, &it));
    new_filter(&it);
    CHECK_U64(1, fail_each("bloomline_swap_publish", publish, new_filter, &it));
    CHECK_U64(2, fail_each("bloomline_swap_new", make_swap, free_swap, &it));
    bloomline_filter_free(it.filter);
    bloomline_swap_free(it.swap);
}

static bloomline_status make_group(void *state)
{
    everything *it = state;
    bloomline_view views[70];
    it->group = NULL;
    for (size_t i = 0; i < 70; i++) CHECK_OK(bloomline_filter_view(it->filter, &views[i]));
    memset(&views[33], 0, sizeof views[33]);
    bloomline_status status = bloomline_group_new(views, 70, &it->group);
    CHECK((status == BLOOMLINE_OK) == (it->group != NULL));
    return status;
}

static void free_group(void *state)
{
    everything *it = state;
    bloomline_group_free(it->group);
}

static void groups(void)
{
    everything it = {.params = &small};
    new_filter(&it);
    CHECK_U64(6, fail_each("bloomline_group_new", make_group, free_group, &it));
    bloomline_filter_free(it.filter);
}

static void what_allocates_nothing(void)
{
    enum { KEYS = 300 };
    uint8_t data[11 * LINE_BYTES], block[100 * LINE_BYTES];
    uint64_t hashes[KEYS], bitmap[(KEYS + 63) / 64];
    bloomline_bytes keys[KEYS];
    const bloomline_bytes *pointers[KEYS];
    bool present[KEYS];
    size_t len = 0;
    bloomline_filter *filter = NULL, *other = NULL;
    bloomline_builder *builder = NULL;
    bloomline_view view;
    bloomline_params params;
    fill_hashes(hashes, KEYS, 3);
    for (size_t i = 0; i < KEYS; i++) {
        keys[i].data = (const uint8_t *)&hashes[i];
        keys[i].len = 8;
        pointers[i] = &keys[i];
    }
    REQUIRE_OK(bloomline_filter_new(&small, &filter));
    REQUIRE_OK(bloomline_filter_new(&small, &other));
    REQUIRE_OK(bloomline_builder_new(10, 0, &builder));
    for (size_t i = 0; i < KEYS; i++) REQUIRE_OK(bloomline_builder_add_hash(builder, hashes[i]));

    allocations.all_after = true;
    allocations.fail_at = 1;
    allocations.count = 0;
    allocations.armed = true;
    bloomline_status statuses[] = {
        bloomline_params_for_rate(1000, 0.01, &params),
        bloomline_block_build(&small, hashes, KEYS, block, sizeof block),
        bloomline_builder_finish(builder, block, sizeof block, NULL),
        bloomline_filter_union(filter, other),
        bloomline_filter_encode(filter, data, sizeof data, NULL),
        bloomline_view_open(data, sizeof data, &view),
        bloomline_view_open_unverified(data, sizeof data, &view),
        bloomline_filter_view(filter, &view),
    };
    bloomline_filter_insert(filter, "apple", 5);
    bloomline_filter_insert_hash(filter, 1);
    bloomline_filter_insert_hashes(filter, hashes, KEYS);
    bloomline_filter_insert_keys(filter, keys, KEYS);
    size_t found = bloomline_filter_contains(filter, "apple", 5);
    found += bloomline_filter_contains_hashes(filter, hashes, KEYS, bitmap);
    found += bloomline_filter_contains_keys(filter, keys, KEYS, bitmap);
    found += bloomline_view_contains_hashes(&view, hashes, KEYS, bitmap);
    found += bloomline_view_contains_keys(&view, keys, KEYS, bitmap);
    found += bloomline_views_contain_hash(&view, 1, hashes[0], bitmap);
    bloomline_hash_batch(keys, KEYS, 0, hashes);
    bloomline_hash_u64_batch(hashes, KEYS, 0, hashes);
    /* Other engines' filters are built, opened and asked for as often. */
    bloomline_status engines[] = {
        bloomline_engine_block_build(BLOOMLINE_ENGINE_ROCKSDB, hashes, KEYS, 10, block, sizeof block, &len),
        bloomline_view_open_engine(BLOOMLINE_ENGINE_ROCKSDB, block, len, &view),
    };
    found += bloomline_view_contains_hashes(&view, hashes, KEYS, bitmap);
    found += bloomline_engine_hash(BLOOMLINE_ENGINE_ROCKSDB, "apple", 5) == 0;
    found += bloomline_view_contains_keys(&view, keys, KEYS, bitmap) <= KEYS;
    bloomline_view_contains_each(&view, pointers, KEYS, present);
    (void)bloomline_view_contains_fn(&view)(&view, "apple", 5);
    bloomline_status older[] = {
        bloomline_engine_block_build(BLOOMLINE_ENGINE_LEVELDB, hashes, KEYS, 10, block, sizeof block, &len),
        bloomline_view_open_engine(BLOOMLINE_ENGINE_LEVELDB, block, len, &view),
    };
    found += bloomline_view_contains_hashes(&view, hashes, KEYS, bitmap);
    allocations.armed = false;

    CHECK_U64(0, allocations.count);
    CHECK_U64(1 + 4 * KEYS + 1 + 2 * KEYS + 1, found);
    for (size_t i = 0; i < 2; i++) {
        CHECK_OK(engines[i]);
        CHECK_OK(older[i]);
    }
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) CHECK_OK(statuses[i]);
    bloomline_filter_free(filter);
    bloomline_filter_free(other);
    bloomline_builder_free(builder);
}

int main(void)
{
    check_begin("test_alloc");
    allocations.first_failed = mmap(NULL, sizeof(size_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(allocations.first_failed != MAP_FAILED);
    RUN(what_allocates_nothing);
    RUN(builders);
    RUN(filters_and_files);
    RUN(inserts_on_threads);
    RUN(counting_filters);
    RUN(windows);
    RUN(cuckoo_filters);
    RUN(classic_and_concurrent_filters);
    RUN(scalable_filters);
    RUN(cascades);
    RUN(swaps);
    RUN(groups);
    RUN(long_paths);
    return check_end();
}
