/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_alloc_journal.c - every allocation of a call that writes or reads a journal is failed once, alone and with
 * all that follow: the answer is BLOOMLINE_ERR_OUT_OF_MEMORY, nothing that was inserted is lost, and the call works
 * when it is repeated.
 */
#define _DEFAULT_SOURCE
#define _XOPEN_SOURCE 700

#include "check.h"
#include "files.h"
#include "probes.h"
#include "failing.h"

enum { KEYS = 1000, MORE = 200 };

static const char *path;
static bloomline_growing *filter, *made;
static bloomline_journal *journal, *opened;
static uint8_t *bytes; /* of the journal */
static size_t len;

static uint64_t key(uint64_t i) { return bloomline_hash_u64(i, 3); }

static void has_keys(const bloomline_growing *of, uint64_t from, uint64_t to)
{
    size_t lost = 0;
    for (uint64_t i = from; i < to; i++) lost += !growing_contains_hash(of, key(i));
    CHECK_U64(0, lost);
}

static bool discard(void *context, const void *data, size_t size)
{
    (void)context, (void)data, (void)size;
    return true;
}

static bloomline_status create(void) { return bloomline_journal_create(path, filter, 1, &opened); }
static bloomline_status open_it(void)
{
    bloomline_status status = bloomline_journal_open(path, &opened, &made);
    if (status == BLOOMLINE_OK) has_keys(made, 0, KEYS + MORE);
    return status;
}
static void close_created(void) { bloomline_journal_free(opened); }
static void close_opened(void)
{
    bloomline_journal_free(opened);
    bloomline_growing_free(made);
}
static bloomline_status replay(void)
{
    uint64_t sequence = 99;
    bloomline_status status = bloomline_growing_replay(bytes, len, &made, &sequence, NULL);
    CHECK_U64(status == BLOOMLINE_OK ? 2 : 99, sequence);
    if (status == BLOOMLINE_OK) has_keys(made, 0, KEYS + MORE);
    return status;
}
static void free_made(void) { bloomline_growing_free(made); }

/* 'filter' has changed since the last record. */
static uint64_t next = 1;
static bloomline_status save(void)
{
    bloomline_status status = bloomline_journal_save_changed(journal, filter, next + 1);
    uint64_t saved = 0;
    CHECK(bloomline_growing_saved_sequence(filter, &saved) && saved == next + (status == BLOOMLINE_OK));
    CHECK_U64(saved, bloomline_journal_sequence(journal));
    next = saved;
    return status;
}
static bloomline_status restart(void) { return bloomline_journal_restart(journal, filter, next); }
static bloomline_status save_whole(void) { return bloomline_growing_save_whole(filter, discard, NULL, next); }
static bloomline_status save_bytes(void)
{
    bloomline_status status = bloomline_growing_save_changed(filter, discard, NULL, next + 1);
    next += status == BLOOMLINE_OK;
    return status;
}

/* 'made' is as the first record. */
static size_t start;
static bloomline_status patch(void)
{
    bloomline_status status = bloomline_growing_apply_patch(made, bytes + start, len - start, NULL);
    has_keys(made, 0, status == BLOOMLINE_OK ? KEYS + MORE : KEYS);
    return status;
}
/* As it is, with what the children before have written to the file. */
static bloomline_status patch_file(void)
{
    bloomline_status status = bloomline_journal_apply_patch(journal, made, bytes + start, len - start, NULL);
    has_keys(made, 0, status == BLOOMLINE_OK ? KEYS + MORE : KEYS);
    CHECK_U64(status == BLOOMLINE_OK ? 2 : 1, bloomline_journal_sequence(journal));
    return status;
}
static void nothing(void) {}

static void journals(void)
{
    REQUIRE_OK(bloomline_growing_new_unbounded(1000, 0.01, 0, &filter));
    for (uint64_t i = 0; i < KEYS; i++) REQUIRE_OK(bloomline_growing_insert_hash(filter, key(i), NULL));
    CHECK(fail_each("bloomline_journal_create", create, close_created) >= 3);
    REQUIRE_OK(bloomline_journal_create(path, filter, 1, &journal));
    for (uint64_t i = KEYS; i < KEYS + MORE; i++) REQUIRE_OK(bloomline_growing_insert_hash(filter, key(i), NULL));
    CHECK(fail_each("bloomline_journal_save_changed", save, nothing) >= 2);
    CHECK(fail_each("bloomline_growing_save_changed", save_bytes, nothing) >= 2);
    CHECK(fail_each("bloomline_growing_save_whole", save_whole, nothing) >= 1);
    CHECK(fail_each("bloomline_journal_restart", restart, nothing) >= 2);
    bloomline_journal_free(journal);

    /* The children have written to the file. */
    uint64_t saved = 0;
    bloomline_growing_free(filter);
    REQUIRE_OK(bloomline_growing_new_unbounded(1000, 0.01, 0, &filter));
    for (uint64_t i = 0; i < KEYS; i++) REQUIRE_OK(bloomline_growing_insert_hash(filter, key(i), NULL));
    REQUIRE_OK(bloomline_journal_create(path, filter, 1, &journal));
    for (uint64_t i = KEYS; i < KEYS + MORE; i++) REQUIRE_OK(bloomline_growing_insert_hash(filter, key(i), NULL));
    REQUIRE_OK(bloomline_journal_save_changed(journal, filter, 2));
    CHECK(bloomline_growing_saved_sequence(filter, &saved) && saved == 2);
    bloomline_journal_free(journal);
    bloomline_growing_free(filter);
    /* A filter that gets no memory to grow may take keys as it is. */
    may_succeed = true;
    CHECK(fail_each("bloomline_journal_open", open_it, close_opened) >= 4);
    bytes = files_read(path, &len);
    REQUIRE(bytes != NULL);
    CHECK(fail_each("bloomline_growing_replay", replay, free_made) >= 3);
    REQUIRE_OK(bloomline_growing_patch_since(bytes, len, 1, &start));
    REQUIRE_OK(bloomline_growing_replay(bytes, start, &made, NULL, NULL));
    CHECK(fail_each("bloomline_growing_apply_patch", patch, nothing) >= 1);
    bloomline_growing_free(made);
    files_write(path, bytes, start);
    REQUIRE_OK(bloomline_journal_open(path, &journal, &made));
    CHECK(fail_each("bloomline_journal_apply_patch", patch_file, nothing) >= 2);
    may_succeed = false;
    bloomline_journal_free(journal);
    bloomline_growing_free(made);
    free(bytes);
}

int main(void)
{
    check_begin("test_alloc_journal");
    allocations.first_failed = mmap(NULL, sizeof(size_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(allocations.first_failed != MAP_FAILED);
    file_name directory = files_begin(), file = files_in(&directory, "journal");
    path = file.text;
    RUN(journals);
    CHECK(unlink(path) == 0);
    CHECK(rmdir(directory.text) == 0);
    return check_end();
}
