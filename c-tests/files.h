/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * files.h - files for the C tests: a directory of the test's own, whole files in and out.
 * POSIX. Uses check.h; include it after _XOPEN_SOURCE is set.
 */
#ifndef FILES_H
#define FILES_H

#include "check.h"

#include <unistd.h>

typedef struct {
    char text[512];
} file_name;

/* A new directory for the files of a test. */
static inline file_name files_begin(void)
{
    const char *base = getenv("TMPDIR");
    file_name directory;
    int length = snprintf(directory.text, sizeof directory.text, "%s/bloomline-test-XXXXXX",
                          base != NULL && base[0] != '\0' ? base : "/tmp");
    REQUIRE(length > 0 && (size_t)length < sizeof directory.text);
    REQUIRE(mkdtemp(directory.text) != NULL);
    return directory;
}

static inline file_name files_in(const file_name *directory, const char *name)
{
    file_name path;
    int length = snprintf(path.text, sizeof path.text, "%s/%s", directory->text, name);
    REQUIRE(length > 0 && (size_t)length < sizeof path.text);
    return path;
}

static inline void files_write(const char *path, const void *data, size_t len)
{
    FILE *file = fopen(path, "wb");
    REQUIRE(file != NULL);
    REQUIRE(len == 0 || fwrite(data, 1, len, file) == len);
    REQUIRE(fclose(file) == 0);
}

/* The bytes of a file in memory of exactly their length, to be freed; NULL if it cannot
   be read. */
static inline uint8_t *files_read(const char *path, size_t *len)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) return NULL;
    REQUIRE(fseek(file, 0, SEEK_END) == 0);
    long size = ftell(file);
    REQUIRE(size >= 0 && fseek(file, 0, SEEK_SET) == 0);
    *len = (size_t)size;
    uint8_t *data = (uint8_t *)malloc(*len > 0 ? *len : 1);
    REQUIRE(data != NULL);
    REQUIRE(fread(data, 1, *len, file) == *len);
    fclose(file);
    return data;
}

#endif /* FILES_H */
