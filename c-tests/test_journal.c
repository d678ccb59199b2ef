/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_journal.c - bloomline_journal, and journals in bytes: the golden ones, in memory and in files; what is
 * saved is there when they are opened again; files that are replaced meanwhile; patches; bytes that are cut and
 * altered everywhere; NULL. Linux.
 */
#define _DEFAULT_SOURCE
#define _XOPEN_SOURCE 700

#include "check.h"
#include "definition.h"
#include "encoded.h"
#include "files.h"
#include "golden.h"
#include "probes.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { KEYS = 500, ROUNDS = 6, CAP = 1 << 16 };

static file_name directory;

ENCODED(growing)

/* ---- a journal in memory ---- */

typedef struct {
    uint8_t bytes[CAP];
    size_t len, cap; /* a write beyond 'cap' fails */
} store;

static bool append(void *context, const void *data, size_t len)
{
    store *to = context;
    if (len > to->cap - to->len) return false;
    memcpy(to->bytes + to->len, data, len);
    to->len += len;
    return true;
}

/* Both have the same keys, as they have the same bytes. */
static void are_equal(const bloomline_growing *a, const bloomline_growing *b)
{
    size_t a_len, b_len;
    uint8_t *a_bytes = encoded(a, &a_len), *b_bytes = encoded(b, &b_len);
    CHECK(a_len == b_len && memcmp(a_bytes, b_bytes, a_len) == 0);
    free(a_bytes), free(b_bytes);
}

/* Inserts some keys, and removes one of the round before. */
static void change(bloomline_growing *filter, uint64_t round)
{
    for (uint64_t i = 0; i < 40; i++) CHECK_OK(bloomline_growing_insert_hash(filter, bloomline_hash_u64(i, round), NULL));
    if (round > 0) CHECK_OK(bloomline_growing_remove_hash(filter, bloomline_hash_u64(0, round - 1)));
}

static bloomline_growing *filter_of(uint64_t rounds)
{
    bloomline_growing *filter = NULL;
    REQUIRE_OK(bloomline_growing_new(KEYS, 0.01, 0, &filter));
    for (uint64_t round = 0; round < rounds; round++) change(filter, round);
    return filter;
}

/* ---- what the definition wrote ---- */

static void is_as_listed(const golden_files *of)
{
    file_name path = files_in(&directory, "golden");
    size_t whole_len = 99;
    uint64_t last = 99, kept = 99;
    bloomline_growing *replayed = NULL, *opened = NULL;
    bloomline_journal *opened_journal = NULL;
    CHECK_STATUS(of->status, bloomline_growing_replay(of->data, of->len, &replayed, &last, &whole_len));
    files_write(path.text, of->data, of->len);
    CHECK_STATUS(of->status, bloomline_journal_open(path.text, &opened_journal, &opened));
    if (of->status == BLOOMLINE_OK) {
        REQUIRE(of->count == 3 && replayed != NULL && opened != NULL);
        CHECK_WITH(last == of->numbers[0] && whole_len == of->numbers[1], "%s", of->name);
        CHECK_WITH((whole_len < of->len) == (of->numbers[2] != 0), "%s", of->name);
        CHECK(bloomline_growing_saved_sequence(replayed, &kept) && kept == last);
        CHECK_U64(last, bloomline_journal_sequence(opened_journal));
        CHECK_U64(whole_len, bloomline_journal_file_len(opened_journal));
        are_equal(replayed, opened);
        size_t cut = 0;
        free(files_read(path.text, &cut));
        CHECK_U64(whole_len, cut);
    } else {
        CHECK(last == 99 && whole_len == 99 && replayed == NULL && opened == NULL && opened_journal == NULL);
    }
    bloomline_journal_free(opened_journal);
    bloomline_growing_free(replayed), bloomline_growing_free(opened);
    unlink(path.text);
}

static void golden(void)
{
    golden_files files;
    golden_files_open(&files, "journal/");
    while (golden_next(&files)) is_as_listed(&files);
    golden_files_end(&files, 9, 20);
}

/* ---- files ---- */

