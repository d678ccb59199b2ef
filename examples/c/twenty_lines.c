/* A filter in twenty lines of C: the whole of it is in docs/C.md. */
#include <bloomline.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    const char *others[] = {"pear", "plum"};
    bloomline_params params;
    bloomline_filter *filter = NULL;
    bloomline_status status = bloomline_params_for_rate(1000, 0.01, &params); /* 1000 keys at 1 % */
    if (status == BLOOMLINE_OK) status = bloomline_filter_new(&params, &filter);
    if (status != BLOOMLINE_OK) {
        puts(bloomline_status_message(status));
        return 1;
    }
    bloomline_filter_insert(filter, "apple", 5);
    for (int i = 0; i < 2; i++) bloomline_filter_insert(filter, others[i], strlen(others[i]));
    printf("apple: %s\n", bloomline_filter_contains(filter, "apple", 5) ? "maybe" : "no");
    printf("grape: %s\n", bloomline_filter_contains(filter, "grape", 5) ? "maybe" : "no");
    status = bloomline_filter_save(filter, "fruit.bloomline"); /* any CPU can read it */
    bloomline_filter_free(filter);
    return status == BLOOMLINE_OK ? 0 : 1;
}
