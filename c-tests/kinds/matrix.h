/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* matrix.h - many filters of one shape, which answer in a bit for each. A part of kinds.h. */

STORED(matrix)

/* Names and checksums are written and read too. */
static bloomline_status matrix_with_names(bloomline_matrix **out)
{
    static const uint64_t names[] = {1, 2, 3};
    bloomline_status status = bloomline_matrix_new(&whole_params, 3, out);
    if (status != BLOOMLINE_OK) return status;
    bloomline_matrix_set_checksums(*out, true);
    status = bloomline_matrix_set_names(*out, names, 3);
    if (status == BLOOMLINE_OK) return status;
    bloomline_matrix_free(*out);
    *out = NULL;
    return status;
}
CREATED(matrix, matrix, matrix_with_names(&filter))
ADDED(matrix, (void)!bloomline_matrix_insert_hash(filter, (size_t)(hash % 3), hash, NULL))

/* It has verbs for columns, whose functions take the number of one. */
#define MATRIX_LACKS(NOT, OTHER)                                                                          \
    OTHER(matrix, contains, "a key has an answer for each column: bloomline_matrix_contains()")           \
    OTHER(matrix, view, "a view is of one column: bloomline_matrix_column_view()")                        \
    OTHER(matrix, insert, "into a column: bloomline_matrix_insert()")                                     \
    OTHER(matrix, insert_hashes, "into a column: bloomline_matrix_insert_hashes()")                       \
    OTHER(matrix, insert_new_hashes, "into a column: bloomline_matrix_insert_hashes()")                   \
    NOT(matrix, remove, "other keys of the column have the same bits")                                    \
    NOT(matrix, remove_hashes, "other keys of the column have the same bits")                             \
    OTHER(matrix, count_hash, "bloomline_matrix_count_hash() says how many columns may have the key")     \
    OTHER(matrix, clear, "bloomline_matrix_clear() takes keys out that were inserted into columns")       \
    NOT(matrix, union, "column by column: bloomline_matrix_column() and bloomline_matrix_set_column()")   \
    NOT(matrix, intersect, "column by column: bloomline_matrix_column() and bloomline_matrix_set_column()") \
    NOT(matrix, snapshot, "nobody probes it while it changes: a clone is one")                            \
    NOT(matrix, equal, "equal matrices have equal bytes: compare those")

/* ---- what histories ask: columns ---- */

enum { MATRIX_COLUMNS = 200 }; /* of one line */

static bloomline_status matrix_make(char **args, size_t count, void **out)
{
    bloomline_params params = params_of(args);
    REQUIRE(count == 4);
    return bloomline_matrix_new(&params, (size_t)golden_number(args[3], 10), (bloomline_matrix **)out);
}
static bloomline_status matrix_resized(const void *handle, size_t columns, void **out)
{
    return bloomline_matrix_with_columns((const bloomline_matrix *)handle, columns, (bloomline_matrix **)out);
}

/* Reads keys up to the arrow, and hashes them. */
static void matrix_read(char **words, uint64_t seed)
{
    size_t count = 0;
    while (!is(words[count], "->")) count++;
    history_read(&asked, words, count);
    if (asked.bytes) bloomline_hash_batch(asked.keys, asked.n, seed, asked.hashes);
}

/* The rows of all keys, of the columns in 'among' or of all, asked in each way there is. */
static void matrix_rows(char *answer, const bloomline_matrix *matrix, const uint64_t *among, size_t words)
{
    static uint64_t rows[HISTORY_WORDS], batch[HISTORY_WORDS];
    bloomline_matrix_pair from = {0, 0}, pairs[50];
    size_t total = 0, bit = 0, selected = 0;
    REQUIRE(asked.n * words <= HISTORY_WORDS);
    memset(rows, 0xA5, sizeof rows);
    memset(batch, 0x5A, sizeof batch);
    for (size_t i = 0; i < asked.n; i++) {
        uint64_t hash = asked.hashes[i], *row = rows + i * words;
        size_t present = asked.bytes ? bloomline_matrix_contains(matrix, asked.keys[i].data, asked.keys[i].len, among, row)
                                     : bloomline_matrix_contains_hash(matrix, hash, among, row);
        CHECK(bloomline_matrix_any_hash(matrix, hash, among) == (present > 0));
        CHECK_U64(present, bloomline_matrix_count_hash(matrix, hash, among));
        total += present;
    }
    CHECK_U64(total, bloomline_matrix_contains_hashes(matrix, asked.hashes, asked.n, among, batch));
    CHECK(memcmp(rows, batch, 8 * asked.n * words) == 0);
    if (asked.bytes) {
        memset(batch, 0x5A, sizeof batch);
        CHECK_U64(total, bloomline_matrix_contains_keys(matrix, asked.keys, asked.n, among, batch));
        CHECK(memcmp(rows, batch, 8 * asked.n * words) == 0);
    }
    while (from.key < asked.n) {
        size_t written;
        REQUIRE_OK(bloomline_matrix_select_hashes(matrix, asked.hashes, asked.n, among, &from, pairs, 50, &written));
        for (size_t i = 0; i < written; i++, bit++) {
            while (bit < 64 * asked.n * words && (rows[bit / 64] >> bit % 64 & 1) == 0) bit++;
            CHECK_U64(bit, 64 * words * pairs[i].key + pairs[i].column);
        }
        selected += written;
    }
    CHECK_U64(total, selected);
    history_bitmap(answer, total, rows, 64 * asked.n * words);
}

