/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* host.c - loads two shared libraries made of plugin.c: with the library hidden in each, the
 * allocator that one of them sets is not the other's. */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* A function by its name; C has no cast for it. */
static int (*function(void *library, const char *name))(void)
{
    int (*function)(void) = NULL;
    void *found = library != NULL ? dlsym(library, name) : NULL;
    if (found == NULL) fprintf(stderr, "host: %s\n", dlerror());
    memcpy(&function, &found, sizeof found);
    return function;
}

int main(int count, char **arguments)
{
    if (count != 3) return 2;
    /* What one exports the other would find. */
    void *first = dlopen(arguments[1], RTLD_NOW | RTLD_GLOBAL), *second = dlopen(arguments[2], RTLD_NOW | RTLD_GLOBAL);
    int (*counts)(void) = function(first, "plugin_counts_allocations");
    int (*first_makes)(void) = function(first, "plugin_makes_a_filter");
    int (*second_makes)(void) = function(second, "plugin_makes_a_filter");
    if (counts == NULL || first_makes == NULL || second_makes == NULL) return 2;
    /* The first one counts one allocation, and none of the second. */
    int right = second_makes() == 0 && counts() && first_makes() == 1;
    int second_count = second_makes();
    int first_count = first_makes();
    printf("allocations counted: %d and %d\n", first_count, second_count);
    return !(right && second_count == 0 && first_count == 2);
}
