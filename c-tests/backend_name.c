/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* backend_name.c - prints which backend answers in this environment, for run_backends.sh. */
#include <bloomline.h>

#include <stdio.h>

int main(void)
{
    puts(bloomline_backend());
    return 0;
}