static void in_a_file(void)
{
    file_name path = files_in(&directory, "journal");
    bloomline_growing *filter = filter_of(0), *other = NULL;
    bloomline_journal *journal = NULL, *second = NULL;
    size_t len = 0;
    REQUIRE_OK(bloomline_journal_create(path.text, filter, 0, &journal));
    for (uint64_t round = 0; round < ROUNDS; round++) {
        change(filter, round);
        CHECK_STATUS(BLOOMLINE_ERR_SEQUENCE, bloomline_journal_save_changed(journal, filter, round));
        CHECK_OK(bloomline_journal_save_changed(journal, filter, round + 1));
        free(files_read(path.text, &len));
        CHECK_U64(len, bloomline_journal_file_len(journal));
        if (round == 2) {
            CHECK_STATUS(BLOOMLINE_ERR_SEQUENCE, bloomline_journal_restart(journal, filter, round));
            CHECK_OK(bloomline_journal_restart(journal, filter, round + 1));
            CHECK(bloomline_journal_file_len(journal) < len);
        }
        /* One writer. */
        CHECK_STATUS(BLOOMLINE_ERR_LOCKED, bloomline_journal_open(path.text, &second, &other));
        CHECK_STATUS(BLOOMLINE_ERR_LOCKED, bloomline_journal_create(path.text, filter, 0, &second));
        CHECK(second == NULL && other == NULL);
        bloomline_journal_free(journal);
        REQUIRE_OK(bloomline_journal_open(path.text, &journal, &other));
        CHECK_U64(round + 1, bloomline_journal_sequence(journal));
        are_equal(filter, other);
        bloomline_growing_free(filter);
        filter = other, other = NULL;
    }
    for (uint64_t i = 1; i < 40; i++) CHECK(growing_contains_hash(filter, bloomline_hash_u64(i, ROUNDS - 1)));
    /* What is removed takes no more. */
    CHECK(unlink(path.text) == 0);
    CHECK_STATUS(BLOOMLINE_ERR_NOT_FOUND, bloomline_journal_save_changed(journal, filter, 50));
    CHECK_STATUS(BLOOMLINE_ERR_NOT_FOUND, bloomline_journal_open(path.text, &second, &other));
    CHECK_OK(bloomline_journal_restart(journal, filter, 50));
    CHECK_OK(bloomline_journal_save_changed(journal, filter, 51));
    CHECK_STATUS(BLOOMLINE_ERR_NOT_A_FILE, bloomline_journal_open(directory.text, &second, &other));
    bloomline_journal_free(journal);
    bloomline_growing_free(filter);
    CHECK(unlink(path.text) == 0);
}

/* The library's calls arrive here. Between its opening of 'raced' and its lock another writer replaces that. While
   'slow' is flushed, another writer begins it. Flushing directories fails with 'unflushed', unless that is 0. */
static const char *raced, *slow;
static bloomline_journal *faster;
static int unflushed;
static unsigned flushed_files, flushed_directories;

int flock(int file, int operation)
{
    if (raced != NULL) {
        const char *path = raced;
        bloomline_growing *filter = NULL;
        bloomline_journal *journal = NULL;
        raced = NULL;
        REQUIRE_OK(bloomline_journal_open(path, &journal, &filter));
        CHECK_OK(bloomline_growing_insert_hash(filter, 1, NULL));
        CHECK_OK(bloomline_journal_restart(journal, filter, 8));
        bloomline_journal_free(journal), bloomline_growing_free(filter);
    }
    return (int)syscall(SYS_flock, file, operation);
}

int fsync(int file)
{
    struct stat found;
    bool is_directory = fstat(file, &found) == 0 && S_ISDIR(found.st_mode);
    const char *path = slow;
    slow = NULL;
    if (path != NULL) {
        bloomline_growing *filter = filter_of(3);
        REQUIRE_OK(bloomline_journal_create(path, filter, 30, &faster));
        bloomline_growing_free(filter);
    }
    *(is_directory ? &flushed_directories : &flushed_files) += 1;
    if (!is_directory || unflushed == 0) return (int)syscall(SYS_fsync, file);
    errno = unflushed;
    return -1;
}

