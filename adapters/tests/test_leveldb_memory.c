/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_leveldb_memory.c - a filter that there is no memory for matches every key. Linked
 * with --wrap=malloc, so that the adapter gets as much as is allowed here. Uses
 * bloomline_leveldb.h and the C library.
 */
#include "../leveldb/bloomline_leveldb.h"

#include <bloomline.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t most = SIZE_MAX;

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
    return size <= most ? __real_malloc(size) : NULL;
}

int main(void)
{
    enum { KEYS = 1000 };
    static char text[KEYS][16];
    static const char *keys[KEYS];
    static size_t lengths[KEYS];
    int bits = 10;
    unsigned long passed = 0, failed = 0;
    printf("test_leveldb_memory: bloomline %s, backend %s\n", bloomline_version(), bloomline_backend());
    for (int i = 0; i < KEYS; i++) {
        snprintf(text[i], sizeof text[i], "key %d", i);
        keys[i] = text[i];
        lengths[i] = strlen(text[i]);
    }
    /* What is allowed: all; the filter but not the hashes; nothing but the two bytes. */
    for (int n = 1; n <= KEYS; n += 37)
        for (int allowed = 0; allowed < 3; allowed++) {
            size_t full = bloomline_engine_block_len(BLOOMLINE_ENGINE_LEVELDB, (size_t)n, bits), len = 0;
            most = allowed == 0 ? SIZE_MAX : allowed == 1 ? full : 2;
            char *filter = bloomline_leveldb_create_filter(&bits, keys, lengths, n, &len);
            most = SIZE_MAX;
            /* Up to 256 hashes need no malloc(). */
            int whole = allowed == 0 || (allowed == 1 && n <= 256);
            int good = len == (whole ? full : 2), matches = 0;
            for (int i = 0; i < n; i++)
                good &= bloomline_leveldb_key_may_match(&bits, keys[i], lengths[i], filter, len) == 1;
            for (int i = 0; i < 1000; i++) {
                char other[16];
                snprintf(other, sizeof other, "other %d", i);
                matches += bloomline_leveldb_key_may_match(&bits, other, strlen(other), filter, len);
            }
            good &= whole ? matches < 100 : matches == 1000;
            if (good)
                passed++;
            else {
                failed++;
                printf("  FAILED  %d keys, case %d: %zu bytes, %d matches\n", n, allowed, len, matches);
            }
            free(filter);
        }
    printf("%lu passed, %lu failed\n", passed, failed);
    return failed > 0 || passed == 0;
}
