/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * golden.h - reads the golden files: text files word by word, and the files that a MANIFEST names,
 * each with its bytes and its probes.
 *
 *     MANIFEST        accepted NAME number...
 *                     rejected NAME status
 *     NAME.probes     hash count          (hash in hex; count 0 or 1 where keys are not counted)
 *
 * C or C++, POSIX. Uses files.h. The directory is the argument of the program: main() passes its
 * own to golden_begin().
 */
#ifndef GOLDEN_H
#define GOLDEN_H

#include "files.h"

enum { GOLDEN_LINE = 8192, GOLDEN_WORDS = 32 };

static const char *golden_directory;

static inline void golden_begin(int argc, char **argv)
{
    REQUIRE(argc == 2);
    golden_directory = argv[1];
}

/* ---- text ---- */

typedef struct {
    FILE *file; /* NULL: not open */
    size_t count;
    char *words[GOLDEN_WORDS]; /* of a line */
    char line[GOLDEN_LINE];
} golden_text;

static inline file_name golden_path(const char *part, const char *name, const char *suffix)
{
    file_name path;
    int length = snprintf(path.text, sizeof path.text, "%s/%s%s%s", golden_directory, part, name, suffix);
    REQUIRE(length > 0 && (size_t)length < sizeof path.text);
    return path;
}

static inline void golden_open(golden_text *text, const char *part, const char *name, const char *suffix)
{
    file_name path = golden_path(part, name, suffix);
    text->file = fopen(path.text, "r");
    if (text->file == NULL) printf("    cannot open %s\n", path.text);
    REQUIRE(text->file != NULL);
}

/* Cuts the next line into words. Returns false at the end, and closes the file. */
static inline bool golden_line(golden_text *text)
{
    text->count = 0;
    if (fgets(text->line, GOLDEN_LINE, text->file) == NULL) {
        fclose(text->file);
        text->file = NULL;
        return false;
    }
    REQUIRE(strchr(text->line, '\n') != NULL || feof(text->file)); /* it had room */
    for (char *word = strtok(text->line, " \n"); word != NULL; word = strtok(NULL, " \n")) {
        REQUIRE(text->count < GOLDEN_WORDS);
        text->words[text->count++] = word;
    }
    return true;
}

static inline uint64_t golden_number(const char *word, int base)
{
    char *end;
    uint64_t value = strtoull(word, &end, base);
    REQUIRE(end != word && *end == '\0');
    return value;
}

/* Writes the bytes of a word in hex to 'out', which has room for 'cap', and returns how many. */
static inline size_t golden_bytes(const char *word, uint8_t *out, size_t cap)
{
    size_t len = strlen(word) / 2;
    REQUIRE(len <= cap && strlen(word) % 2 == 0);
    for (size_t i = 0; i < len; i++) {
        char digits[3] = {word[2 * i], word[2 * i + 1], '\0'};
        out[i] = (uint8_t)golden_number(digits, 16);
    }
    return len;
}

/* ---- the files of a MANIFEST ---- */

typedef struct {
    const char *part, *name;         /* "classic/", "accepted/empty.bloomline" */
    bloomline_status status;         /* BLOOMLINE_OK: accepted */
    size_t count;
    uint64_t numbers[GOLDEN_WORDS];  /* behind the name, of an accepted file */
    uint8_t *data;
    size_t len;
    size_t accepted, rejected, probed; /* files so far; probes of this one */
    golden_text manifest, probes;
} golden_files;

static inline void golden_files_open(golden_files *files, const char *part)
{
    memset(files, 0, sizeof *files);
    files->part = part;
    golden_open(&files->manifest, part, "MANIFEST", "");
}

/* Reads the next file. Returns false if that was the last. */
static inline bool golden_next(golden_files *files)
{
    golden_text *row = &files->manifest;
    free(files->data);
    files->data = NULL;
    if (!golden_line(row)) return false;
    bool accepted = row->count > 2 && strcmp(row->words[0], "accepted") == 0;
    REQUIRE(accepted || (row->count == 3 && strcmp(row->words[0], "rejected") == 0));
    files->name = row->words[1];
    files->count = row->count - 2;
    for (size_t i = 0; i < files->count; i++) files->numbers[i] = golden_number(row->words[i + 2], 10);
    files->status = accepted ? BLOOMLINE_OK : (bloomline_status)files->numbers[0];
    REQUIRE(accepted == (files->status == BLOOMLINE_OK));
    *(accepted ? &files->accepted : &files->rejected) += 1;
    file_name path = golden_path(files->part, files->name, "");
    files->data = files_read(path.text, &files->len);
    if (files->data == NULL) printf("    cannot read %s\n", path.text);
    REQUIRE(files->data != NULL);
    files->probed = 0;
    return true;
}

/* Reads the next probe of the file. Returns false if that was the last. */
static inline bool golden_probe(golden_files *files, uint64_t *hash, uint64_t *count)
{
    golden_text *row = &files->probes;
    if (row->file == NULL) golden_open(row, files->part, files->name, ".probes");
    if (!golden_line(row)) {
        CHECK(files->probed > 0);
        return false;
    }
    REQUIRE(row->count == 2);
    *hash = golden_number(row->words[0], 16);
    *count = golden_number(row->words[1], 10);
    files->probed++;
    return true;
}

/* There were at least so many files. */
static inline void golden_files_end(const golden_files *files, size_t accepted, size_t rejected)
{
    printf("    golden/%s: %zu accepted, %zu rejected\n", files->part, files->accepted, files->rejected);
    CHECK(files->accepted >= accepted && files->rejected >= rejected);
}

#endif /* GOLDEN_H */