/* One of two has the journal, and what it acknowledges stays. */
static void begun_by_two(void)
{
    file_name path = files_in(&directory, "journal");
    bloomline_growing *filter = filter_of(1), *opened = NULL;
    bloomline_journal *journal = NULL;
    for (int removed = 0; removed < 2; removed++) {
        if (removed != 0) {
            REQUIRE_OK(bloomline_journal_create(path.text, filter, 7, &journal));
            CHECK(unlink(path.text) == 0);
        }
        slow = path.text;
        CHECK_STATUS(BLOOMLINE_ERR_LOCKED, removed != 0 ? bloomline_journal_restart(journal, filter, 8)
                                                        : bloomline_journal_create(path.text, filter, 8, &journal));
        bloomline_journal_free(faster), bloomline_journal_free(journal);
        journal = NULL;
        REQUIRE_OK(bloomline_journal_open(path.text, &journal, &opened));
        CHECK_U64(30, bloomline_journal_sequence(journal));
        bloomline_journal_free(journal), bloomline_growing_free(opened);
        journal = NULL;
        CHECK(unlink(path.text) == 0);
    }
    bloomline_growing_free(filter);
}

/* What is read may have been written shortly before its writer ended. */
static void opened_is_flushed(void)
{
    file_name path = files_in(&directory, "journal");
    bloomline_growing *filter = filter_of(1), *opened = NULL;
    bloomline_journal *journal = NULL;
    /* A file system that flushes no directories. */
    static const int unsupported[] = {EINVAL, ENOSYS, EOPNOTSUPP, 0};
    for (const int *code = unsupported; *code != 0; code++) {
        unflushed = *code;
        REQUIRE_OK(bloomline_journal_create(path.text, filter, 7, &journal));
        bloomline_journal_free(journal);
    }
    unflushed = 0;
    flushed_files = flushed_directories = 0;
    REQUIRE_OK(bloomline_journal_open(path.text, &journal, &opened));
    CHECK(flushed_files == 1 && flushed_directories == 1);
    bloomline_journal_free(journal), bloomline_growing_free(opened), bloomline_growing_free(filter);
    CHECK(unlink(path.text) == 0);
}

static void replaced_while_it_is_opened(void)
{
    file_name path = files_in(&directory, "journal");
    bloomline_growing *filter = filter_of(1);
    bloomline_journal *journal = NULL;
    REQUIRE_OK(bloomline_journal_create(path.text, filter, 7, &journal));
    bloomline_journal_free(journal), bloomline_growing_free(filter);
    raced = path.text;
    REQUIRE_OK(bloomline_journal_open(path.text, &journal, &filter));
    CHECK(raced == NULL);
    CHECK_U64(8, bloomline_journal_sequence(journal));
    CHECK(growing_contains_hash(filter, 1));
    CHECK_OK(bloomline_growing_insert_hash(filter, 2, NULL));
    CHECK_OK(bloomline_journal_save_changed(journal, filter, 9));
    bloomline_journal_free(journal), bloomline_growing_free(filter);
    REQUIRE_OK(bloomline_journal_open(path.text, &journal, &filter));
    CHECK(bloomline_journal_sequence(journal) == 9 && growing_contains_hash(filter, 2));
    bloomline_journal_free(journal), bloomline_growing_free(filter);
    CHECK(unlink(path.text) == 0);
}