static void matrix_asked(char *answer, const bloomline_matrix *matrix, char **words)
{
    static uint64_t among[HISTORY_WORDS];
    bloomline_matrix_shape shape;
    REQUIRE_OK(bloomline_matrix_about(matrix, &shape));
    size_t width = (size_t)(shape.columns + 63) / 64;
    if (is(words[0], "among")) {
        history_read(&asked, words + 1, 1);
        REQUIRE(asked.n == width);
        memcpy(among, asked.hashes, 8 * width);
        matrix_read(words + 2, shape.params.seed);
        matrix_rows(answer, matrix, among, width);
    } else if (is(words[0], "pairs")) {
        static uint32_t numbers[HISTORY_KEYS];
        uint64_t state = golden_number(words[1], 10), *bitmap = among;
        matrix_read(words + 2, shape.params.seed);
        for (size_t i = 0; i < asked.n; i++) numbers[i] = (uint32_t)(next_random(&state) % (shape.columns + 1));
        history_bitmap(answer, bloomline_matrix_contains_pairs(matrix, numbers, asked.hashes, asked.n, bitmap), bitmap, asked.n);
    } else {
        REQUIRE(is(words[0], "contains"));
        matrix_read(words + 1, shape.params.seed);
        matrix_rows(answer, matrix, NULL, width);
    }
}

/* Of the matrix, and of its bytes. */
static void matrix_asked_twice(char *answer, const bloomline_matrix *matrix, char **words)
{
    char again[HISTORY_ANSWER];
    size_t len = bloomline_matrix_encoded_len(matrix), written;
    uint8_t *data = (uint8_t *)malloc(len);
    bloomline_map *map = NULL;
    REQUIRE(data != NULL);
    REQUIRE_OK(bloomline_matrix_encode(matrix, data, len, &written));
    REQUIRE_OK(bloomline_map_bytes(data, len, 0, &map));
    matrix_asked(answer, matrix, words);
    matrix_asked(again, bloomline_map_matrix(map), words);
    CHECK(strcmp(answer, again) == 0);
    bloomline_map_close(map);
    free(data);
}

/* Keys are dealt out to filters, one after the other, which become columns. */
static bloomline_status matrix_set(bloomline_matrix *matrix, char **words, uint64_t seed)
{
    bloomline_filter *filters[MATRIX_COLUMNS];
    bloomline_view views[MATRIX_COLUMNS];
    size_t first = (size_t)golden_number(words[1], 10), count = (size_t)golden_number(words[2], 10);
    bloomline_params params = {golden_number(words[3], 10), (uint32_t)golden_number(words[4], 10), 0, seed};
    REQUIRE(count > 0 && count <= MATRIX_COLUMNS);
    matrix_read(words + 5, seed);
    for (size_t i = 0; i < count; i++) {
        REQUIRE_OK(bloomline_filter_new(&params, &filters[i]));
        for (size_t j = i; j < asked.n; j += count) bloomline_filter_insert_hash(filters[i], asked.hashes[j]);
        REQUIRE_OK(bloomline_filter_view(filters[i], &views[i]));
    }
    bloomline_status status = count == 1 ? bloomline_matrix_set_column(matrix, first, &views[0])
                                         : bloomline_matrix_set_columns(matrix, first, views, count, 2);
    for (size_t i = 0; i < count; i++) bloomline_filter_free(filters[i]);
    return status;
}

static bloomline_status matrix_insert_all(bloomline_matrix *matrix, size_t column)
{
    if (!asked.one) {
        return asked.bytes ? bloomline_matrix_insert_keys(matrix, column, asked.keys, asked.n, NULL)
                           : bloomline_matrix_insert_hashes(matrix, column, asked.hashes, asked.n, NULL);
    }
    return asked.bytes ? bloomline_matrix_insert(matrix, column, asked.keys[0].data, asked.keys[0].len, NULL)
                       : bloomline_matrix_insert_hash(matrix, column, asked.hashes[0], NULL);
}

static void matrix_other(char *answer, void *handle, char **words)
{
    bloomline_matrix *matrix = (bloomline_matrix *)handle;
    bloomline_matrix_shape shape;
    const char *verb = words[0];
    REQUIRE_OK(bloomline_matrix_about(matrix, &shape));
    uint64_t seed = shape.params.seed;
    if (is(verb, "columns")) history_number(answer, shape.columns);
    else if (is(verb, "params")) say_params(answer, BLOOMLINE_OK, &shape.params);
    else if (is(verb, "set")) history_status(answer, matrix_set(matrix, words, seed));
    else if (is(verb, "names")) {
        matrix_read(words + 1, seed);
        history_status(answer, bloomline_matrix_set_names(matrix, asked.hashes, asked.n));
    } else if (is(verb, "contains") || is(verb, "among") || is(verb, "pairs")) {
        matrix_asked_twice(answer, matrix, words);
    } else {
        size_t number = (size_t)golden_number(words[1], 10);
        bloomline_filter *column = NULL;
        if (is(verb, "insert_into")) {
            matrix_read(words + 2, seed);
            history_status(answer, matrix_insert_all(matrix, number));
        } else if (is(verb, "clear_column")) {
            history_status(answer, bloomline_matrix_clear_column(matrix, number));
        } else if (is(verb, "name")) {
            history_number(answer, bloomline_matrix_name(matrix, number));
        } else if (is(verb, "checksums")) {
            bloomline_matrix_set_checksums(matrix, number == 1);
        } else {
            REQUIRE(is(verb, "column"));
            bloomline_status status = bloomline_matrix_column(matrix, number, &column);
            if (column == NULL) history_status(answer, status);
            else {
                size_t len = filter_len(column), written;
                uint8_t *data = (uint8_t *)malloc(len);
                REQUIRE(data != NULL);
                REQUIRE_OK(filter_encode(column, data, len, &written));
                history_digest(answer, len, data, len);
                free(data);
                bloomline_filter_free(column);
            }
        }
    }
}
