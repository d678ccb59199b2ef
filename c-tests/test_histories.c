/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_histories.c DIRECTORY - the histories of all kinds in DIRECTORY/histories: every operation
 * is done and answered as they say.
 */
#define _XOPEN_SOURCE 700

#include "kinds.h"

static const row *kind;
static void *two[2];

static void put(void *handle)
{
    kind->destroy(two[0]);
    two[0] = handle;
}

static void answer_keys(char *answer, const char *verb)
{
    static uint64_t bitmap[HISTORY_WORDS];
    memset(bitmap, 0xA5, sizeof bitmap);
    size_t count = 0;
    if (is(verb, "contains")) {
        count = kind->contains_all(two[0], bitmap);
        for (size_t i = 0; i < asked.n; i++) CHECK_WITH(kind->contains(two[0], i) == bit_of(bitmap, i), "key %zu", i);
        if (asked.one) strcpy(answer, count == 1 ? "maybe" : "absent");
        else history_bitmap(answer, count, bitmap, asked.n);
    } else if (is(verb, "remove")) {
        if (asked.one) history_status(answer, kind->remove(two[0], 0));
        else history_bitmap(answer, kind->remove_all(two[0], bitmap), bitmap, asked.n);
    } else if (is(verb, "insert") && asked.one) {
        bool is_new = false;
        bloomline_status status = kind->insert(two[0], &is_new);
        if (status == BLOOMLINE_OK) strcpy(answer, is_new ? "new" : "old");
        else history_status(answer, status);
    } else {
        bool tell = is(verb, "insert_new");
        bloomline_status status = kind->insert_all(two[0], tell ? bitmap : NULL, &count);
        if (tell && status == BLOOMLINE_OK) history_bitmap(answer, count, bitmap, asked.n);
        else history_status(answer, status);
    }
}

static void answers(char *answer, char **words, size_t count)
{
    const char *verb = words[0];
    void *made = NULL;
    size_t len;
    if (is(verb, "new")) {
        bloomline_status status = kind->make(words + 1, count - 1, &made);
        history_status(answer, status);
        CHECK((status == BLOOMLINE_OK) == (made != NULL));
        if (made != NULL) put(made);
    } else if (is(verb, "open")) {
        file_name path = golden_path("", words[1], "");
        uint8_t *data = files_read(path.text, &len);
        REQUIRE(data != NULL);
        history_status(answer, kind->decode(data, len, &made));
        free(data);
        put(made);
    } else if (is(verb, "swap")) {
        made = two[0];
        two[0] = two[1];
        two[1] = made;
    } else if (is(verb, "copy")) {
        kind->destroy(two[1]);
        two[1] = NULL;
        REQUIRE_OK(kind->clone(two[0], &two[1]));
    } else if (is(verb, "union")) {
        history_status(answer, kind->unite(two[0], two[1]));
    } else if (is(verb, "encode")) {
        uint8_t *data = encoded_by(kind, two[0], &len);
        history_digest(answer, len, data, len);
        free(data);
    } else if (is(verb, "reopen")) {
        uint8_t *data = encoded_by(kind, two[0], &len);
        history_status(answer, kind->decode(data, len, &made));
        free(data);
        put(made);
    } else if (is(verb, "save")) {
        file_name directory = files_begin(), path = files_in(&directory, "filter");
        REQUIRE_OK(kind->save(two[0], path.text));
        history_status(answer, kind->load(path.text, &made));
        CHECK(unlink(path.text) == 0 && rmdir(directory.text) == 0);
        put(made);
    } else if (is(verb, "with_columns")) {
        history_status(answer, kind->resized(two[0], (size_t)golden_number(words[1], 10), &made));
        if (made != NULL) put(made);
    } else if (kind->contains == NULL) {
        kind->other(answer, two[0], words);
    } else if (is(verb, "insert") || is(verb, "insert_new") || is(verb, "contains") || is(verb, "remove")) {
        history_read(&asked, words + 1, count - 1);
        answer_keys(answer, verb);
    } else {
        kind->other(answer, two[0], words);
    }
}

static void history(void)
{
    history_replay(kind->name, answers);
    for (int i = 0; i < 2; i++) {
        kind->destroy(two[i]);
        two[i] = NULL;
    }
}

int main(int argc, char **argv)
{
    golden_begin(argc, argv);
    check_begin("test_histories");
    for (size_t i = 0; i < ROWS; i++) {
        kind = &rows[i];
        if (kind->make != NULL) check_run(history, kind->name);
    }
    return check_end();
}
