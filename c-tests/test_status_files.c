/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_status_files.c - what goes wrong with files: missing, forbidden, no file at all, cut
 * short; and that a save which fails leaves what was there.
 */
#define _XOPEN_SOURCE 700

#include "check.h"
#include "definition.h"
#include "files.h"

#include <sys/stat.h>
#include <sys/wait.h>

static file_name directory;
static bloomline_filter *filter;

/* What each way to read a file says of it. */
static void check_readers(bloomline_status expected, bloomline_status unverified, const char *path)
{
    bloomline_filter *loaded = (bloomline_filter *)&directory;
    bloomline_map *map = (bloomline_map *)&directory;
    CHECK_STATUS(expected, bloomline_filter_load(path, &loaded));
    CHECK((void *)loaded == (void *)&directory);
    CHECK_STATUS(expected, bloomline_map_open(path, 0, &map));
    CHECK((void *)map == (void *)&directory);
    CHECK_STATUS(expected, bloomline_map_open(path, BLOOMLINE_MAP_COPY, &map));
    CHECK((void *)map == (void *)&directory);
    CHECK_STATUS(unverified, bloomline_map_open(path, BLOOMLINE_MAP_UNVERIFIED, &map));
    if (unverified == BLOOMLINE_OK) {
        bloomline_map_close(map);
    } else {
        CHECK((void *)map == (void *)&directory);
    }
}

static void missing(void)
{
    file_name path = files_in(&directory, "missing"), below = files_in(&directory, "missing/file");
    check_readers(BLOOMLINE_ERR_NOT_FOUND, BLOOMLINE_ERR_NOT_FOUND, path.text);
    check_readers(BLOOMLINE_ERR_NOT_FOUND, BLOOMLINE_ERR_NOT_FOUND, below.text);
    check_readers(BLOOMLINE_ERR_NOT_FOUND, BLOOMLINE_ERR_NOT_FOUND, "");
    CHECK_STATUS(BLOOMLINE_ERR_NOT_FOUND, bloomline_filter_save(filter, below.text));
    CHECK_STATUS(BLOOMLINE_ERR_NOT_FOUND, bloomline_filter_save(filter, "")); /* as readers say */
    CHECK_STATUS(BLOOMLINE_ERR_NOT_A_FILE, bloomline_filter_save(filter, "/"));
}

static void no_regular_file(void)
{
    file_name target = files_in(&directory, "directory"), below = files_in(&directory, "file/below");
    REQUIRE(mkdir(target.text, 0755) == 0);
    check_readers(BLOOMLINE_ERR_NOT_A_FILE, BLOOMLINE_ERR_NOT_A_FILE, target.text);
    CHECK_STATUS(BLOOMLINE_ERR_NOT_A_FILE, bloomline_filter_save(filter, target.text));
    CHECK(rmdir(target.text) == 0); /* still there, and empty */

    file_name file = files_in(&directory, "file");
    files_write(file.text, "x", 1);
    CHECK_STATUS(BLOOMLINE_ERR_IO, bloomline_filter_save(filter, below.text)); /* not a directory */
    CHECK(unlink(file.text) == 0);

    /* A device, and a pipe that nobody writes to: neither is read, nor taken for a file to
       replace. */
    check_readers(BLOOMLINE_ERR_NOT_A_FILE, BLOOMLINE_ERR_NOT_A_FILE, "/dev/null");
    file_name pipe = files_in(&directory, "pipe"), link = files_in(&directory, "link");
    REQUIRE(mkfifo(pipe.text, 0600) == 0);
    check_readers(BLOOMLINE_ERR_NOT_A_FILE, BLOOMLINE_ERR_NOT_A_FILE, pipe.text);
    CHECK_STATUS(BLOOMLINE_ERR_NOT_A_FILE, bloomline_filter_save(filter, pipe.text));
    REQUIRE(symlink("/dev/null", link.text) == 0);
    CHECK_STATUS(BLOOMLINE_ERR_NOT_A_FILE, bloomline_filter_save(filter, link.text));
    struct stat found;
    CHECK(lstat(pipe.text, &found) == 0 && S_ISFIFO(found.st_mode));
    CHECK(lstat(link.text, &found) == 0 && S_ISLNK(found.st_mode));
    CHECK(unlink(pipe.text) == 0 && unlink(link.text) == 0);
}

/* A file that is replaced keeps its permissions. */
static void a_save_keeps_permissions(void)
{
    file_name path = files_in(&directory, "private");
    static const mode_t modes[] = {0600, 0640, 0666, 0400};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        struct stat found;
        files_write(path.text, "old", 3);
        REQUIRE(chmod(path.text, modes[i]) == 0);
        CHECK_OK(bloomline_filter_save(filter, path.text));
        CHECK(stat(path.text, &found) == 0 && (found.st_mode & 07777) == modes[i]);
        CHECK(unlink(path.text) == 0);
    }
}

/* A file of 4 TB of zeros is no filter, which its last bytes say: no memory is taken for it. */
static void a_huge_file(void)
{
    file_name path = files_in(&directory, "huge");
    files_write(path.text, "", 0);
    if (truncate(path.text, (off_t)1 << 42) == 0) {
        check_readers(BLOOMLINE_ERR_NOT_A_FILTER, BLOOMLINE_ERR_NOT_A_FILTER, path.text);
    } else {
        printf("not tried: no files of 4 TB here\n");
    }
    CHECK(unlink(path.text) == 0);
}

