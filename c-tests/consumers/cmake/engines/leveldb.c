/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* leveldb.c - a program outside of the project that uses the adapter for LevelDB: it writes and
 * reads a database in the directory that it is given. */
#include <bloomline_leveldb.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **arguments)
{
    (void)count;
    char *error = NULL;
    leveldb_filterpolicy_t *policy = bloomline_leveldb_filterpolicy(10);
    leveldb_options_t *options = leveldb_options_create();
    leveldb_options_set_create_if_missing(options, 1);
    leveldb_options_set_filter_policy(options, policy);
    leveldb_t *db = leveldb_open(options, arguments[1], &error);
    if (db == NULL) {
        fprintf(stderr, "%s\n", error);
        return 1;
    }
    leveldb_writeoptions_t *writing = leveldb_writeoptions_create();
    leveldb_readoptions_t *reading = leveldb_readoptions_create();
    leveldb_put(db, writing, "apple", 5, "red", 3, &error);
    leveldb_compact_range(db, NULL, 0, NULL, 0);
    size_t found_len = 0, other_len = 0;
    char *found = leveldb_get(db, reading, "apple", 5, &found_len, &error);
    char *other = leveldb_get(db, reading, "plum", 4, &other_len, &error);
    bool right = error == NULL && found != NULL && found_len == 3 && other == NULL;
    leveldb_free(found);
    leveldb_close(db);
    leveldb_readoptions_destroy(reading);
    leveldb_writeoptions_destroy(writing);
    leveldb_options_destroy(options);
    leveldb_filterpolicy_destroy(policy);
    printf("consumer of bloomline::leveldb: %s\n", right ? "right" : "WRONG");
    return !right;
}