/* The new file is in its place, and the journal does not have it: nothing is acknowledged until it has. */
static void restarted_halfway(void)
{
    file_name path = files_in(&directory, "journal");
    bloomline_growing *filter = filter_of(1);
    bloomline_journal *journal = NULL;
    REQUIRE_OK(bloomline_journal_create(path.text, filter, 7, &journal));
    CHECK_OK(bloomline_growing_insert_hash(filter, 1, NULL));
    unflushed = EIO;
    CHECK_STATUS(BLOOMLINE_ERR_IO, bloomline_journal_restart(journal, filter, 8));
    unflushed = 0;
    CHECK_OK(bloomline_growing_insert_hash(filter, 2, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NOT_FOUND, bloomline_journal_save_changed(journal, filter, 9));
    CHECK_U64(7, bloomline_journal_sequence(journal));
    CHECK_OK(bloomline_journal_restart(journal, filter, 9));
    CHECK_OK(bloomline_growing_insert_hash(filter, 3, NULL));
    CHECK_OK(bloomline_journal_save_changed(journal, filter, 10));
    bloomline_journal_free(journal), bloomline_growing_free(filter);
    REQUIRE_OK(bloomline_journal_open(path.text, &journal, &filter));
    CHECK_U64(10, bloomline_journal_sequence(journal));
    for (uint64_t hash = 1; hash <= 3; hash++) CHECK(growing_contains_hash(filter, hash));
    bloomline_journal_free(journal), bloomline_growing_free(filter);
    CHECK(unlink(path.text) == 0);
}

/* ---- bytes ---- */

static store journal;
static size_t starts[ROUNDS + 1];

/* A record for each round, of the sequence numbers 10, 11 and so on. Returns what they make. */
static bloomline_growing *written(void)
{
    bloomline_growing *filter = filter_of(0);
    journal.len = 0, journal.cap = CAP;
    CHECK(!bloomline_growing_saved_sequence(filter, NULL));
    REQUIRE_OK(bloomline_growing_save_whole(filter, append, &journal, 10));
    for (uint64_t round = 0; round < ROUNDS; round++) {
        starts[round] = journal.len;
        change(filter, round);
        REQUIRE_OK(bloomline_growing_save_changed(filter, append, &journal, 11 + round));
    }
    starts[ROUNDS] = journal.len;
    return filter;
}

static void in_bytes(void)
{
    bloomline_growing *filter = written(), *copy = NULL, *expected = NULL;
    uint64_t sequence = 0;
    /* Of each length: the rounds whose records are whole. */
    for (size_t len = 0; len <= journal.len; len += 37) {
        size_t whole_len = 0, rounds = 0;
        while (rounds < ROUNDS && starts[rounds + 1] <= len) rounds++;
        bloomline_status status = bloomline_growing_replay(journal.bytes, len, &copy, &sequence, &whole_len);
        CHECK_STATUS(len < starts[0] ? BLOOMLINE_ERR_TRUNCATED : BLOOMLINE_OK, status);
        if (status != BLOOMLINE_OK) continue;
        CHECK(sequence == 10 + rounds && whole_len == starts[rounds]);
        expected = filter_of(rounds);
        are_equal(expected, copy);
        bloomline_growing_free(expected), bloomline_growing_free(copy);
    }
    /* A copy of the first record follows by patches. */
    size_t start = 0;
    REQUIRE_OK(bloomline_growing_replay(journal.bytes, starts[0], &copy, NULL, NULL));
    for (size_t round = 0; round < ROUNDS; round++) {
        CHECK_OK(bloomline_growing_patch_since(journal.bytes, starts[round + 1], 10 + round, &start));
        CHECK_U64(starts[round], start);
        for (int twice = 0; twice < 2; twice++) {
            CHECK_OK(bloomline_growing_apply_patch(copy, journal.bytes + start, starts[round + 1] - start, &sequence));
            CHECK_U64(11 + round, sequence);
        }
        expected = filter_of(round + 1);
        are_equal(expected, copy);
        bloomline_growing_free(expected);
    }
    CHECK_OK(bloomline_growing_patch_since(journal.bytes, journal.len, 10 + ROUNDS, &start));
    CHECK_U64(journal.len, start);
    CHECK_OK(bloomline_growing_apply_patch(copy, NULL, 0, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_SEQUENCE, bloomline_growing_patch_since(journal.bytes, journal.len, 99, &start));
    CHECK_STATUS(BLOOMLINE_ERR_TRUNCATED, bloomline_growing_patch_since(journal.bytes, journal.len - 1, 10, &start));
    CHECK_U64(journal.len, start);
    /* It has changed by itself. */
    CHECK_OK(bloomline_growing_insert_hash(copy, 1, NULL));
    change(filter, ROUNDS);
    REQUIRE_OK(bloomline_growing_save_changed(filter, append, &journal, 30));
    size_t len = journal.len - starts[ROUNDS];
    CHECK_STATUS(BLOOMLINE_ERR_SEQUENCE, bloomline_growing_apply_patch(copy, journal.bytes + starts[ROUNDS], len, NULL));
    /* A write that fails leaves the changes where they are. */
    CHECK_OK(bloomline_growing_insert_hash(filter, 7, NULL));
    size_t before = journal.len;
    journal.cap = before + 70;
    CHECK_STATUS(BLOOMLINE_ERR_IO, bloomline_growing_save_changed(filter, append, &journal, 31));
    journal.len = before, journal.cap = CAP;
    CHECK_STATUS(BLOOMLINE_ERR_SEQUENCE, bloomline_growing_save_changed(filter, append, &journal, 30));
    CHECK_OK(bloomline_growing_save_changed(filter, append, &journal, 31));
    bloomline_growing_free(copy);
    REQUIRE_OK(bloomline_growing_replay(journal.bytes, journal.len, &copy, &sequence, NULL));
    are_equal(filter, copy);
    CHECK_U64(31, sequence);
    bloomline_growing_free(copy), bloomline_growing_free(filter);
}

/* A copy of the journal, and of its filter, follows it in a file. */
static void followed_in_a_file(void)
{
    file_name path = files_in(&directory, "copy");
    bloomline_growing *filter = written(), *copy = NULL, *expected;
    bloomline_journal *own = NULL;
    uint64_t sequence = 0;
    files_write(path.text, journal.bytes, starts[0]);
    REQUIRE_OK(bloomline_journal_open(path.text, &own, &copy));
    for (size_t round = 0; round < ROUNDS; round++) {
        const uint8_t *patch = journal.bytes + starts[round];
        const size_t len = starts[round + 1] - starts[round];
        CHECK_STATUS(BLOOMLINE_ERR_TRUNCATED, bloomline_journal_apply_patch(own, copy, patch, len - 1, &sequence));
        CHECK_U64(starts[round], bloomline_journal_file_len(own));
        for (int twice = 0; twice < 2; twice++) {
            CHECK_OK(bloomline_journal_apply_patch(own, copy, patch, len, &sequence));
            CHECK_U64(11 + round, sequence);
        }
        bloomline_journal_free(own), bloomline_growing_free(copy);
        own = NULL, copy = NULL;
        REQUIRE_OK(bloomline_journal_open(path.text, &own, &copy));
        expected = filter_of(round + 1);
        are_equal(expected, copy);
        bloomline_growing_free(expected);
    }
    size_t len = 0;
    uint8_t *bytes = files_read(path.text, &len);
    CHECK(len == journal.len && memcmp(bytes, journal.bytes, len) == 0), free(bytes);
    /* It is as short as the other one. */
    journal.len = 0;
    REQUIRE_OK(bloomline_growing_save_whole(filter, append, &journal, 40));
    change(filter, ROUNDS);
    REQUIRE_OK(bloomline_growing_save_changed(filter, append, &journal, 41));
    CHECK_OK(bloomline_journal_apply_patch(own, copy, journal.bytes, journal.len, NULL));
    CHECK_U64(journal.len, bloomline_journal_file_len(own));
    CHECK_U64(41, bloomline_journal_sequence(own));
    are_equal(filter, copy);
    /* It has changed by itself. */
    size_t before = journal.len;
    change(filter, ROUNDS + 1);
    REQUIRE_OK(bloomline_growing_save_changed(filter, append, &journal, 42));
    CHECK_OK(bloomline_growing_insert_hash(copy, 1, NULL));
    const uint8_t *patch = journal.bytes + before;
    CHECK_STATUS(BLOOMLINE_ERR_SEQUENCE, bloomline_journal_apply_patch(own, copy, patch, journal.len - before, NULL));
    CHECK_U64(before, bloomline_journal_file_len(own));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_journal_apply_patch(own, NULL, patch, 1, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_journal_apply_patch(own, copy, NULL, 1, NULL));
    bloomline_journal_free(own), bloomline_growing_free(copy), bloomline_growing_free(filter);
    CHECK(unlink(path.text) == 0);
}

/* Any bytes: a status, and a filter that is right or none. */
static void damaged(void)
{
    bloomline_growing *filter = written(), *last = filter_of(ROUNDS - 1), *copy = NULL;
    const size_t step = check_fewer() ? 97 : 5;
    for (size_t bit = 0; bit < 8 * journal.len; bit += step) {
        size_t start = 0, whole_len = 0;
        uint8_t *data = malloc(journal.len);
        REQUIRE(data != NULL);
        memcpy(data, journal.bytes, journal.len);
        data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        if (bloomline_growing_replay(data, journal.len, &copy, NULL, &whole_len) == BLOOMLINE_OK) {
            /* Only of the last record can damage be taken for one that was not written to its end. */
            CHECK_WITH(bit / 8 >= starts[ROUNDS - 1] && whole_len == starts[ROUNDS - 1], "bit %zu", bit);
            are_equal(last, copy);
            bloomline_growing_free(copy);
        }
        REQUIRE_OK(bloomline_growing_replay(journal.bytes, starts[0], &copy, NULL, NULL));
        if (bloomline_growing_patch_since(data, journal.len, 10, &start) == BLOOMLINE_OK) {
            bloomline_status status = bloomline_growing_apply_patch(copy, data + start, journal.len - start, NULL);
            CHECK_WITH((status == BLOOMLINE_OK) == (bit / 8 < start), "bit %zu", bit);
        }
        bloomline_growing_free(copy);
        free(data);
    }
    bloomline_growing_free(filter), bloomline_growing_free(last);
}

static void bad_input(void)
{
    file_name path = files_in(&directory, "none");
    bloomline_growing *filter = filter_of(1), *untouched = NULL;
    bloomline_journal *handle = NULL;
    size_t start = 5;
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_journal_create(NULL, filter, 0, &handle));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_journal_create(path.text, NULL, 0, &handle));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_journal_create(path.text, filter, 0, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_journal_open(NULL, &handle, &untouched));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_journal_open(path.text, NULL, &untouched));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_journal_open(path.text, &handle, NULL));
    CHECK(access(path.text, F_OK) != 0);
    CHECK_STATUS(BLOOMLINE_ERR_NOT_FOUND, bloomline_journal_open(path.text, &handle, &untouched));
    CHECK_STATUS(BLOOMLINE_ERR_NOT_FOUND, bloomline_journal_open("", &handle, &untouched));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_journal_save_changed(NULL, filter, 1));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_journal_restart(NULL, filter, 1));
    REQUIRE_OK(bloomline_journal_create(path.text, filter, 1, &handle));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_journal_save_changed(handle, NULL, 2));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_journal_restart(handle, NULL, 2));
    CHECK_U64(1, bloomline_journal_sequence(handle));
    bloomline_journal_free(handle);
    CHECK(unlink(path.text) == 0);
    CHECK(bloomline_journal_sequence(NULL) == 0 && bloomline_journal_file_len(NULL) == 0);
    bloomline_journal_free(NULL);
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_growing_save_whole(NULL, append, &journal, 1));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_growing_save_whole(filter, NULL, NULL, 1));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_growing_save_changed(NULL, append, &journal, 1));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_growing_save_changed(filter, NULL, NULL, 1));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_growing_replay(NULL, 1, &untouched, NULL, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_growing_replay(journal.bytes, 1, NULL, NULL, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_TRUNCATED, bloomline_growing_replay(NULL, 0, &untouched, NULL, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_growing_patch_since(NULL, 1, 0, &start));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_growing_patch_since(journal.bytes, journal.len, 10, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_SEQUENCE, bloomline_growing_patch_since(NULL, 0, 0, &start));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_growing_apply_patch(NULL, journal.bytes, 1, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_growing_apply_patch(filter, NULL, 1, NULL));
    CHECK(!bloomline_growing_saved_sequence(NULL, NULL));
    CHECK(untouched == NULL && start == 5);
    bloomline_growing_free(filter);
}

int main(int argc, char **argv)
{
    check_begin("test_journal");
    golden_begin(argc, argv);
    directory = files_begin();
    RUN(golden);
    RUN(in_a_file);
    RUN(replaced_while_it_is_opened);
    RUN(restarted_halfway);
    RUN(begun_by_two);
    RUN(opened_is_flushed);
    RUN(in_bytes);
    RUN(followed_in_a_file);
    RUN(damaged);
    RUN(bad_input);
    CHECK(rmdir(directory.text) == 0);
    return check_end();
}
