/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* consumer.c - a program outside of the project that uses the installed library from C. */
#include <bloomline.h>

#include <stdio.h>
#include <string.h>

int main(void)
{
    bloomline_params params;
    bloomline_filter *filter;
    bloomline_status status = bloomline_params_for_rate(1000, 0.01, &params);
    if (status == BLOOMLINE_OK) status = bloomline_filter_new(&params, &filter);
    if (status != BLOOMLINE_OK) {
        fprintf(stderr, "%s\n", bloomline_status_message(status));
        return 1;
    }
    bloomline_filter_insert(filter, "apple", 5);
    bool right = bloomline_filter_contains(filter, "apple", 5) && !bloomline_filter_contains(filter, "plum", 4);
    bloomline_filter_free(filter);
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", BLOOMLINE_VERSION_MAJOR, BLOOMLINE_VERSION_MINOR,
             BLOOMLINE_VERSION_PATCH);
    right = right && strcmp(version, bloomline_version()) == 0 && bloomline_abi_version() == BLOOMLINE_ABI_VERSION;
    printf("C consumer of bloomline %s: %s\n", bloomline_version(), right ? "right" : "WRONG");
    return !right;
}