static void cut_short_or_damaged(void)
{
    file_name path = files_in(&directory, "file");
    size_t len = bloomline_filter_encoded_len(filter);
    uint8_t *data = malloc(len + 1);
    REQUIRE(data != NULL);
    REQUIRE_OK(bloomline_filter_encode(filter, data, len, NULL));
    for (size_t cut = 0; cut <= len; cut++) {
        bloomline_status expected = cut < FOOTER_BYTES ? BLOOMLINE_ERR_TRUNCATED : BLOOMLINE_ERR_NOT_A_FILTER;
        if (cut == len) { /* one byte too many instead */
            data[len] = 0;
            cut = len + 1;
        }
        files_write(path.text, data, cut);
        check_readers(expected, expected, path.text);
    }
    /* The front is missing. */
    files_write(path.text, data + 1, len - 1);
    check_readers(BLOOMLINE_ERR_TRUNCATED, BLOOMLINE_ERR_TRUNCATED, path.text);
    files_write(path.text, data + LINE_BYTES, len - LINE_BYTES);
    check_readers(BLOOMLINE_ERR_TRUNCATED, BLOOMLINE_ERR_TRUNCATED, path.text);
    data[0] ^= 1;
    files_write(path.text, data, len);
    check_readers(BLOOMLINE_ERR_CHECKSUM, BLOOMLINE_OK, path.text);
    CHECK(unlink(path.text) == 0);
    free(data);
}

static void failed_save_leaves_the_old_file(void)
{
    /* The name is as long as names can be, so there is none beside it that is longer: either
       it works or it fails, but the old file is whole. */
    char name[256];
    memset(name, 'n', 255);
    name[255] = '\0';
    file_name path = files_in(&directory, name);
    files_write(path.text, "old", 3);
    bloomline_status status = bloomline_filter_save(filter, path.text);
    size_t len = 0;
    uint8_t *data = files_read(path.text, &len);
    REQUIRE(data != NULL);
    if (status == BLOOMLINE_OK) {
        CHECK_U64(bloomline_filter_encoded_len(filter), len);
    } else {
        CHECK_STATUS(BLOOMLINE_ERR_IO, status);
        CHECK(len == 3 && memcmp(data, "old", 3) == 0);
    }
    free(data);
    CHECK(unlink(path.text) == 0);
}

/* As a user who is not root: root may do everything. */
static void forbidden(void)
{
    file_name secret = files_in(&directory, "secret"), locked = files_in(&directory, "locked"),
              inside = files_in(&locked, "file");
    files_write(secret.text, "x", 1);
    REQUIRE(chmod(directory.text, 0755) == 0 && chmod(secret.text, 0) == 0);
    REQUIRE(mkdir(locked.text, 0755) == 0);
    files_write(inside.text, "old", 3);
    REQUIRE(chmod(inside.text, 0444) == 0 && chmod(locked.text, 0555) == 0);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0) REQUIRE(setgid(65534) == 0 && setuid(65534) == 0);
        check_state.checks = check_state.failures = 0;
        check_readers(BLOOMLINE_ERR_PERMISSION, BLOOMLINE_ERR_PERMISSION, secret.text);
        CHECK_STATUS(BLOOMLINE_ERR_PERMISSION, bloomline_filter_save(filter, inside.text));
        fflush(stdout);
        _exit(check_state.failures > 0 || check_state.checks < 6);
    }
    int status = -1;
    REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    size_t len = 0;
    uint8_t *data = files_read(inside.text, &len);
    CHECK(data != NULL && len == 3 && memcmp(data, "old", 3) == 0);
    free(data);
    CHECK(chmod(locked.text, 0755) == 0 && unlink(inside.text) == 0 && rmdir(locked.text) == 0);
    CHECK(unlink(secret.text) == 0);
}

/* Another name of the file that is replaced keeps the old filter. */
static void a_save_does_not_write_in_place(void)
{
    file_name first = files_in(&directory, "first"), second = files_in(&directory, "second");
    CHECK_OK(bloomline_filter_save(filter, first.text));
    REQUIRE(link(first.text, second.text) == 0);
    bloomline_filter *empty = NULL, *loaded = NULL;
    bloomline_params params = {1, 1, 0, 0};
    REQUIRE_OK(bloomline_filter_new(&params, &empty));
    CHECK_OK(bloomline_filter_save(empty, first.text));
    /* The other name still has the old filter: nothing was written in place. */
    CHECK_OK(bloomline_filter_load(second.text, &loaded));
    CHECK(bloomline_filter_contains(loaded, "apple", 5));
    CHECK_U64(bloomline_filter_encoded_len(filter), bloomline_filter_encoded_len(loaded));
    bloomline_filter_free(empty);
    bloomline_filter_free(loaded);
    CHECK(unlink(first.text) == 0 && unlink(second.text) == 0);
}

int main(void)
{
    check_begin("test_status_files");
    bloomline_params params = {3, 6, 0, 5};
    directory = files_begin();
    REQUIRE_OK(bloomline_filter_new(&params, &filter));
    bloomline_filter_insert(filter, "apple", 5);
    RUN(missing);
    RUN(no_regular_file);
    RUN(a_save_keeps_permissions);
    RUN(a_huge_file);
    RUN(cut_short_or_damaged);
    RUN(failed_save_leaves_the_old_file);
    RUN(forbidden);
    RUN(a_save_does_not_write_in_place);
    bloomline_filter_free(filter);
    if (rmdir(directory.text) != 0) {
        printf("files were left behind in %s\n", directory.text);
        return 1;
    }
    return check_end();
}
