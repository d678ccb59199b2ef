/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * columns.c - a join of a table of orders with the customers and articles that a query is about: a filter
 * of each drops most orders before the join looks them up.
 *
 *     cc -O2 -o columns columns.c $(pkg-config --cflags --libs bloomline)
 *     ./columns [ORDERS]                 1000000 unless told
 *
 * A column comes in batches of 2,048 rows. The first filter selects rows, the second refines the selection;
 * what is left is joined. Integers are 64 bits, names are strings by their offsets, as in Apache Arrow.
 *
 * Exit status: 0; 1 if an order was lost, or far more are joined than should be; 2 if something failed.
 */
#include <bloomline.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCH = 2048, CUSTOMERS = 100000, ARTICLES = 1000, MOST_NAME = 16 };

#define RATE 0.01

static void check(bloomline_status status, const char *doing)
{
    if (status == BLOOMLINE_OK) return;
    fprintf(stderr, "columns: %s: %s\n", doing, bloomline_status_message(status));
    exit(2);
}

/* What the query is about: one customer in 20, one article in 10. */
static bool wants_customer(uint64_t id) { return id % 20 == 7; }
static bool wants_article(uint64_t number) { return number % 10 == 3; }

/* Here an engine looks up the customer and the article. Returns whether both are there. */
static bool join(uint64_t id, uint64_t number) { return wants_customer(id) && wants_article(number); }

static size_t name_of(uint64_t number, char name[MOST_NAME])
{
    return (size_t)snprintf(name, MOST_NAME, "article %" PRIu64, number);
}

/* Filters of the keys that the query is about. */
static bloomline_filter *filter_of_customers(void)
{
    bloomline_params params;
    bloomline_filter *filter = NULL;
    check(bloomline_params_for_rate(CUSTOMERS / 20, RATE, &params), "the customers' filter");
    check(bloomline_filter_new(&params, &filter), "the customers' filter");
    for (uint64_t id = 0; id < CUSTOMERS; id++) {
        if (wants_customer(id)) bloomline_filter_insert_hash(filter, bloomline_hash_u64(id, params.seed));
    }
    return filter;
}
static bloomline_filter *filter_of_articles(void)
{
    bloomline_params params;
    bloomline_filter *filter = NULL;
    check(bloomline_params_for_rate(ARTICLES / 10, RATE, &params), "the articles' filter");
    check(bloomline_filter_new(&params, &filter), "the articles' filter");
    for (uint64_t number = 0; number < ARTICLES; number++) {
        char name[MOST_NAME];
        size_t len = name_of(number, name);
        if (wants_article(number)) bloomline_filter_insert(filter, name, len);
    }
    return filter;
}

/* A batch of the table. */
static uint64_t customer[BATCH], article[BATCH];
static int32_t offsets[BATCH + 1];
static char data[BATCH * MOST_NAME];

static void read_batch(uint64_t first, size_t n)
{
    for (size_t row = 0; row < n; row++) {
        uint64_t random = bloomline_hash_u64(first + row, 1);
        customer[row] = random % CUSTOMERS;
        article[row] = (random >> 32) % ARTICLES;
        offsets[row + 1] = offsets[row] + (int32_t)name_of(article[row], data + offsets[row]);
    }
}

int main(int argc, char **argv)
{
    char *end = NULL;
    uint64_t orders = argc > 1 ? strtoull(argv[1], &end, 10) : 1000000;
    if (argc > 2 || (end != NULL && (*end != '\0' || orders == 0))) {
        fprintf(stderr, "columns: usage: columns [ORDERS]\n");
        return 2;
    }
    bloomline_filter *some_customers = filter_of_customers(), *some_articles = filter_of_articles();
    bloomline_view customers, articles;
    check(bloomline_filter_view(some_customers, &customers), "a view");
    check(bloomline_filter_view(some_articles, &articles), "a view");

    static uint32_t rows[BATCH];
    uint64_t wanted = 0, joined = 0, found = 0;
    for (uint64_t first = 0; first < orders; first += BATCH) {
        size_t n = orders - first < BATCH ? (size_t)(orders - first) : BATCH;
        read_batch(first, n);
        size_t count = bloomline_view_select_u64(&customers, customer, n, rows);
        count = bloomline_view_refine_strings(&articles, offsets, data, rows, count);
        for (size_t i = 0; i < count; i++) {
            found += join(customer[rows[i]], article[rows[i]]);
        }
        joined += count;
        for (size_t row = 0; row < n; row++) wanted += join(customer[row], article[row]);
    }
    printf("orders   %" PRIu64 ", of which the query wants %" PRIu64 "\n", orders, wanted);
    printf("joined   %" PRIu64 ", %.2f %% of them\n", joined, 100.0 * (double)joined / (double)orders);
    printf("lost     %" PRIu64 "\n", wanted - found);
    bloomline_filter_free(some_customers);
    bloomline_filter_free(some_articles);
    return found != wanted || (double)joined > 2 * (double)wanted + 100;
}
